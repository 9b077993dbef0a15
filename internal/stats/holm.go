package stats

import (
	"cmp"
	"fmt"
	"slices"
)

// HolmAdjusted are the p-values adjusted for a family of m hypotheses, in the
// order of ps. With p(1) ≤ p(2) ≤ … they are
//
//	padj(i) = max over j ≤ i of min(1, (m − j + 1)·p(j))
//
// Holm, "A Simple Sequentially Rejective Multiple Test Procedure",
// Scandinavian Journal of Statistics 6 (1979); in this form Wright, "Adjusted
// P-Values for Simultaneous Inference", Biometrics 48 (1992). It holds under
// any dependence between the cells.
//
// m is the size of the family as planned, not as it turned out: a cell that
// has no p-value (too noisy to count, called already) weighs as one whose p is
// 1, so that a run gains nothing by losing cells. An error for m < len(ps) and
// for a p that is no probability.
func HolmAdjusted(ps []float64, m int) ([]float64, error) {
	if m < len(ps) {
		return nil, fmt.Errorf("Holm: %d p-values in a family planned as %d", len(ps), m)
	}
	order := make([]int, len(ps))
	for i, p := range ps {
		if !(p >= 0 && p <= 1) {
			return nil, fmt.Errorf("Holm: p-value %d is %v, not a probability", i, p)
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	adjusted := make([]float64, len(ps))
	running := 0.0
	for j, i := range order {
		running = max(running, min(1, float64(m-j)*ps[i]))
		adjusted[i] = running
	}
	return adjusted, nil
}

// Holm says which hypotheses of a family of m are rejected so that the chance
// of any false rejection is at most alpha: those with HolmAdjusted ≤ alpha,
// which is Holm's step down: p(1) against alpha/m, p(2) against alpha/(m−1)
// and so on to the first that is not rejected. Errors as HolmAdjusted, and for
// an alpha outside 0…1.
//
// Sequential says how it combines with looks.
func Holm(ps []float64, m int, alpha float64) ([]bool, error) {
	if !(alpha > 0 && alpha < 1) {
		return nil, fmt.Errorf("Holm: level %v is not between 0 and 1", alpha)
	}
	adjusted, err := HolmAdjusted(ps, m)
	if err != nil {
		return nil, err
	}
	rejected := make([]bool, len(ps))
	for i, p := range adjusted {
		rejected[i] = p <= alpha
	}
	return rejected, nil
}

package stats

import (
	"fmt"
	"math"
	"slices"
)

// Spending divides the level of a run among its looks: at Looks[i] processes
// the share Shares[i] of alpha is spent. The looks are fixed before the first
// process runs. A discrete form of Lan and DeMets, "Discrete Sequential
// Boundaries for Clinical Trials", Biometrika 70 (1983), bounded by the sum of
// the shares and not by the joint distribution of the looks: simpler, a little
// less powerful, and right for figures that are not normal together.
type Spending struct {
	Looks  []int     // processes, ascending, each at least 2
	Shares []float64 // of alpha, each positive, together at most 1
}

// DefaultSpending is the rule of docs/comparison.md.
var DefaultSpending = Spending{
	Looks:  []int{6, 12, 24, 48},
	Shares: []float64{0.1, 0.2, 0.3, 0.4},
}

// Check says what is wrong with a plan, if anything.
func (s Spending) Check() error {
	if len(s.Looks) == 0 || len(s.Looks) != len(s.Shares) {
		return fmt.Errorf("spending: %d looks with %d shares", len(s.Looks), len(s.Shares))
	}
	sum := 0.0
	for i, look := range s.Looks {
		if look < 2 || i > 0 && look <= s.Looks[i-1] {
			return fmt.Errorf("spending: looks %v are not ascending from 2 up", s.Looks)
		}
		if !(s.Shares[i] > 0) {
			return fmt.Errorf("spending: share %v of look %d is not positive", s.Shares[i], look)
		}
		sum += s.Shares[i]
	}
	if !(sum <= 1+1e-9) { // shares like 0.1 have no exact sum
		return fmt.Errorf("spending: shares %v sum to %v, more than there is", s.Shares, sum)
	}
	return nil
}

// AlphaAt is the level that the look at so many processes may spend: its share
// of alpha. NaN if no look is planned there (looking anyway is what the plan
// forbids), for a plan that Check refuses, and an alpha outside 0…1.
func (s Spending) AlphaAt(look int, alpha float64) float64 {
	i := slices.Index(s.Looks, look)
	if i < 0 || s.Check() != nil || !(alpha > 0 && alpha < 1) {
		return math.NaN()
	}
	return s.Shares[i] * alpha
}

// Call is what a look says of a cell: head slower, head faster, or nothing yet.
type Call string

// The calls. A cell without a call is undecided, not unchanged: see Unchanged.
const (
	NoCall Call = ""
	Slower Call = "slower"
	Faster Call = "faster"
)

// Sequential is the rule that calls cells slower or faster, looking at planned
// numbers of processes only. It holds no state: the caller keeps the calls.
//
// At each look every cell that is still undecided and has its processes is
// tested by SlowerFasterP, its two directions made one p-value by TwoSidedP,
// and the cells together tested by Holm at the level AlphaAt(look, Alpha) in a
// family of the Cells planned at the start. Cells called at an earlier look
// stay called and are tested no more.
//
// The chance that a run calls any cell whose |μ| ≤ Delta is at most Alpha: at
// one look Holm bounds it by that look's share (a cell that is not tested
// counts as p = 1, which never adds a call), and over the looks the union bound
// (Bonferroni's inequality: Feller, An Introduction to Probability Theory and
// Its Applications I, 3rd edition, IV.5) bounds it by the sum of the shares.
// Neither step needs cells or looks to be independent. Given that, a test is
// as good as its figures are normal and its processes independent.
type Sequential struct {
	Alpha    float64 // of the whole run, 0.01
	Cells    int     // planned at the start, called ones included
	Delta    float64 // ln(1 + smallest effect that matters)
	SDFloor  float64 // of one process's figure, ln ratio
	Spending Spending
}

// OneSidedLevel is the level at which the first cell that a look calls is
// tested in its direction: AlphaAt/(2·Cells). With it SmallestEffect says what
// a single changed cell must be to be called. NaN where AlphaAt is, or without
// cells.
func (s Sequential) OneSidedLevel(look int) float64 {
	if s.Cells < 1 {
		return math.NaN()
	}
	return s.Spending.AlphaAt(look, s.Alpha) / float64(2*s.Cells)
}

// Decide is one look, at the given number of processes. ys has an entry for
// each of s.Cells cells, always the same cell at the same index: the figures of
// its counted processes in the order they ran. Give nil for a cell that an
// earlier look called. The result has the call of each cell at its index.
//
// A cell with fewer figures than the look asks for (noisy processes do not
// count) is not tested, and waits for the next look. Of a cell with more, the
// first ones decide, as if the rest had not run yet. Ask once at each look, with
// all cells: asking twice spends the look's level twice.
//
// An error for a rule or figures that make no sense, a cell's with its index.
func (s Sequential) Decide(look int, ys [][]float64) ([]Call, error) {
	if err := s.Spending.Check(); err != nil {
		return nil, fmt.Errorf("look at %d processes: %w", look, err)
	}
	if s.Cells < 1 || len(ys) != s.Cells {
		return nil, fmt.Errorf("look at %d processes: figures for %d cells, %d planned", look, len(ys), s.Cells)
	}
	alpha := s.Spending.AlphaAt(look, s.Alpha)
	if math.IsNaN(alpha) {
		return nil, fmt.Errorf("look at %d processes: only looks at %v, of an alpha between 0 and 1 (%v), are planned",
			look, s.Spending.Looks, s.Alpha)
	}
	var tested []int // indices of cells, beside ps and directions
	var ps []float64
	var directions []Call
	for cell, figures := range ys {
		if len(figures) < look {
			continue
		}
		slower, faster, err := SlowerFasterP(figures[:look], s.Delta, s.SDFloor)
		if err != nil {
			return nil, fmt.Errorf("look at %d processes, cell %d: %w", look, cell, err)
		}
		direction := Slower
		if faster < slower {
			direction = Faster
		}
		tested = append(tested, cell)
		ps = append(ps, TwoSidedP(slower, faster))
		directions = append(directions, direction)
	}
	rejected, err := Holm(ps, s.Cells, alpha)
	if err != nil {
		return nil, fmt.Errorf("look at %d processes: %w", look, err)
	}
	calls := make([]Call, s.Cells)
	for i, cell := range tested {
		if rejected[i] {
			calls[cell] = directions[i]
		}
	}
	return calls, nil
}

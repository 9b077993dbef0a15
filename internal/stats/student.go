package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// TCDF is P(T ≤ t) of Student's t distribution with df degrees of freedom, by
// the regularised incomplete beta function: Abramowitz and Stegun, Handbook of
// Mathematical Functions, 26.7.1 with 26.5.27. Lower tails keep their relative
// precision however small they are; for an upper tail ask for TCDF(-t, df)
// instead of 1 − TCDF(t, df). NaN for a NaN, or a df that is not positive and
// finite.
//
// The series behind it is gonum's, which arm64 may round differently in the
// last bits. No verdict may hang on those.
func TCDF(t, df float64) float64 {
	if math.IsNaN(t) || !(df > 0) || math.IsInf(df, 0) {
		return math.NaN()
	}
	return distuv.StudentsT{Sigma: 1, Nu: df}.CDF(t)
}

// TQuantile is the t with TCDF(t, df) = p, 0 < p < 1: Abramowitz and Stegun
// 26.7, tabled as 26.10 there. NaN for any other p (the quantiles of 0 and 1
// are infinite, and no figure is), or a df that is not positive and finite.
func TQuantile(p, df float64) float64 {
	if !(p > 0 && p < 1) || !(df > 0) || math.IsInf(df, 0) {
		return math.NaN()
	}
	return distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(p)
}

// Estimate is the mean of process figures (ln ratios, positive when head is
// slower) with a two-sided confidence interval.
type Estimate struct {
	N      int     // processes
	Mean   float64 // ln ratio
	SD     float64 // standard deviation of one process, not below the floor
	SE     float64 // SD/√N
	Lo, Hi float64 // the interval
}

// MeanInterval is the mean of ys and its confidence interval of the given
// level (0.95, not 0.05): mean ± t[(1+level)/2, n−1]·s/√n. Student, "The
// Probable Error of a Mean", Biometrika 6 (1908); NIST/SEMATECH e-Handbook of
// Statistical Methods, 1.3.5.2.
//
// s is the sample standard deviation, but never less than sdFloor: a counter
// of coarse steps, or a few processes that agree by luck, would otherwise claim
// a certainty that the host does not have. The floor only widens, so the
// interval covers at least as often as without it.
//
// An error for fewer than two figures, one that is not finite, a level outside
// 0…1, a floor that is negative or not finite, and for figures without any
// spread where there is no floor.
func MeanInterval(ys []float64, level, sdFloor float64) (Estimate, error) {
	if !(level > 0 && level < 1) {
		return Estimate{}, fmt.Errorf("interval: level %v is not between 0 and 1", level)
	}
	est, err := flooredMean(ys, sdFloor)
	if err != nil {
		return Estimate{}, fmt.Errorf("interval: %w", err)
	}
	half := TQuantile((1+level)/2, float64(est.N-1)) * est.SE
	est.Lo = est.Mean - half
	est.Hi = est.Mean + half
	return est, nil
}

// Unchanged says whether the interval of est lies within ±margin, in ln ratio:
// the confidence interval form of an equivalence test. Schuirmann, "A
// Comparison of the Two One-Sided Tests Procedure and the Power Approach",
// Journal of Pharmacokinetics and Biopharmaceutics 15 (1987); with a 95 %
// interval each of its two tests is at 2.5 %. For ±0.5 % the margin is
// math.Log1p(0.005). False for an interval or a margin that is no number.
func Unchanged(est Estimate, margin float64) bool {
	return est.N >= 2 && est.Lo <= est.Hi && est.Lo >= -margin && est.Hi <= margin
}

// SlowerFasterP are the p-values of the two one-sided t tests against the
// hypothesis |μ| ≤ delta, μ the mean of ys over processes and delta the
// smallest effect that matters (math.Log1p(0.002) for 0.2 %):
//
//	slower = P(T[n−1] ≥ (mean − delta)/(s/√n))   speaks for μ > delta
//	faster = P(T[n−1] ≥ (−delta − mean)/(s/√n))  speaks for μ < −delta
//
// s is floored as in MeanInterval. Each is the largest probability of such
// data over its own hypothesis, μ ≤ delta or μ ≥ −delta, reached at its edge:
// Lehmann and Romano, Testing Statistical Hypotheses, 3rd edition, 5.2. They are
// minimum-effect tests: Murphy and Myors, "Testing the Hypothesis That
// Treatments Have Negligible Effects", Journal of Applied Psychology 84 (1999).
//
// Who would call either of them at level a takes the chance of a false call
// twice when delta is small beside s/√n: see TwoSidedP. Errors as MeanInterval,
// and for a delta that is negative or not finite.
func SlowerFasterP(ys []float64, delta, sdFloor float64) (slower, faster float64, err error) {
	if !(delta >= 0) || math.IsInf(delta, 0) {
		return 0, 0, fmt.Errorf("slower or faster: smallest effect %v is not a number from 0 up", delta)
	}
	est, err := flooredMean(ys, sdFloor)
	if err != nil {
		return 0, 0, fmt.Errorf("slower or faster: %w", err)
	}
	df := float64(est.N - 1)
	// P(T ≥ t) = P(T ≤ −t): as a lower tail it keeps its precision.
	slower = TCDF((delta-est.Mean)/est.SE, df)
	faster = TCDF((delta+est.Mean)/est.SE, df)
	return slower, faster, nil
}

// TwoSidedP makes one p-value of SlowerFasterP's two: twice the smaller, at
// most 1 (Bonferroni over the two directions). It holds for every |μ| ≤ delta,
// also where delta is 0 and both directions are equally likely to be called
// falsely. NaN if either is no probability.
func TwoSidedP(slower, faster float64) float64 {
	if !(slower >= 0 && slower <= 1 && faster >= 0 && faster <= 1) {
		return math.NaN()
	}
	return math.Min(1, 2*math.Min(slower, faster))
}

// flooredMean fills all of an Estimate but its interval.
func flooredMean(ys []float64, sdFloor float64) (Estimate, error) {
	if !(sdFloor >= 0) || math.IsInf(sdFloor, 0) {
		return Estimate{}, fmt.Errorf("floor of the standard deviation %v is not a number from 0 up", sdFloor)
	}
	if len(ys) < 2 {
		return Estimate{}, fmt.Errorf("%d processes have no spread, need 2", len(ys))
	}
	for i, y := range ys {
		if math.IsNaN(y) || math.IsInf(y, 0) {
			return Estimate{}, fmt.Errorf("process %d: %w: %v", i, ErrNotFigure, y)
		}
	}
	sd := math.Max(StdDev(ys), sdFloor)
	if !(sd > 0) || math.IsInf(sd, 0) {
		return Estimate{}, fmt.Errorf("%d processes with a standard deviation of %v and a floor of %v", len(ys), sd, sdFloor)
	}
	return Estimate{N: len(ys), Mean: Mean(ys), SD: sd, SE: sd / math.Sqrt(float64(len(ys)))}, nil
}

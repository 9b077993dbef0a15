package stats

import (
	"fmt"

	"gonum.org/v1/gonum/stat/distuv"
)

// ClopperPearson is the exact two-sided confidence interval of a rate of which
// k of n trials were seen, each side at (1 − level)/2 = a:
//
//	lo = Beta⁻¹(a; k, n−k+1), 0 if k = 0
//	hi = Beta⁻¹(1−a; k+1, n−k), 1 if k = n
//
// Clopper and Pearson, "The Use of Confidence or Fiducial Limits Illustrated in
// the Case of the Binomial", Biometrika 26 (1934); in terms of the beta
// distribution Brown, Cai and DasGupta, "Interval Estimation for a Binomial
// Proportion", Statistical Science 16 (2001), section 4.2.1. It covers at least
// as often as it says. An error for n < 1, k outside 0…n or a level outside
// 0…1.
func ClopperPearson(k, n int, level float64) (lo, hi float64, err error) {
	if n < 1 || k < 0 || k > n {
		return 0, 0, fmt.Errorf("rate: %d of %d", k, n)
	}
	if !(level > 0 && level < 1) {
		return 0, 0, fmt.Errorf("rate: level %v is not between 0 and 1", level)
	}
	a := (1 - level) / 2
	lo, hi = 0, 1
	if k > 0 {
		lo = distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(a)
	}
	if k < n {
		hi = distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(1 - a)
	}
	return lo, hi, nil
}

// RateUpper is the one-sided upper bound of the same method: the rate is below
// it with the confidence level. It is the upper end of the two-sided interval
// of level 2·level − 1. Errors as ClopperPearson, and for a level of ½ or less.
func RateUpper(k, n int, level float64) (float64, error) {
	_, hi, err := ClopperPearson(k, n, 2*level-1)
	return hi, err
}

package stats

import (
	"math"
	"testing"
)

// Four decimals as printed in the table of codingace.net's Clopper-Pearson page;
// the rest by mpmath 1.3 (betainc, bisected), and 0 of 100 also by hand:
// 1 − 0.025^(1/100).
func TestClopperPearsonAgreesWithPrintedValues(t *testing.T) {
	for _, tt := range []struct {
		k, n          int
		level, lo, hi float64
		tol           float64
	}{
		{3, 20, 0.95, 0.0321, 0.3789, 5e-5},
		{12, 30, 0.90, 0.2495, 0.5661, 5e-5},
		{42, 100, 0.95, 0.3220, 0.5229, 5e-5},
		{85, 120, 0.99, 0.5904, 0.8092, 5e-5},
		{0, 100, 0.95, 0, 0.0362166926451764, 1e-10},
		{150, 10000, 0.95, 0.0127096736085454, 0.0175787549611995, 1e-10},
		{1, 10000, 0.95, 2.53177759347469e-6, 0.000557036997947047, 1e-10},
		{9999, 10000, 0.95, 0.999442963002053, 0.999997468222407, 1e-10},
		{100, 100, 0.95, 1 - 0.0362166926451764, 1, 1e-10},
	} {
		lo, hi, err := ClopperPearson(tt.k, tt.n, tt.level)
		if err != nil || math.Abs(lo-tt.lo) > tt.tol || math.Abs(hi-tt.hi) > tt.tol {
			t.Errorf("%d of %d at %v: %.12g to %.12g, %v, want %v to %v", tt.k, tt.n, tt.level, lo, hi, err, tt.lo, tt.hi)
		}
	}
}

func TestRateUpperBound(t *testing.T) {
	for _, tt := range []struct {
		k, n        int
		level, want float64
	}{
		{0, 100, 0.95, 0.0295130496070399},  // 1 − 0.05^(1/100)
		{0, 100, 0.975, 0.0362166926451764}, // 1 − 0.025^(1/100)
		{175, 10000, 0.95, 0.0198142341430907},
		{5, 5, 0.95, 1},
	} {
		got, err := RateUpper(tt.k, tt.n, tt.level)
		if err != nil || math.Abs(got-tt.want) > 1e-10 {
			t.Errorf("%d of %d at %v: %.12g, %v, want %v", tt.k, tt.n, tt.level, got, err, tt.want)
		}
	}
}

func TestRatesRefuseBadInput(t *testing.T) {
	for _, tt := range []struct {
		k, n  int
		level float64
	}{{0, 0, 0.95}, {-1, 5, 0.95}, {6, 5, 0.95}, {1, 5, 0}, {1, 5, 1}, {1, 5, math.NaN()}} {
		if lo, hi, err := ClopperPearson(tt.k, tt.n, tt.level); err == nil {
			t.Errorf("%d of %d at %v: %v to %v, want an error", tt.k, tt.n, tt.level, lo, hi)
		}
	}
	if _, err := RateUpper(1, 5, 0.5); err == nil {
		t.Error("an upper bound at level 0.5 gave no error")
	}
}

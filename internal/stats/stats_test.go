package stats

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// near reports whether got is want to 1e-12 relative.
func near(got, want float64) bool {
	return math.Abs(got-want) <= 1e-12*math.Max(1, math.Abs(want))
}

// The expected values were computed with Python 3's statistics and fractions
// modules (statistics.quantiles(method="inclusive") is type 7), not with this
// package.
func TestEstimatorsAgreeWithPython(t *testing.T) {
	xs := []float64{2322.84785, 2321.97940, 2322.28940, 2323.80865, 2321.79235}
	if got, want := Mean(xs), 2322.54353; !near(got, want) {
		t.Errorf("Mean = %.12g, want %.12g", got, want)
	}
	if got, want := Median(xs), 2322.28940; got != want {
		t.Errorf("Median = %.12g, want %.12g", got, want)
	}
	if got, want := StdDev(xs), 0.8124400567117889; !near(got, want) {
		t.Errorf("StdDev = %.16g, want %.16g", got, want)
	}
	if got, want := StdDev([]float64{2, 4, 4, 4, 5, 5, 7, 9}), math.Sqrt(32.0/7); !near(got, want) {
		t.Errorf("StdDev = %.16g, want sqrt(32/7)", got)
	}
}

func TestQuantileIsTypeSeven(t *testing.T) {
	xs := []float64{1, 2, 4, 8, 16, 32}
	tests := []struct{ q, want float64 }{
		{0, 1}, {0.1, 1.5}, {0.25, 2.5}, {0.5, 6}, {0.75, 14}, {0.9, 24}, {1, 32},
	}
	for _, tt := range tests {
		if got := Quantile(xs, tt.q); !near(got, tt.want) {
			t.Errorf("Quantile(%v) = %v, want %v", tt.q, got, tt.want)
		}
	}
	if got := Quantile([]float64{7}, 0.1); got != 7 {
		t.Errorf("Quantile of one value = %v, want it", got)
	}
}

func TestMedianDoesNotReorderItsInput(t *testing.T) {
	xs := []float64{3, 1, 2, 10}
	if got := Median(xs); got != 2.5 {
		t.Errorf("Median = %v, want 2.5", got)
	}
	if xs[0] != 3 || xs[3] != 10 {
		t.Errorf("Median reordered its input: %v", xs)
	}
}

func TestBadInputNeverGivesANumber(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	bad := map[string][]float64{
		"empty": {}, "NaN": {1, nan, 2}, "+Inf": {1, 2, inf}, "-Inf": {-inf, 1, 2},
	}
	for name, xs := range bad {
		for fn, got := range map[string]float64{
			"Mean": Mean(xs), "StdDev": StdDev(xs), "Median": Median(xs), "Quantile": Quantile(xs, 0.5),
		} {
			if !math.IsNaN(got) {
				t.Errorf("%s of %s = %v, want NaN", fn, name, got)
			}
		}
		if got, err := GeoMean(xs); err == nil {
			t.Errorf("GeoMean of %s = %v, want an error", name, got)
		}
	}
	for name, got := range map[string]float64{
		"StdDev of one value":    StdDev([]float64{1}),
		"Quantile out of order":  Quantile([]float64{2, 1}, 0.5),
		"Quantile at q < 0":      Quantile([]float64{1, 2}, -0.1),
		"Quantile at q > 1":      Quantile([]float64{1, 2}, 1.1),
		"Quantile at q that NaN": Quantile([]float64{1, 2}, nan),
	} {
		if !math.IsNaN(got) {
			t.Errorf("%s = %v, want NaN", name, got)
		}
	}
}

func TestRatioToAZeroBaseIsAnErrorNotInfinity(t *testing.T) {
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, err := LnRatio(bad, 1); !errors.Is(err, ErrNotFigure) || !strings.HasPrefix(err.Error(), "base") {
			t.Errorf("LnRatio(%v, 1) error = %v, want ErrNotFigure for the base", bad, err)
		}
		if _, err := LnRatio(1, bad); !errors.Is(err, ErrNotFigure) || !strings.HasPrefix(err.Error(), "head") {
			t.Errorf("LnRatio(1, %v) error = %v, want ErrNotFigure for the head", bad, err)
		}
		if _, err := GeoMean([]float64{1, bad}); !errors.Is(err, ErrNotFigure) {
			t.Errorf("GeoMean with %v error = %v, want ErrNotFigure", bad, err)
		}
	}
	if _, err := LnRatio(1e-200, 1e200); err == nil {
		t.Error("LnRatio that overflows gave no error")
	}
	got, err := LnRatio(100, 102)
	if err != nil || !near(got, 0.0198026272961797) { // Python: math.log1p(0.02)
		t.Errorf("LnRatio(100, 102) = %v, %v", got, err)
	}
}

func TestGeometricMeanOverSetsThatDoNotMatchIsRefused(t *testing.T) {
	base := map[string]float64{"a": 1, "b": 10, "c": 100}
	head := map[string]float64{"a": 2, "b": 40, "c": 800}
	got, err := GeoMeanRatio(base, head)
	if err != nil || !near(got, 4) { // (2·4·8)^(1/3)
		t.Errorf("GeoMeanRatio = %v, %v, want 4", got, err)
	}
	for _, k := range []string{"a", "b", "c"} {
		short := map[string]float64{}
		for kk, v := range base {
			if kk != k {
				short[kk] = v
			}
		}
		if _, err := GeoMeanRatio(short, head); err == nil || !strings.Contains(err.Error(), k) {
			t.Errorf("missing base %s: error = %v", k, err)
		}
		if _, err := GeoMeanRatio(head, short); err == nil || !strings.Contains(err.Error(), k) {
			t.Errorf("missing head %s: error = %v", k, err)
		}
	}
	if _, err := GeoMeanRatio(nil, nil); err == nil {
		t.Error("geometric mean of nothing gave no error")
	}
	if got, err := GeoMean([]float64{1, 10, 100}); err != nil || !near(got, 10) {
		t.Errorf("GeoMean = %v, %v, want 10", got, err)
	}
}

package stats

import (
	"errors"
	"math"
	"testing"
)

// relative reports whether got is want to within tol of its own size.
func relative(got, want, tol float64) bool {
	return math.Abs(got-want) <= tol*math.Abs(want)
}

// Upper critical values as printed: NIST/SEMATECH e-Handbook of Statistical
// Methods, 1.3.6.7.2, compared with Abramowitz and Stegun, table 26.10 (the
// handbook's 0.999 column has slips in its last digit, so rows are used on
// which both agree).
func TestTQuantilesAgreeWithPrintedTables(t *testing.T) {
	levels := []float64{0.90, 0.95, 0.975, 0.99, 0.995, 0.999}
	table := map[float64][]float64{
		2:  {1.886, 2.920, 4.303, 6.965, 9.925, 22.327},
		4:  {1.533, 2.132, 2.776, 3.747, 4.604, 7.173},
		5:  {1.476, 2.015, 2.571, 3.365, 4.032, 5.893},
		6:  {1.440, 1.943, 2.447, 3.143, 3.707, 5.208},
		13: {1.350, 1.771, 2.160, 2.650, 3.012, 3.852},
		20: {1.325, 1.725, 2.086, 2.528, 2.845, 3.552},
		30: {1.310, 1.697, 2.042, 2.457, 2.750, 3.385},
	}
	for df, row := range table {
		for i, want := range row {
			if got := TQuantile(levels[i], df); math.Abs(got-want) > 0.0005+1e-9 {
				t.Errorf("TQuantile(%v, %v) = %.5f, the table prints %.3f", levels[i], df, got, want)
			}
			if got := TQuantile(1-levels[i], df); math.Abs(got+want) > 0.0005+1e-9 {
				t.Errorf("TQuantile(%v, %v) = %.5f, the table prints -%.3f", 1-levels[i], df, got, want)
			}
		}
	}
}

// Expected values by mpmath 1.3 at 30 digits: betainc for the distribution,
// bisection of it for the quantile.
func TestTAgreesWithMpmath(t *testing.T) {
	for _, tt := range []struct{ t, df, want float64 }{
		{-5.5, 11, 9.3118325798421006e-5},
		{-3.8, 47, 0.00020769258474579632},
		{-12, 5, 3.5447462585807613e-5},
		{-30, 5, 3.859324310248026e-7},
		{2.015, 5, 0.94999691383659682},
		{0.3, 1, 0.59277357907774234},
		{-0.001, 23, 0.49960536928712709},
	} {
		if got := TCDF(tt.t, tt.df); !relative(got, tt.want, 1e-10) {
			t.Errorf("TCDF(%v, %v) = %.17g, want %.17g", tt.t, tt.df, got, tt.want)
		}
	}
	for _, tt := range []struct{ p, df, want float64 }{
		{0.0001, 47, -4.034257155376629},
		{0.00004166666666666667, 5, -11.60673637214442},
		{0.975, 23, 2.0686576104190487},
		{1e-9, 5, -98.937224648369957},
		{0.6, 2, 0.28867513459481288}, // also by its closed form, A&S 26.7.2 for ν = 2
	} {
		if got := TQuantile(tt.p, tt.df); !relative(got, tt.want, 1e-10) {
			t.Errorf("TQuantile(%v, %v) = %.17g, want %.17g", tt.p, tt.df, got, tt.want)
		}
	}
}

// One and two degrees of freedom have closed forms (Cauchy: tan(π(p−½)); and
// (2p−1)/sqrt(2p(1−p))), so any p can be checked, and every quantile by going
// back through the distribution.
func TestTQuantileInvertsTheDistribution(t *testing.T) {
	for p := 1e-8; p < 1; p = math.Min(p*1.7, p+0.013) {
		if got, want := TQuantile(p, 1), math.Tan(math.Pi*(p-0.5)); !relative(got, want, 1e-6) && math.Abs(got-want) > 1e-9 {
			t.Errorf("TQuantile(%v, 1) = %v, want %v", p, got, want)
		}
		if got, want := TQuantile(p, 2), (2*p-1)/math.Sqrt(2*p*(1-p)); !relative(got, want, 1e-9) && math.Abs(got-want) > 1e-9 {
			t.Errorf("TQuantile(%v, 2) = %v, want %v", p, got, want)
		}
		for _, df := range []float64{1, 2, 5, 11, 23, 47, 499} {
			if got := TCDF(TQuantile(p, df), df); !relative(got, p, 1e-6) {
				t.Errorf("TCDF(TQuantile(%v, %v)) = %v", p, df, got)
			}
		}
	}
}

func TestBadInputToTIsNaN(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, got := range map[string]float64{
		"TCDF of NaN":    TCDF(nan, 5),
		"TCDF df 0":      TCDF(1, 0),
		"TCDF df -1":     TCDF(1, -1),
		"TCDF df NaN":    TCDF(1, nan),
		"TCDF df Inf":    TCDF(1, inf),
		"quantile of 0":  TQuantile(0, 5),
		"quantile of 1":  TQuantile(1, 5),
		"quantile NaN":   TQuantile(nan, 5),
		"quantile of -1": TQuantile(-1, 5),
		"quantile df 0":  TQuantile(0.5, 0),
		"TwoSidedP NaN":  TwoSidedP(nan, 0.5),
		"TwoSidedP 1.1":  TwoSidedP(0.5, 1.1),
	} {
		if !math.IsNaN(got) {
			t.Errorf("%s = %v, want NaN", name, got)
		}
	}
	if TCDF(inf, 5) != 1 || TCDF(-inf, 5) != 0 || TCDF(0, 5) != 0.5 {
		t.Error("TCDF at its ends or its middle is wrong")
	}
	if got := TwoSidedP(0.03, 0.97); got != 0.06 {
		t.Errorf("TwoSidedP = %v, want 0.06", got)
	}
	if got := TwoSidedP(0.7, 0.8); got != 1 {
		t.Errorf("TwoSidedP = %v, want 1", got)
	}
}

var sixProcesses = []float64{0.0112, 0.0098, 0.0105, 0.0121, 0.0094, 0.0110}

// Computed with mpmath from the formulas, the mean and variance by exact sums.
func TestMeanIntervalAgreesWithMpmath(t *testing.T) {
	got, err := MeanInterval(sixProcesses, 0.95, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string][2]float64{
		"mean": {got.Mean, 0.010666666666666667},
		"SD":   {got.SD, 0.00098319208025017506},
		"SE":   {got.SE, 0.00040138648595974318},
		"Lo":   {got.Lo, 0.0096348698567886599},
		"Hi":   {got.Hi, 0.011698463476544673},
	} {
		if !relative(v[0], v[1], 1e-9) {
			t.Errorf("%s = %.17g, want %.17g", name, v[0], v[1])
		}
	}
	got, err = MeanInterval(sixProcesses, 0.95, 0.004)
	if err != nil || got.N != 6 || got.SD != 0.004 ||
		!relative(got.Lo, 0.0064689241070827278, 1e-9) || !relative(got.Hi, 0.014864409226250606, 1e-9) {
		t.Errorf("with a floor of 0.004: %+v, %v", got, err)
	}
}

// NIST/SEMATECH e-Handbook 1.3.5.2 prints for ZARR13.DAT: N = 195, mean
// 9.261460, standard deviation 0.022789, 95 % interval 9.258242 to 9.264679.
// The data set is not at hand; figures of those moments serve as well.
func TestMeanIntervalOfTheHandbooksExample(t *testing.T) {
	ys := make([]float64, 195)
	step := 0.022789 * math.Sqrt(194.0/2) // two figures off the mean, 193 on it
	for i := range ys {
		ys[i] = 9.261460
	}
	ys[0] += step
	ys[1] -= step
	got, err := MeanInterval(ys, 0.95, 0)
	if err != nil || math.Abs(got.Lo-9.258242) > 1.5e-6 || math.Abs(got.Hi-9.264679) > 1.5e-6 {
		t.Errorf("%+v, %v, want 9.258242 to 9.264679", got, err)
	}
}

func TestSlowerFasterAgreesWithMpmath(t *testing.T) {
	delta := math.Log1p(0.002)
	for _, tt := range []struct{ floor, slower, faster float64 }{
		{0, 1.9742487827891173e-6, 0.99999969976889352},
		{0.004, 0.0015850047157675663, 0.99971501807343928},
	} {
		slower, faster, err := SlowerFasterP(sixProcesses, delta, tt.floor)
		if err != nil || !relative(slower, tt.slower, 1e-9) || !relative(faster, tt.faster, 1e-9) {
			t.Errorf("floor %v: %.17g, %.17g, %v, want %v, %v", tt.floor, slower, faster, err, tt.slower, tt.faster)
		}
		mirrored := make([]float64, len(sixProcesses))
		for i, y := range sixProcesses {
			mirrored[i] = -y
		}
		s, f, err := SlowerFasterP(mirrored, delta, tt.floor)
		if err != nil || s != faster || f != slower {
			t.Errorf("mirrored: %v, %v, %v, want %v, %v", s, f, err, faster, slower)
		}
	}
	// A mean at the edge of the hypothesis speaks neither way: p = ½.
	slower, _, err := SlowerFasterP([]float64{0, 2, 4}, 2, 0)
	if err != nil || slower != 0.5 {
		t.Errorf("mean at delta: p = %v, %v, want 0.5", slower, err)
	}
}

func TestIntervalsRefuseBadInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	good := []float64{1, 2, 3}
	for name, f := range map[string]func() error{
		"one figure":     func() error { _, err := MeanInterval(good[:1], 0.95, 1); return err },
		"NaN figure":     func() error { _, err := MeanInterval([]float64{1, nan}, 0.95, 1); return err },
		"no spread":      func() error { _, err := MeanInterval([]float64{1, 1, 1}, 0.95, 0); return err },
		"overflow":       func() error { _, err := MeanInterval([]float64{-1e308, 1e308}, 0.95, 0); return err },
		"negative floor": func() error { _, err := MeanInterval(good, 0.95, -1); return err },
		"NaN floor":      func() error { _, err := MeanInterval(good, 0.95, nan); return err },
		"infinite floor": func() error { _, err := MeanInterval(good, 0.95, inf); return err },
		"level 0":        func() error { _, err := MeanInterval(good, 0, 0); return err },
		"level 95":       func() error { _, err := MeanInterval(good, 95, 0); return err },
		"level NaN":      func() error { _, err := MeanInterval(good, nan, 0); return err },
		"delta negative": func() error { _, _, err := SlowerFasterP(good, -1, 0); return err },
		"delta NaN":      func() error { _, _, err := SlowerFasterP(good, nan, 0); return err },
		"p of no spread": func() error { _, _, err := SlowerFasterP([]float64{1, 1}, 0, 0); return err },
		"p of nothing":   func() error { _, _, err := SlowerFasterP(nil, 0, 1); return err },
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := MeanInterval([]float64{1, inf}, 0.95, 1); !errors.Is(err, ErrNotFigure) {
		t.Errorf("infinite figure: %v, want ErrNotFigure", err)
	}
	// Figures that agree to the last digit are what the floor is for.
	if est, err := MeanInterval([]float64{1, 1, 1}, 0.95, 0.1); err != nil || !(est.Lo < 1 && est.Hi > 1) {
		t.Errorf("no spread but a floor: %+v, %v", est, err)
	}
}

func TestUnchangedNeedsTheWholeIntervalWithin(t *testing.T) {
	for _, tt := range []struct {
		lo, hi float64
		want   bool
	}{
		{-0.004, 0.004, true}, {-0.005, 0.005, true}, {0.001, 0.0051, false}, {-0.0051, 0, false},
		{-1, 1, false}, {0.006, 0.007, false}, {math.NaN(), 0, false}, {0, math.NaN(), false}, {0.001, -0.001, false},
	} {
		if got := Unchanged(Estimate{N: 6, Lo: tt.lo, Hi: tt.hi}, 0.005); got != tt.want {
			t.Errorf("Unchanged(%v to %v) = %v", tt.lo, tt.hi, got)
		}
	}
	if Unchanged(Estimate{}, 0.005) || Unchanged(Estimate{N: 6}, math.NaN()) || Unchanged(Estimate{N: 6}, -1) {
		t.Error("no estimate, or no margin, is called unchanged")
	}
}

package stats

import (
	"math"
	"testing"
)

func TestQuietLevelIsALowQuantile(t *testing.T) {
	// By hand, type 7: h = 10·0.1 = 1, so the second least of eleven.
	probes := []float64{180, 101, 102, 100, 103, 160, 170, 190, 104, 105, 106}
	if got := QuietLevel(probes, QuietQuantile); got != 101 {
		t.Errorf("QuietLevel = %v, want 101", got)
	}
	if probes[0] != 180 {
		t.Error("QuietLevel reordered its input")
	}
	for name, bad := range map[string][]float64{"none": nil, "zero": {0, 1}, "NaN": {1, math.NaN()}, "negative": {-1, 1}} {
		if got := QuietLevel(bad, 0.1); !math.IsNaN(got) {
			t.Errorf("%s: %v, want NaN", name, got)
		}
	}
	if got := QuietLevel(probes, 2); !math.IsNaN(got) {
		t.Errorf("q = 2: %v, want NaN", got)
	}
}

func TestQuietNeedsBothProbes(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		before, after, level float64
		want                 bool
	}{
		{100, 102.9, 100, true}, {103, 103, 100, true}, {103.1, 100, 100, false}, {100, 103.1, 100, false},
		{60, 60, 100, true}, {nan, 100, 100, false}, {100, nan, 100, false}, {100, 100, nan, false},
		{0, 100, 100, false}, {100, 100, 0, false}, {100, 100, math.Inf(1), false},
	} {
		if got := Quiet(tt.before, tt.after, tt.level, QuietTolerance); got != tt.want {
			t.Errorf("Quiet(%v, %v, %v) = %v", tt.before, tt.after, tt.level, got)
		}
	}
	if Quiet(50, 50, 100, -0.1) || Quiet(50, 50, 100, nan) {
		t.Error("a block is quiet by a tolerance that is none")
	}
}

package stats

import (
	"math"
	"slices"
	"testing"
)

func TestHolmAgreesWithPrintedExamples(t *testing.T) {
	for _, tt := range []struct {
		source   string
		ps       []float64
		adjusted []float64
		rejected []bool // at 0.05
	}{
		{
			"pingouin.holm's documentation",
			[]float64{.50, .003, .32, .054, .0003},
			[]float64{.64, .012, .64, .162, .0015},
			[]bool{false, true, false, false, true},
		}, {
			"Wikipedia, Holm-Bonferroni method, Example; adjusted by hand: 4·0.005, 3·0.01, 2·0.03, max(0.06, 0.04)",
			[]float64{0.01, 0.04, 0.03, 0.005},
			[]float64{0.03, 0.06, 0.06, 0.02},
			[]bool{true, false, false, true},
		}, {
			"by hand: ties share a step's p, and nothing exceeds 1",
			[]float64{0.6, 0.02, 0.02},
			[]float64{0.6, 0.06, 0.06},
			[]bool{false, false, false},
		},
	} {
		adjusted, err := HolmAdjusted(tt.ps, len(tt.ps))
		if err != nil || !slices.EqualFunc(adjusted, tt.adjusted, near) {
			t.Errorf("%s: adjusted %v, %v, want %v", tt.source, adjusted, err, tt.adjusted)
		}
		rejected, err := Holm(tt.ps, len(tt.ps), 0.05)
		if err != nil || !slices.Equal(rejected, tt.rejected) {
			t.Errorf("%s: rejected %v, %v, want %v", tt.source, rejected, err, tt.rejected)
		}
	}
}

func TestHolmCountsTheFamilyAsPlanned(t *testing.T) {
	// Dropping cells must give what p = 1 in their place gives.
	ps := []float64{0.0009, 0.004, 0.2}
	full := append(slices.Clone(ps), slices.Repeat([]float64{1}, 9)...)
	short, err := HolmAdjusted(ps, 12)
	if err != nil {
		t.Fatal(err)
	}
	long, err := HolmAdjusted(full, 12)
	if err != nil || !slices.Equal(short, long[:3]) {
		t.Errorf("3 of 12: %v, with ones in place %v, %v", short, long, err)
	}
	if got, err := Holm(nil, 12, 0.01); err != nil || len(got) != 0 {
		t.Errorf("no cell tested: %v, %v", got, err)
	}
}

func TestHolmRefusesBadInput(t *testing.T) {
	for name, f := range map[string]func() error{
		"small family": func() error { _, err := HolmAdjusted([]float64{0.1, 0.2}, 1); return err },
		"NaN":          func() error { _, err := HolmAdjusted([]float64{math.NaN()}, 1); return err },
		"negative":     func() error { _, err := Holm([]float64{-0.1}, 1, 0.05); return err },
		"above 1":      func() error { _, err := Holm([]float64{1.1}, 1, 0.05); return err },
		"level 0":      func() error { _, err := Holm([]float64{0.1}, 1, 0); return err },
		"level NaN":    func() error { _, err := Holm([]float64{0.1}, 1, math.NaN()); return err },
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

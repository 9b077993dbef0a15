package stats

import (
	"math"
	"testing"
)

// Processes for a one-sample t test, two-sided 5 %: those of R's pwr package,
// pwr.t.test(d, power, type = "one.sample"), rounded up. 199, 157, 265 are in
// the table of saecanet.com for d = 0.2, 19 for d = 0.8 and power 0.9 in UCLA's
// "Power Analysis for One-sample t-test", 34 and 15 by pwr from noncentral t.
func TestProcessesNeededAgreeWithPrintedSampleSizes(t *testing.T) {
	for _, tt := range []struct {
		effect, power float64
		want          int
	}{
		{0.2, 0.7, 157}, {0.2, 0.8, 199}, {0.2, 0.9, 265}, {0.5, 0.8, 34}, {0.8, 0.8, 15}, {0.8, 0.9, 19},
	} {
		got, err := ProcessesNeeded(1, tt.effect, 0.025, tt.power, 0)
		if err != nil || got != tt.want {
			t.Errorf("effect %v, power %v: %d, %v, want %d", tt.effect, tt.power, got, err, tt.want)
		}
		// A margin shifts the effect, a scale cancels.
		if got, err := ProcessesNeeded(3, -3*(tt.effect+0.25), 0.025, tt.power, 0.75); err != nil || got != tt.want {
			t.Errorf("effect %v with a margin, scaled by -3: %d, %v, want %d", tt.effect, got, err, tt.want)
		}
	}
}

// The exact effects are from mpmath: noncentral t by quadrature, bisected for
// 95 % power, at the looks and levels of the default rule for 12 cells and one.
// The bounds are what SmallestEffect's comment admits.
func TestSmallestEffectAgainstNoncentralT(t *testing.T) {
	one := Sequential{Alpha: 0.01, Cells: 1, Spending: DefaultSpending}
	twelve := Sequential{Alpha: 0.01, Cells: 12, Spending: DefaultSpending}
	for _, tt := range []struct {
		rule             Sequential
		look             int
		exact, shortfall float64
	}{
		{one, 6, 4.3086643, 0.16}, {twelve, 6, 7.1331718, 0.225},
		{one, 12, 1.7648553, 0.05}, {twelve, 12, 2.3179036, 0.085},
		{one, 24, 1.0440806, 0.02}, {twelve, 24, 1.2726381, 0.035},
		{one, 48, 0.68337001, 0.007}, {twelve, 48, 0.81156608, 0.0135},
	} {
		got := SmallestEffect(1, tt.look, tt.rule.OneSidedLevel(tt.look), 0.95, 0)
		if got > tt.exact || got < tt.exact*(1-tt.shortfall) {
			t.Errorf("%d cells, look %d: %v, exact %v", tt.rule.Cells, tt.look, got, tt.exact)
		}
	}
}

func TestSmallestEffectRefusesBadInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, got := range map[string]float64{
		"sd":    SmallestEffect(-1, 6, 0.01, 0.95, 0),
		"sdNaN": SmallestEffect(nan, 6, 0.01, 0.95, 0),
		"n":     SmallestEffect(1, 1, 0.01, 0.95, 0),
		"alpha": SmallestEffect(1, 6, 0, 0.95, 0),
		"half":  SmallestEffect(1, 6, 0.5, 0.95, 0),
		"power": SmallestEffect(1, 6, 0.01, 1, 0),
		"low":   SmallestEffect(1, 6, 0.01, 0.4, 0),
		"delta": SmallestEffect(1, 6, 0.01, 0.95, inf),
	} {
		if !math.IsNaN(got) {
			t.Errorf("bad %s: %v, want NaN", name, got)
		}
	}
	for name, args := range map[string][5]float64{
		"NaN effect":          {1, nan, 0.01, 0.95, 0},
		"infinite effect":     {1, inf, 0.01, 0.95, 0},
		"effect within delta": {1, 0.1, 0.01, 0.95, 0.1},
		"below delta, exact":  {0, 0.05, 0.01, 0.95, 0.1},
		"bad level":           {1, 1, 0.7, 0.95, 0},
		"too small to see":    {1, 1e-9, 0.01, 0.95, 0},
	} {
		if n, err := ProcessesNeeded(args[0], args[1], args[2], args[3], args[4]); err == nil {
			t.Errorf("%s: %d, want an error", name, n)
		}
	}
	if n, err := ProcessesNeeded(0, 1, 0.01, 0.95, 0.5); err != nil || n != 2 {
		t.Errorf("figures without spread: %d, %v, want 2", n, err)
	}
}

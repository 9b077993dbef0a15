package stats

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

func distinct(n int) []int { return slices.Repeat([]int{1}, n) }

// The largest U with a two-sided p of at most 0.05, from the table that
// textbooks reprint (Milton, JASA 59 (1964); read at numeracy-bank.net).
func TestMannWhitneyAgreesWithCriticalValues(t *testing.T) {
	for _, tt := range []struct{ n1, n2, critical int }{
		{5, 5, 2}, {5, 6, 3}, {5, 20, 20}, {6, 6, 5}, {7, 13, 20}, {8, 8, 13}, {10, 10, 23},
		{12, 12, 37}, {15, 15, 64}, {16, 20, 98}, {19, 20, 119}, {20, 20, 127},
	} {
		at := mannWhitneyP(float64(tt.critical), tt.n1, distinct(tt.n1+tt.n2))
		beyond := mannWhitneyP(float64(tt.critical+1), tt.n1, distinct(tt.n1+tt.n2))
		if at > 0.05 || beyond <= 0.05 {
			t.Errorf("%d, %d: p(U = %d) = %v, p(U = %d) = %v, want 0.05 between", tt.n1, tt.n2, tt.critical, at, tt.critical+1, beyond)
		}
	}
}

func TestMannWhitneyOfPrintedExamples(t *testing.T) {
	// Hollander and Wolfe (1973), 69f, as in R's help of wilcox.test: W = 35,
	// one-sided p 0.1272, so two-sided 0.2544.
	xs := []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	ys := []float64{1.15, 0.88, 0.90, 0.74, 1.21}
	if u, p, err := MannWhitney(xs, ys); err != nil || u != 35 || math.Abs(p-0.2544) > 1.01e-4 {
		t.Errorf("permeability: u %v, p %v, %v, want 35, 0.2544", u, p, err)
	}
	// Five against five, by hand: U = 2 leaves 4 of 252 orders in a tail, U = 0 one.
	if u, p, err := MannWhitney([]float64{1, 2, 3, 4, 7}, []float64{5, 6, 8, 9, 10}); err != nil || u != 2 || !near(p, 8.0/252) {
		t.Errorf("five against five: u %v, p %v, %v, want 2, 0.0317", u, p, err)
	}
	if u, p, err := MannWhitney([]float64{6, 7, 8, 9, 10}, []float64{1, 2, 3, 4, 5}); err != nil || u != 25 || !near(p, 2.0/252) {
		t.Errorf("five above five: u %v, p %v, %v, want 25, 0.0079", u, p, err)
	}
	if _, p, err := MannWhitney([]float64{4, 4, 4}, []float64{4, 4}); err != nil || p != 1 {
		t.Errorf("equal figures: p %v, %v, want 1", p, err)
	}
}

// R's wilcox.test prints W = 51.5, p = 0.5966 (endmemo.com/r/wilcoxon.php);
// SciPy U = 223, p = 0.5426959774289482 (ClickHouse, tests/queries/0_stateless/
// 01560_mann_whitney.sql). Both have ties and both corrections.
func TestMannWhitneyNormalApproximationAgreesWithRAndSciPy(t *testing.T) {
	for _, tt := range []struct {
		xs, ys    []float64
		u, p, tol float64
	}{
		{
			[]float64{1, 5, 9, 24, 56, 21, 3, 7, 21, 4}, []float64{12, 15, 5, 9, 9, 14, 56, 22, 3, 7, 32, 5},
			51.5, 0.5966, 5e-5,
		}, {
			[]float64{310, 195, 530, 155, 530, 245, 385, 450, 465, 545, 170, 180, 125, 180, 230, 75, 430, 480, 495, 295},
			[]float64{116, 171, 176, 421, 111, 326, 481, 111, 346, 441, 261, 411, 206, 521, 456, 446, 296, 51, 426, 261},
			223, 0.5426959774289482, 1e-12,
		},
	} {
		u, exact, err := MannWhitney(tt.xs, tt.ys)
		if err != nil || u != tt.u {
			t.Errorf("u = %v, %v, want %v", u, err, tt.u)
		}
		groups := tieGroups(slices.Concat(tt.xs, tt.ys))
		if p := mannWhitneyNormalP(u, len(tt.xs), len(tt.ys), groups); math.Abs(p-tt.p) > tt.tol {
			t.Errorf("u %v: normal p = %v, want %v", u, p, tt.p)
		}
		if math.Abs(exact-tt.p) > 0.02 {
			t.Errorf("u %v: exact p = %v is far from the normal one, %v", u, exact, tt.p)
		}
	}
}

// An independent computation: every way to deal the figures to the samples,
// u counted afresh each time.
func TestMannWhitneyAgreesWithEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for trial := range 200 {
		n1, n2 := 1+rng.IntN(5), 1+rng.IntN(6)
		kinds := 1 + rng.IntN(12) // few kinds make many ties
		all := make([]float64, n1+n2)
		for i := range all {
			all[i] = float64(rng.IntN(kinds))
		}
		u, got, err := MannWhitney(all[:n1], all[n1:])
		if err != nil {
			t.Fatal(err)
		}
		if want := enumeratedP(all, n1, u); !near(got, want) {
			t.Fatalf("trial %d: %v | %v: u %v, p %v, want %v", trial, all[:n1], all[n1:], u, got, want)
		}
	}
}

func enumeratedP(all []float64, n1 int, u float64) float64 {
	var below, above, total float64
	for set := range uint(1) << len(all) {
		if bits.OnesCount(set) != n1 {
			continue
		}
		v := 0.0
		for i, x := range all {
			for j, y := range all {
				if set>>i&1 == 1 && set>>j&1 == 0 {
					switch {
					case x > y:
						v++
					case x == y:
						v += 0.5
					}
				}
			}
		}
		total++
		if v <= u {
			below++
		}
		if v >= u {
			above++
		}
	}
	return math.Min(1, 2*math.Min(below, above)/total)
}

func TestMannWhitneyAtItsLimits(t *testing.T) {
	// 50 against 50 all below: 2/C(100, 50), C(100, 50) = 1.0089134454556e29.
	lower, upper := make([]float64, 51), make([]float64, 51)
	for i := range lower {
		lower[i], upper[i] = float64(i), float64(100+i)
	}
	if _, p, err := MannWhitney(lower[:50], upper[:50]); err != nil || !relative(p, 2/1.0089134454556419e29, 1e-10) {
		t.Errorf("50 below 50: p = %v, %v", p, err)
	}
	// One more is the normal approximation, z = (51²/2 − ½)/sqrt(51²·103/12).
	if _, p, err := MannWhitney(lower, upper); err != nil || !relative(p, math.Erfc(1300/math.Sqrt(2*2601*103.0/12)), 1e-12) {
		t.Errorf("51 below 51: p = %v, %v", p, err)
	}
	for _, bad := range [][]float64{{}, {math.NaN()}, {math.Inf(1)}} {
		if _, _, err := MannWhitney(bad, lower); err == nil {
			t.Errorf("%v: no error", bad)
		}
		if _, _, err := MannWhitney(lower, bad); err == nil {
			t.Errorf("%v as second: no error", bad)
		}
	}
}

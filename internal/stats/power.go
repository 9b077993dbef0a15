package stats

import (
	"fmt"
	"math"
)

// maxProcesses is where ProcessesNeeded stops looking: a day of processes of
// 50 ms, rounded. Nobody waits for more.
const maxProcesses = 2_000_000

// SmallestEffect is the true ln ratio that SlowerFasterP's test would call at
// n processes with the given power:
//
//	delta + (t[1−alpha1, n−1] + t[power, n−1])·sd/√n
//
// sd is the standard deviation of one process, alpha1 the one-sided level of
// the one test that decides (Sequential.OneSidedLevel), delta the margin of the
// hypothesis. It is what `too few samples` reports.
//
// The sum of two central t quantiles stands in for the noncentral t
// distribution: Zar, Biostatistical Analysis, chapter 7, sample size of the
// one-sample t test. It says too little where processes are few and the level is
// small: beyond delta, for 95 % power by the default rule over 12 cells, 22 % too
// little at 6 processes, 8 % at 12, 3 % at 24, 1.3 % at 48
// (TestSmallestEffectAgainstNoncentralT).
//
// NaN for an sd or delta that is negative or not finite, n < 2, alpha1 outside
// 0…½ or power outside ½…1, where the formula says nothing.
func SmallestEffect(sd float64, n int, alpha1, power, delta float64) float64 {
	switch {
	case !(sd >= 0) || math.IsInf(sd, 0) || !(delta >= 0) || math.IsInf(delta, 0):
		return math.NaN()
	case n < 2 || !(alpha1 > 0 && alpha1 < 0.5) || !(power >= 0.5 && power < 1):
		return math.NaN()
	}
	df := float64(n - 1)
	t := TQuantile(power, df) - TQuantile(alpha1, df) // t[1−a] = −t[a]
	return delta + float64(t*sd)/math.Sqrt(float64(n))
}

// ProcessesNeeded is the smallest n of at least 2 at which SmallestEffect is
// no larger than |effect|. An error for input that SmallestEffect refuses, an
// |effect| that no number of processes can tell from delta, and one that would
// take more processes than anybody waits for.
func ProcessesNeeded(sd, effect, alpha1, power, delta float64) (int, error) {
	effect = math.Abs(effect)
	if math.IsNaN(effect) || math.IsInf(effect, 0) || math.IsNaN(SmallestEffect(sd, 2, alpha1, power, delta)) {
		return 0, fmt.Errorf("processes needed: bad input: sd %v, effect %v, one-sided level %v, power %v, smallest effect %v",
			sd, effect, alpha1, power, delta)
	}
	if effect <= delta && sd > 0 || effect < delta {
		return 0, fmt.Errorf("processes needed: an effect of %v is within the smallest effect that matters, %v", effect, delta)
	}
	enough := func(n int) bool { return SmallestEffect(sd, n, alpha1, power, delta) <= effect }
	hi := 2
	for !enough(hi) { // falls with n, as both quantiles and 1/√n do
		if hi >= maxProcesses {
			return 0, fmt.Errorf("processes needed: more than %d to see an effect of %v with a spread of %v", maxProcesses, effect, sd)
		}
		hi = min(2*hi, maxProcesses)
	}
	lo := 1 // not enough, or below the least n
	for lo+1 < hi {
		if mid := (lo + hi) / 2; enough(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi, nil
}

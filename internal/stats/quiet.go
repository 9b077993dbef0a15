package stats

import (
	"math"
	"slices"
)

// How quiet blocks are told from busy ones: docs/comparison.md, Taking figures.
const (
	QuietQuantile  = 0.10 // of the probes seen so far, taken as the quiet level
	QuietTolerance = 0.03 // above the level, for both probes of a block
)

// QuietLevel is the q-quantile (Quantile, type 7) of the throughput probes seen
// so far, in any unit of time. A busy sibling thread only ever slows a probe, so
// the quiet host is the low end; the very least value would be one lucky probe.
// The probes need not be sorted and are not changed. NaN for no probes, one
// that is no positive figure, or a q outside 0…1.
func QuietLevel(probes []float64, q float64) float64 {
	for _, p := range probes {
		if CheckFigure(p) != nil {
			return math.NaN()
		}
	}
	sorted := slices.Clone(probes)
	slices.Sort(sorted)
	return Quantile(sorted, q)
}

// Quiet says whether a block was quiet: both of the probes that bracket it are
// at most level·(1 + tolerance). False for anything that is no positive figure,
// and for a negative tolerance: what cannot be told is not quiet.
func Quiet(before, after, level, tolerance float64) bool {
	if CheckFigure(before) != nil || CheckFigure(after) != nil || CheckFigure(level) != nil || !(tolerance >= 0) {
		return false
	}
	limit := level * (1 + tolerance)
	return before <= limit && after <= limit
}

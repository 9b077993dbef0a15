package measure

import (
	"fmt"
	"math"
	"strings"

	"github.com/ngcc/bench-action/internal/compare"
	"github.com/ngcc/bench-action/internal/records"
	"github.com/ngcc/bench-action/internal/stats"
)

// conclude sets verdict and reason from what stands in the comparison. Cells
// without call are those whose looks or budget are over.
func (c *pairCell) conclude() {
	var v compare.Verdict
	c.SmallestEffect = 0
	switch {
	case c.Fault != nil:
		v, c.Reason = compare.Invalid, c.Fault.Text
	case c.Call != "":
		v, c.Reason = c.concludeCall()
	case c.unchanged(c.Estimate):
		v, c.Reason = compare.Unchanged, ""
	default:
		v = compare.TooFewSamples
		c.SmallestEffect = c.smallestEffect()
		c.Reason = c.tooFew()
	}
	c.Verdict = string(v)
	if c.BusyDisagrees && c.Fault == nil {
		c.Reason = strings.TrimPrefix(c.Reason+"; ", "; ") + fmt.Sprintf("busy blocks show %s where quiet ones show %s: the two sides react differently to a busy host",
			percent(c.Busy.Mean), percent(c.Estimate.Mean))
	}
	c.dirty = true
}

// concludeCall gives the verdict of a cell that the sequential test has called.
func (c *pairCell) concludeCall() (compare.Verdict, string) {
	e, p, f := c.Estimate, c.Placement, c.Confirmation
	seen := fmt.Sprintf("%s %s (%s) in %d processes", percent(e.Mean), c.Call, interval(e), e.N)
	switch {
	case p == nil || !p.Complete:
		return compare.TooFewSamples, seen + ", but the budget ended before it could be told from moved code: use a larger --budget"
	case p.Note != "":
		return compare.TooFewSamples, seen + ", but it could not be told from moved code: " + p.Note
	case c.placed():
		return compare.Placement, fmt.Sprintf("%s: within %s…%s, which the base differs by from itself when its code moves", seen, percent(p.Lo), percent(p.Hi))
	case f == nil || !f.Complete:
		return compare.TooFewSamples, seen + ", but the budget ended before separate processes could confirm it: use a larger --budget"
	case f.Disagrees:
		return compare.Invalid, fmt.Sprintf("two ways of measuring disagree: side by side %s (%s), in separate processes %s (%s)",
			percent(e.Mean), interval(widened(e)), percent(f.Estimate.Mean), interval(f.Estimate))
	case f.TooFew && f.Against:
		return compare.TooFewSamples, seen + ", but the few quiet separate processes point the other way"
	}
	v := compare.Improvement
	if c.Call == string(stats.Slower) {
		v = compare.Regression
	}
	if p.Skipped {
		seen += "; not told from moved code, as there are no sources to relink"
	}
	if f.TooFew {
		return v, seen + "; too few quiet separate processes to confirm it, none against it"
	}
	return v, fmt.Sprintf("%s; separate processes: %s (%s)", seen, percent(f.Estimate.Mean), interval(f.Estimate))
}

// tooFew says why a cell could not be told.
func (c *pairCell) tooFew() string {
	counted := 0
	for _, p := range c.Processes {
		if p.Counted {
			counted++
		}
	}
	text := fmt.Sprintf("%d of %d processes had %d quiet blocks", counted, len(c.Processes), c.Settings.MinQuiet)
	switch {
	case c.TooSlow:
		return fmt.Sprintf("%d blocks do not fit into the %.3g s that a process may take", c.Settings.MinQuiet, float64(c.Settings.MaxNs)/1e9)
	case len(c.Processes) == 0:
		return "the budget ended before its first process: use a larger --budget"
	case c.SmallestEffect == 0:
		return fmt.Sprintf("%s, %d are the least to decide by: nothing could have been seen", text, c.Settings.Looks[0])
	}
	return fmt.Sprintf("%s; less than %.2g %% could not have been seen", text, 100*c.SmallestEffect)
}

// percent is how people read an ln ratio: +1.02 %.
func percent(ln float64) string { return fmt.Sprintf("%+.2f %%", 100*math.Expm1(ln)) }

func interval(e *records.PairEstimate) string {
	return fmt.Sprintf("%.0f %%: %s…%s", 100*e.Level, percent(e.Lo), percent(e.Hi))
}

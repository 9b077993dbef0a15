package report

import (
	"fmt"
	"strings"

	"github.com/ngcc/bench-action/internal/compare"
)

// headline is the run's result in one plain line: what it got, how much of the
// run that is, and why it matters. It never says "no difference" where none
// could have been seen. The text may hold outside names: escape it.
func headline(d Data) string {
	o := d.Diff.Outcome
	of := func(v compare.Verdict) string {
		n := o.Of(v)
		return fmt.Sprintf("%d of %s %s", n, plural(o.Cells, "cell"), isAre(n))
	}
	failing := func(v compare.Verdict) string {
		names := labels(d.withVerdict(v))
		return fmt.Sprintf("%s: %s (%s)", v, plural(len(names), "label"), fewOrCount(names))
	}
	switch v := o.Verdict; {
	case o.Cells == 0:
		return "nothing measured: no cell was selected"
	case v == compare.BuildFailed, v == compare.KATFailed:
		return failing(v) + "; never timed"
	case v == compare.Invalid:
		return "invalid: " + of(v) + " without a figure that can be right"
	case v == compare.Regression:
		return "regression: " + of(v) + " slower beyond doubt"
	case o.NothingMeasured():
		return "nothing measured: none of " + plural(o.Cells, "cell") + " could be timed here"
	case v == compare.Suspect:
		return "suspect: " + of(v) + " slower than the stored spread allows, with no base measured beside to confirm it"
	case v == compare.TooFewSamples:
		return fmt.Sprintf("too few samples: %d of %s could not be told from the base: a change could have gone unseen", o.Of(v), plural(o.Cells, "cell"))
	case v == compare.Incomparable && o.NothingCompared():
		return "incomparable: nothing was compared: " + because(d)
	case v == compare.Incomparable:
		return "incomparable: " + of(v) + " not compared"
	case o.NothingCompared():
		return "nothing compared: the baseline has none of the cells measured"
	}
	return goodHeadline(o)
}

// because is why nothing was comparable: the base's reason where it is short, or
// the cells' own.
func because(d Data) string {
	if n := len(d.Diff.Base.Differs); n > 2 {
		return fmt.Sprintf("%d conditions differ from those of the baseline of %s", n, d.Diff.Base.System)
	}
	if d.Diff.Base.Reason != "" {
		return d.Diff.Base.Reason
	}
	for _, c := range d.withVerdict(compare.Incomparable) {
		return c.Reason
	}
	return "no reason is recorded"
}

// goodHeadline is that of a run without anything to worry about.
func goodHeadline(o compare.Outcome) string {
	if n := o.Of(compare.Improvement); n > 0 {
		return fmt.Sprintf("improvement: %d of %s %s faster beyond doubt", n, plural(o.Cells, "cell"), isAre(n))
	}
	if o.Of(compare.SameCode) == o.Compared {
		return "same code: all of " + plural(o.Compared, "cell") + " compared run the code that the base ran"
	}
	return "unchanged: none of " + plural(o.Compared, "cell") + " compared is slower beyond its limit"
}

// counts is "12 cells: 1 suspect, 11 unchanged".
func counts(o compare.Outcome) string {
	var parts []string
	for _, c := range o.Counts {
		parts = append(parts, fmt.Sprintf("%d %s", c.Cells, c.Verdict))
	}
	return plural(o.Cells, "cell") + ": " + strings.Join(parts, ", ")
}

// baseText says what the run was held against. The reason for not being
// comparable is left out where the headline gives it.
func baseText(d Data) string {
	b := d.Diff.Base
	reason := b.Reason
	if reason != "" && strings.Contains(headline(d), reason) {
		reason = ""
	}
	if b.Kind == compare.BaseNone {
		if reason == "" {
			return ""
		}
		return "no baseline is comparable: " + reason
	}
	text := b.Kind
	if b.System != "" {
		text += " of " + b.System
	}
	var about []string
	for _, s := range []string{b.Origin, b.Date} {
		if s != "" {
			about = append(about, s)
		}
	}
	if b.Commit != "" {
		about = append(about, "commit "+b.Commit[:min(12, len(b.Commit))])
	}
	if len(about) > 0 {
		text += " (" + strings.Join(about, ", ") + ")"
	}
	if b.Comparable {
		return "base: " + text
	}
	return strings.TrimSuffix("not comparable with: "+text+": "+reason, ": ")
}

// driftText says how unchanged code moved; empty where there is none.
func driftText(dr *compare.Drift) string {
	if dr == nil {
		return ""
	}
	text := fmt.Sprintf("figures of unchanged code: %+.2f %% (geometric mean over %s)", 100*(dr.Ratio-1), plural(dr.Cells, "cell"))
	if dr.Outside == 0 {
		return text + ", all within their limits"
	}
	return fmt.Sprintf("%s, %d outside their limits: the host drifted, so do not trust small differences of this run", text, dr.Outside)
}

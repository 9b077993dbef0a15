package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ngcc/bench-action/internal/records"
	"github.com/ngcc/bench-action/internal/stats"
)

// stored judges by the stored baseline of the run's system. Its worst word is
// suspect: only figures measured beside a base can say regression.
type stored struct {
	in   Input
	base *Baseline // nil: none is this machine's
	why  string    // with no base
}

// newStored chooses the baseline.
func newStored(in Input) *stored {
	s := &stored{in: in}
	if in.Run.System == "" {
		s.base, s.why = Recognise(in.Baselines, in.Run.Fingerprint)
		return s
	}
	i := slices.IndexFunc(in.Baselines, func(b Baseline) bool { return b.System == in.Run.System })
	if i < 0 {
		s.why = fmt.Sprintf("system %s has no baseline yet", in.Run.System)
		return s
	}
	s.base = &in.Baselines[i]
	return s
}

// Base implements Judge.
func (s *stored) Base() Base {
	if s.base == nil {
		return Base{Kind: BaseNone, System: s.in.Run.System, Reason: s.why}
	}
	b := Base{
		Kind: BaseStored, System: s.base.System, Origin: s.base.Origin, Commit: s.base.Commit, Date: s.base.Date,
		Differs: Differences(s.base.Fingerprint, s.in.Run.Fingerprint),
	}
	b.Digest, _ = s.base.Digest() // read from a file, so it has one
	b.Comparable = len(b.Differs) == 0
	if !b.Comparable {
		b.Reason = strings.Join(b.Differs, "; ")
	}
	return b
}

// Judge implements Judge.
func (s *stored) Judge(c *Cell, r records.Record) {
	if s.base == nil {
		c.Verdict, c.Reason = Incomparable, s.why
		return
	}
	if d := Differences(s.base.Fingerprint, r.Fingerprint); len(d) > 0 {
		c.Verdict, c.Reason = Incomparable, strings.Join(d, "; ")
		return
	}
	was, ok := s.base.Cell(c.Key)
	if !ok {
		c.Verdict, c.Reason = New, "the baseline does not have this cell"
		return
	}
	base := s.figure(was)
	c.Base = &base
	c.Statistic = StatisticMean
	if was.Low > 0 {
		c.Statistic = StatisticLow
	}
	ln, err := lnRatio(base, *c.Head, c.Statistic)
	if err != nil {
		c.Verdict, c.Reason = Invalid, err.Error()
		return
	}
	c.Ratio = c.Head.Of(c.Statistic) / base.Of(c.Statistic)
	limit := s.in.Thresholds.lnLimit(base, *c.Head)
	c.Limit = round6(math.Expm1(limit))
	c.Verdict, c.Reason = s.verdict(base, *c.Head, ln, limit)
}

// verdict decides by the ln ratio and its limit.
func (s *stored) verdict(base, head Figure, ln, limit float64) (Verdict, string) {
	t := s.in.Thresholds
	switch {
	case base.Code != "" && base.Code == head.Code:
		if math.Abs(ln) > limit {
			return SameCode, "the figure moved although the code did not: the host drifted"
		}
		return SameCode, ""
	case head.Trials < t.MinTrials:
		return TooFewSamples, fmt.Sprintf("%d trials where %d are needed", head.Trials, t.MinTrials)
	case ln > limit:
		return Suspect, "slower than its stored spread allows; no base was measured beside it to confirm"
	case math.Expm1(limit) > t.MaxLimit:
		return TooFewSamples, fmt.Sprintf("the trials scatter so much that less than %.0f %% could not be seen", 100*math.Expm1(limit))
	case ln < -limit:
		return Unchanged, "faster than its stored spread; not confirmed"
	}
	return Unchanged, ""
}

func (s *stored) figure(c BaselineCell) Figure {
	return Figure{
		Mean: c.Mean, Low: c.Low, Spread: c.Spread, Trials: c.Trials,
		Counter: s.base.Counter, Unit: s.base.Counter.Unit(), Code: c.Code,
	}
}

// Of is f's figure of a statistic, in ticks a call.
func (f Figure) Of(statistic string) float64 {
	switch statistic {
	case StatisticLow:
		return f.Low
	case StatisticQuiet:
		return f.Quiet
	}
	return f.Mean
}

// lnRatio is ln(head/base) of one statistic. Ticks of different counters have
// no ratio: an error.
func lnRatio(base, head Figure, statistic string) (float64, error) {
	if base.Counter != head.Counter {
		return 0, fmt.Errorf("%s and %s are different units and have no ratio", base.Counter.Unit(), head.Counter.Unit())
	}
	return stats.LnRatio(base.Of(statistic), head.Of(statistic))
}

// Removed implements Judge: baseline cells of what the run selected that the
// catalogue no longer has. Cells merely not selected stay as they are.
func (s *stored) Removed() []Cell {
	if s.base == nil || s.in.Catalogue == nil {
		return nil
	}
	have := map[Key]bool{}
	for _, k := range s.in.Catalogue {
		have[k] = true
	}
	var out []Cell
	for _, was := range s.base.Cells {
		if have[was.Key] || !selected(s.in.Run.Options, was.Key) {
			continue
		}
		c := newCell(was.Key)
		base := s.figure(was)
		c.Base, c.Reason = &base, "in the baseline, no longer in the catalogue"
		out = append(out, c)
	}
	return out
}

// selected says whether a run's options reach key. An empty option selects all.
// A removed label's variant is not known, so variants do not narrow.
func selected(o records.Options, k Key) bool {
	ofInstance := func(name string) bool { return k.Label == name || strings.HasPrefix(k.Label, name+"-") }
	return (len(o.Candidates) == 0 || slices.Contains(o.Candidates, k.Candidate)) &&
		(len(o.Instances) == 0 || slices.ContainsFunc(o.Instances, ofInstance)) &&
		(len(o.Sizes) == 0 || slices.Contains(o.Sizes, k.MessageBytes))
}

// advice says what a person can do about the outcome; empty when nothing need
// be done.
func advice(d *Diff) string {
	o := d.Outcome
	switch {
	case o.Conclusion == Failure && !o.NothingMeasured():
		return ""
	case o.Cells == 0:
		return "nothing was selected: choose candidates that the data root has"
	case o.NothingMeasured() && o.Of(NotRunnable) > 0 && ConclusionOf(o.Verdict) != Failure:
		return "measure on a machine that has what these labels need, or choose other variants"
	case o.NothingMeasured():
		return ""
	case o.Of(Suspect) > 0:
		return "measure base and head in one run to confirm or clear it"
	case !o.NothingCompared():
		return ""
	case d.Base.Kind == BaseNone:
		return "to compare on this machine from now on, accept these figures as a system of its own and commit the baseline file"
	case !d.Base.Comparable:
		return "measure as the baseline was measured, or accept new figures with the reason for the change"
	}
	return "accept these figures so that the next run has something to compare with"
}

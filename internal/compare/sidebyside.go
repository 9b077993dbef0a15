package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/ngcc/bench-action/internal/catalog"
	"github.com/ngcc/bench-action/internal/records"
)

// SideBySide is a base that was measured in the run itself. A stored baseline
// beside it informs and never makes or hides a verdict.
type SideBySide struct {
	// Description says what the base is: commit and date. Kind, Comparable and
	// Digest are filled in.
	Description Base
	Build       records.Build  // the base's
	Gates       []records.Gate // the base's, by the base's manifests
	// Same are labels ("hash-23/QILIN-512") whose sources, flags and compiler
	// equal the base's, so that they need not have been built on either side.
	Same        []string
	Comparisons []records.Comparison
}

// Beside is what a side-by-side comparison has shown. Ratios are head / base.
type Beside struct {
	Processes      int      `json:"processes" jsonschema:"description=counted: the unit of every interval"`
	Ran            int      `json:"ran" jsonschema:"description=processes, those with too few quiet blocks included"`
	Lo             float64  `json:"lo,omitempty" jsonschema:"description=95 % interval of the ratio"`
	Hi             float64  `json:"hi,omitempty"`
	QuietShare     float64  `json:"quiet_share" jsonschema:"description=part of all blocks that were quiet"`
	BusyRatio      float64  `json:"busy_ratio,omitempty" jsonschema:"description=ratio in busy blocks; decides nothing"`
	BusyDisagrees  bool     `json:"busy_disagrees,omitempty"`
	SmallestEffect float64  `json:"smallest_effect,omitempty" jsonschema:"description=too few samples: the least change that would have been seen"`
	Instructions   *Change  `json:"instructions,omitempty" jsonschema:"description=a call; absent where not counted"`
	Placement      *Between `json:"placement,omitempty" jsonschema:"description=ratios that the base shows against itself when its code moves"`
	Separate       *Between `json:"separate,omitempty" jsonschema:"description=99 % interval from processes of one side each"`
	StoredRatio    float64  `json:"stored_ratio,omitempty" jsonschema:"description=head over the stored baseline; informs only"`
	RenamedFrom    string   `json:"renamed_from,omitempty" jsonschema:"description=the base's label with the same code"`
	File           string   `json:"file,omitempty" jsonschema:"description=the comparison, relative to the run directory"`
}

// Change is a quantity of both sides.
type Change struct {
	Base float64 `json:"base"`
	Head float64 `json:"head"`
}

// Between is a range of ratios.
type Between struct {
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
}

// besideJudge judges cells by their core and their comparison, where others
// judge a figure of the run's own.
type besideJudge interface {
	Judge
	// judgeBeside fills c, and says whether it has a figure of this run. r is the
	// cell's record, or nil.
	judgeBeside(c *Cell, b records.LabelBuild, r *records.Record) (measured bool)
	// sameCode says that the base has this very code under this name: then no
	// gate need have looked at it again.
	sameCode(b records.LabelBuild) bool
	// unbuilt lists cells that have a verdict without a build.
	unbuilt() []Cell
}

// beside judges by SideBySide.
type beside struct {
	*SideBySide
	in     Input
	stored *stored
	builds map[label]*records.LabelBuild
	gates  map[label]*records.Gate
	same   map[string]bool
	cells  map[Key]*records.Comparison
	twice  map[Key]bool
	// renamed gives the base's label of a head's label with another name.
	renamed map[label]label
}

// Besides gives every cell of a run its verdict against a base that was
// measured side by side. Errors as Compare.
func Besides(in Input, s SideBySide) (*Diff, error) {
	if in.Thresholds == (Thresholds{}) {
		in.Thresholds = DefaultThresholds
	}
	return Compare(in, newBeside(in, s))
}

func newBeside(in Input, s SideBySide) *beside {
	j := &beside{
		SideBySide: &s, in: in, stored: newStored(in), same: map[string]bool{},
		builds: map[label]*records.LabelBuild{}, gates: map[label]*records.Gate{},
		cells: map[Key]*records.Comparison{}, twice: map[Key]bool{}, renamed: map[label]label{},
	}
	for i := range s.Build.Labels {
		j.builds[label{s.Build.Labels[i].Candidate, s.Build.Labels[i].Label}] = &s.Build.Labels[i]
	}
	for i := range s.Gates {
		j.gates[label{s.Gates[i].Candidate, s.Gates[i].Label}] = &s.Gates[i]
	}
	for _, l := range s.Same {
		j.same[l] = true
	}
	for i := range s.Comparisons {
		c := &s.Comparisons[i]
		k := Key{c.Candidate, c.Label, c.MessageBytes}
		j.twice[k] = j.cells[k] != nil
		j.cells[k] = c
	}
	j.matchNames()
	return j
}

// matchNames finds labels that only one side has, with equal code: of one
// candidate first, each once, in the order of names.
func (j *beside) matchNames() {
	heads := map[label]bool{}
	for _, k := range j.in.Catalogue {
		heads[label{k.Candidate, k.Label}] = true
	}
	var fresh, gone []records.LabelBuild
	for _, b := range j.in.Build.Labels {
		l := label{b.Candidate, b.Label}
		heads[l] = true
		if j.builds[l] == nil && !j.same[l.text()] && b.Status == records.BuildOK && b.CodeDigest != "" {
			fresh = append(fresh, b)
		}
	}
	for _, b := range j.Build.Labels {
		if !heads[label{b.Candidate, b.Label}] && b.Status == records.BuildOK {
			gone = append(gone, b)
		}
	}
	for _, list := range [][]records.LabelBuild{fresh, gone} {
		slices.SortFunc(list, func(x, y records.LabelBuild) int {
			return cmp.Or(catalog.NaturalCompare(x.Candidate, y.Candidate), catalog.NaturalCompare(x.Label, y.Label))
		})
	}
	taken := map[label]bool{}
	for _, oneCandidate := range []bool{true, false} {
		for _, h := range fresh {
			head := label{h.Candidate, h.Label}
			for _, b := range gone {
				base := label{b.Candidate, b.Label}
				if _, done := j.renamed[head]; done || taken[base] || b.CodeDigest != h.CodeDigest || oneCandidate && b.Candidate != h.Candidate {
					continue
				}
				j.renamed[head], taken[base] = base, true
			}
		}
	}
}

func (l label) text() string { return l.candidate + "/" + l.name }

// Base implements Judge.
func (j *beside) Base() Base {
	b := j.Description
	b.Kind, b.Comparable = BaseBeside, true
	parts := []string{"side by side"}
	for _, v := range []any{j.Build, j.Gates, j.Same, j.Comparisons} {
		data, err := records.Marshal(v)
		if err != nil { // a NaN, which no file can hold
			data = []byte(err.Error())
		}
		parts = append(parts, string(data))
	}
	b.Digest = records.Digest(parts...)
	return b
}

// Judge implements Judge. Compare asks judgeBeside instead.
func (j *beside) Judge(c *Cell, r records.Record) {
	j.judgeBeside(c, records.LabelBuild{Candidate: r.Candidate, Label: r.Label, Status: records.BuildOK, CodeDigest: r.CodeDigest}, &r)
}

// sameCode implements besideJudge.
func (j *beside) sameCode(head records.LabelBuild) bool {
	l := label{head.Candidate, head.Label}
	base := j.builds[l]
	return j.same[l.text()] || base != nil && base.CodeDigest != "" && base.CodeDigest == head.CodeDigest
}

// judgeBeside implements besideJudge.
func (j *beside) judgeBeside(c *Cell, head records.LabelBuild, r *records.Record) (measured bool) {
	l := label{c.Candidate, c.Label}
	stored := j.informed(c, r)
	measured = c.Head != nil
	base := j.builds[l]
	switch from, renamed := j.renamed[l]; {
	case renamed:
		c.Verdict, c.Reason = SameCode, "renamed: the base has this code as "+from.text()
		c.Beside = &Beside{RenamedFrom: from.text()}
	case j.sameCode(head):
		c.Verdict = SameCode
		// What the same code shows against a baseline of it is the host's drift.
		if stored != nil && stored.Verdict == SameCode {
			c.Base, c.Statistic, c.Ratio, c.Limit, c.Reason = stored.Base, stored.Statistic, stored.Ratio, stored.Limit, stored.Reason
		}
	case base == nil:
		c.Verdict, c.Reason = New, "the base does not have this label"
	case base.Status != records.BuildOK:
		c.Verdict, c.Reason = Incomparable, "the base could not be built: "+firstLine(base.Error, known(base.Status))
	case j.gates[l] == nil:
		c.Verdict, c.Reason = Incomparable, "the base has not been through its gate, so it was not timed"
	case j.gates[l].Result != records.GatePass:
		c.Verdict, c.Reason = Incomparable, "the base fails its own gate: "+firstLine(j.gates[l].Result+": "+j.gates[l].Detail, "")
	default:
		return j.compared(c, head, *base, stored) || measured
	}
	return measured
}

// informed gives c the run's own figure, if there is a record of it, and returns
// what the stored baseline would say, or nil.
func (j *beside) informed(c *Cell, r *records.Record) *Cell {
	if r == nil || recordFault(*r) != "" {
		return nil
	}
	head := headFigure(*r)
	c.Head = &head
	was := *c
	j.stored.Judge(&was, *r)
	if was.Ratio == 0 {
		return nil
	}
	return &was
}

// compared fills c from its comparison.
func (j *beside) compared(c *Cell, head, base records.LabelBuild, stored *Cell) (measured bool) {
	pair := j.cells[c.Key]
	if pair == nil {
		c.Verdict, c.Reason = Invalid, "not measured: there is no comparison"
		return false
	}
	switch err := pair.Check(); {
	case err != nil:
		c.Verdict, c.Reason = Invalid, "the comparison cannot be right: "+err.Error()
	case j.twice[c.Key]:
		c.Verdict, c.Reason = Invalid, "there are two comparisons: remove one from the run directory"
	case pair.Head.CodeDigest != head.CodeDigest || pair.Base.CodeDigest != base.CodeDigest:
		c.Verdict, c.Reason = Invalid, "the comparison is of other code than was built: measure again"
	case pair.Verdict == "":
		c.Verdict, c.Reason = TooFewSamples, "measuring was stopped before there was a verdict: run again to go on"
	default:
		c.Verdict, c.Reason = Verdict(pair.Verdict), pair.Reason
	}
	if c.Verdict == Invalid && pair.Verdict != string(Invalid) {
		return false
	}
	c.Beside = besideOf(pair)
	if stored != nil {
		c.Beside.StoredRatio = stored.Ratio
	}
	if pair.Estimate == nil || pair.BaseFigure == nil || pair.HeadFigure == nil {
		return false
	}
	c.Statistic, c.Ratio = StatisticQuiet, ratioOf(pair.Estimate.Mean)
	figure := func(was *Figure, f records.PairFigure, code string) *Figure {
		out := Figure{Trials: pair.Estimate.N, Counter: pair.Counter, Unit: pair.Counter.Unit(), Code: code}
		if was != nil && was.Counter == pair.Counter {
			out.Mean, out.Low = was.Mean, was.Low
		}
		out.Quiet = f.TicksPerByte * float64(c.MessageBytes)
		return &out
	}
	c.Base = figure(nil, *pair.BaseFigure, base.CodeDigest)
	c.Head = figure(c.Head, *pair.HeadFigure, head.CodeDigest)
	return c.Verdict != Invalid
}

// besideOf is what a comparison shows.
func besideOf(c *records.Comparison) *Beside {
	b := &Beside{
		Ran: len(c.Processes), QuietShare: c.QuietShare, BusyDisagrees: c.BusyDisagrees, SmallestEffect: c.SmallestEffect,
		File: records.PairFileName(c.Candidate, c.Label, c.MessageBytes),
	}
	if e := c.Estimate; e != nil {
		b.Processes, b.Lo, b.Hi = e.N, ratioOf(e.Lo), ratioOf(e.Hi)
	}
	if c.Busy != nil {
		b.BusyRatio = ratioOf(c.Busy.Mean)
	}
	if x, y := c.BaseFigure, c.HeadFigure; x != nil && y != nil && x.Instructions > 0 && y.Instructions > 0 {
		b.Instructions = &Change{x.Instructions, y.Instructions}
	}
	if p := c.Placement; p != nil && p.Complete && !p.Skipped && p.Note == "" {
		b.Placement = &Between{ratioOf(p.Lo), ratioOf(p.Hi)}
	}
	if f := c.Confirmation; f != nil && f.Estimate != nil {
		b.Separate = &Between{ratioOf(f.Estimate.Lo), ratioOf(f.Estimate.Hi)}
	}
	return b
}

// ratioOf turns an ln ratio into one, as diff.json has it.
func ratioOf(ln float64) float64 { return round6(math.Exp(ln)) }

// Removed implements Judge: the base's cells of what the run selected that the
// catalogue no longer has, and that no label has the code of.
func (j *beside) Removed() []Cell {
	if j.in.Catalogue == nil {
		return nil
	}
	have := map[label]bool{}
	for _, k := range j.in.Catalogue {
		have[label{k.Candidate, k.Label}] = true
	}
	for _, b := range j.in.Build.Labels {
		have[label{b.Candidate, b.Label}] = true
	}
	for _, from := range j.renamed {
		have[from] = true
	}
	var out []Cell
	for _, b := range j.Build.Labels {
		for _, n := range j.sizes() {
			k := Key{b.Candidate, b.Label, n}
			if have[label{b.Candidate, b.Label}] || !selected(j.in.Run.Options, k) {
				continue
			}
			c := newCell(k)
			c.Reason = "only the base has this label"
			out = append(out, c)
		}
	}
	return out
}

func (j *beside) sizes() []int {
	if len(j.in.Run.Options.Sizes) > 0 {
		return j.in.Run.Options.Sizes
	}
	return catalog.Levels
}

// unbuilt implements besideJudge: labels that are the same and were not built.
func (j *beside) unbuilt() []Cell {
	built := map[string]bool{}
	for _, b := range j.in.Build.Labels {
		built[label{b.Candidate, b.Label}.text()] = true
	}
	var out []Cell
	for _, same := range slices.Compact(slices.Sorted(slices.Values(j.Same))) {
		if built[same] {
			continue
		}
		for _, n := range j.sizes() {
			k, err := ParseKey(fmt.Sprintf("%s/%s%d", same, operationPrefix, n))
			if err != nil {
				continue // the catalogue has refused such a name
			}
			c := newCell(k)
			c.Verdict = SameCode
			out = append(out, c)
		}
	}
	return out
}

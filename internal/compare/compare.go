package compare

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ngcc/bench-action/internal/catalog"
	"github.com/ngcc/bench-action/internal/host"
	"github.com/ngcc/bench-action/internal/records"
	"github.com/ngcc/bench-action/internal/stats"
)

// Input is all that verdicts follow from.
type Input struct {
	Run        records.Run
	Build      records.Build
	Gates      []records.Gate
	Records    []records.Record
	Baselines  []Baseline
	Catalogue  []Key      // every cell of the data root, selected or not; nil: not known, nothing is called removed
	Thresholds Thresholds // zero: DefaultThresholds
}

// A Judge gives the verdict of cells whose figure of this run is valid. The
// stored baseline is one; base figures measured in the same run are another
// (spec/comparison.md, Taking figures), which needs nothing else of this package.
type Judge interface {
	// Base describes what cells are held against.
	Base() Base
	// Judge sets c's verdict, reason, base, statistic, ratio and limit; key and
	// head are set. r is the cell's record, complete and checked.
	Judge(c *Cell, r records.Record)
	// Removed lists cells that the base has and the catalogue no longer.
	Removed() []Cell
}

// Against compares a run with the stored baseline of its system: the one named
// in run.json, else the one recognised by the hardware.
func Against(in Input) (*Diff, error) {
	if in.Thresholds == (Thresholds{}) {
		in.Thresholds = DefaultThresholds
	}
	return Compare(in, newStored(in))
}

// Compare gives every cell of a run its verdict: failures of build, gate and
// measurement first, the rest by judge. Cells are those of the labels built, at
// the sizes chosen, and of any record beyond them.
//
// Errors: a name that cannot be a key, or two records of one cell.
func Compare(in Input, judge Judge) (*Diff, error) {
	if in.Thresholds == (Thresholds{}) {
		in.Thresholds = DefaultThresholds
	}
	ev, err := gather(in)
	if err != nil {
		return nil, err
	}
	base := judge.Base()
	d := &Diff{Schema: DiffSchema, System: base.System, Base: base, Thresholds: in.Thresholds, Cells: []Cell{}}
	measured := 0
	for _, key := range ev.keys {
		c := newCell(key)
		beside, isBeside := judge.(besideJudge)
		build := ev.builds[label{key.Candidate, key.Label}]
		if v, why := ev.coreFault(key); v != "" && !(isBeside && ev.ungated(key) && beside.sameCode(*build)) {
			c.Verdict, c.Reason = v, why
		} else if isBeside {
			if beside.judgeBeside(&c, *build, ev.records[key]) {
				measured++
			}
		} else if v, why := ev.recordFault(key); v != "" {
			c.Verdict, c.Reason = v, why
		} else {
			measured++
			r := *ev.records[key]
			head := headFigure(r)
			c.Head = &head
			judge.Judge(&c, r)
		}
		d.Cells = append(d.Cells, c)
	}
	for _, c := range judge.Removed() {
		c.Verdict = Removed
		d.Cells = append(d.Cells, c)
	}
	if beside, ok := judge.(besideJudge); ok {
		d.Cells = append(d.Cells, beside.unbuilt()...)
	}
	slices.SortStableFunc(d.Cells, func(x, y Cell) int { return x.Key.Compare(y.Key) })
	verdicts := make([]Verdict, len(d.Cells))
	for i, c := range d.Cells {
		verdicts[i] = c.Verdict
	}
	d.Outcome = NewOutcome(verdicts, measured)
	d.Drift = drift(d.Cells)
	d.Advice = advice(d)
	d.Inputs = in.digest(base)
	return d, nil
}

func newCell(k Key) Cell {
	return Cell{Key: k, Candidate: k.Candidate, Label: k.Label, Operation: k.Operation(), MessageBytes: k.MessageBytes}
}

func headFigure(r records.Record) Figure {
	return Figure{
		Mean: r.Summary.MeanTicks, Low: r.Summary.LowTicks, Spread: spreadOf(r), Trials: len(r.Trials),
		Counter: r.Counter, Unit: r.Counter.Unit(), Code: r.CodeDigest,
	}
}

// label names a core.
type label struct{ candidate, name string }

// evidence is a run's files by label and cell.
type evidence struct {
	keys    []Key // in order
	builds  map[label]*records.LabelBuild
	gates   map[label]*records.Gate
	records map[Key]*records.Record
}

func gather(in Input) (*evidence, error) {
	ev := &evidence{
		builds: map[label]*records.LabelBuild{}, gates: map[label]*records.Gate{}, records: map[Key]*records.Record{},
	}
	sizes := in.Run.Options.Sizes
	if len(sizes) == 0 {
		sizes = catalog.Levels
	}
	seen := map[Key]bool{}
	for i := range in.Build.Labels {
		b := &in.Build.Labels[i]
		ev.builds[label{b.Candidate, b.Label}] = b
		for _, n := range sizes {
			seen[Key{b.Candidate, b.Label, n}] = true
		}
	}
	for i := range in.Gates {
		ev.gates[label{in.Gates[i].Candidate, in.Gates[i].Label}] = &in.Gates[i]
	}
	for i := range in.Records {
		k := KeyOf(in.Records[i])
		if ev.records[k] != nil {
			return nil, fmt.Errorf("compare: two records of %s: remove one from the run directory", k)
		}
		ev.records[k] = &in.Records[i]
		seen[k] = true
	}
	for k := range seen {
		if _, err := ParseKey(k.String()); err != nil {
			return nil, fmt.Errorf("compare: %w", err)
		}
		ev.keys = append(ev.keys, k)
	}
	slices.SortFunc(ev.keys, Key.Compare)
	return ev, nil
}

// coreFault is the verdict of a cell whose core must not be timed, and why. It is
// empty for a core that was built and has passed its gate.
func (ev *evidence) coreFault(key Key) (Verdict, string) {
	l := label{key.Candidate, key.Label}
	b, g := ev.builds[l], ev.gates[l]
	switch {
	case b == nil:
		return Invalid, "build.json does not have this label: build again"
	case b.Status == records.BuildFailed:
		return BuildFailed, firstLine(b.Error, "the compiler said nothing")
	case b.Status == records.BuildNotRunnable:
		return NotRunnable, firstLine(b.Error, "this host lacks what the label needs")
	case b.Status != records.BuildOK:
		return Invalid, fmt.Sprintf("build.json has the unknown status %q", b.Status)
	case g == nil:
		return KATFailed, "the gate has not run, so the code was not timed"
	case g.Result != records.GatePass:
		return KATFailed, strings.TrimSuffix(known(g.Result)+": "+firstLine(g.Detail, ""), ": ")
	case g.CodeDigest != b.CodeDigest:
		return KATFailed, "the gate checked other code than was built: run the gate again"
	}
	return "", ""
}

// ungated says that a core was built and that no gate has looked at it.
func (ev *evidence) ungated(key Key) bool {
	l := label{key.Candidate, key.Label}
	return ev.builds[l] != nil && ev.builds[l].Status == records.BuildOK && ev.gates[l] == nil
}

// recordFault is the verdict of a cell without a figure to judge, and why. It is
// empty for a valid figure.
func (ev *evidence) recordFault(key Key) (Verdict, string) {
	b, r := ev.builds[label{key.Candidate, key.Label}], ev.records[key]
	switch {
	case r == nil:
		return Invalid, "not measured: there is no record"
	case r.KAT != records.GatePass:
		return KATFailed, "the record says KAT " + known(r.KAT)
	}
	if why := recordFault(*r); why != "" {
		return Invalid, why
	}
	if r.CodeDigest != b.CodeDigest {
		return Invalid, "the record is of other code than was built: measure again"
	}
	return "", ""
}

// recordFault says why a record's figure cannot be right, or nothing.
func recordFault(r records.Record) string {
	if r.Status != records.RecordComplete {
		return firstLine(r.Error, "the record is "+known(r.Status))
	}
	switch r.Counter {
	case host.CoreCycles, host.TSC, host.CNTVCT, host.Clock:
	default:
		return fmt.Sprintf("counter %q is not known, so its unit is not", r.Counter)
	}
	if r.Fingerprint.Counter != r.Counter {
		return fmt.Sprintf("the record's counter is %s and its fingerprint's %s", r.Counter, known(string(r.Fingerprint.Counter)))
	}
	if r.Summary == nil {
		return "the record has no summary"
	}
	for _, f := range []struct {
		name string
		x    float64
	}{{"mean_ticks", r.Summary.MeanTicks}, {"low_ticks", r.Summary.LowTicks}, {"mean_ns", r.Summary.MeanNs}} {
		if err := stats.CheckFigure(f.x); err != nil {
			return f.name + ": " + err.Error()
		}
	}
	if s := r.Summary.Spread; !(s >= 0 && s < 10) {
		return fmt.Sprintf("spread: %v cannot be a standard deviation of logarithms", s)
	}
	if err := r.Check(); err != nil {
		return err.Error()
	}
	return ""
}

// firstLine is the first line of s that is not blank; otherwise is for none.
func firstLine(s, otherwise string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return otherwise
}

// drift is nil where no cell of unchanged code has a ratio.
func drift(cells []Cell) *Drift {
	var ratios []float64
	d := &Drift{}
	for _, c := range cells {
		if c.Verdict != SameCode || c.Ratio == 0 {
			continue
		}
		ratios = append(ratios, c.Ratio)
		if c.Ratio > 1+c.Limit || c.Ratio < 1/(1+c.Limit) {
			d.Outside++
		}
	}
	mean, err := stats.GeoMean(ratios)
	if err != nil {
		return nil
	}
	d.Cells, d.Ratio = len(ratios), round6(mean)
	return d
}

// digest is the SHA-256 over what verdicts follow from, whatever the order of
// files.
func (in Input) digest(base Base) string {
	in.Gates, in.Records = slices.Clone(in.Gates), slices.Clone(in.Records)
	slices.SortFunc(in.Gates, func(x, y records.Gate) int {
		return strings.Compare(x.Candidate+"/"+x.Label, y.Candidate+"/"+y.Label)
	})
	slices.SortFunc(in.Records, func(x, y records.Record) int { return KeyOf(x).Compare(KeyOf(y)) })
	h := sha256.New()
	add := func(v any) {
		data, err := json.Marshal(v)
		if err != nil { // a NaN, which no file can hold
			data = []byte(err.Error())
		}
		fmt.Fprintf(h, "%d\n", len(data))
		h.Write(data)
	}
	add(DiffSchema)
	add(in.Run.Options)
	add(in.Run.Fingerprint)
	add(in.Run.System)
	add(in.Build)
	add(in.Gates)
	for _, r := range in.Records {
		add(r)
	}
	add(in.Baselines)
	add(in.Catalogue)
	add(in.Thresholds)
	add(base)
	return hex.EncodeToString(h.Sum(nil))
}

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/ngcc/bench-action/internal/catalog"
	"github.com/ngcc/bench-action/internal/compare"
	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/host"
	"github.com/ngcc/bench-action/internal/measure"
	"github.com/ngcc/bench-action/internal/records"
)

// compareWithBase builds what differs between base and head on both sides,
// gates both by the base's vectors, and compares them side by side. What is
// equal in sources, flags and compiler is neither built nor measured.
func (s *session) compareWithBase(ctx context.Context, base *session) error {
	p, err := pair(s, base)
	if err != nil {
		return err
	}
	s.judge, base.judge = base, nil
	if err := s.notePairing(base, p); err != nil {
		return err
	}
	sentinels, err := s.sentinels(ctx, base, p.same)
	if err != nil {
		return err
	}
	s.labels = slices.Concat(p.changed, p.fresh, sentinels)
	base.labels = counterparts(base, p)
	s.say("base     %.12s: %d labels are the same code, %d changed, %d new, %d removed", base.root.info.Commit, len(p.same), len(p.changed), len(p.fresh), len(p.gone))
	if len(s.labels)+len(base.labels) == 0 {
		none := &records.Build{Schema: records.Schema, Compiler: s.compiler.Compiler, Labels: []records.LabelBuild{}}
		return errors.Join(s.dir.WriteJSON(records.BuildFile, none), base.dir.WriteJSON(records.BuildFile, none))
	}
	build, err := s.build(ctx)
	if err != nil {
		return err
	}
	base.driver = s.driver
	baseBuild, err := base.cores(ctx, "base")
	if err != nil {
		return err
	}
	old := map[string]records.LabelBuild{}
	for _, lb := range baseBuild.Labels {
		old[lb.Candidate+"/"+lb.Label] = lb
	}
	// Other sources can give the same code: such a label needs no gate. A
	// sentinel has no counterpart, and is timed.
	differs := func(lb records.LabelBuild) bool {
		was, ok := old[lb.Candidate+"/"+lb.Label]
		return !ok || was.CodeDigest != lb.CodeDigest
	}
	g, err := s.kat(ctx, only(build, differs))
	if err != nil {
		return err
	}
	changed := map[string]bool{}
	for _, lb := range build.Labels {
		changed[lb.Candidate+"/"+lb.Label] = lb.Status == records.BuildOK && differs(lb)
	}
	bg, err := base.kat(ctx, only(baseBuild, func(lb records.LabelBuild) bool { return changed[lb.Candidate+"/"+lb.Label] }))
	if err != nil {
		return err
	}
	return s.measurePairs(ctx, base, build, old, g, bg, keys(sentinels))
}

func keys(labels []catalog.Label) []string {
	var out []string
	for _, l := range labels {
		out = append(out, l.Key())
	}
	return out
}

// only is a build reduced to the labels that keep says.
func only(b *records.Build, keep func(records.LabelBuild) bool) *records.Build {
	out := *b
	out.Labels = slices.DeleteFunc(slices.Clone(b.Labels), func(lb records.LabelBuild) bool { return !keep(lb) })
	return &out
}

// counterparts are the base's labels that have to be built: those that changed,
// and those that are gone, since a new one could be one of them renamed.
func counterparts(base *session, p pairing) []catalog.Label {
	want := map[string]bool{}
	for _, l := range p.changed {
		want[l.Key()] = true
	}
	for _, l := range p.gone {
		want[l.Key()] = true
	}
	var out []catalog.Label
	for _, c := range base.catalog.Candidates {
		for _, l := range c.Labels() {
			if want[l.Key()] {
				out = append(out, l)
			}
		}
	}
	return out
}

// sentinelLabels is how many labels of unchanged code are timed in a run with a
// base, and sentinelBytes at which size: if they moved together, the host did.
const (
	sentinelLabels = 4
	sentinelBytes  = 1024
)

// sentinels are labels of unchanged code to hold against the base's stored
// baseline: none where no baseline is comparable, or the size is not asked for.
func (s *session) sentinels(ctx context.Context, base *session, same []catalog.Label) ([]catalog.Label, error) {
	baselines, err := compare.ReadBaselines(base.root)
	if err != nil || len(baselines) == 0 || !slices.Contains(s.sizes, sentinelBytes) || s.compiler.Emulated() {
		return nil, err
	}
	if err := s.buildDriver(ctx); err != nil {
		return nil, err
	}
	fp, err := s.fingerprint(ctx)
	if err != nil {
		return nil, err
	}
	b, _ := compare.Recognise(baselines, fp)
	if b == nil || len(compare.Differences(b.Fingerprint, fp)) > 0 {
		return nil, nil
	}
	var out []catalog.Label
	for _, l := range same {
		key := compare.Key{Candidate: l.Candidate.ID, Label: l.String(), MessageBytes: sentinelBytes}
		if _, known := b.Cell(key); known {
			out = append(out, l)
		}
	}
	// Spread over the catalogue, the same ones in every run.
	for len(out) > sentinelLabels {
		out = slices.Delete(out, len(out)/2, len(out)/2+1)
	}
	return out, nil
}

// measurePairs compares every changed label that passed on both sides, at every
// size, and times what is new and the sentinels.
func (s *session) measurePairs(ctx context.Context, base *session, build *records.Build, old map[string]records.LabelBuild, g, bg gates, same []string) error {
	var cells []measure.PairCell
	var fresh []measure.Cell
	for _, lb := range build.Labels {
		key := lb.Candidate + "/" + lb.Label
		gate, ok := g[key]
		if !ok || gate.Result != records.GatePass {
			continue
		}
		was, paired := old[key]
		for _, n := range s.sizes {
			switch {
			case slices.Contains(same, key) && n != sentinelBytes:
			case !paired:
				fresh = append(fresh, measure.Cell{Build: lb, Gate: gate, Bytes: n})
			case bg[key].Result == records.GatePass:
				cells = append(cells, s.pairCell(base, lb, was, gate, n))
			}
		}
	}
	var cs []records.Comparison
	err := s.bench(ctx, func(fp host.Fingerprint) (err error) {
		if len(cells)+len(fresh) == 0 {
			return nil
		}
		p := newProgress(s.err, "compare", len(cells))
		b := &measure.PairBench{
			Dir: s.dir, Runner: s.driver, CPU: s.cpu, Counter: s.o.counter, Seed: s.seed, MinEffect: s.o.minEffect / 100, Budget: s.o.budget,
			Fingerprint: fp, Done: func(c *records.Comparison, reused bool) { p.done(c.Key(), comparisonText(c, reused)) },
		}
		cs, err = b.Run(ctx, cells)
		p.end()
		if err != nil || len(fresh) == 0 {
			return err
		}
		_, err = s.time(ctx, fp, fresh)
		return err
	})
	if err != nil {
		return err
	}
	return s.explain(ctx, cells, cs)
}

func (s *session) pairCell(base *session, head, was records.LabelBuild, gate records.Gate, n int) measure.PairCell {
	c := measure.PairCell{
		Candidate: head.Candidate, Name: head.Name, Instance: head.Instance, Variant: head.Variant, Label: head.Label,
		API: head.API, DigestBits: head.DigestBits, Bytes: n,
		Base: measure.PairSide{Library: base.dir.Abs(was.Library), CodeDigest: was.CodeDigest, LibraryDigest: was.LibraryDigest},
		Head: measure.PairSide{Library: s.dir.Abs(head.Library), CodeDigest: head.CodeDigest, LibraryDigest: head.LibraryDigest},
	}
	for _, m := range gate.Messages {
		if m.Bytes == n {
			c.Expected = m.Digests
		}
	}
	hl, bl := s.labelOf(head), base.labelOf(was)
	c.Padded = func(ctx context.Context, side string, pad int) (string, error) {
		if side == "base" {
			return base.builder(nil).Padded(ctx, bl, pad)
		}
		return s.builder(nil).Padded(ctx, hl, pad)
	}
	return c
}

func comparisonText(c *records.Comparison, reused bool) string {
	text := c.Verdict
	if e := c.Estimate; e != nil {
		text += fmt.Sprintf(" %+.2f %% ± %.2f %%, %d processes", 100*e.Mean, 50*(e.Hi-e.Lo), e.N)
	}
	if c.Reason != "" && c.Verdict == "invalid" {
		text += ": " + c.Reason
	}
	if reused {
		text += " (kept)"
	}
	return text
}

// bench holds the bench CPU and the host's lock while work runs.
func (s *session) bench(ctx context.Context, work func(host.Fingerprint) error) error {
	if s.compiler.Emulated() {
		return usageError{fmt.Errorf("%s makes code for %s, which runs here under %s: it can be gated (ngcc-bench kat), and its speed here means nothing", s.compiler.Command, s.compiler.Arch, s.compiler.Emulator[0])}
	}
	if err := driver.StayOff(s.cpu); err != nil {
		return err
	}
	unlock, err := driver.LockHost(ctx, func(pid int) { s.say("waiting: process %d is timing on this host", pid) })
	if err != nil {
		return err
	}
	defer unlock()
	fp, err := s.fingerprint(ctx)
	if err != nil {
		return err
	}
	if err := s.note(func(run *records.Run) { run.Fingerprint = fp }); err != nil {
		return err
	}
	return work(fp)
}

// newSeed draws the seed of a run: 53 bits, which every reader of JSON keeps.
func newSeed() uint64 { return rand.Uint64() >> 11 }

// notePairing writes into run.json what the run is compared with.
func (s *session) notePairing(base *session, p pairing) error {
	b := &records.Base{Ref: s.o.base, Commit: base.root.info.Commit, Same: keys(p.same), Gone: keys(p.gone)}
	return s.note(func(run *records.Run) {
		if run.Seed != 0 {
			s.seed = run.Seed
		}
		run.Base, run.Seed = b, s.seed
	})
}

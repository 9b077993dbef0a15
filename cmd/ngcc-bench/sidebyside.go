package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/ngcc/bench-action/internal/catalog"
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
	s.labels = slices.Concat(p.changed, p.fresh)
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
	// Other sources can give the same code: such a label needs no gate.
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
	return s.measurePairs(ctx, base, build, old, g, bg)
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

// measurePairs compares every changed label that passed on both sides, at every
// size, and times what is new.
func (s *session) measurePairs(ctx context.Context, base *session, build *records.Build, old map[string]records.LabelBuild, g, bg gates) error {
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
			case !paired:
				fresh = append(fresh, measure.Cell{Build: lb, Gate: gate, Bytes: n})
			case bg[key].Result == records.GatePass:
				cells = append(cells, s.pairCell(base, lb, was, gate, n))
			}
		}
	}
	var cs []records.Comparison
	err := s.bench(ctx, func(fp host.Fingerprint) (err error) {
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
	b := &records.Base{Ref: s.o.base, Commit: base.root.info.Commit}
	for _, l := range p.same {
		b.Same = append(b.Same, l.Key())
	}
	for _, l := range p.gone {
		b.Gone = append(b.Gone, l.Key())
	}
	return s.note(func(run *records.Run) {
		if run.Seed != 0 {
			s.seed = run.Seed
		}
		run.Base, run.Seed = b, s.seed
	})
}

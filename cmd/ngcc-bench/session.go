package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ngcc/bench-action/internal/catalog"
	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/host"
	"github.com/ngcc/bench-action/internal/kat"
	"github.com/ngcc/bench-action/internal/measure"
	"github.com/ngcc/bench-action/internal/records"
	"github.com/ngcc/bench-action/internal/toolchain"
)

// session is one call of a command that works in a run directory: it knows
// what to do, where, and with which tools.
type session struct {
	o        options
	err      io.Writer
	dir      records.Dir
	root     *dataRoot
	catalog  *catalog.Root
	labels   []catalog.Label
	sizes    []int
	cpu      int
	facts    host.Facts
	compiler *toolchain.Compiler
	driver   *driver.Driver
	plan     records.Plan
	seed     uint64
	judge    *session // the base that judges this head; nil: no base is known
}

// workers is how many labels are built or gated at a time.
var workers = runtime.NumCPU()

// openSession checks what was asked for before anything is started, takes the
// run directory and looks at machine and compiler. close gives the directory
// back.
func openSession(cmd *cobra.Command, o options) (s *session, close func(), err error) {
	ctx := cmd.Context()
	o.newRun(time.Now())
	s = &session{o: o, err: cmd.ErrOrStderr(), plan: measure.DefaultPlan, seed: newSeed()}
	if s.root, err = openRoot(ctx, o.root); err != nil {
		return nil, nil, err
	}
	if s.catalog, err = catalog.Load(s.root); err != nil {
		return nil, nil, err
	}
	sel := catalog.Selection{Candidates: o.candidates, Instances: o.instances, Variants: o.variants}
	if s.labels, err = s.catalog.Labels(sel); err != nil {
		return nil, nil, usageError{err}
	}
	if len(s.labels) == 0 {
		return nil, nil, usageError{errors.New("nothing to do: no label is in all of --candidates, --instances and --variants")}
	}
	if s.sizes, err = o.levels(); err != nil {
		return nil, nil, err
	}
	if o.kat != "" && o.kat != kat.ModeGate && o.kat != kat.ModeFull {
		return nil, nil, usageError{fmt.Errorf("--kat: %q is neither %s nor %s", o.kat, kat.ModeGate, kat.ModeFull)}
	}
	if err := s.lookAtHost(ctx); err != nil {
		return nil, nil, err
	}
	dir, unlock, err := records.Create(o.out)
	if err != nil {
		return nil, nil, err
	}
	s.dir = dir
	if s.compiler, err = toolchain.Find(ctx, os.Getenv("CC"), s.facts.Arch); err != nil {
		unlock()
		return nil, nil, err
	}
	if err := s.begin(); err != nil {
		unlock()
		return nil, nil, err
	}
	return s, unlock, nil
}

// lookAtHost finds the bench CPU and gathers the machine's facts.
func (s *session) lookAtHost(ctx context.Context) error {
	allowed, err := driver.AllowedCPUs()
	if err != nil {
		return err
	}
	s.cpu = s.o.cpu
	if s.cpu < 0 {
		s.cpu = allowed[len(allowed)-1]
	}
	if !slices.Contains(allowed, s.cpu) {
		return usageError{fmt.Errorf("--cpu: CPU %d is none of those this process may use: %v", s.cpu, allowed)}
	}
	s.facts, err = gatherFacts(ctx, s.cpu)
	return err
}

func gatherFacts(ctx context.Context, cpu int) (host.Facts, error) {
	facts, err := host.Gather(os.DirFS("/"), cpu)
	if err != nil {
		return facts, fmt.Errorf("host: %w", err)
	}
	facts.Libc = host.Libc(ctx)
	return facts, nil
}

// say prints a line about the progress of the work.
func (s *session) say(format string, args ...any) { fmt.Fprintf(s.err, format+"\n", args...) }

// build compiles the driver and the labels.
func (s *session) build(ctx context.Context) (*records.Build, error) {
	if err := s.buildDriver(ctx); err != nil {
		return nil, err
	}
	return s.cores(ctx, "build")
}

func (s *session) buildDriver(ctx context.Context) error {
	err := os.MkdirAll(s.dir.Abs("driver"), 0o755)
	if err != nil {
		return err
	}
	if s.driver, err = driver.Compile(ctx, s.compiler.Command, s.compiler.ID(), s.compiler.Emulator, s.dir.Abs("driver")); err != nil {
		return fmt.Errorf("the measuring program does not build with %s: %w", s.compiler.Command, err)
	}
	return nil
}

// cores compiles the labels; stage names them on the screen.
func (s *session) cores(ctx context.Context, stage string) (*records.Build, error) {
	p := newProgress(s.err, stage, len(s.labels))
	defer p.end()
	return s.builder(func(lb records.LabelBuild, reused bool) {
		p.done(lb.Candidate+"/"+lb.Label, buildText(lb, reused))
	}).Build(ctx, s.labels)
}

func buildText(lb records.LabelBuild, reused bool) string {
	switch {
	case lb.Status != records.BuildOK:
		return lb.Status + ": " + lb.Error
	case reused:
		return "kept"
	case lb.WritableBytes > 0:
		return fmt.Sprintf("built; keeps %d writable bytes between calls", lb.WritableBytes)
	}
	return "built"
}

// gates are the gate's results by the label's key.
type gates map[string]records.Gate

// kat runs the gate of every label that was built, several at a time.
func (s *session) kat(ctx context.Context, build *records.Build) (gates, error) {
	var todo []int
	for i, lb := range build.Labels {
		if lb.Status == records.BuildOK {
			todo = append(todo, i)
		}
	}
	p := newProgress(s.err, "kat", len(todo))
	defer p.end()
	results := make([]records.Gate, len(todo))
	err := toolchain.Parallel(ctx, workers, len(todo), func(ctx context.Context, j int) error {
		lb := build.Labels[todo[j]]
		g, reused, err := s.gate(ctx, s.labelOf(lb), lb)
		if err != nil {
			return err
		}
		results[j] = *g
		text := g.Result
		if g.Detail != "" {
			text += ": " + g.Detail
		}
		if reused {
			text += " (kept)"
		}
		p.done(lb.Candidate+"/"+lb.Label, text)
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := gates{}
	for _, g := range results {
		out[g.Candidate+"/"+g.Label] = g
	}
	return out, nil
}

func (s *session) labelOf(lb records.LabelBuild) catalog.Label {
	i := slices.IndexFunc(s.labels, func(l catalog.Label) bool { return l.Key() == lb.Candidate+"/"+lb.Label })
	return s.labels[i]
}

// gate checks one label unless a finished result from equal inputs is there.
func (s *session) gate(ctx context.Context, l catalog.Label, lb records.LabelBuild) (*records.Gate, bool, error) {
	files, candidate := s.vectorsOf(l)
	o := kat.Options{
		Candidate: lb.Candidate, Label: lb.Label, Instance: lb.Instance, DigestBits: lb.DigestBits,
		API: lb.API, Kind: candidate.Gate, Mode: s.o.kat,
		Files: files, Manifest: candidate.Manifest, CAVP: candidate.Vectors, Bytes: s.sizes,
		LibraryDigest: lb.LibraryDigest, CodeDigest: lb.CodeDigest,
		Open: func(ctx context.Context) (kat.Hasher, error) {
			core := driver.Core{Library: s.dir.Abs(lb.Library), API: lb.API, DigestBits: lb.DigestBits}
			return s.driver.Serve(ctx, core, driver.ServeOptions{CPU: -1, Timeout: gateTimeout})
		},
	}
	var err error
	if o.Inputs, err = kat.Inputs(o, s.driver.Digest); err != nil {
		return nil, false, err
	}
	name := records.GateFileName(lb.Candidate, lb.Label)
	var old records.Gate
	switch err := s.dir.ReadJSON(name, &old); {
	case err == nil && old.Inputs == o.Inputs && old.Result == records.GatePass:
		return &old, true, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		s.say("%v", err)
	}
	g, log, err := kat.Gate(ctx, o)
	if err != nil {
		return nil, false, err
	}
	if err := s.dir.Write(records.LogFileName(lb.Candidate, lb.Label), log); err != nil {
		return nil, false, err
	}
	return g, false, s.dir.WriteJSON(name, g)
}

// gateTimeout is the longest that the gate waits for one answer of a core: a
// message of 1 GiB under an emulator takes minutes.
const gateTimeout = 20 * time.Minute

// measure times every cell whose label passed its gate.
func (s *session) measure(ctx context.Context, build *records.Build, g gates) ([]records.Record, error) {
	var cells []measure.Cell
	for _, lb := range build.Labels {
		gate, ok := g[lb.Candidate+"/"+lb.Label]
		if !ok || gate.Result != records.GatePass {
			continue
		}
		for _, n := range s.sizes {
			cells = append(cells, measure.Cell{Build: lb, Gate: gate, Bytes: n})
		}
	}
	var out []records.Record
	err := s.bench(ctx, func(fp host.Fingerprint) (err error) {
		out, err = s.time(ctx, fp, cells)
		return err
	})
	return out, err
}

// time times cells; bench holds the host for it.
func (s *session) time(ctx context.Context, fp host.Fingerprint, cells []measure.Cell) ([]records.Record, error) {
	p := newProgress(s.err, "measure", len(cells))
	defer p.end()
	b := &measure.Bench{
		Dir: s.dir, Driver: s.driver, CPU: s.cpu, Counter: s.o.counter, Plan: s.plan, Fingerprint: fp,
		Done: func(r *records.Record, reused bool) { p.done(r.Key(), measureText(r, reused)) },
	}
	return b.Run(ctx, cells)
}

func measureText(r *records.Record, reused bool) string {
	if r.Status != records.RecordComplete {
		return r.Status + ": " + r.Error
	}
	text := fmt.Sprintf("%.2f %s/byte", r.Summary.LowPerByte, r.Counter.Unit())
	if reused {
		text += " (kept)"
	}
	return text
}

// fingerprint is what must be equal on a machine whose figures these may be
// compared with.
func (s *session) fingerprint(ctx context.Context) (host.Fingerprint, error) {
	counter, _, rate, err := s.driver.Probe(ctx, s.o.counter, s.cpu)
	if err != nil {
		return host.Fingerprint{}, err
	}
	return host.Fingerprint{
		Arch: s.facts.Arch, CPUModel: s.facts.CPUModel, CPUID: s.facts.CPUID, CoreType: s.facts.CoreType, Microcode: s.facts.Microcode,
		Counter: counter, Compiler: s.compiler.Version, Libc: s.facts.Libc, Driver: driver.SourceDigest(),
		Clock: s.facts.ClockPolicy(int64(rate / 1000)),
	}, nil
}

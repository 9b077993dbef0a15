package driver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ngcc/bench-action/internal/host"
)

// PairSpec says which two cores take turns, and how. Zero values stand for the
// defaults of TimeSpec.
type PairSpec struct {
	A, B        Core     // in two files: one file is loaded once only
	Bytes       int      // length of each message, 8 at least
	CPU         int      // CPU to time on, -1 for any
	Counter     string   // "auto", or a host.Counter that must be there
	MinNs       int64    // least time in batches of both sides altogether, nanoseconds
	BatchNs     int64    // least time of a batch, nanoseconds, 1000 at least
	BatchTicks  int64    // least ticks of a batch
	WarmupCalls int      // of each side, before anything is timed
	Expected    []string // entry k: A's hex digest of Perf(Bytes, k); two at least
	ExpectedB   []string // B's; nil: the same
	Seed        uint64   // of the order of loading and of the blocks
	Timeout     time.Duration
}

// Block is four timed batches in the order A B B A or B A A B, between two busy
// probes. All figures are of the result's counter but for the nanoseconds.
type Block struct {
	First         byte      // 'A' or 'B'
	A, B          [2]uint64 // ticks, in the order they ran
	ANs, BNs      [2]uint64 // nanoseconds
	Before, After uint64    // ticks of the probes
}

// LnRatio is ln of B's ticks a call over A's.
func (b Block) LnRatio(callsA, callsB uint64) float64 {
	a := float64(b.A[0]+b.A[1]) / float64(callsA)
	return math.Log(float64(b.B[0]+b.B[1]) / float64(callsB) / a)
}

// PairResult is what one process measured.
type PairResult struct {
	Counter         host.Counter
	CounterNote     string // why better counters were passed over, and what else to know
	CPU             int    // CPU of the last block
	Migrated        bool   // another block ran on another CPU
	LoadedFirst     byte   // 'A' or 'B'
	CallsA, CallsB  uint64 // a batch
	Blocks          []Block
	HasInstructions bool
	// Instructions of all blocks, two batches each.
	InstructionsA, InstructionsB uint64
	OverheadTicks                float64 // least ticks between two readings of the counter
}

// Pair times two cores in turns in a process of its own, by docs/comparison.md.
// Every batch's digest is checked, and after it the registers that a function
// must keep. A failure of a core is a *CoreError that names its side, where it
// can be told. The caller holds LockHost.
func (d *Driver) Pair(ctx context.Context, spec PairSpec) (*PairResult, error) {
	if err := spec.complete(); err != nil {
		return nil, err
	}
	p, err := d.start(ctx, spec.args(), spec.CPU, spec.Timeout)
	if err != nil {
		return nil, err
	}
	defer p.close()
	go func() {
		digests := slices.Concat(spec.Expected, spec.ExpectedB)
		// A failure shows in what the process answers.
		_, _ = io.WriteString(p.in, strings.ToLower(strings.Join(digests, "\n")+"\n"))
	}()
	r, parseErr := parsePair(p.out)
	err = p.outcome(parseErr)
	var core *CoreError
	if errors.As(err, &core) && core.Kind != KindCounter && core.Kind != KindLoad {
		core.Bits, core.HasMessage = 8*uint64(spec.Bytes), true
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// complete fills in the defaults and says what is wrong with a PairSpec.
func (s *PairSpec) complete() error {
	one := s.sideA()
	if err := one.complete(); err != nil {
		return err
	}
	s.A, s.Counter, s.Timeout = one.Core, one.Counter, one.Timeout
	s.MinNs, s.BatchNs, s.BatchTicks, s.WarmupCalls = one.MinNs, one.BatchNs, one.BatchTicks, one.WarmupCalls
	if err := s.B.check(); err != nil {
		return err
	}
	expected := s.ExpectedB
	if expected == nil {
		expected = s.Expected
	} else if len(expected) != len(s.Expected) {
		return fmt.Errorf("driver: %d expected digests of one side and %d of the other", len(s.Expected), len(expected))
	}
	for k, e := range expected {
		if len(e) != s.B.DigestBits/4 {
			return fmt.Errorf("driver: side B's expected digest %d has %d hex digits, not %d", k, len(e), s.B.DigestBits/4)
		}
	}
	var err error
	if s.B.Library, err = filepath.Abs(s.B.Library); err != nil {
		return fmt.Errorf("driver: %w", err)
	}
	a, err := os.Stat(s.A.Library)
	if err != nil {
		return fmt.Errorf("driver: %w", err)
	}
	b, err := os.Stat(s.B.Library)
	if err != nil {
		return fmt.Errorf("driver: %w", err)
	}
	if os.SameFile(a, b) {
		return fmt.Errorf("driver: %s and %s are one file, which is loaded once only: copy one of them", s.A.Library, s.B.Library)
	}
	return nil
}

// sideA is the timing of side A alone, with the same settings.
func (s *PairSpec) sideA() TimeSpec {
	return TimeSpec{
		Core: s.A, Bytes: s.Bytes, CPU: s.CPU, Counter: s.Counter, MinNs: s.MinNs, BatchNs: s.BatchNs, BatchTicks: s.BatchTicks,
		WarmupCalls: s.WarmupCalls, Expected: s.Expected, Timeout: s.Timeout,
	}
}

// args are the driver's arguments.
func (s *PairSpec) args() []string {
	one := s.sideA()
	args := one.args()
	args[0] = "pair"
	return append(args, "--core-b", s.B.Library, "--api-b", s.B.API, "--digest-bits-b", strconv.Itoa(s.B.DigestBits),
		"--expected-b", strconv.Itoa(len(s.ExpectedB)), "--seed", strconv.FormatUint(s.Seed&math.MaxInt64, 10))
}

// parsePair reads what mode pair prints, with parseTime's errors.
func parsePair(r io.Reader) (*PairResult, error) {
	l := newLines(r)
	l.head("ngcc-pair 1")
	if l.err != nil {
		return nil, l.err
	}
	var t PairResult
	t.Counter, t.CounterNote = l.counter()
	t.CPU = int(l.integer("cpu", 0, 1<<20))
	t.Migrated = l.integer("migrated", 0, 1) == 1
	t.HasInstructions = l.integer("instructions", 0, 1) == 1
	t.OverheadTicks = l.ticks("overhead-ticks")
	t.LoadedFirst = l.side("loaded-first", l.value("loaded-first"))
	t.CallsA = uint64(l.integer("calls-a", 1, 1<<40))
	t.CallsB = uint64(l.integer("calls-b", 1, 1<<40))
	t.InstructionsA = uint64(l.integer("instructions-a", 0, math.MaxInt64))
	t.InstructionsB = uint64(l.integer("instructions-b", 0, math.MaxInt64))
	l.integer("probe-rounds", 1, 1<<40)
	n := l.integer("blocks", 1, maxBatches)
	for range n {
		b := l.block()
		if l.err != nil {
			break
		}
		t.Blocks = append(t.Blocks, b)
	}
	l.finish()
	if l.err == nil && t.HasInstructions != (t.InstructionsA > 0 && t.InstructionsB > 0) {
		l.bad("instructions", strconv.FormatUint(t.InstructionsA, 10))
	}
	if errors.Is(l.err, io.EOF) {
		return nil, io.ErrUnexpectedEOF
	}
	if l.err != nil {
		return nil, l.err
	}
	return &t, nil
}

// side reads the name of a side.
func (l *lines) side(key, text string) byte {
	if text != "A" && text != "B" {
		l.bad(key, text)
		return 0
	}
	return text[0]
}

// block reads one block; no figure of it may be 0.
func (l *lines) block() Block {
	line := l.next()
	if l.err != nil {
		return Block{}
	}
	first, rest, _ := strings.Cut(line, " ")
	v, ok := figures(rest, 10)
	if !ok || slices.Contains(v, 0) {
		l.bad("block", line)
		return Block{}
	}
	return Block{
		First: l.side("block", first), A: [2]uint64(v[0:2]), B: [2]uint64(v[2:4]), ANs: [2]uint64(v[4:6]), BNs: [2]uint64(v[6:8]),
		Before: v[8], After: v[9],
	}
}

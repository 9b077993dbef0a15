package driver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ngcc/bench-action/internal/host"
)

// What a timing does when its TimeSpec leaves it open.
const (
	DefaultBatchNs     = 40_000
	DefaultBatchTicks  = 5_000
	DefaultWarmupCalls = 3
	DefaultMinNs       = 50_000_000
)

// TimeSpec says what to time, and how. Zero values stand for the defaults above
// and for the counter "auto".
type TimeSpec struct {
	Core        Core
	Bytes       int      // length of each message, 8 at least
	CPU         int      // CPU to time on, -1 for any
	Counter     string   // "auto", or a host.Counter that must be there
	MinNs       int64    // least time in batches altogether, nanoseconds
	BatchNs     int64    // least time of a batch, nanoseconds, 1000 at least
	BatchTicks  int64    // least ticks of a batch
	WarmupCalls int      // calls before anything is timed
	Expected    []string // entry k: hex digest of Perf(Bytes, k); two at least
	Probe       bool     // busy probes around each batch
	// Timeout is the longest that the process may take; 0: ten times MinNs and a
	// minute.
	Timeout time.Duration
}

// Batch is one timed batch of calls on one message.
type Batch struct {
	Calls        uint64
	Ticks        uint64 // of the result's counter
	Nanoseconds  uint64 // of CLOCK_MONOTONIC_RAW, around the counter's reading
	Instructions uint64 // of user mode; 0 where they are not counted
	// Before and After are the ticks of busy probes around the batch: short work
	// that a busy sibling thread slows. 0 without TimeSpec.Probe.
	Before, After uint64
}

// TimeResult is what one process measured.
type TimeResult struct {
	Counter         host.Counter
	CounterNote     string // why better counters were passed over, and what else to know
	CPU             int    // CPU of the last batch
	Migrated        bool   // another batch ran on another CPU; never with a TimeSpec.CPU
	CallsABatch     uint64
	Batches         []Batch
	HasInstructions bool
	BaselineRSS     int64   // bytes resident after loading and preparing, before the first call
	PeakRSS         int64   // bytes: VmHWM after the last batch
	OverheadTicks   float64 // least ticks between two readings of the counter
	EmptyCallTicks  float64 // ticks a call of a function that does nothing
}

// Time times a core in a process of its own. Every batch's digest is checked. A
// failure of the core, or a named counter that is not there, is a *CoreError.
// The caller holds LockHost.
func (d *Driver) Time(ctx context.Context, spec TimeSpec) (*TimeResult, error) {
	if err := spec.complete(); err != nil {
		return nil, err
	}
	p, err := d.start(ctx, spec.args(), spec.CPU, spec.Timeout)
	if err != nil {
		return nil, err
	}
	defer p.close()
	go func() {
		// A failure shows in what the process answers.
		_, _ = io.WriteString(p.in, strings.ToLower(strings.Join(spec.Expected, "\n")+"\n"))
	}()
	r, parseErr := parseTime(p.out, spec.MinNs, spec.Probe)
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

// outcome waits for a process whose answer was read, and says what failed: what
// it told itself, else how it ended, else what was wrong with its answer.
func (p *process) outcome(parseErr error) error {
	var core *CoreError
	told := errors.As(parseErr, &core)
	if parseErr != nil && !errors.Is(parseErr, io.EOF) {
		p.Kill()
	}
	result, err := p.Wait()
	switch {
	case told:
		return core
	case err != nil, result.TimedOut, errors.Is(parseErr, io.EOF):
		return ended(result, err)
	case parseErr != nil:
		return parseErr
	case result.Signal != 0, result.ExitCode != 0:
		return ended(result, nil)
	case result.Survivors > 0:
		return survivors(result.Survivors)
	}
	return nil
}

// complete fills in the defaults and says what is wrong with a TimeSpec.
func (t *TimeSpec) complete() error {
	if err := t.Core.check(); err != nil {
		return err
	}
	var err error
	if t.Core.Library, err = filepath.Abs(t.Core.Library); err != nil {
		return fmt.Errorf("driver: %w", err)
	}
	if t.Counter == "" {
		t.Counter = "auto"
	}
	setDefault(&t.MinNs, DefaultMinNs)
	setDefault(&t.BatchNs, DefaultBatchNs)
	setDefault(&t.BatchTicks, DefaultBatchTicks)
	setDefault(&t.WarmupCalls, DefaultWarmupCalls)
	if t.Timeout == 0 {
		t.Timeout = 10*time.Duration(t.MinNs) + time.Minute
	}
	if t.Bytes < 8 || t.Bytes > 1<<30 {
		return fmt.Errorf("driver: no timing of messages of %d bytes: take 8 to 2^30", t.Bytes)
	}
	if t.MinNs/t.BatchNs > maxBatches/4 {
		return fmt.Errorf("driver: %d ns in batches of %d ns are too many batches: time for less", t.MinNs, t.BatchNs)
	}
	if len(t.Expected) < 2 {
		return fmt.Errorf("driver: a timing needs the digests of 2 messages at least, not of %d", len(t.Expected))
	}
	for k, e := range t.Expected {
		if len(e) != t.Core.DigestBits/4 {
			return fmt.Errorf("driver: expected digest %d has %d hex digits, not %d", k, len(e), t.Core.DigestBits/4)
		}
	}
	return nil
}

func setDefault[T int | int64](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

// args are the driver's arguments.
func (t *TimeSpec) args() []string {
	number := func(v int64) string { return strconv.FormatInt(v, 10) }
	probe := "0"
	if t.Probe {
		probe = "1"
	}
	return append(append([]string{"time"}, t.Core.args()...),
		"--counter", t.Counter, "--cpu", strconv.Itoa(t.CPU), "--bytes", strconv.Itoa(t.Bytes),
		"--min-ns", number(t.MinNs), "--batch-ns", number(t.BatchNs), "--batch-ticks", number(t.BatchTicks),
		"--warmup", strconv.Itoa(t.WarmupCalls), "--expected", strconv.Itoa(len(t.Expected)), "--probe", probe)
}

// parseTime reads what mode time prints. What the driver failed with is a
// *CoreError; io.EOF means that it printed nothing.
func parseTime(r io.Reader, minNs int64, probe bool) (*TimeResult, error) {
	l := newLines(r)
	l.head("ngcc-time 1")
	if l.err != nil {
		return nil, l.err
	}
	var t TimeResult
	t.Counter, t.CounterNote = l.counter()
	t.CPU = int(l.integer("cpu", 0, 1<<20))
	t.Migrated = l.integer("migrated", 0, 1) == 1
	t.HasInstructions = l.integer("instructions", 0, 1) == 1
	t.OverheadTicks = l.ticks("overhead-ticks")
	t.EmptyCallTicks = l.ticks("empty-call-ticks")
	t.BaselineRSS = l.integer("baseline-rss", 1, 1<<50)
	t.PeakRSS = l.integer("peak-rss", 1, 1<<50)
	if probe {
		l.integer("probe-rounds", 1, 1<<40)
	}
	n := l.integer("batches", 1, maxBatches)
	var total int64
	for range n {
		b := l.batch(t.HasInstructions, probe)
		if l.err != nil {
			break
		}
		if len(t.Batches) > 0 && b.Calls != t.Batches[0].Calls {
			l.bad("calls", strconv.FormatUint(b.Calls, 10))
		}
		t.Batches = append(t.Batches, b)
		total += int64(min(b.Nanoseconds, 1<<40))
	}
	l.finish()
	if l.err == nil && total < minNs {
		l.bad("time in batches", strconv.FormatInt(total, 10))
	}
	if errors.Is(l.err, io.EOF) {
		return nil, io.ErrUnexpectedEOF
	}
	if l.err != nil {
		return nil, l.err
	}
	t.CallsABatch = t.Batches[0].Calls
	return &t, nil
}

// batch reads one batch. No figure of it may be 0, but for instructions where
// they are not counted.
func (l *lines) batch(instructions, probe bool) Batch {
	line := l.next()
	if l.err != nil {
		return Batch{}
	}
	n := 4
	if probe {
		n = 6
	}
	v, ok := figures(line, n)
	if !ok || instructions != (v[3] > 0) || slices.Contains(v[:3], 0) || probe && slices.Contains(v[4:], 0) {
		l.bad("batch", line)
		return Batch{}
	}
	b := Batch{Calls: v[0], Ticks: v[1], Nanoseconds: v[2], Instructions: v[3]}
	if probe {
		b.Before, b.After = v[4], v[5]
	}
	return b
}

// figures reads n numbers, separated by single blanks, that can be added up
// maxBatches times.
func figures(line string, n int) ([]uint64, bool) {
	fields := strings.Split(line, " ")
	if len(fields) != n {
		return nil, false
	}
	out := make([]uint64, n)
	for i, f := range fields {
		v, err := parseUint(f)
		if err != nil || v >= math.MaxInt64/maxBatches {
			return nil, false
		}
		out[i] = v
	}
	return out, true
}

// Probe says which counter a timing on that CPU (-1: any) would use, why not a
// better one, and its rate, measured for some milliseconds. A named counter that
// is not there is a *CoreError of kind KindCounter.
func (d *Driver) Probe(ctx context.Context, counter string, cpu int) (c host.Counter, note string, ticksPerSecond float64, err error) {
	p, err := d.start(ctx, []string{"probe", "--counter", counter, "--cpu", strconv.Itoa(cpu)}, cpu, defaultTimeout)
	if err != nil {
		return "", "", 0, err
	}
	defer p.close()
	c, note, ticksPerSecond, parseErr := parseProbe(p.out)
	if err := p.outcome(parseErr); err != nil {
		return "", "", 0, err
	}
	return c, note, ticksPerSecond, nil
}

// parseProbe reads what mode probe prints, with parseTime's errors.
func parseProbe(r io.Reader) (c host.Counter, note string, rate float64, err error) {
	l := newLines(r)
	l.head("ngcc-probe 1")
	if l.err != nil {
		return "", "", 0, l.err
	}
	c, note = l.counter()
	rate = l.ticks("rate")
	if rate == 0 {
		l.bad("rate", "0")
	}
	l.finish()
	if errors.Is(l.err, io.EOF) {
		l.err = io.ErrUnexpectedEOF
	}
	return c, note, rate, l.err
}

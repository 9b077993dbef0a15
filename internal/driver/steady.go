package driver

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/ngcc/bench-action/internal/host"
)

// steadyWindows is how many windows mode steady works for; csrc/steady.c has the
// same number.
const steadyWindows = 21

// steadyTimeout is far more than the second that mode steady takes: a machine
// that held it that long is no bench.
const steadyTimeout = 30 * time.Second

// Steadiness is what mode steady saw.
type Steadiness = host.Steadiness

// Steady works on that CPU (-1: any) for 21 windows of 50 ms, and says how steadily
// that went. counter is "auto" or a host.Counter, which must be there: else the
// error is a *CoreError of kind KindCounter. The caller holds LockHost.
func (d *Driver) Steady(ctx context.Context, cpu int, counter string) (*Steadiness, error) {
	p, err := d.start(ctx, []string{"steady", "--counter", counter, "--cpu", strconv.Itoa(cpu)}, cpu, steadyTimeout)
	if err != nil {
		return nil, err
	}
	defer p.close()
	s, parseErr := parseSteady(p.out)
	if err := p.outcome(parseErr); err != nil {
		return nil, err
	}
	return s, nil
}

// parseSteady reads what mode steady prints, with parseTime's errors.
func parseSteady(r io.Reader) (*Steadiness, error) {
	const most = 1 << 50 // of ticks and nanoseconds: more than ten days
	l := newLines(r)
	l.head("ngcc-steady 1")
	if l.err != nil {
		return nil, l.err
	}
	var s Steadiness
	s.Counter, s.CounterNote = l.counter()
	s.CPU = int(l.integer("cpu", 0, 1<<20))
	s.ProbeRounds = l.integer("probe-rounds", 1, 1<<40)
	s.LevelTicks = l.integer("level-ticks", 1, 1<<32)
	s.BusyTicks = l.integer("busy-ticks", 0, 1<<32)
	s.Switches = l.integer("switches", 0, 1<<32)
	s.OwnNs = l.integer("cpu-ns", 0, most)
	l.integer("windows", steadyWindows, steadyWindows)
	for range steadyWindows {
		if w, ok := l.window(most); ok {
			s.Windows = append(s.Windows, w)
		}
	}
	l.finish()
	if errors.Is(l.err, io.EOF) {
		return nil, io.ErrUnexpectedEOF
	}
	if l.err != nil {
		return nil, l.err
	}
	return &s, nil
}

// window reads one window. Time, ticks, probes and the longest step are never 0.
func (l *lines) window(most uint64) (w host.SteadyWindow, ok bool) {
	line := l.next()
	if l.err != nil {
		return w, false
	}
	fields := strings.Split(line, " ")
	to := []*int64{&w.Nanoseconds, &w.Ticks, &w.Probes, &w.Quiet, &w.LevelTicks, &w.LongestNs, &w.LostNs, &w.Gaps}
	ok = len(fields) == len(to)
	for i := 0; ok && i < len(to); i++ {
		v, err := parseUint(fields[i])
		ok = err == nil && v < most
		*to[i] = int64(v)
	}
	ok = ok && w.Nanoseconds > 0 && w.Ticks > 0 && w.Probes > 0 && w.LevelTicks > 0 && w.LongestNs > 0 &&
		w.Quiet <= w.Probes && (w.LostNs > 0) == (w.Gaps > 0)
	if !ok {
		l.bad("window", line)
	}
	return w, ok
}

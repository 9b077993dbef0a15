package driver

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ngcc/bench-action/internal/host"
)

// timeSpec asks for a short timing of the toy hash.
func (p *platform) timeSpec(t testing.TB, core string) TimeSpec {
	cpus, err := AllowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	return TimeSpec{
		Core: p.core(t, core), Bytes: 1024, CPU: cpus[len(cpus)-1], MinNs: 5_000_000,
		Expected: expected(1024, 16), Timeout: patience,
	}
}

func TestTime(t *testing.T) {
	onEach(t, func(t *testing.T, p *platform) {
		d := p.use(t)
		for _, core := range []string{"good", "good_bytes", "talkative"} {
			spec := p.timeSpec(t, core)
			r, err := d.Time(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			var ns uint64
			for _, b := range r.Batches {
				ns += b.Nanoseconds
				if b.Calls != r.CallsABatch {
					t.Errorf("a batch of %d calls, not %d", b.Calls, r.CallsABatch)
				}
			}
			if int64(ns) < spec.MinNs || r.CPU != spec.CPU || r.Migrated || r.BaselineRSS <= 0 || r.PeakRSS <= 0 {
				t.Errorf("%s: %d ns in batches, CPU %d, migrated %v, RSS %d to %d", core, ns, r.CPU, r.Migrated, r.BaselineRSS, r.PeakRSS)
			}
			if r.Counter != host.CoreCycles && !strings.Contains(r.CounterNote, "core-cycles: ") {
				t.Errorf("%s: counter %s, but the note %q does not say why", core, r.Counter, r.CounterNote)
			}
			// A call of 1024 bytes takes longer than a call of nothing.
			if b := r.Batches[0]; float64(b.Ticks)/float64(b.Calls) <= r.EmptyCallTicks {
				t.Errorf("%s: %d ticks for %d calls, %v for an empty one", core, b.Ticks, b.Calls, r.EmptyCallTicks)
			}
		}
	})
}

// A core's memory shows in the difference of peak and baseline.
func TestTimeMemory(t *testing.T) {
	r, err := native.use(t).Time(t.Context(), native.timeSpec(t, "big_memory"))
	if err != nil {
		t.Fatal(err)
	}
	if grown := r.PeakRSS - r.BaselineRSS; grown < 32<<20 || grown > 36<<20 {
		t.Errorf("a core that takes 32 MiB: from %d to %d bytes", r.BaselineRSS, r.PeakRSS)
	}
}

func TestTimeMisbehaving(t *testing.T) {
	onEach(t, func(t *testing.T, p *platform) {
		d := p.use(t)
		for _, test := range []struct {
			core   string
			kind   ErrorKind
			detail string
		}{
			{"wrong", KindWrongDigest, "timed message 0"},
			{"memo_pointer", KindRemembers, "the digest of the message before"},
			{"memo_content", KindRemembers, "same message "},
			{"nonzero", KindReturned, "it returned -7"},
			{"crash", KindCrashed, "SIGSEGV"},
			{"abort", KindCrashed, "SIGABRT"},
			{"exit", KindExited, "exit code 0"},
			{"loop", KindTimedOut, ""},
			{"output", KindOutput, "message of 8192 bits"},
			{"unwritten", KindWrongDigest, ""},
			{"fork", KindSurvivors, "1 when its own ended"},
			{"constructor_loop", KindTimedOut, ""},
			{"constructor_exit", KindExited, "exit code 3"},
			{"nameless", KindLoad, "CryptHash"},
		} {
			t.Run(test.core, func(t *testing.T) {
				spec := p.timeSpec(t, test.core)
				if test.kind == KindTimedOut {
					spec.Timeout = time.Second
				}
				_, err := d.Time(t.Context(), spec)
				if e := coreError(t, err); e.Kind != test.kind || !strings.Contains(e.Detail, test.detail) {
					t.Errorf("got %v; want %s: … %s", err, test.kind, test.detail)
				}
			})
		}
	})
}

func TestTimeRefuses(t *testing.T) {
	d := native.use(t)
	for name, change := range map[string]func(*TimeSpec){
		"api":           func(s *TimeSpec) { s.Core.API = "x" },
		"bytes":         func(s *TimeSpec) { s.Bytes = 7 },
		"one digest":    func(s *TimeSpec) { s.Expected = s.Expected[:1] },
		"short digest":  func(s *TimeSpec) { s.Expected[3] = "ab" },
		"no hex":        func(s *TimeSpec) { s.Expected[3] = strings.Repeat("x", 64) },
		"batches":       func(s *TimeSpec) { s.MinNs, s.BatchNs = 1e13, 1000 },
		"short batches": func(s *TimeSpec) { s.BatchNs = 1 },
		"negative":      func(s *TimeSpec) { s.MinNs = -1 },
		"CPU":           func(s *TimeSpec) { s.CPU = 1000 },
	} {
		spec := native.timeSpec(t, "good")
		change(&spec)
		_, err := d.Time(t.Context(), spec)
		var core *CoreError
		if err == nil || errors.As(err, &core) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := d.Time(ctx, native.timeSpec(t, "loop")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ended context: %v", err)
	}
}

func TestCounters(t *testing.T) {
	onEach(t, func(t *testing.T, p *platform) {
		d := p.use(t)
		for _, counter := range []string{"auto", "core-cycles", "tsc", "cntvct", "clock", "sundial"} {
			c, note, rate, err := d.Probe(t.Context(), counter, -1)
			spec := p.timeSpec(t, "good")
			spec.Counter = counter
			r, timeErr := d.Time(t.Context(), spec)
			if (err == nil) != (timeErr == nil) {
				t.Errorf("%s: probe %v, timing %v", counter, err, timeErr)
				continue
			}
			if err != nil {
				e := coreError(t, err)
				if e.Kind != KindCounter || !strings.HasPrefix(e.Detail, counter+": ") && counter != "sundial" {
					t.Errorf("%s: %v", counter, err)
				}
				if coreError(t, timeErr).Kind != KindCounter {
					t.Errorf("%s: %v", counter, timeErr)
				}
				t.Logf("%s: %v", counter, err)
				continue
			}
			if rate < 1e6 || counter != "auto" && string(c) != counter || r.Counter != c {
				t.Errorf("%s: probe says %s at %v, timing %s", counter, c, rate, r.Counter)
			}
			t.Logf("%s: %s at %.0f a second, overhead %v, empty call %v, note %q", counter, c, rate, r.OverheadTicks, r.EmptyCallTicks, note)
		}
	})
}

// Everything about core cycles but the PMU: the events are kernel clocks in place
// of cycles and instructions. The first counts nanoseconds, which the batches' own
// clock must confirm. As a second event, a count of emulation faults stays 0
// and must be given up; no event of number 99 exists.
func TestCoreCyclesPath(t *testing.T) {
	native.use(t)
	compile := func(first, second string) (*Driver, error) {
		cc := "cc -DNGCC_PERF_TYPE=PERF_TYPE_SOFTWARE -DNGCC_PERF_FIRST=" + first + " -DNGCC_PERF_SECOND=" + second
		return Compile(t.Context(), cc, "", nil, t.TempDir())
	}
	for _, test := range []struct {
		second, note string
	}{
		{"PERF_COUNT_SW_CPU_CLOCK", ""},
		{"PERF_COUNT_SW_EMULATION_FAULTS", "instructions are not counted: core-cycles: the counter counted nothing"},
		{"99", "instructions are not counted: "},
	} {
		d, err := compile("PERF_COUNT_SW_CPU_CLOCK", test.second)
		if err != nil {
			t.Fatal(err)
		}
		spec := native.timeSpec(t, "good")
		spec.Counter = "core-cycles"
		r, err := d.Time(t.Context(), spec)
		var core *CoreError
		if errors.As(err, &core) && strings.Contains(core.Detail, "core-cycles: perf_event_open: ") {
			t.Skip(err) // not permitted here
		}
		if err != nil {
			t.Fatal(err)
		}
		var ticks, ns uint64
		for _, b := range r.Batches {
			ticks += b.Ticks
			ns += b.Nanoseconds
		}
		if r.Counter != host.CoreCycles || r.HasInstructions != (test.note == "") || !strings.HasPrefix(r.CounterNote, test.note) {
			t.Errorf("%s: counter %s, instructions %v, note %q", test.second, r.Counter, r.HasInstructions, r.CounterNote)
		}
		if ticks > ns || ticks < ns/10 {
			t.Errorf("%s: the event counted %d ns in batches of %d ns", test.second, ticks, ns)
		}
	}
	// A first event that counts nothing is no counter.
	d, err := compile("PERF_COUNT_SW_EMULATION_FAULTS", "PERF_COUNT_SW_CPU_CLOCK")
	if err == nil {
		_, _, _, err = d.Probe(t.Context(), "core-cycles", -1)
	}
	if e := coreError(t, err); e.Kind != KindCounter || !strings.Contains(e.Detail, "counted nothing") {
		t.Errorf("a counter that stays 0: %v", err)
	}
}

const goodTime = `ngcc-time 1
counter tsc
note core-cycles: no
cpu 1
migrated 0
instructions 0
overhead-ticks 40.000
empty-call-ticks 1.500
baseline-rss 1000000
peak-rss 1100000
batches 2
10 50000 20000 0
10 50001 20001 0
end
`

func TestParseTime(t *testing.T) {
	r, err := parseTime(strings.NewReader(goodTime), 40001, false)
	if err != nil {
		t.Fatal(err)
	}
	if r.Counter != host.TSC || r.CounterNote != "core-cycles: no" || r.CallsABatch != 10 ||
		r.Batches[1] != (Batch{Calls: 10, Ticks: 50001, Nanoseconds: 20001}) || r.EmptyCallTicks != 1.5 || r.PeakRSS != 1100000 {
		t.Errorf("got %+v", r)
	}
	if _, err := parseTime(strings.NewReader(goodTime), 40002, false); err == nil {
		t.Error("too short a timing was taken")
	}
	for _, change := range [][2]string{
		{"ngcc-time 1", "ngcc-time 2"}, {"counter tsc", "counter cycles"}, {"note ", "remark "},
		{"cpu 1", "cpu -1"}, {"cpu 1", "cpu 01"}, {"cpu 1", "cpu +1"}, {"migrated 0", "migrated 2"},
		{"40.000", "NaN"}, {"40.000", "-1"}, {"40.000", "+Inf"}, {"40.000", "1e400"},
		{"1000000", "0"}, {"1000000", "99999999999999999999"}, {"batches 2", "batches 0"},
		{"batches 2", "batches 3"}, {"batches 2", "batches 1"}, {"batches 2", "batches 4194305"},
		{"10 50001", "11 50001"}, {"50001", "0"}, {"20001", "0"}, {"20001 0", "20001 1"},
		{"20001 0", "20001"}, {"20001 0", "20001 0 0"}, {"20001 0", "20001  0"}, {"50001", "9223372036854775807"},
		{"instructions 0", "instructions 1"}, {"end\n", "end"}, {"end\n", ""}, {"end\n", "end\nend\n"}, {"\n", "\r\n"},
	} {
		text := strings.ReplaceAll(goodTime, change[0], change[1])
		if _, err := parseTime(strings.NewReader(text), 1, false); err == nil {
			t.Errorf("%q instead of %q was taken", change[1], change[0])
		}
	}
}

func FuzzParseTime(f *testing.F) {
	f.Add([]byte(goodTime))
	f.Add([]byte("error 17 it returned 1\n"))
	f.Add([]byte("error 16 \xff\x00\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parseTime(strings.NewReader(string(data)), 1, false)
		if (r == nil) == (err == nil) {
			t.Fatalf("%+v, %v", r, err)
		}
		if err != nil {
			return
		}
		for _, b := range r.Batches {
			if b.Calls == 0 || b.Ticks == 0 || b.Nanoseconds == 0 || (b.Instructions > 0) != r.HasInstructions {
				t.Fatalf("%+v", b)
			}
		}
		if !(r.OverheadTicks >= 0) || !(r.EmptyCallTicks >= 0) || r.BaselineRSS <= 0 || strings.Contains(r.CounterNote, "\x1b") {
			t.Fatalf("%+v", r)
		}
	})
}

func FuzzParseProbe(f *testing.F) {
	f.Add([]byte("ngcc-probe 1\ncounter clock\nnote \nrate 1000000000\nend\n"))
	f.Add([]byte("error 25 core-cycles: no\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, _, rate, err := parseProbe(strings.NewReader(string(data))); err == nil && (c == "" || !(rate > 0)) {
			t.Fatalf("%s %v", c, rate)
		}
	})
}

func FuzzReadReply(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte("\x11\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00hi"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := strings.NewReader(string(data))
		for {
			a, err := readReply(r, 32)
			if err != nil {
				return
			}
			if len(a.payload) > maxPayload || a.status == statusDigest && len(a.payload) != 32 {
				t.Fatalf("%+v", a)
			}
			if err := failure(a.status, string(a.payload)); (err != nil) != (a.status >= statusDriver) {
				t.Fatalf("%+v: %v", a, err)
			}
		}
	})
}

// What nobody should send does not crash the driver and is not an error of the
// core.
func TestBadRequests(t *testing.T) {
	d := native.use(t)
	core := native.core(t, "good")
	for name, head := range map[string][]byte{
		"op":        request(9, RuleZero, 8, 0, 0),
		"rule":      request(opHash, 77, 8, 0, 0),
		"bits":      request(opHash, RuleZero, ^uint64(0), 0, 0),
		"data":      request(opHash, RuleData, 8, 0, 1<<40),
		"numbered":  request(opHash, RuleNumbered, 56, 0, 0),
		"loop":      request(opLoop, RuleData, 248, 1, 31),
		"long loop": request(opLoop, RuleData, 1<<30, 1, 1<<27),
	} {
		s, err := d.Serve(t.Context(), core, ServeOptions{CPU: -1, Timeout: patience})
		if err != nil {
			t.Fatal(err)
		}
		_ = s.write(head)
		_, err = s.receive(t.Context(), nil)
		var e *CoreError
		if err == nil || errors.As(err, &e) || !strings.HasPrefix(err.Error(), "driver: ") || errors.Is(err, errMalformed) {
			t.Errorf("%s: %v", name, err)
		}
		s.Close()
	}
}

// No file is so long that it hides two.
func TestFileLengths(t *testing.T) {
	for _, pattern := range []string{"csrc/*", "*.go"} {
		names, _ := filepath.Glob(pattern)
		for _, name := range names {
			data, _ := os.ReadFile(name)
			if n := strings.Count(string(data), "\n"); n > 400 {
				t.Errorf("%s has %d lines", name, n)
			}
		}
	}
}

// BenchmarkTime is the cost of a timing process beyond its batches.
func BenchmarkTime(b *testing.B) {
	d := native.use(b)
	spec := native.timeSpec(b, "good")
	spec.MinNs = 1
	for b.Loop() {
		if _, err := d.Time(b.Context(), spec); err != nil {
			b.Fatal(err)
		}
	}
}

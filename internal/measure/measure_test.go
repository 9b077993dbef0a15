package measure

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/host"
	"github.com/ngcc/bench-action/internal/records"
)

func TestCondense(t *testing.T) {
	res := &driver.TimeResult{CPU: 3, CallsABatch: 10, BaselineRSS: 5, PeakRSS: 7}
	for i := range 11 { // 100, 110 … 200 ticks a call
		res.Batches = append(res.Batches, driver.Batch{Calls: 10, Ticks: uint64(1000 + 100*i), Nanoseconds: 400})
	}
	started := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	want := records.Trial{Started: started, CPU: 3, Calls: 110, CallsABatch: 10, Batches: 11, Ticks: 16500, Nanoseconds: 4400,
		Low: 110, Median: 150, High: 190, BaselineRSS: 5, PeakRSS: 7}
	if d := cmp.Diff(want, condense(started, res)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestDisturbed(t *testing.T) {
	for _, c := range []struct {
		lows  []float64
		worst int
		ok    bool
	}{
		{[]float64{100, 101, 102}, 2, false},
		{[]float64{100, 160, 104}, 1, true},
		{[]float64{150, 150, 150}, 0, false},
		{[]float64{150, 100, 150}, 0, true},
	} {
		var ts []records.Trial
		for _, l := range c.lows {
			ts = append(ts, records.Trial{Low: l})
		}
		if worst, ok := disturbed(ts, 0.03); worst != c.worst || ok != c.ok {
			t.Errorf("%v: trial %d, %v; want %d, %v", c.lows, worst, ok, c.worst, c.ok)
		}
	}
}

// What a record follows from changes its inputs; a clock rate that is measured
// anew in every run does not.
func TestInputs(t *testing.T) {
	b := &Bench{Driver: &driver.Driver{Digest: "d"}, Plan: DefaultPlan, Counter: "auto",
		Fingerprint: host.Fingerprint{Compiler: "gcc 12", Clock: host.ClockPolicy{Policy: host.Hidden, KHz: 2_596_142}}}
	c := Cell{Build: records.LabelBuild{LibraryDigest: "l"}, Bytes: 32}
	first := b.inputs(c, []string{"aa"})
	b.Fingerprint.Clock.KHz = 2_596_143
	if b.inputs(c, []string{"aa"}) != first {
		t.Error("another clock rate changes the inputs")
	}
	seen := map[string]string{first: "nothing"}
	for what, change := range map[string]func(){
		"library":  func() { c.Build.LibraryDigest = "m" },
		"size":     func() { c.Bytes = 128 },
		"CPU":      func() { b.CPU = 7 },
		"compiler": func() { b.Fingerprint.Compiler = "gcc 13" },
		"plan":     func() { b.Plan.Trials = 6 },
		"driver":   func() { b.Driver.Digest = "e" },
	} {
		change()
		in := b.inputs(c, []string{"aa"})
		if was, ok := seen[in]; ok {
			t.Errorf("changing the %s leaves the inputs as after %s", what, was)
		}
		seen[in] = what
	}
}

package measure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/host"
	"github.com/ngcc/bench-action/internal/records"
)

// pairCells are n cells of one candidate, 1024 bytes each.
func pairCells(n int) []PairCell {
	var out []PairCell
	for i := range n {
		label := fmt.Sprintf("TOY-%d", i)
		out = append(out, PairCell{
			Candidate: "hash-99", Name: "TOY", Instance: label, Variant: "reference", Label: label, API: "crypt_hash", DigestBits: 256, Bytes: 1024,
			Base:     PairSide{Library: "/base/" + label + ".so", CodeDigest: "b", LibraryDigest: "bl" + label},
			Head:     PairSide{Library: "/head/" + label + ".so", CodeDigest: "h", LibraryDigest: "hl" + label},
			Expected: []string{"00", "11"},
			Padded: func(_ context.Context, side string, pad int) (string, error) {
				return fmt.Sprintf("/%s/%s-pad%d.so", side, label, pad), nil
			},
		})
	}
	return out
}

func pairBench(t testing.TB, m *machine, seed uint64) *PairBench {
	return &PairBench{Dir: records.Dir{Path: t.TempDir()}, Runner: m, Counter: "auto", Seed: seed, Clock: m.clock,
		Fingerprint: host.Fingerprint{Arch: "x86-64", Counter: host.TSC}, Budget: time.Hour}
}

func runPairs(t testing.TB, b *PairBench, cells []PairCell) []records.Comparison {
	t.Helper()
	cs, err := b.Run(context.Background(), cells)
	if err != nil {
		t.Fatal(err)
	}
	return cs
}

// checkRecomputed fails unless every comparison follows from its blocks.
func checkRecomputed(t testing.TB, dir records.Dir, cs []records.Comparison) {
	t.Helper()
	read := make([]records.Comparison, len(cs))
	for i, c := range cs {
		if err := dir.ReadJSON(records.PairFileName(c.Candidate, c.Label, c.MessageBytes), &read[i]); err != nil {
			t.Fatal(err)
		}
	}
	rs, err := Recompute(dir, read)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rs {
		if r.Verdict != cs[i].Verdict || r.Reason != cs[i].Reason || len(r.Differs) > 0 {
			t.Errorf("%s: %s (%s), recomputed %s (%s): %s", r.Key, cs[i].Verdict, cs[i].Reason, r.Verdict, r.Reason, strings.Join(r.Differs, "; "))
		}
	}
}

// Base against itself: 12 runs of 6 cells, where the rule's error is 1 % a run.
func TestIdenticalCellsAreNotCalled(t *testing.T) {
	undecided := 0
	for seed := range uint64(12) {
		m := newMachine(seed)
		b := pairBench(t, m, seed)
		cs := runPairs(t, b, pairCells(6))
		for _, c := range cs {
			if c.Call != "" || c.Verdict != "unchanged" && c.Verdict != "too few samples" {
				t.Errorf("seed %d: %s: %s: %s", seed, c.Key(), c.Verdict, c.Reason)
			}
			if c.Verdict != "unchanged" {
				undecided++
			}
		}
		if seed == 0 {
			checkRecomputed(t, b.Dir, cs)
		}
	}
	if undecided > 18 { // a quarter
		t.Errorf("%d of 72 cells were not decided", undecided)
	}
}

func TestSlowdownAndSpeedupAreCalled(t *testing.T) {
	m := newMachine(3)
	m.effect["head/TOY-1"] = math.Log(1.01)
	m.effect["head/TOY-2"] = math.Log(0.98)
	b := pairBench(t, m, 3)
	stages := map[string]int{}
	b.Progress = func(p PairProgress) { stages[p.Stage]++ }
	cs := runPairs(t, b, pairCells(4))
	for i, want := range []string{"unchanged", "regression", "improvement", "unchanged"} {
		if cs[i].Verdict != want || !cs[i].Final {
			t.Errorf("%s: %s, want %s: %s", cs[i].Key(), cs[i].Verdict, want, cs[i].Reason)
		}
	}
	c := cs[1]
	if e := c.Estimate; !(e.Lo < math.Log(1.01) && math.Log(1.01) < e.Hi) {
		t.Errorf("the interval %v…%v misses the true slowdown", e.Lo, e.Hi)
	}
	if len(c.Placement.Base) != 8 || c.Confirmation.Estimate == nil || stages["look"] == 0 || stages["placement"] == 0 || stages["confirmation"] == 0 {
		t.Errorf("placement %+v, confirmation %+v, stages %v", c.Placement, c.Confirmation, stages)
	}
	if r := c.HeadFigure.TicksPerByte / c.BaseFigure.TicksPerByte; math.Abs(r-1.01) > 0.003 || math.Abs(c.BaseFigure.TicksPerByte-2) > 0.1 {
		t.Errorf("figures %v and %v ticks a byte", c.BaseFigure.TicksPerByte, c.HeadFigure.TicksPerByte)
	}
	if c.BaseFigure.Instructions != 1000 || c.HeadFigure.Instructions != 1010 {
		t.Errorf("instructions a call: %v and %v", c.BaseFigure.Instructions, c.HeadFigure.Instructions)
	}
	if c.QuietShare < 0.5 || c.QuietShare > 0.95 {
		t.Errorf("quiet share %v, the machine is busy for a fifth of the time", c.QuietShare)
	}
	checkRecomputed(t, b.Dir, cs)
}

// The head differs by 1.5 %, but the base differs from itself by as much when it
// is moved.
func TestPlacementIsRecognised(t *testing.T) {
	m := newMachine(5)
	m.effect["head/TOY-0"] = math.Log(1.015)
	m.placement = 0.04
	b := pairBench(t, m, 5)
	cs := runPairs(t, b, pairCells(1))
	if cs[0].Verdict != "placement" || cs[0].Call != "slower" || !strings.Contains(cs[0].Reason, "when its code moves") || cs[0].Confirmation != nil {
		t.Errorf("%s: %s", cs[0].Verdict, cs[0].Reason)
	}
	checkRecomputed(t, b.Dir, cs)
}

// Alone, the head is as fast as the base: what was seen beside it is the
// neighbour's doing.
func TestTwoWaysThatDisagreeAreInvalid(t *testing.T) {
	m := newMachine(7)
	m.effect["head/TOY-0"] = math.Log(0.95)
	m.separate["head/TOY-0"] = 0
	b := pairBench(t, m, 7)
	cs := runPairs(t, b, pairCells(2))
	if cs[0].Verdict != "invalid" || !strings.HasPrefix(cs[0].Reason, "two ways of measuring disagree") {
		t.Errorf("%s: %s", cs[0].Verdict, cs[0].Reason)
	}
	if cs[1].Verdict != "unchanged" {
		t.Errorf("its neighbour is %s: %s", cs[1].Verdict, cs[1].Reason)
	}
	checkRecomputed(t, b.Dir, cs)
}

func TestBusyHostGivesTooFewSamples(t *testing.T) {
	m := newMachine(9)
	m.busyShare = 0.85
	m.effect["head/TOY-0"] = math.Log(1.004)
	m.spread = 0.004
	b := pairBench(t, m, 9)
	b.Budget = 3 * time.Second
	cs := runPairs(t, b, pairCells(3))
	for _, c := range cs {
		if c.Verdict != "too few samples" || c.Final {
			t.Errorf("%s: %s: %s", c.Key(), c.Verdict, c.Reason)
		}
		if (c.SmallestEffect == 0) != strings.Contains(c.Reason, "nothing could have been seen") {
			t.Errorf("%s: smallest effect %v: %s", c.Key(), c.SmallestEffect, c.Reason)
		}
	}
	checkRecomputed(t, b.Dir, cs)
}

// Spread hides everything: all looks are made, and the least effect is stated.
func TestLastLookStatesTheSmallestEffect(t *testing.T) {
	m := newMachine(11)
	m.spread = 0.05
	b := pairBench(t, m, 11)
	cs := runPairs(t, b, pairCells(1))
	c := cs[0]
	if c.Verdict != "too few samples" || !c.Final || len(c.Looks) != 4 || c.SmallestEffect < 0.02 || c.SmallestEffect > 0.1 {
		t.Errorf("%s, smallest effect %v, looks %d: %s", c.Verdict, c.SmallestEffect, len(c.Looks), c.Reason)
	}
	checkRecomputed(t, b.Dir, cs)
}

// One side suffers more from a busy sibling: the quiet blocks decide, and the
// reason says so.
func TestBusyBlocksDecideNothing(t *testing.T) {
	m := newMachine(13)
	m.busyShare = 0.4
	m.busyLn["head/TOY-0"] = 0.9
	b := pairBench(t, m, 13)
	cs := runPairs(t, b, pairCells(1))
	c := cs[0]
	if c.Verdict != "unchanged" || !c.BusyDisagrees || !strings.Contains(c.Reason, "busy blocks show") || c.Busy.Mean < 0.3 {
		t.Errorf("%s: %s; busy %+v", c.Verdict, c.Reason, c.Busy)
	}
	checkRecomputed(t, b.Dir, cs)
}

func TestBudgetIsSharedAndResumed(t *testing.T) {
	m := newMachine(15)
	m.effect["head/TOY-2"] = math.Log(1.01)
	b := pairBench(t, m, 15)
	b.Budget = 1200 * time.Millisecond
	cells := pairCells(5)
	cs := runPairs(t, b, cells)
	for _, c := range cs {
		if c.Verdict != "too few samples" || c.Final || len(c.Processes) < 2 || len(c.Processes) > 5 {
			t.Errorf("%s: %s after %d processes, final %v: %s", c.Key(), c.Verdict, len(c.Processes), c.Final, c.Reason)
		}
	}
	checkRecomputed(t, b.Dir, cs)
	had := len(cs[0].Processes)
	b.Budget = time.Hour
	cs = runPairs(t, b, cells)
	if cs[2].Verdict != "regression" || cs[0].Verdict != "unchanged" || len(cs[0].Processes) < had || !cs[0].Final {
		t.Errorf("with more budget: %s and %s", cs[2].Verdict, cs[0].Verdict)
	}
	checkRecomputed(t, b.Dir, cs)
	before := m.processes
	var reused int
	b.Done = func(_ *records.Comparison, again bool) {
		if again {
			reused++
		}
	}
	if again := runPairs(t, b, cells); m.processes != before || reused != 5 || cmp.Diff(cs, again) != "" {
		t.Errorf("a finished run measured %d processes more, reused %d:\n%s", m.processes-before, reused, cmp.Diff(cs, again))
	}
}

// Stopped at each of many processes and begun again, the run ends as without a
// stop.
func TestStoppedRunsGoOn(t *testing.T) {
	for _, at := range []int{1, 14, 20, 45, 63} {
		m := newMachine(17)
		m.effect["head/TOY-0"] = math.Log(1.02)
		ctx, cancel := context.WithCancel(context.Background())
		m.stop = func(n int) {
			if n == at {
				cancel()
			}
		}
		b := pairBench(t, m, 17)
		_, err := b.Run(ctx, pairCells(3))
		if !errors.Is(err, context.Canceled) && m.processes >= at {
			t.Fatalf("stop at %d: %v", at, err)
		}
		kept := m.processes - 1
		cs := runPairs(t, b, pairCells(3))
		total := 0
		for i := range cs {
			total += len(cs[i].AllProcesses())
			if want := []string{"regression", "unchanged", "unchanged"}[i]; cs[i].Verdict != want {
				t.Errorf("stop at %d: %s is %s: %s", at, cs[i].Key(), cs[i].Verdict, cs[i].Reason)
			}
		}
		// The first of two separate processes may be lost.
		if total < m.processes-2 {
			t.Errorf("stop at %d: %d processes ran, %d before the stop, only %d were kept", at, m.processes, kept, total)
		}
		checkRecomputed(t, b.Dir, cs)
	}
}

func TestFaultsOfCoresAreInvalid(t *testing.T) {
	for _, c := range []struct{ part, want string }{
		{"head/TOY-1.so", "head: wrong digest"},
		{"base/TOY-1.so", "base: wrong digest"},
		{"base/TOY-1-pad", "base: wrong digest"},
	} {
		m := newMachine(19)
		m.effect["head/TOY-1"] = math.Log(1.02)
		m.fault = func(library string, n int) error {
			if n > 8 && strings.Contains(library, c.part) {
				return &driver.CoreError{Kind: driver.KindWrongDigest, Detail: "message 3"}
			}
			return nil
		}
		b := pairBench(t, m, 19)
		cs := runPairs(t, b, pairCells(3))
		if cs[1].Verdict != "invalid" || !strings.HasPrefix(cs[1].Reason, c.want) || cs[1].Fault == nil || cs[0].Verdict != "unchanged" || cs[2].Verdict != "unchanged" {
			t.Errorf("%s: %s (%s); others %s, %s", c.part, cs[1].Verdict, cs[1].Reason, cs[0].Verdict, cs[2].Verdict)
		}
		checkRecomputed(t, b.Dir, cs)
	}
}

func TestFaultOfTheBenchIsAnError(t *testing.T) {
	m := newMachine(21)
	m.fault = func(string, int) error { return &driver.CoreError{Kind: driver.KindCounter, Detail: "gone"} }
	if _, err := pairBench(t, m, 1).Run(context.Background(), pairCells(1)); err == nil || !strings.Contains(err.Error(), "counter not available") {
		t.Errorf("error %v", err)
	}
	cells := pairCells(1)
	cells[0].Head.Library = cells[0].Base.Library
	if _, err := pairBench(t, m, 1).Run(context.Background(), cells); err == nil || !strings.Contains(err.Error(), "one file") {
		t.Errorf("error %v", err)
	}
}

func TestUncheckedCallsAreNoVerdicts(t *testing.T) {
	m := newMachine(23)
	m.effect["head/TOY-0"] = math.Log(1.02)
	cells := pairCells(1)
	cells[0].Padded = func(context.Context, string, int) (string, error) { return "", errors.New("ld: no space left") }
	b := pairBench(t, m, 23)
	cs := runPairs(t, b, cells)
	if cs[0].Verdict != "too few samples" || !strings.Contains(cs[0].Reason, "ld: no space left") {
		t.Errorf("%s: %s", cs[0].Verdict, cs[0].Reason)
	}
	checkRecomputed(t, b.Dir, cs)
	cells[0].Padded = nil // two libraries, no sources
	b = pairBench(t, newMachineWith(24, "head/TOY-0", 0.02), 23)
	cs = runPairs(t, b, cells)
	if cs[0].Verdict != "regression" || !strings.Contains(cs[0].Reason, "no sources to relink") {
		t.Errorf("%s: %s", cs[0].Verdict, cs[0].Reason)
	}
	checkRecomputed(t, b.Dir, cs)
}

func newMachineWith(seed uint64, part string, effect float64) *machine {
	m := newMachine(seed)
	m.effect[part] = effect
	return m
}

// Calls of 2 ms make blocks of 8 ms: the process is made longer. With calls of 6
// ms, 50 blocks do not fit into a second, and the cell is given up after one.
func TestLongCallsGetLongProcesses(t *testing.T) {
	m := newMachine(25)
	m.nsPerByte = 2e6 / 1024
	cs := runPairs(t, pairBench(t, m, 25), pairCells(1))
	if p := cs[0].Processes; cs[0].Verdict != "unchanged" || p[0].Counted || p[1].MinNs < 600_000_000 || p[1].MinNs > 1_000_000_000 {
		t.Errorf("%s after %d processes, the second of %d ns: %s", cs[0].Verdict, len(p), p[1].MinNs, cs[0].Reason)
	}
	m = newMachine(27)
	m.nsPerByte = 6e6 / 1024
	cs = runPairs(t, pairBench(t, m, 27), pairCells(1))
	if cs[0].Verdict != "too few samples" || !cs[0].TooSlow || len(cs[0].Processes) != 1 || !strings.Contains(cs[0].Reason, "do not fit") {
		t.Errorf("%s after %d processes: %s", cs[0].Verdict, len(cs[0].Processes), cs[0].Reason)
	}
}

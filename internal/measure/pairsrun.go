package measure

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ngcc/bench-action/internal/compare"
	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/host"
	"github.com/ngcc/bench-action/internal/records"
	"github.com/ngcc/bench-action/internal/stats"
)

// saveEvery bounds what a killed run loses between two looks.
const saveEvery = 20 * time.Second

// pairRun is one PairBench.Run.
type pairRun struct {
	bench   *PairBench
	cells   []*pairCell
	clock   func() time.Time
	start   time.Time
	saved   time.Time
	budget  time.Duration
	order   int       // processes of the run so far
	probes  []float64 // of all of them, sorted
	counter host.Counter
}

// all takes every cell to its verdict, as far as the budget goes.
func (r *pairRun) all(ctx context.Context) error {
	r.saved = r.clock()
	for _, c := range r.cells {
		if c.Verdict != "" {
			r.done(c)
		}
	}
	if err := r.settle(ctx); err != nil { // what a killed run had called
		return err
	}
	s := r.cells[0].Settings
	for _, look := range s.Looks {
		if r.taken(look) {
			continue
		}
		if err := r.rounds(ctx, look); err != nil {
			return err
		}
		if err := takeLook(r.cells, look, r.now()); err != nil {
			return err
		}
		if err := r.settle(ctx); err != nil {
			return err
		}
		if r.over(0) {
			return r.finish(false)
		}
	}
	return r.finish(true)
}

// taken says whether a look has been made: it must not be made again.
func (r *pairRun) taken(look int) bool {
	return slices.ContainsFunc(r.cells, func(c *pairCell) bool {
		return slices.ContainsFunc(c.Looks, func(l records.PairLook) bool { return l.Look == look })
	})
}

// over says whether the budget, and a part beyond it, is spent.
func (r *pairRun) over(grace float64) bool {
	return r.clock().Sub(r.start) >= time.Duration(float64(r.budget)*(1+grace))
}

// now is this moment of the run.
func (r *pairRun) now() records.PairLevel {
	at := records.PairLevel{Order: r.order}
	if len(r.probes) > 0 {
		at.Level = stats.Quantile(r.probes, r.cells[0].Settings.QuietQuantile)
	}
	return at
}

// rounds runs processes of the open cells in turn until each has those that
// the look asks for, or has tried often enough, or the budget is spent.
func (r *pairRun) rounds(ctx context.Context, look int) error {
	for {
		ran := false
		for _, c := range r.cells {
			if r.over(0) {
				return nil
			}
			if !c.open() || len(c.Processes) >= look*c.Settings.Tries || c.countedAt(r.now()) >= look {
				continue
			}
			ran = true
			if err := r.pair(ctx, c); err != nil {
				return err
			}
			r.progress(c, "look", look)
		}
		if !ran {
			return nil
		}
		if r.clock().Sub(r.saved) >= saveEvery {
			if err := r.save(); err != nil {
				return err
			}
		}
	}
}

// pair runs the cell's next process of base and head.
func (r *pairRun) pair(ctx context.Context, c *pairCell) error {
	minNs, fits := c.minNs()
	if !fits {
		c.TooSlow, c.dirty = true, true
		return nil
	}
	p, err := r.process(ctx, c, driver.PairSpec{
		A: c.core(c.plan.Base.Library), B: c.core(c.plan.Head.Library), MinNs: minNs,
		Expected: c.plan.Expected, ExpectedB: c.plan.ExpectedBase,
		Seed: pairSeed(c.Settings.Seed, c.Key(), "pair", fmt.Sprint(len(c.Processes))),
	}, [2]string{"base", "head"}, "")
	if p != nil {
		c.Processes = append(c.Processes, *p)
	}
	return err
}

// minNs is how long the next process must take so that enough blocks fit, from
// the blocks of the first one. fits is false when even the longest does not.
func (c *pairCell) minNs() (ns int64, fits bool) {
	s := c.Settings
	if len(c.Processes) == 0 {
		return s.MinNs, true
	}
	var times []float64
	for _, b := range c.blocks[c.Processes[0].Order] {
		times = append(times, float64(b.ANs[0]+b.ANs[1]+b.BNs[0]+b.BNs[1]))
	}
	if len(times) == 0 {
		return s.MinNs, true
	}
	block := stats.Median(times)
	return min(s.MaxNs, max(s.MinNs, int64(pairWantBlocks*block))), block*float64(s.MinQuiet) <= float64(s.MaxNs)
}

func (c *pairCell) core(library string) driver.Core {
	return driver.Core{Library: library, API: c.plan.API, DigestBits: c.plan.DigestBits}
}

// process runs one process of two libraries. A core at fault leaves no process:
// sides and doing say in the comparison's fault whose it is and when.
func (r *pairRun) process(ctx context.Context, c *pairCell, spec driver.PairSpec, sides [2]string, doing string) (*records.PairProcess, error) {
	s := c.Settings
	spec.Bytes, spec.CPU, spec.Counter = c.MessageBytes, s.CPU, s.Counter
	spec.BatchNs, spec.BatchTicks, spec.WarmupCalls = s.BatchNs, s.BatchTicks, s.WarmupCalls
	spec.Timeout = 10*time.Duration(spec.MinNs) + trialTimeout
	started := r.clock().UTC().Truncate(time.Millisecond)
	res, err := r.bench.Runner.Pair(ctx, spec)
	if err != nil {
		return nil, r.failed(ctx, c, err, sides, doing)
	}
	if !r.sameCounter(c, res.Counter, res.CounterNote) {
		return nil, nil
	}
	p := &records.PairProcess{
		Seed: spec.Seed, Started: started, CPU: res.CPU, Migrated: res.Migrated, MinNs: spec.MinNs,
		CallsA: res.CallsA, CallsB: res.CallsB,
	}
	if res.LoadedFirst != 0 {
		p.LoadedFirst = string(rune(res.LoadedFirst))
	}
	if n := float64(2 * len(res.Blocks)); res.HasInstructions && n > 0 {
		p.QuietA = &records.PairFigure{Instructions: float64(res.InstructionsA) / (n * float64(res.CallsA))}
		p.QuietB = &records.PairFigure{Instructions: float64(res.InstructionsB) / (n * float64(res.CallsB))}
	}
	r.keep(c, p, res.Blocks)
	condensePair(p, res.Blocks, c.MessageBytes, s, r.now().Level, false)
	return p, nil
}

// keep gives a process its place in the run and takes its probes.
func (r *pairRun) keep(c *pairCell, p *records.PairProcess, blocks []driver.Block) {
	r.order++
	p.Order = r.order
	c.blocks[p.Order] = blocks
	c.dirty = true
	r.learn(blocks)
}

// learn merges the probes of blocks into those seen so far.
func (r *pairRun) learn(blocks []driver.Block) {
	fresh := appendProbes(nil, blocks)
	slices.Sort(fresh)
	merged := make([]float64, 0, len(r.probes)+len(fresh))
	i := 0
	for _, x := range fresh {
		for i < len(r.probes) && r.probes[i] <= x {
			merged = append(merged, r.probes[i])
			i++
		}
		merged = append(merged, x)
	}
	r.probes = append(merged, r.probes[i:]...)
}

// failed turns a fault of a core into the comparison's; other errors remain.
func (r *pairRun) failed(ctx context.Context, c *pairCell, err error, sides [2]string, doing string) error {
	var fault *driver.CoreError
	if ctx.Err() != nil || !errors.As(err, &fault) || fault.Kind == driver.KindCounter {
		return fmt.Errorf("%s: %w", c.Key(), err)
	}
	side := ""
	switch fault.Side {
	case "A":
		side = sides[0]
	case "B":
		side = sides[1]
	}
	if side == "" && sides[0] == sides[1] {
		side = sides[0]
	}
	text := fault.Error()
	if side != "" {
		text = side + ": " + text
	}
	r.fault(c, side, text+doing)
	return nil
}

// fault takes a place among the processes, so that looks before it are told
// from looks after it.
func (r *pairRun) fault(c *pairCell, side, text string) {
	r.order++
	c.Fault = &records.PairFault{Order: r.order, Side: side, Text: text}
	c.dirty = true
}

// sameCounter refuses figures in another unit than the run's: their probes
// could not be told quiet from busy either.
func (r *pairRun) sameCounter(c *pairCell, counter host.Counter, note string) bool {
	if r.counter == "" {
		r.counter = counter
	}
	if counter != r.counter {
		r.fault(c, "", fmt.Sprintf("the counter changed from %s to %s between processes", r.counter, counter))
		return false
	}
	if c.Counter == "" {
		c.Counter, c.CounterNote = counter, note
	}
	return true
}

// settle checks the cells that are called, gives their verdict to those that
// have one, and saves.
func (r *pairRun) settle(ctx context.Context) error {
	for _, c := range r.cells {
		if c.Verdict != "" || c.Fault == nil && c.undecided() {
			continue
		}
		if c.Fault == nil && c.Call != "" && !r.over(checkGrace) {
			if err := r.check(ctx, c); err != nil {
				return err
			}
		}
		if c.Fault != nil && c.Estimate == nil {
			c.evaluate(r.now(), 0)
		}
		c.conclude()
		c.Final = c.Fault != nil || c.Call == "" || !c.unchecked()
		r.done(c)
	}
	return r.save()
}

// finish gives their verdict to the cells that no look has decided. last: no
// budget would say more.
func (r *pairRun) finish(last bool) error {
	for _, c := range r.cells {
		if c.Verdict != "" {
			continue
		}
		c.evaluate(r.now(), 0)
		c.conclude()
		c.Final = last || c.TooSlow || c.Verdict != string(compare.TooFewSamples)
		r.done(c)
	}
	return r.save()
}

func (r *pairRun) done(c *pairCell) {
	if r.bench.Done != nil && (c.Final || !c.reused) {
		r.bench.Done(c.Comparison, c.reused)
	}
}

func (r *pairRun) progress(c *pairCell, stage string, look int) {
	if r.bench.Progress == nil {
		return
	}
	p := PairProgress{
		Cells: len(r.cells), Key: c.Key(), Stage: stage, Look: look, Processes: r.order,
		Elapsed: r.clock().Sub(r.start), Budget: r.budget,
	}
	for _, other := range r.cells {
		if other.Verdict != "" {
			p.Decided++
		}
	}
	for _, q := range c.Processes {
		if q.Counted {
			p.Counted++
		}
	}
	r.bench.Progress(p)
}

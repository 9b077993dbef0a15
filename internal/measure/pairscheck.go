package measure

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/records"
)

// errGrace ends the checks of a called cell whose time is up.
var errGrace = errors.New("the budget ended")

// check tells a called cell's ratio from moved code, and confirms it in
// separate processes. What the time does not suffice for stays incomplete, and
// the cell undecided.
func (r *pairRun) check(ctx context.Context, c *pairCell) error {
	for _, step := range []func(context.Context, *pairCell) error{r.placement, r.confirmation} {
		err := step(ctx, c)
		switch {
		case errors.Is(err, errGrace):
			return nil
		case err != nil:
			return err
		case c.Fault != nil || c.Placement.Note != "" || c.placed():
			return nil
		}
	}
	return nil
}

// placed says whether the cell's ratio is one that moved code makes.
func (c *pairCell) placed() bool {
	p := c.Placement
	return !p.Skipped && c.Estimate.Mean >= p.Lo && c.Estimate.Mean <= p.Hi
}

// unchecked says that only time kept a called cell from a verdict.
func (c *pairCell) unchecked() bool {
	p, f := c.Placement, c.Confirmation
	if p == nil || !p.Complete {
		return true
	}
	return p.Note == "" && !c.placed() && (f == nil || !f.Complete)
}

// placement measures both sides against themselves with code put in front. It
// goes on where an earlier run was stopped.
func (r *pairRun) placement(ctx context.Context, c *pairCell) error {
	if c.Placement == nil {
		c.Placement = &records.Placement{Base: padRatios(c.Settings.Pads), Head: padRatios(c.Settings.Pads)}
	}
	p := c.Placement
	switch {
	case p.Complete:
		return nil
	case c.plan.Padded == nil:
		p.Skipped, p.Complete, p.Base, p.Head = true, true, []records.PadRatio{}, []records.PadRatio{}
		return nil
	}
	defer func() { c.evaluatePlacement(r.now()) }()
	for i := range p.Base {
		if err := r.pad(ctx, c, &p.Base[i], "base", c.plan.Base.Library, c.plan.ExpectedBase); err != nil || c.Fault != nil {
			return err
		}
		if p.Note == "" {
			if err := r.pad(ctx, c, &p.Head[i], "head", c.plan.Head.Library, c.plan.Expected); err != nil || c.Fault != nil {
				return err
			}
		}
		if p.Note != "" {
			break
		}
	}
	p.Complete = true
	return nil
}

func padRatios(pads []int) []records.PadRatio {
	out := make([]records.PadRatio, len(pads))
	for i, pad := range pads {
		out[i] = records.PadRatio{Pad: pad, Processes: []records.PairProcess{}}
	}
	return out
}

// pad runs the processes of one side against itself with one pad.
func (r *pairRun) pad(ctx context.Context, c *pairCell, ratio *records.PadRatio, side, library string, expected []string) error {
	s := c.Settings
	padded := ""
	for {
		counted := 0
		for _, p := range ratio.Processes {
			if p.Counted {
				counted++
			}
		}
		n := len(ratio.Processes)
		if counted >= s.PadProcesses || n >= s.PadProcesses*s.Tries {
			return nil
		}
		if r.over(checkGrace) {
			return errGrace
		}
		if padded == "" {
			var err error
			if padded, err = c.plan.Padded(ctx, side, ratio.Pad); ctx.Err() != nil {
				return fmt.Errorf("%s: %w", c.Key(), context.Cause(ctx))
			} else if err != nil {
				c.Placement.Note = fmt.Sprintf("%s could not be relinked with %d bytes in front: %v", side, ratio.Pad, err)
				return nil
			}
		}
		minNs, _ := c.minNs()
		p, err := r.process(ctx, c, driver.PairSpec{
			A: c.core(library), B: c.core(padded), MinNs: minNs, Expected: expected, ExpectedB: expected,
			Seed: pairSeed(s.Seed, c.Key(), "pad", side, fmt.Sprint(ratio.Pad), fmt.Sprint(n)),
		}, [2]string{side, side}, fmt.Sprintf(" (with %d bytes of code in front)", ratio.Pad))
		if err != nil || p == nil {
			return err
		}
		ratio.Processes = append(ratio.Processes, *p)
		r.progress(c, "placement", 0)
	}
}

// confirmation measures the sides in separate processes, in pairs that begin
// with the base and the head in turn, until they confirm the call by
// themselves, or the last planned number of pairs is reached.
func (r *pairRun) confirmation(ctx context.Context, c *pairCell) error {
	if c.Confirmation == nil {
		c.Confirmation = &records.Confirmation{Pairs: []records.ConfirmPair{}}
	}
	f := c.Confirmation
	if f.Complete {
		return nil
	}
	defer func() { c.evaluateConfirmation(r.now()) }()
	for _, target := range c.Settings.ConfirmPairs {
		for len(f.Pairs) < target*c.Settings.Tries && len(c.confirmYs(r.now().Level)) < target {
			if r.over(checkGrace) {
				return errGrace
			}
			pair := records.ConfirmPair{HeadFirst: len(f.Pairs)%2 == 1}
			sides := []string{"base", "head"}
			if pair.HeadFirst {
				sides = []string{"head", "base"}
			}
			for _, side := range sides {
				p, err := r.separate(ctx, c, side)
				if err != nil || p == nil {
					return err
				}
				if side == "base" {
					pair.Base = *p
				} else {
					pair.Head = *p
				}
			}
			f.Pairs = append(f.Pairs, pair)
			r.progress(c, "confirmation", 0)
		}
		c.evaluateConfirmation(r.now())
		if c.confirmed() {
			break
		}
	}
	f.Complete = true
	return nil
}

// separate times one side in a process of its own.
func (r *pairRun) separate(ctx context.Context, c *pairCell, side string) (*records.PairProcess, error) {
	s := c.Settings
	library, expected := c.plan.Base.Library, c.plan.ExpectedBase
	if side == "head" {
		library, expected = c.plan.Head.Library, c.plan.Expected
	}
	// A batch takes a quarter of a block: half its time gives twice as many.
	minNs, _ := c.minNs()
	minNs = max(s.MinNs, minNs/2)
	started := r.clock().UTC().Truncate(time.Millisecond)
	res, err := r.bench.Runner.Time(ctx, driver.TimeSpec{
		Core: c.core(library), Bytes: c.MessageBytes, CPU: s.CPU, Counter: s.Counter, MinNs: minNs,
		BatchNs: s.BatchNs, BatchTicks: s.BatchTicks, WarmupCalls: s.WarmupCalls, Expected: expected, Probe: true,
		Timeout: 10*time.Duration(minNs) + trialTimeout,
	})
	if err != nil {
		return nil, r.failed(ctx, c, err, [2]string{side, side}, " (in a process of its own)")
	}
	if !r.sameCounter(c, res.Counter, res.CounterNote) {
		return nil, nil
	}
	p := &records.PairProcess{Started: started, CPU: res.CPU, Migrated: res.Migrated, MinNs: minNs, CallsA: res.CallsABatch}
	blocks := make([]driver.Block, len(res.Batches))
	var instructions uint64
	for i, b := range res.Batches {
		blocks[i] = driver.Block{A: [2]uint64{b.Ticks}, ANs: [2]uint64{b.Nanoseconds}, Before: b.Before, After: b.After}
		instructions += b.Instructions
	}
	if n := float64(len(blocks)); res.HasInstructions && n > 0 {
		p.QuietA = &records.PairFigure{Instructions: float64(instructions) / (n * float64(res.CallsABatch))}
	}
	r.keep(c, p, blocks)
	condensePair(p, blocks, c.MessageBytes, s, r.now().Level, true)
	return p, nil
}

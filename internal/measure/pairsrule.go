package measure

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/records"
	"github.com/ngcc/bench-action/internal/stats"
)

// The rule of docs/comparison.md as functions of settings and blocks alone: a
// run and Recompute call the same.

// Levels of confidence: of the estimate that is shown and makes a cell
// unchanged, and of the intervals that must not contradict each other. With
// 95 % there, one right call in twenty would be said to disagree.
const (
	shownLevel  = 0.95
	contestedBy = 0.99
	powerShown  = 0.95
)

// pairCell is a comparison with the blocks of its processes by their order.
type pairCell struct {
	*records.Comparison
	plan   PairCell
	blocks map[int][]driver.Block // one side only: A[0] and ANs[0] are the batch
	dirty  bool
	reused bool
}

// resolutionFloor is the standard deviation of a block's ln ratio that comes of
// rounding to ticks where both sides have two batches of batchTicks: steps of
// 1/(2·batchTicks), evenly spread, s = step/√12. Quiet blocks that all round
// alike do not average it out.
func resolutionFloor(batchTicks int64) float64 {
	return 1 / (2 * float64(batchTicks)) / math.Sqrt(12)
}

func sequentialOf(s records.PairSettings) stats.Sequential {
	return stats.Sequential{
		Alpha: s.Alpha, Cells: s.Cells, Delta: math.Log1p(s.MinEffect), SDFloor: s.SDFloor,
		Spending: stats.Spending{Looks: s.Looks, Shares: s.Shares},
	}
}

// checkPairSettings refuses settings that make no sense, of a caller or a file.
func checkPairSettings(s records.PairSettings) error {
	if err := sequentialOf(s).Spending.Check(); err != nil {
		return err
	}
	part := func(x float64) bool { return x > 0 && x < 1 }
	switch {
	case !part(s.MinEffect) || !part(s.UnchangedMargin):
		return fmt.Errorf("smallest effect %v and unchanged margin %v are parts between 0 and 1", s.MinEffect, s.UnchangedMargin)
	case !part(s.Alpha):
		return fmt.Errorf("alpha %v is not between 0 and 1", s.Alpha)
	case !part(s.SDFloor) || !part(s.QuietQuantile) || !part(s.QuietTolerance):
		return errors.New("spread floor, quiet quantile and quiet tolerance are parts between 0 and 1")
	case s.MinNs <= 0 || s.MaxNs < s.MinNs || s.BatchNs <= 0 || s.BatchTicks <= 0:
		return errors.New("times of processes and batches are positive, and the longest no less than the least")
	case s.Tries < 1 || s.MinQuiet < 1 || s.PadProcesses < 1 || s.MinPads < 1 || len(s.ConfirmPairs) == 0 || s.ConfirmPairs[0] < 2:
		return errors.New("tries, quiet blocks, pads and pairs of the confirmation are positive")
	}
	return nil
}

// condensePair sets what follows from a process's blocks and the quiet level.
// For one side only, y is the ln of ticks a call. NaN never leaves it: a process
// without blocks of a kind has no figures of that kind.
func condensePair(p *records.PairProcess, blocks []driver.Block, bytes int, s records.PairSettings, level float64, oneSide bool) {
	var quiet, busy []driver.Block
	for _, b := range blocks {
		if stats.Quiet(float64(b.Before), float64(b.After), level, s.QuietTolerance) {
			quiet = append(quiet, b)
		} else {
			busy = append(busy, b)
		}
	}
	p.Blocks, p.Quiet, p.Level = len(blocks), len(quiet), level
	p.Counted = len(quiet) >= s.MinQuiet && !p.Migrated
	p.Y, p.BusyY = 0, 0
	if p.Counted {
		p.Y = medianY(p, quiet, oneSide)
	}
	if len(busy) > 0 {
		p.BusyY = medianY(p, busy, oneSide)
	}
	p.QuietA, p.QuietB = sideFigures(p, p.QuietA, p.QuietB, quiet, bytes, oneSide)
	p.BusyA, p.BusyB = sideFigures(p, nil, nil, busy, bytes, oneSide)
}

func medianY(p *records.PairProcess, blocks []driver.Block, oneSide bool) float64 {
	ys := make([]float64, len(blocks))
	for i, b := range blocks {
		if oneSide {
			ys[i] = math.Log(float64(b.A[0]) / float64(p.CallsA))
		} else {
			ys[i] = b.LnRatio(p.CallsA, p.CallsB)
		}
	}
	return stats.Median(ys)
}

// sideFigures are both sides' medians over blocks; oldA and oldB keep what does
// not follow from blocks.
func sideFigures(p *records.PairProcess, oldA, oldB *records.PairFigure, blocks []driver.Block, bytes int, oneSide bool) (a, b *records.PairFigure) {
	if len(blocks) == 0 {
		return keepInstructions(oldA), keepInstructions(oldB)
	}
	one := func(old *records.PairFigure, calls uint64, pick func(driver.Block) (ticks, ns [2]uint64)) *records.PairFigure {
		batches := 2.0
		if oneSide {
			batches = 1
		}
		size := batches * float64(calls) * float64(bytes)
		ticks, nanos := make([]float64, len(blocks)), make([]float64, len(blocks))
		for i, block := range blocks {
			t, n := pick(block)
			ticks[i] = float64(t[0]+t[1]) / size
			nanos[i] = float64(n[0]+n[1]) / size
		}
		f := &records.PairFigure{TicksPerByte: stats.Median(ticks), NsPerByte: stats.Median(nanos)}
		if old != nil {
			f.Instructions = old.Instructions
		}
		return f
	}
	a = one(oldA, p.CallsA, func(b driver.Block) ([2]uint64, [2]uint64) { return b.A, b.ANs })
	if !oneSide {
		b = one(oldB, p.CallsB, func(b driver.Block) ([2]uint64, [2]uint64) { return b.B, b.BNs })
	}
	return a, b
}

func keepInstructions(old *records.PairFigure) *records.PairFigure {
	if old == nil || old.Instructions == 0 {
		return nil
	}
	return &records.PairFigure{Instructions: old.Instructions}
}

// ys are the figures of the cell's counted processes up to a moment, as that
// moment's level tells quiet from busy, in the order they ran.
func (c *pairCell) ys(at records.PairLevel) []float64 {
	var out []float64
	for _, p := range c.Processes {
		if p.Order > at.Order {
			continue
		}
		condensePair(&p, c.blocks[p.Order], c.MessageBytes, c.Settings, at.Level, false)
		if p.Counted {
			out = append(out, p.Y)
		}
	}
	return out
}

// countedAt is how many figures ys would give, without their medians.
func (c *pairCell) countedAt(at records.PairLevel) int {
	n := 0
	for _, p := range c.Processes {
		quiet := 0
		for _, b := range c.blocks[p.Order] {
			if stats.Quiet(float64(b.Before), float64(b.After), at.Level, c.Settings.QuietTolerance) {
				quiet++
			}
		}
		if quiet >= c.Settings.MinQuiet && !p.Migrated {
			n++
		}
	}
	return n
}

// evaluate sets the cell's figures as of a moment; the estimate is of the first
// n counted processes, or all for 0.
func (c *pairCell) evaluate(at records.PairLevel, n int) {
	c.Evaluated = at
	var ys, busy, baseTicks, baseNs, headTicks, headNs []float64
	var baseInstr, headInstr float64
	quiet, blocks := 0, 0
	for i := range c.Processes {
		p := &c.Processes[i]
		condensePair(p, c.blocks[p.Order], c.MessageBytes, c.Settings, at.Level, false)
		quiet += p.Quiet
		blocks += p.Blocks
		if p.Blocks-p.Quiet >= c.Settings.MinQuiet {
			busy = append(busy, p.BusyY)
		}
		if !p.Counted {
			continue
		}
		ys = append(ys, p.Y)
		baseTicks, baseNs = append(baseTicks, p.QuietA.TicksPerByte), append(baseNs, p.QuietA.NsPerByte)
		headTicks, headNs = append(headTicks, p.QuietB.TicksPerByte), append(headNs, p.QuietB.NsPerByte)
		baseInstr, headInstr = p.QuietA.Instructions, p.QuietB.Instructions
	}
	c.QuietShare = 0
	if blocks > 0 {
		c.QuietShare = float64(quiet) / float64(blocks)
	}
	c.BaseFigure, c.HeadFigure = nil, nil
	if len(ys) > 0 {
		c.BaseFigure = &records.PairFigure{TicksPerByte: stats.Median(baseTicks), NsPerByte: stats.Median(baseNs), Instructions: baseInstr}
		c.HeadFigure = &records.PairFigure{TicksPerByte: stats.Median(headTicks), NsPerByte: stats.Median(headNs), Instructions: headInstr}
	}
	if n > 0 && len(ys) > n {
		ys = ys[:n]
	}
	c.Estimate = estimateOf(ys, shownLevel, c.Settings.SDFloor)
	c.Busy = estimateOf(busy, contestedBy, c.Settings.SDFloor)
	c.BusyDisagrees = c.Estimate != nil && c.Busy != nil && apart(widened(c.Estimate), c.Busy) > math.Log1p(c.Settings.UnchangedMargin)
}

// estimateOf is nil for fewer than 2 figures.
func estimateOf(ys []float64, level, floor float64) *records.PairEstimate {
	e, err := stats.MeanInterval(ys, level, floor)
	if err != nil {
		return nil
	}
	return &records.PairEstimate{N: e.N, Mean: e.Mean, SD: e.SD, Lo: e.Lo, Hi: e.Hi, Level: level}
}

// widened is e's interval at the level contestedBy.
func widened(e *records.PairEstimate) *records.PairEstimate {
	half := stats.TQuantile((1+contestedBy)/2, float64(e.N-1)) * e.SD / math.Sqrt(float64(e.N))
	return &records.PairEstimate{N: e.N, Mean: e.Mean, SD: e.SD, Lo: e.Mean - half, Hi: e.Mean + half, Level: contestedBy}
}

// apart is the gap between two intervals, negative where they overlap.
func apart(x, y *records.PairEstimate) float64 { return max(x.Lo-y.Hi, y.Lo-x.Hi) }

// undecided says that no look has called the cell, or let it stop as unchanged.
func (c *pairCell) undecided() bool {
	return c.Call == "" && !(len(c.Looks) > 0 && c.unchanged(&c.Looks[len(c.Looks)-1].Estimate))
}

// open says whether the cell takes part in rounds.
func (c *pairCell) open() bool { return c.Fault == nil && !c.TooSlow && c.undecided() }

func (c *pairCell) unchanged(e *records.PairEstimate) bool {
	return e != nil && e.N >= c.Settings.Looks[0] &&
		stats.Unchanged(stats.Estimate{N: e.N, Lo: e.Lo, Hi: e.Hi}, math.Log1p(c.Settings.UnchangedMargin))
}

// takeLook is one look at all cells of the run. Cells that it calls or stops
// have their figures as of this moment.
func takeLook(cells []*pairCell, look int, at records.PairLevel) error {
	s := cells[0].Settings
	seq := sequentialOf(s)
	ys := make([][]float64, len(cells))
	for i, c := range cells {
		if c.undecided() && (c.Fault == nil || c.Fault.Order > at.Order) {
			ys[i] = c.ys(at)
		}
	}
	calls, err := seq.Decide(look, ys)
	if err != nil {
		return err
	}
	for i, c := range cells {
		if len(ys[i]) < look {
			continue
		}
		e := estimateOf(ys[i][:look], shownLevel, s.SDFloor)
		slower, faster, err := stats.SlowerFasterP(ys[i][:look], seq.Delta, s.SDFloor)
		if err != nil || e == nil {
			return fmt.Errorf("%s: look at %d processes: %w", c.Key(), look, err)
		}
		c.Looks = append(c.Looks, records.PairLook{
			Look: look, PairLevel: at, SlowerP: slower, FasterP: faster,
			Alpha: seq.Spending.AlphaAt(look, s.Alpha), Call: string(calls[i]), Estimate: *e,
		})
		c.Call = string(calls[i])
		c.dirty = true
		if !c.undecided() {
			c.evaluate(at, look)
		}
	}
	return nil
}

// smallestEffect is the part of a change that n counted processes would have
// called with 95 % power, at the last look that they reach; 0 for none.
func (c *pairCell) smallestEffect() float64 {
	e := c.Estimate
	if e == nil {
		return 0
	}
	look := 0
	for _, l := range c.Settings.Looks {
		if l <= e.N {
			look = l
		}
	}
	if look == 0 {
		return 0
	}
	seq := sequentialOf(c.Settings)
	x := math.Expm1(stats.SmallestEffect(e.SD, look, seq.OneSidedLevel(look), powerShown, seq.Delta))
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}

// evaluatePlacement sets what follows from the check's processes.
func (c *pairCell) evaluatePlacement(at records.PairLevel) {
	p := c.Placement
	p.PairLevel = at
	side := func(pads []records.PadRatio) (lo, hi float64, known int) {
		for i := range pads {
			pad := &pads[i]
			var ys []float64
			for j := range pad.Processes {
				condensePair(&pad.Processes[j], c.blocks[pad.Processes[j].Order], c.MessageBytes, c.Settings, at.Level, false)
				if pad.Processes[j].Counted {
					ys = append(ys, pad.Processes[j].Y)
				}
			}
			pad.Counted, pad.LnRatio = len(ys), 0
			if len(ys) == 0 {
				continue
			}
			known++
			pad.LnRatio = stats.Mean(ys)
			lo, hi = min(lo, pad.LnRatio), max(hi, pad.LnRatio)
		}
		return lo, hi, known
	}
	var base, head int
	p.Lo, p.Hi, base = side(p.Base)
	p.HeadLo, p.HeadHi, head = side(p.Head)
	if p.Complete && !p.Skipped && p.Note == "" && base < c.Settings.MinPads {
		p.Note = fmt.Sprintf("only %d of %d pads of the base (head: %d) had a quiet process", base, len(p.Base), head)
	}
}

// evaluateConfirmation sets what follows from the separate processes.
func (c *pairCell) evaluateConfirmation(at records.PairLevel) {
	f := c.Confirmation
	f.PairLevel = at
	ys := c.confirmYs(at.Level)
	f.Estimate = estimateOf(ys, contestedBy, c.Settings.SDFloor)
	f.TooFew = len(ys) < c.Settings.ConfirmPairs[0]
	f.Against = len(ys) > 0 && (stats.Mean(ys) > 0) != (c.Call == string(stats.Slower))
	f.Disagrees = !f.TooFew && apart(widened(c.Estimate), f.Estimate) > math.Log1p(c.Settings.MinEffect)
}

// confirmYs are ln(head/base) of the pairs of which both processes count.
func (c *pairCell) confirmYs(level float64) []float64 {
	var ys []float64
	for i := range c.Confirmation.Pairs {
		pair := &c.Confirmation.Pairs[i]
		for _, p := range []*records.PairProcess{&pair.Base, &pair.Head} {
			condensePair(p, c.blocks[p.Order], c.MessageBytes, c.Settings, level, true)
		}
		if pair.Base.Counted && pair.Head.Counted {
			ys = append(ys, pair.Head.Y-pair.Base.Y)
		}
	}
	return ys
}

// confirmed says whether the separate processes see the change by themselves.
func (c *pairCell) confirmed() bool {
	f := c.Confirmation
	return !f.TooFew && !f.Disagrees && !f.Against && (f.Estimate.Lo > 0 || f.Estimate.Hi < 0)
}

// levelAt is the quiet level after a process of the run, from all cells' probes.
func levelAt(cells []*pairCell, order int, q float64) records.PairLevel {
	var probes []float64
	for _, c := range cells {
		for o, blocks := range c.blocks {
			if o <= order {
				probes = appendProbes(probes, blocks)
			}
		}
	}
	slices.Sort(probes)
	at := records.PairLevel{Order: order}
	if len(probes) > 0 {
		at.Level = stats.Quantile(probes, q)
	}
	return at
}

func appendProbes(probes []float64, blocks []driver.Block) []float64 {
	for _, b := range blocks {
		probes = append(probes, float64(b.Before), float64(b.After))
	}
	return probes
}

package measure

import (
	"context"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/host"
)

// machine is a simulated host that shares its cores: quiet and busy phases by
// its own clock, processes that differ from each other, and libraries whose
// place in memory makes them differ from themselves. Its times depend on the
// seed and on what is asked of it, nothing else.
type machine struct {
	seed      uint64
	now       time.Time
	nsPerByte float64
	effect    map[string]float64 // ln ticks that a library costs more, by a part of its path
	separate  map[string]float64 // the same, in processes of its own only
	placement float64            // standard deviation of what a padded library costs more
	spread    float64            // between processes, of an ln ratio
	busyShare float64            // of time
	busyLn    map[string]float64 // what a busy sibling adds to a library's ln ticks (default 0.5)
	fault     func(library string, n int) error
	stop      func(n int) // told of every process
	processes int
	phase     uint64
	isBusy    bool
}

func newMachine(seed uint64) *machine {
	return &machine{
		seed: seed, now: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), nsPerByte: 2, spread: 0.0008, busyShare: 0.2,
		effect: map[string]float64{}, separate: map[string]float64{}, busyLn: map[string]float64{},
	}
}

func (m *machine) clock() time.Time { return m.now }

// busy says whether the sibling works: phases of 200 ms, drawn by number.
func (m *machine) busy(at time.Time) bool {
	phase := uint64(at.UnixMilli() / 200)
	if phase != m.phase {
		m.phase, m.isBusy = phase, rand.New(rand.NewPCG(m.seed, phase)).Float64() < m.busyShare
	}
	return m.isBusy
}

func lookup(table map[string]float64, library string, otherwise float64) float64 {
	for part, v := range table {
		if strings.Contains(library, part) {
			return v
		}
	}
	return otherwise
}

// cost is a library's ln ticks beyond the common ones.
func (m *machine) cost(library string) float64 {
	x := lookup(m.effect, library, 0)
	if i := strings.Index(library, "pad"); i >= 0 {
		h := fnv.New64a()
		h.Write([]byte(library))
		x += m.placement * rand.New(rand.NewPCG(h.Sum64(), 1)).NormFloat64()
	}
	return x
}

func (m *machine) Pair(ctx context.Context, s driver.PairSpec) (*driver.PairResult, error) {
	if err := m.begin(ctx, s.A.Library, s.B.Library); err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(s.Seed, m.seed))
	bias := m.spread * random.NormFloat64()
	call := m.nsPerByte * float64(s.Bytes)
	calls := math.Ceil(math.Max(float64(s.BatchNs), float64(s.BatchTicks)) / call)
	batch := func(library string, bias float64) (ticks, ns uint64) {
		ln := m.cost(library) + bias + 0.002*random.NormFloat64()
		if m.busy(m.now) {
			ln += lookup(m.busyLn, library, 0.5)
		}
		t := calls * call * math.Exp(ln)
		m.now = m.now.Add(time.Duration(t))
		return uint64(t), uint64(t)
	}
	res := &driver.PairResult{Counter: host.TSC, CPU: s.CPU, LoadedFirst: 'A', CallsA: uint64(calls), CallsB: uint64(calls),
		HasInstructions: true}
	var total uint64
	for total < uint64(s.MinNs) {
		b := driver.Block{First: 'A', Before: m.probe(random)}
		for i := range 2 {
			b.A[i], b.ANs[i] = batch(s.A.Library, 0)
			b.B[i], b.BNs[i] = batch(s.B.Library, bias)
			total += b.ANs[i] + b.BNs[i]
		}
		b.After = m.probe(random)
		res.InstructionsA += uint64(2 * calls * 1000)
		res.InstructionsB += uint64(2 * calls * 1010)
		res.Blocks = append(res.Blocks, b)
	}
	return res, nil
}

func (m *machine) Time(ctx context.Context, s driver.TimeSpec) (*driver.TimeResult, error) {
	if err := m.begin(ctx, s.Core.Library); err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(uint64(m.processes), m.seed))
	bias := m.spread*random.NormFloat64() + lookup(m.separate, s.Core.Library, m.cost(s.Core.Library))
	call := m.nsPerByte * float64(s.Bytes)
	calls := math.Ceil(math.Max(float64(s.BatchNs), float64(s.BatchTicks)) / call)
	res := &driver.TimeResult{Counter: host.TSC, CPU: s.CPU, CallsABatch: uint64(calls)}
	var total uint64
	for total < uint64(s.MinNs) {
		b := driver.Batch{Calls: uint64(calls), Before: m.probe(random)}
		ln := bias + 0.002*random.NormFloat64()
		if m.busy(m.now) {
			ln += lookup(m.busyLn, s.Core.Library, 0.5)
		}
		b.Ticks = uint64(calls * call * math.Exp(ln))
		b.Nanoseconds = b.Ticks
		total += b.Ticks
		m.now = m.now.Add(time.Duration(b.Ticks))
		b.After = m.probe(random)
		res.Batches = append(res.Batches, b)
	}
	return res, nil
}

// begin counts a process and lets 15 ms go by for its start.
func (m *machine) begin(ctx context.Context, libraries ...string) error {
	m.processes++
	m.now = m.now.Add(15 * time.Millisecond)
	if m.stop != nil {
		m.stop(m.processes)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, l := range libraries {
		if m.fault == nil {
			break
		}
		if err := m.fault(l, m.processes); err != nil {
			if core, ok := err.(*driver.CoreError); ok && len(libraries) == 2 {
				core.Side = string(rune('A' + i))
			}
			return err
		}
	}
	return nil
}

func (m *machine) probe(random *rand.Rand) uint64 {
	ticks := 2000 * (1 + 0.003*math.Abs(random.NormFloat64()))
	if m.busy(m.now) {
		ticks *= 1.5
	}
	m.now = m.now.Add(time.Microsecond)
	return uint64(ticks)
}

package measure

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/ngcc/bench-action/internal/catalog"
	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/host"
	"github.com/ngcc/bench-action/internal/records"
	"github.com/ngcc/bench-action/internal/stats"
)

// The numbers of the rule that no option changes: docs/comparison.md.
const (
	pairMinQuiet     = 50            // quiet blocks of a process that counts
	pairWantBlocks   = 80            // blocks that a process shall have room for
	pairMaxNs        = 1_000_000_000 // the longest that a process is made for that
	pairTries        = 3             // a look waits for so many times its processes
	pairPads         = 8             // random pads of the placement check
	pairMinPads      = 6             // of them with a ratio, else placement is not known
	pairPadProcesses = 2             // counted processes a pad and side
	padStep, padMost = 16, 4080      // bytes: where moved code moved ratios
)

// pairConfirm is after how many pairs of separate processes agreement is judged.
var pairConfirm = []int{6, 12}

// Defaults of a PairBench.
const (
	DefaultMinEffect       = 0.002
	DefaultAlpha           = 0.01
	DefaultUnchangedMargin = 0.005
	DefaultBudget          = 10 * time.Minute
	// DefaultSDFloor is the least process-to-process spread of an ln ratio that
	// is believed. A calibrated host has its own.
	DefaultSDFloor = 0.0005
)

// checkGrace is the part of the budget by which placement checks and
// confirmations of cells already called may exceed it.
const checkGrace = 0.25

// PairRunner runs the processes; *driver.Driver is one. Its caller holds
// driver.LockHost.
type PairRunner interface {
	Pair(ctx context.Context, spec driver.PairSpec) (*driver.PairResult, error)
	Time(ctx context.Context, spec driver.TimeSpec) (*driver.TimeResult, error)
}

var _ PairRunner = (*driver.Driver)(nil)

// PairCell is what gets one comparison: a label at one size whose code differs
// from the base's. Both sides have passed their gates.
type PairCell struct {
	Candidate, Name, Instance, Variant, Label string
	API                                       string
	DigestBits, Bytes                         int
	Base, Head                                PairSide
	Expected                                  []string // digests of the head's numbered messages
	ExpectedBase                              []string // nil: the same
	// Padded relinks a side ("base" or "head") with pad bytes of code in front
	// and returns the library. All sizes of a label ask for the same pads. nil:
	// there is nothing to relink, and calls stand without a placement check.
	Padded func(ctx context.Context, side string, pad int) (library string, err error)
}

// PairSide is one side's library. The two sides must be two files.
type PairSide struct {
	Library                   string // absolute path
	CodeDigest, LibraryDigest string
}

// Key names the cell: hash-23/QILIN-512/hash_1024.
func (c *PairCell) Key() string {
	return c.Candidate + "/" + c.Label + "/" + catalog.Operation(c.Bytes)
}

// PairBench compares cells side by side. Zero values stand for the defaults,
// but for Seed, which run.json states.
type PairBench struct {
	Dir             records.Dir
	Runner          PairRunner
	CPU             int
	Counter         string
	Seed            uint64
	MinEffect       float64
	Alpha           float64
	UnchangedMargin float64
	SDFloor         float64       // of the host's calibration
	Budget          time.Duration // of one call of Run, for all cells together
	MinNs           int64         // of a process
	MaxNs           int64         // what MinNs may be raised to where blocks are long
	BatchNs         int64
	BatchTicks      int64
	WarmupCalls     int
	Fingerprint     host.Fingerprint
	// Done is told of every comparison when it has its verdict. reused: it had
	// it before.
	Done func(c *records.Comparison, reused bool)
	// Progress, if any, is told after every process.
	Progress func(p PairProgress)
	// Clock is time.Now but in tests.
	Clock func() time.Time
}

// PairProgress is how far a run of comparisons is.
type PairProgress struct {
	Cells, Decided int
	Key            string // of the cell whose process has just ended
	Stage          string // look, placement or confirmation
	Look, Counted  int    // of that cell, while stage is look
	Processes      int    // of the run
	Elapsed        time.Duration
	Budget         time.Duration
}

// Run compares the planned cells and leaves pairs/<candidate>/<label>__hash_<n>
// .json and .csv.gz of each. Processes go round-robin over the undecided cells,
// so that slow ones are not starved. What an earlier Run of the same plan has
// left in the directory is kept: final verdicts stand, the rest goes on with a
// new budget. A core at fault is an invalid comparison; an error is a fault of
// the bench itself, or ctx, and keeps what was measured.
func (b *PairBench) Run(ctx context.Context, cells []PairCell) ([]records.Comparison, error) {
	if len(cells) == 0 {
		return nil, nil
	}
	r, err := b.plan(cells)
	if err != nil {
		return nil, err
	}
	r.resume()
	runErr := r.all(ctx)
	if err := r.save(); err != nil && runErr == nil {
		runErr = err
	}
	out := make([]records.Comparison, len(r.cells))
	for i, c := range r.cells {
		out[i] = *c.Comparison
	}
	return out, runErr
}

// plan makes the run with fresh comparisons.
func (b *PairBench) plan(cells []PairCell) (*pairRun, error) {
	s := b.settings(len(cells))
	if err := checkPairSettings(s); err != nil {
		return nil, err
	}
	r := &pairRun{bench: b, clock: b.Clock, budget: cmp.Or(b.Budget, DefaultBudget)}
	if r.clock == nil {
		r.clock = time.Now
	}
	r.start = r.clock()
	plan := []string{"plan"}
	seen := map[string]bool{}
	for _, c := range cells {
		if seen[c.Key()] {
			return nil, fmt.Errorf("%s: planned twice", c.Key())
		}
		seen[c.Key()] = true
		if c.Base.Library == c.Head.Library {
			return nil, fmt.Errorf("%s: base and head are one file, %s", c.Key(), c.Base.Library)
		}
		plan = append(plan, c.Key(), c.Base.LibraryDigest, c.Head.LibraryDigest)
	}
	for i := range cells {
		c := cells[i]
		s := s
		s.Pads = b.pads(c)
		if c.ExpectedBase == nil {
			c.ExpectedBase = c.Expected
		}
		r.cells = append(r.cells, &pairCell{
			plan: c, blocks: map[int][]driver.Block{},
			Comparison: &records.Comparison{
				Schema: records.Schema, Inputs: b.inputs(c, s, plan),
				Candidate: c.Candidate, Name: c.Name, Instance: c.Instance, Variant: c.Variant, Label: c.Label,
				Operation: catalog.Operation(c.Bytes), MessageBytes: c.Bytes,
				Base:     records.ComparedSide{CodeDigest: c.Base.CodeDigest, LibraryDigest: c.Base.LibraryDigest},
				Head:     records.ComparedSide{CodeDigest: c.Head.CodeDigest, LibraryDigest: c.Head.LibraryDigest},
				Settings: s, Index: i, Processes: []records.PairProcess{}, Fingerprint: b.Fingerprint,
			},
		})
	}
	return r, nil
}

// settings are the rule's numbers but for the pads, which each label has its own of.
func (b *PairBench) settings(cells int) records.PairSettings {
	counter := b.Counter
	if counter == "" {
		counter = "auto"
	}
	s := records.PairSettings{
		Seed: b.Seed, CPU: b.CPU, Counter: counter,
		MinNs: cmp.Or(b.MinNs, driver.DefaultMinNs), MaxNs: cmp.Or(b.MaxNs, pairMaxNs),
		BatchNs: cmp.Or(b.BatchNs, driver.DefaultBatchNs), BatchTicks: cmp.Or(b.BatchTicks, driver.DefaultBatchTicks),
		WarmupCalls: cmp.Or(b.WarmupCalls, driver.DefaultWarmupCalls),
		MinEffect:   cmp.Or(b.MinEffect, DefaultMinEffect), Alpha: cmp.Or(b.Alpha, DefaultAlpha),
		UnchangedMargin: cmp.Or(b.UnchangedMargin, DefaultUnchangedMargin), SDFloor: cmp.Or(b.SDFloor, DefaultSDFloor),
		Cells: cells, Looks: slices.Clone(stats.DefaultSpending.Looks), Shares: slices.Clone(stats.DefaultSpending.Shares),
		Tries: pairTries, MinQuiet: pairMinQuiet, QuietQuantile: stats.QuietQuantile, QuietTolerance: stats.QuietTolerance,
		PadProcesses: pairPadProcesses, MinPads: pairMinPads, ConfirmPairs: slices.Clone(pairConfirm),
	}
	s.MaxNs = max(s.MaxNs, s.MinNs)
	s.SDFloor = max(s.SDFloor, resolutionFloor(s.BatchTicks))
	return s
}

// inputs is the digest of all that shaped a comparison: what it is made of, and
// the plan, since Holm's step weighs each cell by the others.
func (b *PairBench) inputs(c PairCell, s records.PairSettings, plan []string) string {
	same := b.Fingerprint
	same.Clock.KHz = 0 // where the machine hides it, it is measured, never twice the same
	fp, err := records.Marshal(same)
	if err != nil {
		panic(err) // a struct of strings and numbers always marshals
	}
	settings, err := records.Marshal(s)
	if err != nil {
		panic(err)
	}
	parts := []string{"comparison", c.Key(), c.Base.CodeDigest, c.Base.LibraryDigest, c.Head.CodeDigest, c.Head.LibraryDigest,
		c.API, strconv.Itoa(c.DigestBits), strconv.FormatBool(c.Padded != nil), string(settings), string(fp), records.Digest(plan...)}
	parts = append(parts, c.Expected...)
	return records.Digest(append(append(parts, "base"), c.ExpectedBase...)...)
}

// pads draws a label's pads: distinct multiples of padStep up to padMost.
func (b *PairBench) pads(c PairCell) []int {
	seed := pairSeed(b.Seed, c.Candidate, c.Label, "pads")
	random := rand.New(rand.NewPCG(seed, 0))
	var out []int
	for _, i := range random.Perm(padMost / padStep)[:pairPads] {
		out = append(out, padStep*(i+1))
	}
	return out
}

// pairSeed derives a seed of 53 bits, which every reader of JSON keeps exact.
func pairSeed(seed uint64, parts ...string) uint64 {
	sum := sha256.Sum256([]byte(records.Digest(append(parts, strconv.FormatUint(seed, 10))...)))
	return binary.LittleEndian.Uint64(sum[:]) >> 11
}

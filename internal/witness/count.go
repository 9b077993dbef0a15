// Package witness counts the instructions of a core's calls, exactly, and says
// from two counts and two libraries why one side is slower.
//
// A count is a witness, never a judge: more instructions need not take longer.
// But it is the same number on every run of one machine, so where it does not
// move, code that was said to be slower has to be slower for another reason.
package witness

import (
	"cmp"
	"slices"

	"github.com/ngcc/bench-action/internal/driver"
)

// Status says whether there is a count, and else of what kind the reason is.
type Status string

// The kinds of outcome.
const (
	Counted     Status = "counted"
	NoValgrind  Status = "no valgrind"        // not installed, or it does not start
	Unsupported Status = "cannot run"         // valgrind does not know an instruction of the core
	Emulated    Status = "emulated"           // the driver itself runs under an emulator
	TooLong     Status = "took too long"      // it was ended at the time limit
	NotCounted  Status = "pmu counts nothing" // FromTiming of a timing without instructions
)

// SourcePMU is the Count.Source of figures from the processor's own counter.
const SourcePMU = "pmu"

// Count is what some calls cost. Figures are of all Calls together: divide.
type Count struct {
	Status       Status `json:"status"`
	Reason       string `json:"reason,omitempty"` // why there is no count
	Source       string `json:"source,omitempty"` // "callgrind 3.19.0" or "pmu"
	MessageBytes int    `json:"message_bytes"`
	Calls        int    `json:"calls"`
	Instructions uint64 `json:"instructions"`
	// Executed conditional and indirect branches, and those that callgrind's
	// model of a predictor misses: no processor's, but the same on every run.
	// Meaningful when HasBranches.
	HasBranches  bool   `json:"has_branches"`
	Branches     uint64 `json:"branches"`
	Mispredicted uint64 `json:"mispredicted"`
	// Functions is sorted by self cost, greatest first; empty from the PMU.
	Functions []FunctionCost `json:"functions,omitempty"`
}

// FunctionCost is the part of one function, its compiler-made clones included,
// in a Count's instructions.
type FunctionCost struct {
	Name      string `json:"name"`
	File      string `json:"file,omitempty"`   // source, where debug information names it
	Object    string `json:"object,omitempty"` // core.so, libc.so.6
	Self      uint64 `json:"self"`
	Inclusive uint64 `json:"inclusive"` // with what it called; a cycle's at most the whole
}

// OK tells whether there is a count.
func (c Count) OK() bool { return c.Status == Counted && c.Calls > 0 && c.MessageBytes > 0 }

// PerCall is the instructions of a call, or 0 without a count.
func (c Count) PerCall() float64 {
	if !c.OK() {
		return 0
	}
	return float64(c.Instructions) / float64(c.Calls)
}

// PerByte is the instructions of a call by its message's bytes, or 0.
func (c Count) PerByte() float64 {
	if !c.OK() {
		return 0
	}
	return c.PerCall() / float64(c.MessageBytes)
}

// FromTiming takes the count from the processor's counter, as a timing read it:
// that of the median batch. It has the driver's loop in it (a few instructions a
// call), and interrupts add some, so it is exact only nearly.
func FromTiming(bytes int, r *driver.TimeResult) Count {
	c := Count{Status: NotCounted, MessageBytes: bytes, Source: SourcePMU}
	if !r.HasInstructions || len(r.Batches) == 0 {
		c.Reason = "the PMU gave the timing no instruction count: " + r.CounterNote
		return c
	}
	b := slices.Clone(r.Batches)
	slices.SortFunc(b, func(x, y driver.Batch) int { return cmp.Compare(x.Instructions, y.Instructions) })
	mid := b[len(b)/2]
	c.Status, c.Calls, c.Instructions = Counted, int(mid.Calls), mid.Instructions
	return c
}

// missing is the Count of a core that was not counted.
func missing(bytes int, s Status, reason string) Count {
	return Count{Status: s, Reason: reason, MessageBytes: bytes}
}

// File is pairs/<candidate>/<label>__hash_<bytes>.why.json: what the counts of
// both sides say of a cell that was called slower or faster.
type File struct {
	Schema      int         `json:"schema"`
	Key         string      `json:"key"`
	Base        Count       `json:"base"`
	Head        Count       `json:"head"`
	Explanation Explanation `json:"explanation"`
}

package witness

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/ngcc/bench-action/internal/toolchain"
)

// Side is one of the two that are compared.
type Side struct {
	Library []byte // the shared library's file
	Count   Count
}

// Explanation says what differs between two sides.
type Explanation struct {
	// SameCode: what is loaded and executed is equal, so all else is left out.
	SameCode     bool   `json:"same_code"`
	MessageBytes int    `json:"message_bytes"`
	Source       string `json:"source,omitempty"` // of both counts
	Reason       string `json:"reason,omitempty"` // why there are no instruction deltas
	// Per call. Absent where not counted.
	Instructions *Delta `json:"instructions,omitempty"`
	Branches     *Delta `json:"branches,omitempty"`
	Mispredicted *Delta `json:"mispredicted,omitempty"` // of callgrind's model of a predictor
	// Functions are those that differ in size, bytes or cost: first the ones that
	// took the difference, greatest |self delta| first.
	Functions []FunctionChange `json:"functions,omitempty"`
}

// Delta is a figure of both sides, per call.
type Delta struct {
	Base float64 `json:"base"`
	Head float64 `json:"head"`
}

// Change is head − base.
func (d Delta) Change() float64 { return d.Head - d.Base }

// Ratio is head / base; 1 when both are 0, +Inf when only base is.
func (d Delta) Ratio() float64 {
	if d.Base == d.Head {
		return 1
	}
	return d.Head / d.Base
}

// State says what became of a function's code.
type State string

// What can become of a function's code.
const (
	StateSame    State = "same"
	StateChanged State = "changed" // other bytes: addresses in them alone can do that
	StateAdded   State = "added"
	StateRemoved State = "removed"
	StateOutside State = "outside" // not in the library's symbol table: the C library's, or nameless
)

// FunctionChange is what became of one function, its clones together.
type FunctionChange struct {
	Name      string `json:"name"`
	Object    string `json:"object,omitempty"` // for StateOutside
	State     State  `json:"state"`
	BaseBytes int64  `json:"base_bytes"` // of code
	HeadBytes int64  `json:"head_bytes"`
	// Instructions in the function itself, per call; absent without counts by
	// function.
	Self *Delta `json:"self,omitempty"`
	// Share of the difference of all instructions: 1 is all of it, and others can
	// be negative then. 0 when there is no difference.
	Share float64 `json:"share"`
}

// Explain compares two sides of one cell. It needs no count: then it tells what
// of the code differs, and why nothing was counted.
func Explain(base, head Side) (Explanation, error) {
	e := Explanation{MessageBytes: head.Count.MessageBytes}
	same, err := sameCode(base.Library, head.Library)
	if err != nil {
		return e, fmt.Errorf("witness: %w", err)
	}
	if same {
		e.SameCode = true
		return e, nil
	}
	if e.Reason = incomparable(base.Count, head.Count); e.Reason == "" {
		e.Source = head.Count.Source
		e.Instructions = &Delta{base.Count.PerCall(), head.Count.PerCall()}
		if base.Count.HasBranches && head.Count.HasBranches {
			e.Branches = &Delta{perCall(base.Count, base.Count.Branches), perCall(head.Count, head.Count.Branches)}
			e.Mispredicted = &Delta{perCall(base.Count, base.Count.Mispredicted), perCall(head.Count, head.Count.Mispredicted)}
		}
	}
	if err := e.functions(base, head); err != nil {
		return e, fmt.Errorf("witness: %w", err)
	}
	return e, nil
}

func sameCode(base, head []byte) (bool, error) {
	a, err := toolchain.Inspect(base)
	if err != nil && (a.CodeDigest == "" || !errors.Is(err, elf.ErrNoSymbols)) {
		return false, fmt.Errorf("base: %w", err)
	}
	b, err := toolchain.Inspect(head)
	if err != nil && (b.CodeDigest == "" || !errors.Is(err, elf.ErrNoSymbols)) {
		return false, fmt.Errorf("head: %w", err)
	}
	return a.CodeDigest == b.CodeDigest, nil // a stripped library has one too
}

// incomparable says why two counts have no difference; empty when they have.
func incomparable(base, head Count) string {
	for _, side := range []struct {
		name string
		c    Count
	}{{"base", base}, {"head", head}} {
		if !side.c.OK() {
			return side.name + ": " + cmp.Or(side.c.Reason, "not counted")
		}
	}
	switch {
	case base.Source != head.Source:
		return fmt.Sprintf("counted by %s and by %s: the two count differently", base.Source, head.Source)
	case base.MessageBytes != head.MessageBytes:
		return fmt.Sprintf("counted on messages of %d and of %d bytes", base.MessageBytes, head.MessageBytes)
	}
	return ""
}

func perCall(c Count, total uint64) float64 { return float64(total) / float64(c.Calls) }

// functions fills in what became of the functions.
func (e *Explanation) functions(base, head Side) error {
	baseCosts, headCosts := costsOf(base.Count), costsOf(head.Count)
	costly := map[string]bool{}
	for _, costs := range []map[string]FunctionCost{baseCosts, headCosts} {
		for name := range costs {
			costly[name] = true
		}
	}
	baseCode, err := functionsOf(base.Library, costly)
	if err != nil {
		return fmt.Errorf("base: %w", err)
	}
	headCode, err := functionsOf(head.Library, costly)
	if err != nil {
		return fmt.Errorf("head: %w", err)
	}
	names := maps.Clone(costly)
	for _, codes := range []map[string]code{baseCode, headCode} {
		for name := range codes {
			names[name] = true
		}
	}
	counted := e.Instructions != nil && len(baseCosts) > 0 && len(headCosts) > 0
	for name := range names {
		f := FunctionChange{Name: name, Object: cmp.Or(headCosts[name].Object, baseCosts[name].Object)}
		f.code(baseCode, headCode)
		if counted {
			f.Self = &Delta{perCall(base.Count, baseCosts[name].Self), perCall(head.Count, headCosts[name].Self)}
			if whole := e.Instructions.Change(); whole != 0 {
				f.Share = f.Self.Change() / whole
			}
		}
		if f.State == StateChanged || f.State == StateAdded || f.State == StateRemoved || f.selfChange() != 0 {
			e.Functions = append(e.Functions, f)
		}
	}
	slices.SortFunc(e.Functions, compareChanges)
	return nil
}

// costsOf are the costs by function of a count that has them.
func costsOf(c Count) map[string]FunctionCost {
	out := map[string]FunctionCost{}
	if c.OK() {
		for _, f := range c.Functions {
			out[f.Name] = f
		}
	}
	return out
}

// code fills in the sizes and the state of a function's code.
func (f *FunctionChange) code(baseCode, headCode map[string]code) {
	was, inBase := baseCode[f.Name]
	is, inHead := headCode[f.Name]
	f.BaseBytes, f.HeadBytes = was.bytes, is.bytes
	switch {
	case inBase && inHead && was.same(is):
		f.State = StateSame
	case inBase && inHead:
		f.State = StateChanged
	case inHead:
		f.State = StateAdded
	case inBase:
		f.State = StateRemoved
	default:
		f.State = StateOutside
		return
	}
	f.Object = ""
}

func (f FunctionChange) selfChange() float64 {
	if f.Self == nil {
		return 0
	}
	return f.Self.Change()
}

// compareChanges sorts by instructions, then by bytes of code, then by name.
func compareChanges(a, b FunctionChange) int {
	grown := func(f FunctionChange) int64 { return max(f.HeadBytes-f.BaseBytes, f.BaseBytes-f.HeadBytes) }
	return cmp.Or(cmp.Compare(math.Abs(b.selfChange()), math.Abs(a.selfChange())),
		cmp.Compare(grown(b), grown(a)), cmp.Compare(a.Name, b.Name))
}

package measure

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/records"
)

// Recomputed is what a comparison's blocks and settings say.
type Recomputed struct {
	Key     string
	Verdict string
	Reason  string
	Differs []string // fields of the file that do not follow: "processes[3].y: 0.01, recomputed 0.02"
}

// Recompute computes the comparisons of a run anew, from their blocks and
// settings alone, and says in which fields each file disagrees. It needs all
// comparisons of the run, since the quiet level comes from all probes and Holm's
// step from all cells. The order of cs does not matter; the result has cs's.
//
// An error: comparisons that are not those of one run, or blocks that cannot be
// read.
func Recompute(dir records.Dir, cs []records.Comparison) ([]Recomputed, error) {
	if len(cs) == 0 {
		return nil, nil
	}
	cells := make([]*pairCell, cs[0].Settings.Cells)
	if len(cells) != len(cs) {
		return nil, fmt.Errorf("%d comparisons of a run of %d cells: all are needed", len(cs), len(cells))
	}
	for i := range cs {
		c := &cs[i]
		if err := c.Check(); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Key(), err)
		}
		if c.Index >= len(cells) || cells[c.Index] != nil || !sameRule(c.Settings, cs[0].Settings) {
			return nil, fmt.Errorf("%s and %s are not of one run", cs[0].Key(), c.Key())
		}
		blocks, err := loadBlocks(dir, c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Key(), err)
		}
		cells[c.Index] = &pairCell{Comparison: c, blocks: blocks}
	}
	again, err := recompute(cells)
	if err != nil {
		return nil, err
	}
	out := make([]Recomputed, len(cs))
	for i := range cs {
		c := again[cs[i].Index]
		out[i] = Recomputed{Key: c.Key(), Verdict: c.Verdict, Reason: c.Reason, Differs: differences(&cs[i], c.Comparison)}
	}
	return out, nil
}

// sameRule says whether two cells' settings are of one run: only pads may differ.
func sameRule(x, y records.PairSettings) bool {
	x.Pads, y.Pads = nil, nil
	return reflect.DeepEqual(x, y)
}

// recompute makes comparisons that have only what measuring gave them, replays
// the looks in order, and then the checks and verdicts.
func recompute(cells []*pairCell) ([]*pairCell, error) {
	if err := checkPairSettings(cells[0].Settings); err != nil {
		return nil, err
	}
	q := cells[0].Settings.QuietQuantile
	levels := map[int]records.PairLevel{}
	at := func(order int) records.PairLevel {
		if _, ok := levels[order]; !ok {
			levels[order] = levelAt(cells, order, q)
		}
		return levels[order]
	}
	looks := map[int]int{} // look → order
	again := make([]*pairCell, len(cells))
	for i, c := range cells {
		for _, l := range c.Looks {
			if o, ok := looks[l.Look]; ok && o != l.Order {
				return nil, fmt.Errorf("%s: looks: the look at %d processes was taken after process %d and after %d", c.Key(), l.Look, o, l.Order)
			}
			looks[l.Look] = l.Order
		}
		var err error
		if again[i], err = bare(c); err != nil {
			return nil, err
		}
	}
	for _, look := range slices.Sorted(maps.Keys(looks)) {
		if err := takeLook(again, look, at(looks[look])); err != nil {
			return nil, err
		}
	}
	for i, c := range again {
		was := cells[i]
		if c.undecided() {
			c.evaluate(at(was.Evaluated.Order), 0)
		}
		if c.Call != "" && c.Placement != nil {
			c.evaluatePlacement(at(was.Placement.Order))
		}
		if c.Call != "" && c.Confirmation != nil {
			c.evaluateConfirmation(at(was.Confirmation.Order))
		}
		if was.Verdict != "" {
			c.conclude()
		}
	}
	return again, nil
}

// bare is a copy of c without what follows from blocks and settings.
func bare(c *pairCell) (*pairCell, error) {
	data, err := records.Marshal(c.Comparison)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Key(), err)
	}
	var fresh records.Comparison
	if err := records.Unmarshal(c.Key(), data, &fresh); err != nil {
		return nil, err
	}
	fresh.Verdict, fresh.Reason, fresh.Call = "", "", ""
	fresh.Estimate, fresh.Busy, fresh.BaseFigure, fresh.HeadFigure = nil, nil, nil, nil
	fresh.BusyDisagrees, fresh.QuietShare, fresh.SmallestEffect = false, 0, 0
	fresh.Looks, fresh.Evaluated = nil, records.PairLevel{}
	known := map[int]bool{}
	for _, p := range fresh.AllProcesses() {
		if len(c.blocks[p.Order]) == 0 || p.CallsA == 0 {
			return nil, fmt.Errorf("%s: process %d has no blocks, or no calls", c.Key(), p.Order)
		}
		known[p.Order] = true
	}
	for _, p := range fresh.Processes {
		if p.CallsB == 0 {
			return nil, fmt.Errorf("%s: process %d has no calls of the head", c.Key(), p.Order)
		}
	}
	blocks := map[int][]driver.Block{}
	for o, b := range c.blocks {
		if !known[o] {
			// A pair of the confirmation whose second process failed has left its
			// first one's blocks.
			if fresh.Fault == nil && fresh.Confirmation == nil {
				return nil, fmt.Errorf("%s: blocks of process %d, which the comparison does not have", c.Key(), o)
			}
		}
		blocks[o] = b
	}
	return &pairCell{Comparison: &fresh, plan: c.plan, blocks: blocks}, nil
}

// differences names fields of was that are not what they were recomputed as.
func differences(was, now *records.Comparison) []string {
	var out []string
	walk("", reflect.ValueOf(*was), reflect.ValueOf(*now), &out)
	return out
}

// walk compares two values of one type; numbers may differ by rounding.
func walk(name string, was, now reflect.Value, out *[]string) {
	report := func() {
		*out = append(*out, fmt.Sprintf("%s: %v, recomputed %v", name, show(was), show(now)))
	}
	switch was.Kind() {
	case reflect.Struct:
		if _, ok := was.Interface().(fmt.Stringer); ok { // a time
			return
		}
		for i := range was.NumField() {
			field := was.Type().Field(i)
			inner := name
			if !field.Anonymous {
				inner = strings.TrimPrefix(name+"."+jsonName(field), ".")
			}
			walk(inner, was.Field(i), now.Field(i), out)
		}
	case reflect.Pointer:
		if was.IsNil() || now.IsNil() {
			if was.IsNil() != now.IsNil() {
				report()
			}
			return
		}
		walk(name, was.Elem(), now.Elem(), out)
	case reflect.Slice:
		if was.Len() != now.Len() {
			*out = append(*out, fmt.Sprintf("%s: %d of them, recomputed %d", name, was.Len(), now.Len()))
			return
		}
		for i := range was.Len() {
			walk(fmt.Sprintf("%s[%d]", name, i), was.Index(i), now.Index(i), out)
		}
	case reflect.Float64:
		x, y := was.Float(), now.Float()
		if !(math.Abs(x-y) <= 1e-9*max(math.Abs(x), math.Abs(y), 1e-3)) {
			report()
		}
	default:
		if !was.Equal(now) {
			report()
		}
	}
}

func show(v reflect.Value) any {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "nothing"
		}
		v = v.Elem()
	}
	return v.Interface()
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return cmp.Or(name, f.Name)
}

// resume takes over what an earlier run of the same plan has left. What does
// not fit together, as a run that was killed between two files leaves it, is
// measured again.
func (r *pairRun) resume() {
	fresh := slices.Clone(r.cells)
	found := false
	for i, c := range fresh {
		var old records.Comparison
		if err := r.bench.Dir.ReadJSON(records.PairFileName(c.Candidate, c.Label, c.MessageBytes), &old); err != nil || old.Inputs != c.Inputs {
			continue
		}
		blocks, err := loadBlocks(r.bench.Dir, &old)
		if err != nil {
			continue
		}
		found = true
		r.cells[i] = &pairCell{Comparison: &old, plan: c.plan, blocks: blocks, reused: old.Final}
	}
	if !found {
		return
	}
	again, err := recompute(r.cells)
	fits := err == nil
	for i := 0; fits && i < len(again); i++ {
		fits = len(differences(r.cells[i].Comparison, again[i].Comparison)) == 0
	}
	if !fits {
		r.cells = fresh
		return
	}
	for _, c := range r.cells {
		for o, blocks := range c.blocks {
			r.order = max(r.order, o)
			r.learn(blocks)
		}
		if c.Fault != nil {
			r.order = max(r.order, c.Fault.Order)
		}
		r.order = max(r.order, c.Evaluated.Order)
		if r.counter == "" {
			r.counter = c.Counter
		}
		if !c.Final && c.Verdict != "" {
			c.Verdict, c.Reason = "", ""
		}
	}
}

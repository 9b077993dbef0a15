package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ngcc/bench-action/internal/compare"
	"github.com/ngcc/bench-action/internal/host"
	"github.com/ngcc/bench-action/internal/records"
)

// Data is what a run directory holds, and the baselines to show beside it.
type Data struct {
	Run       records.Run
	Build     records.Build
	Gates     []records.Gate
	Records   []records.Record
	Diff      compare.Diff
	Baselines []compare.Baseline
	// Why says, by cell, what the code of both sides differs in.
	Why    map[string][]string
	RunDir string // as the user gave it, for naming files
}

// changed says whether a cell belongs in the list of changes: its figure moved
// beyond what it may.
func changed(c compare.Cell) bool {
	switch c.Verdict {
	case compare.Regression, compare.Suspect, compare.Placement, compare.Improvement:
		return true
	case compare.Unchanged, compare.SameCode:
		return c.Reason != ""
	}
	return false
}

// cells lists the diff's cells that keep holds for.
func (d Data) cells(keep func(compare.Cell) bool) []compare.Cell {
	var out []compare.Cell
	for _, c := range d.Diff.Cells {
		if keep(c) {
			out = append(out, c)
		}
	}
	return out
}

func (d Data) withVerdict(v compare.Verdict) []compare.Cell {
	return d.cells(func(c compare.Cell) bool { return c.Verdict == v })
}

// labels lists the distinct "candidate/label" of cells, in order.
func labels(cells []compare.Cell) []string {
	var out []string
	for _, c := range cells {
		if l := c.Candidate + "/" + c.Label; len(out) == 0 || out[len(out)-1] != l {
			out = append(out, l)
		}
	}
	return out
}

// record finds the record of a cell.
func (d Data) record(k compare.Key) (records.Record, bool) {
	i := slices.IndexFunc(d.Records, func(r records.Record) bool { return compare.KeyOf(r) == k })
	if i < 0 {
		return records.Record{}, false
	}
	return d.Records[i], true
}

// counters lists the counters of the run's valid figures, in order of cells.
func (d Data) counters() []host.Counter {
	var out []host.Counter
	for _, c := range d.Diff.Cells {
		if c.Head != nil && !slices.Contains(out, c.Head.Counter) {
			out = append(out, c.Head.Counter)
		}
	}
	return out
}

// plural is "1 cell", "2 cells".
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	if strings.HasSuffix(one, "s") {
		one += "e"
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// isAre is the verb for n things.
func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// fewOrCount names up to four things, or the first three and how many more.
func fewOrCount(names []string) string {
	if len(names) <= 4 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:3], ", "), len(names)-3)
}

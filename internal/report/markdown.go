package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ngcc/bench-action/internal/compare"
	"github.com/ngcc/bench-action/internal/host"
	"github.com/ngcc/bench-action/internal/records"
)

// Markdown is report.md: the verdict first, then what changed, what failed, what
// could not be compared, every figure, and how the figures were made.
func Markdown(d Data) string {
	var out strings.Builder
	word, rest, _ := strings.Cut(headline(d), ":")
	fmt.Fprintf(&out, "**%s**: %s\n", inline(word), inline(rest))
	out.WriteString(summary(d))
	for _, section := range []struct{ title, body string }{
		{"What changed", changes(d)},
		{"Why", why(d)},
		{"Failures", failures(d)},
		{"Not compared", notCompared(d)},
		{"Beside the registered systems", beside(d)},
		{"Figures", figures(d)},
		{"Writable data", writable(d)},
		{"Environment", environment(d)},
		{"Reproduce", reproduce(d)},
	} {
		if section.body != "" {
			fmt.Fprintf(&out, "\n## %s\n\n%s", section.title, section.body)
		}
	}
	return out.String()
}

// summary is the lines below the headline.
func summary(d Data) string {
	var lines []string
	add := func(s string) {
		if s != "" {
			lines = append(lines, "- "+inline(s)+"\n")
		}
	}
	if d.Diff.Outcome.Cells > 0 {
		add(counts(d.Diff.Outcome))
	}
	add(baseText(d))
	add(driftText(d.Diff.Drift))
	if d.Diff.Advice != "" {
		add("what to do: " + d.Diff.Advice)
	}
	if len(lines) == 0 {
		return ""
	}
	return "\n" + strings.Join(lines, "")
}

// perByteText is a figure in ticks a byte for the table of changes, with four
// significant digits at least: a change of a per mille must be seen.
func perByteText(f *compare.Figure, statistic string, messageBytes int) string {
	if f == nil {
		return Absent
	}
	v := f.Of(statistic) / float64(messageBytes)
	switch {
	case !usable(v):
		return Absent
	case v < 10:
		return fmt.Sprintf("%.3f", v)
	case v < 100:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

// ratioText is a cell's ratio, with its interval where it has one.
func ratioText(c compare.Cell) string {
	text := Ratio(c.Ratio)
	if b := c.Beside; b != nil && b.Lo > 0 {
		text += fmt.Sprintf(", 95 %%: %+.2f to %+.2f %%", 100*(b.Lo-1), 100*(b.Hi-1))
	}
	return text
}

// comparedText says what a ratio is of.
func comparedText(c compare.Cell) string {
	base := c.Base
	if b := c.Beside; b != nil && b.Processes > 0 {
		text := fmt.Sprintf("side by side, %s, %.0f %% of blocks quiet", plural(b.Processes, "process"), 100*b.QuietShare)
		if b.BusyDisagrees {
			text += "; beside a busy neighbour " + Ratio(b.BusyRatio)
		}
		return text
	}
	if base == nil || c.Head == nil {
		return Absent
	}
	return fmt.Sprintf("%s of %d and %s, noticed from %s", c.Statistic, base.Trials, plural(c.Head.Trials, "trial"), Percent(c.Limit))
}

// changes lists cells whose figures moved, worst first.
func changes(d Data) string {
	cells := d.cells(changed)
	if len(cells) == 0 {
		return ""
	}
	slices.SortStableFunc(cells, func(x, y compare.Cell) int {
		return slices.Index(compare.Verdicts(), x.Verdict) - slices.Index(compare.Verdicts(), y.Verdict)
	})
	var rows [][]string
	for _, c := range cells {
		unit := ""
		if c.Head != nil {
			unit = " " + c.Head.Counter.Unit() + "/byte"
		}
		verdict := string(c.Verdict)
		if c.Reason != "" {
			verdict += ": " + c.Reason
		}
		rows = append(rows, []string{
			inline(c.Key.String()),
			perByteText(c.Base, c.Statistic, c.MessageBytes) + " → " + perByteText(c.Head, c.Statistic, c.MessageBytes) + unit,
			ratioText(c), comparedText(c), inline(verdict),
		})
	}
	return table([]string{"cell", "base → head", "ratio", "compared", "verdict"}, []bool{false, true, true}, rows)
}

// why lists, for each cell called slower or faster, what its code differs in.
func why(d Data) string {
	var out strings.Builder
	for _, c := range d.cells(changed) {
		lines := d.Why[c.Key.String()]
		if len(lines) == 0 {
			continue
		}
		fmt.Fprintf(&out, "- %s\n", inline(c.Key.String()))
		for _, l := range lines {
			fmt.Fprintf(&out, "  - %s\n", inline(l))
		}
	}
	return out.String()
}

// failures shows the compiler's message and the first wrong vector of each
// label, and why cells are invalid.
func failures(d Data) string {
	var parts []string
	for _, b := range d.Build.Labels {
		if b.Status == records.BuildFailed {
			parts = append(parts, fmt.Sprintf("**%s/%s**: build failed.\n\n%s", inline(b.Candidate), inline(b.Label),
				fenced(orSilent(b.Error, "the compiler said nothing"), records.BuildFile)))
		}
	}
	for _, l := range labels(d.withVerdict(compare.KATFailed)) {
		part := fmt.Sprintf("**%s**: %s.\n", inline(l), inline(d.reasonOf(l, compare.KATFailed)))
		i := slices.IndexFunc(d.Gates, func(g records.Gate) bool { return g.Candidate+"/"+g.Label == l })
		if i >= 0 && d.Gates[i].Result != records.GatePass && strings.TrimSpace(d.Gates[i].Detail) != "" {
			g := d.Gates[i]
			part = fmt.Sprintf("**%s**: %s.\n\n%s", inline(l), inline(g.Result), fenced(g.Detail, records.LogFileName(g.Candidate, g.Label)))
		}
		parts = append(parts, part)
	}
	var rows [][]string
	for _, c := range d.withVerdict(compare.Invalid) {
		rows = append(rows, []string{inline(c.Key.String()), inline(c.Reason)})
	}
	if len(rows) > 0 {
		parts = append(parts, table([]string{"invalid cell", "why"}, nil, rows))
	}
	return strings.Join(parts, "\n")
}

// orSilent is s, or otherwise where s is blank.
func orSilent(s, otherwise string) string {
	if strings.TrimSpace(s) == "" {
		return otherwise
	}
	return s
}

// reasonOf is the reason of a label's first cell with verdict v.
func (d Data) reasonOf(name string, v compare.Verdict) string {
	for _, c := range d.withVerdict(v) {
		if c.Candidate+"/"+c.Label == name {
			return c.Reason
		}
	}
	return string(v)
}

// notCompared lists what has no comparison, each reason once.
func notCompared(d Data) string {
	var out strings.Builder
	for _, v := range []compare.Verdict{compare.TooFewSamples, compare.Incomparable, compare.New, compare.Removed, compare.NotRunnable} {
		for _, g := range byReason(d.withVerdict(v)) {
			if v == compare.Incomparable && g.reason == d.Diff.Base.Reason {
				continue // the head of the report says so, of the whole run
			}
			names := make([]string, len(g.cells))
			for i, c := range g.cells {
				names[i] = c.Key.String()
			}
			if v == compare.NotRunnable {
				names = labels(g.cells)
			}
			fmt.Fprintf(&out, "- %s: %s: %s\n", v, inline(fewOrCount(names)), inline(g.reason))
		}
	}
	return out.String()
}

// group is cells with one reason.
type group struct {
	reason string
	cells  []compare.Cell
}

func byReason(cells []compare.Cell) []group {
	var out []group
	for _, c := range cells {
		i := slices.IndexFunc(out, func(g group) bool { return g.reason == c.Reason })
		if i < 0 {
			i, out = len(out), append(out, group{reason: c.Reason})
		}
		out[i].cells = append(out[i].cells, c)
	}
	return out
}

// beside shows the run's means next to those of the registered systems where
// none of them is comparable. Each column says its unit; there are no ratios.
func beside(d Data) string {
	counters := d.counters()
	if d.Diff.Base.Comparable || len(d.Baselines) == 0 || len(counters) == 0 {
		return ""
	}
	var out strings.Builder
	out.WriteString("Means. Other machines, and in other units where the headers say so: to look at, not to divide.\n")
	for _, counter := range counters {
		if t := besideTable(d, counter); t != "" {
			out.WriteString("\n" + t)
		}
	}
	return out.String()
}

// besideTable is the part of beside with the figures of one counter.
func besideTable(d Data, counter host.Counter) string {
	cells := d.cells(func(c compare.Cell) bool { return c.Head != nil && c.Head.Counter == counter })
	var shown []compare.Baseline
	for _, b := range d.Baselines {
		if slices.ContainsFunc(cells, func(c compare.Cell) bool { _, ok := b.Cell(c.Key); return ok }) {
			shown = append(shown, b)
		}
	}
	if len(shown) == 0 {
		return ""
	}
	head := []string{"label", "message", "this machine (" + counter.Unit() + "/byte)"}
	right := []bool{false, true, true}
	for _, b := range shown {
		head = append(head, fmt.Sprintf("%s (%s/byte)", inline(b.System), b.Counter.Unit()))
		right = append(right, true)
	}
	var rows [][]string
	for _, c := range cells {
		row := []string{inline(c.Candidate + "/" + c.Label), fmt.Sprintf("%d B", c.MessageBytes), PerByte(c.Head.Mean, c.MessageBytes)}
		for _, b := range shown {
			was, _ := b.Cell(c.Key)
			row = append(row, PerByte(was.Mean, c.MessageBytes))
		}
		rows = append(rows, row)
	}
	return table(head, right, rows)
}

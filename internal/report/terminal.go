package report

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/ngcc/bench-action/internal/compare"
	"github.com/ngcc/bench-action/internal/records"
)

// maxTerminalRows bounds each list of the terminal summary.
const maxTerminalRows = 20

// Terminal is the summary for a terminal: the verdict, what changed or failed,
// and where the report is. Plain text without escape sequences.
func Terminal(d Data) string {
	var out strings.Builder
	line := func(s string) {
		if s != "" {
			fmt.Fprintln(&out, oneLine(s, maxInlineRunes))
		}
	}
	line(headline(d))
	if d.Diff.Outcome.Cells > 0 {
		line(counts(d.Diff.Outcome))
	}
	line(baseText(d))
	line(driftText(d.Diff.Drift))
	if d.Diff.Advice != "" {
		line("what to do: " + d.Diff.Advice)
	}
	list(&out, failureLines(d))
	list(&out, changeLines(d))
	if d.RunDir != "" {
		line("report: " + path.Join(d.RunDir, records.ReportFile))
	}
	return out.String()
}

// failureLines has one line for each label that failed, or that kept the run from
// measuring anything, and for each cell without a usable figure.
func failureLines(d Data) [][]string {
	var rows [][]string
	ofLabels := []compare.Verdict{compare.BuildFailed, compare.KATFailed}
	if d.Diff.Outcome.NothingMeasured() {
		ofLabels = append(ofLabels, compare.NotRunnable)
	}
	for _, v := range ofLabels {
		for _, l := range labels(d.withVerdict(v)) {
			rows = append(rows, []string{string(v), l, d.reasonOf(l, v)})
		}
	}
	for _, v := range []compare.Verdict{compare.Invalid, compare.TooFewSamples} {
		for _, c := range d.withVerdict(v) {
			rows = append(rows, []string{string(v), c.Key.String(), c.Reason})
		}
	}
	return rows
}

func changeLines(d Data) [][]string {
	var rows [][]string
	for _, c := range d.cells(changed) {
		unit := ""
		if c.Head != nil {
			unit = " " + c.Head.Counter.Unit() + "/byte"
		}
		rows = append(rows, []string{
			string(c.Verdict), c.Key.String(),
			perByteText(c.Base, c.Statistic, c.MessageBytes) + " → " + perByteText(c.Head, c.Statistic, c.MessageBytes) + unit + "  " + ratioText(c),
		})
	}
	return rows
}

// list prints rows with their first two columns aligned.
func list(out *strings.Builder, rows [][]string) {
	left := max(0, len(rows)-maxTerminalRows)
	rows = rows[:len(rows)-left]
	var width [2]int
	for _, r := range rows {
		for i := range width {
			r[i] = oneLine(r[i], maxInlineRunes)
			width[i] = max(width[i], utf8.RuneCountInString(r[i]))
		}
	}
	for _, r := range rows {
		fmt.Fprintf(out, "  %-*s  %-*s  %s\n", width[0], r[0], width[1], r[1], oneLine(r[2], maxInlineRunes))
	}
	if left > 0 {
		fmt.Fprintf(out, "  … %d more in the report\n", left)
	}
}

package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ngcc/bench-action/internal/compare"
	"github.com/ngcc/bench-action/internal/host"
	"github.com/ngcc/bench-action/internal/records"
)

// figures is the whole table in a fold, one table a candidate and counter: a
// column has one unit.
func figures(d Data) string {
	cells := d.cells(func(c compare.Cell) bool { return c.Verdict != compare.Removed })
	if len(cells) == 0 {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "<details>\n<summary>Every figure of the run: %s</summary>\n", plural(len(cells), "cell"))
	for len(cells) > 0 {
		n := slices.IndexFunc(cells, func(c compare.Cell) bool { return c.Candidate != cells[0].Candidate })
		if n < 0 {
			n = len(cells)
		}
		name := cells[0].Candidate
		if full := d.nameOf(name); full != "" {
			name += " " + full
		}
		fmt.Fprintf(&out, "\n### %s\n", inline(name))
		for _, t := range figureTables(d, cells[:n]) {
			out.WriteString("\n" + t)
		}
		cells = cells[n:]
	}
	out.WriteString("\n</details>\n")
	return out.String()
}

// nameOf is a candidate's name.
func (d Data) nameOf(candidate string) string {
	for _, b := range d.Build.Labels {
		if b.Candidate == candidate {
			return b.Name
		}
	}
	return ""
}

// figureTables makes one table a counter. Cells without a figure stand in the
// first.
func figureTables(d Data, cells []compare.Cell) []string {
	var counters []host.Counter
	for _, c := range cells {
		if c.Head != nil && !slices.Contains(counters, c.Head.Counter) {
			counters = append(counters, c.Head.Counter)
		}
	}
	if len(counters) == 0 {
		counters = []host.Counter{""}
	}
	var out []string
	for i, counter := range counters {
		unit := counter.Unit()
		if unit == "" {
			unit = "ticks"
		}
		var rows [][]string
		for _, c := range cells {
			if (c.Head == nil && i == 0) || (c.Head != nil && c.Head.Counter == counter) {
				rows = append(rows, figureRow(d, c))
			}
		}
		out = append(out, table(
			[]string{"label", "message", "mean " + unit, unit + "/byte", "mean time", "MB/s", "n", "low " + unit + "/byte", "spread", "verdict"},
			[]bool{false, true, true, true, true, true, true, true, true}, rows))
	}
	return out
}

// figureRow prints a cell by the rules of published/README.md: one without a
// figure has its operation key in the message column, "failed", and blanks.
func figureRow(d Data, c compare.Cell) []string {
	r, ok := d.record(c.Key)
	if c.Head == nil || !ok || r.Summary == nil {
		mean := "failed"
		if c.Verdict == compare.NotRunnable {
			mean = Absent
		}
		return []string{inline(c.Label), inline(c.Operation), mean, "", "", "", "", "", "", string(c.Verdict)}
	}
	var calls []uint64
	for _, t := range r.Trials {
		calls = append(calls, t.Calls)
	}
	seconds := r.Summary.MeanNs / 1e9
	return []string{
		inline(c.Label), fmt.Sprintf("%d B", c.MessageBytes),
		Ticks(c.Head.Mean), PerByte(c.Head.Mean, c.MessageBytes), Seconds(seconds), MBPerSecond(c.MessageBytes, seconds),
		N(calls), PerByte(c.Head.Low, c.MessageBytes), Percent(c.Head.Spread), string(c.Verdict),
	}
}

// writable reports cores that bring writable data: state that outlives a call.
func writable(d Data) string {
	var out strings.Builder
	for _, b := range d.Build.Labels {
		if b.WritableBytes <= 0 {
			continue
		}
		var names []string
		for _, w := range b.Writable {
			names = append(names, fmt.Sprintf("%s %d", w.Symbol, w.Bytes))
		}
		fmt.Fprintf(&out, "- %s/%s: %d bytes", inline(b.Candidate), inline(b.Label), b.WritableBytes)
		if len(names) > 0 {
			fmt.Fprintf(&out, " (%s)", inline(fewOrCount(names)))
		}
		out.WriteString("\n")
	}
	if out.Len() == 0 {
		return ""
	}
	return "These cores bring writable data, so a call can leave something for the next:\n\n" + out.String()
}

// environment is the guide's item 2 for this run.
func environment(d Data) string {
	var rows [][]string
	row := func(item, value string) {
		if value = strings.TrimSpace(value); value != "" && value != host.Unknown {
			rows = append(rows, []string{item, inline(value)})
		}
	}
	for _, item := range d.Run.Host.Table() {
		row(item[0], item[1])
	}
	row("CPU used", cpusUsed(d.Records))
	if d.Run.Fingerprint.Clock.Policy == host.Hidden {
		row("clock policy", compare.ClockText(d.Run.Fingerprint.Clock))
	}
	for _, c := range d.counters() {
		row("counter", fmt.Sprintf("%s, figures in %s", c, c.Unit()))
	}
	for _, note := range counterNotes(d.Records) {
		row("no better counter", note)
	}
	c := d.Build.Compiler
	row("compiler", strings.TrimSuffix(c.Version+", "+c.Target, ", "))
	row("linker", c.Linker)
	for _, f := range flagSets(d.Build.Labels) {
		row("flags of "+inline(fewOrCount(f.labels)), f.text)
	}
	row("data root", rootText(d.Run.Root))
	row("tool", strings.TrimSpace(d.Run.Tool.Name+" "+d.Run.Tool.Version+" "+d.Run.Tool.Go))
	row("disturbed trials repeated", repeats(d.Records))
	row("start / end (UTC)", timeText(d.Run.Started)+" / "+timeText(d.Run.Finished))
	return table([]string{"item", "value"}, nil, rows)
}

// repeats counts the disturbed trials that were repeated; empty for none.
func repeats(recs []records.Record) string {
	repeated, trials, cells := 0, 0, 0
	for _, r := range recs {
		trials += len(r.Trials)
		if repeated += r.Repeats; r.Repeats > 0 {
			cells++
		}
	}
	if repeated == 0 {
		return ""
	}
	return fmt.Sprintf("%d beside %d trials, in %d of %d cells", repeated, trials, cells, len(recs))
}

// cpusUsed says on which CPUs trials ran, with the cells on each where they
// are several.
func cpusUsed(recs []records.Record) string {
	cells := map[int]int{}
	var cpus []int
	for _, r := range recs {
		var own []int
		for _, t := range r.Trials {
			if !slices.Contains(own, t.CPU) {
				own = append(own, t.CPU)
			}
		}
		for _, cpu := range own {
			if cells[cpu]++; cells[cpu] == 1 {
				cpus = append(cpus, cpu)
			}
		}
	}
	slices.Sort(cpus)
	var parts []string
	for _, cpu := range cpus {
		if len(cpus) == 1 {
			return "CPU " + strconv.Itoa(cpu)
		}
		parts = append(parts, fmt.Sprintf("CPU %d (%s)", cpu, plural(cells[cpu], "cell")))
	}
	return strings.Join(parts, ", ")
}

func counterNotes(recs []records.Record) []string {
	var notes []string
	for _, r := range recs {
		if r.CounterNote != "" && !slices.Contains(notes, r.CounterNote) {
			notes = append(notes, r.CounterNote)
		}
	}
	return notes
}

// flagSet is labels that were built with the same flags.
type flagSet struct {
	text   string
	labels []string
}

func flagSets(builds []records.LabelBuild) []flagSet {
	var out []flagSet
	for _, b := range builds {
		if b.Status != records.BuildOK {
			continue
		}
		text := strings.Join(b.GuideFlags, " ")
		if len(b.AddedFlags) > 0 {
			text += "; added: " + strings.Join(b.AddedFlags, " ")
		}
		if len(b.DroppedFlags) > 0 {
			text += "; left out: " + strings.Join(b.DroppedFlags, " ")
		}
		i := slices.IndexFunc(out, func(f flagSet) bool { return f.text == text })
		if i < 0 {
			i, out = len(out), append(out, flagSet{text: text})
		}
		out[i].labels = append(out[i].labels, b.Label)
	}
	return out
}

func rootText(r records.Root) string {
	text := r.Kind
	if r.Commit != "" {
		text += ", commit " + r.Commit
	}
	if r.Dirty {
		text += ", with changes that are not committed"
	}
	return text
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return Absent
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}

// Command is the command line that repeats the run's choices.
func Command(d Data) string {
	o := d.Run.Options
	words := []string{"ngcc-bench", "run"}
	add := func(flag string, values []string) {
		if len(values) > 0 {
			words = append(words, flag, shellWord(strings.Join(values, ",")))
		}
	}
	add("--candidates", o.Candidates)
	add("--instances", o.Instances)
	add("--variants", o.Variants)
	var sizes []string
	for _, n := range o.Sizes {
		sizes = append(sizes, strconv.Itoa(n))
	}
	add("--sizes", sizes)
	if o.KAT != "" {
		add("--kat", []string{o.KAT})
	}
	if len(d.Records) > 0 {
		add("--cpu", []string{strconv.Itoa(o.CPU)})
	}
	if o.Counter != "" {
		add("--counter", []string{o.Counter})
	}
	if d.Run.System != "" {
		add("--system", []string{d.Run.System})
	}
	return strings.Join(words, " ")
}

// reproduce is how to repeat the run and where its evidence lies.
func reproduce(d Data) string {
	command := Command(d)
	if d.Build.Compiler.Command != "" {
		command = "CC=" + shellWord(d.Build.Compiler.Command) + " " + command
	}
	if d.Run.Root.Commit != "" {
		checkout := "git checkout " + shellWord(d.Run.Root.Commit)
		if d.Run.Root.Dirty {
			checkout += " # and changes that are not committed"
		}
		command = checkout + "\n" + command
	}
	return strings.Replace(fenced(command, records.RunFile), "text\n", "sh\n", 1) +
		"\nEvery figure follows from records/ in the run directory, every verdict from diff.json.\n"
}

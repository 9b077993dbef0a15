// Command evidence measures how far the side-by-side comparison can be trusted
// on this machine: how often it calls a change where there is none, and how
// often it sees one that is there. Run it from the repository's root:
//
//	go run ./bench/evidence -kind same -n 100 -out same.csv
//	go run ./bench/evidence -kind placebo -n 100 -out placebo.csv
//	go run ./bench/evidence -kind slower -percent 0.5 -n 100 -out slower.csv
//
// Every comparison is a line of the CSV file; the summary goes to standard
// output. docs/method.md says what the figures mean.
package main

import (
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/measure"
	"github.com/ngcc/bench-action/internal/records"
	"github.com/ngcc/bench-action/internal/sandbox"
	"github.com/ngcc/bench-action/internal/stats"
)

// experiment is what the flags say.
type experiment struct {
	kind    string
	n       int
	percent float64
	budget  time.Duration
	out     string
}

func main() {
	sandbox.Main()
	var e experiment
	flag.StringVar(&e.kind, "kind", "same", "same: each core against itself; placebo: against itself with code in front that never runs; slower: against itself with a known share more to do")
	flag.IntVar(&e.n, "n", 100, "runs")
	flag.Float64Var(&e.percent, "percent", 0.5, "slower: by how many percent")
	flag.DurationVar(&e.budget, "budget", time.Minute, "of one run")
	flag.StringVar(&e.out, "out", "", "CSV file to append to")
	flag.Parse()
	if err := run(context.Background(), e, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "evidence:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, e experiment, out io.Writer) error {
	work, err := os.MkdirTemp("", "ngcc-evidence-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	b, err := newBench(ctx, work)
	if err != nil {
		return err
	}
	unlock, err := driver.LockHost(ctx, func(pid int) { fmt.Fprintf(os.Stderr, "waiting: process %d is timing on this host\n", pid) })
	if err != nil {
		return err
	}
	defer unlock()
	if err := driver.StayOff(b.cpu); err != nil {
		return err
	}
	rows, err := openRows(e.out)
	if err != nil {
		return err
	}
	defer rows.close()
	var t tally
	for i := range e.n {
		cells, err := b.cells(ctx, e, i)
		if err != nil {
			return err
		}
		started := time.Now()
		cs, err := b.compare(ctx, e, i, cells)
		if err != nil {
			return err
		}
		t.add(cs, time.Since(started))
		if err := rows.write(e, i, cs); err != nil {
			return err
		}
	}
	t.print(out, e)
	return nil
}

// compare is one run of the comparison, in a run directory of its own.
func (b *bench) compare(ctx context.Context, e experiment, i int, cells []measure.PairCell) ([]records.Comparison, error) {
	dir, err := os.MkdirTemp(b.dir.Path, "run-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	p := measure.PairBench{
		Dir: records.Dir{Path: dir}, Runner: b.driver, CPU: b.cpu, Counter: "auto",
		Seed: uint64(time.Now().UnixNano()) >> 11, Budget: e.budget,
	}
	return p.Run(ctx, cells)
}

// tally counts what came of runs and cells.
type tally struct {
	runs, falseRuns, cells int
	verdicts               map[string]int
	perSize                map[int]map[string]int
	means                  map[int][]float64
	spent                  []float64
}

func (t *tally) add(cs []records.Comparison, spent time.Duration) {
	if t.verdicts == nil {
		t.verdicts, t.perSize, t.means = map[string]int{}, map[int]map[string]int{}, map[int][]float64{}
	}
	t.runs++
	t.spent = append(t.spent, spent.Seconds())
	called := false
	for _, c := range cs {
		t.cells++
		t.verdicts[c.Verdict]++
		if t.perSize[c.MessageBytes] == nil {
			t.perSize[c.MessageBytes] = map[string]int{}
		}
		t.perSize[c.MessageBytes][c.Verdict]++
		if c.Estimate != nil {
			t.means[c.MessageBytes] = append(t.means[c.MessageBytes], c.Estimate.Mean)
		}
		called = called || c.Verdict == "regression" || c.Verdict == "improvement"
	}
	if called {
		t.falseRuns++
	}
}

func (t *tally) print(out io.Writer, e experiment) {
	fmt.Fprintf(out, "%s: %d runs, %d cells, median %.1f s a run\n", e.kind, t.runs, t.cells, stats.Median(t.spent))
	if upper, err := stats.RateUpper(t.falseRuns, t.runs, 0.95); err == nil {
		fmt.Fprintf(out, "runs that called a regression or an improvement: %d of %d (95 %% upper bound %.1f %%)\n", t.falseRuns, t.runs, 100*upper)
	}
	fmt.Fprintf(out, "verdicts: %v\n", t.verdicts)
	for _, n := range sizes {
		ms := t.means[n]
		if len(ms) > 1 {
			fmt.Fprintf(out, "%6d B: %v, estimates %+.3f %% (standard deviation %.3f %%)\n", n, t.perSize[n], 100*stats.Mean(ms), 100*stats.StdDev(ms))
		}
	}
}

// rows appends comparisons to a CSV file.
type rows struct {
	f *os.File
	w *csv.Writer
}

func openRows(name string) (*rows, error) {
	if name == "" {
		return &rows{}, nil
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	r := &rows{f, csv.NewWriter(f)}
	info, err := f.Stat()
	if err == nil && info.Size() == 0 {
		err = r.w.Write([]string{"kind", "percent", "run", "cell", "verdict", "call", "processes", "ran", "ln_ratio", "lo", "hi", "quiet_share"})
	}
	return r, err
}

func (r *rows) write(e experiment, run int, cs []records.Comparison) error {
	if r.w == nil {
		return nil
	}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 8, 64) }
	for _, c := range cs {
		est := records.PairEstimate{Mean: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}
		if c.Estimate != nil {
			est = *c.Estimate
		}
		err := r.w.Write([]string{e.kind, number(e.percent), strconv.Itoa(run + 1), c.Key(), c.Verdict, c.Call, strconv.Itoa(est.N),
			strconv.Itoa(len(c.Processes)), number(est.Mean), number(est.Lo), number(est.Hi), number(c.QuietShare)})
		if err != nil {
			return err
		}
	}
	r.w.Flush()
	return r.w.Error()
}

func (r *rows) close() {
	if r.f != nil {
		r.f.Close()
	}
}

package report

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ngcc/bench-action/internal/compare"
	"github.com/ngcc/bench-action/internal/host"
	"github.com/ngcc/bench-action/internal/records"
)

var update = flag.Bool("update", false, "write golden files")

// digest is a made-up SHA-256 in hex.
func digest(n int) string { return strings.Repeat(string("0123456789abcdef"[n]), 64) }

func fingerprint() host.Fingerprint {
	return host.Fingerprint{
		Arch: "x86-64", CPUModel: "12th Gen Intel(R) Core(TM) i7-12700", CoreType: "cpu_core", Microcode: "0x38",
		Counter: host.CoreCycles, Compiler: "gcc 12.2.0", Libc: "glibc 2.36", Driver: digest(13),
		Clock: host.ClockPolicy{Policy: "fixed", KHz: 2_100_000},
	}
}

// fixture is a run of QILIN-512 and QILIN-768 at 32 and 1024 bytes with new code
// and unchanged figures, before its verdicts.
type fixture struct {
	Data
	catalogue []compare.Key
}

func (f *fixture) data(t *testing.T) Data {
	t.Helper()
	diff, err := compare.Against(compare.Input{
		Run: f.Run, Build: f.Build, Gates: f.Gates, Records: f.Records, Baselines: f.Baselines, Catalogue: f.catalogue,
	})
	if err != nil {
		t.Fatal(err)
	}
	d := f.Data
	d.Diff = *diff
	return d
}

// figure is the ticks a call of the fixture's cells.
var figure = map[string]map[int]float64{"QILIN-512": {32: 12690, 1024: 50200}, "QILIN-768": {32: 14700, 1024: 87400}}

func newFixture(t *testing.T) *fixture {
	start := time.Date(2026, 10, 2, 8, 0, 0, 0, time.UTC)
	f := &fixture{Data: Data{
		RunDir: "runs/20261002T080000Z",
		Run: records.Run{
			Schema: 1, Tool: records.Tool{Name: "ngcc-bench", Version: "1.0.0", Go: "go1.25.0"}, Started: start, Finished: start.Add(time.Minute),
			Options:     records.Options{Candidates: []string{"hash-23"}, Instances: []string{"QILIN-512", "QILIN-768"}, Variants: []string{"reference"}, Sizes: []int{32, 1024}, CPU: 2, Counter: "auto", KAT: "gate", Trials: 5},
			Root:        records.Root{Kind: "directory", Commit: strings.Repeat("5c", 20)},
			Fingerprint: fingerprint(),
			Host:        host.Facts{CPUModel: "12th Gen Intel(R) Core(TM) i7-12700", Arch: "x86-64", CPUs: 20, BenchCPU: 2, CoreType: "cpu_core", Microcode: "0x38", MinKHz: 2_100_000, MaxKHz: 2_100_000, Governor: "performance", MemoryKiB: 32 << 20, OS: "Debian GNU/Linux 13", Kernel: "6.12.0", Libc: "glibc 2.36"},
		},
		Build: records.Build{Schema: 1, Compiler: records.Compiler{Command: "gcc", Family: "gcc", Version: "gcc (Debian 12.2.0-14) 12.2.0", Target: "x86_64-linux-gnu", Arch: "x86-64", Linker: "GNU ld 2.40"}},
	}}
	base := compare.Baseline{
		Schema: 1, System: "bench_1", Origin: compare.OriginAccepted, Reason: "first figures", Date: "2026-10-01", Tool: "ngcc-bench 1.0.0",
		Commit: strings.Repeat("0a", 20), Fingerprint: fingerprint(), Counter: host.CoreCycles,
	}
	for i, name := range []string{"QILIN-512", "QILIN-768"} {
		f.Build.Labels = append(f.Build.Labels, records.LabelBuild{
			Candidate: "hash-23", Name: "QILIN", Instance: name, Variant: "reference", Label: name, Status: records.BuildOK,
			GuideFlags: []string{"-std=c99", "-O2"}, AddedFlags: []string{"-fPIC"}, CodeDigest: digest(8 + i),
		})
		f.Gates = append(f.Gates, records.Gate{Candidate: "hash-23", Label: name, CodeDigest: digest(8 + i), Result: records.GatePass})
		for _, n := range []int{32, 1024} {
			r := records.Record{
				Schema: 1, Candidate: "hash-23", Name: "QILIN", Instance: name, Variant: "reference", Label: name, MessageBytes: n,
				Status: records.RecordComplete, KAT: records.GatePass, CodeDigest: digest(8 + i),
				Counter: host.CoreCycles, Fingerprint: fingerprint(),
			}
			r.Operation = compare.KeyOf(r).Operation()
			f.Records = append(f.Records, r)
			f.time(t, len(f.Records)-1, 5, figure[name][n])
			base.Cells = append(base.Cells, compare.BaselineCell{
				Key: compare.KeyOf(r), Mean: figure[name][n] * 1.01, Low: figure[name][n], Spread: 0.004, Trials: 5, Code: digest(1 + i),
			})
		}
	}
	f.Baselines = []compare.Baseline{base}
	return f
}

// time gives record i trials whose low quantile is about ticks.
func (f *fixture) time(t *testing.T, i, trials int, ticks float64) {
	t.Helper()
	r := &f.Records[i]
	r.Trials = nil
	for k := range trials {
		x := ticks * (1 + 0.002*float64(k%2))
		r.Trials = append(r.Trials, records.Trial{
			CPU: 2, Calls: 2000, Batches: 100, Ticks: uint64(2020 * x), Nanoseconds: uint64(962 * x), Low: x, Median: 1.01 * x, High: 1.02 * x,
		})
	}
	sum, err := records.Summarise(r.MessageBytes, r.Trials)
	if err != nil {
		t.Fatal(err)
	}
	r.Summary = sum
}

// everywhere changes the fingerprint of the run and its records.
func (f *fixture) everywhere(change func(*host.Fingerprint)) {
	change(&f.Run.Fingerprint)
	for i := range f.Records {
		change(&f.Records[i].Fingerprint)
		f.Records[i].Counter = f.Records[i].Fingerprint.Counter
	}
}

// seeds are the baselines that the repository brings.
func seeds(t *testing.T) []compare.Baseline {
	t.Helper()
	b, err := compare.ReadBaselines(os.DirFS(filepath.Join("..", "..")))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var goldens = []struct {
	name   string
	change func(*testing.T, *fixture)
}{
	{"unchanged", func(*testing.T, *fixture) {}},
	{"suspect", func(t *testing.T, f *fixture) {
		f.time(t, 1, 5, 50200*1.041)
		f.time(t, 2, 5, 14700*0.93)
		f.Baselines[0].Cells[3].Code = f.Records[3].CodeDigest
	}},
	{"kat_failed", func(t *testing.T, f *fixture) {
		f.Gates[0].Result, f.Gates[0].Detail = "KAT mismatch", "KAT_2_12 row 3, message of 24 bits\nwant 9f86d0\ngot  000000"
		f.Records = f.Records[2:]
		f.Build.Labels[1].WritableBytes, f.Build.Labels[1].Writable = 16, []records.Writable{{Symbol: "last|<b>", Bytes: 16}}
	}},
	{"build_failed", func(t *testing.T, f *fixture) {
		f.Build.Labels[0].Status = records.BuildFailed
		f.Build.Labels[0].Error = "\x1b[1mqilin.c:4:2: error:\x1b[0m expected `;' before ```x```\n    4 | <script>alert(1)</script> | @team\n" + strings.Repeat("note\n", 30)
		f.Gates, f.Records = f.Gates[1:], f.Records[2:]
	}},
	{"compiler_differs", func(t *testing.T, f *fixture) {
		f.everywhere(func(fp *host.Fingerprint) { fp.Compiler = "clang 14.0.6" })
	}},
	{"published_differs", func(t *testing.T, f *fixture) { f.Baselines = seeds(t) }},
	{"unregistered", func(t *testing.T, f *fixture) {
		f.Baselines = seeds(t)
		f.everywhere(func(fp *host.Fingerprint) { fp.CPUModel, fp.Counter = "Intel(R) Xeon(R) Processor", host.TSC })
		for i := range f.Records {
			f.Records[i].CounterNote = "core cycles: the kernel shows no performance monitoring unit for CPU 2"
		}
	}},
	{"nothing_measured", func(t *testing.T, f *fixture) {
		for i := range f.Build.Labels {
			f.Build.Labels[i].Status, f.Build.Labels[i].Error = records.BuildNotRunnable, "needs avx512f, which this CPU lacks"
		}
		f.Gates, f.Records = nil, nil
	}},
	{"too_few_samples", func(t *testing.T, f *fixture) {
		f.time(t, 0, 2, 12690)
	}},
	{"new_removed_invalid", func(t *testing.T, f *fixture) {
		f.Baselines[0].Cells = f.Baselines[0].Cells[1:]
		f.Records[1].Status, f.Records[1].Error = records.RecordInvalid, "trial 2: the counter stood still: 0 ticks"
		f.Run.Options.Instances = nil
		f.catalogue = []compare.Key{compare.KeyOf(f.Records[0]), compare.KeyOf(f.Records[1]), compare.KeyOf(f.Records[2])}
		f.Build.Labels, f.Records = f.Build.Labels[:1], f.Records[:2]
	}},
}

// golden compares got with testdata/name; the actual output is left beside it
// on a mismatch.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err == nil && string(want) == got {
		_ = os.Remove(file + ".actual")
		return
	}
	if err := os.WriteFile(file+".actual", []byte(got), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Errorf("%s (-want +got; the actual output is in %s.actual):\n%s", file, file, cmp.Diff(string(want), got))
}

func TestReports(t *testing.T) {
	for _, g := range goldens {
		t.Run(g.name, func(t *testing.T) {
			f := newFixture(t)
			g.change(t, f)
			d := f.data(t)
			golden(t, g.name+".md", Markdown(d))
			golden(t, g.name+".txt", Terminal(d))
		})
	}
}

func render(t *testing.T, name string) (md, term string, d Data) {
	t.Helper()
	for _, g := range goldens {
		if g.name == name {
			f := newFixture(t)
			g.change(t, f)
			d = f.data(t)
			return Markdown(d), Terminal(d), d
		}
	}
	t.Fatalf("no golden %q", name)
	return "", "", Data{}
}

func TestTSCTicksAreNeverPrintedAsCycles(t *testing.T) {
	md, term, _ := render(t, "unregistered")
	if !strings.Contains(md, "| this machine (TSC ticks/byte) | arm_1 (cycles/byte) | x86_1 (cycles/byte) |") {
		t.Error("the units are not in the headers")
	}
	for _, line := range strings.Split(md+term, "\n") {
		withoutHead := strings.Contains(line, "arm_1 (cycles/byte)") || strings.Contains(line, "core cycles: the kernel")
		if strings.Contains(line, "cycles") && !withoutHead {
			t.Errorf("a line of a TSC run speaks of cycles: %s", line)
		}
	}
	if strings.Contains(md, "What changed") {
		t.Error("figures of different counters were put in a ratio")
	}
}

func TestTooFewSamplesIsNotPrintedAsNoDifference(t *testing.T) {
	md, term, _ := render(t, "too_few_samples")
	for _, out := range []string{md, term} {
		first, _, _ := strings.Cut(out, "\n")
		if !strings.Contains(first, "too few samples") || strings.Contains(first, "unchanged") {
			t.Errorf("headline: %s", first)
		}
		if !strings.Contains(out, "2 trials where 5 are needed") {
			t.Error("the reason is missing")
		}
	}
}

func TestReasonForNoComparisonIsStatedOnce(t *testing.T) {
	for _, name := range []string{"unregistered", "compiler_differs", "published_differs"} {
		md, term, d := render(t, name)
		if n := strings.Count(md, inline(d.Diff.Base.Reason)); n != 1 {
			t.Errorf("%s: the reason stands %d times", name, n)
		}
		if n := strings.Count(term, d.Diff.Base.Reason); n != 1 {
			t.Errorf("%s: on a terminal, the reason stands %d times", name, n)
		}
	}
}

package compare

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ngcc/bench-action/internal/host"
	"github.com/ngcc/bench-action/internal/records"
	"github.com/ngcc/bench-action/internal/stats"
)

// trials makes n trials of 1000 calls with ticks a call of low; wobble is the
// part by which alternate trials differ.
func trials(n int, low, wobble float64) []records.Trial {
	out := make([]records.Trial, n)
	for i := range out {
		x := low * (1 + wobble*float64(i%2))
		out[i] = records.Trial{
			CPU: 2, Calls: 1000, Batches: 100, Ticks: uint64(1010 * x), Nanoseconds: uint64(500 * x),
			Low: x, Median: x * 1.005, High: x * 1.02,
		}
	}
	return out
}

// record is a complete record of cell k with the code of small's.
func record(t testing.TB, k Key, code string, tr []records.Trial) records.Record {
	t.Helper()
	sum, err := records.Summarise(k.MessageBytes, tr)
	if err != nil {
		t.Fatal(err)
	}
	return records.Record{
		Schema: 1, Candidate: k.Candidate, Name: "QILIN", Instance: k.Label, Variant: "reference", Label: k.Label,
		Operation: k.Operation(), MessageBytes: k.MessageBytes, Status: records.RecordComplete, KAT: records.GatePass,
		CodeDigest: code, Counter: host.CoreCycles, Trials: tr, Summary: sum, Fingerprint: known86(),
	}
}

// input is a run of QILIN-512 at 32 and 1024 bytes on the system of small, with
// new code and the figures of small.
func input(t testing.TB) Input {
	return Input{
		Run: records.Run{
			Schema: 1, Tool: records.Tool{Name: "ngcc-bench", Version: "1.0.1"}, Fingerprint: known86(),
			Started: time.Date(2026, 10, 2, 0, 0, 0, 0, time.UTC),
			Options: records.Options{Candidates: []string{"hash-23"}, Instances: []string{"QILIN-512"}, Sizes: []int{32, 1024}},
		},
		Build: records.Build{Schema: 1, Labels: []records.LabelBuild{
			{Candidate: "hash-23", Instance: "QILIN-512", Label: "QILIN-512", Status: records.BuildOK, CodeDigest: digest(9)},
		}},
		Gates: []records.Gate{{Candidate: "hash-23", Label: "QILIN-512", CodeDigest: digest(9), Result: records.GatePass}},
		Records: []records.Record{
			record(t, key(t, "hash-23/QILIN-512/hash_32"), digest(9), trials(5, 12690.25, 0.001)),
			record(t, key(t, "hash-23/QILIN-512/hash_1024"), digest(9), trials(5, 50200, 0.001)),
		},
		Baselines: []Baseline{*small(t)},
	}
}

func against(t testing.TB, in Input) *Diff {
	t.Helper()
	d, err := Against(in)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// first is the cell of 32 bytes.
func first(t testing.TB, in Input) Cell {
	t.Helper()
	d := against(t, in)
	if len(d.Cells) != 2 || d.Cells[0].MessageBytes != 32 {
		t.Fatalf("cells: %+v", d.Cells)
	}
	return d.Cells[0]
}

// at gives the first record other trials.
func at(t testing.TB, in *Input, tr []records.Trial) {
	in.Records[0] = record(t, KeyOf(in.Records[0]), in.Records[0].CodeDigest, tr)
}

func TestCellVerdicts(t *testing.T) {
	const low = 12690.25
	tests := []struct {
		name   string
		change func(*Input)
		want   Verdict
		reason string
	}{
		{"equal figures", func(in *Input) {}, Unchanged, ""},
		{"slower within the floor's limit", func(in *Input) { at(t, in, trials(5, low*1.025, 0)) }, Unchanged, ""},
		{"slower beyond it", func(in *Input) { at(t, in, trials(5, low*1.032, 0.001)) }, Suspect, "no base was measured"},
		{"faster beyond it", func(in *Input) { at(t, in, trials(5, low*0.9, 0.001)) }, Unchanged, "faster than its stored spread; not confirmed"},
		{"too few trials", func(in *Input) { at(t, in, trials(2, low, 0.001)) }, TooFewSamples, "2 trials where 5 are needed"},
		{"too few trials, much slower", func(in *Input) { at(t, in, trials(2, low*2, 0.001)) }, TooFewSamples, "2 trials"},
		{"trials scatter", func(in *Input) { at(t, in, trials(5, low, 0.2)) }, TooFewSamples, "could not be seen"},
		{"trials scatter, twice as slow", func(in *Input) { at(t, in, trials(5, low*2, 0.05)) }, Suspect, "slower"},
		{"build failed", func(in *Input) {
			in.Build.Labels[0].Status, in.Build.Labels[0].Error = records.BuildFailed, "\nq.c:1: error: x\nmore"
		}, BuildFailed, "q.c:1: error: x"},
		{"not runnable", func(in *Input) {
			in.Build.Labels[0].Status, in.Build.Labels[0].Error = records.BuildNotRunnable, "needs avx2"
		}, NotRunnable, "needs avx2"},
		{"KAT mismatch", func(in *Input) { in.Gates[0].Result, in.Gates[0].Detail = "KAT mismatch", "message 3" }, KATFailed, "KAT mismatch: message 3"},
		{"gate not run", func(in *Input) { in.Gates = nil }, KATFailed, "the gate has not run"},
		{"gate of other code", func(in *Input) { in.Gates[0].CodeDigest = digest(8) }, KATFailed, "other code"},
		{"gate without a result", func(in *Input) { in.Gates[0].Result = "" }, KATFailed, "not known"},
		{"record says KAT failed", func(in *Input) { in.Records[0].KAT = "KAT mismatch" }, KATFailed, "the record says"},
		{"no record", func(in *Input) { in.Records = in.Records[1:] }, Invalid, "there is no record"},
		{"record of other code", func(in *Input) { in.Records[0].CodeDigest = digest(8) }, Invalid, "other code"},
		{"record invalid", func(in *Input) {
			in.Records[0].Status, in.Records[0].Error = records.RecordInvalid, "the clock stood still"
		}, Invalid, "the clock stood still"},
		{"record failed", func(in *Input) { in.Records[0].Status = records.RecordFailed }, Invalid, "the record is failed"},
		{"two counters in a record", func(in *Input) { in.Records[0].Counter = host.TSC }, Invalid, "counter is tsc and its fingerprint's core-cycles"},
		{"counter not known", func(in *Input) { in.Records[0].Counter = "" }, Invalid, `counter ""`},
		{"compiler differs", func(in *Input) { in.Records[0].Fingerprint.Compiler = "clang 14.0.6" }, Incomparable, "compiler: gcc 12.2.0 → clang 14.0.6"},
		{"cell not in the baseline", func(in *Input) { in.Baselines[0].Cells = in.Baselines[0].Cells[1:] }, New, "does not have this cell"},
	}
	for _, tt := range tests {
		in := input(t)
		tt.change(&in)
		c := first(t, in)
		if c.Verdict != tt.want || !strings.Contains(c.Reason, tt.reason) || (tt.reason == "" && c.Reason != "") {
			t.Errorf("%s: %s (%s), want %s (%s); ratio %v, limit %v", tt.name, c.Verdict, c.Reason, tt.want, tt.reason, c.Ratio, c.Limit)
		}
		judged := tt.want == Unchanged || tt.want == Suspect || tt.want == TooFewSamples
		if judged != (c.Ratio > 0) {
			t.Errorf("%s: ratio %v", tt.name, c.Ratio)
		}
	}
}

func TestFiguresThatCannotBeAreInvalidAndSayWhy(t *testing.T) {
	for _, bad := range []float64{0, -5, math.NaN(), math.Inf(1)} {
		for name, set := range map[string]func(*records.Summary){
			"mean_ticks": func(s *records.Summary) { s.MeanTicks = bad },
			"low_ticks":  func(s *records.Summary) { s.LowTicks = bad },
			"mean_ns":    func(s *records.Summary) { s.MeanNs = bad },
		} {
			in := input(t)
			set(in.Records[0].Summary)
			d := against(t, in)
			c := d.Cells[0]
			if c.Verdict != Invalid || !strings.HasPrefix(c.Reason, name+": not a usable figure") || c.Head != nil || c.Ratio != 0 {
				t.Errorf("%s %v: %+v", name, bad, c)
			}
			if d.Outcome.ExitCode(FailOnRegression) != ExitInvalid {
				t.Errorf("%s %v: exit %d", name, bad, d.Outcome.ExitCode(FailOnRegression))
			}
			if _, err := json.Marshal(d); err != nil {
				t.Errorf("%s %v: %v", name, bad, err)
			}
		}
	}
	in := input(t)
	in.Records[0].Summary.Spread = math.NaN()
	if c := first(t, in); c.Verdict != Invalid {
		t.Errorf("NaN spread passed as %s", c.Verdict)
	}
	in = input(t)
	in.Records[0].Trials[2].Ticks = 0
	if c := first(t, in); c.Verdict != Invalid || !strings.Contains(c.Reason, "0 ticks") {
		t.Errorf("a counter that stood still passed as %s (%s)", c.Verdict, c.Reason)
	}
}

func TestUnitsNeverMix(t *testing.T) {
	in := input(t)
	for i := range in.Records {
		in.Records[i].Counter, in.Records[i].Fingerprint.Counter = host.TSC, host.TSC
	}
	in.Run.Fingerprint.Counter = host.TSC
	d := against(t, in)
	for _, c := range d.Cells {
		if c.Verdict != Incomparable || c.Ratio != 0 || c.Base != nil || c.Reason != "counter: core-cycles → tsc" {
			t.Errorf("TSC ticks against core cycles: %+v", c)
		}
		if c.Head.Unit != "TSC ticks" {
			t.Errorf("TSC ticks are called %q", c.Head.Unit)
		}
	}
	counters := []host.Counter{host.CoreCycles, host.TSC, host.CNTVCT, host.Clock}
	for _, a := range counters {
		for _, b := range counters {
			_, err := lnRatio(Figure{Mean: 1, Counter: a}, Figure{Mean: 1, Counter: b}, StatisticMean)
			if (err == nil) != (a == b) {
				t.Errorf("ratio of %s and %s: error %v", a, b, err)
			}
		}
	}
}

func TestSameStatisticOnBothSides(t *testing.T) {
	in := input(t)
	c := first(t, in)
	if want := in.Records[0].Summary.LowTicks / 12690.25; c.Statistic != StatisticLow || c.Ratio != want {
		t.Errorf("low: %s %v, want %v", c.Statistic, c.Ratio, want)
	}
	in.Baselines[0].Cells[0].Low = 0
	c = first(t, in)
	if want := in.Records[0].Summary.MeanTicks / 12700.5; c.Statistic != StatisticMean || c.Ratio != want {
		t.Errorf("mean: %s %v, want %v", c.Statistic, c.Ratio, want)
	}
}

func TestMovedFiguresOfSameCodeAreDriftNotRegression(t *testing.T) {
	in := input(t)
	for i := range in.Baselines[0].Cells {
		in.Baselines[0].Cells[i].Code = digest(9)
	}
	in.Records[0] = record(t, KeyOf(in.Records[0]), digest(9), trials(5, 12690.25*1.21, 0))
	in.Records[1] = record(t, KeyOf(in.Records[1]), digest(9), trials(5, 50200, 0))
	d := against(t, in)
	if d.Outcome.Verdict != SameCode || d.Outcome.Conclusion != Success {
		t.Errorf("outcome %+v", d.Outcome)
	}
	if c := d.Cells[0]; !strings.Contains(c.Reason, "host drifted") || math.Abs(c.Ratio-1.21) > 1e-9 {
		t.Errorf("moved cell: %+v", c)
	}
	if d.Drift == nil || *d.Drift != (Drift{Cells: 2, Ratio: 1.1, Outside: 1}) { // sqrt(1.21·1)
		t.Errorf("drift = %+v, want 2 cells, 1.1, 1 outside", d.Drift)
	}
}

func TestLimitFollowsTheSpreads(t *testing.T) {
	th := DefaultThresholds
	tests := []struct{ sb, sh, want float64 }{
		{0.0001, 0.0001, 4 * 0.005 * math.Sqrt2}, // both floored
		{0.03, 0.04, 0.2},                        // 4 · 0.05
		{0, 0.005, 4 * math.Hypot(0.035, 0.005)}, // unknown is the worst seen, not zero
	}
	for _, tt := range tests {
		got := th.lnLimit(Figure{Spread: tt.sb, Trials: 5}, Figure{Spread: tt.sh, Trials: 5})
		if math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("limit of spreads %v and %v = %v, want %v", tt.sb, tt.sh, got, tt.want)
		}
	}
	th.SpreadFloor = 0.0001
	if got := th.lnLimit(Figure{Spread: 0.0001, Trials: 5}, Figure{Spread: 0.0001, Trials: 5}); got != math.Log1p(0.02) {
		t.Errorf("limit = %v, want at least the least effect", got)
	}
}

func TestRemovedCellsAreListedAndUnselectedOnesAreNot(t *testing.T) {
	in := input(t)
	in.Run.Options.Instances = nil
	in.Catalogue = []Key{key(t, "hash-23/QILIN-512/hash_32"), key(t, "hash-23/QILIN-512/hash_1024")}
	d := against(t, in)
	if d.Outcome.Of(Removed) != 1 || d.Cells[2].Verdict != Removed || d.Cells[2].Key.String() != "hash-23/QILIN-1024/hash_32" {
		t.Errorf("removed cell is not listed: %+v", d.Cells)
	}
	in.Catalogue = append(in.Catalogue, key(t, "hash-23/QILIN-1024/hash_32"))
	if d := against(t, in); d.Outcome.Of(Removed) != 0 {
		t.Error("a cell of the catalogue was called removed")
	}
	for name, narrow := range map[string]func(*records.Options){
		"candidate": func(o *records.Options) { o.Candidates = []string{"hash-10"} },
		"instance":  func(o *records.Options) { o.Instances = []string{"QILIN-512"} },
		"size":      func(o *records.Options) { o.Sizes = []int{1024} },
	} {
		in := input(t)
		in.Run.Options.Instances = nil
		in.Catalogue = []Key{key(t, "hash-23/QILIN-512/hash_1024")}
		in.Baselines[0].Cells = in.Baselines[0].Cells[2:]
		narrow(&in.Run.Options)
		if d := against(t, in); d.Outcome.Of(Removed) != 0 {
			t.Errorf("another %s was selected, and a cell was called removed", name)
		}
	}
}

func TestRunsWithNothingToCompareAreNeutralAndSaySo(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Input)
		kind   string
		reason string
		advice string
	}{
		{"first run", func(in *Input) { in.Baselines = nil }, BaseNone, "there is no baseline yet", "accept these figures"},
		{"unregistered machine", func(in *Input) { in.Run.Fingerprint.CPUModel = "Z80" }, BaseNone, "none of the registered systems (bench_1)", "accept these figures"},
		{"named system without baseline", func(in *Input) { in.Run.System = "x86_9" }, BaseNone, "system x86_9 has no baseline yet", "accept"},
		{"compiler", func(in *Input) {
			in.Run.Fingerprint.Compiler = "clang 14.0.6"
			for i := range in.Records {
				in.Records[i].Fingerprint.Compiler = "clang 14.0.6"
			}
		}, BaseStored, "compiler: gcc 12.2.0 → clang 14.0.6", "measure as the baseline was measured"},
	}
	for _, tt := range tests {
		in := input(t)
		tt.change(&in)
		d := against(t, in)
		if d.Base.Kind != tt.kind || d.Base.Comparable || !strings.Contains(d.Base.Reason, tt.reason) || !strings.Contains(d.Advice, tt.advice) {
			t.Errorf("%s: base %+v, advice %q", tt.name, d.Base, d.Advice)
		}
		for _, c := range d.Cells {
			if c.Verdict != Incomparable || c.Reason != d.Base.Reason || c.Ratio != 0 {
				t.Errorf("%s: %+v", tt.name, c)
			}
		}
		if o := d.Outcome; o.Conclusion != Neutral || o.ExitCode(FailOnRegression) != 0 || o.ExitCode(FailOnIncomparable) != 1 {
			t.Errorf("%s: outcome %+v", tt.name, o)
		}
	}
}

func TestDigestDoesNotDependOnFileOrder(t *testing.T) {
	a, b := input(t), input(t)
	b.Records[0], b.Records[1] = b.Records[1], b.Records[0]
	if against(t, a).Inputs != against(t, b).Inputs {
		t.Error("another order of records gives another digest")
	}
	b.Baselines[0].Cells[0].Mean++
	if against(t, a).Inputs == against(t, b).Inputs {
		t.Error("another baseline gives the same digest")
	}
}

func TestDiffReadsBack(t *testing.T) {
	data, err := json.Marshal(against(t, input(t)))
	if err != nil {
		t.Fatal(err)
	}
	var back Diff
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	again, _ := json.Marshal(back)
	if string(again) != string(data) {
		t.Errorf("read back:\n%s\nwant\n%s", again, data)
	}
}

func TestRecordsThatCannotBeTold(t *testing.T) {
	in := input(t)
	in.Records = append(in.Records, in.Records[0])
	if _, err := Against(in); err == nil || !strings.Contains(err.Error(), "two records of hash-23/QILIN-512/hash_32") {
		t.Errorf("two records of a cell: %v", err)
	}
	in = input(t)
	in.Build.Labels[0].Label = "../x"
	if _, err := Against(in); err == nil {
		t.Error("a label that is no name was taken")
	}
	if err := stats.CheckFigure(DefaultThresholds.MinEffect); err != nil {
		t.Error(err)
	}
}

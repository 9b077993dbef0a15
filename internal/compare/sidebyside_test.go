package compare

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ngcc/bench-action/internal/host"
	"github.com/ngcc/bench-action/internal/records"
)

// comparison is one of QILIN-512 with a verdict, head at the given ratio.
func comparison(bytes int, verdict, call string, ratio float64) records.Comparison {
	k := Key{"hash-23", "QILIN-512", bytes}
	ln := math.Log(ratio)
	c := records.Comparison{
		Schema: 1, Candidate: "hash-23", Name: "QILIN", Instance: "QILIN-512", Variant: "reference", Label: "QILIN-512",
		Operation: k.Operation(), MessageBytes: bytes, Verdict: verdict, Call: call, Reason: "as measured", Final: true,
		Base: records.ComparedSide{CodeDigest: digest(8)}, Head: records.ComparedSide{CodeDigest: digest(9)},
		Settings: records.PairSettings{Cells: 2}, Counter: host.TSC, QuietShare: 0.75,
		Estimate:   &records.PairEstimate{N: 6, Mean: ln, SD: 0.001, Lo: ln - 0.001, Hi: ln + 0.001, Level: 0.95},
		BaseFigure: &records.PairFigure{TicksPerByte: 10, NsPerByte: 5, Instructions: 1000},
		HeadFigure: &records.PairFigure{TicksPerByte: 10 * ratio, NsPerByte: 5 * ratio, Instructions: 1010},
		Processes:  []records.PairProcess{{Order: 1, Blocks: 100, Quiet: 75}},
	}
	if call != "" {
		c.Placement = &records.Placement{Complete: true, Lo: -0.002, Hi: 0.001}
		c.Confirmation = &records.Confirmation{Complete: true, Estimate: &records.PairEstimate{N: 6, Mean: ln, Lo: ln - 0.01, Hi: ln + 0.01, Level: 0.99}}
	}
	return c
}

// besides is a run of QILIN-512 whose code changed against the base's, without
// records of its own.
func besides(t testing.TB) (Input, SideBySide) {
	in := input(t)
	in.Records = nil
	return in, SideBySide{
		Description: Base{Commit: strings.Repeat("c", 40)},
		Build: records.Build{Schema: 1, Labels: []records.LabelBuild{
			{Candidate: "hash-23", Instance: "QILIN-512", Label: "QILIN-512", Status: records.BuildOK, CodeDigest: digest(8)},
		}},
		Gates:       []records.Gate{{Candidate: "hash-23", Label: "QILIN-512", CodeDigest: digest(8), Result: records.GatePass}},
		Comparisons: []records.Comparison{comparison(32, "regression", "slower", 1.05), comparison(1024, "unchanged", "", 1.0005)},
	}
}

func TestBesides(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Input, *SideBySide)
		want   Verdict
		reason string
	}{
		{"regression", func(*Input, *SideBySide) {}, Regression, "as measured"},
		{"improvement", func(_ *Input, s *SideBySide) { s.Comparisons[0] = comparison(32, "improvement", "faster", 0.9) }, Improvement, "as measured"},
		{"too few", func(_ *Input, s *SideBySide) { s.Comparisons[0] = comparison(32, "too few samples", "", 1.01) }, TooFewSamples, "as measured"},
		{"placement", func(_ *Input, s *SideBySide) { s.Comparisons[0] = comparison(32, "placement", "slower", 1.01) }, Placement, "as measured"},
		{"invalid", func(_ *Input, s *SideBySide) { s.Comparisons[0] = comparison(32, "invalid", "", 1.01) }, Invalid, "as measured"},
		{"unfinished", func(_ *Input, s *SideBySide) { s.Comparisons[0] = comparison(32, "", "", 1.01) }, TooFewSamples, "run again to go on"},
		{"no comparison", func(_ *Input, s *SideBySide) { s.Comparisons = s.Comparisons[1:] }, Invalid, "no comparison"},
		{"two comparisons", func(_ *Input, s *SideBySide) { s.Comparisons[1] = s.Comparisons[0] }, Invalid, "two comparisons"},
		{"other code", func(_ *Input, s *SideBySide) { s.Comparisons[0].Head.CodeDigest = digest(7) }, Invalid, "other code"},
		{"a word that nobody defined", func(_ *Input, s *SideBySide) { s.Comparisons[0].Verdict = "fine" }, Invalid, "cannot be right"},
		{"regression without its checks", func(_ *Input, s *SideBySide) { s.Comparisons[0].Placement = nil }, Invalid, "cannot be right"},
		{"same code", func(in *Input, s *SideBySide) { s.Build.Labels[0].CodeDigest = digest(9) }, SameCode, ""},
		{"same code, no gate", func(in *Input, s *SideBySide) { s.Build.Labels[0].CodeDigest, in.Gates = digest(9), nil }, SameCode, ""},
		{"same code, gate failed", func(in *Input, s *SideBySide) {
			s.Build.Labels[0].CodeDigest, in.Gates[0].Result = digest(9), "KAT mismatch"
		}, KATFailed, "KAT mismatch"},
		{"other code, no gate", func(in *Input, _ *SideBySide) { in.Gates = nil }, KATFailed, "has not run"},
		{"new", func(_ *Input, s *SideBySide) { s.Build.Labels = nil }, New, "the base does not have this label"},
		{"renamed", func(_ *Input, s *SideBySide) {
			s.Build.Labels[0].Label, s.Build.Labels[0].CodeDigest = "QILIN-500", digest(9)
		}, SameCode, "renamed: the base has this code as hash-23/QILIN-500"},
		{"base not built", func(_ *Input, s *SideBySide) {
			s.Build.Labels[0].Status, s.Build.Labels[0].Error, s.Build.Labels[0].CodeDigest = records.BuildFailed, "x.c:1: no", ""
		}, Incomparable, "could not be built: x.c:1: no"},
		{"base wrong", func(_ *Input, s *SideBySide) { s.Gates[0].Result = "KAT mismatch" }, Incomparable, "fails its own gate: KAT mismatch"},
		{"base not gated", func(_ *Input, s *SideBySide) { s.Gates = nil }, Incomparable, "has not been through"},
		{"head wrong", func(in *Input, _ *SideBySide) { in.Gates[0].Result = "KAT mismatch" }, KATFailed, "KAT mismatch"},
	} {
		in, s := besides(t)
		tt.change(&in, &s)
		d, err := Besides(in, s)
		if err != nil {
			t.Fatal(err)
		}
		c := d.Cells[0]
		if c.MessageBytes != 32 || c.Verdict != tt.want || !strings.Contains(c.Reason, tt.reason) || tt.reason == "" && c.Reason != "" {
			t.Errorf("%s: %s (%s), want %s (%s)", tt.name, c.Verdict, c.Reason, tt.want, tt.reason)
		}
		if _, err := json.Marshal(d); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestBesidesShowsTheEvidence(t *testing.T) {
	in, s := besides(t)
	d, err := Besides(in, s)
	if err != nil {
		t.Fatal(err)
	}
	c := d.Cells[0]
	want := &Beside{Processes: 6, Ran: 1, Lo: 1.048951, Hi: 1.051051, QuietShare: 0.75, Instructions: &Change{1000, 1010}, // 1.05·e^∓0.001
		Placement: &Between{0.998002, 1.001001}, Separate: &Between{1.039552, 1.060553}, File: "pairs/hash-23/QILIN-512__hash_32.json"}
	if diff := cmp.Diff(want, c.Beside); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c.Ratio != 1.05 || c.Statistic != StatisticQuiet || c.Base.Of(c.Statistic) != 320 || c.Head.Of(c.Statistic) != 336 || c.Head.Unit != "TSC ticks" {
		t.Errorf("%+v, base %+v, head %+v", c, c.Base, c.Head)
	}
	if d.Base.Kind != BaseBeside || !d.Base.Comparable || d.Outcome.Measured != 2 || d.Outcome.Compared != 2 || d.Outcome.ExitCode(FailOnRegression) != ExitRegression {
		t.Errorf("%+v, %+v", d.Base, d.Outcome)
	}
	s.Comparisons[0].QuietShare = 0.5
	if again, _ := Besides(in, s); again.Inputs == d.Inputs {
		t.Error("another comparison leaves the inputs as they are")
	}
}

// Whatever a stored baseline says, the base that was measured decides.
func TestStoredBaselineOnlyInforms(t *testing.T) {
	for _, low := range []float64{6000, 12690.25, 30000} {
		in, s := besides(t)
		in.Records = input(t).Records
		at(t, &in, trials(5, low, 0.001))
		d, err := Besides(in, s)
		if err != nil {
			t.Fatal(err)
		}
		if c := d.Cells[0]; c.Verdict != Regression || c.Ratio != 1.05 || math.Abs(c.Beside.StoredRatio-low/12690.25) > 1e-3 {
			t.Errorf("low of %v: %s, ratio %v, stored %v", low, c.Verdict, c.Ratio, c.Beside.StoredRatio)
		}
	}
}

// Sentinels: unchanged code against a baseline of that code is the host's drift.
func TestBesidesReportsDrift(t *testing.T) {
	in, s := besides(t)
	in.Records = input(t).Records
	at(t, &in, trials(5, 12690.25*1.2, 0.001))
	s.Build.Labels[0].CodeDigest, s.Comparisons = digest(9), nil
	for i := range in.Baselines[0].Cells {
		in.Baselines[0].Cells[i].Code = digest(9)
	}
	d, err := Besides(in, s)
	if err != nil {
		t.Fatal(err)
	}
	if d.Drift == nil || d.Drift.Cells != 2 || d.Drift.Outside != 1 || d.Outcome.Verdict != SameCode || d.Outcome.Conclusion != Success {
		t.Errorf("drift %+v, %+v", d.Drift, d.Outcome)
	}
}

// A pull request that touches documentation builds nothing; what left the
// catalogue is listed.
func TestBesidesWithoutBuilds(t *testing.T) {
	in, s := besides(t)
	in.Build.Labels, in.Gates, s.Comparisons = nil, nil, nil
	s.Same = []string{"hash-23/QILIN-512", "hash-23/QILIN-512"}
	s.Build.Labels[0].Label = "QILIN-512-avx2"
	in.Catalogue = []Key{key(t, "hash-23/QILIN-512/hash_32"), key(t, "hash-23/QILIN-512/hash_1024")}
	d, err := Besides(in, s)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Verdict{}
	for _, c := range d.Cells {
		got[c.Key.String()] = c.Verdict
	}
	want := map[string]Verdict{
		"hash-23/QILIN-512/hash_32": SameCode, "hash-23/QILIN-512/hash_1024": SameCode,
		"hash-23/QILIN-512-avx2/hash_32": Removed, "hash-23/QILIN-512-avx2/hash_1024": Removed,
	}
	if diff := cmp.Diff(want, got); diff != "" || d.Outcome.ExitCode(FailOnRegression) != ExitOK {
		t.Errorf("exit %d (-want +got):\n%s", d.Outcome.ExitCode(FailOnRegression), diff)
	}
}

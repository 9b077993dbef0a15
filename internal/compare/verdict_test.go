package compare

import "testing"

// The table of spec/comparison.md, "The verdicts, worst first", typed off row
// by row: exit code by default, then with --fail-on incomparable, kat, never.
func TestVerdictTableIsThatOfTheSpec(t *testing.T) {
	rows := []struct {
		verdict                              Verdict
		regression, incomparable, kat, never int
		conclusion                           Conclusion
	}{
		{"build failed", 3, 3, 3, 0, "failure"},
		{"KAT failed", 3, 3, 3, 0, "failure"},
		{"invalid", 4, 4, 4, 0, "failure"},
		{"regression", 1, 1, 0, 0, "failure"},
		{"suspect", 0, 0, 0, 0, "neutral"},
		{"too few samples", 0, 0, 0, 0, "neutral"},
		{"incomparable", 0, 1, 0, 0, "neutral"},
		{"removed", 0, 0, 0, 0, "success"},
		{"new", 0, 0, 0, 0, "success"},
		{"placement", 0, 0, 0, 0, "success"},
		{"improvement", 0, 0, 0, 0, "success"},
		{"not runnable here", 0, 0, 0, 0, "success"},
		{"unchanged", 0, 0, 0, 0, "success"},
		{"same code", 0, 0, 0, 0, "success"},
	}
	if len(rows) != len(Verdicts()) {
		t.Fatalf("%d verdicts, the spec has %d", len(Verdicts()), len(rows))
	}
	for i, r := range rows {
		if got := Verdicts()[i]; got != r.verdict {
			t.Errorf("verdict %d is %q, want %q", i, got, r.verdict)
		}
		for failOn, want := range map[FailOn]int{
			FailOnRegression: r.regression, FailOnIncomparable: r.incomparable, FailOnKAT: r.kat, FailOnNever: r.never,
		} {
			if got := ExitCode(r.verdict, failOn); got != want {
				t.Errorf("ExitCode(%q, %s) = %d, want %d", r.verdict, failOn, got, want)
			}
		}
		if got := ConclusionOf(r.verdict); got != r.conclusion {
			t.Errorf("ConclusionOf(%q) = %s, want %s", r.verdict, got, r.conclusion)
		}
		// Whatever else is in the run, its verdict is the worst.
		for _, milder := range rows[i:] {
			if o := NewOutcome([]Verdict{milder.verdict, r.verdict}, 2); o.Verdict != r.verdict {
				t.Errorf("run of %q and %q is %q", milder.verdict, r.verdict, o.Verdict)
			}
		}
	}
}

func TestExitCodeIsNeverZeroWhenARegressionIsPrinted(t *testing.T) {
	for _, other := range Verdicts() {
		o := NewOutcome([]Verdict{SameCode, Regression, other}, 3)
		if o.ExitCode(FailOnRegression) == 0 || o.Conclusion != Failure {
			t.Errorf("regression beside %q: exit %d, %s", other, o.ExitCode(FailOnRegression), o.Conclusion)
		}
	}
}

func TestUnknownVerdictNeverPasses(t *testing.T) {
	o := NewOutcome([]Verdict{Unchanged, "fine"}, 2)
	if o.Verdict != "fine" || o.ExitCode(FailOnRegression) != ExitInvalid || o.Conclusion != Failure {
		t.Errorf("unknown verdict: %+v, exit %d", o, o.ExitCode(FailOnRegression))
	}
}

func TestRunOutcome(t *testing.T) {
	tests := []struct {
		name       string
		verdicts   []Verdict
		measured   int
		failOn     FailOn
		exit       int
		conclusion Conclusion
	}{
		{"incomparable fails under a suspect cell", []Verdict{Suspect, Incomparable}, 2, FailOnIncomparable, 1, Neutral},
		{"first run is neutral, not green", []Verdict{New, New}, 2, FailOnRegression, 0, Neutral},
		{"all incomparable is neutral", []Verdict{Incomparable}, 1, FailOnRegression, 0, Neutral},
		{"new beside compared is green", []Verdict{New, Unchanged}, 2, FailOnRegression, 0, Success},
		{"nothing selected measures nothing", nil, 0, FailOnRegression, 4, Failure},
		{"nothing runnable measures nothing", []Verdict{NotRunnable}, 0, FailOnRegression, 4, Failure},
		{"nothing runnable under kat", []Verdict{NotRunnable}, 0, FailOnKAT, 4, Failure},
		{"nothing runnable under never", []Verdict{NotRunnable}, 0, FailOnNever, 0, Failure},
		{"all KAT failed is 3, not 4", []Verdict{KATFailed}, 0, FailOnRegression, 3, Failure},
		{"same code need not be timed", []Verdict{SameCode}, 0, FailOnRegression, 0, Success},
		{"KAT failure is not hidden by others", []Verdict{Unchanged, KATFailed}, 1, FailOnKAT, 3, Failure},
		{"regression passes under kat", []Verdict{Regression}, 1, FailOnKAT, 0, Failure},
	}
	for _, tt := range tests {
		o := NewOutcome(tt.verdicts, tt.measured)
		if got := o.ExitCode(tt.failOn); got != tt.exit {
			t.Errorf("%s: exit %d, want %d", tt.name, got, tt.exit)
		}
		if o.Conclusion != tt.conclusion {
			t.Errorf("%s: conclusion %s, want %s", tt.name, o.Conclusion, tt.conclusion)
		}
	}
}

func TestParseFailOn(t *testing.T) {
	if f, err := ParseFailOn(""); f != FailOnRegression || err != nil {
		t.Errorf("default = %q, %v", f, err)
	}
	if _, err := ParseFailOn("always"); err == nil {
		t.Error("an unknown value was accepted")
	}
}

package compare

import "fmt"

// Verdict is what a cell got. The words are those of the table in
// spec/comparison.md, "The verdicts, worst first".
type Verdict string

// The verdicts, worst first.
const (
	BuildFailed   Verdict = "build failed"
	KATFailed     Verdict = "KAT failed"
	Invalid       Verdict = "invalid"
	Regression    Verdict = "regression"
	Suspect       Verdict = "suspect"
	TooFewSamples Verdict = "too few samples"
	Incomparable  Verdict = "incomparable"
	Removed       Verdict = "removed"
	New           Verdict = "new"
	Placement     Verdict = "placement"
	Improvement   Verdict = "improvement"
	NotRunnable   Verdict = "not runnable here"
	Unchanged     Verdict = "unchanged"
	SameCode      Verdict = "same code"
)

// Conclusion is the conclusion of a check run, in GitHub's words.
type Conclusion string

// The conclusions that verdicts lead to.
const (
	Failure Conclusion = "failure"
	Neutral Conclusion = "neutral"
	Success Conclusion = "success"
)

// Exit codes of the program. Wrong use is for cmd to return; the rest follow
// from verdicts. (`go run` turns every failing code into 1.)
const (
	ExitOK           = 0
	ExitRegression   = 1
	ExitWrongUse     = 2
	ExitWrongCode    = 3 // build failed, KAT failed
	ExitInvalid      = 4 // invalid, or nothing could be measured
	exitIncomparable = 1 // with --fail-on incomparable
)

// row is one row of the table. compared says that a cell with this verdict was
// held against something.
type row struct {
	verdict    Verdict
	exit       int
	conclusion Conclusion
	compared   bool
}

// table is the one list, worst first. A verdict's place is its severity.
var table = []row{
	{BuildFailed, ExitWrongCode, Failure, false},
	{KATFailed, ExitWrongCode, Failure, false},
	{Invalid, ExitInvalid, Failure, false},
	{Regression, ExitRegression, Failure, true},
	{Suspect, ExitOK, Neutral, true},
	{TooFewSamples, ExitOK, Neutral, true},
	{Incomparable, ExitOK, Neutral, false},
	{Removed, ExitOK, Success, false},
	{New, ExitOK, Success, false},
	{Placement, ExitOK, Success, true},
	{Improvement, ExitOK, Success, true},
	{NotRunnable, ExitOK, Success, false},
	{Unchanged, ExitOK, Success, true},
	{SameCode, ExitOK, Success, true},
}

// Verdicts lists all verdicts, worst first.
func Verdicts() []Verdict {
	all := make([]Verdict, len(table))
	for i, r := range table {
		all[i] = r.verdict
	}
	return all
}

// find is v's row. An unknown verdict is as bad as an invalid one: a word that
// nobody defined must not pass.
func find(v Verdict) row {
	for _, r := range table {
		if r.verdict == v {
			return r
		}
	}
	return row{v, ExitInvalid, Failure, false}
}

// FailOn says which verdicts make the program's exit code nonzero.
type FailOn string

// The values of --fail-on.
const (
	FailOnRegression   FailOn = "regression"   // the table as it stands; the default
	FailOnIncomparable FailOn = "incomparable" // the table, and 1 for incomparable
	FailOnKAT          FailOn = "kat"          // only wrong code (3) and invalid figures (4)
	FailOnNever        FailOn = "never"        // nothing but wrong use
)

// ParseFailOn reads the value of --fail-on; empty is the default.
func ParseFailOn(s string) (FailOn, error) {
	switch f := FailOn(s); f {
	case "":
		return FailOnRegression, nil
	case FailOnRegression, FailOnIncomparable, FailOnKAT, FailOnNever:
		return f, nil
	}
	return "", fmt.Errorf("fail-on %q is not known: use regression, incomparable, kat or never", s)
}

// ExitCode is the exit code that a cell with verdict v asks for.
func ExitCode(v Verdict, failOn FailOn) int {
	code := find(v).exit
	switch {
	case failOn == FailOnNever:
		return ExitOK
	case failOn == FailOnKAT && code != ExitWrongCode && code != ExitInvalid:
		return ExitOK
	case failOn == FailOnIncomparable && v == Incomparable:
		return exitIncomparable
	}
	return code
}

// ConclusionOf is the check conclusion of a cell with verdict v.
func ConclusionOf(v Verdict) Conclusion { return find(v).conclusion }

// Count is how many cells got one verdict.
type Count struct {
	Verdict Verdict `json:"verdict"`
	Cells   int     `json:"cells"`
}

// Outcome is what a run got: its worst cell's verdict, and enough to say when
// that verdict is not the whole story.
type Outcome struct {
	Verdict    Verdict    `json:"verdict,omitempty" jsonschema:"description=worst cell's verdict; absent when there was no cell"`
	Conclusion Conclusion `json:"conclusion" jsonschema:"enum=failure,enum=neutral,enum=success"`
	Cells      int        `json:"cells"`
	Measured   int        `json:"measured" jsonschema:"description=cells with a valid figure of this run"`
	Compared   int        `json:"compared" jsonschema:"description=cells held against a base"`
	Counts     []Count    `json:"counts" jsonschema:"description=verdicts that occurred, worst first"`
}

// NewOutcome counts verdicts. measured is the number of cells with a valid
// figure.
func NewOutcome(verdicts []Verdict, measured int) Outcome {
	n := map[Verdict]int{}
	o := Outcome{Cells: len(verdicts), Measured: measured, Counts: []Count{}}
	for _, v := range verdicts {
		n[v]++
		if find(v).compared {
			o.Compared++
		}
	}
	for _, v := range Verdicts() {
		if n[v] > 0 {
			o.Counts = append(o.Counts, Count{v, n[v]})
			delete(n, v)
		}
	}
	for v, cells := range n { // words outside the table
		o.Counts = append([]Count{{v, cells}}, o.Counts...)
	}
	if len(o.Counts) > 0 {
		o.Verdict = o.Counts[0].Verdict
	}
	o.Conclusion = o.conclude()
	return o
}

// NothingMeasured says that the run has no figure at all and compared nothing
// (cells of unchanged code may be compared without being timed).
func (o Outcome) NothingMeasured() bool { return o.Measured == 0 && o.Compared == 0 }

// NothingCompared says that figures were taken and none was held against
// anything.
func (o Outcome) NothingCompared() bool { return o.Compared == 0 }

// Of is how many cells got v.
func (o Outcome) Of(v Verdict) int {
	for _, c := range o.Counts {
		if c.Verdict == v {
			return c.Cells
		}
	}
	return 0
}

func (o Outcome) conclude() Conclusion {
	worst := Success
	if o.Cells > 0 {
		worst = ConclusionOf(o.Verdict)
	}
	switch {
	case worst == Failure || o.NothingMeasured():
		return Failure
	case o.NothingCompared():
		return Neutral
	}
	return worst
}

// ExitCode is the run's exit code: that of its worst cell that fails under
// failOn, and ExitInvalid where nothing could be measured. Cells are asked one
// by one, so that an incomparable cell counts although a suspect one is worse.
func (o Outcome) ExitCode(failOn FailOn) int {
	for _, c := range o.Counts {
		if code := ExitCode(c.Verdict, failOn); code != ExitOK {
			return code
		}
	}
	if o.NothingMeasured() && failOn != FailOnNever {
		return ExitInvalid
	}
	return ExitOK
}

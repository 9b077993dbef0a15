package records

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func trials() []Trial {
	return []Trial{
		{Calls: 100, Ticks: 200_000, Nanoseconds: 100_000, Low: 1900, Median: 2000, High: 2200, BaselineRSS: 10, PeakRSS: 30, Instructions: 500},
		{Calls: 300, Ticks: 620_000, Nanoseconds: 300_000, Low: 2000, Median: 2050, High: 2300, BaselineRSS: 20, PeakRSS: 25, Instructions: 1500},
		{Calls: 100, Ticks: 180_000, Nanoseconds: 100_000, Low: 1800, Median: 1850, High: 1900, BaselineRSS: 15, PeakRSS: 20, Instructions: 500},
	}
}

// By hand: 1,000,000 ticks over 500 calls of 1000 bytes; sd of ln(1900, 2000,
// 1800) = 0.0526863 by the two-pass formula.
func TestSummarise(t *testing.T) {
	got, err := Summarise(1000, trials())
	if err != nil {
		t.Fatal(err)
	}
	want := &Summary{Calls: 500, MeanTicks: 2000, MeanNs: 1000, TicksPerByte: 2, MBPerSecond: 1000, LowTicks: 1900, LowPerByte: 1.9,
		Spread: 0.0526863, Instructions: 5, BaselineRSS: 20, PeakRSS: 30}
	if math.Abs(got.Spread-want.Spread) > 1e-6 {
		t.Errorf("spread %v, want %v", got.Spread, want.Spread)
	}
	got.Spread = want.Spread
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A counter that was not permitted prints 0, on ARM every speed was nan: both
// are errors here, never figures.
func TestSummariseRefuses(t *testing.T) {
	for name, change := range map[string]func(*Trial){
		"0 ticks":         func(t *Trial) { t.Ticks = 0 },
		"no calls":        func(t *Trial) { t.Calls = 0 },
		"0 ns":            func(t *Trial) { t.Nanoseconds = 0 },
		"NaN":             func(t *Trial) { t.Low = math.NaN() },
		"+Inf":            func(t *Trial) { t.High = math.Inf(1) },
		"-1 ticks a call": func(t *Trial) { t.Median = -1 },
	} {
		ts := trials()
		change(&ts[1])
		if _, err := Summarise(1000, ts); err == nil || !strings.Contains(err.Error(), "trial 2: ") || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Summarise(1000, nil); err == nil {
		t.Error("no trials pass")
	}
}

func record(t *testing.T) *Record {
	t.Helper()
	s, err := Summarise(1000, trials())
	if err != nil {
		t.Fatal(err)
	}
	return &Record{Schema: 1, Candidate: "hash-99", Label: "TOY", Operation: "hash_1000", MessageBytes: 1000,
		Status: RecordComplete, Trials: trials(), Summary: s}
}

func TestCheckNamesTheFieldThatIsWrong(t *testing.T) {
	if err := record(t).Check(); err != nil {
		t.Fatal(err)
	}
	for field, change := range map[string]func(*Summary){
		"calls":          func(s *Summary) { s.Calls++ },
		"mean_ticks":     func(s *Summary) { s.MeanTicks *= 1.001 },
		"low_per_byte":   func(s *Summary) { s.LowPerByte = 0 },
		"spread":         func(s *Summary) { s.Spread = math.NaN() },
		"peak_rss_bytes": func(s *Summary) { s.PeakRSS++ },
	} {
		r := record(t)
		change(r.Summary)
		if err := r.Check(); err == nil || !strings.Contains(err.Error(), "summary."+field+" ") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestReadJSON(t *testing.T) {
	d := Dir{t.TempDir()}
	var r Record
	if err := d.ReadJSON("x.json", &r); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if err := d.WriteJSON("a/x.json", record(t)); err != nil {
		t.Fatal(err)
	}
	if err := d.ReadJSON("a/x.json", &r); err != nil {
		t.Error(err)
	}
	if d := cmp.Diff(record(t), &r); d != "" {
		t.Errorf("(-written +read):\n%s", d)
	}
	// A file that cannot be read is an error, never an empty one.
	for text, want := range map[string]string{
		"":                               "damaged",
		`{"schema": 1, "trials"`:         "damaged",
		`{"schema": 2}`:                  "schema 2; this program reads schemas 1 to 1",
		`{}`:                             "schema missing",
		`{"schema": 1, "status": "odd"}`: `status: "odd"`,
	} {
		if err := d.Write("b.json", []byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := d.ReadJSON("b.json", &r); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "b.json") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestCreateSweepsAndLocks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	d, unlock, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Create(dir); err == nil || !strings.Contains(err.Error(), "in use by another ngcc-bench") {
		t.Errorf("second one at once: %v", err)
	}
	for _, name := range []string{RunFile, "records/a.json", ".git/HEAD", "records/.keep"} {
		if err := d.Write(name, []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"records/.a.json1234567", "build/.stage-1/x.c"} {
		if err := os.MkdirAll(filepath.Dir(d.Abs(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(d.Abs(name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	unlock()
	_, unlock, err = Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	for _, name := range []string{"records/.a.json1234567", "build/.stage-1"} {
		if _, err := os.Stat(d.Abs(name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	for _, name := range []string{"records/a.json", ".git/HEAD", "records/.keep"} {
		if _, err := os.Stat(d.Abs(name)); err != nil {
			t.Error(err)
		}
	}
}

// --out . in a checkout must not touch it.
func TestCreateRefusesOtherFolders(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Create(dir); err == nil || !strings.Contains(err.Error(), "holds other files (.git) and is no run directory") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".git")); err != nil {
		t.Error(err)
	}
}

// No two lists of parts have the same digest.
func TestDigest(t *testing.T) {
	if Digest("ab", "c") == Digest("a", "bc") || Digest("a") == Digest("a", "") {
		t.Error("parts run into each other")
	}
}

func FuzzUnmarshalRecord(f *testing.F) {
	s, err := Summarise(1000, trials())
	if err != nil {
		f.Fatal(err)
	}
	data, err := Marshal(&Record{Schema: 1, MessageBytes: 1000, Status: RecordComplete, Trials: trials(), Summary: s})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"schema":1,"status":"complete","message_bytes":8,"trials":[{"calls":1}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var r Record
		if Unmarshal("f", data, &r) != nil {
			return
		}
		if err := r.Check(); err != nil {
			t.Errorf("read, and wrong: %v", err)
		}
		if _, err := Marshal(&r); err != nil {
			t.Errorf("cannot be written again: %v", err)
		}
	})
}

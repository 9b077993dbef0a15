package compare

import (
	"bytes"
	"encoding/csv"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ngcc/bench-action/internal/host"
	"github.com/ngcc/bench-action/internal/stats"
)

var update = flag.Bool("update", false, "write golden files and the seed baselines")

// readCSV reads a file whose lines beginning with # are comments.
func readCSV(t *testing.T, file string) [][]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return rows
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func key(t testing.TB, s string) Key {
	t.Helper()
	k, err := ParseKey(s)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// seedARM is arm_1 with its cells computed from the campaign's trials. What the
// guide does not say of the system (microcode, libc, driver, core type) is empty.
func seedARM(t *testing.T) *Baseline {
	b := &Baseline{
		Schema: BaselineSchema, System: "arm_1", Origin: OriginPublished, Date: "2026-09-29",
		Precision: "full: from the trials' totals; low quantiles were not recorded, so spread is that of the trials' means",
		Reason:    "figures published for arm_1, campaign of 2026-09-28 and 29",
		Fingerprint: host.Fingerprint{
			Arch: "aarch64", CPUModel: "Qualcomm Oryon", Counter: host.CoreCycles, Compiler: "gcc 15.2.0",
			Clock: host.ClockPolicy{Policy: "fixed", KHz: 2_710_000},
		},
		Counter: host.CoreCycles,
	}
	for _, row := range readCSV(t, "testdata/arm_1_trials.csv") {
		calls, cycles := number(t, row[1]), 0.0
		var logs []float64
		for _, field := range row[2:7] {
			c := number(t, field)
			cycles += c
			logs = append(logs, math.Log(c/calls))
		}
		b.Cells = append(b.Cells, BaselineCell{
			Key: key(t, row[0]), Mean: cycles / (5 * calls), Spread: RoundSpread(stats.StdDev(logs)), Trials: 5,
		})
	}
	return b
}

// printedCycles reads a printed mean: "2014", "15.1 k", "3.12 M".
func printedCycles(t *testing.T, s string) float64 {
	digits, suffix, _ := strings.Cut(s, " ")
	exponent, ok := map[string]string{"": "", "k": "e3", "M": "e6", "G": "e9"}[suffix]
	if !ok {
		t.Fatalf("printed cycles %q", s)
	}
	return number(t, digits+exponent)
}

// seedX86 is x86_1 with its cells as printed. Its performance core is cpu_core,
// the kernel's word.
func seedX86(t *testing.T) *Baseline {
	b := &Baseline{
		Schema: BaselineSchema, System: "x86_1", Origin: OriginPublished,
		Precision: "as printed, three or four significant digits; trials were not published, so no spread is known",
		Reason:    "figures published for x86_1",
		Fingerprint: host.Fingerprint{
			Arch: "x86-64", CPUModel: "Intel Core i7-12700", CoreType: "cpu_core", Counter: host.CoreCycles,
			Compiler: "gcc 14.2.0", Clock: host.ClockPolicy{Policy: "fixed", KHz: 2_100_000},
		},
		Counter: host.CoreCycles,
	}
	for _, row := range readCSV(t, "testdata/x86_1_printed.csv") {
		var total, trials, calls int
		if _, err := fmt.Sscanf(row[2], "%d (%d × %d)", &total, &trials, &calls); err != nil || total != trials*calls {
			t.Fatalf("n %q: %v", row[2], err)
		}
		b.Cells = append(b.Cells, BaselineCell{
			Key: key(t, row[0]), Mean: printedCycles(t, row[1]), Trials: trials, Note: "printed " + row[1],
		})
	}
	return b
}

// The seed baselines must be what the published figures say, to the last digit;
// -update writes them from testdata, which is transcribed from the published
// campaign (arm_1_trials.csv, and the table of x86_1).
func TestSeedBaselinesFollowFromPublishedFigures(t *testing.T) {
	for _, seed := range []*Baseline{seedARM(t), seedX86(t)} {
		file := filepath.Join("..", "..", "baseline", seed.System+".json")
		want, err := seed.Format()
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), string(got)); d != "" {
			t.Errorf("%s does not follow from testdata (-want +file):\n%s", file, d)
		}
		b, err := ParseBaseline(file, got)
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Cells) != 96 {
			t.Errorf("%s has %d cells, want 96 (12 instances, 8 sizes)", file, len(b.Cells))
		}
		if again, err := b.Format(); err != nil || !bytes.Equal(again, got) {
			t.Errorf("%s: parse and format do not give the same bytes: %v", file, err)
		}
		if len(Unknown(b.Fingerprint)) == 0 {
			t.Errorf("%s: a published system's fingerprint cannot be fully known", file)
		}
	}
}

// Some cells worked by hand, so that the seed is not only proved by itself.
func TestSeedBaselinesAgainstFiguresReadByHand(t *testing.T) {
	root := os.DirFS(filepath.Join("..", ".."))
	baselines, err := ReadBaselines(root)
	if err != nil || len(baselines) != 2 {
		t.Fatalf("ReadBaselines = %d baselines, %v", len(baselines), err)
	}
	arm, _ := baselines[0].Cell(key(t, "hash-10/FEILIAN512/hash_32"))
	if arm.Mean != 2322.54353 { // arm_1_records.csv, mean_cycles
		t.Errorf("arm_1 FEILIAN512 hash_32 = %v, want 2322.54353", arm.Mean)
	}
	x86, _ := baselines[1].Cell(key(t, "hash-23/QILIN-1024/hash_65536"))
	if x86.Mean != 7_960_000 || x86.Note != "printed 7.96 M" || x86.Spread != 0 {
		t.Errorf("x86_1 QILIN-1024 hash_65536 = %+v", x86)
	}
}

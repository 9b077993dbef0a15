package report

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"testing"
)

func readCSV(t *testing.T, file string) [][]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	r.FieldsPerRecord = -1
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

// All 96 × 5 cells of the published table of arm_1 follow from its trials. Both
// files are transcribed from the published campaign.
func TestPublishedTableFollowsFromItsTrials(t *testing.T) {
	trials := readCSV(t, "../compare/testdata/arm_1_trials.csv")
	printed := readCSV(t, "testdata/arm_1_printed.csv")
	if len(trials) != 96 || len(printed) != 96 {
		t.Fatalf("%d cells of trials, %d printed, want 96", len(trials), len(printed))
	}
	for i, row := range trials {
		want := printed[i]
		if row[0] != want[0] {
			t.Fatalf("row %d: trials of %s, printed %s", i, row[0], want[0])
		}
		bytes, err := strconv.Atoi(row[0][len(row[0])-len(digitsAtEnd(row[0])):])
		if err != nil {
			t.Fatal(err)
		}
		calls, cycles, seconds := number(t, row[1]), 0.0, 0.0
		var n []uint64
		for j := range 5 {
			cycles += number(t, row[2+j])
			seconds += number(t, row[7+j])
			n = append(n, uint64(calls))
		}
		mean, time := cycles/(5*calls), seconds/(5*calls)
		got := []string{row[0], Ticks(mean), PerByte(mean, bytes), Seconds(time), MBPerSecond(bytes, time), N(n)}
		for j := range want {
			if got[j] != want[j] {
				t.Errorf("%s, column %d: %q, printed %q", row[0], j, got[j], want[j])
			}
		}
	}
}

func digitsAtEnd(s string) string {
	i := len(s)
	for i > 0 && s[i-1] >= '0' && s[i-1] <= '9' {
		i--
	}
	return s[i:]
}

// Cases beside the thresholds, by the rules of published/README.md.
func TestFormatsAtTheirThresholds(t *testing.T) {
	tests := []struct{ got, want string }{
		{Ticks(9999.4), "9999"}, {Ticks(9999.6), "10000"}, {Ticks(1e4), "10.0 k"}, {Ticks(13000), "13.0 k"},
		{Ticks(999_999), "1000.0 k"}, {Ticks(1e6), "1.00 M"}, {Ticks(2e6), "2.00 M"}, {Ticks(999_999_999), "1000.00 M"},
		{Ticks(1e9), "1.00 G"}, {Ticks(0.4), "0"},
		{Seconds(1.2e-3), "1.2 ms"}, {Seconds(24e-6), "24 µs"}, {Seconds(999.6e-9), "1000 ns"}, {Seconds(1), "1 s"},
		{Seconds(0.9996), "1000 ms"}, {Seconds(100e-9), "100 ns"}, {Seconds(1.005), "1 s"}, {Seconds(12.34), "12.3 s"},
		{Seconds(0.25e-9), "0.25 ns"},
		{PerByte(128, 32), "4.0"}, {MBPerSecond(32, 1e-6), "32.0"},
		{N([]uint64{20000, 20000}), "40000 (2 × 20000)"}, {N([]uint64{3, 4}), "7 (2 trials)"}, {N(nil), Absent},
		{KiB(2047), "1 KiB"}, {KiB(1433600), "1400 KiB"}, {MiB(30562 << 20), "30562 MiB"}, {KiB(0), Absent},
		{Ratio(1.0412), "1.0412 (+4.12 %)"}, {Ratio(0.5), "0.5000 (-50.00 %)"},
		{Percent(0.0035), "0.35 %"}, {Percent(0.123), "12 %"}, {Percent(0.00001), "< 0.01 %"},
	}
	for i, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("case %d: %q, want %q", i, tt.got, tt.want)
		}
	}
}

func TestNoFigureIsNeverPrintedAsNanOrZeroCycles(t *testing.T) {
	for _, x := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		for name, got := range map[string]string{
			"Ticks": Ticks(x), "PerByte": PerByte(x, 32), "Seconds": Seconds(x), "MBPerSecond": MBPerSecond(32, x),
			"Ratio": Ratio(x), "Percent": Percent(x),
		} {
			if got != Absent {
				t.Errorf("%s(%v) = %q, want %q", name, x, got, Absent)
			}
		}
	}
}

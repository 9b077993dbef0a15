package compare

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// small is a baseline in which everything is known, with two cells.
func small(t testing.TB) *Baseline {
	return &Baseline{
		Schema: 1, System: "bench_1", Origin: OriginAccepted, Reason: "first figures", Date: "2026-10-01",
		Commit: strings.Repeat("0a", 20), Tool: "ngcc-bench 1.0.0", Fingerprint: known86(), Counter: known86().Counter,
		Cells: []BaselineCell{
			{Key: key(t, "hash-23/QILIN-512/hash_32"), Mean: 12700.5, Low: 12690.25, Spread: 0.004, Trials: 5, Code: digest(1)},
			{Key: key(t, "hash-23/QILIN-512/hash_1024"), Mean: 50300, Low: 50200, Spread: 0.004, Trials: 5, Code: digest(1)},
			{Key: key(t, "hash-23/QILIN-1024/hash_32"), Mean: 16800, Low: 16790, Spread: 0.004, Trials: 5, Code: digest(2)},
		},
	}
}

// digest is a made-up SHA-256 in hex.
func digest(n byte) string { return strings.Repeat(string("0123456789abcdef"[n]), 64) }

func format(t testing.TB, b *Baseline) []byte {
	t.Helper()
	data, err := b.Format()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestParseErrorsSayWhere(t *testing.T) {
	good := string(format(t, small(t)))
	tests := []struct{ name, old, new, want string }{
		{"zero mean", `"mean":50300`, `"mean":0`, "f.json:26:5: hash-23/QILIN-512/hash_1024: mean: not a usable figure: zero"},
		{"negative low", `"low":50200`, `"low":-1`, "f.json:26:5: hash-23/QILIN-512/hash_1024: low: not a usable figure: negative (-1)"},
		{"NaN", `"mean":50300`, `"mean":NaN`, "f.json:26:49: invalid character 'N'"},
		{"infinite", `"mean":50300`, `"mean":1e999`, "f.json:26:53: cells.mean cannot be number 1e999"},
		{"text for number", `"mean":50300`, `"mean":"x"`, "f.json:26:51: cells.mean cannot be string"},
		{"unknown field", `"trials":5,"code":"1111`, `"trails":5,"code":"1111`, `unknown field "trails"`},
		{"field twice", `"mean":50300`, `"mean":50300,"mean":50300`, "f.json:26:56: not as this program writes it"},
		{"case of a field", `"schema"`, `"Schema"`, "f.json:2:4: not as this program writes it"},
		{"number in another form", `"mean":50300`, `"mean":50300.0`, "f.json:26:54: not as"},
		{"bad key", `QILIN-512/hash_1024`, `QILIN-512/1024`, "f.json:26:12: key"},
		{"cell twice", `QILIN-512/hash_1024`, `QILIN-512/hash_32`, "f.json:26:5: hash-23/QILIN-512/hash_32 after hash-23/QILIN-512/hash_32"},
		{"out of order", `QILIN-512/hash_1024`, `QILIN-512/hash_8`, "cells are in natural order"},
		{"newer schema", `"schema": 1`, `"schema": 2`, "schema 2 is newer than this program's 1: update the program"},
		{"schema zero", `"schema": 1`, `"schema": 0`, "schema 0 is not known"},
		{"two counters", `"counter": "core-cycles",` + "\n  \"cells\"", `"counter": "tsc",` + "\n  \"cells\"", "counter tsc and the fingerprint's \"core-cycles\" differ"},
		{"no reason", `"reason": "first figures"`, `"reason": " "`, "reason is empty"},
		{"bad date", `"date": "2026-10-01"`, `"date": "1.10.2026"`, "YYYY-MM-DD"},
		{"no trials", `"trials":5`, `"trials":0`, "0 trials"},
		{"negative spread", `"spread":0.004`, `"spread":-1`, "spread -1"},
		{"short code digest", `"code":"1`, `"code":"`, "is not a SHA-256"},
		{"direction characters", "first figures", "first \u202e figures", "unprintable character U+202E"},
		{"cut off", "]\n}\n", "", "ends too soon"},
		{"text behind", "]\n}\n", "]\n}\n{}", "text after the baseline"},
	}
	for _, tt := range tests {
		if !strings.Contains(good, tt.old) {
			t.Fatalf("%s: the file does not have %q:\n%s", tt.name, tt.old, good)
		}
		_, err := ParseBaseline("f.json", []byte(strings.Replace(good, tt.old, tt.new, 1)))
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "f.json:") {
			t.Errorf("%s: error %v\nwant %s", tt.name, err, tt.want)
		}
	}
}

func TestLineEndsOfACheckoutDoNotMatter(t *testing.T) {
	good := format(t, small(t))
	b, err := ParseBaseline("f.json", bytes.ReplaceAll(good, []byte("\n"), []byte("\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(format(t, b), good) {
		t.Error("CRLF changed the baseline")
	}
}

func TestOneCellOneLine(t *testing.T) {
	b := small(t)
	before := strings.Split(string(format(t, b)), "\n")
	b.Cells[1].Mean++
	after := strings.Split(string(format(t, b)), "\n")
	changed := 0
	for i := range before {
		if before[i] != after[i] {
			changed++
		}
	}
	if len(before) != len(after) || changed != 1 {
		t.Errorf("one changed cell changed %d lines", changed)
	}
}

func TestFigureThatCannotBeIsNeverWritten(t *testing.T) {
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		b := small(t)
		b.Cells[0].Mean = bad
		if _, err := b.Format(); err == nil {
			t.Errorf("mean %v was written", bad)
		}
	}
}

func TestHugeFileIsRefused(t *testing.T) {
	fsys := fstest.MapFS{"baseline/x.json": {Data: bytes.Repeat([]byte(" "), 3*MaxBaselineBytes)}}
	if _, err := ReadBaselines(fsys); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("error = %v", err)
	}
}

func TestUnreadableBaselineIsNotAnEmptyOne(t *testing.T) {
	good := format(t, small(t))
	for name, data := range map[string][]byte{"empty": {}, "half": good[:len(good)/2], "binary": {0, 1, 2}} {
		fsys := fstest.MapFS{"baseline/bench_1.json": {Data: data}}
		if got, err := ReadBaselines(fsys); err == nil {
			t.Errorf("%s file read as %v", name, got)
		}
		file := filepath.Join(t.TempDir(), "bench_1.json")
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
		for _, old := range []*Baseline{nil, small(t)} {
			if err := WriteBaseline(file, old, small(t)); err == nil {
				t.Errorf("%s file was overwritten", name)
			}
		}
		if still, _ := os.ReadFile(file); !bytes.Equal(still, data) {
			t.Errorf("%s file was changed", name)
		}
	}
	if got, err := ReadBaselines(fstest.MapFS{}); got != nil || err != nil {
		t.Errorf("a root without baselines: %v, %v", got, err)
	}
	wrongName := fstest.MapFS{"baseline/bench_2.json": {Data: good}}
	if _, err := ReadBaselines(wrongName); err == nil || !strings.Contains(err.Error(), "bench_1.json") {
		t.Errorf("file under another system's name: %v", err)
	}
}

func TestWriteDoesNotLoseWhatAnotherWroteMeanwhile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bench_1.json")
	old := small(t)
	if err := WriteBaseline(file, nil, old); err != nil {
		t.Fatal(err)
	}
	other, mine := small(t), small(t)
	other.Cells[0].Mean, mine.Cells[1].Mean = 1, 2
	if err := WriteBaseline(file, old, other); err != nil {
		t.Fatal(err)
	}
	if err := WriteBaseline(file, old, mine); err == nil || !strings.Contains(err.Error(), "changed since it was read") {
		t.Errorf("the other's figures were lost: %v", err)
	}
	if got, _ := os.ReadFile(file); !bytes.Equal(got, format(t, other)) {
		t.Error("the file is not what the other wrote")
	}
}

func FuzzParseBaseline(f *testing.F) {
	f.Add(format(f, small(f)))
	f.Add([]byte(`{"schema":1,"cells":[{"key":"a/b/hash_1","mean":1e3,"trials":1}]}`))
	f.Add([]byte("{\"schema\": 1,\r\n \"system\": \"\\u0061\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := ParseBaseline("f.json", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.json:") {
				t.Errorf("error without its file: %v", err)
			}
			return
		}
		out := format(t, b)
		if offset, differ := firstDifference(data, out); differ {
			t.Errorf("accepted text is not what is written, from byte %d", offset)
		}
		again, err := ParseBaseline("f.json", out)
		if err != nil {
			t.Fatalf("does not read what it wrote: %v", err)
		}
		if !bytes.Equal(format(t, again), out) {
			t.Error("writing twice gives other bytes")
		}
	})
}

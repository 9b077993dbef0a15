package compare

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ngcc/bench-action/internal/records"
)

func keys(ks []Key) string {
	var s []string
	for _, k := range ks {
		s = append(s, k.String())
	}
	return strings.Join(s, " ")
}

func TestAcceptKeepsComparableCellsThatWereNotMeasured(t *testing.T) {
	in, old := input(t), small(t)
	before := format(t, old)
	in.Run.Fingerprint.Clock.KHz = 2_119_000
	got, err := Accept(old, in.Run, in.Records[:1], nil, Acceptance{Reason: "faster S-box", Commit: strings.Repeat("1", 40)})
	if err != nil {
		t.Fatal(err)
	}
	if keys(got.Replaced) != "hash-23/QILIN-512/hash_32" || keys(got.Kept) != "hash-23/QILIN-512/hash_1024 hash-23/QILIN-1024/hash_32" ||
		got.Dropped != nil || got.Added != nil {
		t.Errorf("%+v", got)
	}
	b := got.Baseline
	if b.Cells[0].Code != digest(9) || b.Cells[1].Code != digest(1) || b.Date != "2026-10-02" || b.Tool != "ngcc-bench 1.0.1" {
		t.Errorf("baseline %+v", b)
	}
	if b.Fingerprint.Clock.KHz != old.Fingerprint.Clock.KHz {
		t.Error("the clock's tolerance creeps from acceptance to acceptance")
	}
	if !bytes.Equal(format(t, old), before) {
		t.Error("the old baseline was changed")
	}
	if _, err := ParseBaseline("b", format(t, b)); err != nil {
		t.Errorf("what was accepted cannot be read: %v", err)
	}
}

func TestAcceptUnderAnotherFingerprintListsWhatItDrops(t *testing.T) {
	in := input(t)
	in.Run.Fingerprint.Compiler = "clang 14.0.6"
	for i := range in.Records {
		in.Records[i].Fingerprint.Compiler = "clang 14.0.6"
	}
	got, err := Accept(small(t), in.Run, in.Records, nil, Acceptance{Reason: "new compiler"})
	if err != nil {
		t.Fatal(err)
	}
	if keys(got.Dropped) != "hash-23/QILIN-1024/hash_32" || got.Kept != nil || len(got.Baseline.Cells) != 2 {
		t.Errorf("%+v", got)
	}
	if d := cmp.Diff(in.Run.Fingerprint, got.Baseline.Fingerprint); d != "" {
		t.Errorf("fingerprint (-run +baseline):\n%s", d)
	}
}

func TestAcceptDropsWhatTheCatalogueNoLongerHas(t *testing.T) {
	in := input(t)
	got, err := Accept(small(t), in.Run, in.Records, []Key{KeyOf(in.Records[0]), KeyOf(in.Records[1])}, Acceptance{Reason: "r"})
	if err != nil || keys(got.Dropped) != "hash-23/QILIN-1024/hash_32" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAcceptedRunIsThenUnchanged(t *testing.T) {
	in := input(t)
	got, err := Accept(nil, in.Run, in.Records, nil, Acceptance{System: "bench_9", Reason: "first"})
	if err != nil || keys(got.Added) != "hash-23/QILIN-512/hash_32 hash-23/QILIN-512/hash_1024" {
		t.Fatalf("%+v, %v", got, err)
	}
	in.Baselines = []Baseline{*got.Baseline}
	d := against(t, in)
	if d.System != "bench_9" || d.Outcome.Of(SameCode) != 2 || d.Drift.Ratio != 1 {
		t.Errorf("%+v, %+v", d.Outcome, d.Drift)
	}
}

func TestAcceptRefuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Input, *Acceptance)
		want   string
	}{
		{"no reason", func(_ *Input, a *Acceptance) { a.Reason = " " }, "a reason is needed"},
		{"another system", func(_ *Input, a *Acceptance) { a.System = "other" }, "not that of the baseline"},
		{"unknown microcode", func(in *Input, _ *Acceptance) { in.Run.Fingerprint.Microcode = "" }, "microcode not known on this machine"},
		{"bad commit", func(_ *Input, a *Acceptance) { a.Commit = "main" }, "not a full commit id"},
		{"nothing complete", func(in *Input, _ *Acceptance) {
			for i := range in.Records {
				in.Records[i].Status = records.RecordFailed
			}
		}, "no acceptable figure"},
		{"KAT failed", func(in *Input, _ *Acceptance) {
			for i := range in.Records {
				in.Records[i].KAT = "KAT mismatch"
			}
		}, "KAT mismatch"},
		{"no records", func(in *Input, _ *Acceptance) { in.Records = nil }, "measure first"},
		{"records of another machine", func(in *Input, _ *Acceptance) { in.Run.Fingerprint.Libc = "musl 1.2" }, "measured otherwise than the run: libc"},
		{"two records of a cell", func(in *Input, _ *Acceptance) { in.Records[1] = in.Records[0] }, "two records"},
	}
	for _, tt := range tests {
		in, a := input(t), Acceptance{Reason: "r"}
		tt.change(&in, &a)
		if got, err := Accept(small(t), in.Run, in.Records, nil, a); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %+v, error %v, want %q", tt.name, got, err, tt.want)
		}
	}
}

func TestAcceptSaysWhichCellsItCouldNotTake(t *testing.T) {
	in := input(t)
	in.Records[0].Status, in.Records[0].Error = records.RecordInvalid, "the clock stood still"
	got, err := Accept(small(t), in.Run, in.Records, nil, Acceptance{Reason: "r"})
	if err != nil || len(got.Refused) != 1 || got.Refused[0] != "hash-23/QILIN-512/hash_32: the clock stood still" {
		t.Errorf("%+v, %v", got, err)
	}
	if c, _ := got.Baseline.Cell(KeyOf(in.Records[0])); c.Mean != 12700.5 {
		t.Error("the refused cell did not keep its figure")
	}
}

package measure

import (
	"bytes"
	"compress/gzip"
	"context"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ngcc/bench-action/internal/records"
)

func TestRecomputeNamesWhatWasTampered(t *testing.T) {
	m := newMachineWith(29, "head/TOY-0", math.Log(1.01))
	b := pairBench(t, m, 29)
	cs := runPairs(t, b, pairCells(2))
	for name, c := range map[string]struct {
		change func(c *records.Comparison)
		want   string
	}{
		"y":         {func(c *records.Comparison) { c.Processes[2].Y += 1e-5 }, "processes[2].y"},
		"p":         {func(c *records.Comparison) { c.Looks[0].SlowerP *= 2 }, "looks[0].slower_p"},
		"level":     {func(c *records.Comparison) { c.Looks[0].Level *= 1.01 }, "looks[0].level"},
		"pad":       {func(c *records.Comparison) { c.Placement.Base[3].LnRatio += 0.001 }, "placement.base[3].ln_ratio"},
		"interval":  {func(c *records.Comparison) { c.Confirmation.Estimate.Hi += 0.001 }, "confirmation.estimate.hi"},
		"reason":    {func(c *records.Comparison) { c.Reason = "trust me" }, "reason"},
		"unchanged": {func(c *records.Comparison) { c.Verdict, c.Call, c.Looks[0].Call = "unchanged", "", "" }, "verdict"},
	} {
		tampered := make([]records.Comparison, 2)
		for i := range tampered {
			if err := b.Dir.ReadJSON(records.PairFileName(cs[i].Candidate, cs[i].Label, 1024), &tampered[i]); err != nil {
				t.Fatal(err)
			}
		}
		c.change(&tampered[0])
		rs, err := Recompute(b.Dir, tampered)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if text := strings.Join(rs[0].Differs, "\n"); !strings.Contains(text, c.want+": ") || rs[0].Verdict != "regression" || len(rs[1].Differs) > 0 {
			t.Errorf("%s: %s, differs in %q", name, rs[0].Verdict, text)
		}
	}
	if _, err := Recompute(b.Dir, cs[:1]); err == nil || !strings.Contains(err.Error(), "all are needed") {
		t.Errorf("a part of the run: %v", err)
	}
	file := b.Dir.Abs(cs[0].Blocks)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Recompute(b.Dir, cs); err == nil || !strings.Contains(err.Error(), "blocks_digest") {
		t.Errorf("other blocks: %v", err)
	}
	// A run does not build upon it either.
	before := m.processes
	if again := runPairs(t, b, pairCells(2)); again[0].Verdict != "regression" || m.processes == before {
		t.Errorf("after damage: %s, %d new processes", again[0].Verdict, m.processes-before)
	}
}

func TestSettingsAreChecked(t *testing.T) {
	b := pairBench(t, newMachine(1), 1)
	b.MinEffect = 1.5
	if _, err := b.Run(context.Background(), pairCells(1)); err == nil || !strings.Contains(err.Error(), "smallest effect 1.5") {
		t.Errorf("error %v", err)
	}
	if got := resolutionFloor(5000); math.Abs(got-2.886751e-5) > 1e-10 { // 1/10000/√12
		t.Errorf("resolution floor %v", got)
	}
	seen := map[int]bool{}
	for _, pad := range pairBench(t, nil, 4).pads(pairCells(1)[0]) {
		if pad < 16 || pad > 4080 || pad%16 != 0 || seen[pad] {
			t.Errorf("pad %d", pad)
		}
		seen[pad] = true
	}
}

func FuzzPairBlocks(f *testing.F) {
	pack := func(text string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write([]byte(text))
		_ = z.Close()
		return b.Bytes()
	}
	head := strings.Join(blockColumns, ",") + "\n"
	f.Add(head + "1,A,1,2,3,4,5,6,7,8,9,10\n2,,1,0,0,0,5,0,0,0,9,10\n")
	f.Add(head + "1,B,18446744073709551615,2,3,4,5,6,7,8,9,x\n")
	f.Fuzz(func(t *testing.T, text string) {
		blocks, err := parseBlocks(bytes.NewReader(pack(text)))
		if err != nil {
			return
		}
		c := &pairCell{blocks: blocks}
		data, err := c.formatBlocks()
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseBlocks(bytes.NewReader(data))
		if err != nil || cmp.Diff(blocks, again) != "" {
			t.Errorf("read again: %v\n%s", err, cmp.Diff(blocks, again))
		}
	})
}

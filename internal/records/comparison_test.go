package records

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func called() *Comparison {
	return &Comparison{
		Schema: 1, Candidate: "hash-99", Label: "TOY", Operation: "hash_1024", MessageBytes: 1024, Verdict: "regression", Call: "slower",
		Settings: PairSettings{Cells: 3}, Index: 2, QuietShare: 0.8, Estimate: &PairEstimate{N: 6, Mean: 0.01, Lo: 0.009, Hi: 0.011},
		Processes: []PairProcess{{Order: 1, Blocks: 100, Quiet: 90}, {Order: 4, Blocks: 100, Quiet: 30}},
		Looks:     []PairLook{{Look: 6}, {Look: 12}},
		Placement: &Placement{Complete: true, Base: []PadRatio{{Pad: 16, Processes: []PairProcess{{Order: 5}}}}},
		Confirmation: &Confirmation{Complete: true, Pairs: []ConfirmPair{
			{Base: PairProcess{Order: 6}, Head: PairProcess{Order: 7}}}},
		Blocks: "pairs/hash-99/TOY__hash_1024.csv.gz",
	}
}

func TestComparisonCheckNamesWhatIsWrong(t *testing.T) {
	if err := called().Check(); err != nil {
		t.Fatal(err)
	}
	if n := len(called().AllProcesses()); n != 5 {
		t.Errorf("%d processes of 5", n)
	}
	for want, change := range map[string]func(c *Comparison){
		`verdict: "fine"`:                 func(c *Comparison) { c.Verdict = "fine" },
		`regression with the call "fas`:   func(c *Comparison) { c.Call = "faster" },
		"without placement check":         func(c *Comparison) { c.Placement.Complete = false },
		"placement check and confirm":     func(c *Comparison) { c.Confirmation = nil },
		"reason: ":                        func(c *Comparison) { c.Verdict = "invalid" },
		"unchanged without an estimate":   func(c *Comparison) { c.Verdict, c.Estimate = "unchanged", nil },
		"order 6 is none, or there twice": func(c *Comparison) { c.Processes[0].Order = 6 },
		"process 4: 130 quiet":            func(c *Comparison) { c.Processes[1].Quiet = 130 },
		"index 3 of 3":                    func(c *Comparison) { c.Index = 3 },
		"blocks: ":                        func(c *Comparison) { c.Blocks = "/etc/passwd" },
		`blocks: "pairs/`:                 func(c *Comparison) { c.Label, c.Blocks = "../../x", "pairs/hash-99/../../x__hash_1024.csv.gz" },
		"message_bytes":                   func(c *Comparison) { c.Operation = "hash_32" },
		"estimate: ":                      func(c *Comparison) { c.Estimate.Hi = 0 },
		"looks: 6 after 12":               func(c *Comparison) { c.Looks[0], c.Looks[1] = c.Looks[1], c.Looks[0] },
		"quiet_share":                     func(c *Comparison) { c.QuietShare = 1.5 },
	} {
		c := called()
		change(c)
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// Whatever reads as a comparison is written as one that reads the same.
func FuzzComparison(f *testing.F) {
	data, err := Marshal(called())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"schema":1,"operation":"hash_32","message_bytes":32,"settings":{"cells":1},"verdict":"unchanged"}`))
	f.Add([]byte(`{"schema":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var c, again Comparison
		if err := Unmarshal("c.json", data, &c); err != nil {
			return
		}
		out, err := Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := Unmarshal("again.json", out, &again); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if d := cmp.Diff(c, again); d != "" {
			// Empty lists may be written as none.
			if out2, _ := Marshal(again); string(out2) != string(out) {
				t.Error(d)
			}
		}
	})
}

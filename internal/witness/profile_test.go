package witness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A profile by hand, from the format's description: compressed names, a second
// part of a function, relative positions, instruction addresses, inlined files,
// costs left out at the end, jumps.
const handMade = `# callgrind format
version: 1
creator: callgrind-3.19.0
positions: instr line
events: Ir Bc Bcm
summary: 130 9 2

ob=(1) /x/driver
fl=(1) main.c
fn=(1) ngcc_counted
0x10 5 10 1
cob=(2) /x/core.so
cfi=(2) core.c
cfn=(2) CryptHash
calls=2 0x20 7
+3 +1 120 8 2

ob=(2)
fl=(2)
fn=(2)
0x20 7 15
fi=(3) inline.h
+1 * 5
fe=(2)
jcnd=1/2 0x30 9
jump=3 0x30 9
cfn=(3) mix.constprop.0
calls=1 0x40 1
* -1 60 8 2
cfn=(4) mix.part.0
calls=1 0x40 1
* * 40

fn=(3)
0x40 1 60 8 2
fn=(4)
0x50 1 40

totals: 130 9 2
`

func TestParseProfile(t *testing.T) {
	p, err := parseProfile(strings.NewReader(handMade))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]*profileFunc{
		"ngcc_counted": {file: "main.c", object: "driver", self: []uint64{10, 1, 0}, calls: map[string][]uint64{"CryptHash": {120, 8, 2}}},
		"CryptHash":    {file: "core.c", object: "core.so", self: []uint64{20, 0, 0}, calls: map[string][]uint64{"mix": {100, 8, 2}}},
		"mix":          {file: "core.c", object: "core.so", self: []uint64{100, 8, 2}, calls: map[string][]uint64{}},
	}
	if diff := cmp.Diff(want, p.funcs, cmp.AllowUnexported(profileFunc{})); diff != "" {
		t.Error(diff)
	}
}

func TestCountOf(t *testing.T) {
	got, err := countOf(strings.NewReader(handMade), "callgrind 3.19.0", 64, 2)
	if err != nil {
		t.Fatal(err)
	}
	want := Count{
		Status: Counted, Source: "callgrind 3.19.0", MessageBytes: 64, Calls: 2,
		Instructions: 120, HasBranches: true, Branches: 8, Mispredicted: 2,
		Functions: []FunctionCost{
			{Name: "mix", File: "core.c", Object: "core.so", Self: 100, Inclusive: 100},
			{Name: "CryptHash", File: "core.c", Object: "core.so", Self: 20, Inclusive: 120},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for was, is := range map[string]string{
		"totals: 130 9 2":     "totals: 131 9 2",   // does not add up
		"ngcc_counted":        "other",             // not the driver
		"events: Ir Bc Bcm":   "events: Dr Bc Bcm", // no instructions
		"+3 +1 120 8 2":       "+3 +1 120 8 2 1",   // more costs than events
		"cfn=(2) CryptHash":   "cfn=(2)",           // a name never given
		"* * 40":              "* * 99999999999999999999",
		"jump=3 0x30 9":       "unknown=1",
		"\ntotals: 130 9 2":   "", // cut off
		"summary: 130 9 2":    "no colon",
		"fn=(1) ngcc_counted": "",     // costs of no function
		"0x50 1 40":           "0x50", // no costs column at all
	} {
		text := strings.Replace(handMade, was, is, 1)
		if text == handMade {
			t.Fatalf("%q is not in the profile", was)
		}
		if c, err := countOf(strings.NewReader(text), "", 64, 2); err == nil {
			t.Errorf("%q → %q: %+v", was, is, c)
		}
	}
}

// What callgrind 3.19.0 wrote of testdata/cores/toy.c on x86-64.
func TestRealProfile(t *testing.T) {
	f, err := os.Open(filepath.Join("testdata", "toy.callgrind"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := countOf(f, "callgrind 3.19.0", 1024, 8)
	if err != nil || got.Functions[0].Name != "toy_round" {
		t.Fatalf("%+v, %v", got, err)
	}
	var sum uint64
	for _, f := range got.Functions {
		sum += f.Self
	}
	if sum != got.Instructions {
		t.Errorf("functions %d, calls %d", sum, got.Instructions)
	}
}

func FuzzCountOf(f *testing.F) {
	f.Add(handMade)
	f.Add("events: Ir\nfn=(1) ngcc_counted\ncfn=a\ncalls=1 1\n1 1\ntotals: 1\n")
	if data, err := os.ReadFile(filepath.Join("testdata", "toy.callgrind")); err == nil {
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := countOf(strings.NewReader(text), "x", 64, 2)
		if err != nil {
			return
		}
		if !c.OK() || c.Instructions == 0 {
			t.Errorf("%+v", c)
		}
		for _, fc := range c.Functions {
			if fc.Inclusive > c.Instructions || fc.Self == 0 {
				t.Errorf("%+v of %d", fc, c.Instructions)
			}
		}
	})
}

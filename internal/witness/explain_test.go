package witness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"
)

// side builds a toy core and counts it.
func side(t *testing.T, flags ...string) Side {
	t.Helper()
	d, c := tools(t)
	core := build(t, "toy", flags...)
	count, err := c.Count(t.Context(), d, Spec{Core: core, Bytes: 1024})
	if err != nil || !count.OK() {
		t.Fatalf("%+v, %v", count, err)
	}
	return Side{library(t, core), count}
}

func TestExplainSlower(t *testing.T) {
	base, head := side(t), side(t, "-DEXTRA")
	e, err := Explain(base, head)
	if err != nil {
		t.Fatal(err)
	}
	f := e.Functions[0]
	if e.SameCode || f.Name != "toy_round" || f.State != StateChanged || f.HeadBytes <= f.BaseBytes {
		t.Fatalf("%+v", e)
	}
	// What toy_round took is the whole difference: nothing else was edited.
	if f.Share != 1 || f.Self.Change() != e.Instructions.Change() || e.Instructions.Change() < 1024 {
		t.Errorf("share %v of %v", f.Share, e.Instructions)
	}
	if e.Branches.Change() != 0 {
		t.Errorf("branches: %+v", e.Branches)
	}
	lines := e.Lines()
	if !strings.HasPrefix(lines[1], fmt.Sprintf("toy_round: %d → %d bytes, +", f.BaseBytes, f.HeadBytes)) ||
		!strings.HasSuffix(lines[1], "(100 % of the difference)") {
		t.Errorf("%q", lines)
	}
	back, err := Explain(head, base)
	if err != nil || back.Instructions.Change() != -e.Instructions.Change() || back.Functions[0].Share != 1 {
		t.Errorf("the other way round: %+v, %v", back, err)
	}
}

// A function that never runs is new, and no instruction more.
func TestExplainDead(t *testing.T) {
	e, err := Explain(side(t), side(t, "-DDEAD"))
	if err != nil {
		t.Fatal(err)
	}
	if e.SameCode || e.Instructions.Change() != 0 || e.Functions[0].Name != "dead" || e.Functions[0].State != StateAdded {
		t.Errorf("%+v", e)
	}
	if text := e.String(); !strings.Contains(text, "on both sides, exactly") || !strings.Contains(text, "dead: new, ") {
		t.Error(text)
	}
}

// Symbols do not run: the stripped library is the same code, and a renamed
// function too.
func TestExplainSame(t *testing.T) {
	base := side(t)
	for _, flags := range [][]string{{"-s"}, {"-Dtoy_round=renamed"}} {
		e, err := Explain(base, Side{Library: library(t, build(t, "toy", flags...))})
		if err != nil || !e.SameCode || e.String() != "same code: nothing to explain" {
			t.Errorf("%v: %+v, %v", flags, e, err)
		}
	}
}

// Without counts there is still the code; a stripped library has its exports.
func TestExplainUncounted(t *testing.T) {
	base := Side{library(t, build(t, "toy")), missing(64, Unsupported, "valgrind cannot run this core: x")}
	e, err := Explain(base, Side{Library: library(t, build(t, "toy", "-DEXTRA"))})
	if err != nil || e.Instructions != nil || e.Reason != "base: valgrind cannot run this core: x" {
		t.Errorf("%+v, %v", e, err)
	}
	if f := e.Functions[0]; f.Name != "toy_round" || f.State != StateChanged || f.Self != nil {
		t.Errorf("%+v", f)
	}
	if _, err := Explain(Side{Library: []byte("x")}, base); err == nil || !strings.Contains(err.Error(), "base: not a shared library") {
		t.Errorf("no library: %v", err)
	}
	pmu := base
	pmu.Count = Count{Status: Counted, Source: SourcePMU, Calls: 1, MessageBytes: 64, Instructions: 100}
	head := Side{library(t, build(t, "toy", "-DEXTRA")), pmu.Count}
	head.Count.Instructions = 150
	if e, err = Explain(pmu, head); err != nil || e.Instructions.Change() != 50 || e.Branches != nil || e.Functions[0].Self != nil {
		t.Errorf("pmu: %+v, %v", e, err)
	}
	head.Count.Source = "callgrind 3.19.0"
	if e, err = Explain(pmu, head); err != nil || !strings.Contains(e.Reason, "count differently") {
		t.Errorf("two sources: %+v, %v", e, err)
	}
}

func delta(base, head float64) *Delta { return &Delta{base, head} }

// The lines of made-up explanations, kept for people to look at.
func TestLines(t *testing.T) {
	many := Explanation{MessageBytes: 64, Instructions: delta(6400, 6464)}
	for i := range 9 {
		many.Functions = append(many.Functions, FunctionChange{
			Name: fmt.Sprintf("f%d", i), State: StateSame, BaseBytes: 10, HeadBytes: 10, Self: delta(0, 7.11), Share: 1. / 9})
	}
	var out bytes.Buffer
	for _, e := range []Explanation{
		{MessageBytes: 1000, Instructions: delta(12310, 13020), Branches: delta(500, 500), Functions: []FunctionChange{
			{Name: "qilin_f", State: StateChanged, BaseBytes: 2310, HeadBytes: 2442, Self: delta(12000, 12710), Share: 1},
			{Name: "qilin_pad", State: StateChanged, BaseBytes: 80, HeadBytes: 80, Self: delta(9, 9)}}},
		{MessageBytes: 1000, Instructions: delta(12310, 12311), Branches: delta(0, 3), Mispredicted: delta(2, 4.5), Functions: []FunctionChange{
			{Name: "round", State: StateRemoved, BaseBytes: 310, Self: delta(90, 0), Share: -90},
			{Name: "memcpy", Object: "libc.so.6", State: StateOutside, Self: delta(0, 90), Share: 90},
			{Name: "round2", State: StateAdded, HeadBytes: 300, Self: delta(0, 1), Share: 1},
			{Name: unnamed, Object: "core.so", State: StateOutside, Self: delta(0, 0.004), Share: 0.004}}},
		{MessageBytes: 32, Instructions: delta(640, 640), Branches: delta(10, 10), Mispredicted: delta(3, 3), Functions: []FunctionChange{
			{Name: "dead", State: StateAdded, HeadBytes: 11},
			{Name: "a", State: StateChanged, BaseBytes: 80, HeadBytes: 80},
			{Name: "b", State: StateChanged, BaseBytes: 80, HeadBytes: 80}}},
		{Reason: "base: valgrind cannot run this core: unrecognised instruction 0x62 (AVX-512)", Functions: []FunctionChange{
			{Name: "f", State: StateChanged, BaseBytes: 80, HeadBytes: 96}}},
		{SameCode: true},
		many,
	} {
		fmt.Fprintf(&out, "%s\n\n", e)
	}
	golden := filepath.Join("testdata", "lines.golden")
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Error(diff)
		if err := os.WriteFile(golden+".actual", out.Bytes(), 0o644); err != nil {
			t.Error(err)
		}
	}
}

// Both types go through JSON and have a schema.
func TestJSON(t *testing.T) {
	e := Explanation{MessageBytes: 64, Instructions: delta(1, 2), Functions: []FunctionChange{{Name: "f", State: StateSame, Self: delta(1, 2), Share: 1}}}
	data, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var back Explanation
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(e, back); diff != "" {
		t.Error(diff)
	}
	for _, v := range []any{Explanation{}, Count{}} {
		if s := jsonschema.Reflect(v); len(s.Definitions) == 0 {
			t.Errorf("%T has no schema", v)
		}
	}
}

func TestFoldName(t *testing.T) {
	for symbol, want := range map[string]string{
		"mix": "mix", "mix.constprop.0": "mix", "mix.part.1.isra.0": "mix", "mix.cold": "mix", "deep'2": "deep",
		"mix.constprop.0.isra.0'2": "mix", "round.1": "round.1", ".part.0": ".part.0", "0x0000000000001030": unnamed,
		"__memcpy_avx_unaligned_erms": "__memcpy_avx_unaligned_erms", "table_partial": "table_partial",
	} {
		if got := FoldName(symbol); got != want {
			t.Errorf("%s: %s, want %s", symbol, got, want)
		}
	}
}

// Damaged libraries are errors or nothing, never a panic.
func FuzzFunctionsOf(f *testing.F) {
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	if _, err := exec.LookPath("cc"); err == nil {
		f.Add(library(f, build(f, "toy")))
	}
	f.Fuzz(func(t *testing.T, library []byte) {
		codes, err := functionsOf(library, nil)
		if err != nil {
			return
		}
		for name, c := range codes {
			if c.bytes <= 0 || len(c.parts) == 0 {
				t.Errorf("%q: %+v", name, c)
			}
		}
	})
}

package driver

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pairSpec asks for a short comparison of two toy cores. The second side's
// library is a copy: one file is loaded once only.
func (p *platform) pairSpec(t testing.TB, a, b string) PairSpec {
	t.Helper()
	one := p.timeSpec(t, a)
	other := p.core(t, b)
	data, err := os.ReadFile(other.Library)
	if err != nil {
		t.Fatal(err)
	}
	other.Library = filepath.Join(t.TempDir(), b+".so")
	if err := os.WriteFile(other.Library, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return PairSpec{
		A: one.Core, B: other, Bytes: one.Bytes, CPU: one.CPU, MinNs: one.MinNs, Expected: one.Expected, Seed: 7, Timeout: patience,
	}
}

func TestPair(t *testing.T) {
	onEach(t, func(t *testing.T, p *platform) {
		d := p.use(t)
		for _, b := range []string{"good", "good_bytes"} {
			spec := p.pairSpec(t, "good", b)
			r, err := d.Pair(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			var ns uint64
			first := map[byte]int{}
			for _, block := range r.Blocks {
				ns += block.ANs[0] + block.ANs[1] + block.BNs[0] + block.BNs[1]
				first[block.First]++
				if x := block.LnRatio(r.CallsA, r.CallsB); math.IsNaN(x) || math.IsInf(x, 0) {
					t.Errorf("%+v: ratio %v", block, x)
				}
			}
			if int64(ns) < spec.MinNs || r.CPU != spec.CPU || r.Migrated || first['A']+first['B'] != len(r.Blocks) {
				t.Errorf("%s: %d ns in blocks, CPU %d, migrated %v, orders %v", b, ns, r.CPU, r.Migrated, first)
			}
			if len(r.Blocks) >= 20 && (first['A'] == 0 || first['B'] == 0) {
				t.Errorf("%s: all of %d blocks begin with one side", b, len(r.Blocks))
			}
		}
	})
}

// What a core does wrong is told with its side.
func TestPairMisbehaving(t *testing.T) {
	onEach(t, func(t *testing.T, p *platform) {
		d := p.use(t)
		for _, test := range []struct {
			core   string
			kind   ErrorKind
			detail string
			side   string
		}{
			{"wrong", KindWrongDigest, "timed message", "B"},
			{"memo_pointer", KindRemembers, "the digest of the message before", "B"},
			{"memo_content", KindRemembers, "same message ", "B"},
			{"nonzero", KindReturned, "it returned -7", "B"},
			{"register", KindConvention, "it changed ", "B"},
			{"mxcsr", KindConvention, "it changed ", "B"},
			{"wrong", KindWrongDigest, "timed message", "A"},
			{"memo_content", KindRemembers, "same message ", "A"},
			{"register", KindConvention, "it changed ", "A"},
			{"crash", KindCrashed, "SIGSEGV", "A"},
			{"nameless", KindLoad, "CryptHash", "A"},
			{"nameless", KindLoad, "CryptHash", "B"},
			{"crash", KindCrashed, "SIGSEGV", "B"},
			{"exit", KindExited, "it called exit", "B"},
			{"loop", KindTimedOut, "", ""},
		} {
			t.Run(test.core+test.side, func(t *testing.T) {
				spec := p.pairSpec(t, "good", test.core)
				if test.side == "A" {
					spec.A, spec.B = spec.B, spec.A
				}
				if test.kind == KindTimedOut {
					spec.Timeout = time.Second
				}
				_, err := d.Pair(t.Context(), spec)
				if e := coreError(t, err); e.Kind != test.kind || !strings.Contains(e.Detail, test.detail) || e.Side != test.side {
					t.Errorf("got side %q, %v; want side %q, %s: … %s", e.Side, err, test.side, test.kind, test.detail)
				}
			})
		}
	})
}

// What writes over the driver's memory is no figure.
func TestPairPolluted(t *testing.T) {
	d := native.use(t)
	for _, core := range []string{"pollute", "pollute_writable"} {
		for seed := range uint64(4) {
			spec := native.pairSpec(t, "good", core)
			spec.Seed = seed
			r, err := d.Pair(t.Context(), spec)
			if err == nil {
				t.Fatalf("%s: %d blocks", core, len(r.Blocks))
			}
			e := coreError(t, err)
			if e.Side != "B" || core == "pollute" && (e.Kind != KindOutside || !strings.Contains(e.Detail, "of the driver's ")) {
				t.Errorf("%s: %v", core, err)
			}
			t.Logf("%s: %v", core, err)
		}
	}
}

func TestPairRefuses(t *testing.T) {
	d := native.use(t)
	for want, change := range map[string]func(*PairSpec){
		"are one file":     func(s *PairSpec) { s.B = s.A },
		"no timing of":     func(s *PairSpec) { s.Bytes = 7 },
		"of the other":     func(s *PairSpec) { s.ExpectedB = s.Expected[:3] },
		"side B's":         func(s *PairSpec) { s.B.DigestBits = 512 },
		"no such file":     func(s *PairSpec) { s.B.Library += "x" },
		"one file, which ": func(s *PairSpec) { link(t, &s.B, s.A) },
	} {
		spec := native.pairSpec(t, "good", "good")
		change(&spec)
		if _, err := d.Pair(t.Context(), spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}

// link makes a hard link of a's library: dlopen takes it for the same one.
func link(t *testing.T, to *Core, a Core) {
	t.Helper()
	to.Library = filepath.Join(filepath.Dir(a.Library), t.Name()+"-link.so")
	if err := os.Link(a.Library, to.Library); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
}

// The probes of mode time stand beside each batch.
func TestTimeProbe(t *testing.T) {
	spec := native.timeSpec(t, "good")
	spec.Probe = true
	r, err := native.use(t).Time(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range r.Batches {
		if b.Before == 0 || b.After == 0 || i > 0 && b.Before != r.Batches[i-1].After {
			t.Fatalf("batch %d: probes %d and %d", i, b.Before, b.After)
		}
	}
}

const goodPair = `ngcc-pair 1
counter tsc
note core-cycles: no
cpu 1
migrated 0
instructions 0
overhead-ticks 40.000
loaded-first B
calls-a 10
calls-b 12
instructions-a 0
instructions-b 0
probe-rounds 750
blocks 2
A 1000 1010 1200 1210 400 404 480 484 2500 2501
B 1001 1011 1201 1211 401 405 481 485 2501 2502
end
`

func TestParsePair(t *testing.T) {
	r, err := parsePair(strings.NewReader(goodPair))
	if err != nil {
		t.Fatal(err)
	}
	want := Block{First: 'B', A: [2]uint64{1001, 1011}, B: [2]uint64{1201, 1211}, ANs: [2]uint64{401, 405}, BNs: [2]uint64{481, 485}, Before: 2501, After: 2502}
	if len(r.Blocks) != 2 || r.Blocks[1] != want || r.CallsB != 12 || r.LoadedFirst != 'B' {
		t.Errorf("got %+v", r)
	}
	// ln((1201 + 1211) / 12 / ((1001 + 1011) / 10)) = ln(201 / 201.2)
	if got := want.LnRatio(10, 12); math.Abs(got-math.Log(201/201.2)) > 1e-12 {
		t.Errorf("ratio %v", got)
	}
	for _, change := range [][2]string{
		{"ngcc-pair 1", "ngcc-pair 2"}, {"loaded-first B", "loaded-first C"}, {"calls-b 12", "calls-b 0"}, {"blocks 2", "blocks 3"},
		{"blocks 2", "blocks 0"}, {"A 1000", "C 1000"}, {"A 1000", "A 0"}, {" 2502", ""}, {" 2502", " 2502 1"}, {"instructions 0", "instructions 1"},
		{"1211", "9223372036854775807"}, {"end\n", ""},
	} {
		if _, err := parsePair(strings.NewReader(strings.ReplaceAll(goodPair, change[0], change[1]))); err == nil {
			t.Errorf("%q instead of %q was taken", change[1], change[0])
		}
	}
}

func FuzzParsePair(f *testing.F) {
	f.Add([]byte(goodPair))
	f.Add([]byte("error A 17 it returned 1\n"))
	f.Add([]byte("error B 16 \xff\x00\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parsePair(strings.NewReader(string(data)))
		if (r == nil) == (err == nil) {
			t.Fatalf("%+v, %v", r, err)
		}
		if err != nil {
			return
		}
		for _, b := range r.Blocks {
			if x := b.LnRatio(r.CallsA, r.CallsB); math.IsNaN(x) || math.IsInf(x, 0) {
				t.Errorf("%+v: ratio %v", b, x)
			}
		}
	})
}

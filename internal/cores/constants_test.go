package cores

import (
	"fmt"
	"io/fs"
	"math/big"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// constants says, for each core's source and each of its tables, what stands in
// it, recomputed from the rule that its comment and its specification give.
var constants = map[string]map[string]func() []string{
	"hash-10/feilian.c": {
		"IV": func() []string { return words64(piFraction(16*64), 16) },
		"C_TWICE": func() []string {
			var roots []string
			for _, p := range primes(4) {
				roots = append(roots, rootFraction(p, 2))
			}
			return append(roots, roots[:3]...)
		},
	},
	"hash-22/pavelor.c": {
		"SBOX": aesSBox,
		"RC":   pavelorRC,
		// The preprocessor makes these from SBOX; the gate sees every entry.
		"T0": nil, "T1": nil, "T2": nil, "T3": nil,
	},
	"hash-23/qilin.c":  {"RC": qilinRC},
	"hash-25/taichi.c": {"K": taichiK},
	"sha-512/sha512.c": {
		"initial_state":   func() []string { return rootFractions(8, 2) },  // FIPS 180-4, 5.3.5
		"round_constants": func() []string { return rootFractions(80, 3) }, // FIPS 180-4, 4.2.3
	},
	"sm3/sm3.c": {
		// GB/T 32905-2016, 4.1 and 4.2, as they stand: there is no rule.
		"initial_state": func() []string {
			return strings.Fields("7380166f 4914b2b9 172442d7 da8a0600 a96f30bc 163138aa e38dee4d b0fb0e4e")
		},
		"T_EARLY": func() []string { return []string{"79cc4519"} },
		"T_LATE":  func() []string { return []string{"7a879d8a"} },
	},
}

func TestConstants(t *testing.T) {
	for name, tables := range constants {
		source := readSource(t, name)
		for table, rule := range tables {
			if rule == nil {
				continue
			}
			t.Run(name+"/"+table, func(t *testing.T) {
				if d := cmp.Diff(rule(), hexIn(t, source, table)); d != "" {
					t.Errorf("(-rule +source):\n%s", d)
				}
			})
		}
	}
}

var tablePattern = regexp.MustCompile(`(?m)^(?:static )?const [\w ]+?(\w+)(?:\[[^\]]*\])+ =`)

// No core has a table that is not recomputed above.
func TestEveryTableHasARule(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range labels(t) {
		for _, s := range l.Variant.Sources {
			name := path.Join(l.Candidate.ID, s)
			if seen[name] {
				continue
			}
			seen[name] = true
			for _, m := range tablePattern.FindAllStringSubmatch(readSource(t, name), -1) {
				if _, ok := constants[name][m[1]]; !ok {
					t.Errorf("%s: table %s has no rule in this test", name, m[1])
				}
			}
		}
	}
}

var comments = regexp.MustCompile(`(?s)/\*.*?\*/`)

// readSource is a core's source, by its path under hashes/, without comments.
func readSource(t *testing.T, name string) string {
	t.Helper()
	data, err := fs.ReadFile(dataRoot, "hashes/"+name)
	if err != nil {
		t.Fatal(err)
	}
	return comments.ReplaceAllString(string(data), "")
}

var hexPattern = regexp.MustCompile(`\b0x([0-9a-fA-F]+)\b`)

// hexIn lists the hexadecimal constants of an array, or of a macro that is
// defined as constants, in the source's spelling without 0x.
func hexIn(t *testing.T, source, name string) []string {
	t.Helper()
	array := regexp.MustCompile(`(?s)\b` + name + `(?:\[[^\]]*\])+ = \{(.*?)\};`)
	macro := regexp.MustCompile(`#define ` + name + `(?:\(\w+\))? ((?:.*\\\n)*.*)`)
	body := array.FindStringSubmatch(source)
	if body == nil {
		body = macro.FindStringSubmatch(source)
	}
	if body == nil {
		t.Fatalf("there is no array and no macro %s: has it been renamed?", name)
	}
	var out []string
	for _, m := range hexPattern.FindAllStringSubmatch(body[1], -1) {
		out = append(out, strings.ToLower(m[1]))
	}
	return out
}

// words64 cuts a number of n words into them, the highest first.
func words64(x *big.Int, n int) []string {
	return split(fmt.Sprintf("%0*x", 16*n, x), 16)
}

func split(digits string, size int) []string {
	var out []string
	for chunk := range slices.Chunk([]byte(digits), size) {
		out = append(out, string(chunk))
	}
	return out
}

// piFraction is the first bits of the fraction of π, by Machin's formula
// π = 16 arctan(1/5) − 4 arctan(1/239).
func piFraction(bits uint) *big.Int {
	const guard = 64
	one := new(big.Int).Lsh(big.NewInt(1), bits+guard)
	arctan := func(inverse int64) *big.Int { // Σ (−1)^k / ((2k+1) inverse^(2k+1))
		sum, power := new(big.Int), new(big.Int).Div(one, big.NewInt(inverse))
		for k := int64(0); power.Sign() > 0; k++ {
			term := new(big.Int).Div(power, big.NewInt(2*k+1))
			if k%2 == 1 {
				term.Neg(term)
			}
			sum.Add(sum, term)
			power.Div(power, big.NewInt(inverse*inverse))
		}
		return sum
	}
	pi := arctan(5)
	pi.Mul(pi, big.NewInt(4)).Sub(pi, arctan(239)).Mul(pi, big.NewInt(4))
	pi.Sub(pi, new(big.Int).Mul(big.NewInt(3), one))
	return pi.Rsh(pi, guard)
}

func primes(n int) []int64 {
	var out []int64
	for p := int64(2); len(out) < n; p++ {
		if big.NewInt(p).ProbablyPrime(0) { // exact below 2^64
			out = append(out, p)
		}
	}
	return out
}

// rootFraction is the first 64 bits of the fraction of the square (n = 2) or
// cube (n = 3) root of p: floor(p^(1/n) 2^64) mod 2^64.
func rootFraction(p int64, n uint) string {
	x := new(big.Int).Lsh(big.NewInt(p), 64*n)
	root := new(big.Int)
	for bit := 80; bit >= 0; bit-- { // the root is below 2^80
		root.SetBit(root, bit, 1)
		if new(big.Int).Exp(root, big.NewInt(int64(n)), nil).Cmp(x) > 0 {
			root.SetBit(root, bit, 0)
		}
	}
	return fmt.Sprintf("%016x", root.Uint64()) // Uint64 takes the low 64 bits
}

func rootFractions(count int, n uint) []string {
	var out []string
	for _, p := range primes(count) {
		out = append(out, rootFraction(p, n))
	}
	return out
}

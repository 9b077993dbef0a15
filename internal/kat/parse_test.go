package kat

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ngcc/bench-action/internal/driver"
)

const (
	repoManifests = "../../kat/manifests"
	repoVectors   = "../../kat/vectors.csv"
	sumA          = "819f61b771a998d8dbee66a6010b26db5a838a88f2f3a9c8923fb8739294d743"
	vectorsHead   = "candidate,instance,digest_bits,message_bits,message_rule,digest_hex\n"
)

// crlf is what a checkout that converts line ends makes of a text.
func crlf(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }

func canonicalSum(t *testing.T, text string, mode string) string {
	t.Helper()
	m, err := ParseMode(mode)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := CanonicalSum(strings.NewReader(text), m)
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(sum[:])
}

func sha(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func TestCanonicalForm(t *testing.T) {
	text := "Msg_Len = 0\nMsg = \nDst_Len = 8\nDst = AB\n\nMsg_Len = 1\nMsg = 80\nDst_Len = 8\nDst = CD\n\n"
	strict := "Msg_Len = 0\nMsg =\nDst_Len = 8\nDst = AB\nMsg_Len = 1\nMsg = 80\nDst_Len = 8\nDst = CD\n"
	nolen := "Msg =\nDst = AB\nMsg = 80\nDst = CD\n"
	first := "Msg_Len = 0\nMsg =\nDst_Len = 8\nDst = AB\n"
	for _, c := range []struct{ mode, text, want string }{
		{"strict", text, strict},
		{"strict", crlf(text), strict},
		{"strict", strings.TrimRight(text, "\n"), strict}, // no newline at the end
		{"strict", "\r\n \t\n" + strings.ReplaceAll(text, "\n", " \t \r\n"), strict},
		{"strict", strict, strict},
		{"strict", strings.ReplaceAll(text, "Msg", "M\rsg"), strict},
		{"nolen", text, nolen},
		{"nolen", crlf(text), nolen},
		{"strict:1", text, first},
		{"strict:1", strings.ReplaceAll(text, "\n\n", "\n"), first}, // empty lines do not count
		{"strict:2", text, strict},
		{"nolen:1", text, "Msg =\nDst = AB\n"},
	} {
		if got := canonicalSum(t, c.text, c.mode); got != sha(c.want) {
			t.Errorf("mode %s of %q: not the SHA-256 of %q", c.mode, c.text, c.want)
		}
	}
	for _, c := range []struct {
		mode Mode
		text string
	}{{Mode{Records: 3}, text}, {Mode{}, ""}, {Mode{}, "no record here\n"}} {
		if _, err := CanonicalSum(strings.NewReader(c.text), c.mode); err == nil {
			t.Errorf("mode %s of %q: no error", c.mode, c.text)
		}
	}
}

// A reader with a fixed line buffer stops in the middle of a long message.
func TestCanonicalLongLines(t *testing.T) {
	long := "Msg = " + strings.Repeat("A5", 3<<20)
	text := "Msg_Len = 25165824\n" + long + "\nDst = 00\n"
	if got := canonicalSum(t, crlf(text), "strict"); got != sha(text) {
		t.Error("a line of 6 MiB is not hashed whole")
	}
	c := NewCanonical(Mode{NoLen: true})
	for _, b := range []byte(crlf(text)) { // cut everywhere
		_, _ = c.Write([]byte{b})
	}
	if got := c.Sum(); hex.EncodeToString(got[:]) != sha(long+"\nDst = 00\n") {
		t.Error("text written byte by byte hashes differently")
	}
	if c.Records() != 1 {
		t.Errorf("%d records, want 1", c.Records())
	}
}

func TestParseMode(t *testing.T) {
	for _, s := range []string{"strict", "nolen", "strict:3", "nolen:4097"} {
		if m, err := ParseMode(s); err != nil || m.String() != s {
			t.Errorf("mode %s: %v, %v", s, m, err)
		}
	}
	for _, s := range []string{"", "Strict", "loose", ":3", "strict:", "strict:0", "strict:-1", "strict:+1", "strict:03", "strict:1:2", "strict:99999999999"} {
		if _, err := ParseMode(s); err == nil {
			t.Errorf("mode %q is taken", s)
		}
	}
}

func TestManifest(t *testing.T) {
	text := "# the official files\n\n" + sumA + " strict B/KAT_2_12_B.txt\n" +
		strings.ToUpper(sumA) + "\tnolen:3  A/KAT_2_12_A.txt \n"
	for _, text := range []string{text, crlf(text)} {
		m, err := ParseManifest("m", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		e, ok := m.Lookup("B", "KAT_2_12_B.txt")
		if !ok || hex.EncodeToString(e.Sum[:]) != sumA || e.Mode != (Mode{}) || e.Line != 3 {
			t.Errorf("entry of B: %+v, %v", e, ok)
		}
		e, ok = m.Lookup("A", "KAT_2_12_A.txt")
		if !ok || e.Mode != (Mode{NoLen: true, Records: 3}) || e.Line != 4 {
			t.Errorf("entry of A: %+v, %v", e, ok)
		}
		if _, ok := m.Lookup("A", "KAT_2_23_A.txt"); ok {
			t.Error("an entry that is not there was found")
		}
	}
}

func TestManifestErrors(t *testing.T) {
	good := sumA + " strict A/a.txt\n"
	for text, want := range map[string]string{
		"":                                  "m:1: the manifest has no entry",
		"# only this\n":                     "m:1: the manifest has no entry",
		good + good:                         "m:2: A/a.txt stands on line 1 already",
		sumA[1:] + " strict A/a":            "m:1: expected a SHA-256 of 64 hex digits, found 63",
		"g" + sumA[1:] + " strict A/a":      "m:1: the SHA-256 is not hex",
		"\n" + sumA + " lax A/a":            `m:2: unknown mode "lax"`,
		sumA + " A/a":                       "m:1: expected \"<sha256> <mode> <instance>/<file>\", found 2 fields",
		sumA + " strict A/a b":              "found 4 fields",
		sumA + " strict ../a":               `m:1: path "../a" is not`,
		sumA + " strict /a":                 "is not of the form",
		sumA + " strict A/../b":             "is not of the form",
		sumA + " strict A//b":               "is not of the form",
		sumA + " strict ./b":                "is not of the form",
		sumA + " strict A\\b":               "is not of the form",
		sumA + " strict A/b/c":              "is not of the form",
		sumA + " strict b":                  "is not of the form",
		"\ufeff" + good:                     "m:1: expected a SHA-256",
		"<<<<<<< HEAD\n" + good:             "m:1: expected",
		good + sumA + " strict:0 A/b.txt\n": "m:2: mode",
	} {
		_, err := ParseManifest("m", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

// The repository's manifests have the four files of each of the 12 instances.
func TestRepositoryManifests(t *testing.T) {
	names, err := filepath.Glob(repoManifests + "/*.sha256")
	if err != nil || len(names) < 4 {
		t.Fatalf("manifests: %v, %v", names, err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := ParseManifest(name, data)
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Entries) != 12 {
			t.Errorf("%s: %d entries, want 12", name, len(m.Entries))
		}
		files, _ := Schedule(ModeFull)
		for _, e := range m.Entries {
			instance, _, _ := strings.Cut(e.Path, "/")
			for _, f := range files {
				if _, ok := m.Lookup(instance, f.Name(instance)); !ok {
					t.Errorf("%s: no %s", name, f.Name(instance))
				}
			}
		}
	}
}

func TestVectors(t *testing.T) {
	text := vectorsHead +
		"c,i,16,0,perf,00ff\n" +
		"c,i,16,7,perf-dirty,0102\n" +
		"c,i,12,24,ascii:abc,fff0\n" +
		"c,i,16,24,\"ascii:a,b\",0000\n"
	want := []Vector{
		{2, "c", "i", 16, "perf", driver.Message{Rule: driver.RulePerf}, []byte{0, 0xff}},
		{3, "c", "i", 16, "perf-dirty", driver.Message{Bits: 7, Rule: driver.RulePerfDirty}, []byte{1, 2}},
		{4, "c", "i", 12, "ascii:abc", driver.Message{Bits: 24, Data: []byte("abc")}, []byte{0xff, 0xf0}},
		{5, "c", "i", 16, "ascii:a,b", driver.Message{Bits: 24, Data: []byte("a,b")}, []byte{0, 0}},
	}
	for _, text := range []string{text, crlf(text), strings.TrimRight(text, "\n")} {
		got, err := ParseVectors("v", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("vectors (-want +got):\n%s", diff)
		}
	}
}

func TestVectorErrors(t *testing.T) {
	for row, want := range map[string]string{
		"c,i,16,0,perf":                     "v:2: wrong number of fields",
		"c,i,16,0,perf,00ff,":               "v:2: wrong number of fields",
		",i,16,0,perf,00ff":                 "must not be empty",
		"c,i,0,0,perf,":                     "digest_bits",
		"c,i,16,-1,perf,00ff":               "message_bits",
		"c,i,16,01,perf,00ff":               "message_bits",
		"c,i,16,99999999999,perf,00ff":      "message_bits",
		"c,i,16,8,zero,00ff":                `unknown message_rule "zero"`,
		"c,i,16,3,ascii:abc,00ff":           "message_bits is 3, but \"abc\" has 24 bits",
		"c,i,16,16,ascii:é,00ff":            "only printable ASCII",
		"c,i,16,0,perf,00FF":                "lower case",
		"c,i,16,0,perf,00f":                 "expected 2 bytes of hex, found 3",
		"c,i,16,0,perf,00fg":                "not hex",
		"c,i,16,0,\"perf,00ff":              "v:2: extraneous or missing",
		"c,i,8,0,perf,00\nc,i,8,0,perf,00":  "v:3: this message of i stands on line 2 already",
		"c,i,8,0,perf,00\n\n\nc,i,8,0,x,00": "v:5: unknown message_rule",
	} {
		_, err := ParseVectors("v", []byte(vectorsHead+row+"\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", row, err, want)
		}
	}
	for _, text := range []string{"", "c,i,16,0,perf,00ff\n", "candidate\n"} {
		if _, err := ParseVectors("v", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), "v:1: ") {
			t.Errorf("%q: error %v, want one of line 1", text, err)
		}
	}
}

// The repository's vectors are 45 messages for each of the 12 instances.
func TestRepositoryVectors(t *testing.T) {
	data, err := os.ReadFile(repoVectors)
	if err != nil {
		t.Fatal(err)
	}
	all, err := ParseVectors(repoVectors, data)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, v := range all {
		count[v.Candidate+"/"+v.Instance]++
	}
	if len(count) != 12 {
		t.Errorf("vectors of %d instances, want 12", len(count))
	}
	for key, n := range count {
		if n != 45 {
			t.Errorf("%s: %d vectors, want 45", key, n)
		}
	}
}

func TestCAVP(t *testing.T) {
	text := "#  CAVS 11.0\n#  Generated on Tue Mar 15 08:23:38 2011\n\n[L = 2]\n\nLen = 0\nMsg = 00\nMD = 0102\n\n" +
		"Len = 5\nMsg = 98\nMD = 0304\n\n[L=3]\nSeed = 010203\n\nCOUNT = 0\nMD = aabbcc\n\nCOUNT = 1\nMD = DDEEFF\n"
	want := &CAVP{
		Name: "f",
		Messages: []CAVPMessage{
			{Line: 6, L: 2, Digest: []byte{1, 2}},
			{Line: 10, L: 2, Bits: 5, Message: []byte{0x98}, Digest: []byte{3, 4}},
		},
		Chains: []CAVPChain{{
			Line: 15, L: 3, Seed: []byte{1, 2, 3},
			Digests: [][]byte{{0xaa, 0xbb, 0xcc}, {0xdd, 0xee, 0xff}}, Lines: []int{18, 21},
		}},
	}
	for _, text := range []string{text, crlf(text)} {
		got, err := ParseCAVP("f", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("CAVP (-want +got):\n%s", diff)
		}
	}
}

func TestCAVPErrors(t *testing.T) {
	const head = "[L = 2]\n"
	for text, want := range map[string]string{
		"":                                   "f:1: the file has no vector",
		head:                                 "f:1: the file has no vector",
		"Len = 0\n":                          "f:1: a vector before the section line",
		"[L = 0]\n":                          "f:1: section",
		"[L = x]\n":                          "f:1: section",
		"[K = 2]\n":                          "f:1: unknown section",
		"[L = 2\n":                           "f:1: unknown section",
		head + "Len = 8\n":                   "f:2: the vector ends before its Msg",
		head + "Len = 8\nMsg = 00\n":         "f:2: the vector ends before its MD",
		head + "Len = 8\n[L = 2]\n":          "f:3: expected the key Msg",
		head + "Len = 8\nMD = 0000\n":        "f:3: expected the key Msg",
		head + "Len = 8\nMsg = 0011\n":       "f:3: Msg: expected 1 bytes of hex, found 4",
		head + "Len = 0\nMsg = 01\n":         "f:3: Msg: expected 00",
		head + "Len = 8\nMsg = 0x\n":         "f:3: Msg: not hex",
		head + "Len = -8\nMsg = 00\n":        "f:2: Len: expected a decimal",
		head + "Msg = 00\n":                  "f:2: Msg: a message before its Len",
		head + "MD = 0000\n":                 "f:2: MD: a digest before",
		head + "Text = 00\n":                 "f:2: Text: unknown key",
		head + "nonsense\n":                  "f:2: expected a line",
		head + "Seed = 00\n":                 "f:2: Seed: expected 2 bytes of hex",
		head + "COUNT = 0\n":                 "f:2: COUNT: a count before its Seed",
		head + "Seed = 0000\n":               "f:2: the vector ends before its COUNT",
		head + "Seed = 0000\nCOUNT = 1\n":    "f:3: COUNT: expected 0, found 1",
		head + "Len = 8\nMsg = 00\nMD = 0\n": "f:4: MD: expected 2 bytes",
	} {
		_, err := ParseCAVP("f", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

func TestKATText(t *testing.T) {
	text := "Msg_Len = 0\nMsg = \nDst_Len = 16\nDst = AB01\n\nMsg_Len = 9\nMsg = 0080\nDst_Len = 16\nDst = CD02\n\n" +
		"Msg_Len = 8388608\nMsg_Seed = \nMsg_Exp = 0000000000000000 .... FFFFFFFFFFFFFFFF\nDst_Len = 8\nDst = 07\n\n"
	want := []TextRecord{
		{Line: 1, Message: []byte{}, DigestBits: 16, Digest: []byte{0xab, 1}},
		{Line: 6, Bits: 9, Message: []byte{0, 0x80}, DigestBits: 16, Digest: []byte{0xcd, 2}},
		{
			Line: 11, Bits: 8388608, Abridged: true, Seed: []byte{}, Head: make([]byte, 8),
			Tail: bytes.Repeat([]byte{0xff}, 8), DigestBits: 8, Digest: []byte{7},
		},
	}
	for _, text := range []string{text, crlf(text), strings.ReplaceAll(text, "\n", " \t\n")} {
		got, err := ParseKATText("k", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("records (-want +got):\n%s", diff)
		}
	}
	if got, err := ParseKATText("k", []byte(strings.ReplaceAll(text, "\n\n", "\n"))); err != nil || len(got) != 3 {
		t.Errorf("without empty lines: %d records, %v", len(got), err)
	}
}

func TestKATTextErrors(t *testing.T) {
	const head = "\nMsg_Len = 8\n"
	for text, want := range map[string]string{
		"":                            "k:1: the file has no record",
		"Msg = 00\n":                  "k:1: expected the key Msg_Len",
		"garbage\n":                   "k:1: expected a line",
		"Msg_Len = 0x8\n":             "k:1: Msg_Len: expected a decimal",
		head:                          "k:2: the record ends before its Msg",
		head + "Msg = 0000\n":         "k:3: Msg: expected 1 bytes of hex, found 4",
		head + "Msg = 00\nDst = 00\n": "k:4: expected the key Dst_Len",
		head + "Msg_Seed = 000\n":     "k:3: Msg_Seed: expected 1 bytes",
		head + "Msg_Seed = \nMsg = 0": "k:4: expected the key Msg_Exp",
		head + "Msg_Seed = \nMsg_Exp = 00 .... 00\n":      "k:4: Msg_Exp: expected 8 bytes",
		head + "Msg_Seed = \nMsg_Exp = 0000\n":            "k:4: Msg_Exp must be",
		head + "Msg = 00\nDst_Len = 16\nDst = 00\n":       "k:5: Dst: expected 2 bytes",
		head + "Msg = 00\nDst_Len = 8\nDst = 00\nDst=0\n": "k:6: expected the key Msg_Len",
		"Msg_Len = 18446744073709551615\nMsg = 00\n":      "k:2: Msg: expected 2305843009213693952 bytes",
	} {
		_, err := ParseKATText("k", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

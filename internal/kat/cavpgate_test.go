package kat

import (
	"context"
	"crypto/sha512"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ngcc/bench-action/internal/catalog"
	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/records"
)

// sha512Core is SHA-512 of Go as a core; wrongAt spoils one length.
type sha512Core struct {
	toy
	wrongAt uint64
}

func (c *sha512Core) Hash(_ context.Context, m driver.Message) ([]byte, error) {
	sum := sha512.Sum512(m.Data)
	if m.Rule == driver.RuleNumbered {
		sum = sha512.Sum512(toyBytes(m))
	}
	if m.Bits == c.wrongAt {
		sum[63] ^= 1
	}
	return sum[:], nil
}

func (c *sha512Core) HashAll(ctx context.Context, n int, next func(i int) driver.Message, got func(i int, digest []byte) error) error {
	for i := range n {
		digest, _ := c.Hash(ctx, next(i))
		if err := got(i, digest); err != nil {
			return err
		}
	}
	return nil
}

const (
	// FIPS 180-4, SHA-512 of nothing and of "abc" (NIST's example values).
	shortMsg = "[L = 64]\n\nLen = 0\nMsg = 00\nMD = cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e\n\n" +
		"Len = 24\nMsg = 616263\nMD = ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f\n"
	bitMsg = "[L = 64]\nLen = 5\nMsg = b0\nMD = " + // made up
		"00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000\n"
)

// monteText is a Monte file of a few counts, by crypto/sha512 and the words of
// SHAVS.
func monteText(counts int) string {
	seed := sha512.Sum512([]byte("seed"))
	text := fmt.Sprintf("[L = 64]\n\nSeed = %x\n", seed)
	for j := range counts {
		md := make([][sha512.Size]byte, 1003)
		md[0], md[1], md[2] = seed, seed, seed
		for i := 3; i <= 1002; i++ {
			md[i] = sha512.Sum512([]byte(string(md[i-3][:]) + string(md[i-2][:]) + string(md[i-1][:])))
		}
		seed = md[1002]
		text += fmt.Sprintf("\nCOUNT = %d\nMD = %x\n", j, seed)
	}
	return text
}

func cavpOptions(root fstest.MapFS, wrongAt uint64, files ...string) Options {
	return Options{
		Candidate: "sha-512", Label: "SHA-512", Instance: "SHA-512", DigestBits: 512,
		API: catalog.CryptoHash, Kind: catalog.GateCAVP, Mode: ModeGate, Files: root, CAVP: files, Bytes: []int{32},
		Open: func(context.Context) (Hasher, error) { return &sha512Core{wrongAt: wrongAt}, nil },
	}
}

func TestGateCAVP(t *testing.T) {
	monte := monteText(3)
	wrongCount := strings.Replace(monte, "COUNT = 1\nMD = ", "COUNT = 1\nMD = 00", 1)
	i := strings.Index(wrongCount, "COUNT = 1\n") + len("COUNT = 1\nMD = ")
	wrongCount = wrongCount[:i+128] + wrongCount[i+130:]
	root := fstest.MapFS{
		"short.rsp": {Data: []byte(shortMsg)}, "crlf.rsp": {Data: []byte(crlf(shortMsg))},
		"monte.rsp": {Data: []byte(monte)}, "wrong.rsp": {Data: []byte(wrongCount)},
		"bits.rsp": {Data: []byte(bitMsg)}, "bad.rsp": {Data: []byte("[L = 64]\nLen = 8\n")},
		"other.rsp": {Data: []byte("[L = 1]\nLen = 0\nMsg = 00\nMD = 00\n")},
	}
	for _, c := range []struct {
		files   string
		wrongAt uint64
		want    string
		detail  string
	}{
		{"short.rsp crlf.rsp monte.rsp", 1, records.GatePass, ""},
		{"short.rsp monte.rsp", 24, FailMismatch, "short.rsp:7: message of 24 bits: want ddaf35a1"},
		{"short.rsp monte.rsp", 3 * 512, FailMismatch, "monte.rsp:6: COUNT = 0: want "},
		{"wrong.rsp short.rsp", 1, FailMismatch, "wrong.rsp:9: COUNT = 1: want 00"},
		{"", 1, FailCAVPMissing, "names no vector files"},
		{"short.rsp none.rsp", 1, FailCAVPMissing, "none.rsp is not in the data root"},
		{"short.rsp bad.rsp", 1, FailCAVPUnreadable, "bad.rsp:2: the vector ends before its Msg"},
		{"short.rsp other.rsp", 1, FailCAVPEmpty, "other.rsp has no section [L = 64]"},
		{"short.rsp bits.rsp", 1, FailPartialByte, "bits.rsp:2: Len = 5 is in bits"},
	} {
		o := cavpOptions(root, c.wrongAt, strings.Fields(c.files)...)
		if result, detail, log := mustGate(t, o); result != c.want || !strings.Contains(detail, c.detail) {
			t.Errorf("%s: %s: %s; want %s with %q\n%s", c.files, result, detail, c.want, c.detail, log)
		}
	}
	// With lengths in bits, a partial byte is a message like any other.
	o := cavpOptions(root, 1, "bits.rsp")
	o.API = catalog.CryptHash
	if result, detail, _ := mustGate(t, o); result != FailMismatch || !strings.Contains(detail, "message of 5 bits") {
		t.Errorf("%s: %s", result, detail)
	}
}

// The yardstick's own files, by Go's SHA-512.
func TestRepositorySHA512(t *testing.T) {
	root := os.DirFS("../..")
	var files []string
	for _, name := range []string{"ShortMsg", "LongMsg", "Monte"} {
		path := "kat/sha-512/SHA512" + name + ".rsp"
		if _, err := os.Stat("../../" + path); err != nil {
			t.Skipf("no %s in this checkout", path)
		}
		files = append(files, path)
	}
	o := cavpOptions(nil, 1, files...)
	o.Files = root
	if result, detail, log := mustGate(t, o); result != records.GatePass {
		t.Errorf("%s: %s\n%s", result, detail, log)
	}
}

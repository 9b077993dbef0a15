package cores

import (
	"bytes"
	"crypto/sha512"
	"slices"
	"testing"

	"github.com/emmansun/gmsm/sm3"

	"github.com/ngcc/bench-action/internal/catalog"
)

// The CAVP files hold what two other implementations compute: Go's crypto/sha512
// and github.com/emmansun/gmsm/sm3.
func TestCAVPFiles(t *testing.T) {
	hashes := map[string]func([]byte) []byte{
		"SHA-512": func(m []byte) []byte { d := sha512.Sum512(m); return d[:] },
		"SM3":     func(m []byte) []byte { d := sm3.Sum(m); return d[:] },
	}
	for _, c := range root(t).Candidates {
		if c.Gate != catalog.GateCAVP {
			continue
		}
		for _, name := range c.Vectors {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				hash := hashes[c.Name]
				if hash == nil {
					t.Fatalf("no second implementation of %s to check with: add one to this test", c.Name)
				}
				checkCAVP(t, name, hash)
			})
		}
	}
}

func checkCAVP(t *testing.T, name string, hash func([]byte) []byte) {
	f := readCAVP(t, name)
	for _, m := range f.Messages {
		if m.Bits%8 != 0 {
			t.Fatalf("%s:%d: %d bits, which these implementations cannot hash", name, m.Line, m.Bits)
		}
		if got := hash(m.Message); !bytes.Equal(got, m.Digest) {
			t.Errorf("%s:%d: message of %d bits: the file has %x, want %x", name, m.Line, m.Bits, m.Digest, got)
		}
	}
	for _, c := range f.Chains {
		md := c.Seed
		for j, want := range c.Digests {
			// SHAVS, 6.4: MD_i = H(MD_(i-3) || MD_(i-2) || MD_(i-1)), i = 3 to 1002.
			last := [3][]byte{md, md, md}
			for range 1000 {
				last[0], last[1], last[2] = last[1], last[2], hash(slices.Concat(last[0], last[1], last[2]))
			}
			if md = last[2]; !bytes.Equal(md, want) {
				t.Fatalf("%s:%d: COUNT = %d: the file has %x, want %x", name, c.Lines[j], j, want, md)
			}
		}
	}
	t.Logf("%d messages, %d chains", len(f.Messages), len(f.Chains))
}

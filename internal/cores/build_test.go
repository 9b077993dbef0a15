package cores

import (
	"debug/elf"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ngcc/bench-action/internal/catalog"
)

// functionOf is what a core of each API exports, and all that it exports.
var functionOf = map[string]string{
	catalog.CryptHash:  "CryptHash",
	catalog.CryptoHash: "crypto_hash",
}

// Every label compiles at the guide's flags without a warning, keeps no writable
// data and exports its one function.
func TestBuild(t *testing.T) {
	for _, cc := range []string{"gcc", "clang", "aarch64-linux-gnu-gcc"} {
		t.Run(cc, func(t *testing.T) {
			heavy(t)
			b := build(t, cc)
			for _, l := range labels(t) {
				t.Run(l.Key(), func(t *testing.T) {
					lb := b.label(t, l)
					if lb.Warnings != "" {
						t.Errorf("the compiler warns:\n%s", lb.Warnings)
					}
					if lb.Writable != nil {
						t.Errorf("writable objects, kept between calls: %v", lb.Writable)
					}
					want := []string{functionOf[lb.API] + " STT_FUNC STB_GLOBAL"}
					if d := cmp.Diff(want, exported(t, b.dir.Abs(lb.Library))); d != "" {
						t.Errorf("exported symbols (-want +got):\n%s", d)
					}
				})
			}
		})
	}
}

// exported lists the symbols that a library defines for others.
func exported(t *testing.T, library string) []string {
	t.Helper()
	f, err := elf.Open(library)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF && elf.ST_BIND(s.Info) != elf.STB_LOCAL {
			out = append(out, s.Name+" "+elf.ST_TYPE(s.Info).String()+" "+elf.ST_BIND(s.Info).String())
		}
	}
	return out
}

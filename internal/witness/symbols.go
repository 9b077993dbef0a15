package witness

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
)

// code is one function of a library, its clones together.
type code struct {
	bytes int64
	parts []string // of every clone: size and digest of its bytes, sorted
}

// same tells whether two functions have the same bytes.
func (c code) same(other code) bool { return slices.Equal(c.parts, other.parts) }

// functionsOf reads the functions of a shared library by folded name: those of
// the symbol table, static ones among them, or only the exported ones when it
// was stripped. Of several names of one address, costly's comes first.
func functionsOf(library []byte, costly map[string]bool) (map[string]code, error) {
	f, err := elf.NewFile(bytes.NewReader(library))
	if err != nil {
		return nil, fmt.Errorf("not a shared library: %w", err)
	}
	symbols, err := f.Symbols()
	if errors.Is(err, elf.ErrNoSymbols) {
		symbols, err = f.DynamicSymbols()
	}
	if errors.Is(err, elf.ErrNoSymbols) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("symbols: %w", err)
	}
	symbols = slices.DeleteFunc(symbols, func(s elf.Symbol) bool {
		return elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Size == 0 || s.Section == elf.SHN_UNDEF || int(s.Section) >= len(f.Sections)
	})
	slices.SortFunc(symbols, func(a, b elf.Symbol) int {
		return cmp.Or(cmp.Compare(a.Value, b.Value), -compareBool(costly[FoldName(a.Name)], costly[FoldName(b.Name)]),
			-cmp.Compare(elf.ST_BIND(a.Info), elf.ST_BIND(b.Info)), cmp.Compare(a.Name, b.Name))
	})
	symbols = slices.CompactFunc(symbols, func(a, b elf.Symbol) bool { return a.Value == b.Value })
	out := map[string]code{}
	for _, s := range symbols {
		sec := f.Sections[s.Section]
		if sec.Type != elf.SHT_PROGBITS || s.Value < sec.Addr || s.Value-sec.Addr > sec.Size || s.Size > sec.Size-(s.Value-sec.Addr) ||
			s.Size > uint64(len(library)) {
			continue // a symbol that points nowhere
		}
		data := make([]byte, s.Size)
		if _, err := sec.ReadAt(data, int64(s.Value-sec.Addr)); err != nil {
			return nil, fmt.Errorf("the code of %s: %w", s.Name, err)
		}
		name := FoldName(s.Name)
		c := out[name]
		c.bytes += int64(s.Size)
		c.parts = append(c.parts, fmt.Sprintf("%d %x", s.Size, sha256.Sum256(data)))
		slices.Sort(c.parts)
		out[name] = c
	}
	return out, nil
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

package toolchain

import (
	"bytes"
	"debug/elf"
	"fmt"
)

// Exports lists the functions that a shared library offers.
func Exports(library []byte) ([]string, error) {
	f, err := elf.NewFile(bytes.NewReader(library))
	if err != nil {
		return nil, fmt.Errorf("not a shared library: %w", err)
	}
	syms, err := f.DynamicSymbols()
	if err != nil {
		return nil, fmt.Errorf("its symbols cannot be read: %w", err)
	}
	var out []string
	for _, s := range syms {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF {
			out = append(out, s.Name)
		}
	}
	return out, nil
}

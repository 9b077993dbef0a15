package toolchain

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/ngcc/bench-action/internal/records"
)

// Image is what a library brings into memory.
type Image struct {
	CodeDigest string             // hex SHA-256 of what is loaded and executed
	LoadBytes  int64              // sum of PT_LOAD memory sizes
	Writable   []records.Writable // the library's own writable objects
}

// startupObjects are the writable objects that the compiler's start-up files
// put into every shared library.
var startupObjects = []string{"completed.0", "__dso_handle", "__TMC_END__", "_DYNAMIC", "_GLOBAL_OFFSET_TABLE_"}

// Inspect reads a shared library from its bytes. Symbol tables, comments and
// section headers are not loaded and do not count for the code digest, so a
// renamed static function leaves it as it was.
func Inspect(library []byte) (Image, error) {
	f, err := elf.NewFile(bytes.NewReader(library))
	if err != nil {
		return Image{}, fmt.Errorf("not a shared library: %w", err)
	}
	if f.Type != elf.ET_DYN || f.Class != elf.ELFCLASS64 {
		return Image{}, fmt.Errorf("not a 64-bit shared library: %v %v", f.Type, f.Class)
	}
	var im Image
	h := sha256.New()
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		im.LoadBytes += int64(p.Memsz)
		if p.Filesz > uint64(len(library)) {
			return Image{}, fmt.Errorf("damaged: a segment of %d bytes in a file of %d", p.Filesz, len(library))
		}
		data := make([]byte, p.Filesz)
		if _, err := io.ReadFull(p.Open(), data); err != nil {
			return Image{}, fmt.Errorf("damaged: segment at %#x: %w", p.Vaddr, err)
		}
		if p.Off == 0 && len(data) >= 64 {
			maskSectionHeaders(data)
		}
		fmt.Fprintf(h, "%#x %#x %d\n", p.Vaddr, p.Memsz, p.Flags)
		h.Write(data)
	}
	im.CodeDigest = hex.EncodeToString(h.Sum(nil))
	im.Writable, err = writableObjects(f)
	return im, err
}

// maskSectionHeaders clears e_shoff, e_shnum and e_shstrndx of an ELF-64
// header: they say where the section headers lie, which are not loaded.
func maskSectionHeaders(header []byte) {
	binary.LittleEndian.PutUint64(header[0x28:], 0)
	binary.LittleEndian.PutUint32(header[0x3c:], 0)
}

func writableObjects(f *elf.File) ([]records.Writable, error) {
	syms, err := f.Symbols()
	if errors.Is(err, elf.ErrNoSymbols) {
		return nil, nil // stripped: its objects have no names
	}
	if err != nil {
		return nil, fmt.Errorf("symbols: %w", err)
	}
	var out []records.Writable
	for _, s := range syms {
		i := int(s.Section)
		if i <= 0 || i >= len(f.Sections) || s.Size == 0 || slices.Contains(startupObjects, s.Name) {
			continue
		}
		sec := f.Sections[i]
		kind := elf.ST_TYPE(s.Info)
		relro := sec.Name == ".data.rel.ro" || sec.Name == ".data.rel.ro.local"
		if (kind == elf.STT_OBJECT || kind == elf.STT_TLS) && sec.Flags&elf.SHF_WRITE != 0 && !relro {
			out = append(out, records.Writable{Symbol: s.Name, Bytes: int64(s.Size)})
		}
	}
	slices.SortFunc(out, func(a, b records.Writable) int { return bytes.Compare([]byte(a.Symbol), []byte(b.Symbol)) })
	return out, nil
}

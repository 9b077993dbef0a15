package kat

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Manifest holds what the canonical forms of a candidate's KAT files must hash
// to.
type Manifest struct {
	Name    string  // the file it was read from
	Entries []Entry // in order of path
}

// Entry is one line of a manifest.
type Entry struct {
	Sum  [sha256.Size]byte // SHA-256 of the canonical form
	Mode Mode
	Path string // <instance>/<file>
	Line int
}

// ParseManifest reads a manifest, one file a line:
//
//	<64 hex digits> <mode> <instance>/<file>
//
// Empty lines and lines that begin with # are allowed, line ends may be CRLF.
// Anything else is an error that starts with name:line, two lines for one file
// included; so is a manifest without a line.
func ParseManifest(name string, data []byte) (*Manifest, error) {
	m := &Manifest{Name: name}
	for line, text := range lines(data) {
		text = bytes.TrimLeft(text, " \t")
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		e, err := parseEntry(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		e.Line = line
		m.Entries = append(m.Entries, e)
	}
	if len(m.Entries) == 0 {
		return nil, fmt.Errorf("%s:1: the manifest has no entry: add a line \"<sha256> strict <instance>/<file>\" for each file", name)
	}
	slices.SortStableFunc(m.Entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	for i := 1; i < len(m.Entries); i++ {
		if a, b := m.Entries[i-1], m.Entries[i]; a.Path == b.Path {
			return nil, fmt.Errorf("%s:%d: %s stands on line %d already: remove one", name, b.Line, b.Path, a.Line)
		}
	}
	return m, nil
}

func parseEntry(text string) (e Entry, err error) {
	fields := strings.Fields(text)
	if len(fields) != 3 {
		return e, fmt.Errorf("expected \"<sha256> <mode> <instance>/<file>\", found %d fields", len(fields))
	}
	if len(fields[0]) != 2*sha256.Size {
		return e, fmt.Errorf("expected a SHA-256 of 64 hex digits, found %d characters", len(fields[0]))
	}
	if _, err := hex.Decode(e.Sum[:], []byte(fields[0])); err != nil {
		return e, fmt.Errorf("the SHA-256 is not hex: %w", err)
	}
	if e.Mode, err = ParseMode(fields[1]); err != nil {
		return e, err
	}
	e.Path = fields[2]
	if !fs.ValidPath(e.Path) || strings.Count(e.Path, "/") != 1 || strings.ContainsAny(e.Path, "\\:") {
		return e, fmt.Errorf("path %q is not of the form <instance>/<file>", e.Path)
	}
	return e, nil
}

// Lookup finds the entry of an instance's file.
func (m *Manifest) Lookup(instance, file string) (Entry, bool) {
	i, ok := slices.BinarySearchFunc(m.Entries, instance+"/"+file, func(e Entry, p string) int {
		return strings.Compare(e.Path, p)
	})
	if !ok {
		return Entry{}, false
	}
	return m.Entries[i], true
}

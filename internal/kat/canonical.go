package kat

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"
)

// Mode says which part of a KAT file a manifest line covers.
type Mode struct {
	NoLen   bool // lines whose key ends in _Len are left out
	Records int  // the first so many records only; 0: all
}

// ParseMode reads strict or nolen, with an optional suffix :N for the first N
// records (strict:3).
func ParseMode(s string) (Mode, error) {
	name, count, limited := strings.Cut(s, ":")
	var m Mode
	switch name {
	case "strict":
	case "nolen":
		m.NoLen = true
	default:
		return m, fmt.Errorf("unknown mode %q: use strict or nolen, with :N after it for the first N records", s)
	}
	if limited {
		n, err := strconv.ParseUint(count, 10, 31)
		if err != nil || n == 0 || strconv.FormatUint(n, 10) != count {
			return m, fmt.Errorf("mode %q: the number of records after the colon must be a decimal from 1 up", s)
		}
		m.Records = int(n)
	}
	return m, nil
}

// String is the mode as a manifest spells it.
func (m Mode) String() string {
	s := "strict"
	if m.NoLen {
		s = "nolen"
	}
	if m.Records > 0 {
		s += ":" + strconv.Itoa(m.Records)
	}
	return s
}

// Canonical takes the text of a KAT file and hashes its canonical form: CR and
// trailing blanks dropped, empty lines dropped, every remaining line ended by
// one LF. It holds one line at a time, of whatever length.
//
// A record begins at each line that has the key of the file's first line with a
// key ("Msg_Len = 0"): the empty lines between records are no part of the
// canonical form, so they do not count here either.
type Canonical struct {
	mode     Mode
	sum      hash.Hash
	line     []byte
	firstKey []byte
	records  int
}

// NewCanonical starts an empty text.
func NewCanonical(mode Mode) *Canonical { return &Canonical{mode: mode, sum: sha256.New()} }

// Write adds text, cut anywhere. It never fails.
func (c *Canonical) Write(p []byte) (int, error) {
	n := len(p)
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			c.line = append(c.line, p...)
			return n, nil
		}
		if len(c.line) > 0 {
			c.line = append(c.line, p[:i]...)
			c.endLine(c.line)
			c.line = c.line[:0]
		} else {
			c.endLine(p[:i])
		}
		p = p[i+1:]
	}
}

// Sum ends the text and returns the SHA-256 of its canonical form.
func (c *Canonical) Sum() (sum [sha256.Size]byte) {
	if len(c.line) > 0 {
		c.endLine(c.line)
		c.line = c.line[:0]
	}
	c.sum.Sum(sum[:0])
	return sum
}

// Records is the number of records so far, those left out included.
func (c *Canonical) Records() int { return c.records }

func (c *Canonical) endLine(line []byte) {
	line = trimLine(line)
	if len(line) == 0 {
		return
	}
	key := keyOf(line)
	if len(key) > 0 {
		if c.firstKey == nil {
			c.firstKey = bytes.Clone(key)
		}
		if bytes.Equal(key, c.firstKey) {
			c.records++
		}
	}
	if c.mode.Records > 0 && c.records > c.mode.Records {
		return
	}
	if c.mode.NoLen && bytes.HasSuffix(key, []byte("_Len")) {
		return
	}
	c.sum.Write(line)
	c.sum.Write([]byte{'\n'})
}

// trimLine drops every CR and the blanks at the end; it leaves line's bytes as
// they are.
func trimLine(line []byte) []byte {
	line = bytes.TrimRight(line, " \t\r")
	if bytes.IndexByte(line, '\r') >= 0 {
		line = bytes.TrimRight(bytes.ReplaceAll(line, []byte{'\r'}, nil), " \t")
	}
	return line
}

// keyOf is what stands before the first "=", or nil in a line without one.
func keyOf(line []byte) []byte {
	key, _, ok := bytes.Cut(line, []byte{'='})
	if !ok {
		return nil
	}
	return bytes.TrimSpace(key)
}

// CanonicalSum reads a whole text and returns the SHA-256 of its canonical
// form. A mode that asks for more records than there are is an error.
func CanonicalSum(r io.Reader, mode Mode) (sum [sha256.Size]byte, err error) {
	c := NewCanonical(mode)
	if _, err := io.Copy(c, r); err != nil {
		return sum, err
	}
	sum = c.Sum()
	if mode.Records > c.records {
		return sum, fmt.Errorf("mode %s asks for %d records, the text has %d", mode, mode.Records, c.records)
	}
	if c.records == 0 {
		return sum, errors.New("the text has no record")
	}
	return sum, nil
}

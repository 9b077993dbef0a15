package kat

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"iter"
	"strconv"
)

// TextRecord is one record of an official KAT file as its text gives it.
type TextRecord struct {
	Line       int // of its Msg_Len
	Bits       uint64
	Abridged   bool   // by seed and ends, else whole
	Message    []byte // ceil(Bits/8) bytes of a whole message
	Seed       []byte // of an abridged message, may be empty
	Head, Tail []byte // first and last 8 bytes of an abridged message
	DigestBits int
	Digest     []byte // ceil(DigestBits/8) bytes
}

// ParseKATText reads an official KAT file: records of Msg_Len, Msg (or Msg_Seed
// and Msg_Exp), Dst_Len and Dst, in this order, as kat/README.md shows them
// ("The schedule"). Line ends may be CRLF, hex of either case; anything else is
// an error that starts with name:line.
func ParseKATText(name string, data []byte) ([]TextRecord, error) {
	p := textParser{name: name}
	var records []TextRecord
	for line, text := range lines(data) {
		if len(text) == 0 {
			continue
		}
		if err := p.take(line, text); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		if p.want == "Msg_Len" {
			records = append(records, p.rec)
			p.rec = TextRecord{}
		}
	}
	switch {
	case p.want != "" && p.want != "Msg_Len":
		return nil, fmt.Errorf("%s:%d: the record ends before its %s: the file is cut off", name, p.rec.Line, p.want)
	case len(records) == 0:
		return nil, fmt.Errorf("%s:1: the file has no record", name)
	}
	return records, nil
}

// textParser reads one record key by key.
type textParser struct {
	name string
	want string // the key that must come next
	rec  TextRecord
}

// take reads one line that is not empty.
func (p *textParser) take(line int, text []byte) error {
	if p.want == "" {
		p.want = "Msg_Len"
	}
	keyText, value, ok := bytes.Cut(text, []byte{'='})
	key := string(bytes.TrimSpace(keyText))
	if !ok {
		return fmt.Errorf("expected a line %q, found %q", p.want+" = …", clip(text))
	}
	if key == "Msg_Seed" && p.want == "Msg" {
		p.want = "Msg_Seed"
	}
	if key != p.want {
		return fmt.Errorf("expected the key %s, found %q", p.want, clip(keyText))
	}
	return p.set(line, key, bytes.TrimSpace(value))
}

// set stores a value and says which key comes after it.
func (p *textParser) set(line int, key string, value []byte) (err error) {
	r := &p.rec
	switch key {
	case "Msg_Len":
		r.Line = line
		r.Bits, err = parseCount(value, 64)
		p.want = "Msg"
	case "Msg":
		r.Message, err = parseHex(value, byteLen(r.Bits))
		p.want = "Dst_Len"
	case "Msg_Seed":
		r.Abridged = true
		r.Seed, err = parseHex(value, uint64(len(value)/2))
		p.want = "Msg_Exp"
	case "Msg_Exp":
		head, tail, ok := bytes.Cut(value, []byte(" .... "))
		if !ok {
			return fmt.Errorf("Msg_Exp must be 16 hex digits, %q and 16 hex digits, found %q", "....", clip(value))
		}
		if r.Head, err = parseHex(head, abridgedEdge); err == nil {
			r.Tail, err = parseHex(tail, abridgedEdge)
		}
		p.want = "Dst_Len"
	case "Dst_Len":
		var n uint64
		n, err = parseCount(value, 31)
		r.DigestBits = int(n)
		p.want = "Dst"
	case "Dst":
		r.Digest, err = parseHex(value, byteLen(uint64(r.DigestBits)))
		p.want = "Msg_Len"
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

// lines yields the lines of a text, numbered from 1, without line ends, CR and
// trailing blanks. Lines may be of any length.
func lines(data []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		n := 0
		for text := range bytes.Lines(data) {
			n++
			if !yield(n, bytes.TrimRight(text, " \t\r\n")) {
				return
			}
		}
	}
}

// parseCount reads a decimal without sign or leading zeros, below 2^bitSize.
func parseCount(text []byte, bitSize int) (uint64, error) {
	n, err := strconv.ParseUint(string(text), 10, bitSize)
	if err != nil || strconv.FormatUint(n, 10) != string(text) {
		return 0, fmt.Errorf("expected a decimal number, found %q", clip(text))
	}
	return n, nil
}

// parseHex reads exactly n bytes of hex.
func parseHex(text []byte, n uint64) ([]byte, error) {
	if uint64(len(text)) != 2*n {
		return nil, fmt.Errorf("expected %d bytes of hex, found %d characters", n, len(text))
	}
	out := make([]byte, n)
	if _, err := hex.Decode(out, text); err != nil {
		return nil, fmt.Errorf("not hex: %w", err)
	}
	return out, nil
}

// clip shortens what a message quotes from a file.
func clip(text []byte) string {
	const most = 40
	if len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(text)
}

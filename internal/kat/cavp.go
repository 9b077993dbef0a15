package kat

import (
	"bytes"
	"errors"
	"fmt"
)

// Rounds of the pseudo-random test of SHAVS (section 6.4): MD_3 to MD_1002.
const monteFirst, monteLast = 3, 1002

// CAVP is a NIST CAVP response file of a hash function: a ShortMsg or LongMsg
// file has messages, a Monte file has chains.
type CAVP struct {
	Name     string
	Messages []CAVPMessage
	Chains   []CAVPChain
}

// CAVPMessage is a message with its digest. L is the digest length in bytes of
// the section [L = n] that it stands in.
type CAVPMessage struct {
	Line    int // of its Len
	L       int
	Bits    uint64
	Message []byte // ceil(Bits/8) bytes
	Digest  []byte // L bytes
}

// CAVPChain is a Monte test: Digests[j] is MD_1002 of count j, which is the
// seed of count j+1. For each count MD_0 = MD_1 = MD_2 = seed, and
// MD_i = H(MD_{i-3} || MD_{i-2} || MD_{i-1}) for i = 3 … 1002.
type CAVPChain struct {
	Line    int // of its Seed
	L       int
	Seed    []byte
	Digests [][]byte
	Lines   []int // of each MD
}

// ParseCAVP reads a .rsp file in the layout of the SHA-1 and SHA-2 files of
// SHAVS: sections [L = bytes], then Len (in bits), Msg and MD, or Seed and then
// COUNT and MD. A message of Len = 0 has Msg = 00. Comments begin with #; line
// ends may be CRLF. Anything else is an error that starts with name:line.
func ParseCAVP(name string, data []byte) (*CAVP, error) {
	p := cavpParser{file: &CAVP{Name: name}}
	for line, text := range lines(data) {
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		if err := p.take(line, text); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
	}
	switch {
	case p.want != "":
		return nil, fmt.Errorf("%s:%d: the vector ends before its %s: the file is cut off", name, p.line, p.want)
	case len(p.file.Messages)+len(p.file.Chains) == 0:
		return nil, fmt.Errorf("%s:1: the file has no vector", name)
	}
	return p.file, nil
}

type cavpParser struct {
	file  *CAVP
	l     int    // of the section, 0 before the first
	want  string // the key that must come next; empty: a new vector
	line  int    // where the vector began
	msg   CAVPMessage
	chain *CAVPChain // the chain that COUNT and MD belong to
}

func (p *cavpParser) take(line int, text []byte) error {
	if text[0] == '[' {
		return p.section(text)
	}
	keyText, value, ok := bytes.Cut(text, []byte{'='})
	if !ok {
		return fmt.Errorf("expected a line \"key = value\", found %q", clip(text))
	}
	key, value := string(bytes.TrimSpace(keyText)), bytes.TrimSpace(value)
	if p.l == 0 {
		return errors.New("a vector before the section line [L = bytes]")
	}
	if p.want != "" && key != p.want {
		return fmt.Errorf("expected the key %s, found %q", p.want, clip(keyText))
	}
	if err := p.set(line, key, value); err != nil {
		return fmt.Errorf("%s: %w", clip([]byte(key)), err)
	}
	return nil
}

// section reads [L = n], n bytes.
func (p *cavpParser) section(text []byte) error {
	if p.want != "" {
		return fmt.Errorf("expected the key %s, found %q", p.want, clip(text))
	}
	inner, ok := bytes.CutSuffix(text[1:], []byte{']'})
	key, value, eq := bytes.Cut(inner, []byte{'='})
	if !ok || !eq || string(bytes.TrimSpace(key)) != "L" {
		return fmt.Errorf("unknown section %q: only [L = bytes] is known", clip(text))
	}
	n, err := parseCount(bytes.TrimSpace(value), 12)
	if err != nil || n == 0 {
		return fmt.Errorf("section %q: the digest length must be a decimal from 1 to 4095 bytes", clip(text))
	}
	p.l, p.chain = int(n), nil
	return nil
}

func (p *cavpParser) set(line int, key string, value []byte) (err error) {
	l := uint64(p.l)
	switch key {
	case "Len":
		p.chain = nil
		p.line, p.want = line, "Msg"
		p.msg = CAVPMessage{Line: line, L: p.l}
		p.msg.Bits, err = parseCount(value, 64)
	case "Msg":
		if p.want != "Msg" {
			return errors.New("a message before its Len")
		}
		p.want = "MD"
		p.msg.Message, err = cavpBytes(value, p.msg.Bits)
	case "Seed":
		p.line, p.want = line, "COUNT"
		p.file.Chains = append(p.file.Chains, CAVPChain{Line: line, L: p.l})
		p.chain = &p.file.Chains[len(p.file.Chains)-1]
		p.chain.Seed, err = parseHex(value, l)
	case "COUNT":
		if p.chain == nil {
			return errors.New("a count before its Seed")
		}
		p.line, p.want = line, "MD"
		var n uint64
		if n, err = parseCount(value, 31); err == nil && int(n) != len(p.chain.Digests) {
			return fmt.Errorf("expected %d, found %d: counts go up one by one", len(p.chain.Digests), n)
		}
	case "MD":
		if p.want != "MD" {
			return errors.New("a digest before its message or count")
		}
		p.want = ""
		return p.digest(line, value)
	default:
		return errors.New("unknown key: known are Len, Msg, MD, Seed and COUNT")
	}
	return err
}

func (p *cavpParser) digest(line int, value []byte) error {
	md, err := parseHex(value, uint64(p.l))
	if err != nil {
		return err
	}
	if p.chain != nil {
		p.chain.Digests = append(p.chain.Digests, md)
		p.chain.Lines = append(p.chain.Lines, line)
		return nil
	}
	p.msg.Digest = md
	p.file.Messages = append(p.file.Messages, p.msg)
	return nil
}

// cavpBytes reads Msg: ceil(bits/8) bytes, and 00 for no bits.
func cavpBytes(value []byte, bits uint64) ([]byte, error) {
	if bits == 0 {
		if s := string(value); s != "00" && s != "" {
			return nil, fmt.Errorf("expected 00 for a message of Len = 0, found %q", clip(value))
		}
		return nil, nil
	}
	return parseHex(value, byteLen(bits))
}

package kat

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/ngcc/bench-action/internal/driver"
)

// Modes of the gate: what it checks before a core counts as correct.
const (
	// ModeGate checks KAT_2_12 and KAT_2_23, before every timing.
	ModeGate = "gate"
	// ModeFull adds the million hashes of KAT_Loop and the 1 GiB messages of
	// KAT_2_33.
	ModeFull = "full"
)

// The shape of the official files.
const (
	records212   = 4097    // bit lengths 0 to 4096
	bits223      = 1 << 23 // message bits of KAT_2_23
	bits233      = 1 << 33 // message bits of KAT_2_33, 1 GiB
	bitsLoop     = 1 << 13 // message bits of KAT_Loop
	loopRounds   = 1_000_000
	seedRepeats  = 8 // a file's prefix is repeated to a 64-byte seed
	abridgedEdge = 8 // bytes that Msg_Exp shows of each end
)

// File is one of the four files of the official schedule. It is the same for
// all instances but for its name and its digests.
type File struct {
	Prefix  string // KAT_2_12, the first part of its name
	Records int
	record  func(i int) Record
}

// Record is one record of an official file, without its digest.
type Record struct {
	Message driver.Message // read only: messages are shared between labels
	// Rounds is the number of rounds of the loop that follows the first hash;
	// 0 except in KAT_Loop.
	Rounds int
	// Abridged messages are printed by their seed and ends, others whole.
	Abridged bool
	Seed     []byte // seed of the DRNG an abridged message comes from, or nil
	Head     []byte // first 8 bytes of an abridged message
	Tail     []byte // last 8 bytes of an abridged message
}

var (
	quickFiles = []File{{"KAT_2_12", records212, record212}, {"KAT_2_23", 3, record223}}
	longFiles  = []File{{"KAT_Loop", 1, recordLoop}, {"KAT_2_33", 3, record233}}
)

// Schedule lists the files that mode checks, quick ones first.
func Schedule(mode string) ([]File, error) {
	switch mode {
	case ModeGate:
		return quickFiles, nil
	case ModeFull:
		return slices.Concat(quickFiles, longFiles), nil
	}
	return nil, fmt.Errorf("unknown KAT mode %q: use %s or %s", mode, ModeGate, ModeFull)
}

// Name is the file's name for an instance: KAT_2_12_QILIN-512.txt.
func (f File) Name(instance string) string { return f.Prefix + "_" + instance + ".txt" }

// Record describes record i, 0 ≤ i < f.Records. A message with a Reader gets a
// fresh one with every call.
func (f File) Record(i int) Record { return f.record(i) }

// seedOf is the DRNG seed of the file with that prefix, 64 bytes of ASCII.
func seedOf(prefix string) []byte { return bytes.Repeat([]byte(prefix), seedRepeats) }

// messages212 holds the 4097 messages of KAT_2_12, 1 MiB in all: one get of
// each length from one DRNG.
var messages212 = sync.OnceValue(func() [][]byte {
	d := NewDRNG(seedOf("KAT_2_12"))
	out := make([][]byte, records212)
	for n := range out {
		out[n] = d.Get(uint64(n))
	}
	return out
})

var message223 = sync.OnceValue(func() []byte { return NewDRNG(seedOf("KAT_2_23")).Get(bits223) })

var messageLoop = sync.OnceValue(func() []byte { return NewDRNG(seedOf("KAT_Loop")).Get(bitsLoop) })

func record212(i int) Record {
	return Record{Message: driver.Message{Bits: uint64(i), Rule: driver.RuleData, Data: messages212()[i]}}
}

func recordLoop(int) Record {
	return Record{
		Message: driver.Message{Bits: bitsLoop, Rule: driver.RuleData, Data: messageLoop()},
		Rounds:  loopRounds,
	}
}

func record223(i int) Record {
	if i < 2 {
		return uniform(i, bits223)
	}
	m := message223()
	return Record{
		Message:  driver.Message{Bits: bits223, Rule: driver.RuleData, Data: m},
		Abridged: true,
		Seed:     seedOf("KAT_2_23"),
		Head:     m[:abridgedEdge],
		Tail:     m[len(m)-abridgedEdge:],
	}
}

func record233(i int) Record {
	if i < 2 {
		return uniform(i, bits233)
	}
	s := NewDRNG(seedOf("KAT_2_33")).Stream(bits233)
	r := Record{
		Message:  driver.Message{Bits: bits233, Rule: driver.RuleData, Reader: s.Reader()},
		Abridged: true,
		Seed:     seedOf("KAT_2_33"),
		Head:     make([]byte, abridgedEdge),
		Tail:     make([]byte, abridgedEdge),
	}
	// Both ends lie inside the stream, so neither read can fail.
	_, _ = s.ReadAt(r.Head, 0)
	_, _ = s.ReadAt(r.Tail, s.Size()-abridgedEdge)
	return r
}

// uniform is record 0 (all zero bits) or 1 (all one bits) of the long files.
func uniform(i int, bits uint64) Record {
	rule := []driver.Rule{driver.RuleZero, driver.RuleOnes}[i]
	edge := bytes.Repeat([]byte{[]byte{0x00, 0xff}[i]}, abridgedEdge)
	return Record{Message: driver.Message{Bits: bits, Rule: rule}, Abridged: true, Head: edge, Tail: edge}
}

// AppendText appends the record as the official generator prints it, with the
// empty line after it. digestBits is the instance's digest length.
func (r Record) AppendText(dst []byte, digestBits int, digest []byte) []byte {
	dst = append(dst, "Msg_Len = "...)
	dst = strconv.AppendUint(dst, r.Message.Bits, 10)
	if r.Abridged {
		dst = append(dst, "\nMsg_Seed = "...)
		dst = appendHex(dst, r.Seed)
		dst = append(dst, "\nMsg_Exp = "...)
		dst = appendHex(dst, r.Head)
		dst = append(dst, " .... "...)
		dst = appendHex(dst, r.Tail)
	} else {
		dst = append(dst, "\nMsg = "...)
		dst = appendHex(dst, r.Message.Data)
	}
	dst = append(dst, "\nDst_Len = "...)
	dst = strconv.AppendInt(dst, int64(digestBits), 10)
	dst = append(dst, "\nDst = "...)
	dst = appendHex(dst, digest)
	return append(dst, "\n\n"...)
}

// appendHex appends b in upper-case hex.
func appendHex(dst, b []byte) []byte {
	from := len(dst)
	dst = hex.AppendEncode(dst, b)
	for i, c := range dst[from:] {
		if c >= 'a' {
			dst[from+i] = c - 'a' + 'A'
		}
	}
	return dst
}

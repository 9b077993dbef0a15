package kat

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ngcc/bench-action/internal/catalog"
	"github.com/ngcc/bench-action/internal/driver"
)

const (
	toyID       = "toy-1"
	toyInstance = "TOY-512"
	toyBits     = 512
	toyMost     = 1 << 17 // bytes of a message that the toy hash reads
)

// toyHash is a hash of the first 128 KiB of a message and of its length, quick
// enough for the 1 GiB messages.
func toyHash(bits uint64, data []byte) []byte {
	h := sha512.New()
	_ = binary.Write(h, binary.BigEndian, bits)
	h.Write(data)
	return h.Sum(nil)
}

// toyBytes is what the toy hash reads of a message: its first 128 KiB, without
// unused low bits.
func toyBytes(m driver.Message) []byte {
	n := byteLen(m.Bits)
	if n > toyMost {
		data := make([]byte, toyMost)
		switch {
		case m.Reader != nil:
			if _, err := io.ReadFull(m.Reader, data); err != nil {
				panic(err)
			}
		case m.Rule == driver.RuleData:
			copy(data, m.Data)
		case m.Rule == driver.RuleOnes:
			data = bytes.Repeat([]byte{0xff}, toyMost)
		}
		return data
	}
	data, err := m.Bytes()
	if err != nil {
		panic(err)
	}
	data = bytes.Clone(data)
	if n > 0 {
		data[n-1] &= lastByteMask(m.Bits)
	}
	return data
}

// toy is a core in this process. fault, if any, may spoil digests or return an
// error; it sees every message with its number in the session.
type toy struct {
	fault  func(session, call int, m driver.Message, digest []byte) ([]byte, error)
	closed error
	number int
	calls  int
}

func (c *toy) Hash(ctx context.Context, m driver.Message) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	digest := toyHash(m.Bits, toyBytes(m))
	c.calls++
	if c.fault != nil {
		return c.fault(c.number, c.calls, m, digest)
	}
	return digest, nil
}

func (c *toy) HashAll(ctx context.Context, n int, next func(i int) driver.Message, got func(i int, digest []byte) error) error {
	for i := range n {
		digest, err := c.Hash(ctx, next(i))
		if err == nil {
			err = got(i, digest)
		}
		if err != nil {
			return err
		}
		clear(digest) // the gate has no claim to it
	}
	return nil
}

func (c *toy) Loop(ctx context.Context, msg []byte, n int, progress func(done int)) ([]byte, error) {
	return toyLoop(msg, n), nil
}

func (c *toy) Close() error { return c.closed }

// toyLoop is the loop of KAT_Loop, with an offset in place of the rotation.
func toyLoop(msg []byte, n int) []byte {
	m, at, d := bytes.Clone(msg), 0, toyBits/8
	h := toyHash(uint64(8*len(m)), m)
	turned := make([]byte, len(m))
	for range n {
		at = (at + d) % len(m)
		for i := range d {
			m[at+i] ^= h[i]
		}
		copy(turned, m[at:])
		copy(turned[len(m)-at:], m[:at])
		h = toyHash(uint64(8*len(m)), turned)
	}
	return h
}

// toyText prints a file as the official generator does, from the words of the
// schedule alone.
func toyText(prefix string) string {
	var b strings.Builder
	d := newSlowDRNG([]byte(strings.Repeat(prefix, 8)))
	whole := func(bits int, msg, digest []byte) {
		fmt.Fprintf(&b, "Msg_Len = %d\nMsg = %X\nDst_Len = 512\nDst = %X\n\n", bits, msg, digest)
	}
	switch prefix {
	case "KAT_2_12":
		for bits := range 4097 {
			m := d.get(bits)
			whole(bits, m, toyHash(uint64(bits), m))
		}
	case "KAT_Loop":
		m := d.get(8192)
		whole(8192, m, toyLoop(m, 1_000_000))
	default:
		bits := map[string]uint64{"KAT_2_23": 1 << 23, "KAT_2_33": 1 << 33}[prefix]
		for i := range 3 {
			head, tail, seed := bytes.Repeat([]byte{byte(-(i % 2))}, toyMost), "", ""
			tail = fmt.Sprintf("%X", head[:8])
			if i == 2 {
				seed = fmt.Sprintf("%X", strings.Repeat(prefix, 8))
				s := NewDRNG([]byte(strings.Repeat(prefix, 8))).Stream(bits)
				_, _ = s.ReadAt(head, 0)
				last := make([]byte, 8)
				_, _ = s.ReadAt(last, s.Size()-8)
				tail = fmt.Sprintf("%X", last)
			}
			fmt.Fprintf(&b, "Msg_Len = %d\nMsg_Seed = %s\nMsg_Exp = %X .... %s\nDst_Len = 512\nDst = %X\n\n",
				bits, seed, head[:8], tail, toyHash(bits, head))
		}
	}
	return b.String()
}

// lineSum is the canonical form's digest by the words of the specification.
func lineSum(text string) string {
	h := sha256.New()
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(strings.ReplaceAll(line, "\r", ""), " \t\n"); line != "" {
			h.Write([]byte(line + "\n"))
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func toyManifest(prefixes ...string) string {
	var b strings.Builder
	for _, p := range prefixes {
		fmt.Fprintf(&b, "%s strict %s/%s_%s.txt\n", lineSum(toyText(p)), toyInstance, p, toyInstance)
	}
	return b.String()
}

func toyVectors(bits ...uint64) string {
	text := vectorsHead
	for _, n := range bits {
		for _, rule := range []string{"perf", "perf-dirty"} {
			m, _ := vectorMessage(n, rule)
			text += fmt.Sprintf("%s,%s,%d,%d,%s,%x\n", toyID, toyInstance, toyBits, n, rule, toyHash(n, toyBytes(m)))
		}
	}
	return text + fmt.Sprintf("%s,%s,%d,24,ascii:abc,%x\n", toyID, toyInstance, toyBits, toyHash(24, []byte("abc")))
}

// toyRoot is a data root in which the toy passes the gate.
func toyRoot(prefixes ...string) fstest.MapFS {
	return fstest.MapFS{
		"kat/manifests/toy-1.sha256": {Data: []byte(toyManifest(prefixes...))},
		"kat/vectors.csv":            {Data: []byte(toyVectors(0, 7, 8, 4097))},
	}
}

// toyOptions are those of a gate over root; every session of the core has the
// fault.
func toyOptions(root fstest.MapFS, fault func(session, call int, m driver.Message, digest []byte) ([]byte, error)) Options {
	sessions := 0
	return Options{
		Candidate: toyID, Label: toyInstance, Instance: toyInstance, DigestBits: toyBits,
		API: catalog.CryptHash, Kind: catalog.GateManifest, Mode: ModeGate,
		Files: root, Bytes: []int{32, 128},
		Open: func(context.Context) (Hasher, error) {
			sessions++
			return &toy{fault: fault, number: sessions}, nil
		},
	}
}

// spoil returns a fault that flips a bit of the digests that where picks.
func spoil(where func(m driver.Message) bool) func(int, int, driver.Message, []byte) ([]byte, error) {
	return func(_, _ int, m driver.Message, digest []byte) ([]byte, error) {
		if where(m) {
			digest[0] ^= 1
		}
		return digest, nil
	}
}

func mustGate(t *testing.T, o Options) (result, detail, log string) {
	t.Helper()
	out, text, err := Gate(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	last := strings.TrimRight(string(text), "\n")
	last = last[strings.LastIndexByte(last, '\n')+1:]
	want := "RESULT " + o.Candidate + " " + o.Label + " " + out.Result
	if out.Detail != "" {
		want += ": " + out.Detail
	}
	if last != want {
		t.Errorf("last line of the log %q, want %q", last, want)
	}
	return out.Result, out.Detail, string(text)
}

// Package kat holds the known-answer tests: the official schedule of the NGCC
// hash candidates with its generator, readers for manifests, small vectors and
// NIST CAVP files, and the gate that no core passes untested. kat/README.md in
// the repository describes the formats.
package kat

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"

	"github.com/emmansun/gmsm/sm3"
)

const (
	// seedBytes is seedlen of the Hash_DRBG, 440 bits (SP 800-90A table 2, for
	// a 256-bit hash).
	seedBytes = 55
	// outBytes is outlen, one SM3 digest.
	outBytes = sm3.Size
)

// DRNG is the generator of the official messages: an SM3 Hash_DRBG in the shape
// of SP 800-90A section 10.1.1, without reseeding. It is no source of secrets,
// and not safe for concurrent use; what Stream returns is independent of it.
type DRNG struct {
	v, c    [seedBytes]byte // big-endian integers below 2^440
	counter uint64
}

// NewDRNG starts a generator: V = df(seed), C = df(00 || V), counter = 1.
func NewDRNG(seed []byte) *DRNG {
	d := &DRNG{counter: 1}
	d.v = derive(seed)
	d.c = derive(append([]byte{0}, d.v[:]...))
	return d
}

// derive is the derivation function df to 440 bits (SP 800-90A section 10.3.1):
// SM3(ctr || 000001b8 || x) for ctr = 1, 2, …, cut to 55 bytes.
func derive(x []byte) (out [seedBytes]byte) {
	in := append([]byte{0, 0, 0, 0x01, 0xb8}, x...)
	for n := 0; n < seedBytes; {
		in[0]++
		sum := sm3.Sum(in)
		n += copy(out[n:], sum[:])
	}
	return out
}

// Get returns the next nbits bits in ceil(nbits/8) bytes; the unused low bits
// of a partial last byte are 0. A request of 0 bits still moves the state.
func (d *DRNG) Get(nbits uint64) []byte {
	s := d.Stream(nbits)
	out := make([]byte, s.Size())
	if _, err := s.ReadAt(out, 0); err != nil {
		panic("kat: a stream ended before its size: " + err.Error())
	}
	return out
}

// Stream is Get for messages too long to hold: it moves the state at once and
// computes the bytes when they are read.
func (d *DRNG) Stream(nbits uint64) *Stream {
	s := &Stream{start: d.v, nbits: nbits}
	sum := sm3.Sum(append([]byte{3}, d.v[:]...))
	var count [8]byte
	binary.BigEndian.PutUint64(count[:], d.counter)
	add(&d.v, sum[:])
	add(&d.v, d.c[:])
	add(&d.v, count[:])
	d.counter++
	return s
}

// add is v = v + x mod 2^440, x a big-endian integer of at most 55 bytes.
func add(v *[seedBytes]byte, x []byte) {
	carry := uint(0)
	for i := 1; i <= seedBytes; i++ {
		sum := uint(v[seedBytes-i]) + carry
		if i <= len(x) {
			sum += uint(x[len(x)-i])
		}
		v[seedBytes-i] = byte(sum)
		carry = sum >> 8
	}
}

// Stream is one output of a DRNG: the bytes of SM3(V), SM3(V+1), …, cut to a
// number of bits. Reads at different places may run at the same time.
type Stream struct {
	start [seedBytes]byte
	nbits uint64
}

// Size is the length in bytes, ceil(bits/8).
func (s *Stream) Size() int64 { return int64(byteLen(s.nbits)) }

// Reader reads the stream from its start.
func (s *Stream) Reader() io.Reader { return io.NewSectionReader(s, 0, s.Size()) }

// ReadAt fills p with the bytes from off on (io.ReaderAt).
func (s *Stream) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("read of a DRNG stream at offset %d: use one from 0 on", off)
	}
	if len(p) == 0 {
		return 0, nil
	}
	if off >= s.Size() {
		return 0, io.EOF
	}
	var err error
	if rest := s.Size() - off; int64(len(p)) > rest {
		p, err = p[:rest], io.EOF
	}
	data := s.start
	var block [8]byte
	binary.BigEndian.PutUint64(block[:], uint64(off/outBytes))
	add(&data, block[:])
	skip := int(off % outBytes)
	for n := 0; n < len(p); skip = 0 {
		sum := sm3.Sum(data[:])
		n += copy(p[n:], sum[skip:])
		increment(&data)
	}
	if n := len(p); off+int64(n) == s.Size() {
		p[n-1] &= lastByteMask(s.nbits)
	}
	return len(p), err
}

// increment is v = v + 1 mod 2^440.
func increment(v *[seedBytes]byte) {
	for i := seedBytes - 1; i >= 0; i-- {
		v[i]++
		if v[i] != 0 {
			return
		}
	}
}

// byteLen is ceil(nbits/8).
func byteLen(nbits uint64) uint64 { return nbits/8 + (nbits%8+7)/8 }

// lastByteMask has the bits of a message's last byte that belong to a message
// of nbits bits: the high ones, as bit 0 is the most significant of byte 0.
func lastByteMask(nbits uint64) byte {
	return bits.Reverse8(byte(1<<((nbits+7)%8+1) - 1))
}

package kat

import (
	"bytes"
	"encoding/hex"
	"io"
	"math/big"
	"testing"

	"github.com/emmansun/gmsm/sm3"
)

// slowDRNG is the generator as the official text words it, with math/big.
type slowDRNG struct{ v, c, counter *big.Int }

func slowBytes(n *big.Int) []byte { return n.FillBytes(make([]byte, 55)) }

func slowDerive(x []byte) *big.Int {
	var out []byte
	for ctr := byte(1); len(out) < 55; ctr++ {
		sum := sm3.Sum(append([]byte{ctr, 0, 0, 1, 0xb8}, x...))
		out = append(out, sum[:]...)
	}
	return new(big.Int).SetBytes(out[:55])
}

func newSlowDRNG(seed []byte) *slowDRNG {
	v := slowDerive(seed)
	return &slowDRNG{v, slowDerive(append([]byte{0}, slowBytes(v)...)), big.NewInt(1)}
}

func (d *slowDRNG) get(nbits int) []byte {
	mod := new(big.Int).Lsh(big.NewInt(1), 440)
	n := (nbits + 7) / 8
	var out []byte
	for data := new(big.Int).Set(d.v); len(out) < n; data.Add(data, big.NewInt(1)).Mod(data, mod) {
		sum := sm3.Sum(slowBytes(data))
		out = append(out, sum[:]...)
	}
	out = out[:n]
	if r := nbits % 8; r != 0 {
		out[n-1] &= 0xff << (8 - r)
	}
	h := sm3.Sum(append([]byte{3}, slowBytes(d.v)...))
	d.v.Add(d.v, new(big.Int).SetBytes(h[:])).Add(d.v, d.c).Add(d.v, d.counter).Mod(d.v, mod)
	d.counter.Add(d.counter, big.NewInt(1))
	return out
}

func TestSM3(t *testing.T) {
	// GB/T 32905-2016, example A.1.
	if got := sm3.Sum([]byte("abc")); hex.EncodeToString(got[:]) != "66c7f0f462eeedd9d1f2d46bdc10e4e24167c4875cf2f7a2297da02b8f4ba8e0" {
		t.Errorf("SM3(abc) = %x", got)
	}
}

func TestDRNGAgainstBigIntegers(t *testing.T) {
	fast, slow := NewDRNG([]byte("seed")), newSlowDRNG([]byte("seed"))
	for nbits := range 700 {
		if got, want := fast.Get(uint64(nbits)), slow.get(nbits); !bytes.Equal(got, want) {
			t.Fatalf("get(%d) = %x, want %x", nbits, got, want)
		}
	}
}

// The last addition of V + 1 carries through all 55 bytes.
func TestDRNGCarries(t *testing.T) {
	d := NewDRNG(nil)
	slow := newSlowDRNG(nil)
	for i := range d.v {
		d.v[i] = 0xff
	}
	slow.v.SetBytes(d.v[:])
	for range 3 {
		if got, want := d.Get(1000), slow.get(1000); !bytes.Equal(got, want) {
			t.Fatalf("get(1000) = %x, want %x", got, want)
		}
	}
}

func TestZeroBitsMoveTheState(t *testing.T) {
	a, b := NewDRNG([]byte("x")), NewDRNG([]byte("x"))
	if got := a.Get(0); len(got) != 0 {
		t.Errorf("get(0) = %x", got)
	}
	if bytes.Equal(a.Get(64), b.Get(64)) {
		t.Error("get(0) left the state as it was")
	}
}

func TestStreamReads(t *testing.T) {
	for _, nbits := range []uint64{0, 1, 7, 8, 255, 256, 257, 1003, 8192} {
		want := NewDRNG([]byte("s")).Get(nbits)
		s := NewDRNG([]byte("s")).Stream(nbits)
		got, err := io.ReadAll(s.Reader())
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("stream of %d bits: %x, %v; want %x", nbits, got, err, want)
		}
		for off := range want {
			for _, n := range []int{1, 31, 33} {
				p := make([]byte, n)
				k, err := s.ReadAt(p, int64(off))
				end := min(off+n, len(want))
				if !bytes.Equal(p[:k], want[off:end]) || (err == io.EOF) != (off+n > len(want)) {
					t.Fatalf("%d bits, %d bytes at %d: %x, %v; want %x", nbits, n, off, p[:k], err, want[off:end])
				}
			}
		}
		if _, err := s.ReadAt(make([]byte, 1), s.Size()); err != io.EOF {
			t.Errorf("read at the end of %d bits: %v, want EOF", nbits, err)
		}
	}
	if _, err := NewDRNG(nil).Stream(8).ReadAt(nil, -1); err == nil {
		t.Error("a negative offset is no error")
	}
}

func TestLastByteMask(t *testing.T) {
	want := []byte{0xff, 0x80, 0xc0, 0xe0, 0xf0, 0xf8, 0xfc, 0xfe}
	for r, w := range want {
		if got := lastByteMask(uint64(16 + r)); got != w {
			t.Errorf("mask of %d bits = %#x, want %#x", 16+r, got, w)
		}
	}
}

func BenchmarkStream(b *testing.B) {
	s := NewDRNG(seedOf("KAT_2_33")).Stream(bits233)
	p := make([]byte, 1<<16)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		_, _ = s.ReadAt(p, 1<<20)
	}
}

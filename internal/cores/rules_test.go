package cores

import (
	"fmt"
	"math/bits"
	"slices"
)

// aesSBox is the S-box of FIPS 197, 5.1.1: the inverse in GF(2^8) modulo 0x11b,
// then the affine map.
func aesSBox() []string {
	product := func(a, b byte) byte {
		var p byte
		for ; b != 0; b >>= 1 {
			if b&1 != 0 {
				p ^= a
			}
			carry := a >> 7
			a = a<<1 ^ carry*0x1b
		}
		return p
	}
	var out []string
	for x := range 256 {
		var inverse byte
		for y := range 256 {
			if product(byte(x), byte(y)) == 1 {
				inverse = byte(y)
			}
		}
		s := inverse ^ 0x63
		for n := 1; n <= 4; n++ {
			s ^= bits.RotateLeft8(inverse, n)
		}
		out = append(out, fmt.Sprintf("%02x", s))
	}
	return out
}

// pavelorRC is the fraction of π in words of 128 bits, 32 bits an entry; the two
// words that begin with hex digit 0, numbers 7 and 22, lose it and get a 0 at the
// end, as the known answers fix it.
func pavelorRC() []string {
	const rounds = 24
	digits := fmt.Sprintf("%0*x", 32*rounds, piFraction(128*rounds))
	var out []string
	var shifted []int
	for i, word := range split(digits, 32) {
		if word[0] == '0' {
			word = word[1:] + "0"
			shifted = append(shifted, i)
		}
		out = append(out, split(word, 8)...)
	}
	if !slices.Equal(shifted, []int{7, 22}) {
		panic(fmt.Sprint("words of π that begin with 0: ", shifted))
	}
	return out
}

// register steps a shift register n times. Each state becomes a constant with
// bit at[l] set where s[l] is set.
func register(n int, s, at []uint, next func(s []uint) []uint) []uint64 {
	var out []uint64
	for range n {
		var k uint64
		for l, bit := range s {
			k |= uint64(bit) << at[l]
		}
		out = append(out, k)
		s = next(s)
	}
	return out
}

// taichiK is the 7-bit LFSR of the specification: the next state of s is
// (s6, s0^s6, s1, s2, s3, s4, s5).
func taichiK() []string {
	ks := register(120, []uint{1, 0, 0, 0, 0, 0, 0}, []uint{0, 2, 3, 6, 13, 28, 59}, func(s []uint) []uint {
		return []uint{s[6], s[0] ^ s[6], s[1], s[2], s[3], s[4], s[5]}
	})
	return format("%015x", ks)
}

// qilinRC is a 15-bit LFSR that was found from the published values: the next
// state of s is (s0^s1^s13^s14, s0, …, s13).
func qilinRC() []string {
	s := slices.Repeat([]uint{1}, 15)
	at := []uint{0, 1, 2, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 17, 24}
	ks := register(16, s, at, func(s []uint) []uint {
		return append([]uint{s[0] ^ s[1] ^ s[13] ^ s[14]}, s[:14]...)
	})
	return format("%07x", ks)
}

func format(verb string, ks []uint64) []string {
	var out []string
	for _, k := range ks {
		out = append(out, fmt.Sprintf(verb, k))
	}
	return out
}

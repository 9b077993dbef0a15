package cores

import (
	"strings"
	"testing"

	"github.com/ngcc/bench-action/internal/catalog"
)

// A digest length that is not the instance's own, no place for the digest and no
// message where there should be one are refused, and the digest is left alone.
func TestWrongArguments(t *testing.T) {
	sanitised(t, func(t *testing.T, h *harness) {
		right := h.label.Instance.DigestBits
		var calls []call
		for _, bits := range []uint64{0, 8, 1024, 8192} {
			c := h.call(bits, "perf")
			c.noDigest = true
			calls = append(calls, c)
			if bits > 0 {
				calls = append(calls, h.call(bits, "null"))
			}
			if h.label.Candidate.API == catalog.CryptoHash {
				continue // that API has no digest length
			}
			for _, wrong := range []int{0, 1, 8, 256, 384, 511, 512, 513, 768, 1024, 2048, right / 8, right - 8, right + 8, -right, -1} {
				if wrong != right {
					calls = append(calls, call{digestBits: wrong, bits: bits, message: "perf"})
				}
			}
		}
		for i, got := range h.run(t, calls) {
			if got != "refused" {
				t.Errorf("%s: %s; want it refused", calls[i], got)
			}
		}
	})
}

// A message of no bits may be NULL, and is the same message then.
func TestNullMessage(t *testing.T) {
	sanitised(t, func(t *testing.T, h *harness) {
		got := h.run(t, []call{h.call(0, "perf"), h.call(0, "null")})
		if !strings.HasPrefix(got[0], "digest ") || got[0] != got[1] {
			t.Errorf("the empty message: %s\nNULL: %s", got[0], got[1])
		}
	})
}

// Where message and digest lie makes no difference.
func TestAlignment(t *testing.T) {
	sanitised(t, func(t *testing.T, h *harness) {
		for _, bits := range []uint64{8, 64, 1000, 4096, 8 * 1001} {
			calls := []call{h.call(bits, "perf")}
			for at := 1; at < 16; at++ {
				c := h.call(bits, "perf")
				c.messageAt = at
				calls = append(calls, c)
				c.messageAt, c.digestAt = 0, at
				calls = append(calls, c)
				c.messageAt, c.digestAt = at, 15-at
				calls = append(calls, c)
			}
			got := h.run(t, calls)
			for i := range got {
				if !strings.HasPrefix(got[i], "digest ") || got[i] != got[0] {
					t.Errorf("%s\ngot  %s\nwant %s", calls[i], got[i], got[0])
				}
			}
		}
	})
}

package cores

import (
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"sync"
	"testing"

	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/kat"
)

// The vectors come out right under the sanitisers. The right digests are those
// of kat/vectors.csv and of the CAVP files.
func TestSanitisedVectors(t *testing.T) {
	sanitised(t, func(t *testing.T, h *harness) {
		var calls []call
		var want []string
		add := func(c call, digest []byte) {
			calls, want = append(calls, c), append(want, fmt.Sprintf("digest %x", digest))
		}
		for _, v := range vectors(t, h.label) {
			add(h.call(v.Message.Bits, ruleOf(v)), v.Digest)
		}
		for _, name := range h.label.Candidate.Vectors {
			for _, m := range readCAVP(t, name).Messages {
				add(h.call(m.Bits, "hex:"+hex.EncodeToString(m.Message)), m.Digest)
			}
		}
		if len(calls) < 45 { // rows of an instance in vectors.csv
			t.Fatalf("%d vectors only", len(calls))
		}
		for i, got := range h.run(t, calls) {
			if got != want[i] {
				t.Errorf("%.80s\ngot  %s\nwant %s", calls[i], got, want[i])
			}
		}
	})
}

// ruleOf is a row's message in the harness's words.
func ruleOf(v kat.Vector) string {
	if v.Message.Rule == driver.RuleData {
		return "hex:" + hex.EncodeToString(v.Message.Data)
	}
	return v.Rule
}

// readCAVP reads a file of META.yml's vectors, by its path in the data root.
func readCAVP(t testing.TB, name string) *kat.CAVP {
	t.Helper()
	data, err := fs.ReadFile(dataRoot, name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := kat.ParseCAVP(path.Base(name), data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// maxSweepBits is past a block of every core: QILIN-512's of 2112 bits is the
// longest.
const maxSweepBits = 2300

// sweeps holds, for each label, the digests that the first compiler's build gave.
var sweeps sync.Map

// Every length around the blocks passes the sanitisers, ignores the unused low
// bits, and gives a digest of its own, the same whichever compiler made the core.
// That the digests are right is the gate's to say: its files have these lengths.
func TestSanitisedLengths(t *testing.T) {
	sanitised(t, func(t *testing.T, h *harness) {
		var calls []call
		for bits := uint64(0); bits <= maxSweepBits; bits += h.step() {
			calls = append(calls, h.call(bits, "perf"), h.call(bits, "perf-dirty"))
		}
		got := h.run(t, calls)
		first := map[string]uint64{}
		for i := 0; i < len(got); i += 2 {
			bits := calls[i].bits
			if got[i] != got[i+1] {
				t.Errorf("%d bits: the unused bits change the answer:\nclear %s\nset   %s", bits, got[i], got[i+1])
			}
			if before, ok := first[got[i]]; ok {
				t.Errorf("%d bits: the same answer as to %d bits: %s", bits, before, got[i])
			}
			first[got[i]] = bits
		}
		other, loaded := sweeps.LoadOrStore(h.label.Key(), got)
		if !loaded {
			return
		}
		for i, want := range other.([]string) {
			if got[i] != want {
				t.Errorf("%s: compilers disagree:\n%s\n%s", calls[i], want, got[i])
			}
		}
	})
}

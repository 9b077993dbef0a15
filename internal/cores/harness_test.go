package cores

import (
	"bytes"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ngcc/bench-action/internal/catalog"
	"github.com/ngcc/bench-action/internal/kat"
)

var loadVectors = sync.OnceValues(func() ([]kat.Vector, error) {
	data, err := fs.ReadFile(dataRoot, kat.DefaultVectors)
	if err != nil {
		return nil, err
	}
	return kat.ParseVectors(kat.DefaultVectors, data)
})

// call is a line of input of testdata/harness.c. The zero values of the last
// two are places on a 16-byte boundary.
type call struct {
	digestBits int
	bits       uint64
	message    string // perf, perf-dirty, hex:DATA or null
	messageAt  int
	digestAt   int
	noDigest   bool // the digest's pointer is NULL
}

func (c call) String() string {
	at := fmt.Sprint(c.digestAt)
	if c.noDigest {
		at = "null"
	}
	return fmt.Sprintf("%d %d %s %d %s", c.digestBits, c.bits, c.message, c.messageAt, at)
}

// harness is a core under sanitisers in a program.
type harness struct {
	label   catalog.Label
	program string
}

// sanitisers are the compilers that bring address and undefined behaviour
// sanitisers.
var sanitisers = []string{"gcc", "clang"}

var sanitiserFlags = []string{"-O1", "-g", "-Werror", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"}

// sanitised runs test for every core under the sanitisers of every compiler. A
// variant that differs from an earlier one by its optimisation alone has the
// same source, and is not tried again.
func sanitised(t *testing.T, test func(t *testing.T, h *harness)) {
	for _, cc := range sanitisers {
		t.Run(cc, func(t *testing.T) {
			heavy(t)
			needSanitisers(t, cc)
			seen := map[string]bool{}
			for _, l := range labels(t) {
				same := fmt.Sprint(l.Candidate.ID, l.Instance.Name, l.Variant.Sources, l.Variant.Flags)
				if seen[same] {
					continue
				}
				seen[same] = true
				t.Run(l.Key(), func(t *testing.T) {
					t.Parallel()
					test(t, compileHarness(t, cc, l))
				})
			}
		})
	}
}

// needSanitisers makes sure that cc has the sanitisers' libraries.
func needSanitisers(t *testing.T, cc string) {
	t.Helper()
	need(t, cc)
	cmd := exec.Command(cc, append(slices.Clone(sanitiserFlags), "-x", "c", "-o", filepath.Join(t.TempDir(), "probe"), "-")...)
	cmd.Stdin = strings.NewReader("int main(void) { return 0; }\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		missing(t, "%s has no sanitisers: %v\n%s", cc, err, out)
	}
}

var (
	harnessesMu sync.Mutex
	harnesses   = map[string]func() ([]byte, error){}
)

// compileHarness compiles a label's sources with the harness, once for all tests.
func compileHarness(t *testing.T, cc string, l catalog.Label) *harness {
	t.Helper()
	b := build(t, cc)
	lb := b.label(t, l)
	b.runnable(t, l)
	h := &harness{label: l, program: filepath.Join(work, strings.ReplaceAll("harness "+cc+" "+l.Key(), "/", " "))}
	args := slices.DeleteFunc(slices.Clone(lb.GuideFlags), func(f string) bool { return f == "-flto" || strings.HasPrefix(f, "-O") })
	args = slices.Concat(args, sanitiserFlags, l.Variant.Flags, l.Instance.Flags, []string{fmt.Sprintf("-DDIGEST_BITS=%d", l.Instance.DigestBits)})
	if l.Candidate.API == catalog.CryptoHash {
		args = append(args, "-DCRYPTO_HASH")
	}
	args = append(args, "-o", h.program, "testdata/harness.c")
	for _, s := range l.Variant.Sources {
		if filepath.Ext(s) != ".h" {
			args = append(args, filepath.Join("../..", l.Candidate.Dir(), s))
		}
	}
	harnessesMu.Lock()
	once := harnesses[h.program]
	if once == nil {
		once = sync.OnceValues(func() ([]byte, error) { return exec.Command(cc, args...).CombinedOutput() })
		harnesses[h.program] = once
	}
	harnessesMu.Unlock()
	if out, err := once(); err != nil {
		t.Fatalf("%s %s: %v\n%s", cc, strings.Join(args, " "), err, out)
	}
	return h
}

// run makes the calls in one process and returns a line of output for each.
func (h *harness) run(t *testing.T, calls []call) []string {
	t.Helper()
	var in strings.Builder
	for _, c := range calls {
		fmt.Fprintln(&in, c)
	}
	cmd := exec.Command(h.program)
	cmd.Stdin = strings.NewReader(in.String())
	var out, errors bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errors
	if err := cmd.Run(); err != nil {
		done := strings.Count(out.String(), "\n")
		t.Fatalf("%v, after about %d of %d calls\n%s", err, done, len(calls), errors.String())
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != len(calls) {
		t.Fatalf("%d answers to %d calls", len(lines), len(calls))
	}
	return lines
}

// call fills in the digest length.
func (h *harness) call(bits uint64, message string) call {
	return call{digestBits: h.label.Instance.DigestBits, bits: bits, message: message}
}

// step is the least number of bits between two messages' lengths.
func (h *harness) step() uint64 {
	if h.label.Candidate.API == catalog.CryptoHash {
		return 8
	}
	return 1
}

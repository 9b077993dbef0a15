package cores

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/ngcc/bench-action/internal/catalog"
	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/kat"
	"github.com/ngcc/bench-action/internal/records"
)

// answerTimeout is the longest that the gate waits for one answer of a core,
// under an emulator too.
const answerTimeout = 5 * time.Minute

// Every label passes its gate: the official KAT files (or the CAVP vectors) and
// its rows of kat/vectors.csv. The right answers are the manifests and vectors
// under kat/, which kat/README.md tells the origin of.
func TestGate(t *testing.T) {
	for _, c := range []struct{ name, cc string }{
		{"cc", "cc"}, {"clang", "clang"}, {"aarch64", "aarch64-linux-gnu-gcc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			heavy(t)
			b := build(t, c.cc)
			d := compileDriver(t, b)
			start := time.Now()
			t.Run("all", func(t *testing.T) { // returns when its parallel tests are done
				for _, l := range labels(t) {
					t.Run(l.Key(), func(t *testing.T) {
						t.Parallel()
						b.runnable(t, l)
						gate(t, d, l, b.dir, b.label(t, l))
					})
				}
			})
			t.Logf("%d labels in %.1f s with %s", len(labels(t)), time.Since(start).Seconds(), b.compiler.Version)
		})
	}
}

func compileDriver(t testing.TB, b *built) *driver.Driver {
	t.Helper()
	dir := b.dir.Abs("driver")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	d, err := driver.Compile(context.Background(), b.compiler.Command, b.compiler.ID(), b.compiler.Emulator, dir)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// gate fails the test unless the label passes, and returns the result.
func gate(t testing.TB, d *driver.Driver, l catalog.Label, dir records.Dir, lb records.LabelBuild) *records.Gate {
	t.Helper()
	core := driver.Core{Library: dir.Abs(lb.Library), API: lb.API, DigestBits: lb.DigestBits}
	g, log, err := kat.Gate(context.Background(), kat.Options{
		Candidate: lb.Candidate, Label: lb.Label, Instance: lb.Instance, DigestBits: lb.DigestBits,
		API: lb.API, Kind: l.Candidate.Gate, Mode: kat.ModeGate,
		Files: dataRoot, Manifest: l.Candidate.Manifest, CAVP: l.Candidate.Vectors, Bytes: catalog.Levels,
		LibraryDigest: lb.LibraryDigest, CodeDigest: lb.CodeDigest,
		Open: func(ctx context.Context) (kat.Hasher, error) {
			return d.Serve(ctx, core, driver.ServeOptions{CPU: -1, Timeout: answerTimeout})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if g.Result != records.GatePass {
		t.Fatalf("%s: %s\n%s", g.Result, g.Detail, log)
	}
	return g
}

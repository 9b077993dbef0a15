package kat

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ngcc/bench-action/internal/catalog"
	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/records"
	"github.com/ngcc/bench-action/internal/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

// compileCore makes a shared library of a label of the repository.
func compileCore(t *testing.T, l catalog.Label) string {
	t.Helper()
	library := filepath.Join(t.TempDir(), "core.so")
	args := slices.Concat([]string{"-O2", "-shared", "-fPIC", "-o", library}, l.Instance.Flags, l.Variant.Flags)
	for _, s := range l.Variant.Sources {
		if strings.HasSuffix(s, ".c") {
			args = append(args, filepath.Join("../..", l.Candidate.Dir(), s))
		}
	}
	if out, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	return library
}

// coreOptions gate a compiled label of the repository by the real driver.
func coreOptions(d *driver.Driver, files *catalog.Root, l catalog.Label, library string) Options {
	c := l.Candidate
	o := Options{
		Candidate: c.ID, Label: l.String(), Instance: l.Instance.Name, DigestBits: l.Instance.DigestBits,
		API: c.API, Kind: c.Gate, Mode: ModeGate, Files: files.FS, Manifest: c.Manifest, CAVP: c.Vectors,
		Bytes: catalog.Levels,
	}
	if mode := os.Getenv("NGCC_KAT_MODE"); mode != "" {
		o.Mode = mode
	}
	o.Open = func(ctx context.Context) (Hasher, error) {
		return d.Serve(ctx, driver.Core{Library: library, API: o.API, DigestBits: o.DigestBits}, driver.ServeOptions{CPU: -1})
	}
	return o
}

// TestRepositoryCores puts the reference core of every instance through the
// gate, in the mode that NGCC_KAT_MODE names.
func TestRepositoryCores(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it compiles and runs every core")
	}
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("no C compiler here")
	}
	root, err := catalog.Load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	d, err := driver.Compile(t.Context(), "cc", "test", nil, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var labels []catalog.Label
	for _, c := range root.Candidates {
		for _, l := range c.Labels() {
			if l.Variant.Name == catalog.Reference {
				labels = append(labels, l)
			}
		}
	}
	for _, l := range labels {
		t.Run(l.Key(), func(t *testing.T) {
			t.Parallel()
			result, detail, log := mustGate(t, coreOptions(d, root, l, compileCore(t, l)))
			if result != records.GatePass {
				t.Errorf("%s: %s\n%s", result, detail, log)
			}
		})
	}
	// A core of one instance is not one of the next.
	t.Run("wrong instance", func(t *testing.T) {
		t.Parallel()
		i := slices.IndexFunc(labels, func(l catalog.Label) bool { return l.Instance.DigestBits == 768 })
		if i < 1 || labels[i-1].Candidate != labels[i].Candidate {
			t.Skip("no candidate with two instances")
		}
		result, detail, log := mustGate(t, coreOptions(d, root, labels[i], compileCore(t, labels[i-1])))
		if result != string(driver.KindReturned) || !strings.Contains(detail, "first small vector that fails: kat/vectors.csv:") {
			t.Errorf("%s: %s\n%s", result, detail, log)
		}
	})
}

package toolchain

import (
	"context"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ngcc/bench-action/internal/catalog"
	"github.com/ngcc/bench-action/internal/records"
	"github.com/ngcc/bench-action/internal/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

const toyMeta = `schema: 1
id: toy
name: TOY
title: toy
api: crypthash
gate: ngcc-manifest
instances:
  - {name: TOY-256, digest_bits: 256, flags: [-DTOY_BITS=256]}
  - {name: TOY-512, digest_bits: 512, flags: [-DTOY_BITS=512]}
variants:
  - {name: reference, sources: [toy.c, toy.h]}
  - {name: resource, sources: [toy.c, toy.h]}
`

const toySource = `#include "toy.h"
#include <string.h>
int CryptHash(int bits, const unsigned char *msg, unsigned long long n, unsigned char *digest);
static int helper(int x) { return x + TOY_CONSTANT; }
int CryptHash(int bits, const unsigned char *msg, unsigned long long n, unsigned char *digest)
{
    if (bits != TOY_BITS) { return 1; }
    memset(digest, helper(n && msg ? msg[0] : 0), TOY_BITS / 8);
    return 0;
}
`

func hostArch() string {
	return map[string]string{"amd64": "x86-64", "arm64": "aarch64"}[runtime.GOARCH]
}

func toyFiles() fstest.MapFS {
	return fstest.MapFS{
		"hashes/toy/META.yml": {Data: []byte(toyMeta)},
		"hashes/toy/toy.c":    {Data: []byte(toySource)},
		"hashes/toy/toy.h":    {Data: []byte("#define TOY_CONSTANT 7\n")},
	}
}

func compiler(t *testing.T, cc string) *Compiler {
	t.Helper()
	if _, err := exec.LookPath(cc); err != nil {
		if os.Getenv("NGCC_REQUIRE_ALL") != "" {
			t.Fatalf("%s is not installed", cc)
		}
		t.Skipf("%s is not installed", cc)
	}
	c, err := Find(context.Background(), cc, hostArch())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// build builds all labels of files in dir and returns them and which of them
// were reused.
func build(t *testing.T, c *Compiler, files fstest.MapFS, dir string) (labels []records.LabelBuild, reused []string) {
	t.Helper()
	root, err := catalog.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	all, err := root.Labels(catalog.Selection{Variants: []string{"all"}})
	if err != nil {
		t.Fatal(err)
	}
	b := &Builder{Compiler: c, Root: root, Dir: records.Dir{Path: dir}, Workers: 2}
	b.Done = func(lb records.LabelBuild, again bool) {
		if again {
			reused = append(reused, lb.Label)
		}
	}
	out, err := b.Build(context.Background(), all)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(reused)
	return out.Labels, reused
}

// Two builds in two folders give the same bytes.
func TestBuildIsReproducible(t *testing.T) {
	for _, cc := range []string{"gcc", "clang", "aarch64-linux-gnu-gcc"} {
		t.Run(cc, func(t *testing.T) {
			c := compiler(t, cc)
			a, _ := build(t, c, toyFiles(), t.TempDir())
			b, _ := build(t, c, toyFiles(), filepath.Join(t.TempDir(), "elsewhere", "with a space"))
			for i, l := range a {
				if l.Status != records.BuildOK {
					t.Fatalf("%s: %s: %s", l.Label, l.Status, l.Error)
				}
				if l.LibraryDigest != b[i].LibraryDigest {
					t.Errorf("%s: library digests differ", l.Label)
				}
				if l.LoadBytes < 1000 || l.Warnings != "" || l.Writable != nil {
					t.Errorf("%s: load bytes %d, warnings %q, writable %v", l.Label, l.LoadBytes, l.Warnings, l.Writable)
				}
			}
		})
	}
}

func TestBuildReusesExactlyWhatIsUnchanged(t *testing.T) {
	c := compiler(t, "cc")
	dir := t.TempDir()
	files := toyFiles()
	all := []string{"TOY-256", "TOY-256-resource", "TOY-512", "TOY-512-resource"}
	if _, reused := build(t, c, files, dir); reused != nil {
		t.Errorf("first build reused %v", reused)
	}
	if _, reused := build(t, c, files, dir); !cmp.Equal(reused, all) {
		t.Errorf("second build reused %v", reused)
	}
	files["hashes/toy/META.yml"] = &fstest.MapFile{Data: []byte(strings.Replace(toyMeta, "flags: [-DTOY_BITS=256]", "flags: [-DTOY_BITS=256, -O1]", 1))}
	if _, reused := build(t, c, files, dir); !cmp.Equal(reused, all[2:]) {
		t.Errorf("after a flag of TOY-256 changed, reused %v", reused)
	}
	files["hashes/toy/toy.h"] = &fstest.MapFile{Data: []byte("#define TOY_CONSTANT 8\n")}
	if _, reused := build(t, c, files, dir); reused != nil {
		t.Errorf("after the header changed, reused %v", reused)
	}
	if err := os.WriteFile(filepath.Join(dir, "build/toy/TOY-512.so"), []byte("damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, reused := build(t, c, files, dir); !cmp.Equal(reused, []string{"TOY-256", "TOY-256-resource", "TOY-512-resource"}) {
		t.Errorf("with TOY-512.so damaged, reused %v", reused)
	}
}

// The code digest sees instructions and constants, not names that are not loaded.
func TestCodeDigest(t *testing.T) {
	c := compiler(t, "cc")
	digest := func(old, new string) string {
		files := toyFiles()
		if !strings.Contains(toySource, old) {
			t.Fatalf("%q is not in the source", old)
		}
		files["hashes/toy/toy.c"] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(toySource, old, new))}
		labels, _ := build(t, c, files, t.TempDir())
		return labels[0].CodeDigest
	}
	same := digest("helper", "helper")
	if same != digest("static int helper(int x)", "/* a comment */\n\nstatic int helper(int x)") {
		t.Error("a comment changed the code digest")
	}
	kept := `__attribute__((noinline)) static int %(int x)`
	if digest("static int helper(int x)", strings.ReplaceAll(kept, "%", "helper")) == same {
		t.Error("another way of calling did not change the code digest")
	}
	if same == digest("x + TOY_CONSTANT", "x + TOY_CONSTANT + 1") {
		t.Error("another constant did not change the code digest")
	}
}

func TestBuildFailureShowsTheCompilersMessage(t *testing.T) {
	files := toyFiles()
	files["hashes/toy/toy.h"] = &fstest.MapFile{Data: []byte("#if TOY_BITS == 256\n#error only 512 builds\n#endif\n#define TOY_CONSTANT 7\n")}
	labels, _ := build(t, compiler(t, "cc"), files, t.TempDir())
	if labels[0].Status != records.BuildFailed || !strings.Contains(labels[0].Error, `toy.h:2:2: error: #error only 512 builds`) {
		t.Errorf("TOY-256: %s: %s", labels[0].Status, labels[0].Error)
	}
	if labels[2].Status != records.BuildOK {
		t.Errorf("TOY-512: %s: %s", labels[2].Status, labels[2].Error)
	}
}

func TestBuildReportsWritableObjects(t *testing.T) {
	files := toyFiles()
	files["hashes/toy/toy.c"] = &fstest.MapFile{Data: []byte(strings.Replace(toySource, "static int helper(int x) {",
		"static int counter[4];\nstatic int helper(int x) { counter[x & 3]++;", 1) + "int last = 5;\n")}
	labels, _ := build(t, compiler(t, "cc"), files, t.TempDir())
	want := []records.Writable{{Symbol: "counter", Bytes: 16}, {Symbol: "last", Bytes: 4}}
	if d := cmp.Diff(want, labels[0].Writable); d != "" || labels[0].WritableBytes != 20 {
		t.Errorf("writable (-want +got):\n%s%d bytes", d, labels[0].WritableBytes)
	}
}

func TestVariantForAnotherMachineIsNotRunnable(t *testing.T) {
	other := map[string]string{"x86-64": "aarch64", "aarch64": "x86-64"}[hostArch()]
	files := toyFiles()
	files["hashes/toy/META.yml"] = &fstest.MapFile{Data: []byte(toyMeta + "  - {name: far, arch: " + other + ", sources: [toy.c, toy.h]}\n" +
		"  - {name: new, arch: " + hostArch() + ", features: [newest], sources: [toy.c, toy.h]}\n")}
	root, err := catalog.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	labels, err := root.Labels(catalog.Selection{Variants: []string{"performance"}})
	if err != nil {
		t.Fatal(err)
	}
	b := &Builder{Compiler: compiler(t, "cc"), Root: root, Dir: records.Dir{Path: t.TempDir()}, Workers: 1,
		Missing: func(fs []string) []string {
			return slices.DeleteFunc(slices.Clone(fs), func(f string) bool { return f != "newest" })
		}}
	out, err := b.Build(context.Background(), labels)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"needs " + other, "needs newest"} {
		if l := out.Labels[i]; l.Status != records.BuildNotRunnable || l.Error != want {
			t.Errorf("%s: %s: %q, want %q", l.Label, l.Status, l.Error, want)
		}
	}
}

func TestFindNamesWhatIsMissing(t *testing.T) {
	_, err := Find(context.Background(), "no-such-compiler", hostArch())
	if err == nil || !strings.Contains(err.Error(), "install gcc or clang") {
		t.Errorf("got %v", err)
	}
}

// A padded library has the same code at another address.
func TestPadded(t *testing.T) {
	root, err := catalog.Load(toyFiles())
	if err != nil {
		t.Fatal(err)
	}
	labels, err := root.Labels(catalog.Selection{Variants: []string{"all"}})
	if err != nil {
		t.Fatal(err)
	}
	b := &Builder{Compiler: compiler(t, "cc"), Root: root, Dir: records.Dir{Path: t.TempDir()}, Workers: 2}
	if _, err := b.Build(context.Background(), labels); err != nil {
		t.Fatal(err)
	}
	for _, l := range labels {
		plain := functionAt(t, b.Dir.Abs(LibraryName("toy", l.String())))
		path, err := b.Padded(context.Background(), l, 4080)
		if err != nil {
			t.Fatal(err)
		}
		if moved := functionAt(t, path) - plain; moved < 4080 || moved > 4080+4096 {
			t.Errorf("%s: moved by %d bytes", l, moved)
		}
	}
}

func functionAt(t *testing.T, library string) uint64 {
	t.Helper()
	f, err := elf.Open(library)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range syms {
		if s.Name == "CryptHash" {
			return s.Value
		}
	}
	t.Fatalf("%s: no CryptHash", library)
	return 0
}

func FuzzInspect(f *testing.F) {
	f.Add([]byte("\x7fELF"))
	f.Fuzz(func(t *testing.T, data []byte) { _, _ = Inspect(data) })
}

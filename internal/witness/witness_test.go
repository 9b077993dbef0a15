package witness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/sandbox"
)

// work is a folder for what several tests share.
var work string

func TestMain(m *testing.M) {
	sandbox.Main()
	dir, err := os.MkdirTemp("", "ngcc-witness-test-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	work = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// missingTool skips for want of what a test needs, or fails where nothing may be
// missing.
func missingTool(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("NGCC_REQUIRE_ALL") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

var compileDriver = sync.OnceValues(func() (*driver.Driver, error) {
	return driver.Compile(context.Background(), "cc", "test", nil, work)
})

// tools are the driver and valgrind.
func tools(t testing.TB) (*driver.Driver, *Callgrind) {
	t.Helper()
	if _, err := exec.LookPath("cc"); err != nil {
		missingTool(t, "%v", err)
	}
	c, err := FindCallgrind(t.Context())
	var none *Unavailable
	if errors.As(err, &none) {
		missingTool(t, "%v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	d, err := compileDriver()
	if err != nil {
		t.Fatal(err)
	}
	return d, c
}

// build compiles a core of testdata/cores.
func build(t testing.TB, name string, flags ...string) driver.Core {
	t.Helper()
	library := filepath.Join(t.TempDir(), "core.so")
	args := append([]string{"-O2", "-shared", "-fPIC", "-Wl,-Bsymbolic", "-Wl,--build-id=none", "-o", library}, flags...)
	out, err := exec.Command("cc", append(args, filepath.Join("testdata", "cores", name+".c"))...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return driver.Core{Library: library, API: driver.APICryptHash, DigestBits: 256}
}

func library(t testing.TB, c driver.Core) []byte {
	t.Helper()
	data, err := os.ReadFile(c.Library)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The right numbers follow from the core's assembly, see its head.
func TestExact(t *testing.T) {
	d, c := tools(t)
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("the core is written for x86-64 and AArch64")
	}
	for _, bytes := range []int{8, 1000, 65536} {
		got, err := c.Count(t.Context(), d, Spec{Core: build(t, "exact"), Bytes: bytes, Calls: 3})
		if err != nil {
			t.Fatal(err)
		}
		n := uint64(bytes)
		if got.Instructions != 3*(2*n+3) || got.Branches != 3*n || !got.HasBranches || got.Calls != 3 ||
			got.Source != "callgrind "+c.Version || got.PerCall() != float64(2*n+3) {
			t.Errorf("%d bytes: %+v", bytes, got)
		}
		want := []FunctionCost{{Name: "CryptHash", Object: "core.so", Self: 3 * (2*n + 3), Inclusive: 3 * (2*n + 3)}}
		if diff := cmp.Diff(want, got.Functions); diff != "" {
			t.Error(diff)
		}
	}
}

// Two runs give the same, to the last function; so does a library elsewhere,
// an environment that differs and a longer path.
func TestRepeats(t *testing.T) {
	d, c := tools(t)
	core := build(t, "toy")
	first, err := c.Count(t.Context(), d, Spec{Core: core, Bytes: 1024})
	if err != nil || !first.OK() {
		t.Fatalf("%+v, %v", first, err)
	}
	elsewhere := filepath.Join(t.TempDir(), strings.Repeat("long", 40)+".so")
	if err := os.WriteFile(elsewhere, library(t, core), 0o644); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		if i == 2 {
			t.Setenv("NGCC_TEST_PADDING", strings.Repeat("x", 777))
			core.Library = elsewhere
		}
		again, err := c.Count(t.Context(), d, Spec{Core: core, Bytes: 1024})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, again); diff != "" {
			t.Errorf("run %d: %s", i+2, diff)
		}
	}
}

// The table is made in the warm-up, the recursion is one function, and the costs
// of the functions add up.
func TestFunctions(t *testing.T) {
	d, c := tools(t)
	got, err := c.Count(t.Context(), d, Spec{Core: build(t, "toy"), Bytes: 1024, Calls: 2})
	if err != nil {
		t.Fatal(err)
	}
	var sum uint64
	by := map[string]FunctionCost{}
	for _, f := range got.Functions {
		sum += f.Self
		by[f.Name] = f
	}
	if sum != got.Instructions {
		t.Errorf("the functions have %d instructions, the calls %d", sum, got.Instructions)
	}
	if f := by["CryptHash"]; f.Inclusive != got.Instructions || f.Self >= f.Inclusive {
		t.Errorf("CryptHash: %+v of %d", f, got.Instructions)
	}
	if f := by["deep"]; f.Self == 0 || f.Self != f.Inclusive {
		t.Errorf("deep, which calls itself only: %+v", f)
	}
	if f, made := by["make_table"]; made {
		t.Errorf("the warm-up was counted: %+v", f)
	}
	if f := by["malloc"]; !strings.HasPrefix(f.Object, "libc.so") {
		t.Errorf("malloc: %+v", f)
	}
}

func TestUnsupported(t *testing.T) {
	d, c := tools(t)
	if runtime.GOARCH != "amd64" {
		t.Skip("instructions of x86-64")
	}
	for name, want := range map[string]string{
		"evex": "unrecognised instruction 0x62 0xa1 0xfd 0x40 0xef 0xc0", // Intel SDM, volume 2: VPXORQ
		"sha":  "unrecognised instruction 0xf 0x38 0xcc 0xc1",
	} {
		got, err := c.Count(t.Context(), d, Spec{Core: build(t, name), Bytes: 64})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.OK() || got.Status != Unsupported || got.Instructions != 0 ||
			!strings.HasPrefix(strings.ToLower(got.Reason), "valgrind cannot run this core: "+want) {
			t.Errorf("%s: %+v", name, got)
		}
		if set := map[string]string{"evex": "(AVX-512)", "sha": "(SHA)"}[name]; !strings.HasSuffix(got.Reason, set) {
			t.Errorf("%s: %q does not end with %s", name, got.Reason, set)
		}
	}
}

func TestFailures(t *testing.T) {
	d, c := tools(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	var core *driver.CoreError
	_, err := c.Count(t.Context(), d, Spec{Core: build(t, "crash"), Bytes: 64})
	if !errors.As(err, &core) || core.Kind != driver.KindCrashed {
		t.Errorf("crash: %v", err)
	}
	wrong := []string{strings.Repeat("0", 64), strings.Repeat("0", 64)}
	_, err = c.Count(t.Context(), d, Spec{Core: build(t, "toy"), Bytes: 64, Calls: 2, Expected: wrong})
	if !errors.As(err, &core) || core.Kind != driver.KindWrongDigest {
		t.Errorf("wrong digest: %v", err)
	}
	got, err := c.Count(t.Context(), d, Spec{Core: build(t, "toy"), Bytes: 64, Timeout: time.Millisecond})
	if err != nil || got.Status != TooLong || got.Reason == "" {
		t.Errorf("time limit: %+v, %v", got, err)
	}
	emulated := *d
	emulated.Emulator = []string{"/usr/bin/qemu-aarch64"}
	got, err = c.Count(t.Context(), &emulated, Spec{Core: build(t, "toy"), Bytes: 64})
	if err != nil || got.Status != Emulated || !strings.Contains(got.Reason, "qemu-aarch64") {
		t.Errorf("emulated: %+v, %v", got, err)
	}
	if left, _ := filepath.Glob(filepath.Join(temp, "ngcc-witness-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Without valgrind, or with one that does not start, the reason says so.
func TestNoValgrind(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	got, err := Measure(t.Context(), nil, Spec{Bytes: 64})
	if err != nil || got.Status != NoValgrind || !strings.Contains(got.Reason, "not installed") {
		t.Errorf("%+v, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "valgrind"), []byte("#!/bin/sh\necho broken\nexit 2\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	got, err = Measure(t.Context(), nil, Spec{Bytes: 64})
	if err != nil || got.Status != NoValgrind || !strings.Contains(got.Reason, `"broken\n"`) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestFromTiming(t *testing.T) {
	r := &driver.TimeResult{HasInstructions: true, Batches: []driver.Batch{
		{Calls: 4, Instructions: 4100}, {Calls: 4, Instructions: 4000}, {Calls: 4, Instructions: 9000}}}
	want := Count{Status: Counted, Source: SourcePMU, MessageBytes: 64, Calls: 4, Instructions: 4100}
	if diff := cmp.Diff(want, FromTiming(64, r)); diff != "" {
		t.Error(diff)
	}
	none := FromTiming(64, &driver.TimeResult{CounterNote: "core-cycles: no permission"})
	if none.OK() || none.Status != NotCounted || !strings.Contains(none.Reason, "no permission") || none.PerByte() != 0 {
		t.Errorf("%+v", none)
	}
}

func TestCallsFor(t *testing.T) {
	for bytes, want := range map[int]int{8: 16, 32: 16, 1024: 8, 4096: 2, 65536: 2, 1 << 20: 1, 1 << 30: 1} {
		if got := CallsFor(bytes); got != want {
			t.Errorf("%d bytes: %d calls, want %d", bytes, got, want)
		}
	}
}

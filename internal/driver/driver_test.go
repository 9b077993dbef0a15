package driver

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ngcc/bench-action/internal/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	if name := os.Getenv(lockEnv); name != "" {
		holdLock(name)
	}
	code := m.Run()
	os.RemoveAll(scratch())
	os.Exit(code)
}

// patience is how long anything may take that is not meant to hang, however
// busy the machine is.
const patience = 2 * time.Minute

// scratch is a folder for what several tests share.
var scratch = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "driver-test-*")
	if err != nil {
		panic(err)
	}
	return dir
})

// platform is a compiler with what runs its programs.
type platform struct {
	name, cc string
	emulator []string
	driver   func() (*Driver, error)
}

var (
	native   = newPlatform("native", "cc", nil)
	emulated = newPlatform("aarch64", "aarch64-linux-gnu-gcc", []string{"qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"})
)

func newPlatform(name, cc string, emulator []string) *platform {
	p := &platform{name: name, cc: cc, emulator: emulator}
	p.driver = sync.OnceValues(func() (*Driver, error) {
		dir := filepath.Join(scratch(), name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		return Compile(context.Background(), cc, name, emulator, dir)
	})
	return p
}

// use returns the platform's driver, or skips the test when a tool is missing
// (fails, when NGCC_REQUIRE_ALL is 1).
func (p *platform) use(t testing.TB) *Driver {
	t.Helper()
	for _, tool := range append([]string{p.cc}, p.emulator...) {
		if strings.HasPrefix(tool, "-") || strings.HasPrefix(tool, "/") {
			continue
		}
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("NGCC_REQUIRE_ALL") == "1" {
				t.Fatalf("NGCC_REQUIRE_ALL=1, but %v", err)
			}
			t.Skipf("cannot test on %s: %v", p.name, err)
		}
	}
	d, err := p.driver()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// core builds a core of testdata/cores.
func (p *platform) core(t testing.TB, name string) Core {
	t.Helper()
	library := filepath.Join(scratch(), p.name, name+".so")
	if _, err := os.Stat(library); err != nil {
		out, err := exec.Command(p.cc, "-O1", "-shared", "-fPIC", "-o", library,
			filepath.Join("testdata", "cores", name+".c")).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	c := Core{Library: library, API: APICryptHash, DigestBits: 256}
	if name == "good_bytes" {
		c.API = APICryptoHash
	}
	return c
}

// toyHash is the hash of testdata/cores/toy.h.
func toyHash(msg []byte, bits uint64) []byte {
	s := [4]uint64{1, 2, 3, 4}
	n := bits / 8
	for i := range n {
		s[i%4] = (s[i%4]^uint64(msg[i]))*0x100000001b3 + s[(i+1)%4]
	}
	if bits%8 != 0 {
		s[0] = (s[0] ^ uint64(msg[n]&^byte(0xff>>(bits%8)))) * 0x100000001b3
	}
	s[1] ^= bits
	for k := range 16 {
		s[k%4] = (s[k%4]^s[(k+3)%4]>>29)*0x9e3779b97f4a7c15 + uint64(k)
	}
	var digest []byte
	for _, v := range s {
		digest = binary.LittleEndian.AppendUint64(digest, v)
	}
	return digest
}

// expected are the toy hash's digests of the first k timed messages.
func expected(bytes, k int) []string {
	var list []string
	for i := range k {
		list = append(list, hex.EncodeToString(toyHash(Perf(bytes, uint64(i)), 8*uint64(bytes))))
	}
	return list
}

// coreError is the *CoreError in err; none is a failure.
func coreError(t *testing.T, err error) *CoreError {
	t.Helper()
	var core *CoreError
	if !errors.As(err, &core) {
		t.Fatalf("got %v, not an error of the core", err)
	}
	return core
}

func TestCompile(t *testing.T) {
	native.use(t)
	dir := t.TempDir()
	first, err := Compile(t.Context(), "cc", "one", nil, dir)
	if err != nil {
		t.Fatal(err)
	}
	if first.Digest != SourceDigest() || len(first.Digest) != 64 {
		t.Errorf("digest %q", first.Digest)
	}
	made := func() time.Time {
		info, err := os.Stat(first.Path)
		if err != nil {
			t.Fatal(err)
		}
		return info.ModTime()
	}
	was := made()
	if _, err := Compile(t.Context(), "cc", "one", nil, dir); err != nil || made() != was {
		t.Errorf("the same inputs were compiled again (%v)", err)
	}
	if _, err := Compile(t.Context(), "cc", "two", nil, dir); err != nil || made() == was {
		t.Errorf("another compiler was not used (%v)", err)
	}
	// Half a program, as a full disk leaves it, is not reused.
	if err := os.Truncate(first.Path, 100); err != nil {
		t.Fatal(err)
	}
	if _, err := Compile(t.Context(), "cc", "two", nil, dir); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(first.Path); info.Size() == 100 {
		t.Error("a damaged program was reused")
	}
	if names, _ := filepath.Glob(filepath.Join(dir, ".*")); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}

func TestCompileErrors(t *testing.T) {
	native.use(t)
	for _, test := range []struct{ cc, want string }{
		{"", "set CC"},
		{"no-such-compiler", "no-such-compiler"},
		{"cc -no-such-option", "no-such-option"}, // in the compiler's own words
		{"cc -DGUARD_BYTES=) -Werror", "GUARD_BYTES"},
	} {
		dir := t.TempDir()
		_, err := Compile(t.Context(), test.cc, "", nil, dir)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v", test.cc, err)
		}
		if entries, _ := os.ReadDir(dir); len(entries) > 0 {
			t.Errorf("%q: left %v", test.cc, entries)
		}
	}
}

// Every compiler here takes the driver's sources without a warning.
func TestNoWarnings(t *testing.T) {
	for _, cc := range []string{"gcc", "clang", "aarch64-linux-gnu-gcc"} {
		t.Run(cc, func(t *testing.T) {
			if _, err := exec.LookPath(cc); err != nil {
				if os.Getenv("NGCC_REQUIRE_ALL") == "1" {
					t.Fatal(err)
				}
				t.Skip(err)
			}
			files, _ := filepath.Glob("csrc/*.c")
			for _, level := range []string{"-O0", "-O3"} {
				args := append([]string{"-Werror", level, "-c", "-o", "/dev/null"}, flags...)
				for _, f := range files {
					if out, err := exec.Command(cc, append(args, level, f)...).CombinedOutput(); err != nil {
						t.Errorf("%s %s: %v\n%s", level, f, err, out)
					}
				}
			}
		})
	}
}

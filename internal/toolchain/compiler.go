// Package toolchain compiles and links cores and says what came out: which
// compiler, which flags, which bytes are loaded and executed.
package toolchain

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ngcc/bench-action/internal/records"
)

// Compiler is the C compiler of a run.
type Compiler struct {
	records.Compiler
	Emulator []string // how programs for Arch are started here; nil: directly
	hostArch string
	dropLTO  bool
}

// Find looks at the C compiler that cc names: a command with optional
// arguments, "cc" when empty. Its target may differ from this machine's if a
// user-mode qemu for it is installed: then cores can be gated, not timed.
func Find(ctx context.Context, cc, hostArch string) (*Compiler, error) {
	if strings.TrimSpace(cc) == "" {
		cc = "cc"
	}
	c := &Compiler{Compiler: records.Compiler{Command: cc}, hostArch: hostArch}
	args := c.args()
	if _, err := exec.LookPath(args[0]); err != nil {
		return nil, fmt.Errorf("no C compiler: %w (install gcc or clang, or name one in CC)", err)
	}
	version, err := c.output(ctx, "--version")
	if err != nil {
		return nil, err
	}
	c.Version = firstLine(version)
	target, err := c.output(ctx, "-dumpmachine")
	if err != nil {
		return nil, err
	}
	c.Target = firstLine(target)
	switch {
	case strings.Contains(c.Version, "clang"):
		c.Family = "clang"
	case strings.Contains(version, "Free Software Foundation"):
		c.Family = "gcc"
		// gcc's line begins with the name it was called by: cc and gcc are one.
		if _, rest, ok := strings.Cut(c.Version, " "); ok {
			c.Version = "gcc " + rest
		}
	default:
		c.Family = "other"
	}
	if c.Arch, err = archOf(c.Target); err != nil {
		return nil, fmt.Errorf("compiler %s: %w", cc, err)
	}
	if linker, err := c.output(ctx, "-Wl,--version"); err == nil {
		c.Linker = firstLine(linker)
	}
	if c.Family == "clang" {
		c.dropLTO = !c.canLTO(ctx)
	}
	return c, c.findEmulator(ctx)
}

// ID names the compiler in fingerprints and digests.
func (c *Compiler) ID() string { return c.Version + " for " + c.Target + ", " + c.Linker }

// Emulated says whether programs of this compiler run under an emulator here.
func (c *Compiler) Emulated() bool { return c.Emulator != nil }

func (c *Compiler) args() []string { return strings.Fields(c.Command) }

func (c *Compiler) output(ctx context.Context, flag string) (string, error) {
	args := append(c.args()[1:], flag)
	cmd := exec.CommandContext(ctx, c.args()[0], args...)
	cmd.Env = environment(os.TempDir())
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, firstLine(string(exit.Stderr)))
		}
		return "", fmt.Errorf("%s %s: %w", c.Command, flag, err)
	}
	return string(out), nil
}

// environment is all that a compiler gets to see of ours: where its tools are
// and where to put temporary files. Message language and dates are fixed.
func environment(tmp string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TMPDIR=" + tmp, "SOURCE_DATE_EPOCH=0"}
}

func archOf(target string) (string, error) {
	cpu, _, _ := strings.Cut(target, "-")
	switch cpu {
	case "x86_64":
		return "x86-64", nil
	case "aarch64", "arm64":
		return "aarch64", nil
	}
	return "", fmt.Errorf("target %s is neither x86-64 nor AArch64", target)
}

// findEmulator sets Emulator when the compiler's target is not this machine.
func (c *Compiler) findEmulator(ctx context.Context) error {
	if c.Arch == c.hostArch {
		return nil
	}
	qemu := map[string]string{"x86-64": "qemu-x86_64", "aarch64": "qemu-aarch64"}[c.Arch]
	if _, err := exec.LookPath(qemu); err != nil {
		return fmt.Errorf("compiler %s makes code for %s, this machine is %s, and %s is not installed (install qemu-user, or choose another CC)", c.Command, c.Arch, c.hostArch, qemu)
	}
	libc, err := c.output(ctx, "-print-file-name=libc.so.6")
	if err != nil {
		return err
	}
	path, err := filepath.EvalSymlinks(firstLine(libc))
	if err != nil {
		return fmt.Errorf("compiler %s has no C library for %s (install libc6-dev-arm64-cross or its like): %w", c.Command, c.Arch, err)
	}
	c.Emulator = []string{qemu, "-L", filepath.Dir(filepath.Dir(path))}
	return nil
}

// canLTO tries a link with -flto: clang needs a linker plugin that many
// installations lack.
func (c *Compiler) canLTO(ctx context.Context) bool {
	dir, err := os.MkdirTemp("", "ngcc-lto")
	if err != nil {
		return false
	}
	defer os.RemoveAll(dir)
	if os.WriteFile(filepath.Join(dir, "t.c"), []byte("int t(void) { return 0; }\n"), 0o644) != nil {
		return false
	}
	_, err = c.run(ctx, dir, "-flto", "-fPIC", "-shared", "-o", "t.so", "t.c")
	return err == nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}

// Package driver is the measuring program and the Go that runs it.
//
// The program is C99 that this package embeds, compiled at run time by the
// compiler of the cores. One process of it has loaded one core; it hashes what a
// Session asks it to, with every buffer between unmapped pages, or times the
// core. Every process runs under package sandbox, so sandbox.Main must be called
// first in main.
package driver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/google/renameio/v2"
	"github.com/ngcc/bench-action/internal/sandbox"
)

//go:embed csrc/*.c csrc/*.h
var sources embed.FS

// flags are the driver's own, on every architecture.
var flags = []string{"-std=c99", "-O2", "-Wall", "-Wextra", "-Wpedantic"}

// libraries come after the sources. All functions are found at the start, and the
// table of them is read-only then: mode pair locks the program's variables.
var libraries = []string{"-ldl", "-Wl,-z,relro,-z,now"}

// maxCompilerOutput bounds the compiler's messages in an error.
const maxCompilerOutput = 64 << 10

// Driver is a compiled measuring program.
type Driver struct {
	Path     string   // absolute path of the program
	Digest   string   // SHA-256 over C sources and flags, 64 hex digits: SourceDigest
	Emulator []string // command that runs the program, or nil: the host does
}

// SourceDigest is the SHA-256 over the driver's C sources and flags, as 64 hex
// digits: the part of a figure's fingerprint that names the driver.
func SourceDigest() string {
	return sourceDigest()
}

var sourceDigest = sync.OnceValue(func() string {
	h := sha256.New()
	fmt.Fprintf(h, "flags %q %q\n", flags, libraries)
	for _, name := range sourceNames() {
		data, err := sources.ReadFile("csrc/" + name)
		if err != nil {
			panic(err) // embedded
		}
		fmt.Fprintf(h, "%s %d\n%s", name, len(data), data)
	}
	return hex.EncodeToString(h.Sum(nil))
})

// sourceNames lists the embedded files in order.
func sourceNames() []string {
	entries, err := fs.ReadDir(sources, "csrc")
	if err != nil {
		panic(err) // embedded
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Compile writes the program into dir, which must exist, as ngcc-driver, or uses
// the one that is there when it was made from the same sources and flags by the
// same compiler. cc is the compiler's command, with arguments if it has any,
// separated by blanks; compilerID identifies its version and target. emulator
// runs the program where the host cannot, for instance {"qemu-aarch64", "-L",
// "/usr/aarch64-linux-gnu"}; else it is nil. An error holds the compiler's own
// message.
func Compile(ctx context.Context, cc, compilerID string, emulator []string, dir string) (*Driver, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("driver: %w", err)
	}
	d := &Driver{Path: filepath.Join(dir, "ngcc-driver"), Digest: SourceDigest()}
	if len(emulator) > 0 {
		program, err := exec.LookPath(emulator[0])
		if err != nil {
			return nil, fmt.Errorf("driver: cannot find the emulator: %w", err)
		}
		d.Emulator = append([]string{program}, emulator[1:]...)
	}
	inputs := sha256.Sum256(fmt.Appendf(nil, "driver %s\ncc %q\nid %q\n", d.Digest, cc, compilerID))
	note := d.Path + ".inputs"
	if was, err := os.ReadFile(note); err == nil {
		if now, err := noteOf(inputs, d.Path); err == nil && bytes.Equal(was, now) {
			return d, nil
		}
	}
	if err := compile(ctx, cc, dir, d.Path); err != nil {
		return nil, err
	}
	text, err := noteOf(inputs, d.Path)
	if err != nil {
		return nil, fmt.Errorf("driver: %w", err)
	}
	if err := renameio.WriteFile(note, text, 0o644); err != nil {
		return nil, fmt.Errorf("driver: %w", err)
	}
	return d, nil
}

// noteOf is what stands beside a program: what it was made from, and what it is.
func noteOf(inputs [sha256.Size]byte, program string) ([]byte, error) {
	data, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "inputs %x\nprogram %x\n", inputs, sha256.Sum256(data)), nil
}

// compile makes the program in a temporary folder of dir and renames it.
func compile(ctx context.Context, cc, dir, program string) error {
	command := strings.Fields(cc)
	if len(command) == 0 {
		return errors.New("driver: no compiler was named: set CC")
	}
	compiler, err := exec.LookPath(command[0])
	if err == nil {
		compiler, err = filepath.Abs(compiler)
	}
	if err != nil {
		return fmt.Errorf("driver: cannot find the compiler: %w", err)
	}
	work, err := os.MkdirTemp(dir, ".driver-*")
	if err != nil {
		return fmt.Errorf("driver: %w", err)
	}
	defer os.RemoveAll(work)
	args := append(command[1:], flags...)
	args = append(args, "-o", "driver")
	for _, name := range sourceNames() {
		data, err := sources.ReadFile("csrc/" + name)
		if err != nil {
			return fmt.Errorf("driver: %w", err)
		}
		if err := os.WriteFile(filepath.Join(work, name), data, 0o644); err != nil {
			return fmt.Errorf("driver: %w", err)
		}
		if strings.HasSuffix(name, ".c") {
			args = append(args, name)
		}
	}
	args = append(args, libraries...)
	p, err := sandbox.Start(ctx, sandbox.Spec{
		Path: compiler, Args: args, Dir: work, CPU: -1, MaxOutput: maxCompilerOutput,
		Env: []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + work, "LC_ALL=C"},
	})
	if err != nil {
		return fmt.Errorf("driver: %w", err)
	}
	result, err := p.Wait()
	if err != nil {
		return fmt.Errorf("driver: %s: %w\n%s", cc, err, result.Output)
	}
	if result.Signal != 0 || result.ExitCode != 0 {
		return fmt.Errorf("driver: %s could not compile the driver (exit code %d):\n%s", cc, result.ExitCode, result.Output)
	}
	if err := os.Rename(filepath.Join(work, "driver"), program); err != nil {
		return fmt.Errorf("driver: %w", err)
	}
	return nil
}

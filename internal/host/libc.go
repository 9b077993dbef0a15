package host

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Libc is the C library that programs of this machine are linked with, such as
// "glibc 2.36" or "musl 1.2.5"; empty where neither can be asked. It runs the
// C library's own getconf or loader, and nothing of the data root.
func Libc(ctx context.Context) string {
	// getconf of musl systems fails here, or prints "undefined".
	if path, err := exec.LookPath("getconf"); err == nil {
		if v := clean(runC(ctx, path, "GNU_LIBC_VERSION")); strings.HasPrefix(v, "glibc ") {
			return v
		}
	}
	// musl's loader prints its version and fails when it gets no program.
	loaders, _ := filepath.Glob("/lib/ld-musl-*.so.1") // its only error is a bad pattern
	for _, path := range loaders {
		if v := muslVersion(runC(ctx, path)); v != "" {
			return v
		}
	}
	return ""
}

// muslVersion finds the version in what musl's loader prints:
//
//	musl libc (x86_64)
//	Version 1.2.5
func muslVersion(output string) string {
	for line := range strings.Lines(output) {
		if v, ok := strings.CutPrefix(clean(line), "Version "); ok && strings.HasPrefix(output, "musl libc") {
			return "musl " + v
		}
	}
	return ""
}

// runC gives all that a program prints, in English, whether it fails or not.
func runC(ctx context.Context, path string, args ...string) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, _ := cmd.CombinedOutput() // the loader always fails; the text decides
	return string(out)
}

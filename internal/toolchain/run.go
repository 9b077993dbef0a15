package toolchain

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/ngcc/bench-action/internal/sandbox"
)

// What one compiler process may use.
const (
	compileTimeout = 5 * time.Minute
	compileCPU     = 300       // seconds
	compileFile    = 256 << 20 // bytes of any file it writes
	compileOutput  = 4 << 20   // bytes that it may print
)

// maxMessage bounds what is kept of a compiler's message, in bytes.
const maxMessage = 16 << 10

// run starts the compiler in dir, supervised. It returns what the compiler
// said; an error holds the compiler's own message.
func (c *Compiler) run(ctx context.Context, dir string, args ...string) (string, error) {
	argv := append(c.args(), args...)
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return "", err
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	p, err := sandbox.Start(ctx, sandbox.Spec{
		Path: path, Args: argv[1:], Dir: dir, Env: environment(dir), CPU: -1,
		Limits:  sandbox.Limits{CPUSeconds: compileCPU, FileSize: compileFile},
		Timeout: compileTimeout, MaxOutput: compileOutput,
	})
	if err != nil {
		return "", err
	}
	r, err := p.Wait()
	said := message(r.Output)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w\n%s", argv[0], err, said)
	case r.TimedOut:
		return "", fmt.Errorf("%s: no result after %v\n%s", argv[0], compileTimeout, said)
	case r.Signal != 0:
		return "", fmt.Errorf("%s: ended by %v\n%s", argv[0], r.Signal, said)
	case r.ExitCode != 0:
		return "", fmt.Errorf("%s: exit status %d\n%s", argv[0], r.ExitCode, said)
	}
	return said, nil
}

// message is what is kept of a compiler's output.
func message(output []byte) string {
	if len(output) > maxMessage {
		output = append(output[:maxMessage:maxMessage], "\n[cut here]\n"...)
	}
	return string(bytes.ToValidUTF8(output, []byte("?")))
}

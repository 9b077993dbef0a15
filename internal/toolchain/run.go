package toolchain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// compileTimeout bounds one compiler process.
const compileTimeout = 5 * time.Minute

// maxMessage bounds what is kept of a compiler's message, in bytes.
const maxMessage = 16 << 10

// run starts the compiler in dir. It returns what the compiler said; an error
// holds the compiler's own message.
func (c *Compiler) run(ctx context.Context, dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, compileTimeout)
	defer cancel()
	argv := append(c.args(), args...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = environment(dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	var said limited
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	if err != nil {
		if ctx.Err() != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			return "", fmt.Errorf("%s: no result after %v", argv[0], compileTimeout)
		}
		return "", fmt.Errorf("%s: %w\n%s", argv[0], err, said.String())
	}
	return said.String(), nil
}

// limited keeps the first maxMessage bytes.
type limited struct {
	bytes.Buffer
	cut bool
}

func (l *limited) Write(p []byte) (int, error) {
	n := len(p)
	if room := maxMessage - l.Len(); len(p) > room {
		p = p[:max(room, 0)]
		if !l.cut {
			l.cut = true
			p = append(p[:len(p):len(p)], "\n[cut here]\n"...)
		}
	}
	l.Buffer.Write(p)
	return n, nil
}

package driver

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ngcc/bench-action/internal/sandbox"
)

// OnceCounted is the driver's function inside which mode once makes the calls
// that are to be counted. It calls the core and nothing else; the warm-up is
// outside.
const OnceCounted = "ngcc_counted"

// maxOnceFile bounds what a tool that wraps mode once may write, in bytes.
const maxOnceFile = 64 << 20

// OnceSpec says what mode once calls.
type OnceSpec struct {
	Core   Core
	Bytes  int // length of each message, 8 at least
	Warmup int // calls before those that count, on Perf(Bytes, 0), (Bytes, 1), …
	Calls  int // calls that count, on the same messages from 0 on
	// Expected is the hex digest of Perf(Bytes, Calls-1); empty: not checked.
	Expected string
	// Dir is the working directory; empty: the caller's. A relative
	// Core.Library is relative to it.
	Dir     string
	Timeout time.Duration // 0: one minute
}

// check says what is wrong with a OnceSpec.
func (s OnceSpec) check() error {
	const most = 1 << 20
	if err := s.Core.check(); err != nil {
		return err
	}
	switch {
	case s.Bytes < 8 || s.Bytes > 1<<30:
		return fmt.Errorf("driver: no calls on messages of %d bytes: take 8 to 2^30", s.Bytes)
	case s.Calls < 1 || s.Calls > most || s.Warmup < 0 || s.Warmup > most:
		return fmt.Errorf("driver: %d calls after %d are none that can be made: take 1 to 2^20", s.Calls, s.Warmup)
	case s.Expected != "" && len(s.Expected) != s.Core.DigestBits/4:
		return fmt.Errorf("driver: the expected digest has %d hex digits, not %d", len(s.Expected), s.Core.DigestBits/4)
	}
	return nil
}

// OnceArgs are the driver's arguments for these calls.
func (d *Driver) OnceArgs(s OnceSpec) []string {
	return append(append([]string{"once"}, s.Core.args()...), "--bytes", strconv.Itoa(s.Bytes),
		"--warmup", strconv.Itoa(s.Warmup), "--calls", strconv.Itoa(s.Calls))
}

// Once makes the calls in a process of its own, which wrapper starts when it is
// not empty: a command such as {"valgrind", "--tool=callgrind"}, to which the
// driver's command is appended. Nothing is timed and no CPU is pinned, so the
// process runs where this one may: StayOff keeps both off the bench CPU. The
// environment is empty. Descriptor 3 must stay open in the wrapped program.
//
// It returns what wrapper and core printed, whatever the error. A failure of the
// core, or another digest than expected, is a *CoreError.
func (d *Driver) Once(ctx context.Context, s OnceSpec, wrapper []string) (output []byte, err error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if s.Timeout == 0 {
		s.Timeout = defaultTimeout
	}
	p, err := d.startOnce(ctx, s, wrapper)
	if err != nil {
		return nil, err
	}
	defer p.close()
	digest, parseErr := parseOnce(p.out, s.Core.DigestBits/8)
	err = p.outcome(parseErr)
	if err == nil && s.Expected != "" && !strings.EqualFold(s.Expected, hex.EncodeToString(digest)) {
		err = &CoreError{Kind: KindWrongDigest, Detail: fmt.Sprintf("of message %d of mode once", s.Calls-1)}
	}
	var core *CoreError
	if errors.As(err, &core) && core.Kind != KindLoad {
		core.Bits, core.HasMessage = 8*uint64(s.Bytes), true
	}
	result, _ := p.Wait() // outcome has waited and told its error
	return result.Output, err
}

// startOnce is start for a wrapped driver: the wrapper reserves address space
// that the core does not use, and writes a file.
func (d *Driver) startOnce(ctx context.Context, s OnceSpec, wrapper []string) (*process, error) {
	command := append([]string{}, wrapper...)
	command = append(append(append(command, d.Emulator...), d.Path), d.OnceArgs(s)...)
	path, err := filepath.Abs(command[0])
	if err != nil {
		return nil, fmt.Errorf("driver: %w", err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("driver: %w", err)
	}
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("driver: %w", err), outR.Close(), outW.Close())
	}
	spec := sandbox.Spec{
		Path: path, Args: command[1:], Dir: s.Dir, CPU: -1, Stdin: inR, ExtraFiles: []*os.File{outW},
		Timeout: s.Timeout, MaxOutput: maxOutput,
		Limits: sandbox.Limits{FileSize: maxFileSize, OpenFiles: maxOpenFiles},
	}
	if len(wrapper) > 0 {
		spec.Limits.FileSize = maxOnceFile
	} else if len(d.Emulator) == 0 {
		spec.Limits.AddressSpace = maxAddress
	}
	p, err := sandbox.Start(ctx, spec)
	inR.Close()
	outW.Close()
	if err != nil {
		inW.Close()
		outR.Close()
		return nil, fmt.Errorf("driver: %w", err)
	}
	return &process{Process: p, in: inW, out: outR}, nil
}

// parseOnce reads what mode once prints, with parseTime's errors.
func parseOnce(r io.Reader, digestBytes int) ([]byte, error) {
	l := newLines(r)
	l.head("ngcc-once 1")
	if l.err != nil {
		return nil, l.err
	}
	text := l.value("digest")
	digest, err := hex.DecodeString(text)
	if l.err == nil && (err != nil || len(digest) != digestBytes) {
		l.bad("digest", text)
	}
	l.finish()
	if errors.Is(l.err, io.EOF) {
		return nil, io.ErrUnexpectedEOF
	}
	return digest, l.err
}

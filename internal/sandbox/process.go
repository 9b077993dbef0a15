package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Spec describes a child.
type Spec struct {
	Path       string     // absolute path of the program
	Args       []string   // arguments after the program's name
	Dir        string     // working directory; empty: the caller's
	Env        []string   // the whole environment; nil: empty
	CPU        int        // CPU that the child is pinned to, -1 for none
	Stdin      *os.File   // nil: /dev/null
	ExtraFiles []*os.File // entry i becomes the child's descriptor 3+i
	Limits     Limits
	Timeout    time.Duration // wall-clock time until the child is killed; 0: none
	MaxOutput  int           // bytes of stdout and stderr together that are accepted
}

// Result is how a child ended. A child that failed is not an error.
type Result struct {
	ExitCode  int            // meaningful when Signal is 0
	Signal    syscall.Signal // the signal that ended the child, or 0
	Output    []byte         // stdout and stderr as they came, at most MaxOutput bytes
	Survivors int            // processes that were left when the child had ended; all were killed
	TimedOut  bool           // the child was killed for its Spec.Timeout
}

// Process is a running child with its supervisor.
type Process struct {
	cmd      *exec.Cmd
	control  *os.File
	kill     sync.Once
	timedOut atomic.Bool
	overflow atomic.Bool
	done     chan struct{}
	result   Result
	err      error
}

// Start starts a child under a supervisor and returns at once; that the child
// could not be executed is told by Wait. The caller may close Stdin and
// ExtraFiles when Start has returned. When ctx ends the child is killed.
func Start(ctx context.Context, spec Spec) (*Process, error) {
	if !hooked {
		return nil, errors.New("sandbox: sandbox.Main was not called: call it first in main and TestMain")
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	var opened [6]*os.File
	for i := 0; i < len(opened); i += 2 {
		var err error
		if opened[i], opened[i+1], err = os.Pipe(); err != nil {
			closeAll(opened[:i])
			return nil, fmt.Errorf("sandbox: %w", err)
		}
	}
	controlR, controlW := opened[0], opened[1]
	reportR, reportW := opened[2], opened[3]
	outputR, outputW := opened[4], opened[5]

	cmd := &exec.Cmd{
		Path: "/proc/self/exe",
		Args: []string{superviseName},
		// Not the program's: a child may read its supervisor's /proc/PID/environ.
		Env:         []string{},
		Stdout:      outputW,
		Stderr:      outputW,
		ExtraFiles:  append([]*os.File{controlR, reportW}, spec.ExtraFiles...),
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if spec.Stdin != nil {
		cmd.Stdin = spec.Stdin
	}
	if err := cmd.Start(); err != nil {
		closeAll(opened[:])
		return nil, fmt.Errorf("sandbox: cannot start the supervisor: %w", err)
	}
	closeAll([]*os.File{controlR, reportW, outputW})
	p := &Process{cmd: cmd, control: controlW, done: make(chan struct{})}
	go p.follow(ctx, spec, reportR, outputR)
	return p, nil
}

// Kill kills the child and everything it started. Wait tells when that is done.
func (p *Process) Kill() {
	p.kill.Do(func() { p.control.Close() })
}

// Wait returns when the child has ended and nothing of it is left. It may be
// called more than once. The error is ErrOutput when the child printed too much,
// the context's cause when ctx ended it, and otherwise says why the child could
// not be started or watched.
func (p *Process) Wait() (Result, error) {
	<-p.done
	return p.result, p.err
}

// follow sees a child through from its job to its end.
func (p *Process) follow(ctx context.Context, spec Spec, report, output *os.File) {
	defer close(p.done)
	defer closeAll([]*os.File{report, output})
	defer p.Kill()
	defer context.AfterFunc(ctx, p.Kill)()
	if spec.Timeout > 0 {
		timer := time.AfterFunc(spec.Timeout, func() {
			p.timedOut.Store(true)
			p.Kill()
		})
		defer timer.Stop()
	}
	printed := make(chan []byte, 1)
	go func() { printed <- p.capture(output, spec.MaxOutput) }()

	sent, err := json.Marshal(job{
		Path: spec.Path, Args: spec.Args, Dir: spec.Dir, Env: spec.Env,
		Extra: len(spec.ExtraFiles), CPU: spec.CPU, Limits: spec.Limits,
	})
	if err == nil {
		// A failure shows in the report: the supervisor was killed or is gone.
		_, _ = p.control.Write(append(sent, '\n'))
	}
	var e end
	decodeErr := json.NewDecoder(io.LimitReader(report, 1<<16)).Decode(&e)
	waitErr := p.cmd.Wait()
	// A process that escaped a killed supervisor may hold the pipe open.
	_ = output.SetReadDeadline(time.Now().Add(time.Second))
	p.result = Result{
		ExitCode: e.Code, Signal: syscall.Signal(e.Signal), Output: <-printed,
		Survivors: e.Survivors, TimedOut: p.timedOut.Load(),
	}
	switch {
	case p.overflow.Load():
		p.err = ErrOutput
	case p.timedOut.Load():
	case ctx.Err() != nil:
		p.err = context.Cause(ctx)
	case decodeErr != nil:
		p.err = fmt.Errorf("sandbox: the supervisor of %s ended without a report (%v): was it killed?", spec.Path, waitErr)
	case e.Err != "":
		p.err = fmt.Errorf("sandbox: %s", e.Err)
	}
}

// capture reads at most limit bytes of a child's output and kills the child
// when there are more.
func (p *Process) capture(output io.Reader, limit int) []byte {
	data, _ := io.ReadAll(io.LimitReader(output, int64(limit)+1))
	if len(data) > limit {
		p.overflow.Store(true)
		p.Kill()
		return data[:limit]
	}
	return data
}

// closeAll closes files whose errors tell nothing.
func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

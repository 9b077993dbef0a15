package driver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// ServeOptions say how a Session runs.
type ServeOptions struct {
	CPU     int           // CPU that the core runs on, -1 for any
	Timeout time.Duration // longest wait for one answer or sign of progress; 0: a minute
}

// Session is a process that has loaded one core and hashes with it. Its methods
// may be called from several goroutines, one at a time gets its turn. Any
// failure ends the process: all later calls return the first failure again.
type Session struct {
	core    Core
	p       *process
	replies *bufio.Reader
	watch   watchdog

	mu     sync.Mutex
	err    error // the failure that ended the process
	closed bool
}

// Serve loads a core into a new process, which lives until Close or the end of
// ctx. A core that cannot be loaded, or crashes, exits or hangs while it is
// loaded, is a *CoreError.
func (d *Driver) Serve(ctx context.Context, core Core, o ServeOptions) (*Session, error) {
	if err := core.check(); err != nil {
		return nil, err
	}
	var err error
	if core.Library, err = filepath.Abs(core.Library); err != nil {
		return nil, fmt.Errorf("driver: %w", err)
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	p, err := d.start(ctx, append([]string{"serve"}, core.args()...), o.CPU, 0)
	if err != nil {
		return nil, err
	}
	s := &Session{core: core, p: p, replies: bufio.NewReaderSize(p.out, 16<<10)}
	s.watch.init(o.Timeout, p.Kill)
	s.watch.expect()
	a, err := s.receive(ctx, nil)
	if err == nil && a.status != statusReady {
		err = s.fail(errMalformed)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Hash hashes one message. The core hashes a message of up to 16 MiB twice, with
// message and digest at either edge of their pages, a longer one once. A failure
// of the core is a *CoreError.
func (s *Session) Hash(ctx context.Context, m Message) ([]byte, error) {
	var digest []byte
	err := s.HashAll(ctx, 1, func(int) Message { return m }, func(_ int, d []byte) error {
		digest = d
		return nil
	})
	return digest, err
}

// maxPending is how many messages may be on their way at once.
const maxPending = 1024

// HashAll hashes n messages, sending the next ones while the core works. next is
// called for i = 0, 1, … on another goroutine than got, which is called in the
// same order with each digest that it may keep; next(i) happens before got(i).
// An error of got, or of a message's Reader, ends the session and is returned.
func (s *Session) HashAll(ctx context.Context, n int, next func(i int) Message, got func(i int, digest []byte) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, s.p.Kill)()
	pending := make(chan uint64, maxPending)
	quit := make(chan struct{})
	sent := make(chan error, 1)
	go func() {
		defer close(pending)
		sent <- s.sendAll(n, next, pending, quit)
	}()
	err := s.receiveAll(ctx, pending, got)
	close(quit)
	sendErr := <-sent
	var broken *brokenError
	switch {
	case err == nil:
		return sendErr
	case errors.As(sendErr, &broken):
		s.err = broken.err
		return broken.err
	}
	return err
}

// brokenError is a failure of this side in the middle of a request.
type brokenError struct{ err error }

func (e *brokenError) Error() string { return e.err.Error() }

// sendAll sends n messages and the length of each, in bits, to pending.
func (s *Session) sendAll(n int, next func(i int) Message, pending chan<- uint64, quit <-chan struct{}) error {
	for i := range n {
		m := next(i)
		if err := m.check(s.core); err != nil {
			return err
		}
		select {
		case pending <- m.Bits:
		case <-quit:
			return nil
		}
		s.watch.expect()
		if err := s.send(m); err != nil {
			s.p.Kill()
			return err
		}
	}
	return nil
}

// send sends one message. Its error is a *brokenError for a Reader that failed;
// that the process is gone is left to whoever waits for its answer.
func (s *Session) send(m Message) error {
	if m.Rule != RuleData {
		return s.write(request(opHash, m.Rule, m.Bits, m.Number, 0))
	}
	head := request(opHash, RuleData, m.Bits, 0, m.size())
	if m.Reader == nil {
		return s.write(append(head, m.Data...))
	}
	if err := s.write(head); err != nil {
		return err
	}
	chunk := make([]byte, min(m.size(), 256<<10))
	for left := m.size(); left > 0; left -= uint64(len(chunk)) {
		chunk = chunk[:min(left, uint64(len(chunk)))]
		if _, err := io.ReadFull(m.Reader, chunk); err != nil {
			return &brokenError{fmt.Errorf("driver: cannot read a message of %d bits, %d bytes before its end: %w", m.Bits, left, err)}
		}
		if err := s.write(chunk); err != nil {
			return err
		}
	}
	return nil
}

// write writes data piece by piece, each a sign of progress.
func (s *Session) write(data []byte) error {
	for len(data) > 0 {
		n, err := s.p.in.Write(data[:min(len(data), 1<<20)])
		if err != nil {
			return err
		}
		data = data[n:]
		s.watch.touch()
	}
	return nil
}

// receiveAll gives the answer to every pending message to got.
func (s *Session) receiveAll(ctx context.Context, pending <-chan uint64, got func(i int, digest []byte) error) error {
	i := 0
	for bits := range pending {
		digest, err := s.digest(ctx, bits, nil)
		if err != nil {
			return err
		}
		if err := got(i, digest); err != nil {
			return s.fail(err)
		}
		s.watch.touch()
		i++
	}
	return nil
}

// digest receives the digest of a message of that many bits.
func (s *Session) digest(ctx context.Context, bits uint64, progress func(done int)) ([]byte, error) {
	a, err := s.receive(ctx, progress)
	if err == nil && a.status != statusDigest {
		err = s.fail(errMalformed)
	}
	var core *CoreError
	if errors.As(err, &core) {
		core.Bits, core.HasMessage = bits, true
	}
	return a.payload, err
}

// receive reads the next answer that is not progress. A failure, told by the
// driver or shown by its end, ends the session.
func (s *Session) receive(ctx context.Context, progress func(done int)) (reply, error) {
	for {
		a, err := readReply(s.replies, s.core.DigestBits/8)
		if err != nil {
			return reply{}, s.died(ctx, err)
		}
		if a.status == statusProgress {
			s.watch.touch()
			if progress != nil {
				progress(int(min(a.value, 1<<62)))
			}
			continue
		}
		if err := failure(a.status, string(a.payload)); err != nil {
			return reply{}, s.fail(err)
		}
		s.watch.answered()
		return a, nil
	}
}

// died finds out why no answer came.
func (s *Session) died(ctx context.Context, readErr error) error {
	if errors.Is(readErr, errMalformed) {
		return s.fail(readErr)
	}
	result, waitErr := s.p.Wait()
	switch {
	case ctx.Err() != nil:
		s.err = context.Cause(ctx)
	case s.watch.fired.Load():
		s.err = &CoreError{Kind: KindTimedOut, Detail: fmt.Sprintf("no answer for %v", s.watch.timeout)}
	default:
		s.err = ended(result, waitErr)
	}
	return s.err
}

// fail ends the process for a reason, which it returns.
func (s *Session) fail(reason error) error {
	s.err = reason
	s.p.Kill()
	_, _ = s.p.Wait() // the reason is known
	return reason
}

// usable says why nothing can be asked any more.
func (s *Session) usable(ctx context.Context) error {
	switch {
	case s.err != nil:
		return s.err
	case s.closed:
		return errors.New("driver: the session is closed")
	}
	return ctx.Err()
}

// Loop is the loop of the official KAT_Loop files on a message of whole bytes,
// at least as long as the digest: h = Hash(m); n times: rotate m left by the
// digest's length, XOR h into its beginning, h = Hash(m). It returns the last h.
// progress, when it is not nil, is told a few times a second how often it was
// done.
func (s *Session) Loop(ctx context.Context, msg []byte, n int, progress func(done int)) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	if len(msg) < s.core.DigestBits/8 || len(msg) > 1<<20 || n < 0 {
		return nil, fmt.Errorf("driver: no loop of %d times over a message of %d bytes", n, len(msg))
	}
	defer context.AfterFunc(ctx, s.p.Kill)()
	bits, size := 8*uint64(len(msg)), uint64(len(msg))
	s.watch.expect()
	// A failure to write shows as a missing answer.
	_ = s.write(append(request(opLoop, RuleData, bits, uint64(n), size), msg...))
	return s.digest(ctx, bits, progress)
}

// Close ends the process. When nothing had failed before, it returns a
// *CoreError for a core that left a process behind, printed too much or did not
// let its process end.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	defer s.p.close()
	s.p.in.Close()
	s.watch.expect()
	result, err := s.p.Wait()
	s.watch.stop()
	switch {
	case s.err != nil:
		return nil
	case s.watch.fired.Load():
		return &CoreError{Kind: KindTimedOut, Detail: fmt.Sprintf("its process did not end for %v", s.watch.timeout)}
	case err != nil, result.Signal != 0, result.ExitCode != 0:
		return ended(result, err)
	case result.Survivors > 0:
		return survivors(result.Survivors)
	}
	return nil
}

// survivors is the error of a core that left so many processes.
func survivors(n int) error {
	return &CoreError{Kind: KindSurvivors, Detail: fmt.Sprintf("%d when its own ended; all were killed", n)}
}

// watchdog kills a process that owes an answer and shows no progress.
type watchdog struct {
	timeout time.Duration
	timer   *time.Timer
	owed    atomic.Int64
	fired   atomic.Bool
}

func (w *watchdog) init(timeout time.Duration, kill func()) {
	w.timeout = timeout
	w.timer = time.AfterFunc(timeout, func() {
		if w.owed.Load() > 0 {
			w.fired.Store(true)
			kill()
		}
	})
}

// expect notes that one more answer is owed, answered that one came, and touch
// that there was progress.
func (w *watchdog) expect()   { w.owed.Add(1); w.touch() }
func (w *watchdog) answered() { w.owed.Add(-1); w.touch() }
func (w *watchdog) touch()    { w.timer.Reset(w.timeout) }
func (w *watchdog) stop()     { w.timer.Stop() }

package driver

import (
	"fmt"

	"github.com/ngcc/bench-action/internal/sandbox"
)

// ErrorKind names one way in which a core can fail, as logs print it.
type ErrorKind string

// What a core can do wrong.
const (
	KindReturned    ErrorKind = "core returned non-zero"
	KindCrashed     ErrorKind = "core crashed"
	KindTimedOut    ErrorKind = "core timed out"
	KindOutside     ErrorKind = "core wrote outside its buffers"
	KindPlacement   ErrorKind = "core depends on buffer placement"
	KindUnwritten   ErrorKind = "digest not written"
	KindOutput      ErrorKind = "core printed too much"
	KindSurvivors   ErrorKind = "core left a process behind"
	KindRemembers   ErrorKind = "core remembers its last message"
	KindWrongDigest ErrorKind = "wrong digest"
	KindExited      ErrorKind = "core exited"
	KindLoad        ErrorKind = "core could not be loaded"
	KindCounter     ErrorKind = "counter not available"
	KindConvention  ErrorKind = "core breaks the calling convention"
)

// CoreError is a failure of the core under test, or of the counter that was
// asked for; errors of any other type are failures of the bench.
type CoreError struct {
	Kind   ErrorKind
	Detail string // what it did, without its kind; may be empty
	Bits   uint64 // length of the message concerned; meaningful when HasMessage
	// HasMessage tells a failure on a message (of 0 bits even) from one on none,
	// as when the core is loaded.
	HasMessage bool
	Side       string // of a pair: "A" or "B"; empty where there is one core, or it cannot be told
}

// Error gives kind, detail and message length; the side is for the caller, who
// knows what A and B are.
func (e *CoreError) Error() string {
	text := string(e.Kind)
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	if e.HasMessage {
		text += fmt.Sprintf(" (message of %d bits)", e.Bits)
	}
	return text
}

// tail is the end of what a core printed, quoted, for a detail.
func tail(output []byte) string {
	const most = 200
	if len(output) == 0 {
		return ""
	}
	if len(output) > most {
		return fmt.Sprintf("; it printed …%q", output[len(output)-most:])
	}
	return fmt.Sprintf("; it printed %q", output)
}

// ended explains the end of a driver process from which no failure was
// received. Its answer is never nil.
func ended(result sandbox.Result, waitErr error) error {
	switch {
	case waitErr == sandbox.ErrOutput:
		return &CoreError{Kind: KindOutput, Detail: fmt.Sprintf("more than %d bytes%s", maxOutput, tail(result.Output))}
	case waitErr != nil:
		return fmt.Errorf("driver: %w", waitErr)
	case result.TimedOut:
		return &CoreError{Kind: KindTimedOut}
	case result.Signal != 0:
		return &CoreError{Kind: KindCrashed, Detail: fmt.Sprintf("killed by signal %d (%v)%s",
			int(result.Signal), result.Signal, tail(result.Output))}
	}
	return &CoreError{Kind: KindExited, Detail: fmt.Sprintf("the process ended with exit code %d%s",
		result.ExitCode, tail(result.Output))}
}

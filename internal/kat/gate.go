package kat

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/ngcc/bench-action/internal/catalog"
	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/records"
)

// DefaultVectors is the path of the small vectors in a data root.
const DefaultVectors = "kat/vectors.csv"

// TimedMessages is how many numbered messages of each size the gate leaves
// digests of, for the timing processes to check their batches against.
const TimedMessages = 16

// Hasher is a core in a process of its own; *driver.Session is one. Its methods
// return a *driver.CoreError where the core is at fault; after any error the
// gate closes it and opens another. HashAll calls got in the order of next,
// which may run ahead on another goroutine. Data of messages is read only.
type Hasher interface {
	Hash(ctx context.Context, m driver.Message) ([]byte, error)
	HashAll(ctx context.Context, n int, next func(i int) driver.Message, got func(i int, digest []byte) error) error
	Loop(ctx context.Context, msg []byte, n int, progress func(done int)) ([]byte, error)
	Close() error
}

var _ Hasher = (*driver.Session)(nil)

// Options say what the gate checks and against what.
type Options struct {
	Candidate  string // hash-23
	Label      string // QILIN-512-avx2
	Instance   string // QILIN-512
	DigestBits int
	API        string // catalog.CryptHash or catalog.CryptoHash
	Kind       string // catalog.GateManifest or catalog.GateCAVP
	Mode       string // ModeGate or ModeFull

	Files    fs.FS    // the data root that all paths are in
	Manifest string   // empty: kat/manifests/<candidate>.sha256
	CAVP     []string // .rsp files, all of which must hold vectors for the instance
	Vectors  string   // small vectors; empty: DefaultVectors
	Bytes    []int    // sizes that will be timed

	// LibraryDigest, CodeDigest and Inputs are copied to the log and the result.
	LibraryDigest string
	CodeDigest    string
	Inputs        string

	// Open starts a fresh process with the core.
	Open func(ctx context.Context) (Hasher, error)
	// Progress, if any, is told now and then how far the gate is.
	Progress func(text string)
}

// Gate decides whether a core is correct, and returns the result with its log.
// It is closed by default: whatever keeps a file or a vector from being checked
// is a failure with its own name, as is every fault of the core. The error is
// for faults that say nothing of the core: ctx ended, options that contradict
// themselves, a process that could not be started. The log has nothing in it
// that changes from run to run.
func Gate(ctx context.Context, o Options) (*records.Gate, []byte, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, nil, err
	}
	start := time.Now()
	g := &gate{o: o, out: &records.Gate{
		Schema:     records.Schema,
		Inputs:     o.Inputs,
		Candidate:  o.Candidate,
		Label:      o.Label,
		CodeDigest: o.CodeDigest,
		Mode:       o.Mode,
		Result:     records.GatePass,
		Files:      []records.GateFile{},
	}}
	g.header()
	err = g.run(ctx)
	if closeErr := g.close(); err == nil {
		err = coreFailure("after the last message", closeErr)
	}
	if ctx.Err() != nil {
		return nil, nil, fmt.Errorf("gate of %s/%s: %w", o.Candidate, o.Label, context.Cause(ctx))
	}
	var f *failure
	switch {
	case errors.As(err, &f):
		g.out.Result, g.out.Detail, g.out.Messages = f.name, oneLine(f.detail), nil
		g.printf("RESULT %s %s %s: %s", o.Candidate, o.Label, f.name, g.out.Detail)
	case err != nil:
		return nil, nil, fmt.Errorf("gate of %s/%s: %w", o.Candidate, o.Label, err)
	default:
		g.printf("RESULT %s %s %s", o.Candidate, o.Label, records.GatePass)
	}
	g.out.Seconds = time.Since(start).Seconds()
	return g.out, g.log.Bytes(), nil
}

// withDefaults fills in paths and refuses what no caller should ask for.
func (o Options) withDefaults() (Options, error) {
	if o.Manifest == "" {
		o.Manifest = "kat/manifests/" + o.Candidate + ".sha256"
	}
	if o.Vectors == "" {
		o.Vectors = DefaultVectors
	}
	if o.Files == nil || o.Open == nil || o.DigestBits <= 0 {
		return o, fmt.Errorf("gate of %s/%s: options without files, without a core to open or without digest bits", o.Candidate, o.Label)
	}
	if _, err := Schedule(o.Mode); err != nil {
		return o, fmt.Errorf("gate of %s/%s: %w", o.Candidate, o.Label, err)
	}
	return o, nil
}

// gate is one run of Gate.
type gate struct {
	o    Options
	log  bytes.Buffer
	out  *records.Gate
	core Hasher // nil: to be opened
}

func (g *gate) run(ctx context.Context) error {
	vectors, err := g.loadVectors()
	if err != nil {
		return err
	}
	switch g.o.Kind {
	case catalog.GateManifest:
		err = g.runManifest(ctx)
	case catalog.GateCAVP:
		err = g.runCAVP(ctx)
	default:
		err = fail(FailKind, "the gate %q is not known: use %s or %s", g.o.Kind, catalog.GateManifest, catalog.GateCAVP)
	}
	var f *failure
	switch {
	case errors.As(err, &f) && f.core:
		return g.diagnose(ctx, f, vectors)
	case err != nil:
		return err
	}
	if err := g.checkVectors(ctx, vectors); err != nil {
		return err
	}
	return g.timed(ctx)
}

// timed leaves the digests of the numbered messages of every timed size.
func (g *gate) timed(ctx context.Context) error {
	n := TimedMessages * len(g.o.Bytes)
	err := g.hashAll(ctx, "timed messages", n, func(i int) driver.Message {
		return driver.Message{
			Bits:   8 * uint64(g.o.Bytes[i/TimedMessages]),
			Rule:   driver.RuleNumbered,
			Number: uint64(i % TimedMessages),
		}
	}, func(i int, digest []byte) {
		if i%TimedMessages == 0 {
			g.out.Messages = append(g.out.Messages, records.TimedBytes{Bytes: g.o.Bytes[i/TimedMessages]})
		}
		last := &g.out.Messages[len(g.out.Messages)-1]
		last.Digests = append(last.Digests, hex.EncodeToString(digest))
	})
	if err != nil {
		return err
	}
	for _, t := range g.out.Messages {
		g.printf("TIMED %d bytes, digests of %d numbered messages", t.Bytes, len(t.Digests))
	}
	return nil
}

// hasher is the core's process, started if there is none.
func (g *gate) hasher(ctx context.Context) (Hasher, error) {
	if g.core == nil {
		h, err := g.o.Open(ctx)
		if err != nil {
			err = coreFailure("start", err)
			var f *failure
			if errors.As(err, &f) {
				f.core = false // no vector says more of a core that does not start
			}
			return nil, err
		}
		g.core = h
	}
	return g.core, nil
}

// hash is one message through the core. where says what the message belongs to.
func (g *gate) hash(ctx context.Context, where string, m driver.Message) ([]byte, error) {
	h, err := g.hasher(ctx)
	if err != nil {
		return nil, err
	}
	digest, err := h.Hash(ctx, m)
	if err != nil {
		_ = g.close()
		return nil, coreFailure(where, err)
	}
	return digest, nil
}

// hashAll is n messages through the core; got sees every digest in order.
func (g *gate) hashAll(ctx context.Context, where string, n int, next func(i int) driver.Message, got func(i int, digest []byte)) error {
	h, err := g.hasher(ctx)
	if err != nil {
		return err
	}
	done := 0
	err = h.HashAll(ctx, n, next, func(i int, digest []byte) error {
		if i != done {
			return fmt.Errorf("digest %d came as number %d: the driver and the gate do not fit", i, done)
		}
		got(i, digest)
		done++
		if done%1024 == 0 || done == n || n <= 3 {
			g.progress("%s %d/%d", where, done, n)
		}
		return nil
	})
	if err == nil && done != n {
		err = fmt.Errorf("%d digests of %d messages came back: the driver and the gate do not fit", done, n)
	}
	if err != nil {
		_ = g.close()
		return coreFailure(where, err)
	}
	return nil
}

// close ends the core's process, if there is one.
func (g *gate) close() error {
	if g.core == nil {
		return nil
	}
	err := g.core.Close()
	g.core = nil
	return err
}

func (g *gate) progress(format string, args ...any) {
	if g.o.Progress != nil {
		g.o.Progress(g.o.Label + " " + fmt.Sprintf(format, args...))
	}
}

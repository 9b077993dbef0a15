package kat

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode"

	"github.com/ngcc/bench-action/internal/driver"
)

// Names of failures that are not the driver's own (those are the values of
// driver.ErrorKind). Each says what to look at first.
const (
	FailManifestMissing    = "manifest missing"
	FailManifestUnreadable = "manifest unreadable"
	FailEntryMissing       = "manifest entry missing"
	FailMismatch           = "KAT mismatch"
	FailVectorsUnreadable  = "vectors unreadable"
	FailVector             = "vector mismatch" // the official files pass, a row of vectors.csv does not
	FailCAVPMissing        = "vector file missing"
	FailCAVPUnreadable     = "vector file unreadable"
	FailCAVPEmpty          = "no vectors for the instance"
	FailPartialByte        = "length is no whole number of bytes"
	FailKind               = "gate not applicable"
)

// Results of files in a failed gate, beside the names of failures.
const notRun = "not run"

// failure is a result other than PASS.
type failure struct {
	name   string
	detail string
	core   bool // the core's digests were at fault, so vectors can say more
}

func (f *failure) Error() string { return f.name + ": " + f.detail }

func fail(name, format string, args ...any) *failure {
	return &failure{name: name, detail: fmt.Sprintf(format, args...)}
}

// coreFailure turns the driver's account of a core into a failure, and returns
// other errors as they are. where says what the core was given.
func coreFailure(where string, err error) error {
	var ce *driver.CoreError
	if !errors.As(err, &ce) {
		return err
	}
	detail := where
	if ce.HasMessage {
		detail += fmt.Sprintf(", message of %d bits", ce.Bits)
	}
	if ce.Detail != "" {
		detail += ": " + ce.Detail
	}
	return &failure{name: string(ce.Kind), detail: detail, core: true}
}

// oneLine makes text that a core may have had a hand in fit for one line of a
// log: control characters become spaces, and it ends after 2000 bytes.
func oneLine(text string) string {
	const most = 2000
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// printf adds a line to the log.
func (g *gate) printf(format string, args ...any) {
	fmt.Fprintf(&g.log, "%s\n", oneLine(fmt.Sprintf(format, args...)))
}

// header writes what the log is about.
func (g *gate) header() {
	g.printf("candidate %s", g.o.Candidate)
	g.printf("label %s", g.o.Label)
	g.printf("instance %s, digest of %d bits", g.o.Instance, g.o.DigestBits)
	if g.o.LibraryDigest != "" {
		g.printf("library sha256 %s", g.o.LibraryDigest)
	}
	g.printf("gate %s, interface %s, mode %s", g.o.Kind, g.o.API, g.o.Mode)
}

// read reads a file of the data root and names it with its digest in the log.
// missing and unreadable are the names of the failures.
func (g *gate) read(what, name, missing, unreadable string) ([]byte, error) {
	data, err := fs.ReadFile(g.o.Files, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fail(missing, "%s is not in the data root: without it nothing is checked, so nothing is timed", name)
	case err != nil:
		return nil, fail(unreadable, "%s: %v", name, err)
	}
	g.printf("%s %s sha256 %x", what, name, sha256.Sum256(data))
	return data, nil
}

// Inputs is the SHA-256 of everything that a result of Gate follows from, for
// Options.Inputs: a stored result stands as long as it is equal. driverDigest
// is the digest of the measuring program.
func Inputs(o Options, driverDigest string) (string, error) {
	o, err := o.withDefaults()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %d %q %q %q %v\n", o.Candidate, o.Label, o.Instance, o.DigestBits, o.API, o.Kind, o.Mode, o.Bytes)
	fmt.Fprintf(h, "%q %q\n", o.LibraryDigest, driverDigest)
	for _, name := range append([]string{o.Manifest, o.Vectors}, o.CAVP...) {
		data, err := fs.ReadFile(o.Files, name)
		if err != nil {
			fmt.Fprintf(h, "%q absent\n", name)
			continue
		}
		fmt.Fprintf(h, "%q %x\n", name, sha256.Sum256(data))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

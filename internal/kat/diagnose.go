package kat

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/ngcc/bench-action/internal/catalog"
	"github.com/ngcc/bench-action/internal/records"
)

// loadVectors reads the small vectors of the instance. Candidates that have
// none are judged by their manifest alone, and the log says so.
func (g *gate) loadVectors() ([]Vector, error) {
	if _, err := fs.Stat(g.o.Files, g.o.Vectors); errors.Is(err, fs.ErrNotExist) {
		g.printf("vectors none: %s is not in the data root", g.o.Vectors)
		return nil, nil
	}
	data, err := g.read("vectors", g.o.Vectors, FailVectorsUnreadable, FailVectorsUnreadable)
	if err != nil {
		return nil, err
	}
	all, err := ParseVectors(g.o.Vectors, data)
	if err != nil {
		return nil, fail(FailVectorsUnreadable, "%v", err)
	}
	own := vectorsOf(all, g.o.Candidate, g.o.Instance)
	for _, v := range own {
		switch {
		case v.DigestBits != g.o.DigestBits:
			return nil, fail(FailVectorsUnreadable, "%s:%d: digest_bits is %d, but %s has digests of %d bits",
				g.o.Vectors, v.Line, v.DigestBits, g.o.Instance, g.o.DigestBits)
		case g.o.API == catalog.CryptoHash && v.Message.Bits%8 != 0:
			return nil, fail(FailPartialByte, "%s:%d: message_bits is %d, and %s takes whole bytes",
				g.o.Vectors, v.Line, v.Message.Bits, g.o.API)
		}
	}
	if len(own) == 0 {
		g.printf("vectors none for %s", g.o.Instance)
	}
	return own, nil
}

// checkVectors is the last check of a core whose files all match: a missing
// padding block, or unused bits that leak in, pass the official files of some
// instances.
func (g *gate) checkVectors(ctx context.Context, vectors []Vector) error {
	if len(vectors) == 0 {
		return nil
	}
	tried, err := g.tryVectors(ctx, vectors)
	var f *failure
	if err != nil && !errors.As(err, &f) {
		return err
	}
	out := records.GateFile{Name: g.o.Vectors, Mode: fmt.Sprintf("%d vectors", len(vectors)), Result: records.GatePass}
	if f != nil {
		out.Result = f.name
		g.file(out)
		g.printf("VECTORS %d of %d tried FAIL", tried, len(vectors))
		return f
	}
	g.file(out)
	g.printf("VECTORS %d of %d tried PASS", tried, len(vectors))
	return nil
}

// tryVectors hashes the vectors one by one and stops at the first that fails.
func (g *gate) tryVectors(ctx context.Context, vectors []Vector) (tried int, err error) {
	for i, v := range vectors {
		where := fmt.Sprintf("%s:%d: %d bits, %s", g.o.Vectors, v.Line, v.Message.Bits, v.Rule)
		digest, err := g.hash(ctx, where, v.Message)
		if err != nil {
			return i + 1, err
		}
		if !bytes.Equal(digest, v.Digest) {
			return i + 1, fail(FailVector, "%s: want %x, got %x", where, v.Digest, digest)
		}
	}
	return len(vectors), nil
}

// diagnose adds to a failure of the core the first small vector that fails,
// which is what a person can work with, or what it means that none does.
func (g *gate) diagnose(ctx context.Context, f *failure, vectors []Vector) error {
	if len(vectors) == 0 {
		note := fmt.Sprintf("no small vectors for %s in %s to narrow it down with", g.o.Instance, g.o.Vectors)
		g.printf("VECTORS %s", note)
		return f.with(note)
	}
	tried, err := g.tryVectors(ctx, vectors)
	var wrong *failure
	switch {
	case errors.As(err, &wrong):
		note := "first small vector that fails: " + wrong.detail
		if wrong.name != FailVector {
			note += " (" + wrong.name + ")"
		}
		g.printf("VECTORS %d of %d tried, %s", tried, len(vectors), note)
		return f.with(note)
	case err != nil:
		return err
	}
	longest := uint64(0)
	for _, v := range vectors {
		longest = max(longest, v.Message.Bits)
	}
	note := fmt.Sprintf("none of the %d small vectors (up to %d bits) fails, so ", tried, longest)
	if g.shortPassed() {
		note += "only longer messages differ"
	} else {
		note += "other lengths or contents differ"
	}
	g.printf("VECTORS %s", note)
	return f.with(note)
}

// shortPassed reports whether the file of short messages, all lengths up to
// 4096 bits, was right.
func (g *gate) shortPassed() bool {
	for _, f := range g.out.Files {
		if strings.HasPrefix(f.Name, quickFiles[0].Prefix) {
			return f.Result == records.GatePass
		}
	}
	return false
}

// with adds a note to the detail.
func (f *failure) with(note string) *failure {
	f.detail += "; " + note
	return f
}

// compareText looks for the official text of a file that does not match, kept
// in a folder named as the manifest (kat/manifests/hash-23/<instance>/<file>),
// and says which record differs first. Without that text it says nothing.
func (g *gate) compareText(f File, e Entry, digests [][]byte) string {
	name := path.Join(strings.TrimSuffix(g.o.Manifest, path.Ext(g.o.Manifest)), e.Path)
	data, err := fs.ReadFile(g.o.Files, name)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		return fmt.Sprintf("%s cannot be read: %v", name, err)
	}
	sum, err := CanonicalSum(bytes.NewReader(data), e.Mode)
	if err != nil || sum != e.Sum {
		return fmt.Sprintf("%s is not the text that the manifest's line %d is of", name, e.Line)
	}
	official, err := ParseKATText(name, data)
	if err != nil {
		return err.Error()
	}
	for i := range min(len(digests), len(official)) {
		t, r := official[i], f.Record(i)
		where := fmt.Sprintf("%s:%d: record %d, %d bits", name, t.Line, i, t.Bits)
		switch {
		case t.Bits != r.Message.Bits || t.Abridged != r.Abridged || !t.Abridged && !bytes.Equal(t.Message, r.Message.Data):
			return where + ": its message is not the schedule's"
		case !bytes.Equal(t.Digest, digests[i]):
			return fmt.Sprintf("%s: want %x, got %x", where, t.Digest, digests[i])
		}
	}
	return name + " has the same digests: its layout or its number of records is not the schedule's"
}

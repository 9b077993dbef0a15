package kat

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/ngcc/bench-action/internal/catalog"
	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/records"
)

// runManifest replays the schedule's files and compares each with the
// manifest. After a file that fails, the quick ones are still tried, for what
// they tell, unless the core broke down.
func (g *gate) runManifest(ctx context.Context) error {
	if g.o.API == catalog.CryptoHash {
		return fail(FailKind, "the official schedule has lengths in bits and %s takes bytes: use the gate %s", g.o.API, catalog.GateCAVP)
	}
	data, err := g.read("manifest", g.o.Manifest, FailManifestMissing, FailManifestUnreadable)
	if err != nil {
		return err
	}
	m, err := ParseManifest(g.o.Manifest, data)
	if err != nil {
		return fail(FailManifestUnreadable, "%v", err)
	}
	files, err := Schedule(g.o.Mode)
	if err != nil {
		return err
	}
	prefixes := make([]string, len(files))
	for i, f := range files {
		prefixes[i] = f.Prefix
	}
	g.printf("schedule %s", strings.Join(prefixes, " "))
	entries, err := g.entries(m, files)
	if err != nil {
		return err
	}
	var first *failure
	for i, f := range files {
		if first != nil && (first.name != FailMismatch || i >= len(quickFiles)) {
			g.skip(f, entries[i])
			continue
		}
		err := g.replayFile(ctx, f, entries[i])
		var failed *failure
		switch {
		case errors.As(err, &failed) && first == nil:
			first = failed
		case err != nil && failed == nil:
			return err
		}
	}
	if first != nil {
		return first
	}
	return nil
}

// entries looks up every file of the schedule, before any is replayed.
func (g *gate) entries(m *Manifest, files []File) ([]Entry, error) {
	var found []Entry
	var missing []string
	for _, f := range files {
		name := f.Name(g.o.Instance)
		e, ok := m.Lookup(g.o.Instance, name)
		switch {
		case !ok:
			missing = append(missing, name)
			g.file(records.GateFile{Name: name, Result: FailEntryMissing})
			g.printf("FILE %s %d want - got - FAIL", name, f.Records)
		case e.Mode.Records > f.Records:
			return nil, fail(FailManifestUnreadable, "%s:%d: mode %s asks for %d records, %s has %d",
				m.Name, e.Line, e.Mode, e.Mode.Records, name, f.Records)
		}
		found = append(found, e)
	}
	if missing != nil {
		return nil, fail(FailEntryMissing, "%s has no line for %s of %s: add it, or the core cannot be checked",
			m.Name, strings.Join(missing, ", "), g.o.Instance)
	}
	return found, nil
}

// replayFile runs one file through the core and compares it with its entry.
func (g *gate) replayFile(ctx context.Context, f File, e Entry) error {
	name := f.Name(g.o.Instance)
	out := records.GateFile{Name: name, Mode: e.Mode.String(), Want: hex.EncodeToString(e.Sum[:])}
	n := f.Records
	if e.Mode.Records > 0 {
		n = e.Mode.Records
	}
	sum, digests, err := g.replay(ctx, f, e.Mode, n)
	if err != nil {
		var broken *failure
		if !errors.As(err, &broken) {
			return err
		}
		out.Result = broken.name
		g.file(out)
		g.printf("FILE %s %d want %s got - FAIL", name, n, out.Want)
		g.printf("FAULT %s: %s", broken.name, broken.detail)
		return broken
	}
	out.Got, out.Result = hex.EncodeToString(sum[:]), records.GatePass
	verdict := "PASS"
	if sum != e.Sum {
		out.Result, verdict = FailMismatch, "FAIL"
	}
	g.file(out)
	g.printf("FILE %s %d want %s got %s %s", name, n, out.Want, out.Got, verdict)
	if sum == e.Sum {
		return nil
	}
	failed := fail(FailMismatch, "%s: want sha256 %s, got %s", name, out.Want, out.Got)
	if text := g.compareText(f, e, digests); text != "" {
		g.printf("TEXT %s", text)
		failed.detail += "; " + text
	}
	failed.core = true
	return failed
}

// replay hashes the first n messages of a file and returns the SHA-256 of the
// canonical form of the text that the official generator would print, with the
// digests in it.
func (g *gate) replay(ctx context.Context, f File, mode Mode, n int) (sum [sha256.Size]byte, digests [][]byte, err error) {
	name := f.Name(g.o.Instance)
	c := NewCanonical(mode)
	var text []byte
	take := func(i int, digest []byte) {
		digests = append(digests, bytes.Clone(digest))
		text = f.Record(i).AppendText(text[:0], g.o.DigestBits, digest)
		_, _ = c.Write(text) // never fails
	}
	if rounds := f.Record(0).Rounds; rounds > 0 {
		err = g.loop(ctx, name, f.Record(0), take)
	} else {
		err = g.hashAll(ctx, name, n, func(i int) driver.Message { return f.Record(i).Message }, take)
	}
	if err != nil {
		return sum, nil, err
	}
	return c.Sum(), digests, nil
}

// loop runs the record of KAT_Loop.
func (g *gate) loop(ctx context.Context, where string, r Record, take func(i int, digest []byte)) error {
	h, err := g.hasher(ctx)
	if err != nil {
		return err
	}
	digest, err := h.Loop(ctx, bytes.Clone(r.Message.Data), r.Rounds, func(done int) {
		g.progress("%s round %d/%d", where, done, r.Rounds)
	})
	if err != nil {
		_ = g.close()
		return coreFailure(where, err)
	}
	take(0, digest)
	return nil
}

// file adds a line to the result.
func (g *gate) file(f records.GateFile) { g.out.Files = append(g.out.Files, f) }

// skip notes a file that an earlier failure made pointless.
func (g *gate) skip(f File, e Entry) {
	name := f.Name(g.o.Instance)
	want := hex.EncodeToString(e.Sum[:])
	g.file(records.GateFile{Name: name, Mode: e.Mode.String(), Result: notRun, Want: want})
	g.printf("FILE %s %d want %s got - NOT RUN", name, f.Records, want)
}

package kat

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ngcc/bench-action/internal/catalog"
	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/records"
)

// runCAVP checks every vector of every .rsp file. All files are read before the
// first is run; a file that holds nothing for the instance is a failure.
func (g *gate) runCAVP(ctx context.Context) error {
	if len(g.o.CAVP) == 0 {
		return fail(FailCAVPMissing, "%s names no vector files: list its .rsp files", g.o.Candidate)
	}
	var files []*CAVP
	for _, name := range g.o.CAVP {
		f, err := g.loadCAVP(name)
		if err != nil {
			var bad *failure
			if errors.As(err, &bad) {
				g.file(records.GateFile{Name: name, Mode: g.o.Kind, Result: bad.name})
			}
			return err
		}
		files = append(files, f)
	}
	for i, f := range files {
		n, err := g.checkCAVP(ctx, f)
		var bad *failure
		if err != nil && !errors.As(err, &bad) {
			return err
		}
		out := records.GateFile{Name: f.Name, Mode: g.o.Kind, Result: records.GatePass}
		if bad != nil {
			out.Result = bad.name
			g.file(out)
			g.printf("FILE %s %d FAIL", f.Name, n)
			for _, rest := range files[i+1:] {
				g.file(records.GateFile{Name: rest.Name, Mode: g.o.Kind, Result: notRun})
				g.printf("FILE %s NOT RUN", rest.Name)
			}
			return bad
		}
		g.file(out)
		g.printf("FILE %s %d PASS", f.Name, n)
	}
	return nil
}

// loadCAVP reads a file and keeps what is for the instance's digest length.
func (g *gate) loadCAVP(name string) (*CAVP, error) {
	data, err := g.read("vectors", name, FailCAVPMissing, FailCAVPUnreadable)
	if err != nil {
		return nil, err
	}
	f, err := ParseCAVP(name, data)
	if err != nil {
		return nil, fail(FailCAVPUnreadable, "%v", err)
	}
	l := int(byteLen(uint64(g.o.DigestBits)))
	f.Messages = slices.DeleteFunc(f.Messages, func(m CAVPMessage) bool { return m.L != l })
	f.Chains = slices.DeleteFunc(f.Chains, func(c CAVPChain) bool { return c.L != l })
	if len(f.Messages)+len(f.Chains) == 0 {
		return nil, fail(FailCAVPEmpty, "%s has no section [L = %d] with vectors, the digest length of %s in bytes", name, l, g.o.Instance)
	}
	if g.o.API == catalog.CryptoHash {
		for _, m := range f.Messages {
			if m.Bits%8 != 0 {
				return nil, fail(FailPartialByte, "%s:%d: Len = %d is in bits, and %s takes whole bytes", name, m.Line, m.Bits, g.o.API)
			}
		}
	}
	return f, nil
}

// checkCAVP runs a file's vectors and returns how many digests it compared.
// The failure names the first wrong one.
func (g *gate) checkCAVP(ctx context.Context, f *CAVP) (n int, err error) {
	var first *failure
	wrong := 0
	err = g.hashAll(ctx, f.Name, len(f.Messages), func(i int) driver.Message {
		m := f.Messages[i]
		return driver.Message{Bits: m.Bits, Rule: driver.RuleData, Data: m.Message}
	}, func(i int, digest []byte) {
		n++
		m := f.Messages[i]
		if bytes.Equal(digest, m.Digest) {
			return
		}
		wrong++
		if first == nil {
			first = fail(FailMismatch, "%s:%d: message of %d bits: want %x, got %x", f.Name, m.Line, m.Bits, m.Digest, digest)
		}
	})
	if err != nil {
		return n, err
	}
	if first != nil {
		first.core = true
		first.detail += fmt.Sprintf("; wrong in this file: %d of %d", wrong, len(f.Messages))
		return n, first
	}
	for _, c := range f.Chains {
		done, err := g.monte(ctx, f.Name, c)
		n += done
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// monte runs one chain and stops at the first wrong count: all later ones
// follow from it.
func (g *gate) monte(ctx context.Context, name string, c CAVPChain) (n int, err error) {
	seed := c.Seed
	for j, want := range c.Digests {
		last := [3][]byte{seed, seed, seed}
		for range monteLast - monteFirst + 1 {
			m := slices.Concat(last[0], last[1], last[2])
			digest, err := g.hash(ctx, name, driver.Message{Bits: 8 * uint64(len(m)), Rule: driver.RuleData, Data: m})
			if err != nil {
				return n, err
			}
			last[0], last[1], last[2] = last[1], last[2], bytes.Clone(digest)
		}
		n++
		if seed = last[2]; !bytes.Equal(seed, want) {
			f := fail(FailMismatch, "%s:%d: COUNT = %d: want %x, got %x", name, c.Lines[j], j, want, seed)
			f.core = true
			return n, f
		}
		g.progress("%s count %d/%d", name, j+1, len(c.Digests))
	}
	return n, nil
}

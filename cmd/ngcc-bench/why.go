package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/measure"
	"github.com/ngcc/bench-action/internal/records"
	"github.com/ngcc/bench-action/internal/toolchain"
	"github.com/ngcc/bench-action/internal/witness"
)

// explain counts the instructions of both sides of every comparison that was
// called slower or faster, and leaves what they say beside it. The counts never
// decide. It runs after all timing, since it keeps every CPU busy.
func (s *session) explain(ctx context.Context, cells []measure.PairCell, cs []records.Comparison) error {
	var called []int
	for i := range cs {
		if cs[i].Call != "" && cs[i].Fault == nil {
			called = append(called, i)
		}
	}
	p := newProgress(s.err, "explain", len(called))
	defer p.end()
	return toolchain.Parallel(ctx, workers, len(called), func(ctx context.Context, j int) error {
		c, cell := &cs[called[j]], &cells[called[j]]
		why, err := s.why(ctx, cell)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Key(), err)
		}
		why.Key = c.Key()
		p.done(c.Key(), why.Explanation.Lines()[0])
		return s.dir.WriteJSON(records.WhyFileName(c.Candidate, c.Label, c.MessageBytes), why)
	})
}

// why explains one cell.
func (s *session) why(ctx context.Context, cell *measure.PairCell) (*witness.File, error) {
	out := &witness.File{Schema: records.Schema}
	side := func(lib string, expected []string, count *witness.Count) (witness.Side, error) {
		core := driver.Core{Library: lib, API: cell.API, DigestBits: cell.DigestBits}
		c, err := witness.Measure(ctx, s.driver, witness.Spec{Core: core, Bytes: cell.Bytes, Expected: expected})
		if err != nil {
			return witness.Side{}, err
		}
		*count = c
		data, err := os.ReadFile(lib)
		return witness.Side{Library: data, Count: c}, err
	}
	expected := cell.ExpectedBase
	if expected == nil {
		expected = cell.Expected
	}
	base, err := side(cell.Base.Library, expected, &out.Base)
	if err != nil {
		return nil, err
	}
	head, err := side(cell.Head.Library, cell.Expected, &out.Head)
	if err != nil {
		return nil, err
	}
	out.Explanation, err = witness.Explain(base, head)
	return out, err
}

// loadWhy reads the explanations of comparisons, as lines of text by key.
func loadWhy(dir records.Dir, cs []records.Comparison) (map[string][]string, error) {
	out := map[string][]string{}
	for i := range cs {
		var f witness.File
		switch err := dir.ReadJSON(records.WhyFileName(cs[i].Candidate, cs[i].Label, cs[i].MessageBytes), &f); {
		case err == nil && cs[i].Call != "":
			out[cs[i].Key()] = f.Explanation.Lines()
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return out, nil
}

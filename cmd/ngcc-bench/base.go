package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ngcc/bench-action/internal/catalog"
	"github.com/ngcc/bench-action/internal/gitroot"
	"github.com/ngcc/bench-action/internal/records"
	"github.com/ngcc/bench-action/internal/toolchain"
)

// Places of the base in a run directory.
const (
	baseFolder = "base"      // a run directory of its own: build.json, build/, kat/
	baseRoot   = "base/root" // the base's data root, as git has it
)

// openBase reads the data root of commit ref into the run directory and opens a
// session on it that shares compiler, driver and host with s. The user's
// checkout is not touched.
func (s *session) openBase(ctx context.Context, ref string) (*session, error) {
	if s.root.dir == "" {
		return nil, usageError{errors.New("--base: the embedded data root has no history: work in a git checkout of a data root")}
	}
	commit, err := gitroot.Resolve(ctx, s.root.dir, ref)
	if err != nil {
		return nil, usageError{fmt.Errorf("--base: %w", err)}
	}
	place := s.dir.Abs(baseRoot)
	if done, err := os.ReadFile(place + ".commit"); err != nil || string(done) != commit {
		if err := os.RemoveAll(place); err != nil {
			return nil, err
		}
		if err := gitroot.Extract(ctx, s.root.dir, commit, place); err != nil {
			return nil, fmt.Errorf("--base: %w", err)
		}
		if err := s.dir.Write(baseRoot+".commit", []byte(commit)); err != nil {
			return nil, err
		}
	}
	folder, err := os.OpenRoot(place)
	if err != nil {
		return nil, err
	}
	base := *s
	base.dir = records.Dir{Path: s.dir.Abs(baseFolder)}
	base.root = &dataRoot{FS: folder.FS(), dir: place, info: records.Root{Kind: "directory", Commit: commit}}
	if base.catalog, err = catalog.Load(base.root); err != nil {
		return nil, fmt.Errorf("the data root at %.12s cannot be read: %w", commit, err)
	}
	return &base, nil
}

// pairing is what a run with a base has to do, by label.
type pairing struct {
	same    []catalog.Label // equal sources, flags and compiler: nothing to build
	changed []catalog.Label // on both sides, to be built on both
	fresh   []catalog.Label // on the head's side only
	gone    []catalog.Label // on the base's side only, of candidates that were selected
}

// pair sorts the labels of head and base.
func pair(head, base *session) (pairing, error) {
	var p pairing
	theirs := map[string]catalog.Label{}
	for _, c := range base.catalog.Candidates {
		for _, l := range c.Labels() {
			theirs[l.Key()] = l
		}
	}
	hb, bb := head.builder(nil), base.builder(nil)
	for _, l := range head.labels {
		b, ok := theirs[l.Key()]
		if !ok {
			p.fresh = append(p.fresh, l)
			continue
		}
		mine, err := hb.Inputs(l)
		if err != nil {
			return p, err
		}
		if old, err := bb.Inputs(b); err == nil && old == mine {
			p.same = append(p.same, l)
		} else {
			p.changed = append(p.changed, l)
		}
	}
	sel := catalog.Selection{Candidates: head.o.candidates, Instances: head.o.instances, Variants: head.o.variants}
	old, err := base.catalog.Labels(sel)
	if err != nil {
		return p, nil // the base has none of what was selected
	}
	mine := map[string]bool{}
	for _, c := range head.catalog.Candidates {
		for _, l := range c.Labels() {
			mine[l.Key()] = true
		}
	}
	for _, l := range old {
		if !mine[l.Key()] {
			p.gone = append(p.gone, l)
		}
	}
	return p, nil
}

// builder builds labels of this session's data root into its run directory.
func (s *session) builder(done func(lb records.LabelBuild, reused bool)) *toolchain.Builder {
	return &toolchain.Builder{
		Compiler: s.compiler, Root: s.catalog, Dir: s.dir, Workers: workers, Missing: s.facts.Has, Done: done,
	}
}

// vectorsOf is the data root that a head label's known answers come from, with
// the candidate as that root describes it: the base judges the head. Only of a
// candidate that the base does not have are the head's own vectors taken.
func (s *session) vectorsOf(l catalog.Label) (fs.FS, *catalog.Candidate) {
	if s.judge != nil {
		for _, c := range s.judge.catalog.Candidates {
			if c.ID == l.Candidate.ID {
				return s.judge.catalog.FS, c
			}
		}
	}
	return s.catalog.FS, l.Candidate
}

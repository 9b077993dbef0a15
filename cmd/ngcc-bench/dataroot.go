package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	data "github.com/ngcc/bench-action"
	"github.com/ngcc/bench-action/internal/gitroot"
	"github.com/ngcc/bench-action/internal/records"
)

// dataRoot is the data root of this call: a folder taken whole, or the one
// embedded in the program. The two are never mixed.
type dataRoot struct {
	fs.FS
	dir  string // empty: embedded
	info records.Root
}

// openRoot takes the data root that --root names, else the nearest folder at
// or above the working directory that is one, else the embedded one.
func openRoot(ctx context.Context, named string) (*dataRoot, error) {
	if named != "" {
		if !isRoot(named) {
			return nil, usageError{fmt.Errorf("--root: %s is no data root: it has no hashes/ with a META.yml", named)}
		}
		return folderRoot(ctx, named)
	}
	wd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	for dir := wd; ; dir = filepath.Dir(dir) {
		if isRoot(dir) {
			return folderRoot(ctx, dir)
		}
		_, err := os.Stat(filepath.Join(dir, ".git"))
		if err == nil || dir == filepath.Dir(dir) {
			return &dataRoot{FS: data.Root, info: records.Root{Kind: "embedded"}}, nil
		}
	}
}

func isRoot(dir string) bool {
	found, err := filepath.Glob(filepath.Join(dir, "hashes", "*", "META.yml"))
	return err == nil && len(found) > 0
}

func folderRoot(ctx context.Context, dir string) (*dataRoot, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("data root: %w", err)
	}
	r := &dataRoot{FS: root.FS(), dir: dir, info: records.Root{Kind: "directory"}}
	if commit, err := gitroot.Git(ctx, dir, "rev-parse", "--verify", "--quiet", "HEAD"); err == nil {
		r.info.Commit = commit
		changes, err := gitroot.Git(ctx, dir, "status", "--porcelain", "--", "hashes", "kat", "baseline")
		r.info.Dirty = err != nil || changes != ""
	}
	return r, nil
}

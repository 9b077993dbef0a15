package toolchain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/google/renameio/v2"
	"github.com/ngcc/bench-action/internal/catalog"
	"github.com/ngcc/bench-action/internal/records"
)

// maxSource bounds one source file, in bytes.
const maxSource = 4 << 20

// Builder builds labels of one data root into one run directory.
type Builder struct {
	Compiler *Compiler
	Root     *catalog.Root
	Dir      records.Dir
	Workers  int // labels built at a time
	// Missing lists which CPU features of features this machine lacks. Not
	// asked when the compiler's programs run under an emulator.
	Missing func(features []string) []string
	// Done is told of every label when it is finished, in no fixed order, one
	// call at a time. reused: nothing had to be done.
	Done func(b records.LabelBuild, reused bool)
}

// LibraryName is where a label's library lies in the run directory.
func LibraryName(candidate, label string) string { return "build/" + candidate + "/" + label + ".so" }

// Build builds labels in parallel, reusing what an earlier run in the same
// directory built from the same inputs. A label that does not build is a
// LabelBuild with the compiler's own message, not an error; build.json is
// written after every label.
func (b *Builder) Build(ctx context.Context, labels []catalog.Label) (*records.Build, error) {
	earlier := map[string]records.LabelBuild{}
	var old records.Build
	switch err := b.Dir.ReadJSON(records.BuildFile, &old); {
	case err == nil:
		for _, l := range old.Labels {
			earlier[l.Candidate+"/"+l.Label] = l
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	out := &records.Build{Schema: records.Schema, Compiler: b.Compiler.Compiler}
	results := make([]*records.LabelBuild, len(labels))
	var mu sync.Mutex
	finish := func(i int, lb records.LabelBuild, reused bool) error {
		mu.Lock()
		defer mu.Unlock()
		results[i] = &lb
		if b.Done != nil {
			b.Done(lb, reused)
		}
		out.Labels = out.Labels[:0]
		for _, r := range results {
			if r != nil {
				out.Labels = append(out.Labels, *r)
			}
		}
		return b.Dir.WriteJSON(records.BuildFile, out)
	}
	err := Parallel(ctx, b.Workers, len(labels), func(ctx context.Context, i int) error {
		lb, reused, err := b.label(ctx, labels[i], earlier[labels[i].Key()])
		if err != nil {
			return err
		}
		return finish(i, lb, reused)
	})
	return out, err
}

// Parallel calls work(0) … work(n-1) on at most workers goroutines and returns
// the first error; the others are cancelled then.
func Parallel(ctx context.Context, workers, n int, work func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	jobs := make(chan int)
	var wg sync.WaitGroup
	for range min(max(workers, 1), n) {
		wg.Go(func() {
			for i := range jobs {
				if err := work(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := range n {
		select {
		case jobs <- i:
		case <-ctx.Done():
		}
	}
	close(jobs)
	wg.Wait()
	return context.Cause(ctx)
}

// describe is a label's LabelBuild as far as it is known without compiling.
func (b *Builder) describe(l catalog.Label) (records.LabelBuild, []source, error) {
	flags := b.Compiler.flagsFor(l)
	lb := records.LabelBuild{
		Candidate: l.Candidate.ID, Name: l.Candidate.Name, Instance: l.Instance.Name, Variant: l.Variant.Name, Label: l.String(),
		API: l.Candidate.API, DigestBits: l.Instance.DigestBits,
		GuideFlags: flags.guide, AddedFlags: slices.Concat(flags.added, linkFlags), DroppedFlags: flags.dropped,
	}
	sources, err := b.sources(l)
	if err == nil {
		lb.Inputs = inputsDigest(b.Compiler, lb, sources)
	}
	return lb, sources, err
}

// Inputs is the digest of all that a label is made from: equal inputs give
// equal libraries. It fails where a source cannot be read.
func (b *Builder) Inputs(l catalog.Label) (string, error) {
	lb, _, err := b.describe(l)
	return lb.Inputs, err
}

// label builds one label, or takes over what old says is there already.
func (b *Builder) label(ctx context.Context, l catalog.Label, old records.LabelBuild) (records.LabelBuild, bool, error) {
	lb, sources, err := b.describe(l)
	if err != nil {
		lb.Status, lb.Error = records.BuildFailed, err.Error()
		return lb, false, nil
	}
	if lacks := b.lacks(l); lacks != "" {
		lb.Status, lb.Error = records.BuildNotRunnable, lacks
		return lb, false, nil
	}
	lib := LibraryName(lb.Candidate, lb.Label)
	if old.Inputs == lb.Inputs && old.Status == records.BuildOK {
		if d, err := records.FileDigest(b.Dir.Abs(lib)); err == nil && d == old.LibraryDigest {
			return old, true, nil
		}
	}
	err = b.compile(ctx, &lb, sources)
	if ctx.Err() != nil {
		return lb, false, context.Cause(ctx)
	}
	if err != nil {
		lb.Status, lb.Error = records.BuildFailed, err.Error()
	}
	return lb, false, nil
}

// lacks says why a label's code cannot run here; empty if it can.
func (b *Builder) lacks(l catalog.Label) string {
	arch, features := b.Compiler.Needs(l)
	if arch != b.Compiler.Arch {
		return "needs " + arch
	}
	if b.Compiler.Emulated() || b.Missing == nil {
		return ""
	}
	if missing := b.Missing(features); len(missing) > 0 {
		return "needs " + strings.Join(missing, ", ")
	}
	return ""
}

type source struct {
	name string
	data []byte
}

// sources reads a label's files from the data root.
func (b *Builder) sources(l catalog.Label) ([]source, error) {
	var out []source
	for _, name := range l.Variant.Sources {
		data, err := fs.ReadFile(b.Root.FS, path.Join(l.Candidate.Dir(), name))
		if err != nil {
			return nil, fmt.Errorf("source: %w", err)
		}
		if len(data) > maxSource {
			return nil, fmt.Errorf("source %s: %d bytes; at most %d are read", name, len(data), maxSource)
		}
		out = append(out, source{name, data})
	}
	return out, nil
}

func inputsDigest(c *Compiler, lb records.LabelBuild, sources []source) string {
	parts := []string{"build", c.Command, c.ID(), lb.API}
	parts = append(parts, strings.Join(lb.GuideFlags, "\x00"), strings.Join(lb.AddedFlags, "\x00"))
	for _, s := range sources {
		parts = append(parts, s.name, string(s.data))
	}
	return records.Digest(parts...)
}

// compile stages the sources in a folder of the label's own, compiles each and
// links them. Paths are relative to that folder, so none get into the library.
func (b *Builder) compile(ctx context.Context, lb *records.LabelBuild, sources []source) error {
	final := b.Dir.Abs(LibraryName(lb.Candidate, lb.Label))
	if err := os.MkdirAll(filepath.Dir(final), 0o755); err != nil {
		return err
	}
	stage, err := os.MkdirTemp(filepath.Dir(final), ".stage-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(stage)
	objects, err := b.objects(ctx, stage, lb, sources)
	if err != nil {
		return err
	}
	said, err := b.link(ctx, stage, lb, objects)
	if err != nil {
		return err
	}
	lb.Warnings += said
	return b.adopt(filepath.Join(stage, "core.so"), LibraryName(lb.Candidate, lb.Label), lb)
}

// objects stages sources in the folder stage and compiles them there; it
// returns the object files' names.
func (b *Builder) objects(ctx context.Context, stage string, lb *records.LabelBuild, sources []source) ([]string, error) {
	for _, s := range sources {
		place := filepath.Join(stage, filepath.FromSlash(s.name))
		if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(place, s.data, 0o644); err != nil {
			return nil, err
		}
	}
	var objects []string
	for _, s := range sources {
		if path.Ext(s.name) == ".h" {
			continue
		}
		object := fmt.Sprintf("%d.o", len(objects))
		said, err := b.Compiler.run(ctx, stage, slices.Concat(compileFlags(lb), []string{"-c", "-o", object, s.name})...)
		if err != nil {
			return nil, err
		}
		lb.Warnings += said
		objects = append(objects, object)
	}
	return objects, nil
}

// compileFlags are a label's flags without those that only the linker reads.
func compileFlags(lb *records.LabelBuild) []string {
	return slices.Concat(lb.GuideFlags, lb.AddedFlags[:len(lb.AddedFlags)-len(linkFlags)])
}

// link makes core.so of objects in the folder stage and returns what the
// compiler said.
func (b *Builder) link(ctx context.Context, stage string, lb *records.LabelBuild, objects []string) (string, error) {
	return b.Compiler.run(ctx, stage, slices.Concat(lb.GuideFlags, lb.AddedFlags, []string{"-o", "core.so"}, objects)...)
}

// adopt puts a finished library in its place and describes it.
func (b *Builder) adopt(built, lib string, lb *records.LabelBuild) error {
	data, err := os.ReadFile(built)
	if err != nil {
		return err
	}
	im, err := Inspect(data)
	if err != nil {
		return err
	}
	if err := renameio.WriteFile(b.Dir.Abs(lib), data, 0o755); err != nil {
		return err
	}
	lb.Status, lb.Library = records.BuildOK, lib
	if lb.LibraryDigest, err = records.FileDigest(b.Dir.Abs(lib)); err != nil {
		return err
	}
	lb.CodeDigest, lb.LoadBytes, lb.Writable = im.CodeDigest, im.LoadBytes, im.Writable
	for _, w := range im.Writable {
		lb.WritableBytes += w.Bytes
	}
	return nil
}

package toolchain

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"

	"github.com/ngcc/bench-action/internal/catalog"
)

// PaddedName is where a label's library with pad bytes of code in front lies.
func PaddedName(candidate, label string, pad int) string {
	return fmt.Sprintf("build/%s/%s-pad%d.so", candidate, label, pad)
}

// Padded links a label again with pad bytes of code that never runs in front of
// its own, and returns the library's place: the same instructions elsewhere. A
// library that is there is used; its code digest is of no interest.
func (b *Builder) Padded(ctx context.Context, l catalog.Label, pad int) (string, error) {
	lb, sources, err := b.describe(l)
	if err != nil {
		return "", err
	}
	final := b.Dir.Abs(PaddedName(lb.Candidate, lb.Label, pad))
	if note, err := os.ReadFile(final + ".inputs"); err == nil && string(note) == lb.Inputs {
		return final, nil
	}
	stage, err := os.MkdirTemp(filepath.Dir(final), ".pad-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(stage)
	objects, err := b.objects(ctx, stage, &lb, sources)
	if err != nil {
		return "", err
	}
	dead := fmt.Sprintf("__asm__(\".text\\n.skip %d\\n\");\n", pad)
	if err := os.WriteFile(filepath.Join(stage, "pad.c"), []byte(dead), 0o644); err != nil {
		return "", err
	}
	if _, err := b.Compiler.run(ctx, stage, "-fPIC", "-c", "-o", "pad.o", "pad.c"); err != nil {
		return "", err
	}
	if _, err := b.link(ctx, stage, &lb, append([]string{"pad.o"}, objects...)); err != nil {
		return "", err
	}
	data, err := os.ReadFile(filepath.Join(stage, "core.so"))
	if err != nil {
		return "", err
	}
	return final, errors.Join(
		renameio.WriteFile(final, data, 0o755),
		renameio.WriteFile(final+".inputs", []byte(lb.Inputs), 0o644))
}

package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/ngcc/bench-action/internal/catalog"
	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/kat"
	"github.com/ngcc/bench-action/internal/measure"
	"github.com/ngcc/bench-action/internal/records"
	"github.com/ngcc/bench-action/internal/toolchain"
)

// The cells of an experiment: 12, of three candidates at three sizes.
var (
	instances = []string{"FEILIAN512", "QILIN-512", "QILIN-1024", "TaiChi-512"}
	sizes     = []int{32, 1024, 16384}
)

// bench has what the runs share.
type bench struct {
	dir     records.Dir
	root    *catalog.Root
	labels  []catalog.Label
	builder *toolchain.Builder
	built   map[string]records.LabelBuild
	driver  *driver.Driver
	digests map[string]map[int][]string // by label and size
	cpu     int
	spins   map[string]int // steps more for a slowdown, by label and size
}

func newBench(ctx context.Context, work string) (*bench, error) {
	b := &bench{dir: records.Dir{Path: work}, built: map[string]records.LabelBuild{}, digests: map[string]map[int][]string{}, spins: map[string]int{}}
	cpus, err := driver.AllowedCPUs()
	if err != nil {
		return nil, err
	}
	b.cpu = cpus[len(cpus)-1]
	if b.root, err = catalog.Load(os.DirFS(".")); err != nil {
		return nil, err
	}
	if b.labels, err = b.root.Labels(catalog.Selection{Instances: instances}); err != nil {
		return nil, err
	}
	cc, err := toolchain.Find(ctx, os.Getenv("CC"), map[string]string{"amd64": "x86-64", "arm64": "aarch64"}[runtime.GOARCH])
	if err != nil {
		return nil, err
	}
	b.builder = &toolchain.Builder{Compiler: cc, Root: b.root, Dir: b.dir, Workers: runtime.NumCPU()}
	build, err := b.builder.Build(ctx, b.labels)
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(b.dir.Abs("driver"), 0o755); err != nil {
		return nil, err
	}
	if b.driver, err = driver.Compile(ctx, cc.Command, cc.ID(), nil, b.dir.Abs("driver")); err != nil {
		return nil, err
	}
	for _, lb := range build.Labels {
		if lb.Status != records.BuildOK {
			return nil, fmt.Errorf("%s: %s", lb.Label, lb.Error)
		}
		b.built[lb.Label] = lb
		if b.digests[lb.Label], err = b.hash(ctx, lb); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// hash makes the digests that timed batches are checked against.
func (b *bench) hash(ctx context.Context, lb records.LabelBuild) (map[int][]string, error) {
	s, err := b.driver.Serve(ctx, driver.Core{Library: b.dir.Abs(lb.Library), API: lb.API, DigestBits: lb.DigestBits}, driver.ServeOptions{CPU: -1, Timeout: time.Minute})
	if err != nil {
		return nil, err
	}
	out := map[int][]string{}
	err = s.HashAll(ctx, len(sizes)*kat.TimedMessages, func(i int) driver.Message {
		return driver.Message{Bits: 8 * uint64(sizes[i/kat.TimedMessages]), Rule: driver.RuleNumbered, Number: uint64(i % kat.TimedMessages)}
	}, func(i int, digest []byte) error {
		n := sizes[i/kat.TimedMessages]
		out[n] = append(out[n], hex.EncodeToString(digest))
		return nil
	})
	return out, errors.Join(err, s.Close())
}

// cells are those of run i.
func (b *bench) cells(ctx context.Context, e experiment, i int) ([]measure.PairCell, error) {
	var out []measure.PairCell
	for _, l := range b.labels {
		for _, n := range sizes {
			base, head, err := b.sides(ctx, e, l, n, i)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", l, err)
			}
			lb := b.built[l.String()]
			out = append(out, measure.PairCell{
				Candidate: lb.Candidate, Name: lb.Name, Instance: lb.Instance, Variant: lb.Variant, Label: lb.Label,
				API: lb.API, DigestBits: lb.DigestBits, Bytes: n, Base: base, Head: head, Expected: b.digests[lb.Label][n],
				Padded: func(ctx context.Context, _ string, pad int) (string, error) { return b.builder.Padded(ctx, l, pad) },
			})
		}
	}
	return out, nil
}

// sides are the two libraries of a cell.
func (b *bench) sides(ctx context.Context, e experiment, l catalog.Label, n, i int) (base, head measure.PairSide, err error) {
	lb := b.built[l.String()]
	base = measure.PairSide{Library: b.dir.Abs(lb.Library), CodeDigest: lb.CodeDigest, LibraryDigest: lb.LibraryDigest}
	head = base
	switch e.kind {
	case "same":
		head.Library = filepath.Join(b.dir.Path, "copy-"+l.String()+".so")
		data, err := os.ReadFile(base.Library)
		if err != nil {
			return base, head, err
		}
		return base, head, os.WriteFile(head.Library, data, 0o755)
	case "placebo":
		// One pad a run and label, 16 to 4080 bytes.
		random := rand.New(rand.NewPCG(uint64(i), uint64(len(l.String()))))
		head.Library, err = b.builder.Padded(ctx, l, 16*(1+random.IntN(255)))
	case "slower":
		return b.slower(ctx, e, l, n)
	default:
		err = fmt.Errorf("there is no kind %q", e.kind)
	}
	return base, head, err
}

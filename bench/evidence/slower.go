package main

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"testing/fstest"

	"github.com/ngcc/bench-action/internal/catalog"
	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/measure"
	"github.com/ngcc/bench-action/internal/records"
	"github.com/ngcc/bench-action/internal/stats"
	"github.com/ngcc/bench-action/internal/toolchain"
)

// wrapper stands on both sides and spends SPIN steps a call, each waiting for
// the last one and the first for the digest. What a step costs is measured: it
// overlaps with the call that follows.
const wrapper = `#include <stdint.h>
#define CryptHash inner_hash
#include "core.h"
#undef CryptHash

int CryptHash(int bits, const unsigned char *msg, unsigned long long n, unsigned char *digest);

int CryptHash(int bits, const unsigned char *msg, unsigned long long n, unsigned char *digest)
{
    int returned = inner_hash(bits, msg, n, digest);
    uint64_t x = digest[0];
    volatile uint64_t kept;
    unsigned i;

    for (i = 0; i < SPIN; i++) {
        x = x * 0x9e3779b97f4a7c15u + (x >> 63 << 1);
    }
    kept = x; /* or the compiler would leave the steps out */
    return returned + (int)(kept & 0);
}
`

// baseSpin is what both sides spend.
const baseSpin = 16

// Processes of a side that tell what a step costs and what a share really is.
const spinProcesses = 15

// wrapped is a label with the wrapper around it.
func (b *bench) wrapped(l catalog.Label, spin int) (*toolchain.Builder, catalog.Label, error) {
	source, err := fs.ReadFile(b.root.FS, path.Join(l.Candidate.Dir(), l.Variant.Sources[0]))
	if err != nil {
		return nil, l, err
	}
	files := fstest.MapFS{
		path.Join(l.Candidate.Dir(), "wrapper.c"): {Data: []byte(wrapper)},
		path.Join(l.Candidate.Dir(), "core.h"):    {Data: source},
	}
	l.Variant.Sources = []string{"wrapper.c", "core.h"}
	l.Instance.Flags = append(slices.Clone(l.Instance.Flags), "-DSPIN="+strconv.Itoa(spin))
	builder := *b.builder
	builder.Root = &catalog.Root{FS: files}
	builder.Dir = records.Dir{Path: b.dir.Abs(fmt.Sprintf("spin-%d", spin))}
	return &builder, l, nil
}

// build builds a label with that many steps.
func (b *bench) build(ctx context.Context, l catalog.Label, spin int) (measure.PairSide, error) {
	builder, w, err := b.wrapped(l, spin)
	if err != nil {
		return measure.PairSide{}, err
	}
	built, err := builder.Build(ctx, []catalog.Label{w})
	if err != nil {
		return measure.PairSide{}, err
	}
	lb := built.Labels[0]
	if lb.Status != records.BuildOK {
		return measure.PairSide{}, fmt.Errorf("the wrapper does not build: %s", lb.Error)
	}
	return measure.PairSide{Library: builder.Dir.Abs(lb.Library), CodeDigest: lb.CodeDigest, LibraryDigest: lb.LibraryDigest}, nil
}

// slower gives the two sides of a known slowdown.
func (b *bench) slower(ctx context.Context, e experiment, l catalog.Label, n int) (base, head measure.PairSide, err error) {
	if base, err = b.build(ctx, l, baseSpin); err != nil {
		return base, head, err
	}
	key := fmt.Sprintf("%s/%d", l, n)
	spin, known := b.spins[key]
	if !known {
		if spin, err = b.findSpin(ctx, e, l, n, base); err != nil {
			return base, head, err
		}
		b.spins[key] = spin
	}
	head, err = b.build(ctx, l, spin)
	return base, head, err
}

// findSpin finds the steps that make a call slower by the share asked for, from
// processes of one side each, and says what the share really is.
func (b *bench) findSpin(ctx context.Context, e experiment, l catalog.Label, n int, base measure.PairSide) (int, error) {
	spin := baseSpin + 64
	for range 4 {
		head, err := b.build(ctx, l, spin)
		if err != nil {
			return 0, err
		}
		share, err := b.share(ctx, l, n, base, head)
		if err != nil {
			return 0, err
		}
		wanted := e.percent / 100
		if math.Abs(share/wanted-1) < 0.1 {
			fmt.Printf("%s at %d B: %d steps more are %+.3f %% by separate processes\n", l, n, spin-baseSpin, 100*share)
			return spin, nil
		}
		more := float64(spin-baseSpin) * wanted / math.Max(share, wanted/16)
		spin = baseSpin + max(1, int(math.Round(more)))
	}
	fmt.Printf("%s at %d B: no number of steps is %.2f %% on this machine; taking %d\n", l, n, e.percent, spin-baseSpin)
	return spin, nil
}

// share is how much slower head is, by the lowest decile of batches of
// processes of one side each, in turns.
func (b *bench) share(ctx context.Context, l catalog.Label, n int, base, head measure.PairSide) (float64, error) {
	lb := b.built[l.String()]
	var lows [2][]float64
	for range spinProcesses {
		for i, side := range []measure.PairSide{base, head} {
			r, err := b.driver.Time(ctx, driver.TimeSpec{
				Core:  driver.Core{Library: side.Library, API: lb.API, DigestBits: lb.DigestBits},
				Bytes: n, CPU: b.cpu, Expected: b.digests[lb.Label][n],
			})
			if err != nil {
				return 0, err
			}
			var perCall []float64
			for _, batch := range r.Batches {
				perCall = append(perCall, float64(batch.Ticks)/float64(batch.Calls))
			}
			slices.Sort(perCall)
			lows[i] = append(lows[i], stats.Quantile(perCall, 0.1))
		}
	}
	return stats.Median(lows[1])/stats.Median(lows[0]) - 1, nil
}

package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ngcc/bench-action/internal/catalog"
	"github.com/ngcc/bench-action/internal/compare"
	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/host"
	"github.com/ngcc/bench-action/internal/kat"
	"github.com/ngcc/bench-action/internal/measure"
	"github.com/ngcc/bench-action/internal/records"
	"github.com/ngcc/bench-action/internal/toolchain"
)

// abOptions are the flags of ab beyond the shared ones.
type abOptions struct {
	options
	digestBits int
	flags      []string
	different  bool
}

// abSizes is what ab compares unless --sizes says otherwise.
var abSizes = []int{1024}

func abCommand() *cobra.Command {
	var o abOptions
	cmd := &cobra.Command{
		Use:   "ab OLD NEW",
		Short: "Compare two libraries or C sources side by side",
		Long: `Ab compares the speed of two shared libraries, or of two C sources, that
export CryptHash or crypto_hash: both in one process, taking turns every few
tens of microseconds, decided by the same rule as run --base. No catalogue and
no known answers are needed; both must compute the same digests.

Exit codes are those of run: 1 when NEW is slower beyond doubt.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(o.sizes) == 0 {
				o.sizes = abSizes
			}
			return ab(cmd, o, args[0], args[1])
		},
	}
	o.outFlag(cmd, "run directory to keep (default: none is kept)")
	f := cmd.Flags()
	f.IntSliceVar(&o.sizes, "sizes", nil, "message sizes in bytes (default: 1024)")
	f.IntVar(&o.digestBits, "digest-bits", 0, "digest length (default: the one that both accept)")
	f.StringSliceVar(&o.flags, "flags", nil, "compiler flags for sources, after the reference flags")
	f.BoolVar(&o.different, "different", false, "the two compute different functions: compare their speed all the same")
	f.IntVar(&o.cpu, "cpu", -1, "CPU to time on (default: the last one this process may use)")
	f.StringVar(&o.counter, "counter", "auto", "core-cycles, tsc, cntvct, clock, or auto: the best there is")
	pairFlags(cmd, &o.options, 10*time.Second)
	o.resultFlags(cmd)
	return cmd
}

// abSide is OLD or NEW, ready to be loaded.
type abSide struct {
	name    string // as it was given
	core    driver.Core
	digests map[int][]string // by size
	padded  func(ctx context.Context, pad int) (string, error)
	pair    measure.PairSide
}

func ab(cmd *cobra.Command, o abOptions, oldName, newName string) error {
	ctx := cmd.Context()
	failOn, err := parseFailOn(o.failOn)
	if err != nil {
		return err
	}
	for _, n := range o.sizes {
		if n < 8 || n > 1<<24 {
			return usageError{fmt.Errorf("--sizes: %d; from 8 bytes to 16 MiB can be compared", n)}
		}
	}
	if o.out == "" {
		if o.out, err = os.MkdirTemp("", "ngcc-ab-"); err != nil {
			return err
		}
		defer os.RemoveAll(o.out)
	}
	s := &session{o: o.options, err: cmd.ErrOrStderr(), seed: newSeed(), sizes: o.sizes, root: &dataRoot{info: records.Root{Kind: "none"}}}
	if err := s.lookAtHost(ctx); err != nil {
		return err
	}
	dir, unlock, err := records.Create(o.out)
	if err != nil {
		return err
	}
	defer unlock()
	s.dir = dir
	if s.compiler, err = toolchain.Find(ctx, os.Getenv("CC"), s.facts.Arch); err != nil {
		return err
	}
	if err := s.buildDriver(ctx); err != nil {
		return err
	}
	a, err := s.abSide(ctx, "old", oldName, o)
	if err != nil {
		return err
	}
	b, err := s.abSide(ctx, "new", newName, o)
	if err != nil {
		return err
	}
	if a.pair.CodeDigest == b.pair.CodeDigest {
		fmt.Fprintf(cmd.OutOrStdout(), "same code: %s and %s hold the same instructions and constants\n", oldName, newName)
		return nil
	}
	cs, err := s.abCompare(ctx, a, b, o)
	if err != nil {
		return err
	}
	why, err := loadWhy(s.dir, cs)
	if err != nil {
		return err
	}
	return abPrint(cmd.OutOrStdout(), cs, why, o.json, failOn)
}

// abSide takes one argument of ab in: a library is copied, a source compiled.
func (s *session) abSide(ctx context.Context, side, name string, o abOptions) (*abSide, error) {
	out := &abSide{name: name, digests: map[int][]string{}}
	var err error
	if filepath.Ext(name) == ".c" {
		err = s.abSource(ctx, side, name, o, out)
	} else {
		err = s.abLibrary(side, name, out)
	}
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(out.pair.Library)
	if err != nil {
		return nil, err
	}
	im, err := toolchain.Inspect(data)
	if err != nil {
		return nil, usageError{fmt.Errorf("%s: %w", name, err)}
	}
	out.pair.CodeDigest = im.CodeDigest
	if out.pair.LibraryDigest, err = records.FileDigest(out.pair.Library); err != nil {
		return nil, err
	}
	exports, err := toolchain.Exports(data)
	if err != nil {
		return nil, usageError{fmt.Errorf("%s: %w", name, err)}
	}
	switch {
	case slices.Contains(exports, "CryptHash"):
		out.core = driver.Core{Library: out.pair.Library, API: catalog.CryptHash}
	case slices.Contains(exports, "crypto_hash"):
		out.core = driver.Core{Library: out.pair.Library, API: catalog.CryptoHash}
	default:
		return nil, usageError{fmt.Errorf("%s exports neither CryptHash nor crypto_hash", name)}
	}
	return out, s.abDigests(ctx, out, o)
}

// abLibrary copies a library: the two sides must be two files.
func (s *session) abLibrary(side, name string, out *abSide) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return usageError{err}
	}
	rel := "build/ab/" + side + ".so"
	out.pair.Library = s.dir.Abs(rel)
	return s.dir.Write(rel, data)
}

// abSource compiles a source and the headers beside it with the reference
// flags and those of --flags.
func (s *session) abSource(ctx context.Context, side, name string, o abOptions, out *abSide) error {
	folder, file := filepath.Split(name)
	folder = filepath.Clean(folder)
	headers, err := filepath.Glob(filepath.Join(folder, "*.h"))
	if err != nil {
		return err
	}
	sources := []string{file}
	for _, h := range headers {
		sources = append(sources, filepath.Base(h))
	}
	sub := records.Dir{Path: s.dir.Abs(side)}
	candidate := &catalog.Candidate{ID: "ab", Name: "ab"}
	l := catalog.Label{
		Candidate: candidate, Instance: catalog.Instance{Name: side, Flags: o.flags},
		Variant: catalog.Variant{Name: catalog.Reference, Sources: sources},
	}
	b := &toolchain.Builder{Compiler: s.compiler, Root: &catalog.Root{FS: abFiles{os.DirFS(folder)}}, Dir: sub, Workers: 1}
	built, err := b.Build(ctx, []catalog.Label{l})
	if err != nil {
		return err
	}
	if lb := built.Labels[0]; lb.Status != records.BuildOK {
		return fmt.Errorf("%s does not build:\n%s", name, lb.Error)
	}
	out.pair.Library = sub.Abs(built.Labels[0].Library)
	out.padded = func(ctx context.Context, pad int) (string, error) { return b.Padded(ctx, l, pad) }
	return nil
}

// digestLengths are tried in turn where --digest-bits does not say.
var digestLengths = []int{64, 128, 160, 192, 224, 256, 320, 384, 512, 768, 1024, 2048}

// abDigests finds the digest length and the digests that timed batches are
// checked against, each computed between guard pages.
func (s *session) abDigests(ctx context.Context, side *abSide, o abOptions) error {
	lengths := digestLengths
	if o.digestBits != 0 {
		lengths = []int{o.digestBits}
	}
	var last error
	for _, bits := range lengths {
		core := side.core
		core.DigestBits = bits
		digests, err := s.numbered(ctx, core, o.sizes)
		var fault *driver.CoreError
		switch {
		case err == nil:
			side.core, side.digests = core, digests
			return nil
		case !errors.As(err, &fault):
			return err
		}
		last = err
	}
	if o.digestBits == 0 {
		return fmt.Errorf("%s accepts no digest length that is usual: name it with --digest-bits (the last try said: %w)", side.name, last)
	}
	return fmt.Errorf("%s: %w", side.name, last)
}

// numbered hashes the numbered messages of each size.
func (s *session) numbered(ctx context.Context, core driver.Core, sizes []int) (map[int][]string, error) {
	h, err := s.driver.Serve(ctx, core, driver.ServeOptions{CPU: -1, Timeout: time.Minute})
	if err != nil {
		return nil, err
	}
	out := map[int][]string{}
	err = h.HashAll(ctx, len(sizes)*kat.TimedMessages, func(i int) driver.Message {
		return driver.Message{Bits: 8 * uint64(sizes[i/kat.TimedMessages]), Rule: driver.RuleNumbered, Number: uint64(i % kat.TimedMessages)}
	}, func(i int, digest []byte) error {
		n := sizes[i/kat.TimedMessages]
		out[n] = append(out[n], hex.EncodeToString(digest))
		return nil
	})
	return out, errors.Join(err, h.Close())
}

var notInName = regexp.MustCompile(`[^A-Za-z0-9+.-]+`)

// abCompare runs the comparison, one cell a size.
func (s *session) abCompare(ctx context.Context, a, b *abSide, o abOptions) ([]records.Comparison, error) {
	label := notInName.ReplaceAllString(strings.TrimSuffix(filepath.Base(b.name), filepath.Ext(b.name)), "-")
	var cells []measure.PairCell
	for _, n := range o.sizes {
		if !o.different && !slices.Equal(a.digests[n], b.digests[n]) {
			return nil, fmt.Errorf("%s and %s give different digests of messages of %d bytes: one of them is wrong (or say --different if they are different functions)", a.name, b.name, n)
		}
		c := measure.PairCell{
			Candidate: "ab", Name: "ab", Instance: label, Variant: catalog.Reference, Label: label,
			API: b.core.API, DigestBits: b.core.DigestBits, Bytes: n, Base: a.pair, Head: b.pair,
			Expected: b.digests[n], ExpectedBase: a.digests[n],
		}
		if a.padded != nil && b.padded != nil {
			c.Padded = func(ctx context.Context, side string, pad int) (string, error) {
				if side == "base" {
					return a.padded(ctx, pad)
				}
				return b.padded(ctx, pad)
			}
		}
		cells = append(cells, c)
	}
	var out []records.Comparison
	run := s.header()
	run.Seed = s.seed
	if err := s.dir.WriteJSON(records.RunFile, run); err != nil {
		return nil, err
	}
	err := s.bench(ctx, func(fp host.Fingerprint) (err error) {
		p := newProgress(s.err, "compare", len(cells))
		defer p.end()
		bench := &measure.PairBench{
			Dir: s.dir, Runner: s.driver, CPU: s.cpu, Counter: s.o.counter, Seed: s.seed, MinEffect: s.o.minEffect / 100,
			Budget: s.o.budget, Fingerprint: fp,
		}
		out, err = bench.Run(ctx, cells)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, s.explain(ctx, cells, out)
}

// abPrint prints what came out and turns the worst verdict into an exit code.
func abPrint(out io.Writer, cs []records.Comparison, why map[string][]string, asJSON bool, failOn compare.FailOn) error {
	code := compare.ExitOK
	for i := range cs {
		c := &cs[i]
		if asJSON {
			data, err := records.Marshal(c)
			if err != nil {
				return err
			}
			if _, err := out.Write(data); err != nil {
				return err
			}
		} else {
			fmt.Fprintln(out, abText(c))
			for _, line := range why[c.Key()] {
				fmt.Fprintf(out, "  %s\n", line)
			}
		}
		code = max(code, compare.ExitCode(compare.Verdict(c.Verdict), failOn))
	}
	if code != compare.ExitOK {
		return exitError(code)
	}
	return nil
}

// abText is one comparison in words.
func abText(c *records.Comparison) string {
	text := fmt.Sprintf("%d B: %s", c.MessageBytes, c.Verdict)
	if c.BaseFigure != nil && c.HeadFigure != nil {
		text += fmt.Sprintf(", %.3f → %.3f %s/byte", c.BaseFigure.TicksPerByte, c.HeadFigure.TicksPerByte, c.Counter.Unit())
	}
	if e := c.Estimate; e != nil {
		text += fmt.Sprintf(", %s (95 %%: %s to %s), %d processes, %.0f %% of blocks quiet",
			percent(e.Mean), percent(e.Lo), percent(e.Hi), e.N, 100*c.QuietShare)
	}
	if c.Reason != "" {
		text += "\n  " + c.Reason
	}
	return text
}

// percent prints an ln ratio as the change that it is.
func percent(ln float64) string { return fmt.Sprintf("%+.2f %%", 100*math.Expm1(ln)) }

// abFiles shows a folder as the candidate ab's in a data root.
type abFiles struct{ fs.FS }

func (f abFiles) Open(name string) (fs.File, error) {
	rest, ok := strings.CutPrefix(name, "hashes/ab/")
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return f.FS.Open(rest)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/ngcc/bench-action/internal/compare"
	"github.com/ngcc/bench-action/internal/kat"
	"github.com/ngcc/bench-action/internal/records"
)

func runCommand() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Build, gate, time, compare and report",
		Long: `Run builds the cores, checks their known answers, times those that pass at
eight message sizes, compares the figures with this system's baseline, and
prints and writes a report. With --base it measures that commit's cores beside
these instead, and only what differs between the two. Started again with the same --out after it was
stopped or killed, it goes on where it was; what changed since is done again.

Exit codes: 0 nothing slower, 1 slower beyond doubt, 2 wrong use, 3 a build or
a known answer failed, 4 a figure cannot be right or nothing could be measured.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runAll(cmd, o)
		},
	}
	o.selectFlags(cmd)
	o.sizeFlags(cmd)
	o.katFlag(cmd)
	o.measureFlags(cmd)
	o.baseFlags(cmd)
	o.resultFlags(cmd)
	return cmd
}

func runAll(cmd *cobra.Command, o options) error {
	ctx := cmd.Context()
	failOn, err := parseFailOn(o.failOn)
	if err != nil {
		return err
	}
	s, unlock, err := openSession(cmd, o)
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.checkHost(ctx); err != nil {
		return err
	}
	if o.base != "" {
		err = s.runBeside(ctx)
	} else {
		err = s.runStored(ctx)
	}
	if err != nil {
		return err
	}
	if err := s.finish(); err != nil {
		return err
	}
	d, err := compareRun(s.dir, s.root, s.catalog, o.system)
	if err != nil {
		return err
	}
	return printResult(cmd, s.dir, d, o.json, failOn)
}

// runStored takes figures to hold against the stored baseline.
func (s *session) runStored(ctx context.Context) error {
	build, g, err := s.gated(ctx)
	if err != nil {
		return err
	}
	_, err = s.measure(ctx, build, g)
	return err
}

// gated builds the labels and runs their gates.
func (s *session) gated(ctx context.Context) (*records.Build, gates, error) {
	build, err := s.build(ctx)
	if err != nil {
		return nil, nil, err
	}
	g, err := s.kat(ctx, build)
	return build, g, err
}

// runBeside measures the base in the same run.
func (s *session) runBeside(ctx context.Context) error {
	base, err := s.openBase(ctx, s.o.base)
	if err != nil {
		return err
	}
	return s.compareWithBase(ctx, base)
}

// begin writes run.json before anything is made. What an earlier call in the
// same directory found out stays.
func (s *session) begin() error {
	run := s.header()
	var old records.Run
	switch err := s.dir.ReadJSON(records.RunFile, &old); {
	case err == nil:
		run.Started, run.Fingerprint, run.Seed = old.Started, old.Fingerprint, old.Seed
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return s.dir.WriteJSON(records.RunFile, run)
}

// note changes run.json.
func (s *session) note(change func(*records.Run)) error {
	var run records.Run
	if err := s.dir.ReadJSON(records.RunFile, &run); err != nil {
		return err
	}
	change(&run)
	return s.dir.WriteJSON(records.RunFile, &run)
}

// header is run.json as far as it is known before anything is measured.
func (s *session) header() *records.Run {
	return &records.Run{
		Schema:  records.Schema,
		Tool:    records.Tool{Name: "ngcc-bench", Version: version(), Go: runtime.Version()},
		Started: time.Now().UTC().Truncate(time.Second),
		Options: records.Options{
			Candidates: s.o.candidates, Instances: s.o.instances, Variants: s.o.variants, Sizes: s.sizes, CPU: s.cpu,
			Counter: s.o.counter, KAT: s.o.kat, Quick: s.o.quick, Trials: s.plan.Trials, MinNs: s.plan.MinNs,
		},
		Root: s.root.info, System: s.o.system, Host: s.facts,
	}
}

// finish notes in run.json when the last figure was taken.
func (s *session) finish() error {
	return s.note(func(run *records.Run) { run.Finished = time.Now().UTC().Truncate(time.Second) })
}

func buildCommand() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Compile cores to shared libraries",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return stage(cmd, o, func(ctx context.Context, s *session) error {
				build, err := s.build(ctx)
				if err != nil {
					return err
				}
				return s.outcome(build, nil)
			})
		},
	}
	o.selectFlags(cmd)
	return cmd
}

func katCommand() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "kat",
		Short: "Build cores and check their known answers",
		Long: `Kat builds the cores and replays the official known-answer schedule (or the
CAVP vectors) on each. With CC=aarch64-linux-gnu-gcc and qemu-user installed
the cores are built for and checked on AArch64.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return stage(cmd, o, func(ctx context.Context, s *session) error {
				build, g, err := s.gated(ctx)
				if err != nil {
					return err
				}
				return s.outcome(build, g)
			})
		},
	}
	o.selectFlags(cmd)
	o.sizeFlags(cmd)
	o.katFlag(cmd)
	return cmd
}

func measureCommand() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "measure",
		Short: "Build, gate and time cores, without comparing",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return stage(cmd, o, func(ctx context.Context, s *session) error {
				if err := s.checkHost(ctx); err != nil {
					return err
				}
				build, g, err := s.gated(ctx)
				if err != nil {
					return err
				}
				rs, err := s.measure(ctx, build, g)
				if err != nil {
					return err
				}
				if err := s.finish(); err != nil {
					return err
				}
				// Wrong code is worse than a figure that cannot be right.
				if err := s.outcome(build, g); err != nil {
					return err
				}
				for _, r := range rs {
					if r.Status != records.RecordComplete {
						return exitError(compare.ExitInvalid)
					}
				}
				return nil
			})
		},
	}
	o.selectFlags(cmd)
	o.sizeFlags(cmd)
	o.katFlag(cmd)
	o.measureFlags(cmd)
	return cmd
}

// stage runs part of the way in a run directory.
func stage(cmd *cobra.Command, o options, work func(ctx context.Context, s *session) error) error {
	if o.kat == "" {
		o.kat = kat.ModeGate
	}
	s, unlock, err := openSession(cmd, o)
	if err != nil {
		return err
	}
	defer unlock()
	if err := work(cmd.Context(), s); err != nil {
		return err
	}
	fmt.Fprintln(cmd.OutOrStdout(), s.dir.Path)
	return nil
}

// outcome is the exit code of builds and gates: wrong code is 3. A nil g means
// that the gate was not asked for.
func (s *session) outcome(build *records.Build, g gates) error {
	for _, lb := range build.Labels {
		if lb.Status == records.BuildFailed {
			return exitError(compare.ExitWrongCode)
		}
		if r, ok := g[lb.Candidate+"/"+lb.Label]; ok && r.Result != records.GatePass {
			return exitError(compare.ExitWrongCode)
		}
	}
	return nil
}

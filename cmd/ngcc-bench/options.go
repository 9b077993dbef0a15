package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ngcc/bench-action/internal/catalog"
	"github.com/ngcc/bench-action/internal/measure"
	"github.com/ngcc/bench-action/internal/records"
)

// runsFolder is where runs go that name no --out.
const runsFolder = "ngcc-runs"

// quickSizes are the levels that --quick keeps: one block, many blocks, and
// the level at which only the permutation counts.
var quickSizes = []int{32, 1024, 65536}

// options are the flags that several commands share.
type options struct {
	root       string
	out        string
	candidates []string
	instances  []string
	variants   []string
	sizes      []int
	kat        string
	cpu        int
	counter    string
	quick      bool
	system     string
	fixedHost  bool
	base       string
	budget     time.Duration
	minEffect  float64
	failOn     string
	json       bool
}

func (o *options) rootFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.root, "root", "", "data root to work on (default: the one around this folder, else the embedded one)")
}

func (o *options) outFlag(cmd *cobra.Command, what string) {
	cmd.Flags().StringVar(&o.out, "out", "", what)
}

func (o *options) selectFlags(cmd *cobra.Command) {
	o.rootFlag(cmd)
	o.outFlag(cmd, "run directory; finished work in it is kept (default: a new one under "+runsFolder+"/)")
	f := cmd.Flags()
	f.StringSliceVar(&o.candidates, "candidates", nil, "candidates by id or name, or all (default: all that are no yardsticks)")
	f.StringSliceVar(&o.instances, "instances", nil, "instances (default: all)")
	f.StringSliceVar(&o.variants, "variants", []string{catalog.Reference}, "variants by name, performance, or all")
}

func (o *options) sizeFlags(cmd *cobra.Command) {
	cmd.Flags().IntSliceVar(&o.sizes, "sizes", nil, "message sizes in bytes (default: the eight levels)")
	cmd.Flags().BoolVar(&o.quick, "quick", false, "only the levels 32, 1024 and 65536, unless --sizes says otherwise")
}

func (o *options) katFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.kat, "kat", "gate", "gate: KAT_2_12 and KAT_2_23; full: KAT_Loop and KAT_2_33 too (minutes a core)")
}

func (o *options) measureFlags(cmd *cobra.Command) {
	cmd.Flags().IntVar(&o.cpu, "cpu", -1, "CPU to time on (default: the last one this process may use)")
	cmd.Flags().StringVar(&o.counter, "counter", "auto", "core-cycles, tsc, cntvct, clock, or auto: the best there is")
	cmd.Flags().BoolVar(&o.fixedHost, "require-fixed-host", false, "refuse a machine that ngcc-bench host calls not fixed")
	o.systemFlag(cmd)
}

func (o *options) baseFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.base, "base", "", "commit to compare with, side by side (default: this system's stored baseline)")
	pairFlags(cmd, o, measure.DefaultBudget)
}

// pairFlags are those of every side-by-side comparison.
func pairFlags(cmd *cobra.Command, o *options, budget time.Duration) {
	cmd.Flags().DurationVar(&o.budget, "budget", budget, "time to spend on comparing, for all cells together")
	cmd.Flags().Float64Var(&o.minEffect, "min-effect", 100*measure.DefaultMinEffect, "percent below which a change does not matter")
}

func (o *options) systemFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.system, "system", "", "registered system that this machine is (default: recognised by its hardware)")
}

func (o *options) resultFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.failOn, "fail-on", "regression", "what makes the exit code nonzero: regression, incomparable, kat or never")
	o.jsonFlag(cmd)
}

func (o *options) jsonFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
}

// newRun gives --out its default for a command that starts a run.
func (o *options) newRun(now time.Time) {
	if o.out == "" {
		o.out = filepath.Join(runsFolder, now.UTC().Format("20060102T150405Z"))
	}
}

// lastRun gives --out its default for a command that reads a run: the newest.
func (o *options) lastRun() error {
	if o.out == "" {
		entries, err := os.ReadDir(runsFolder)
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		for _, e := range slices.Backward(entries) {
			dir := filepath.Join(runsFolder, e.Name())
			if _, err := os.Stat(filepath.Join(dir, records.RunFile)); err == nil {
				o.out = dir
				return nil
			}
		}
		return usageError{fmt.Errorf("no run in %s/: start one with ngcc-bench run, or name one with --out", runsFolder)}
	}
	if _, err := os.Stat(filepath.Join(o.out, records.RunFile)); err != nil {
		return usageError{fmt.Errorf("%s is no run directory: %w", o.out, err)}
	}
	return nil
}

// levels are the sizes to work on, in bytes.
func (o *options) levels() ([]int, error) {
	if o.quick && len(o.sizes) == 0 {
		return quickSizes, nil
	}
	sizes, err := catalog.CheckSizes(o.sizes)
	if err != nil {
		return nil, usageError{fmt.Errorf("--sizes: %w", err)}
	}
	return sizes, nil
}

// version is the program's: the module version of a release, else the commit
// it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "devel-" + s.Value[:min(12, len(s.Value))]
		}
	}
	return "devel"
}

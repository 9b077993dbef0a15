package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/ngcc/bench-action/internal/catalog"
	"github.com/ngcc/bench-action/internal/compare"
	"github.com/ngcc/bench-action/internal/measure"
	"github.com/ngcc/bench-action/internal/records"
	"github.com/ngcc/bench-action/internal/report"
)

func compareCommand() *cobra.Command {
	var o options
	var recompute bool
	cmd := &cobra.Command{
		Use:   "compare",
		Short: "Compare a run's figures with the baseline of its system",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			failOn, err := parseFailOn(o.failOn)
			if err != nil {
				return err
			}
			dir, root, c, unlock, err := openRun(cmd, &o)
			if err != nil {
				return err
			}
			defer unlock()
			if recompute {
				if err := recomputeRun(cmd.ErrOrStderr(), dir, root); err != nil {
					return err
				}
			}
			d, err := compareRun(dir, root, c, o.system)
			if err != nil {
				return err
			}
			return printResult(cmd, dir, d, o.json, failOn)
		},
	}
	o.rootFlag(cmd)
	o.outFlag(cmd, "run directory (default: the newest under "+runsFolder+"/)")
	o.systemFlag(cmd)
	o.resultFlags(cmd)
	cmd.Flags().BoolVar(&recompute, "recompute", false, "compute every side-by-side verdict anew from its blocks first")
	return cmd
}

// recomputeRun computes the comparisons of a run anew, from their blocks alone,
// and fails where a file says something else.
func recomputeRun(out io.Writer, dir records.Dir, root *dataRoot) error {
	d, err := loadData(dir, root)
	if err != nil {
		return err
	}
	cs, err := loadComparisons(dir, d)
	if err != nil {
		return err
	}
	rs, err := measure.Recompute(dir, cs)
	if err != nil {
		return err
	}
	wrong := 0
	for _, r := range rs {
		for _, f := range r.Differs {
			wrong++
			fmt.Fprintf(out, "%s: %s\n", r.Key, f)
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d fields of the comparisons do not follow from their blocks", wrong)
	}
	fmt.Fprintf(out, "recomputed: %d comparisons, and every field follows from the blocks\n", len(rs))
	return nil
}

func reportCommand() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Write and print the report of a run",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, root, _, unlock, err := openRun(cmd, &o)
			if err != nil {
				return err
			}
			defer unlock()
			d, err := loadData(dir, root)
			if err != nil {
				return err
			}
			if err := dir.ReadJSON(records.DiffFile, &d.Diff); err != nil {
				return fmt.Errorf("%w (ngcc-bench compare makes it)", err)
			}
			text := report.Markdown(*d)
			if err := dir.Write(records.ReportFile, []byte(text)); err != nil {
				return err
			}
			fmt.Fprint(cmd.OutOrStdout(), text)
			return nil
		},
	}
	o.rootFlag(cmd)
	o.outFlag(cmd, "run directory (default: the newest under "+runsFolder+"/)")
	return cmd
}

// openRun opens the run directory of a command that reads one, and the data
// root that its figures are held against.
func openRun(cmd *cobra.Command, o *options) (dir records.Dir, root *dataRoot, c *catalog.Root, unlock func(), err error) {
	if err = o.lastRun(); err != nil {
		return
	}
	if root, err = openRoot(cmd.Context(), o.root); err != nil {
		return
	}
	if c, err = catalog.Load(root); err != nil {
		return
	}
	dir, unlock, err = records.Create(o.out)
	return
}

func parseFailOn(s string) (compare.FailOn, error) {
	f, err := compare.ParseFailOn(s)
	if err != nil {
		return "", usageError{fmt.Errorf("--fail-on: %w", err)}
	}
	return f, nil
}

// loadData reads what a run directory holds and the baselines of root. Only
// what build.json and run.json name is read: files of an earlier selection in
// the same directory are not this run's.
func loadData(dir records.Dir, root *dataRoot) (*report.Data, error) {
	d := &report.Data{RunDir: dir.Path}
	if err := dir.ReadJSON(records.RunFile, &d.Run); err != nil {
		return nil, err
	}
	if err := dir.ReadJSON(records.BuildFile, &d.Build); err != nil {
		return nil, err
	}
	for _, lb := range d.Build.Labels {
		var g records.Gate
		switch err := dir.ReadJSON(records.GateFileName(lb.Candidate, lb.Label), &g); {
		case err == nil && lb.Status == records.BuildOK:
			d.Gates = append(d.Gates, g)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
		for _, n := range d.Run.Options.Sizes {
			var r records.Record
			switch err := dir.ReadJSON(records.RecordFileName(lb.Candidate, lb.Label, n), &r); {
			case err == nil:
				d.Records = append(d.Records, r)
			case !errors.Is(err, fs.ErrNotExist):
				return nil, err
			}
		}
	}
	if d.Run.Base != nil {
		cs, err := loadComparisons(dir, d)
		if err != nil {
			return nil, err
		}
		if d.Why, err = loadWhy(dir, cs); err != nil {
			return nil, err
		}
	}
	var err error
	var baselines fs.FS = root
	if d.Run.Base != nil {
		// A base brings its own: the head does not judge itself.
		baselines = os.DirFS(dir.Abs(baseRoot))
	}
	d.Baselines, err = compare.ReadBaselines(baselines)
	return d, err
}

// compareRun gives every cell of a run its verdict and writes diff.json.
func compareRun(dir records.Dir, root *dataRoot, c *catalog.Root, system string) (*report.Data, error) {
	d, err := loadData(dir, root)
	if err != nil {
		return nil, err
	}
	if system != "" {
		d.Run.System = system
	}
	in := compare.Input{
		Run: d.Run, Build: d.Build, Gates: d.Gates, Records: d.Records, Baselines: d.Baselines, Catalogue: keysOf(c),
	}
	var diff *compare.Diff
	if d.Run.Base == nil {
		diff, err = compare.Against(in)
	} else {
		var beside *compare.SideBySide
		if beside, err = loadBeside(dir, d); err == nil {
			diff, err = compare.Besides(in, *beside)
		}
	}
	if err != nil {
		return nil, err
	}
	d.Diff = *diff
	return d, dir.WriteJSON(records.DiffFile, diff)
}

// loadBeside reads what a run with a base measured side by side.
func loadBeside(dir records.Dir, d *report.Data) (*compare.SideBySide, error) {
	base := records.Dir{Path: dir.Abs(baseFolder)}
	s := &compare.SideBySide{Same: d.Run.Base.Same, Description: compare.Base{Commit: d.Run.Base.Commit, Origin: d.Run.Base.Ref}}
	if err := base.ReadJSON(records.BuildFile, &s.Build); err != nil {
		return nil, err
	}
	for _, lb := range s.Build.Labels {
		var g records.Gate
		switch err := base.ReadJSON(records.GateFileName(lb.Candidate, lb.Label), &g); {
		case err == nil:
			s.Gates = append(s.Gates, g)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	var err error
	s.Comparisons, err = loadComparisons(dir, d)
	return s, err
}

// loadComparisons reads the comparisons of the labels that were built.
func loadComparisons(dir records.Dir, d *report.Data) ([]records.Comparison, error) {
	var out []records.Comparison
	for _, lb := range d.Build.Labels {
		for _, n := range d.Run.Options.Sizes {
			var c records.Comparison
			switch err := dir.ReadJSON(records.PairFileName(lb.Candidate, lb.Label, n), &c); {
			case err == nil:
				out = append(out, c)
			case !errors.Is(err, fs.ErrNotExist):
				return nil, err
			}
		}
	}
	return out, nil
}

// keysOf lists every cell that a data root can have.
func keysOf(c *catalog.Root) []compare.Key {
	var keys []compare.Key
	for _, cand := range c.Candidates {
		for _, l := range cand.Labels() {
			for _, n := range catalog.Levels {
				keys = append(keys, compare.Key{Candidate: cand.ID, Label: l.String(), MessageBytes: n})
			}
		}
	}
	return keys
}

// printResult writes the report, prints its short form, or JSON, and turns the
// run's outcome into an exit code.
func printResult(cmd *cobra.Command, dir records.Dir, d *report.Data, asJSON bool, failOn compare.FailOn) error {
	if err := dir.Write(records.ReportFile, []byte(report.Markdown(*d))); err != nil {
		return err
	}
	if asJSON {
		data, err := records.Marshal(d.Diff)
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s", data)
	} else {
		fmt.Fprint(cmd.OutOrStdout(), report.Terminal(*d))
	}
	if code := d.Diff.Outcome.ExitCode(failOn); code != compare.ExitOK {
		return exitError(code)
	}
	return nil
}

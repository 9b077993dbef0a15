package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ngcc/bench-action/internal/compare"
)

func acceptCommand() *cobra.Command {
	var o options
	var reason string
	cmd := &cobra.Command{
		Use:   "accept",
		Short: "Make a run's figures the baseline of a system",
		Long: `Accept writes the figures of a run into baseline/<system>.json of the data
root, one cell a line, with the reason and the commit that was measured.
Commit the file: a baseline is reviewed like code.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return accept(cmd, o, reason)
		},
	}
	o.rootFlag(cmd)
	o.outFlag(cmd, "run directory (default: the newest under "+runsFolder+"/)")
	o.systemFlag(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "why these figures are right (required)")
	return cmd
}

func accept(cmd *cobra.Command, o options, reason string) error {
	dir, root, c, unlock, err := openRun(cmd, &o)
	if err != nil {
		return err
	}
	defer unlock()
	if root.dir == "" {
		return usageError{errors.New("the embedded data root cannot be changed: work in a data root of your own, or name one with --root")}
	}
	d, err := loadData(dir, root)
	if err != nil {
		return err
	}
	if o.system == "" {
		o.system = d.Run.System
	}
	if o.system == "" {
		if b, _ := compare.Recognise(d.Baselines, d.Run.Fingerprint); b != nil {
			o.system = b.System
		} else {
			return usageError{errors.New("this machine is no registered system yet: give it a name with --system")}
		}
	}
	file := filepath.Join(root.dir, "baseline", o.system+".json")
	old, err := compare.ReadBaseline(root, "baseline/"+o.system+".json")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	commit := d.Run.Root.Commit
	if d.Run.Root.Dirty {
		commit += "-dirty"
	}
	a, err := compare.Accept(old, d.Run, d.Records, keysOf(c), compare.Acceptance{System: o.system, Reason: reason, Commit: commit})
	if err != nil {
		return usageError{err}
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := compare.WriteBaseline(file, old, a.Baseline); err != nil {
		return err
	}
	printAccepted(cmd, file, a)
	return nil
}

func printAccepted(cmd *cobra.Command, file string, a *compare.Accepted) {
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%s: %d cells: %d replaced, %d added, %d kept, %d dropped\n",
		file, len(a.Baseline.Cells), len(a.Replaced), len(a.Added), len(a.Kept), len(a.Dropped))
	for _, k := range a.Dropped {
		fmt.Fprintf(out, "dropped %s\n", k)
	}
	for _, why := range a.Refused {
		fmt.Fprintf(out, "refused %s\n", why)
	}
	fmt.Fprintln(out, "commit this file so that it is reviewed")
}

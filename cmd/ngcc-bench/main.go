// Command ngcc-bench builds hash cores, checks their known answers, times them
// and compares the figures with accepted ones.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ngcc/bench-action/internal/compare"
	"github.com/ngcc/bench-action/internal/sandbox"
)

func main() {
	sandbox.Main()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Stdout, os.Stderr, os.Args[1:]))
}

// exitError ends the program with a code of the table in docs/method.md; what
// there is to say has been said already.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// usageError is wrong use: a flag or an argument that cannot be.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// run is the whole program; it returns the exit code.
func run(ctx context.Context, stdout, stderr io.Writer, args []string) int {
	cmd := newRoot(stdout, stderr)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(ctx)
	var code exitError
	switch {
	case err == nil:
		return compare.ExitOK
	case errors.As(err, &code):
		return int(code)
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "ngcc-bench: stopped; run the same command with the same --out to go on")
		return 130
	}
	fmt.Fprintf(stderr, "ngcc-bench: %v\n", err)
	return compare.ExitWrongUse
}

func newRoot(stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   "ngcc-bench",
		Short: "Guard the speed of cryptographic hash cores",
		Long: `ngcc-bench builds hash cores, checks their known answers, times them at eight
message sizes and compares cycles/byte with accepted figures.

Without --root it works on the data root it is called in (a folder with
hashes/ and kat/), or on the candidates it brings along.`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w (see ngcc-bench %s --help)", err, c.Name())}
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(runCommand(), abCommand(), buildCommand(), katCommand(), measureCommand(), compareCommand(), reportCommand(),
		acceptCommand(), listCommand(), hostCommand())
	return root
}

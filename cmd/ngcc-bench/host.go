package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/host"
	"github.com/ngcc/bench-action/internal/records"
	"github.com/ngcc/bench-action/internal/toolchain"
)

func hostCommand() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "host",
		Short: "Show facts about this machine, and what makes it a poor bench",
		Long: `Show facts about this machine, measure for a second how steadily it works, and
list what makes it a poor bench: each problem with its effect where one was
measured, and the command that mends it. Problems marked "not fixed" are those
for which --require-fixed-host refuses the machine.

The measured part needs a C compiler (CC, or cc) and a host on which nothing is
being timed; without them the rest is shown.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s := session{o: o}
			if err := s.lookAtHost(cmd.Context()); err != nil {
				return err
			}
			measured, err := s.measureHost(cmd.Context())
			if err != nil {
				return err
			}
			problems := slices.Concat([]host.Problem{}, host.Problems(s.facts, measured))
			if !o.json {
				return printHost(cmd.OutOrStdout(), s.facts, measured, problems)
			}
			data, err := records.Marshal(struct {
				Schema   int            `json:"schema"`
				Facts    host.Facts     `json:"facts"`
				Measured host.Measured  `json:"measured"`
				Problems []host.Problem `json:"problems"`
			}{records.Schema, s.facts, measured, problems})
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(data)
			return err
		},
	}
	cmd.Flags().IntVar(&o.cpu, "cpu", -1, "CPU that would be timed on (default: the last one this process may use)")
	o.jsonFlag(cmd)
	return cmd
}

// checkHost refuses a host that is not fixed, if it was asked to, and names every
// problem with what mends it.
func (s *session) checkHost(ctx context.Context) error {
	if !s.o.fixedHost {
		return nil
	}
	measured, err := s.measureHost(ctx)
	if err != nil {
		return err
	}
	var list strings.Builder
	for _, p := range host.NotFixed(s.facts, measured) {
		fmt.Fprintf(&list, "\n  %s: %s", p.Name, p.Detail)
		if p.Mend != "" {
			fmt.Fprintf(&list, "\n    mend: %s", p.Mend)
		}
	}
	if list.Len() == 0 {
		return nil
	}
	return usageError{fmt.Errorf("--require-fixed-host: this machine is not a fixed host:%s", list.String())}
}

// idleLook is how long the kernel's accounts are watched when nothing is measured:
// they are kept in hundredths of a second.
const idleLook = 500 * time.Millisecond

// measureHost looks at the bench CPU for a second. What keeps it from that is told
// in what it returns; the only error is that of an ended context.
func (s *session) measureHost(ctx context.Context) (host.Measured, error) {
	var m host.Measured
	d, done, err := s.hostDriver(ctx)
	if err == nil {
		defer done()
	}
	root := os.DirFS("/")
	before := s.facts.Look(root)
	var ownNs int64
	if err == nil {
		if m.Steady, err = d.Steady(ctx, s.cpu, "auto"); err == nil {
			ownNs = m.Steady.OwnNs
		}
	}
	if err != nil {
		m.WhyNot = err.Error()
		select {
		case <-ctx.Done():
		case <-time.After(idleLook):
		}
	}
	if ctx.Err() != nil {
		return m, context.Cause(ctx)
	}
	load := before.Until(s.facts.Look(root), s.facts, ownNs)
	m.Load = &load
	return m, nil
}

// hostDriver builds the driver for this machine and takes the host's lock, without
// waiting; done gives both back. This process stays off the bench CPU from then on.
func (s *session) hostDriver(ctx context.Context) (d *driver.Driver, done func(), err error) {
	c, err := toolchain.Find(ctx, os.Getenv("CC"), s.facts.Arch)
	if err != nil {
		return nil, nil, err
	}
	if c.Emulated() {
		return nil, nil, fmt.Errorf("%s makes code for %s: set CC to a compiler for this machine", c.Command, c.Arch)
	}
	// Before compiling, which would disturb who has it.
	unlock, err := tryLock(ctx)
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "ngcc-host-*")
	if err != nil {
		unlock()
		return nil, nil, err
	}
	done = func() {
		os.RemoveAll(dir)
		unlock()
	}
	if err = driver.StayOff(s.cpu); err == nil {
		d, err = driver.Compile(ctx, c.Command, c.ID(), nil, dir)
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return d, done, nil
}

// tryLock takes the host's lock, or fails when another process has it.
func tryLock(ctx context.Context) (unlock func(), err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	return driver.LockHost(ctx, func(int) { cancel(errors.New("it is timing something: ask again when it has ended")) })
}

// width is that of a terminal on which nothing breaks within a word.
const width = 100

func printHost(out io.Writer, f host.Facts, m host.Measured, problems []host.Problem) error {
	var b strings.Builder
	rows := slices.Concat(f.Table(), f.BenchTable())
	if m.Steady != nil || m.Load != nil {
		rows = append(rows, m.Table()...)
	}
	for _, row := range rows {
		fmt.Fprintf(&b, "%-21s%s\n", row[0], indented(row[1], 21, 21))
	}
	if m.WhyNot != "" {
		fmt.Fprintf(&b, "\nsteadiness not measured: %s\n", indented(m.WhyNot, 25, 2))
	}
	for _, p := range problems {
		mark := ""
		if p.NotFixed {
			mark = " [not fixed]"
		}
		fmt.Fprintf(&b, "\n%s%s\n  %s\n", p.Name, mark, indented(p.Detail, 2, 2))
		if p.Effect != "" {
			fmt.Fprintf(&b, "  measured: %s\n", indented(p.Effect, 12, 4))
		}
		if p.Mend != "" {
			fmt.Fprintf(&b, "  mend: %s\n", p.Mend) // one line, to be copied
		}
	}
	fmt.Fprintf(&b, "\n%s\n", indented(verdict(problems), 0, 2))
	_, err := io.WriteString(out, b.String())
	return err
}

// verdict sums the problems up.
func verdict(problems []host.Problem) string {
	var names []string
	for _, p := range problems {
		if p.NotFixed {
			names = append(names, p.Name)
		}
	}
	if len(names) == 0 {
		return "a fixed host: --require-fixed-host accepts it"
	}
	return "not a fixed host: " + strings.Join(names, ", ")
}

// indented breaks a text between words so that it fits the terminal when its first
// line stands after so many columns, and its other lines after rest.
func indented(text string, first, rest int) string {
	var b strings.Builder
	at := first
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", rest))
			at = rest
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}

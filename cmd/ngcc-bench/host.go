package main

import (
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ngcc/bench-action/internal/host"
	"github.com/ngcc/bench-action/internal/records"
)

func hostCommand() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "host",
		Short: "Show facts about this machine, and what makes it a poor bench",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s := session{o: o}
			if err := s.lookAtHost(cmd.Context()); err != nil {
				return err
			}
			problems := s.facts.Problems()
			out := cmd.OutOrStdout()
			if o.json {
				data, err := records.Marshal(struct {
					Schema   int            `json:"schema"`
					Facts    host.Facts     `json:"facts"`
					Problems []host.Problem `json:"problems"`
				}{records.Schema, s.facts, slices.Concat([]host.Problem{}, problems)})
				if err != nil {
					return err
				}
				_, err = out.Write(data)
				return err
			}
			w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
			for _, row := range s.facts.Table() {
				fmt.Fprintf(w, "%s\t%s\n", row[0], row[1])
			}
			if err := w.Flush(); err != nil {
				return err
			}
			for _, p := range problems {
				fmt.Fprintf(out, "\n%s: %s\n", p.Name, p.Detail)
				if p.Mend != "" {
					fmt.Fprintf(out, "  mend: %s\n", p.Mend)
				}
			}
			return nil
		},
	}
	cmd.Flags().IntVar(&o.cpu, "cpu", -1, "CPU that would be timed on (default: the last one this process may use)")
	o.jsonFlag(cmd)
	return cmd
}

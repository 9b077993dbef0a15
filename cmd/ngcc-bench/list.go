package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ngcc/bench-action/internal/catalog"
)

// listed is a label as list --json prints it.
type listed struct {
	Candidate  string   `json:"candidate"`
	Name       string   `json:"name"`
	Title      string   `json:"title"`
	Label      string   `json:"label"`
	DigestBits int      `json:"digest_bits"`
	Variant    string   `json:"variant"`
	API        string   `json:"api"`
	Gate       string   `json:"gate"`
	Yardstick  bool     `json:"yardstick"`
	Arch       string   `json:"arch,omitempty"`
	Features   []string `json:"features,omitempty"`
}

func listCommand() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Show the candidates of the data root",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := openRoot(cmd.Context(), o.root)
			if err != nil {
				return err
			}
			c, err := catalog.Load(root)
			if err != nil {
				return err
			}
			labels := []listed{}
			for _, cand := range c.Candidates {
				for _, l := range cand.Labels() {
					labels = append(labels, listed{cand.ID, cand.Name, cand.Title, l.String(), l.Instance.DigestBits, l.Variant.Name,
						cand.API, cand.Gate, cand.Yardstick, l.Variant.Arch, l.Variant.Features})
				}
			}
			if o.json {
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetIndent("", " ")
				return enc.Encode(labels)
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "CANDIDATE\tLABEL\tDIGEST\tAPI\tGATE\tNOTES")
			for _, l := range labels {
				var notes []string
				if l.Yardstick {
					notes = append(notes, "yardstick")
				}
				if l.Arch != "" {
					notes = append(notes, strings.Join(append([]string{l.Arch}, l.Features...), " "))
				}
				fmt.Fprintf(w, "%s %s\t%s\t%d\t%s\t%s\t%s\n", l.Candidate, l.Name, l.Label, l.DigestBits, l.API, l.Gate, strings.Join(notes, ", "))
			}
			return w.Flush()
		},
	}
	o.rootFlag(cmd)
	o.jsonFlag(cmd)
	return cmd
}

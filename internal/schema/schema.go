// Package schema makes the JSON Schemas of every file of a run directory, and
// of baselines, from the Go types that write them. They are kept in docs/schema
// for people and programs that read those files.
package schema

import (
	"github.com/invopop/jsonschema"

	"github.com/ngcc/bench-action/internal/compare"
	"github.com/ngcc/bench-action/internal/records"
)

// types are the files' types by the name of their schema.
var types = map[string]any{
	"run":        records.Run{},
	"build":      records.Build{},
	"gate":       records.Gate{},
	"record":     records.Record{},
	"comparison": records.Comparison{},
	"diff":       compare.Diff{},
	"baseline":   compare.Baseline{},
}

// Files returns the schemas by file name: run.schema.json and so on.
func Files() (map[string][]byte, error) {
	out := map[string][]byte{}
	for name, v := range types {
		// Files only ever gain fields, so an unknown one is no error.
		r := jsonschema.Reflector{Anonymous: true, AllowAdditionalProperties: true, ExpandedStruct: true}
		s := r.Reflect(v)
		s.ID = jsonschema.ID("https://github.com/ngcc/bench-action/docs/schema/" + name + ".schema.json")
		data, err := records.Marshal(s)
		if err != nil {
			return nil, err
		}
		out[name+".schema.json"] = data
	}
	return out, nil
}

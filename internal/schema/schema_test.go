package schema

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/schema anew")

const folder = "../../docs/schema"

func TestSchemasAreUpToDate(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		path := filepath.Join(folder, name)
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Errorf("%v (go test ./internal/schema -update writes it)", err)
		} else if d := cmp.Diff(string(want), string(got)); d != "" {
			t.Errorf("%s is not what the Go types say (go test ./internal/schema -update):\n%s", name, d)
		}
	}
	there, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(there) != len(files) {
		t.Errorf("docs/schema holds %d files, there are %d schemas (%v)", len(there), len(files), err)
	}
}

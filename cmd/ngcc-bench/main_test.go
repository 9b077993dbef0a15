package main

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ngcc/bench-action/internal/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	testscript.Main(m, map[string]func(){
		"ngcc-bench": func() { os.Exit(run(context.Background(), os.Stdout, os.Stderr, os.Args[1:])) },
	})
}

// TestScripts runs the commands as a user at a shell would.
func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: the scripts time cores")
	}
	for _, tool := range []string{"gcc", "clang", "aarch64-linux-gnu-gcc", "qemu-aarch64"} {
		if _, err := exec.LookPath(tool); err != nil && os.Getenv("NGCC_REQUIRE_ALL") != "" {
			t.Errorf("%s is not installed", tool)
		}
	}
	testscript.Run(t, testscript.Params{Dir: "testdata/script"})
}

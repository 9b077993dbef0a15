package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

var kills = flag.Int("kills", 3, "how many runs TestKilled kills")

// bench starts the program on the data root root with run directory out.
func bench(t *testing.T, root, out string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	args = append([]string{"ngcc-bench"}, append(args, "--root", root, "--out", out)...)
	cmd := &exec.Cmd{Path: self, Args: args, Env: os.Environ(), Stdout: &said, Stderr: &said}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, &said
}

// toyRoot writes the data root of the scripts into a folder.
func toyRoot(t *testing.T) string {
	t.Helper()
	a, err := txtar.ParseFile("testdata/script/run.txtar")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for _, f := range a.Files {
		path := filepath.Join(root, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// processesOf counts the processes whose command line names dir.
func processesOf(t *testing.T, dir string) int {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, name := range lines {
		if data, err := os.ReadFile(name); err == nil && bytes.Contains(data, []byte(dir)) {
			n++
		}
	}
	return n
}

// inode tells a file that was written anew from one that was left alone.
type inode struct {
	number uint64
	time   time.Time
}

// checkFiles fails on a damaged file and returns the records there are.
func checkFiles(t *testing.T, dir string) map[string]inode {
	t.Helper()
	found := map[string]inode{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch filepath.Ext(path) {
		case ".json":
			if !json.Valid(data) {
				t.Errorf("%s is damaged:\n%s", path, data)
			}
		case ".log":
			last := data[bytes.LastIndexByte(bytes.TrimSpace(data), '\n')+1:]
			if !bytes.HasPrefix(last, []byte("RESULT ")) {
				t.Errorf("%s is cut short: %s", path, last)
			}
		}
		if strings.Contains(path, "/records/") {
			info, err := e.Info()
			if err != nil {
				return err
			}
			found[filepath.Base(path)] = inode{info.Sys().(*syscall.Stat_t).Ino, info.ModTime()}
		}
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return found
}

// A run that is killed at any moment and started again with the same --out
// finishes, repeats no finished cell, damages no file and leaves no process.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: the runs time cores")
	}
	root := toyRoot(t)
	args := []string{"run", "--quick"}
	start := time.Now()
	cmd, said := bench(t, root, filepath.Join(t.TempDir(), "whole"), args...)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	whole := time.Since(start)
	for i := range *kills {
		t.Run(fmt.Sprint(i), func(t *testing.T) { killOnce(t, root, args, rand.N(whole)) })
	}
}

func killOnce(t *testing.T, root string, args []string, after time.Duration) {
	out := filepath.Join(t.TempDir(), "run")
	cmd, _ := bench(t, root, out, args...)
	time.Sleep(after)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for wait := 0; processesOf(t, out) > 0; wait++ {
		if wait == 100 {
			t.Fatalf("killed after %v: a process stayed behind", after)
		}
		time.Sleep(50 * time.Millisecond)
	}
	before := checkFiles(t, out)
	cmd, said := bench(t, root, out, args...)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("killed after %v, started again: %v\n%s", after, err, said)
	}
	done := checkFiles(t, out)
	if len(done) != 6 {
		t.Errorf("killed after %v: %d records of 6", after, len(done))
	}
	for name, was := range before {
		if done[name] != was {
			t.Errorf("killed after %v: %s was finished and is measured again", after, name)
		}
	}
	leftovers, err := filepath.Glob(filepath.Join(out, "*", "*", ".*"))
	if err != nil || len(leftovers) > 0 {
		t.Errorf("killed after %v: left over: %v %v", after, leftovers, err)
	}
	t.Logf("killed after %v with %d of 6 cells finished", after.Round(time.Millisecond), len(before))
}

// After one label's flags change, exactly that label is done again.
func TestChangedLabelIsDoneAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: the runs time cores")
	}
	root, out := toyRoot(t), filepath.Join(t.TempDir(), "run")
	runOnce := func() map[string]inode {
		cmd, said := bench(t, root, out, "run", "--sizes", "32")
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		return checkFiles(t, out)
	}
	first := runOnce()
	meta := filepath.Join(root, "hashes/toy/META.yml")
	data, err := os.ReadFile(meta)
	if err != nil {
		t.Fatal(err)
	}
	data = bytes.Replace(data, []byte("[-DTOY_WORDS=2]"), []byte("[-DTOY_WORDS=2, -O1]"), 1)
	if err := os.WriteFile(meta, data, 0o644); err != nil {
		t.Fatal(err)
	}
	second := runOnce()
	if a, b := "TOY-64__hash_32.json", "TOY-128__hash_32.json"; first[a] != second[a] || first[b] == second[b] {
		t.Errorf("first %v\nsecond %v", first, second)
	}
}

package gitroot

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// repo makes a repository whose data root lies in a folder below its top.
func repo(t *testing.T) (root string, commit string) {
	t.Helper()
	top := t.TempDir()
	root = filepath.Join(top, "data")
	write(t, root, "hashes/toy/META.yml", "first\n")
	write(t, root, "hashes/toy/toy.c", "int x;\n")
	write(t, root, "kat/v.csv", "a,b\r\n")
	write(t, root, "notes.txt", "not data\n")
	git(t, top, "init", "-q")
	git(t, top, "add", "-A")
	git(t, top, "commit", "-q", "-m", "first")
	return root, git(t, top, "rev-parse", "HEAD")
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// The files of the commit come out as they were, whatever the checkout says now.
func TestExtract(t *testing.T) {
	ctx := context.Background()
	root, commit := repo(t)
	write(t, root, "hashes/toy/META.yml", "changed\n")
	write(t, root, "hashes/new/META.yml", "new\n")
	to := filepath.Join(t.TempDir(), "base")
	if err := Extract(ctx, root, commit, to); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"hashes/toy/META.yml": "first\n", "hashes/toy/toy.c": "int x;\n", "kat/v.csv": "a,b\r\n"} {
		if got, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"notes.txt", "hashes/new", "data"} {
		if _, err := os.Stat(filepath.Join(to, name)); err == nil {
			t.Errorf("%s came out too", name)
		}
	}
	got, err := Changed(ctx, root, commit)
	slices.Sort(got)
	if want := []string{"hashes/new/META.yml", "hashes/toy/META.yml"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("changed: %q, %v; want %q", got, err, want)
	}
}

func TestExtractRefusesLinks(t *testing.T) {
	root, _ := repo(t)
	if err := os.Symlink("/etc/passwd", filepath.Join(root, "hashes/toy/evil.c")); err != nil {
		t.Fatal(err)
	}
	git(t, root, "add", "-A")
	git(t, root, "commit", "-q", "-m", "link")
	err := Extract(context.Background(), root, git(t, root, "rev-parse", "HEAD"), filepath.Join(t.TempDir(), "base"))
	if err == nil || !strings.Contains(err.Error(), "hashes/toy/evil.c is a symbolic link") {
		t.Errorf("got %v", err)
	}
}

func TestResolve(t *testing.T) {
	ctx := context.Background()
	root, commit := repo(t)
	if got, err := Resolve(ctx, root, "HEAD"); err != nil || got != commit {
		t.Errorf("HEAD: %q, %v", got, err)
	}
	if _, err := Resolve(ctx, root, "no-such-branch"); err == nil || !strings.Contains(err.Error(), `no commit "no-such-branch"`) {
		t.Errorf("missing branch: %v", err)
	}
	if _, err := Resolve(ctx, root, "--exec=touch /tmp/x"); err == nil {
		t.Error("an option passes as a ref")
	}
	if _, err := Resolve(ctx, t.TempDir(), "HEAD"); err == nil || !strings.Contains(err.Error(), "in no git repository") {
		t.Errorf("outside: %v", err)
	}
	write(t, root, "hashes/toy/toy.c", "int y;\n")
	git(t, root, "commit", "-q", "-am", "second")
	shallow := filepath.Join(t.TempDir(), "clone")
	git(t, root, "clone", "-q", "--depth=1", "file://"+filepath.Dir(root), shallow)
	if _, err := Resolve(ctx, shallow, commit); err == nil || !strings.Contains(err.Error(), "fetch-depth") {
		t.Errorf("shallow: %v", err)
	}
}

func TestExtractWithoutDataRoot(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "x", "x")
	git(t, dir, "init", "-q")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "x")
	err := Extract(context.Background(), dir, "HEAD", filepath.Join(dir, "base"))
	if err == nil || !strings.Contains(err.Error(), "no data root") {
		t.Errorf("got %v", err)
	}
}

// Package gitroot reads the data root of another commit out of a git
// repository, by plumbing alone: the user's checkout, index and worktrees are
// neither read nor touched, and no hook or filter of the repository runs.
package gitroot

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"strconv"
	"strings"
)

// Folders are what a data root consists of, as far as comparing needs it.
var Folders = []string{"hashes", "kat", "baseline"}

// Bounds of what is read from a commit.
const (
	maxFiles = 20_000
	maxBytes = 1 << 30
)

// Git runs git on the repository around dir, whoever owns it, without its
// configuration's helpers. The error holds git's own message.
func Git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := command(ctx, dir, args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(said.Bytes()))
	}
	return strings.TrimRight(string(out), "\n"), nil
}

func command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	fixed := []string{"-c", "safe.directory=*", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-C", dir}
	return exec.CommandContext(ctx, "git", append(fixed, args...)...)
}

// Resolve finds the commit that ref names in the repository around dir.
func Resolve(ctx context.Context, dir, ref string) (string, error) {
	commit, err := Git(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if err == nil {
		return commit, nil
	}
	if _, inside := Git(ctx, dir, "rev-parse", "--git-dir"); inside != nil {
		return "", fmt.Errorf("%s is in no git repository: %w", dir, inside)
	}
	if shallow, _ := Git(ctx, dir, "rev-parse", "--is-shallow-repository"); shallow == "true" {
		return "", fmt.Errorf("commit %q is not in this shallow clone: fetch it first (with actions/checkout: fetch-depth: 2, or 0 for the whole history)", ref)
	}
	return "", fmt.Errorf("no commit %q in this repository: fetch it first, or name another", ref)
}

// Changed lists the paths below the data root dir that differ between commit
// and the working tree, untracked files among them.
func Changed(ctx context.Context, dir, commit string) ([]string, error) {
	tracked, err := Git(ctx, dir, append([]string{"diff", "--no-ext-diff", "--name-only", "-z", "--relative", commit, "--"}, Folders...)...)
	if err != nil {
		return nil, err
	}
	untracked, err := Git(ctx, dir, append([]string{"ls-files", "--others", "--exclude-standard", "-z", "--"}, Folders...)...)
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(tracked+"\x00"+untracked, func(r rune) bool { return r == 0 }), nil
}

// entry is one file of a commit.
type entry struct{ name, object string }

// Extract writes the data root that dir was at commit into the folder to,
// which is made. Symbolic links and submodules among its files are refused: a
// data root is plain files.
func Extract(ctx context.Context, dir, commit, to string) error {
	entries, err := list(ctx, dir, commit)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return fmt.Errorf("commit %.12s has no data root here: no hashes/ with candidates", commit)
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	return copyBlobs(ctx, dir, entries, func(name string, data []byte) error {
		if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return err
		}
		return root.WriteFile(name, data, 0o644)
	})
}

// list names the files of the data root at commit, relative to it.
func list(ctx context.Context, dir, commit string) ([]entry, error) {
	args := append([]string{"ls-tree", "-r", "-z", "-l", commit, "--"}, Folders...)
	out, err := Git(ctx, dir, args...)
	if err != nil {
		return nil, err
	}
	var entries []entry
	var total int64
	for line := range strings.SplitSeq(out, "\x00") {
		if line == "" {
			continue
		}
		head, name, ok := strings.Cut(line, "\t")
		f := strings.Fields(head)
		if !ok || len(f) != 4 || !fs.ValidPath(name) {
			return nil, fmt.Errorf("git ls-tree: cannot read %q", line)
		}
		if f[1] != "blob" || f[0] == "120000" {
			return nil, fmt.Errorf("commit %.12s: %s is a symbolic link or a submodule: a data root is plain files", commit, name)
		}
		size, err := strconv.ParseInt(f[3], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("git ls-tree: size of %s: %w", name, err)
		}
		if total += size; total > maxBytes || len(entries) == maxFiles {
			return nil, fmt.Errorf("commit %.12s: the data root is over %d files or %d bytes", commit, maxFiles, maxBytes)
		}
		entries = append(entries, entry{name, f[2]})
	}
	return entries, nil
}

// copyBlobs hands the contents of entries to put, by one git process.
func copyBlobs(ctx context.Context, dir string, entries []entry, put func(name string, data []byte) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := command(ctx, dir, "cat-file", "--batch")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("git cat-file: %w", err)
	}
	go func() {
		defer in.Close()
		for _, e := range entries {
			if _, err := io.WriteString(in, e.object+"\n"); err != nil {
				return
			}
		}
	}()
	r := bufio.NewReader(out)
	err = func() error {
		for _, e := range entries {
			data, err := blob(r, e.object)
			if err != nil {
				return fmt.Errorf("git cat-file: %s: %w: %s", e.name, err, bytes.TrimSpace(said.Bytes()))
			}
			if err := put(e.name, data); err != nil {
				return err
			}
		}
		return nil
	}()
	if err != nil {
		cancel()
		_ = cmd.Wait()
		return err
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("git cat-file: %w: %s", err, bytes.TrimSpace(said.Bytes()))
	}
	return nil
}

// blob reads one answer of git cat-file --batch.
func blob(r *bufio.Reader, object string) ([]byte, error) {
	head, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	var name, kind string
	var size int64
	if n, _ := fmt.Sscanf(head, "%s %s %d", &name, &kind, &size); n != 3 || name != object || kind != "blob" || size < 0 || size > maxBytes {
		return nil, fmt.Errorf("git answered %q (in a partial clone, fetch the objects first)", strings.TrimSpace(head))
	}
	data := make([]byte, size+1)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, err
	}
	if data[size] != '\n' {
		return nil, errors.New("the answer does not end where it says")
	}
	return data[:size], nil
}

package records

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"syscall"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

// Files of a run directory, relative to it.
const (
	RunFile    = "run.json"
	BuildFile  = "build.json"
	DiffFile   = "diff.json"
	ReportFile = "report.md"
)

// maxFile bounds a JSON file of a run directory, in bytes.
const maxFile = 64 << 20

// Dir is a run directory. Files in it are named by slash-separated paths
// relative to it.
type Dir struct{ Path string }

// GateFileName is the JSON of a label's gate.
func GateFileName(candidate, label string) string { return "kat/" + candidate + "/" + label + ".json" }

// LogFileName is the evidence of a label's gate.
func LogFileName(candidate, label string) string { return "kat/" + candidate + "/" + label + ".log" }

// RecordFileName is a cell's record.
func RecordFileName(candidate, label string, bytes int) string {
	return fmt.Sprintf("records/%s/%s__hash_%d.json", candidate, label, bytes)
}

// BatchFileName holds every batch of a cell's trials.
func BatchFileName(candidate, label string, bytes int) string {
	return fmt.Sprintf("batches/%s/%s__hash_%d.csv.gz", candidate, label, bytes)
}

// WhyFileName says what the two sides of a comparison differ in.
func WhyFileName(candidate, label string, bytes int) string {
	return fmt.Sprintf("pairs/%s/%s__hash_%d.why.json", candidate, label, bytes)
}

// Abs is the place of rel in the file system.
func (d Dir) Abs(rel string) string { return filepath.Join(d.Path, filepath.FromSlash(rel)) }

// Create makes the run directory if needed, takes it for this process alone
// and removes what a killed run was in the middle of writing. A folder that
// holds something else than a run is refused and left as it is. The lock ends
// with the process, or when unlock is called.
func Create(path string) (d Dir, unlock func(), err error) {
	d = Dir{path}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return d, nil, fmt.Errorf("run directory: %w (choose another with --out)", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return d, nil, fmt.Errorf("run directory: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return d, nil, fmt.Errorf("run directory %s is in use by another ngcc-bench: wait for it, or choose another with --out", path)
		}
		return d, nil, fmt.Errorf("run directory %s: lock: %w", path, err)
	}
	if err := errors.Join(d.ours(), d.sweep()); err != nil {
		f.Close()
		return d, nil, err
	}
	return d, func() { f.Close() }, nil
}

// ours refuses a folder with files that no run put there: one without run.json
// that is not empty.
func (d Dir) ours() error {
	entries, err := os.ReadDir(d.Path)
	if err != nil {
		return fmt.Errorf("run directory: %w", err)
	}
	if _, err := os.Lstat(d.Abs(RunFile)); err == nil {
		return nil
	}
	for _, e := range entries {
		if !unfinished.MatchString(e.Name()) {
			return fmt.Errorf("%s holds other files (%s) and is no run directory: choose an empty or a new one with --out", d.Path, e.Name())
		}
	}
	return nil
}

// unfinished are the names of temporary files and folders: those that renameio
// gives, and those that builds work in.
var unfinished = regexp.MustCompile(`^\.(.+[0-9]{6,}|(stage|pad|driver)-.*)$`)

// sweep removes temporary files and folders of a run that was killed. It looks
// only into a run directory.
func (d Dir) sweep() error {
	if _, err := os.Lstat(d.Abs(RunFile)); err != nil {
		return nil
	}
	return filepath.WalkDir(d.Path, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == d.Path || !unfinished.MatchString(e.Name()) {
			return err
		}
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
}

// Write writes rel whole: a temporary file, fsync, rename.
func (d Dir) Write(rel string, data []byte) error {
	path := d.Abs(rel)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("%s: %w", rel, err)
	}
	if err := renameio.WriteFile(path, data, 0o644); err != nil {
		if errors.Is(err, syscall.ENOSPC) {
			return fmt.Errorf("%s: %w: free some space and run again; finished work is kept", rel, err)
		}
		return fmt.Errorf("%s: %w", rel, err)
	}
	return nil
}

// WriteJSON writes v as indented JSON.
func (d Dir) WriteJSON(rel string, v any) error {
	data, err := Marshal(v)
	if err != nil {
		return fmt.Errorf("%s: %w", rel, err)
	}
	return d.Write(rel, data)
}

// Marshal is the one way in which this program writes JSON: indented, no HTML
// escapes, a final newline.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// ReadJSON reads rel into v, which must be a pointer to one of this package's
// types. A missing file is fs.ErrNotExist; anything else that cannot be read is
// an error that names the file, never an empty value.
func (d Dir) ReadJSON(rel string, v any) error {
	f, err := os.Open(d.Abs(rel))
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return fmt.Errorf("%s: %w", rel, err)
	}
	return Unmarshal(rel, data, v)
}

// Unmarshal reads JSON of a run directory into v and checks its schema number
// and its figures. The file's name stands in errors.
func Unmarshal(name string, data []byte, v any) error {
	if len(data) > maxFile {
		return fmt.Errorf("%s: over %d bytes", name, maxFile)
	}
	var head struct {
		Schema *int `json:"schema"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("%s: %w: not a file of this program, or damaged; delete it to have it made again", name, err)
	}
	if head.Schema == nil || *head.Schema < 1 || *head.Schema > Schema {
		return fmt.Errorf("%s: schema %s; this program reads schemas 1 to %d", name, schemaText(head.Schema), Schema)
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if c, ok := v.(interface{ Check() error }); ok {
		if err := c.Check(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func schemaText(n *int) string {
	if n == nil {
		return "missing"
	}
	return fmt.Sprint(*n)
}

// Digest is the hex SHA-256 over parts, each preceded by its length, so that
// no two lists of parts give the same bytes.
func Digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d\n%s\n", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// FileDigest is the hex SHA-256 of a file's bytes.
func FileDigest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

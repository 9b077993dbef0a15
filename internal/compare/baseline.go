package compare

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
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"

	"github.com/ngcc/bench-action/internal/catalog"
	"github.com/ngcc/bench-action/internal/host"
)

// BaselineSchema is the schema number of baseline files that this program
// writes and the newest it reads.
const BaselineSchema = 1

// Where a baseline's figures come from.
const (
	OriginPublished = "published, submitters' reference code"
	OriginAccepted  = "accepted"
)

// Baseline is baseline/<system>.json: the accepted figures of one system. The
// file has one cell a line, so that a review shows one line a cell.
type Baseline struct {
	Schema      int              `json:"schema"`
	System      string           `json:"system"`
	Origin      string           `json:"origin" jsonschema:"description=published or accepted"`
	Precision   string           `json:"precision,omitempty" jsonschema:"description=how exact the figures are"`
	Reason      string           `json:"reason" jsonschema:"description=why these figures were accepted"`
	Commit      string           `json:"commit,omitempty" jsonschema:"description=git commit that was measured, with -dirty where the checkout had changes"`
	Date        string           `json:"date,omitempty" jsonschema:"description=day of the measurement, YYYY-MM-DD"`
	Tool        string           `json:"tool,omitempty" jsonschema:"description=name and version of the program that measured"`
	Fingerprint host.Fingerprint `json:"fingerprint"`
	Counter     host.Counter     `json:"counter" jsonschema:"description=what the ticks are"`
	Cells       []BaselineCell   `json:"cells"`
}

// BaselineCell is the accepted figure of one cell, in ticks of the baseline's
// counter.
type BaselineCell struct {
	Key    Key     `json:"key"`
	Mean   float64 `json:"mean" jsonschema:"description=ticks a call: all ticks / all calls"`
	Low    float64 `json:"low,omitempty" jsonschema:"description=ticks a call: median over trials of the low quantile; absent when not known"`
	Spread float64 `json:"spread,omitempty" jsonschema:"description=standard deviation over trials of ln of the trial's figure; absent when not known"`
	Trials int     `json:"trials"`
	Code   string  `json:"code,omitempty" jsonschema:"description=code digest; absent when not known"`
	Note   string  `json:"note,omitempty" jsonschema:"description=precision of this cell where it differs"`
}

// Cell finds the accepted figure of key.
func (b *Baseline) Cell(key Key) (BaselineCell, bool) {
	i, ok := slices.BinarySearchFunc(b.Cells, key, func(c BaselineCell, k Key) int { return c.Key.Compare(k) })
	if !ok {
		return BaselineCell{}, false
	}
	return b.Cells[i], true
}

// Digest is the SHA-256 of b's file, in hex. It fails as Format does.
func (b *Baseline) Digest() (string, error) {
	data, err := b.Format()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// Format gives the one way in which b is written: header fields a line each,
// then one cell a line. It refuses what ParseBaseline would refuse.
func (b *Baseline) Format() ([]byte, error) {
	if err := b.check(); err != nil {
		return nil, fmt.Errorf("baseline %s: %w", b.System, err)
	}
	header := *b
	header.Cells = []BaselineCell{}
	head, err := marshal(header, "  ")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString(strings.TrimSuffix(string(head), "[]\n}"))
	out.WriteString("[")
	for i, c := range b.Cells {
		line, err := marshal(c, "")
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out.WriteString(",")
		}
		out.WriteString("\n    ")
		out.Write(line)
	}
	out.WriteString("\n  ]\n}\n")
	return out.Bytes(), nil
}

// marshal is JSON without HTML escapes and without a final newline.
func marshal(v any, indent string) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// ReadBaseline reads one baseline file of fsys, at most MaxBaselineBytes of it.
// The file's name must be its system's. A file that is there and cannot be read
// is an error, never an empty baseline.
func ReadBaseline(fsys fs.FS, name string) (*Baseline, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, fmt.Errorf("baseline: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxBaselineBytes+1))
	if err != nil {
		return nil, fmt.Errorf("baseline %s: %w", name, err)
	}
	b, err := ParseBaseline(name, data)
	if err != nil {
		return nil, err
	}
	if want := b.System + ".json"; path.Base(name) != want {
		return nil, fmt.Errorf("%s: holds system %q: name the file %s or mend its system", name, b.System, want)
	}
	return b, nil
}

// ReadBaselines reads every baseline/*.json of a data root, in the systems'
// natural order. A root without the folder has no baselines; a file that cannot
// be read fails the whole.
func ReadBaselines(root fs.FS) ([]Baseline, error) {
	entries, err := fs.ReadDir(root, "baseline")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("baseline folder: %w", err)
	}
	var all []Baseline
	for _, e := range entries {
		if e.IsDir() || path.Ext(e.Name()) != ".json" {
			continue
		}
		b, err := ReadBaseline(root, path.Join("baseline", e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, *b)
	}
	slices.SortFunc(all, func(x, y Baseline) int { return catalog.NaturalCompare(x.System, y.System) })
	return all, nil
}

// WriteBaseline writes next to file whole, in place of old. It refuses when the
// file no longer holds old (nil: when there is a file), so that nothing
// unreadable and nobody else's figures are overwritten.
func WriteBaseline(file string, old, next *Baseline) error {
	data, err := next.Format()
	if err != nil {
		return err
	}
	if want := next.System + ".json"; filepath.Base(file) != want {
		return fmt.Errorf("%s: the baseline of %s belongs in %s", file, next.System, want)
	}
	present, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if old != nil {
			return fmt.Errorf("%s: gone since it was read: restore it and accept again", file)
		}
	case err != nil:
		return fmt.Errorf("not overwriting %s: %w", file, err)
	default:
		if err := sameBaseline(file, present, old); err != nil {
			return err
		}
	}
	if err := renameio.WriteFile(file, data, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}

// sameBaseline says whether a file's bytes hold old.
func sameBaseline(file string, present []byte, old *Baseline) error {
	now, err := ParseBaseline(file, present)
	if err != nil {
		return fmt.Errorf("not overwriting a file that cannot be read: %w", err)
	}
	if old == nil {
		return fmt.Errorf("%s: already there: read it first", file)
	}
	was, err := old.Digest()
	if err != nil {
		return err
	}
	if is, err := now.Digest(); err != nil || is != was {
		return fmt.Errorf("%s: changed since it was read: accept again", file)
	}
	return nil
}

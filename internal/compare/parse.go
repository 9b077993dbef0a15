package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ngcc/bench-action/internal/host"
	"github.com/ngcc/bench-action/internal/stats"
)

// Bounds of a baseline file: a data root comes from a pull request as well.
const (
	MaxBaselineBytes = 1 << 20
	maxBaselineCells = 4096
	maxTextBytes     = 1000
	maxTrials        = 1_000_000
)

var (
	systemForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)
	commitForm = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?(-dirty)?$`)
	digestForm = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// ParseBaseline reads the text of a baseline file; name is for errors, which
// say file:line:column and what to do. It is strict: fields that it does not
// know, twice or in another order, numbers written in another way, cells out of
// order and figures that cannot be are refused. Space between tokens is free,
// so a checkout that converts line ends is harmless.
func ParseBaseline(name string, data []byte) (*Baseline, error) {
	at := func(offset int64, err error) error { return fmt.Errorf("%s:%s: %w", name, place(data, offset), err) }
	if len(data) > MaxBaselineBytes {
		return nil, fmt.Errorf("%s: larger than %d bytes: not a baseline", name, MaxBaselineBytes)
	}
	if err := newerSchema(data); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var b Baseline
	if err := dec.Decode(&b); err != nil {
		return nil, at(errorOffset(data, dec, err), plainJSONError(err))
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, at(dec.InputOffset(), errors.New("text after the baseline: remove it"))
	}
	if err := b.check(); err != nil {
		var in *cellError
		if errors.As(err, &in) {
			return nil, at(cellOffset(data, in.index), err)
		}
		return nil, at(0, err)
	}
	canonical, err := b.Format()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if offset, ok := firstDifference(data, canonical); ok {
		return nil, at(offset, errors.New("not as this program writes it (a field twice, out of order or misspelt, or a number in another form)"))
	}
	return &b, nil
}

// newerSchema refuses files of a later program before their fields are called
// unknown.
func newerSchema(data []byte) error {
	var head struct {
		Schema int `json:"schema"`
	}
	if json.Unmarshal(data, &head) == nil && head.Schema > BaselineSchema {
		return fmt.Errorf("schema %d is newer than this program's %d: update the program", head.Schema, BaselineSchema)
	}
	return nil
}

// cellError is an error in one cell.
type cellError struct {
	index int
	err   error
}

func (e *cellError) Error() string { return e.err.Error() }
func (e *cellError) Unwrap() error { return e.err }

// check refuses a baseline that cannot be written or compared with.
func (b *Baseline) check() error {
	if b.Schema != BaselineSchema {
		return fmt.Errorf("schema %d is not known: this program reads %d", b.Schema, BaselineSchema)
	}
	if !systemForm.MatchString(b.System) {
		return fmt.Errorf("system %.80q is not a name: use lower-case letters, digits and _", b.System)
	}
	switch b.Counter {
	case host.CoreCycles, host.TSC, host.CNTVCT, host.Clock:
	default:
		return fmt.Errorf("counter %.40q is not known: it says what the ticks are", b.Counter)
	}
	if b.Fingerprint.Counter != b.Counter {
		return fmt.Errorf("counter %s and the fingerprint's %.40q differ", b.Counter, b.Fingerprint.Counter)
	}
	if err := b.checkHeader(); err != nil {
		return err
	}
	if len(b.Cells) == 0 || len(b.Cells) > maxBaselineCells {
		return fmt.Errorf("%d cells: a baseline has 1 to %d", len(b.Cells), maxBaselineCells)
	}
	for i, c := range b.Cells {
		if err := c.check(); err != nil {
			return &cellError{i, err}
		}
		if i > 0 && b.Cells[i-1].Key.Compare(c.Key) >= 0 {
			return &cellError{i, fmt.Errorf("%s after %s: cells are in natural order, each once", c.Key, b.Cells[i-1].Key)}
		}
	}
	return nil
}

func (b *Baseline) checkHeader() error {
	if b.Origin != OriginPublished && b.Origin != OriginAccepted {
		return fmt.Errorf("origin %.80q: want %q or %q", b.Origin, OriginPublished, OriginAccepted)
	}
	f := b.Fingerprint
	for _, text := range [][2]string{
		{"precision", b.Precision}, {"reason", b.Reason}, {"tool", b.Tool},
		{"arch", f.Arch}, {"cpu_model", f.CPUModel}, {"core_type", f.CoreType}, {"microcode", f.Microcode},
		{"compiler", f.Compiler}, {"libc", f.Libc}, {"driver", f.Driver}, {"clock policy", f.Clock.Policy},
	} {
		if err := plainText(text[1]); err != nil {
			return fmt.Errorf("%s: %w", text[0], err)
		}
	}
	if strings.TrimSpace(b.Reason) == "" {
		return errors.New("reason is empty: say why these figures were accepted")
	}
	if b.Commit != "" && !commitForm.MatchString(b.Commit) {
		return fmt.Errorf("commit %.80q is not a full commit id", b.Commit)
	}
	if _, err := time.Parse(time.DateOnly, b.Date); b.Date != "" && err != nil {
		return fmt.Errorf("date %.40q: write it YYYY-MM-DD", b.Date)
	}
	if b.Origin == OriginAccepted && (b.Date == "" || b.Tool == "") {
		return errors.New("an accepted baseline needs date and tool")
	}
	if f.Clock.KHz < 0 {
		return fmt.Errorf("clock of %d kHz", f.Clock.KHz)
	}
	return nil
}

func (c BaselineCell) check() error {
	if _, err := ParseKey(c.Key.String()); err != nil {
		return err
	}
	if err := stats.CheckFigure(c.Mean); err != nil {
		return fmt.Errorf("%s: mean: %w", c.Key, err)
	}
	if c.Low != 0 {
		if err := stats.CheckFigure(c.Low); err != nil {
			return fmt.Errorf("%s: low: %w", c.Key, err)
		}
	}
	if math.IsNaN(c.Spread) || c.Spread < 0 || c.Spread > 10 {
		return fmt.Errorf("%s: spread %g is not a standard deviation of logarithms", c.Key, c.Spread)
	}
	if c.Trials < 1 || c.Trials > maxTrials {
		return fmt.Errorf("%s: %d trials", c.Key, c.Trials)
	}
	if c.Code != "" && !digestForm.MatchString(c.Code) {
		return fmt.Errorf("%s: code %.80q is not a SHA-256", c.Key, c.Code)
	}
	if err := plainText(c.Note); err != nil {
		return fmt.Errorf("%s: note: %w", c.Key, err)
	}
	return nil
}

// plainText refuses what a header line cannot be: overlong, not UTF-8, with
// control or invisible direction characters.
func plainText(s string) error {
	if len(s) > maxTextBytes {
		return fmt.Errorf("%d bytes long: at most %d", len(s), maxTextBytes)
	}
	if !utf8.ValidString(s) {
		return errors.New("not UTF-8")
	}
	for _, r := range s {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) {
			return fmt.Errorf("holds the unprintable character %U", r)
		}
	}
	return nil
}

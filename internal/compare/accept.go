package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ngcc/bench-action/internal/host"
	"github.com/ngcc/bench-action/internal/records"
	"github.com/ngcc/bench-action/internal/stats"
)

// Acceptance is what a person says when accepting figures.
type Acceptance struct {
	System    string // for a first baseline; else empty or the old one's
	Reason    string // why; required
	Commit    string // full commit id that was measured, with -dirty for a checkout with changes; empty when not known
	Precision string // a note; empty for measured figures
}

// Accepted is a new baseline and all that is different in it. No cell vanishes
// without being in Dropped.
type Accepted struct {
	Baseline *Baseline
	Replaced []Key    // had a figure and got another
	Added    []Key    // had none
	Kept     []Key    // not in the run, fingerprints equal
	Dropped  []Key    // not in the run and no longer comparable, or no longer in the catalogue
	Refused  []string // cells of the run without an acceptable figure, and why
}

// Accept makes run's figures the baseline of its system. The cells that the run
// measured replace those of old. The rest are kept when the fingerprints of old
// and run are equal; otherwise they could no longer be compared together, so
// they are dropped and listed. Cells that catalogue does not have are dropped
// too; a nil catalogue is not known and drops none. old is nil for a first
// baseline, and is not changed.
//
// Errors: no reason, no system, a fingerprint with unknown fields (it could
// never be compared with), figures of several fingerprints, nothing acceptable.
func Accept(old *Baseline, run records.Run, cells []records.Record, catalogue []Key, a Acceptance) (*Accepted, error) {
	next, err := acceptedHeader(old, run, a)
	if err != nil {
		return nil, err
	}
	result := &Accepted{Baseline: next}
	fresh := map[Key]BaselineCell{}
	for _, r := range cells {
		if why := refusal(r, run.Fingerprint); why != "" {
			result.Refused = append(result.Refused, KeyOf(r).String()+": "+why)
			continue
		}
		if _, twice := fresh[KeyOf(r)]; twice {
			return nil, fmt.Errorf("accept: two records of %s: give the records of one run", KeyOf(r))
		}
		fresh[KeyOf(r)] = baselineCell(r)
	}
	if len(fresh) == 0 {
		return nil, fmt.Errorf("accept: no acceptable figure in the run: %s", firstOf(result.Refused))
	}
	result.merge(old, fresh, catalogue, run.Fingerprint)
	for _, c := range fresh {
		next.Cells = append(next.Cells, c)
	}
	slices.SortFunc(next.Cells, func(x, y BaselineCell) int { return x.Key.Compare(y.Key) })
	for _, keys := range [][]Key{result.Replaced, result.Added, result.Kept, result.Dropped} {
		slices.SortFunc(keys, Key.Compare)
	}
	if err := next.check(); err != nil {
		return nil, fmt.Errorf("accept: %w", err)
	}
	return result, nil
}

func firstOf(reasons []string) string {
	if len(reasons) == 0 {
		return "it has no records; measure first"
	}
	return reasons[0]
}

// acceptedHeader is the new baseline without its cells.
func acceptedHeader(old *Baseline, run records.Run, a Acceptance) (*Baseline, error) {
	if strings.TrimSpace(a.Reason) == "" {
		return nil, errors.New("accept: a reason is needed: say why these figures are right")
	}
	if old != nil {
		if a.System != "" && a.System != old.System {
			return nil, fmt.Errorf("accept: system %q is not that of the baseline, %s", a.System, old.System)
		}
		a.System = old.System
	}
	if a.System == "" {
		return nil, errors.New("accept: the system has no name: give one for its first baseline")
	}
	if missing := Unknown(run.Fingerprint); len(missing) > 0 {
		return nil, fmt.Errorf("accept: %s not known on this machine: figures could never be compared with these",
			strings.Join(missing, ", "))
	}
	measured := run.Finished
	if measured.IsZero() {
		measured = run.Started
	}
	return &Baseline{
		Schema: BaselineSchema, System: a.System, Origin: OriginAccepted, Precision: a.Precision,
		Reason: a.Reason, Commit: a.Commit, Date: measured.UTC().Format(time.DateOnly),
		Tool:        strings.TrimSpace(run.Tool.Name + " " + run.Tool.Version),
		Fingerprint: run.Fingerprint, Counter: run.Fingerprint.Counter,
	}, nil
}

// refusal says why a record's figure cannot be accepted, or nothing.
func refusal(r records.Record, fp host.Fingerprint) string {
	if _, err := ParseKey(KeyOf(r).String()); err != nil {
		return err.Error()
	}
	if why := recordFault(r); why != "" {
		return why
	}
	if r.KAT != records.GatePass {
		return "KAT " + known(r.KAT)
	}
	if d := Differences(fp, r.Fingerprint); len(d) > 0 {
		return "measured otherwise than the run: " + strings.Join(d, "; ")
	}
	return ""
}

// baselineCell is the figure of a complete record.
func baselineCell(r records.Record) BaselineCell {
	return BaselineCell{
		Key: KeyOf(r), Mean: r.Summary.MeanTicks, Low: r.Summary.LowTicks,
		Spread: RoundSpread(spreadOf(r)), Trials: len(r.Trials), Code: r.CodeDigest,
	}
}

// merge sorts the cells of old into those to keep, replace and drop.
func (a *Accepted) merge(old *Baseline, fresh map[Key]BaselineCell, catalogue []Key, fp host.Fingerprint) {
	had := map[Key]bool{}
	if old != nil {
		comparable := len(Differences(old.Fingerprint, fp)) == 0
		for _, c := range old.Cells {
			had[c.Key] = true
			_, replaced := fresh[c.Key]
			gone := catalogue != nil && !slices.Contains(catalogue, c.Key)
			switch {
			case replaced:
				a.Replaced = append(a.Replaced, c.Key)
			case !comparable || gone:
				a.Dropped = append(a.Dropped, c.Key)
			default:
				a.Kept = append(a.Kept, c.Key)
				a.Baseline.Cells = append(a.Baseline.Cells, c)
			}
		}
	}
	if len(a.Kept) > 0 {
		// Clocks within 1 % are equal: keep the old one, or the tolerance
		// would creep from one acceptance to the next.
		a.Baseline.Fingerprint.Clock = old.Fingerprint.Clock
	}
	for k := range fresh {
		if !had[k] {
			a.Added = append(a.Added, k)
		}
	}
}

// RoundSpread rounds a spread to 1e-6, far below what a spread can mean, so
// that the last bits of a logarithm never reach a file. NaN, an infinity, zero
// or a negative spread is not known: 0.
func RoundSpread(s float64) float64 {
	if stats.CheckFigure(s) != nil {
		return 0
	}
	return math.Max(round6(s), leastSpread)
}

// leastSpread stands for trials that agree to the last tick: a spread of 0 would
// read as one that is not known.
const leastSpread = 1e-6

// spreadOf is the spread of a complete record's trials; 0, not known, for a
// single trial.
func spreadOf(r records.Record) float64 {
	if len(r.Trials) < 2 {
		return 0
	}
	return math.Max(r.Summary.Spread, leastSpread)
}

package compare

import (
	"math"

	"github.com/ngcc/bench-action/internal/host"
)

// DiffSchema is the schema number of diff.json.
const DiffSchema = 1

// Diff is diff.json: what each cell of a run got, and why.
type Diff struct {
	Schema     int        `json:"schema"`
	Inputs     string     `json:"inputs" jsonschema:"description=SHA-256 over everything that the verdicts follow from"`
	System     string     `json:"system,omitempty" jsonschema:"description=the registered system; absent when the machine is none"`
	Base       Base       `json:"base"`
	Thresholds Thresholds `json:"thresholds"`
	Outcome    Outcome    `json:"outcome"`
	Drift      *Drift     `json:"drift,omitempty" jsonschema:"description=how figures of unchanged code moved; absent where there are none"`
	Advice     string     `json:"advice,omitempty" jsonschema:"description=what to do about it"`
	Cells      []Cell     `json:"cells"`
}

// Kinds of base.
const (
	BaseNone   = "none"
	BaseStored = "stored baseline"
	BaseBeside = "side by side"
)

// Base describes what the run was held against.
type Base struct {
	Kind       string   `json:"kind" jsonschema:"description=none, stored baseline, or how else base figures were taken"`
	System     string   `json:"system,omitempty"`
	Origin     string   `json:"origin,omitempty"`
	Commit     string   `json:"commit,omitempty"`
	Date       string   `json:"date,omitempty"`
	Digest     string   `json:"digest,omitempty" jsonschema:"description=SHA-256 of the baseline file; side by side: over the base's builds and all comparisons"`
	Comparable bool     `json:"comparable"`
	Differs    []string `json:"differs,omitempty" jsonschema:"description=what keeps the run from being compared with it"`
	Reason     string   `json:"reason,omitempty" jsonschema:"description=why there is no base, or none that is comparable"`
}

// Statistics that a ratio can be of. Both sides of a ratio use the same.
const (
	StatisticLow   = "low"
	StatisticMean  = "mean"
	StatisticQuiet = "quiet"
)

// Figure is one side of a comparison, in ticks a call of its counter.
type Figure struct {
	Mean    float64      `json:"mean" jsonschema:"description=all ticks / all calls; 0 where only side by side was measured"`
	Low     float64      `json:"low,omitempty" jsonschema:"description=median over trials of the low quantile"`
	Quiet   float64      `json:"quiet,omitempty" jsonschema:"description=side by side: median over processes of the median of quiet blocks"`
	Spread  float64      `json:"spread,omitempty" jsonschema:"description=standard deviation over trials of ln; absent when not known"`
	Trials  int          `json:"trials"`
	Counter host.Counter `json:"counter"`
	Unit    string       `json:"unit" jsonschema:"description=what a tick is called"`
	Code    string       `json:"code,omitempty" jsonschema:"description=code digest; absent when not known"`
}

// Cell is one cell's verdict and what it follows from. Head is present when the
// run has a valid figure, Base when there is a comparable one; Ratio is head
// over base, of Statistic.
type Cell struct {
	Key          Key     `json:"key"`
	Candidate    string  `json:"candidate"`
	Label        string  `json:"label"`
	Operation    string  `json:"operation"`
	MessageBytes int     `json:"message_bytes"`
	Verdict      Verdict `json:"verdict"`
	Reason       string  `json:"reason,omitempty"`
	Base         *Figure `json:"base,omitempty"`
	Head         *Figure `json:"head,omitempty"`
	Statistic    string  `json:"statistic,omitempty" jsonschema:"enum=low,enum=mean,enum=quiet"`
	Ratio        float64 `json:"ratio,omitempty" jsonschema:"description=head / base; above 1 is slower"`
	Limit        float64 `json:"limit,omitempty" jsonschema:"description=part by which the ratio may leave 1 without being noticed"`
	Beside       *Beside `json:"side_by_side,omitempty" jsonschema:"description=what a comparison with the base in one process has shown"`
}

// Drift says how the figures of unchanged code moved against the baseline. That
// is the host's doing, or the driver's, never the code's.
type Drift struct {
	Cells   int     `json:"cells"`
	Ratio   float64 `json:"ratio" jsonschema:"description=geometric mean of head / base"`
	Outside int     `json:"outside" jsonschema:"description=cells outside their own limit"`
}

// Thresholds are the numbers of the stored-baseline rule (spec/comparison.md,
// Deciding: where no base is known, suspect at best). Parts, not percent.
type Thresholds struct {
	// MinEffect is the least slowdown that is ever suspect.
	MinEffect float64 `json:"min_effect"`
	// Sigmas is how many standard deviations of the difference a ratio must
	// leave 1 by.
	Sigmas float64 `json:"sigmas"`
	// SpreadFloor is the least spread that a figure is credited with: the
	// median spread between trials on a fixed, quiet host (published/README.md,
	// Traps).
	SpreadFloor float64 `json:"spread_floor"`
	// UnknownSpread stands in where no spread is known: the worst seen on a
	// fixed, quiet host (the same place).
	UnknownSpread float64 `json:"unknown_spread"`
	// MinTrials is the least number of trials for a verdict on speed.
	MinTrials int `json:"min_trials"`
	// MaxLimit is the widest limit within which a cell may be called unchanged:
	// beyond it the figures are too uncertain to say so.
	MaxLimit float64 `json:"max_limit"`
}

// DefaultThresholds are used where Input has none.
var DefaultThresholds = Thresholds{
	MinEffect: 0.02, Sigmas: 4, SpreadFloor: 0.005, UnknownSpread: 0.035, MinTrials: 5, MaxLimit: 0.10,
}

// lnLimit is the ln ratio that a cell may show without being noticed:
// max(ln(1 + MinEffect), Sigmas·sqrt(sb² + sh²)), spreads floored.
func (t Thresholds) lnLimit(base, head Figure) float64 {
	sb, sh := t.spread(base), t.spread(head)
	return math.Max(math.Log1p(t.MinEffect), t.Sigmas*math.Sqrt(float64(sb*sb)+float64(sh*sh)))
}

func (t Thresholds) spread(f Figure) float64 {
	if f.Spread <= 0 || f.Trials < 2 {
		return math.Max(t.UnknownSpread, t.SpreadFloor)
	}
	return math.Max(f.Spread, t.SpreadFloor)
}

// round6 rounds to six decimals: numbers that come from logarithms are written
// so, since the last bits of a logarithm differ between architectures.
func round6(x float64) float64 { return math.Round(x*1e6) / 1e6 }

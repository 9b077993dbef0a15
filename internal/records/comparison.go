package records

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ngcc/bench-action/internal/host"
)

// PairFileName is the comparison of a cell with its base.
func PairFileName(candidate, label string, bytes int) string {
	return fmt.Sprintf("pairs/%s/%s__hash_%d.json", candidate, label, bytes)
}

// PairBlocksFileName holds every block of a cell's comparison.
func PairBlocksFileName(candidate, label string, bytes int) string {
	return fmt.Sprintf("pairs/%s/%s__hash_%d.csv.gz", candidate, label, bytes)
}

// Comparison is pairs/<candidate>/<label>__hash_<bytes>.json: how one cell's
// head was held against its base, side by side (docs/comparison.md). Side A of
// every pair is the base, side B the head. Ratios are natural logarithms of
// head / base, so above 0 is slower. Everything follows from the blocks' file,
// the settings and the other comparisons of the run.
type Comparison struct {
	Schema       int    `json:"schema"`
	Inputs       string `json:"inputs" jsonschema:"description=SHA-256 over both libraries, driver, settings, host and the run's other cells"`
	Candidate    string `json:"candidate"`
	Name         string `json:"name"`
	Instance     string `json:"instance"`
	Variant      string `json:"variant"`
	Label        string `json:"label"`
	Operation    string `json:"operation" jsonschema:"description=hash_<message bytes>"`
	MessageBytes int    `json:"message_bytes"`

	Base     ComparedSide `json:"base"`
	Head     ComparedSide `json:"head"`
	Settings PairSettings `json:"settings"`
	Index    int          `json:"index" jsonschema:"description=place among the cells planned for the run, from 0"`

	Verdict string `json:"verdict,omitempty" jsonschema:"description=absent while measuring is unfinished"`
	Reason  string `json:"reason,omitempty"`
	Call    string `json:"call,omitempty" jsonschema:"enum=slower,enum=faster,description=what the sequential test says before placement and confirmation"`
	Final   bool   `json:"final,omitempty" jsonschema:"description=false: a larger budget could say more"`

	Counter        host.Counter  `json:"counter,omitempty"`
	CounterNote    string        `json:"counter_note,omitempty" jsonschema:"description=why a better counter was not used"`
	Evaluated      PairLevel     `json:"evaluated" jsonschema:"description=what told quiet blocks from busy ones in the figures below"`
	Estimate       *PairEstimate `json:"estimate,omitempty" jsonschema:"description=of the mean of y over counted processes, 95 %"`
	Busy           *PairEstimate `json:"busy,omitempty" jsonschema:"description=the same of the busy blocks, 99 %; decides nothing"`
	BusyDisagrees  bool          `json:"busy_disagrees,omitempty" jsonschema:"description=quiet and busy blocks show different ratios, beyond both 99 % intervals"`
	QuietShare     float64       `json:"quiet_share" jsonschema:"description=part of all blocks that were quiet"`
	SmallestEffect float64       `json:"smallest_effect,omitempty" jsonschema:"description=too few samples: the least part of a change that would have been called with 95 % power"`
	BaseFigure     *PairFigure   `json:"base_figure,omitempty" jsonschema:"description=median over counted processes"`
	HeadFigure     *PairFigure   `json:"head_figure,omitempty"`

	Processes    []PairProcess `json:"processes"`
	Looks        []PairLook    `json:"looks,omitempty"`
	Placement    *Placement    `json:"placement,omitempty"`
	Confirmation *Confirmation `json:"confirmation,omitempty"`
	Fault        *PairFault    `json:"fault,omitempty"`
	TooSlow      bool          `json:"too_slow,omitempty" jsonschema:"description=enough blocks do not fit into the longest process"`

	Blocks       string           `json:"blocks,omitempty" jsonschema:"description=file of all blocks, relative to the run directory"`
	BlocksDigest string           `json:"blocks_digest,omitempty"`
	Fingerprint  host.Fingerprint `json:"fingerprint"`
}

// ComparedSide is one side's library.
type ComparedSide struct {
	CodeDigest    string `json:"code_digest"`
	LibraryDigest string `json:"library_digest"`
}

// PairSettings are the numbers of the rule that a comparison followed.
type PairSettings struct {
	Seed            uint64    `json:"seed"`
	CPU             int       `json:"cpu"`
	Counter         string    `json:"counter" jsonschema:"description=auto, or the one that was forced"`
	MinNs           int64     `json:"min_ns" jsonschema:"description=least time in batches of a process"`
	MaxNs           int64     `json:"max_ns" jsonschema:"description=what min_ns may be raised to where blocks are long"`
	BatchNs         int64     `json:"batch_ns"`
	BatchTicks      int64     `json:"batch_ticks"`
	WarmupCalls     int       `json:"warmup_calls"`
	MinEffect       float64   `json:"min_effect" jsonschema:"description=part below which a change does not matter"`
	Alpha           float64   `json:"alpha" jsonschema:"description=chance of any false call in the run"`
	UnchangedMargin float64   `json:"unchanged_margin"`
	SDFloor         float64   `json:"sd_floor" jsonschema:"description=least standard deviation that a process's y is credited with"`
	Cells           int       `json:"cells" jsonschema:"description=cells planned for the run"`
	Looks           []int     `json:"looks" jsonschema:"description=counted processes at which is decided"`
	Shares          []float64 `json:"shares" jsonschema:"description=of alpha that each look spends"`
	Tries           int       `json:"tries" jsonschema:"description=a look waits for at most so many times its processes"`
	MinQuiet        int       `json:"min_quiet" jsonschema:"description=quiet blocks without which a process does not count"`
	QuietQuantile   float64   `json:"quiet_quantile" jsonschema:"description=of all probes of the run so far, the quiet level"`
	QuietTolerance  float64   `json:"quiet_tolerance"`
	Pads            []int     `json:"pads" jsonschema:"description=bytes of code put in front in the placement check"`
	PadProcesses    int       `json:"pad_processes" jsonschema:"description=counted processes for each pad and side"`
	MinPads         int       `json:"min_pads" jsonschema:"description=pads with a ratio without which placement is not known"`
	ConfirmPairs    []int     `json:"confirm_pairs" jsonschema:"description=pairs of separate processes after which agreement is judged"`
}

// PairLevel is what told quiet blocks from busy ones at one moment of the run.
type PairLevel struct {
	Order int     `json:"order" jsonschema:"description=the last process of the run before that moment; 0: none"`
	Level float64 `json:"level" jsonschema:"description=quantile of all probes of the run up to that process, in ticks"`
}

// PairEstimate is a mean over processes with its interval, in ln ratio.
type PairEstimate struct {
	N     int     `json:"n" jsonschema:"description=processes, or pairs of them"`
	Mean  float64 `json:"mean"`
	SD    float64 `json:"sd"`
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
	Level float64 `json:"level" jsonschema:"description=0.95 or 0.99"`
}

// PairFigure is the cost of one side, medians over blocks.
type PairFigure struct {
	TicksPerByte float64 `json:"ticks_per_byte"`
	NsPerByte    float64 `json:"ns_per_byte"`
	Instructions float64 `json:"instructions,omitempty" jsonschema:"description=a call; absent where not counted"`
}

// PairProcess is one driver process. In the confirmation it has one side only,
// and A is that side.
type PairProcess struct {
	Order       int         `json:"order" jsonschema:"description=place among all processes of the run, from 1; names its blocks"`
	Seed        uint64      `json:"seed"`
	Started     time.Time   `json:"started"`
	CPU         int         `json:"cpu"`
	Migrated    bool        `json:"migrated,omitempty"`
	LoadedFirst string      `json:"loaded_first,omitempty" jsonschema:"enum=A,enum=B"`
	MinNs       int64       `json:"min_ns"`
	CallsA      uint64      `json:"calls_a" jsonschema:"description=calls a batch"`
	CallsB      uint64      `json:"calls_b,omitempty"`
	Blocks      int         `json:"blocks"`
	Quiet       int         `json:"quiet" jsonschema:"description=quiet blocks"`
	Counted     bool        `json:"counted" jsonschema:"description=it has enough quiet blocks"`
	Level       float64     `json:"level" jsonschema:"description=quiet level by which its blocks were judged, in ticks"`
	Y           float64     `json:"y" jsonschema:"description=median ln ratio of quiet blocks; one side only: ln of ticks a call; 0 where not counted"`
	BusyY       float64     `json:"busy_y,omitempty" jsonschema:"description=the same of busy blocks; absent without any"`
	QuietA      *PairFigure `json:"quiet_a,omitempty"`
	QuietB      *PairFigure `json:"quiet_b,omitempty"`
	BusyA       *PairFigure `json:"busy_a,omitempty"`
	BusyB       *PairFigure `json:"busy_b,omitempty"`
}

// PairLook is one look of the sequential test at this cell.
type PairLook struct {
	Look int `json:"look" jsonschema:"description=counted processes"`
	PairLevel
	SlowerP  float64      `json:"slower_p" jsonschema:"description=one-sided, before Holm"`
	FasterP  float64      `json:"faster_p"`
	Alpha    float64      `json:"alpha" jsonschema:"description=what this look spends"`
	Call     string       `json:"call,omitempty" jsonschema:"enum=slower,enum=faster"`
	Estimate PairEstimate `json:"estimate"`
}

// Placement is the check against moved code.
type Placement struct {
	PairLevel
	Base     []PadRatio `json:"base" jsonschema:"description=the base against itself with code put in front"`
	Head     []PadRatio `json:"head"`
	Lo       float64    `json:"lo" jsonschema:"description=least ln ratio of base, or 0"`
	Hi       float64    `json:"hi" jsonschema:"description=greatest ln ratio of base, or 0"`
	HeadLo   float64    `json:"head_lo"`
	HeadHi   float64    `json:"head_hi"`
	Note     string     `json:"note,omitempty" jsonschema:"description=why placement is not known"`
	Skipped  bool       `json:"skipped,omitempty" jsonschema:"description=there are no sources to relink, so the call stands without"`
	Complete bool       `json:"complete"`
}

// PadRatio is one side against itself with Pad bytes of code in front.
type PadRatio struct {
	Pad       int           `json:"pad"`
	Counted   int           `json:"counted"`
	LnRatio   float64       `json:"ln_ratio" jsonschema:"description=mean over counted processes of ln(padded / plain)"`
	Processes []PairProcess `json:"processes"`
}

// Confirmation is the second way of measuring: separate processes.
type Confirmation struct {
	PairLevel
	Pairs     []ConfirmPair `json:"pairs"`
	Estimate  *PairEstimate `json:"estimate,omitempty" jsonschema:"description=99 %; absent with fewer than 2 pairs"`
	Disagrees bool          `json:"disagrees,omitempty" jsonschema:"description=sign or size, beyond both 99 % intervals"`
	TooFew    bool          `json:"too_few,omitempty" jsonschema:"description=not enough quiet processes to say"`
	Against   bool          `json:"against,omitempty" jsonschema:"description=its sign is the other one"`
	Complete  bool          `json:"complete"`
}

// ConfirmPair is a process of each side, one after the other.
type ConfirmPair struct {
	HeadFirst bool        `json:"head_first,omitempty"`
	Base      PairProcess `json:"base"`
	Head      PairProcess `json:"head"`
}

// PairFault is what a core did wrong while it was compared.
type PairFault struct {
	Order int    `json:"order" jsonschema:"description=processes of the run that had ended before"`
	Side  string `json:"side,omitempty" jsonschema:"enum=base,enum=head,description=absent where it cannot be told"`
	Text  string `json:"text"`
}

// pairVerdicts are the words a comparison may get; empty: unfinished.
var pairVerdicts = []string{"", "regression", "improvement", "unchanged", "too few samples", "placement", "invalid"}

// Key names the comparison's cell: hash-23/QILIN-512/hash_1024.
func (c *Comparison) Key() string { return c.Candidate + "/" + c.Label + "/" + c.Operation }

// AllProcesses are the processes of pairs, placement check and confirmation.
func (c *Comparison) AllProcesses() []*PairProcess {
	var all []*PairProcess
	for i := range c.Processes {
		all = append(all, &c.Processes[i])
	}
	if c.Placement != nil {
		for _, pads := range [][]PadRatio{c.Placement.Base, c.Placement.Head} {
			for i := range pads {
				for j := range pads[i].Processes {
					all = append(all, &pads[i].Processes[j])
				}
			}
		}
	}
	if c.Confirmation != nil {
		for i := range c.Confirmation.Pairs {
			all = append(all, &c.Confirmation.Pairs[i].Base, &c.Confirmation.Pairs[i].Head)
		}
	}
	return all
}

// Check says whether a comparison can be one. That its figures follow from its
// blocks is for measure.Recompute to say.
func (c *Comparison) Check() error {
	switch {
	case !slices.Contains(pairVerdicts, c.Verdict):
		return fmt.Errorf("verdict: %q", c.Verdict)
	case c.MessageBytes <= 0 || c.Operation != fmt.Sprintf("hash_%d", c.MessageBytes):
		return fmt.Errorf("message_bytes %d of operation %q", c.MessageBytes, c.Operation)
	case c.Verdict == "invalid" && c.Reason == "":
		return errors.New("reason: an invalid comparison says why")
	case c.Call != "" && c.Call != "slower" && c.Call != "faster":
		return fmt.Errorf("call: %q", c.Call)
	case c.Settings.Cells < 1 || c.Index < 0 || c.Index >= c.Settings.Cells:
		return fmt.Errorf("index %d of %d cells", c.Index, c.Settings.Cells)
	case c.Blocks != "" && c.Blocks != PairBlocksFileName(c.Candidate, c.Label, c.MessageBytes),
		strings.ContainsAny(c.Candidate+c.Label, "/\\"), strings.HasPrefix(c.Candidate, "."), strings.HasPrefix(c.Label, "."):
		return fmt.Errorf("blocks: %q is not the file of this cell", c.Blocks)
	case !(c.QuietShare >= 0 && c.QuietShare <= 1):
		return fmt.Errorf("quiet_share: %v", c.QuietShare)
	case !(c.SmallestEffect >= 0):
		return fmt.Errorf("smallest_effect: %v", c.SmallestEffect)
	}
	return c.checkParts()
}

func (c *Comparison) checkParts() error {
	called := c.Verdict == "regression" || c.Verdict == "improvement"
	switch {
	case called && (c.Estimate == nil || c.Call == "" || (c.Verdict == "regression") != (c.Call == "slower")):
		return fmt.Errorf("verdict: %s with the call %q", c.Verdict, c.Call)
	case called && (c.Placement == nil || !c.Placement.Complete || c.Confirmation == nil || !c.Confirmation.Complete):
		return fmt.Errorf("verdict: %s without placement check and confirmation", c.Verdict)
	case c.Verdict == "unchanged" && c.Estimate == nil:
		return errors.New("verdict: unchanged without an estimate")
	}
	seen := map[int]bool{}
	for _, p := range c.AllProcesses() {
		switch {
		case p.Order < 1 || seen[p.Order]:
			return fmt.Errorf("processes: order %d is none, or there twice", p.Order)
		case p.Blocks < 0 || p.Quiet < 0 || p.Quiet > p.Blocks:
			return fmt.Errorf("process %d: %d quiet blocks of %d", p.Order, p.Quiet, p.Blocks)
		}
		seen[p.Order] = true
	}
	for _, e := range []*PairEstimate{c.Estimate, c.Busy} {
		if e != nil && (e.N < 1 || !(e.Lo <= e.Mean && e.Mean <= e.Hi) || math.Abs(e.Mean) > 100) {
			return fmt.Errorf("estimate: %v…%v around %v of %d processes", e.Lo, e.Hi, e.Mean, e.N)
		}
	}
	for i, l := range c.Looks {
		if i > 0 && l.Look <= c.Looks[i-1].Look {
			return fmt.Errorf("looks: %d after %d", l.Look, c.Looks[i-1].Look)
		}
	}
	return nil
}

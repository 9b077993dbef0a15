// Package records holds the file formats of a run directory and the rules for
// reading and writing it: every file is written whole, carries a schema number
// and the digest of what it was made from, and only ever gains fields.
package records

import (
	"time"

	"github.com/ngcc/bench-action/internal/host"
)

// Schema is the schema number that this program writes and the newest it reads.
const Schema = 1

// Run is run.json: what ran, where and when.
type Run struct {
	Schema      int              `json:"schema"`
	Tool        Tool             `json:"tool"`
	Started     time.Time        `json:"started"`
	Finished    time.Time        `json:"finished,omitzero"`
	Options     Options          `json:"options"`
	Root        Root             `json:"root"`
	Base        *Base            `json:"base,omitempty" jsonschema:"description=the commit that was measured beside; absent without one"`
	Seed        uint64           `json:"seed,omitempty" jsonschema:"description=of all that was random in the run"`
	System      string           `json:"system,omitempty" jsonschema:"description=the registered system that was given or recognised"`
	Host        host.Facts       `json:"host"`
	Fingerprint host.Fingerprint `json:"fingerprint"`
}

// Tool says which program wrote a file.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Go      string `json:"go"`
}

// Root says which data root the figures belong to.
type Root struct {
	Kind   string `json:"kind" jsonschema:"enum=directory,enum=embedded,enum=none,description=none: two cores named on the command line"`
	Commit string `json:"commit,omitempty" jsonschema:"description=git commit of the data root, 40 hex digits"`
	Dirty  bool   `json:"dirty,omitempty" jsonschema:"description=the checkout had changes that are not committed"`
}

// Base says which commit a run was compared with, and what needed no
// measuring. Labels are written hash-23/QILIN-512.
type Base struct {
	Ref    string   `json:"ref" jsonschema:"description=as it was given"`
	Commit string   `json:"commit"`
	Same   []string `json:"same,omitempty" jsonschema:"description=labels made from equal sources and flags by the same compiler"`
	Gone   []string `json:"gone,omitempty" jsonschema:"description=labels that only the base has"`
}

// Options are the choices that shaped a run, after defaults.
type Options struct {
	Candidates []string `json:"candidates,omitempty"`
	Instances  []string `json:"instances,omitempty"`
	Variants   []string `json:"variants"`
	Sizes      []int    `json:"sizes"`
	CPU        int      `json:"cpu"`
	Counter    string   `json:"counter"`
	KAT        string   `json:"kat" jsonschema:"enum=gate,enum=full"`
	Quick      bool     `json:"quick,omitempty"`
	Trials     int      `json:"trials"`
	MinNs      int64    `json:"min_ns" jsonschema:"description=least time that one trial spends in batches, in nanoseconds"`
}

// Build is build.json: how each label became a library.
type Build struct {
	Schema   int          `json:"schema"`
	Compiler Compiler     `json:"compiler"`
	Labels   []LabelBuild `json:"labels"`
}

// Compiler identifies the compiler, linker and C library of a build.
type Compiler struct {
	Command string `json:"command" jsonschema:"description=the command as given in CC"`
	Family  string `json:"family" jsonschema:"enum=gcc,enum=clang,enum=other"`
	Version string `json:"version" jsonschema:"description=first line of --version"`
	Target  string `json:"target" jsonschema:"description=the compiler's target triple"`
	Arch    string `json:"arch" jsonschema:"enum=x86-64,enum=aarch64"`
	Linker  string `json:"linker,omitempty" jsonschema:"description=first line of the linker's --version"`
}

// Build states of a label.
const (
	BuildOK          = "ok"
	BuildFailed      = "failed"
	BuildNotRunnable = "not runnable here"
)

// LabelBuild is one label of build.json.
type LabelBuild struct {
	Inputs        string     `json:"inputs" jsonschema:"description=SHA-256 over sources, flags and compiler"`
	Candidate     string     `json:"candidate"`
	Name          string     `json:"name" jsonschema:"description=the candidate's name"`
	Instance      string     `json:"instance"`
	Variant       string     `json:"variant"`
	Label         string     `json:"label"`
	API           string     `json:"api"`
	DigestBits    int        `json:"digest_bits"`
	Status        string     `json:"status" jsonschema:"enum=ok,enum=failed,enum=not runnable here"`
	Error         string     `json:"error,omitempty" jsonschema:"description=the compiler's own message or what the host lacks"`
	GuideFlags    []string   `json:"guide_flags"`
	AddedFlags    []string   `json:"added_flags" jsonschema:"description=everything beyond the guide's flags, by name"`
	DroppedFlags  []string   `json:"dropped_flags,omitempty" jsonschema:"description=guide flags left out, by name"`
	Library       string     `json:"library,omitempty" jsonschema:"description=path relative to the run directory"`
	LibraryDigest string     `json:"library_digest,omitempty" jsonschema:"description=SHA-256 of the library file"`
	CodeDigest    string     `json:"code_digest,omitempty" jsonschema:"description=SHA-256 of what is loaded and executed"`
	LoadBytes     int64      `json:"load_bytes,omitempty" jsonschema:"description=sum of PT_LOAD memory sizes"`
	WritableBytes int64      `json:"writable_bytes,omitempty" jsonschema:"description=bytes of .data and .bss that the core itself brings"`
	Writable      []Writable `json:"writable,omitempty" jsonschema:"description=the core's writable objects"`
	Warnings      string     `json:"warnings,omitempty" jsonschema:"description=what the compiler warned of"`
}

// Writable is an object in a core's writable data segments.
type Writable struct {
	Symbol string `json:"symbol"`
	Bytes  int64  `json:"bytes"`
}

// Gate results of a label. Anything but GatePass is a failure with its own
// name; they are listed in package kat.
const GatePass = "PASS"

// Gate is kat/<candidate>/<label>.json: what the gate said of one label. The
// log beside it is the evidence a person reads.
type Gate struct {
	Schema     int          `json:"schema"`
	Inputs     string       `json:"inputs" jsonschema:"description=SHA-256 over library, driver, manifest, vectors and mode"`
	Candidate  string       `json:"candidate"`
	Label      string       `json:"label"`
	CodeDigest string       `json:"code_digest"`
	Mode       string       `json:"mode" jsonschema:"enum=gate,enum=full"`
	Result     string       `json:"result" jsonschema:"description=PASS or the name of the failure"`
	Detail     string       `json:"detail,omitempty" jsonschema:"description=first wrong vector or what went wrong"`
	Files      []GateFile   `json:"files"`
	Messages   []TimedBytes `json:"timed_messages,omitempty" jsonschema:"description=digests that every timed batch is checked against"`
	Seconds    float64      `json:"seconds"`
}

// GateFile is one manifest entry or vector file that was checked.
type GateFile struct {
	Name   string `json:"name"`
	Mode   string `json:"mode,omitempty"`
	Result string `json:"result"`
	Want   string `json:"want,omitempty" jsonschema:"description=SHA-256 in the manifest"`
	Got    string `json:"got,omitempty" jsonschema:"description=SHA-256 of the canonical form"`
}

// TimedBytes holds, for one message size, the digests of the numbered messages
// that a timing process cycles through: entry k is the hex digest of the
// message whose first 8 bytes carry number k.
type TimedBytes struct {
	Bytes   int      `json:"bytes"`
	Digests []string `json:"digests"`
}

// States of a record.
const (
	RecordComplete = "complete"
	RecordInvalid  = "invalid"
	RecordFailed   = "failed"
)

// Record is records/<candidate>/<label>__hash_<bytes>.json: the evidence of one
// cell.
type Record struct {
	Schema        int              `json:"schema"`
	Inputs        string           `json:"inputs" jsonschema:"description=SHA-256 over library, driver, plan, counter, CPU and host"`
	Candidate     string           `json:"candidate"`
	Name          string           `json:"name"`
	Instance      string           `json:"instance"`
	Variant       string           `json:"variant"`
	Label         string           `json:"label"`
	Operation     string           `json:"operation" jsonschema:"description=hash_<message bytes>"`
	MessageBytes  int              `json:"message_bytes"`
	Status        string           `json:"status" jsonschema:"enum=complete,enum=invalid,enum=failed"`
	Error         string           `json:"error,omitempty"`
	KAT           string           `json:"kat"`
	CodeDigest    string           `json:"code_digest"`
	LibraryDigest string           `json:"library_digest"`
	LoadBytes     int64            `json:"load_bytes"`
	Counter       host.Counter     `json:"counter"`
	CounterNote   string           `json:"counter_note,omitempty" jsonschema:"description=why a better counter was not used"`
	Plan          Plan             `json:"plan"`
	Trials        []Trial          `json:"trials"`
	Repeats       int              `json:"disturbed_repeats,omitempty" jsonschema:"description=how often a disturbed trial was repeated; what it had measured first is in the batches file only"`
	Summary       *Summary         `json:"summary,omitempty"`
	Batches       string           `json:"batches,omitempty" jsonschema:"description=file of all batches, relative to the run directory"`
	BatchesDigest string           `json:"batches_digest,omitempty"`
	Fingerprint   host.Fingerprint `json:"fingerprint"`
}

// Plan is what each trial of a record was asked to do.
type Plan struct {
	Trials      int     `json:"trials"`
	WarmupCalls int     `json:"warmup_calls"`
	MinNs       int64   `json:"min_ns"`
	BatchNs     int64   `json:"batch_ns" jsonschema:"description=least time of one batch"`
	BatchTicks  int64   `json:"batch_ticks" jsonschema:"description=least counter ticks of one batch"`
	Disturbed   float64 `json:"disturbed" jsonschema:"description=a trial whose low ticks exceed the least trial's by more than this part is repeated"`
	MaxRepeats  int     `json:"max_repeats" jsonschema:"description=how many trials of a record are repeated at most"`
	MessageRule string  `json:"message_rule"`
}

// Trial is one driver process timing one cell. Ticks are in the unit of the
// record's counter.
type Trial struct {
	Started      time.Time `json:"started"`
	CPU          int       `json:"cpu"`
	Calls        uint64    `json:"calls"`
	CallsABatch  uint64    `json:"calls_a_batch"`
	Batches      int       `json:"batches"`
	Ticks        uint64    `json:"ticks" jsonschema:"description=counter ticks of all batches"`
	Nanoseconds  uint64    `json:"nanoseconds"`
	Instructions uint64    `json:"instructions,omitempty" jsonschema:"description=absent where the host does not count them"`
	Low          float64   `json:"low_ticks" jsonschema:"description=ticks a call at the 10th percentile of batches"`
	Median       float64   `json:"median_ticks" jsonschema:"description=ticks a call at the median batch"`
	High         float64   `json:"high_ticks" jsonschema:"description=ticks a call at the 90th percentile of batches"`
	BaselineRSS  int64     `json:"baseline_rss_bytes"`
	PeakRSS      int64     `json:"peak_rss_bytes"`
}

// Summary holds the figures of a complete record. Every field follows from its
// trials.
type Summary struct {
	Calls        uint64  `json:"calls"`
	MeanTicks    float64 `json:"mean_ticks" jsonschema:"description=all ticks / all calls, as the guide asks"`
	MeanNs       float64 `json:"mean_ns"`
	TicksPerByte float64 `json:"ticks_per_byte" jsonschema:"description=mean_ticks / message bytes"`
	MBPerSecond  float64 `json:"mb_per_s" jsonschema:"description=10^6 bytes a second, from the mean time"`
	LowTicks     float64 `json:"low_ticks" jsonschema:"description=median over trials of the trial's 10th percentile"`
	LowPerByte   float64 `json:"low_per_byte"`
	Spread       float64 `json:"spread" jsonschema:"description=standard deviation over trials of ln low_ticks"`
	Instructions float64 `json:"instructions,omitempty" jsonschema:"description=mean instructions a call"`
	BaselineRSS  int64   `json:"baseline_rss_bytes" jsonschema:"description=maximum over trials"`
	PeakRSS      int64   `json:"peak_rss_bytes" jsonschema:"description=maximum over trials"`
}

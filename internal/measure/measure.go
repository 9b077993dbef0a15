// Package measure plans the processes that time cells and turns what they
// print into records.
package measure

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"time"

	"github.com/ngcc/bench-action/internal/catalog"
	"github.com/ngcc/bench-action/internal/driver"
	"github.com/ngcc/bench-action/internal/host"
	"github.com/ngcc/bench-action/internal/records"
	"github.com/ngcc/bench-action/internal/stats"
)

// messageRule is how the bytes of a timed message are made, as records state it.
const messageRule = "byte i of n = (131*i + n) mod 256; the first 8 bytes carry the batch number mod 16, little-endian"

// DefaultPlan is what each trial is asked to do unless a command says
// otherwise. A batch of 40 µs is short enough to fall between two disturbances
// and long enough for the counter's own cost not to show.
var DefaultPlan = records.Plan{
	Trials: 5, WarmupCalls: 3, MinNs: 50_000_000, BatchNs: 40_000, BatchTicks: 5_000,
	Disturbed: 0.03, MaxRepeats: 5, MessageRule: messageRule,
}

// trialTimeout is how long a trial may take beyond its planned time.
const trialTimeout = 60 * time.Second

// Cell is what gets one figure: a gated label at one message size.
type Cell struct {
	Build records.LabelBuild
	Gate  records.Gate
	Bytes int
}

// Bench times cells on one CPU with one driver.
type Bench struct {
	Dir         records.Dir
	Driver      *driver.Driver
	CPU         int
	Counter     string // auto, or the one that is forced
	Plan        records.Plan
	Fingerprint host.Fingerprint
	// Done is told of every record when it is finished. reused: an earlier run
	// in the same directory had measured it from the same inputs.
	Done func(r *records.Record, reused bool)
}

// Run times every cell and writes its record. A core that cannot be timed
// rightly leaves a record with status invalid that says why; an error is a
// fault of the bench itself.
func (b *Bench) Run(ctx context.Context, cells []Cell) ([]records.Record, error) {
	var out []records.Record
	for _, c := range cells {
		r, reused, err := b.cell(ctx, c)
		if err != nil {
			return out, fmt.Errorf("%s/%s/%s: %w", c.Build.Candidate, c.Build.Label, catalog.Operation(c.Bytes), err)
		}
		out = append(out, *r)
		if b.Done != nil {
			b.Done(r, reused)
		}
	}
	return out, nil
}

// cell returns the record of one cell, measuring it unless a finished record
// with equal inputs is there.
func (b *Bench) cell(ctx context.Context, c Cell) (r *records.Record, reused bool, err error) {
	expected, err := expectedDigests(c)
	if err != nil {
		return nil, false, err
	}
	inputs := b.inputs(c, expected)
	name := records.RecordFileName(c.Build.Candidate, c.Build.Label, c.Bytes)
	var old records.Record
	switch err := b.Dir.ReadJSON(name, &old); {
	case err == nil && old.Inputs == inputs && old.Status == records.RecordComplete:
		return &old, true, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		// What cannot be read is measured again; the file is replaced whole.
		old = records.Record{}
	}
	r = b.newRecord(c, inputs)
	results, err := b.trials(ctx, c, expected, r)
	if err != nil {
		return nil, false, err
	}
	if r.Status == records.RecordComplete {
		if r.Summary, err = records.Summarise(c.Bytes, r.Trials); err != nil {
			r.Status, r.Error = records.RecordInvalid, err.Error()
		}
	}
	if len(results) > 0 {
		if err := b.writeBatches(r, results); err != nil {
			return nil, false, err
		}
	}
	return r, false, b.Dir.WriteJSON(name, r)
}

func expectedDigests(c Cell) ([]string, error) {
	for _, m := range c.Gate.Messages {
		if m.Bytes == c.Bytes {
			return m.Digests, nil
		}
	}
	return nil, fmt.Errorf("the gate left no digests for messages of %d bytes: run kat again with this size", c.Bytes)
}

// inputs is the digest of all that shaped a record. The clock's rate does not
// count: where the machine hides it, it is measured, and never twice the same.
func (b *Bench) inputs(c Cell, expected []string) string {
	same := b.Fingerprint
	same.Clock.KHz = 0
	fp, err := records.Marshal(same)
	if err != nil {
		panic(err) // a struct of strings and numbers always marshals
	}
	plan, err := records.Marshal(b.Plan)
	if err != nil {
		panic(err)
	}
	parts := []string{"record", c.Build.LibraryDigest, b.Driver.Digest, b.Counter, strconv.Itoa(b.CPU), strconv.Itoa(c.Bytes), string(plan), string(fp)}
	return records.Digest(append(parts, expected...)...)
}

func (b *Bench) newRecord(c Cell, inputs string) *records.Record {
	return &records.Record{
		Schema: records.Schema, Inputs: inputs,
		Candidate: c.Build.Candidate, Name: c.Build.Name, Instance: c.Build.Instance, Variant: c.Build.Variant, Label: c.Build.Label,
		Operation: catalog.Operation(c.Bytes), MessageBytes: c.Bytes,
		Status: records.RecordComplete, KAT: c.Gate.Result,
		CodeDigest: c.Build.CodeDigest, LibraryDigest: c.Build.LibraryDigest, LoadBytes: c.Build.LoadBytes,
		Plan: b.Plan, Fingerprint: b.Fingerprint,
	}
}

// trials runs the planned processes one after the other and fills r. A fault
// of the core ends them and marks r invalid.
//
// On a host that is shared, a process may lie in a busy time as a whole: 1.5 to
// 2 times slower for seconds. A trial far above the least one is repeated, and
// the lower of the two stands. A core that is slow itself is slow in every trial.
func (b *Bench) trials(ctx context.Context, c Cell, expected []string, r *records.Record) ([]*driver.TimeResult, error) {
	var results []*driver.TimeResult
	for len(r.Trials) < b.Plan.Trials {
		t, res, err := b.trial(ctx, c, expected, r)
		if err != nil || r.Status != records.RecordComplete {
			return results, err
		}
		r.Trials = append(r.Trials, t)
		results = append(results, res)
	}
	for r.Repeats < b.Plan.MaxRepeats {
		worst, ok := disturbed(r.Trials, b.Plan.Disturbed)
		if !ok {
			break
		}
		t, res, err := b.trial(ctx, c, expected, r)
		if err != nil || r.Status != records.RecordComplete {
			return results, err
		}
		r.Repeats++
		results = append(results, res)
		if t.Low < r.Trials[worst].Low {
			r.Trials[worst] = t
		}
	}
	return results, nil
}

// disturbed finds the trial with the greatest low ticks, and says whether they
// exceed the least trial's by more than the part limit.
func disturbed(trials []records.Trial, limit float64) (worst int, ok bool) {
	least := trials[0].Low
	for i, t := range trials {
		least = min(least, t.Low)
		if t.Low > trials[worst].Low {
			worst = i
		}
	}
	return worst, trials[worst].Low > least*(1+limit)
}

// trial runs one process. A fault of the core marks r invalid.
func (b *Bench) trial(ctx context.Context, c Cell, expected []string, r *records.Record) (records.Trial, *driver.TimeResult, error) {
	started := time.Now().UTC().Truncate(time.Millisecond)
	res, err := b.Driver.Time(ctx, driver.TimeSpec{
		Core:  driver.Core{Library: b.Dir.Abs(c.Build.Library), API: c.Build.API, DigestBits: c.Build.DigestBits},
		Bytes: c.Bytes, CPU: b.CPU, Counter: b.Counter,
		MinNs: b.Plan.MinNs, BatchNs: b.Plan.BatchNs, BatchTicks: b.Plan.BatchTicks, WarmupCalls: b.Plan.WarmupCalls,
		Expected: expected, Timeout: time.Duration(b.Plan.MinNs) + trialTimeout,
	})
	var fault *driver.CoreError
	switch {
	case errors.As(err, &fault) && fault.Kind != driver.KindCounter:
		r.Status, r.Error = records.RecordInvalid, fault.Error()
		return records.Trial{}, nil, nil
	case err != nil:
		return records.Trial{}, nil, err
	case len(r.Trials) > 0 && res.Counter != r.Counter:
		r.Status = records.RecordInvalid
		r.Error = fmt.Sprintf("the counter changed from %s to %s between trials", r.Counter, res.Counter)
		return records.Trial{}, nil, nil
	}
	r.Counter, r.CounterNote = res.Counter, res.CounterNote
	return condense(started, res), res, nil
}

// condense sums up what one process printed.
func condense(started time.Time, res *driver.TimeResult) records.Trial {
	t := records.Trial{
		Started: started, CPU: res.CPU, CallsABatch: res.CallsABatch, Batches: len(res.Batches),
		BaselineRSS: res.BaselineRSS, PeakRSS: res.PeakRSS,
	}
	perCall := make([]float64, 0, len(res.Batches))
	for _, batch := range res.Batches {
		t.Calls += batch.Calls
		t.Ticks += batch.Ticks
		t.Nanoseconds += batch.Nanoseconds
		if res.HasInstructions {
			t.Instructions += batch.Instructions
		}
		perCall = append(perCall, float64(batch.Ticks)/float64(batch.Calls))
	}
	slices.Sort(perCall)
	t.Low, t.Median, t.High = stats.Quantile(perCall, 0.1), stats.Quantile(perCall, 0.5), stats.Quantile(perCall, 0.9)
	return t
}

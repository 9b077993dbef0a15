package records

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ngcc/bench-action/internal/stats"
)

// Key names the record's cell: hash-23/QILIN-512/hash_1024.
func (r *Record) Key() string { return r.Candidate + "/" + r.Label + "/" + r.Operation }

// Summarise computes the figures of a record from its trials (guide, metrics:
// mean = all ticks / all calls; MB are 10^6 bytes). A figure that cannot be
// right is an error that says why.
func Summarise(bytes int, trials []Trial) (*Summary, error) {
	if len(trials) == 0 {
		return nil, errors.New("no trials")
	}
	var s Summary
	var ticks, ns, instructions float64
	var lows []float64
	counted := true
	for i, t := range trials {
		if err := t.check(); err != nil {
			return nil, fmt.Errorf("trial %d: %w", i+1, err)
		}
		s.Calls += t.Calls
		ticks += float64(t.Ticks)
		ns += float64(t.Nanoseconds)
		instructions += float64(t.Instructions)
		counted = counted && t.Instructions > 0
		lows = append(lows, t.Low)
		s.BaselineRSS = max(s.BaselineRSS, t.BaselineRSS)
		s.PeakRSS = max(s.PeakRSS, t.PeakRSS)
	}
	calls := float64(s.Calls)
	s.MeanTicks = ticks / calls
	s.MeanNs = ns / calls
	s.TicksPerByte = s.MeanTicks / float64(bytes)
	s.MBPerSecond = float64(bytes) / s.MeanNs * 1e3
	if counted {
		s.Instructions = instructions / calls
	}
	s.LowTicks = stats.Median(lows)
	s.LowPerByte = s.LowTicks / float64(bytes)
	if len(lows) > 1 {
		logs := make([]float64, len(lows))
		for i, x := range lows {
			logs[i] = math.Log(x)
		}
		s.Spread = stats.StdDev(logs)
	}
	return &s, nil
}

func (t Trial) check() error {
	switch {
	case t.Calls == 0:
		return errors.New("no calls")
	case t.Ticks == 0:
		return errors.New("the counter stood still: 0 ticks")
	case t.Nanoseconds == 0:
		return errors.New("the clock stood still: 0 ns")
	}
	for _, q := range []float64{t.Low, t.Median, t.High} {
		if !(q > 0) || math.IsInf(q, 0) {
			return fmt.Errorf("%v ticks a call cannot be right", q)
		}
	}
	return nil
}

// Check says whether a record is one: complete ones have trials whose figures
// are what the summary says.
func (r *Record) Check() error {
	if !slices.Contains([]string{RecordComplete, RecordInvalid, RecordFailed}, r.Status) {
		return fmt.Errorf("status: %q", r.Status)
	}
	if r.MessageBytes <= 0 {
		return fmt.Errorf("message_bytes: %d", r.MessageBytes)
	}
	if r.Status != RecordComplete {
		return nil
	}
	want, err := Summarise(r.MessageBytes, r.Trials)
	if err != nil {
		return err
	}
	if r.Summary == nil {
		return errors.New("summary: missing")
	}
	if field := want.differs(r.Summary); field != "" {
		return fmt.Errorf("summary.%s does not follow from the trials", field)
	}
	return nil
}

// differs names the first field in which got is not s, up to rounding.
func (s *Summary) differs(got *Summary) string {
	if s.Calls != got.Calls {
		return "calls"
	}
	if s.BaselineRSS != got.BaselineRSS {
		return "baseline_rss_bytes"
	}
	if s.PeakRSS != got.PeakRSS {
		return "peak_rss_bytes"
	}
	for _, f := range []struct {
		name      string
		want, got float64
	}{
		{"mean_ticks", s.MeanTicks, got.MeanTicks}, {"mean_ns", s.MeanNs, got.MeanNs},
		{"ticks_per_byte", s.TicksPerByte, got.TicksPerByte}, {"mb_per_s", s.MBPerSecond, got.MBPerSecond},
		{"low_ticks", s.LowTicks, got.LowTicks}, {"low_per_byte", s.LowPerByte, got.LowPerByte},
		{"spread", s.Spread, got.Spread}, {"instructions", s.Instructions, got.Instructions},
	} {
		if !(math.Abs(f.want-f.got) <= 1e-9*math.Abs(f.want)) {
			return f.name
		}
	}
	return ""
}

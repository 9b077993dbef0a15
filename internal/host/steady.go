package host

import "slices"

// Steadiness is how steadily the bench CPU did always the same work, a probe of
// independent integer operations on registers, about 2 µs long, again and again.
// A probe takes longer when a thread of the same core is busy, when the clock
// drops, and when this process is held off the CPU.
type Steadiness struct {
	Counter     Counter        `json:"counter"`
	CounterNote string         `json:"counter_note,omitempty"` // why better counters were passed over
	CPU         int            `json:"cpu"`
	ProbeRounds int64          `json:"probe_rounds"` // rounds of a probe
	LevelTicks  int64          `json:"level_ticks"`  // 10 % quantile of all probes: the quiet level
	BusyTicks   int64          `json:"busy_ticks"`   // median of those that were not quiet; 0: all were
	Switches    int64          `json:"switches"`     // how often the kernel gave the CPU to another task
	OwnNs       int64          `json:"own_cpu_ns"`   // CPU time of the measuring process, whole
	Windows     []SteadyWindow `json:"windows"`
}

// SteadyWindow is one of the windows, of 50 ms or more when it was held at the end.
type SteadyWindow struct {
	Nanoseconds int64 `json:"ns"` // of CLOCK_MONOTONIC_RAW
	Ticks       int64 `json:"ticks"`
	Probes      int64 `json:"probes"`
	Quiet       int64 `json:"quiet"`       // probes at most 3 % above the level of all windows
	LevelTicks  int64 `json:"level_ticks"` // 10 % quantile of this window's probes
	LongestNs   int64 `json:"longest_ns"`  // between two readings of the clock, a probe between them
	LostNs      int64 `json:"lost_ns"`     // in gaps: beyond the shortest step
	Gaps        int64 `json:"gaps"`        // steps longer than any probe takes, about 20 µs
}

// fewProbes is too few probes for a window's level to mean something.
const fewProbes = 100

// QuietShare is the share of probes at most 3 % above the quiet level, 0 to 1. A
// busy sibling thread shows here, be it of this machine or of another tenant.
func (s *Steadiness) QuietShare() float64 {
	var probes, quiet int64
	for _, w := range s.Windows {
		probes += w.Probes
		quiet += w.Quiet
	}
	return ratio(quiet, probes)
}

// BusyFactor is how many times the quiet level the others took, by their median;
// 1 where all were quiet.
func (s *Steadiness) BusyFactor() float64 {
	if s.BusyTicks == 0 {
		return 1
	}
	return ratio(s.BusyTicks, s.LevelTicks)
}

// LostShare is the share of time lost to gaps, 0 to 1.
func (s *Steadiness) LostShare() float64 {
	var lost, all int64
	for _, w := range s.Windows {
		lost += w.LostNs
		all += w.Nanoseconds
	}
	return min(ratio(lost, all), 1)
}

// Gaps are how often this process was held off the CPU.
func (s *Steadiness) Gaps() (n int64) {
	for _, w := range s.Windows {
		n += w.Gaps
	}
	return n
}

// LongestNs is the longest time between two readings of the clock.
func (s *Steadiness) LongestNs() (ns int64) {
	for _, w := range s.Windows {
		ns = max(ns, w.LongestNs)
	}
	return ns
}

// LevelDrift is by how much the windows' own levels differ, greatest to least,
// less 1: 0.01 is one percent. In reference ticks and nanoseconds the clock's
// moves show here; so does a sibling that is busy for a whole window.
func (s *Steadiness) LevelDrift() float64 {
	var levels []float64
	for _, w := range s.Windows {
		if w.Probes >= fewProbes {
			levels = append(levels, float64(w.LevelTicks))
		}
	}
	return spread(levels)
}

// RateDrift is by how much the windows' ticks per nanosecond differ, as
// LevelDrift. Of core cycles it is the clock's own drift; of the others it shows
// only how well two clocks agree.
func (s *Steadiness) RateDrift() float64 {
	var rates []float64
	for _, w := range s.Windows {
		if r := s.rate(w); r > 0 {
			rates = append(rates, r)
		}
	}
	return spread(rates)
}

// TicksPerNs is the counter's rate: the median of the windows; 0 without any.
func (s *Steadiness) TicksPerNs() float64 {
	var rates []float64
	for _, w := range s.Windows {
		rates = append(rates, s.rate(w))
	}
	if len(rates) == 0 {
		return 0
	}
	slices.Sort(rates)
	return rates[len(rates)/2]
}

// rate is a window's ticks per nanosecond. Core cycles of user mode stand still
// while the process is held.
func (s *Steadiness) rate(w SteadyWindow) float64 {
	ns := w.Nanoseconds
	if s.Counter == CoreCycles {
		ns -= w.LostNs
	}
	if ns <= 0 {
		return 0
	}
	return float64(w.Ticks) / float64(ns)
}

func spread(v []float64) float64 {
	if len(v) == 0 || slices.Min(v) <= 0 {
		return 0
	}
	return slices.Max(v)/slices.Min(v) - 1
}

func ratio(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

package host

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Measured is what was seen of the machine while it was looked at, about a second.
type Measured struct {
	Steady *Steadiness `json:"steady,omitempty"`             // nil: not measured
	WhyNot string      `json:"not_steady_because,omitempty"` // what to do about it
	Load   *Load       `json:"load,omitempty"`               // nil: not measured
}

// limits are where what was measured becomes a problem.
type limits struct {
	QuietShare  float64       // least share of quiet probes
	LevelDrift  float64       // between windows, of reference ticks
	RateDrift   float64       // between windows, of core cycles a nanosecond
	StealShare  float64       // of the bench CPU
	LostShare   float64       // of the time, in gaps
	LongestGap  time.Duration // a slice of the scheduler; interrupts are far shorter
	OtherShare  float64       // of the bench CPU; its accounts are in hundredths of a second
	WaitShare   float64
	Elsewhere   float64 // CPUs that work besides
	LimitedTime float64 // share of time stopped by a limit on CPU time
}

// defaultLimits: a disturbed share of a hundredth is as large as the effects that
// comparisons look for (docs/comparison.md).
var defaultLimits = limits{
	QuietShare: 0.9, LevelDrift: 0.01, RateDrift: 0.01, StealShare: 0.01, LostShare: 0.01,
	LongestGap: time.Millisecond, OtherShare: 0.05, WaitShare: 0.05, Elsewhere: 0.5, LimitedTime: 0.001,
}

// Problems lists what is wrong with the machine as a bench: what its facts tell,
// each with its effect where one was measured, then what only measuring shows. Its
// order is stable. A zero Measured adds nothing.
func Problems(f Facts, m Measured) []Problem {
	problems := f.Problems()
	for i := range problems {
		problems[i].Effect = m.effect(problems[i].Name)
	}
	has := func(names ...string) bool {
		return slices.ContainsFunc(problems, func(p Problem) bool { return slices.Contains(names, p.Name) })
	}
	add := func(bad bool, p Problem) {
		if bad {
			p.NotFixed = notFixed[p.Name]
			problems = append(problems, p)
		}
	}
	if s := m.Steady; s != nil {
		add(s.Counter != CoreCycles && !has(noCoreCycles, perfRefused), Problem{
			Name:   noCoreCycles,
			Detail: fmt.Sprintf("the kernel shows %s, but figures are in %s: %s", f.PMU, s.Counter.Unit(), s.CounterNote),
		})
		add(s.QuietShare() < defaultLimits.QuietShare && !has(smtOn), Problem{
			Name:   coreShared,
			Detail: "something else uses this core's units: a sibling thread that the machine does not show, or another tenant's",
			Effect: m.quietText(),
		})
		add(m.unsteady() && !has(clockHidden, clockFree), Problem{
			Name:   clockUnsteady,
			Detail: "the speed of always the same work moved between windows of 50 ms: heat, a power limit, or a busy sibling",
			Effect: m.driftText(),
		})
		add(m.held(), Problem{
			Name:   heldOff,
			Detail: "the kernel, other tasks or the hypervisor took the CPU from a process that wanted all of it",
			Effect: m.gapsText(),
		})
	}
	if l := m.Load; l != nil {
		f.loadProblems(*l, add)
	}
	return problems
}

// loadProblems are those that the kernel's accounts show.
func (f Facts) loadProblems(l Load, add func(bad bool, p Problem)) {
	d := defaultLimits
	add(l.StealShare > d.StealShare, Problem{
		Name:   stolen,
		Detail: fmt.Sprintf("the hypervisor runs others on the processor of CPU %d", f.BenchCPU),
		Effect: percent(l.StealShare) + " of its time stolen",
	})
	add(l.Throttled > 0, Problem{
		Name:   throttled,
		Detail: "the processor lowers its clock since it is too hot: cool it, or fix a lower clock",
		Effect: fmt.Sprintf("%d times in %.1f s, %d since the machine started", l.Throttled, l.Seconds, l.ThrottledEver),
		Mend:   f.lowerClock(),
	})
	add(l.Throttled == 0 && l.ThrottledEver > 0, Problem{
		Name:   "was throttled",
		Detail: "the processor has been too hot at least once since the machine started: long runs may be slower",
		Effect: fmt.Sprintf("%d times, none of them now", l.ThrottledEver),
	})
	if effect := l.otherText(d); effect != "" {
		add(true, Problem{
			Name:   otherLoad,
			Detail: "other tasks share caches, memory and the power limit, and the bench CPU if they get it; who: ps -eo psr,pcpu,pid,args --sort=-pcpu",
			Effect: effect,
		})
	}
}

// otherText is what other tasks did; empty: too little.
func (l Load) otherText(d limits) string {
	var parts []string
	if l.OtherShare > d.OtherShare {
		parts = append(parts, percent(l.OtherShare)+" of the bench CPU")
	}
	if l.WaitShare > d.WaitShare {
		parts = append(parts, "tasks waited for it for "+percent(l.WaitShare)+" of the time")
	}
	if l.SiblingShare > d.OtherShare {
		parts = append(parts, "its sibling was busy for "+percent(l.SiblingShare))
	}
	if l.ElsewhereLoad > d.Elsewhere {
		parts = append(parts, fmt.Sprintf("%.1f other CPUs worked", l.ElsewhereLoad))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + fmt.Sprintf("; load average %.2f", l.LoadAverage)
}

// NotFixed lists those problems for which the machine is no fixed host: one on which
// the published campaigns would have measured. None: --require-fixed-host accepts
// it. A machine that was not measured is judged by its facts alone.
func NotFixed(f Facts, m Measured) []Problem {
	return slices.DeleteFunc(Problems(f, m), func(p Problem) bool { return !p.NotFixed })
}

// effect is what a problem of the facts did; empty where that cannot be measured.
func (m Measured) effect(name string) string {
	switch {
	case name == cpuTimeLimited && m.Load != nil:
		if m.Load.LimitedShare <= defaultLimits.LimitedTime {
			return "it did not stop this process"
		}
		return "stopped for " + percent(m.Load.LimitedShare) + " of the time"
	case name == virtualMachine && m.Load != nil:
		return percent(m.Load.StealShare) + " of the bench CPU's time stolen"
	case m.Steady == nil:
	case name == smtOn:
		return m.quietText()
	case name == clockHidden || name == clockFree:
		return m.driftText()
	case name == notIsolated:
		return fmt.Sprintf("%s; %d switches to other tasks", m.gapsText(), m.Steady.Switches)
	case name == oneCPU:
		return m.gapsText()
	}
	return ""
}

// unsteady judges by what shows the clock: the rate of core cycles, which the
// clock drives, or the work done in reference ticks.
func (m Measured) unsteady() bool {
	if m.Steady.Counter == CoreCycles {
		return m.Steady.RateDrift() > defaultLimits.RateDrift
	}
	return m.Steady.LevelDrift() > defaultLimits.LevelDrift
}

func (m Measured) held() bool {
	return m.Steady.LostShare() > defaultLimits.LostShare || m.Steady.LongestNs() > defaultLimits.LongestGap.Nanoseconds()
}

func (m Measured) quietText() string {
	s := m.Steady
	text := percent(s.QuietShare()) + " of probes quiet"
	if s.BusyTicks > 0 {
		text += fmt.Sprintf(", the others %.2f times as long (median)", s.BusyFactor())
	}
	return text
}

func (m Measured) driftText() string {
	s := m.Steady
	if s.Counter == CoreCycles {
		return fmt.Sprintf("%.3f GHz, by %s apart between windows", s.TicksPerNs(), percent(s.RateDrift()))
	}
	return "speed by " + percent(s.LevelDrift()) + " apart between windows"
}

func (m Measured) gapsText() string {
	s := m.Steady
	return fmt.Sprintf("held off %s, for up to %s, %s of the time", times(s.Gaps()), milliseconds(s.LongestNs()), percent(s.LostShare()))
}

// lowerClock is a command for a clock that a hot machine can hold.
func (f Facts) lowerClock() string {
	khz := f.BaseKHz
	if khz <= 0 || khz >= f.MaxKHz {
		return ""
	}
	return fmt.Sprintf("echo %d | sudo tee %s %s", khz, f.cpufreq("scaling_max_freq"), f.cpufreq("scaling_min_freq"))
}

// Table gives what was measured as item and value, always the same items.
func (m Measured) Table() [][2]string {
	rows := [][2]string{
		{"counter", ""}, {"quiet probes", ""}, {"steadiness", ""}, {"gaps", ""},
		{"stolen, others", ""}, {"other CPUs", ""}, {"load average", ""}, {"throttled", ""},
	}
	if s := m.Steady; s != nil {
		rows[0][1] = fmt.Sprintf("%s, %.4f a nanosecond", s.Counter, s.TicksPerNs())
		rows[1][1] = m.quietText()
		rows[2][1] = fmt.Sprintf("speed by %s, counter by %s apart between %d windows", percent(s.LevelDrift()), percent(s.RateDrift()), len(s.Windows))
		rows[3][1] = m.gapsText()
	}
	if l := m.Load; l != nil {
		rows[4][1] = fmt.Sprintf("%s, %s of the bench CPU in %.1f s", percent(l.StealShare), percent(l.OtherShare), l.Seconds)
		rows[5][1] = fmt.Sprintf("%.1f worked, busiest sibling %s", l.ElsewhereLoad, percent(l.SiblingShare))
		rows[6][1] = fmt.Sprintf("%.2f", l.LoadAverage)
		rows[7][1] = fmt.Sprintf("%s, %s since the start", times(l.Throttled), times(l.ThrottledEver))
	}
	for i := range rows {
		if rows[i][1] == "" {
			rows[i][1] = "not measured"
		}
	}
	return rows
}

// BenchTable gives the facts that concern a bench and stand in no report, as
// [Facts.Table].
func (f Facts) BenchTable() [][2]string {
	limit := "none seen"
	if f.CPULimit > 0 {
		limit = fmt.Sprintf("%.2g CPUs by /%s", f.CPULimit, f.CPULimitFile)
	}
	rows := [][2]string{
		{"sibling threads", FormatCPUList(f.Siblings)},
		{"nohz_full", f.NohzFull},
		{"rdpmc", f.Rdpmc},
		{"perf_user_access", f.PerfUserAccess},
		{"CPU time limit", limit},
	}
	for i := range rows {
		if rows[i][1] == "" {
			rows[i][1] = Unknown
		}
	}
	return rows
}

// percent has three significant digits at most, and none after 100.
func percent(share float64) string {
	switch p := 100 * share; {
	case p >= 10:
		return fmt.Sprintf("%.0f %%", p)
	case p >= 1 || p == 0:
		return fmt.Sprintf("%.1f %%", p)
	case p >= 0.01:
		return fmt.Sprintf("%.2f %%", p)
	}
	return "under 0.01 %"
}

func times(n int64) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func milliseconds(ns int64) string {
	return fmt.Sprintf("%.2f ms", float64(ns)/1e6)
}

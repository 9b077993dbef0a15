package host

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// Load is what else went on between two samples. Shares are of one CPU's time, 0
// to 1, and 0 too where the machine does not show them.
type Load struct {
	Seconds       float64 `json:"seconds"`        // between the samples, by the bench CPU's own accounts
	StealShare    float64 `json:"steal_share"`    // taken from the bench CPU by the hypervisor
	OtherShare    float64 `json:"other_share"`    // the bench CPU worked, for others than the measuring process
	WaitShare     float64 `json:"wait_share"`     // tasks that waited for the bench CPU; may exceed 1
	SiblingShare  float64 `json:"sibling_share"`  // the busiest sibling thread worked
	ElsewhereLoad float64 `json:"elsewhere_load"` // CPUs that worked, but for the bench CPU: 1.5 is one and a half
	LoadAverage   float64 `json:"load_average"`   // of the last minute, as the kernel counts it
	Throttled     int64   `json:"throttled"`      // times that heat throttled the bench CPU or its package, in between
	ThrottledEver int64   `json:"throttled_ever"` // since the machine started
	LimitedShare  float64 `json:"limited_share"`  // stopped by the container's limit on CPU time
}

// Sample is one look at the kernel's accounts; see [Sample.Until].
type Sample struct {
	cpus      map[int]cpuTime
	loadavg   float64
	waitNs    int64
	throttles int64
	limitedUs int64
}

// cpuTime is a CPU's line of /proc/stat, in ticks of a hundredth of a second.
type cpuTime struct{ busy, idle, steal int64 }

func (c cpuTime) minus(o cpuTime) cpuTime {
	// The accounts of a virtual machine may go back a tick.
	return cpuTime{max(c.busy-o.busy, 0), max(c.idle-o.idle, 0), max(c.steal-o.steal, 0)}
}

func (c cpuTime) all() int64 { return c.busy + c.idle + c.steal }

// userHz is the unit of /proc/stat, a hundredth of a second on x86 and Arm
// whatever the kernel's own tick is (include/asm-generic/param.h).
const userHz = 100

// Look takes a sample of the machine that f describes, from its root directory.
func (f Facts) Look(fsys fs.FS) Sample {
	r := root{fsys}
	s := Sample{cpus: parseStat(r.text("proc/stat"))}
	avg, _, _ := strings.Cut(r.line("proc/loadavg"), " ")
	if v, err := strconv.ParseFloat(avg, 64); err == nil && v >= 0 && v < 1e6 {
		s.loadavg = v
	}
	s.waitNs = parseWait(r.text("proc/schedstat"), f.BenchCPU)
	dir := fmt.Sprintf("%s/cpu%d/thermal_throttle/", cpuDir, f.BenchCPU)
	s.throttles = r.number(dir+"core_throttle_count") + r.number(dir+"package_throttle_count")
	if f.CPULimit > 0 {
		s.limitedUs = r.limitedUs(f.CPULimitFile)
	}
	return s
}

// Until is the load from s to a later sample of the same machine. ownNs is the CPU
// time that the measuring process spent on the bench CPU in between.
func (s Sample) Until(later Sample, f Facts, ownNs int64) Load {
	l := Load{LoadAverage: later.loadavg, ThrottledEver: later.throttles, Throttled: max(later.throttles-s.throttles, 0)}
	for cpu, end := range later.cpus {
		start, ok := s.cpus[cpu]
		d := end.minus(start)
		if !ok || d.all() == 0 {
			continue
		}
		all := float64(d.all())
		switch {
		case cpu == f.BenchCPU:
			l.Seconds = all / userHz
			l.StealShare = float64(d.steal) / all
			l.OtherShare = max(float64(d.busy)/all-float64(ownNs)/1e9/l.Seconds, 0)
			l.WaitShare = float64(max(later.waitNs-s.waitNs, 0)) / 1e9 / l.Seconds
			l.LimitedShare = min(float64(max(later.limitedUs-s.limitedUs, 0))/1e6/l.Seconds, 1)
		case slices.Contains(f.Siblings, cpu):
			l.SiblingShare = max(l.SiblingShare, float64(d.busy)/all)
			fallthrough
		default:
			l.ElsewhereLoad += float64(d.busy) / all
		}
	}
	return l
}

// parseStat reads the CPUs' lines of /proc/stat (proc_stat(5)): user, nice, system,
// idle, iowait, irq, softirq, steal; guest time is in user and nice already.
func parseStat(text string) map[int]cpuTime {
	cpus := map[int]cpuTime{}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 9 || !strings.HasPrefix(fields[0], "cpu") {
			continue
		}
		n, err := parseCPU("0" + fields[0][len("cpu"):])
		if err != nil || fields[0] == "cpu" {
			continue
		}
		var v [8]int64
		for i := range v {
			if v[i], err = strconv.ParseInt(fields[i+1], 10, 64); err != nil || v[i] < 0 || v[i] > 1<<53 {
				break
			}
		}
		if err == nil && slices.Max(v[:]) <= 1<<53 {
			cpus[n] = cpuTime{busy: v[0] + v[1] + v[2] + v[5] + v[6], idle: v[3] + v[4], steal: v[7]}
		}
	}
	return cpus
}

// parseWait is for how many nanoseconds tasks have waited for a CPU: the eighth
// figure of its line in /proc/schedstat (kernel, Documentation/scheduler/
// sched-stats.rst), which few kernels have; else 0.
func parseWait(text string, cpu int) int64 {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 10 || fields[0] != fmt.Sprintf("cpu%d", cpu) {
			continue
		}
		n, err := strconv.ParseInt(fields[8], 10, 64)
		if err != nil {
			return 0
		}
		return max(n, 0)
	}
	return 0
}

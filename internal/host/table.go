package host

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Unknown stands in a table where the machine does not show a fact.
const Unknown = "not shown"

// Table gives the facts as item and value, always the same items in the same
// order; what the machine does not show is [Unknown]. It follows the assessment
// environment of the guide's report pages (spec/guide.md), which adds compiler,
// build tool and times.
func (f Facts) Table() [][2]string {
	rows := [][2]string{
		{"processor", f.processorText()},
		{"architecture", f.Arch},
		{"CPU ID", f.CPUID},
		{"core type", f.CoreType},
		{"microcode", f.Microcode},
		{"machine", f.Machine},
		{"clock", f.clockText()},
		{"governor", f.Governor},
		{"boost", f.Boost},
		{"SMT", f.SMT},
		{"CPUs", f.cpusText()},
		{"isolated", map[bool]string{true: "yes", false: "no"}[f.Isolated]},
		{"memory", f.memoryText()},
		{"OS / kernel", strings.Trim(f.OS+" / "+f.Kernel, " /")},
		{"libc", f.Libc},
		{"virtualisation", cmp.Or(f.Virtualisation, "none seen")},
		{"PMU", f.PMU},
		{"perf_event_paranoid", f.PerfParanoid},
		{"NMI watchdog", f.NMIWatchdog},
	}
	for i := range rows {
		if rows[i][1] == "" {
			rows[i][1] = Unknown
		}
	}
	return rows
}

func (f Facts) processorText() string {
	model := f.CPUModel
	if model == "" {
		model = "unknown model"
	}
	return fmt.Sprintf("%s, CPU %d, one core", model, f.BenchCPU)
}

func (f Facts) clockText() string {
	switch p := f.ClockPolicy(0); {
	case p.Policy == Fixed:
		return "fixed " + gigahertz(p.KHz) + " by cpufreq limits" + f.driverText()
	case p.Policy == Free && f.MinKHz == f.MaxKHz:
		return "free, " + gigahertz(p.KHz) + " and boost" + f.driverText()
	case p.Policy == Free:
		return "free, " + gigahertz(f.MinKHz) + " to " + gigahertz(p.KHz) + f.driverText()
	}
	return "hidden"
}

func (f Facts) driverText() string {
	if f.ClockDriver == "" {
		return ""
	}
	return ", driver " + f.ClockDriver
}

func (f Facts) cpusText() string {
	if f.CPUs == 0 {
		return ""
	}
	text := strconv.Itoa(f.CPUs) + " online"
	if len(f.AllowedCPUs) > 0 {
		text += ", allowed " + FormatCPUList(f.AllowedCPUs)
	}
	return text
}

// memoryText rounds down, as the published pages do.
func (f Facts) memoryText() string {
	if f.MemoryKiB == 0 {
		return ""
	}
	return strconv.FormatInt(f.MemoryKiB/1024, 10) + " MiB"
}

// gigahertz has two decimals, as the published pages do.
func gigahertz(kHz int64) string {
	return fmt.Sprintf("%.2f GHz", float64(kHz)/1e6)
}

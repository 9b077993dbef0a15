package host

import (
	"fmt"
	"strconv"
	"strings"
)

// Policies of a clock.
const (
	Fixed  = "fixed"
	Free   = "free"
	Hidden = "hidden"
)

// ClockPolicy says how the bench CPU's clock is held. counterKHz is the counter's
// own rate, the only figure where the machine shows no clock.
//
// Equal limits hold the clock, whatever the governor. One driver is the exception:
// acpi-cpufreq's highest step lets the hardware boost beyond the limit, so with
// boost on, or an unknown driver and boost on, the clock counts as free.
func (f Facts) ClockPolicy(counterKHz int64) ClockPolicy {
	switch {
	case f.MaxKHz <= 0:
		return ClockPolicy{Policy: Hidden, KHz: counterKHz}
	case f.MinKHz == f.MaxKHz && !(f.Boost == "on" && f.boostBeatsLimit()):
		return ClockPolicy{Policy: Fixed, KHz: f.MaxKHz}
	}
	return ClockPolicy{Policy: Free, KHz: f.MaxKHz}
}

func (f Facts) boostBeatsLimit() bool {
	return f.ClockDriver == "" || f.ClockDriver == "acpi-cpufreq"
}

// virtual says whether this is a virtual machine, container or not.
func (f Facts) virtual() bool { return strings.HasPrefix(f.Virtualisation, "virtual machine") }

// Problem is a fact that makes the machine a poor bench.
type Problem struct {
	Name   string `json:"name"`   // what is wrong, in two or three words
	Detail string `json:"detail"` // what it does to figures
	Mend   string `json:"mend,omitempty" jsonschema:"description=the exact command that mends it, where there is one"`
}

// Problems lists what is wrong with the machine as a bench, as far as its facts
// tell, the worst first. Its order is stable.
func (f Facts) Problems() []Problem {
	var problems []Problem
	for _, check := range []func() (Problem, bool){
		f.virtualProblem, f.clockProblem, f.boostProblem, f.governorProblem, f.smtProblem,
		f.coreProblem, f.pmuProblem, f.paranoidProblem, f.userAccessProblem, f.watchdogProblem,
		f.microcodeProblem,
	} {
		if p, bad := check(); bad {
			problems = append(problems, p)
		}
	}
	return problems
}

func (f Facts) virtualProblem() (Problem, bool) {
	return Problem{
		Name:   "virtual machine",
		Detail: f.Virtualisation + ": its host may take the CPU away, and hides clock, boost and sibling threads",
	}, f.virtual()
}

func (f Facts) cpufreq(name string) string {
	return fmt.Sprintf("/sys/devices/system/cpu/cpu%d/cpufreq/%s", f.BenchCPU, name)
}

func (f Facts) clockProblem() (Problem, bool) {
	switch f.ClockPolicy(0).Policy {
	case Hidden:
		return Problem{
			Name:   "clock hidden",
			Detail: "no cpufreq: nobody can say at which clock a figure was taken, or hold it",
		}, true
	case Free:
		p := Problem{
			Name:   "clock free",
			Detail: fmt.Sprintf("CPU %d may run at %s to %s", f.BenchCPU, gigahertz(f.MinKHz), gigahertz(f.MaxKHz)),
		}
		if f.MinKHz == f.MaxKHz {
			p.Detail = fmt.Sprintf("CPU %d is limited to %s, but boost may exceed that", f.BenchCPU, gigahertz(f.MaxKHz))
			return p, true // boost's own problem has the command
		}
		khz := f.MaxKHz
		if f.BaseKHz > 0 {
			khz = min(khz, f.BaseKHz) // what it can hold when hot
		}
		p.Mend = fmt.Sprintf("echo %d | sudo tee %s %s", khz, f.cpufreq("scaling_max_freq"), f.cpufreq("scaling_min_freq"))
		return p, true
	}
	return Problem{}, false
}

func (f Facts) boostProblem() (Problem, bool) {
	mend := "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"
	if f.ClockDriver == "intel_pstate" || f.ClockDriver == "intel_cpufreq" {
		mend = "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
	}
	return Problem{
		Name:   "boost on",
		Detail: "the clock depends on temperature and on what the other cores do",
		Mend:   mend,
	}, f.Boost == "on"
}

func (f Facts) governorProblem() (Problem, bool) {
	return Problem{
		Name:   "governor " + f.Governor,
		Detail: "the guide measures with the performance governor",
		Mend:   "echo performance | sudo tee " + f.cpufreq("scaling_governor"),
	}, f.Governor != "" && f.Governor != "performance"
}

func (f Facts) smtProblem() (Problem, bool) {
	p := Problem{
		Name:   "SMT on",
		Detail: fmt.Sprintf("a busy sibling thread slows CPU %d by half or more", f.BenchCPU),
		Mend:   "echo off | sudo tee /sys/devices/system/cpu/smt/control",
	}
	if f.virtual() {
		p.Mend = "" // the host's, whatever the guest switches off
	}
	return p, f.SMT == "on"
}

func (f Facts) coreProblem() (Problem, bool) {
	return Problem{
		Name:   "efficiency core",
		Detail: fmt.Sprintf("CPU %d is a small core; the guide measures a performance core, one of those in /sys/devices/cpu_core/cpus", f.BenchCPU),
	}, f.CoreType == "cpu_atom" || f.CoreType == "cpu_lowpower"
}

func (f Facts) pmuProblem() (Problem, bool) {
	p := Problem{
		Name:   "no core cycles",
		Detail: fmt.Sprintf("the kernel shows no performance monitoring unit for CPU %d: figures are in reference ticks, which hide clock changes", f.BenchCPU),
	}
	if f.virtual() {
		p.Detail += "; the hypervisor would have to pass one on"
	}
	return p, f.PMU == ""
}

// paranoidProblem: 2 still lets a process count its own user mode; 3 and above
// are Debian's and Ubuntu's, and refuse perf events altogether.
func (f Facts) paranoidProblem() (Problem, bool) {
	level, err := strconv.Atoi(f.PerfParanoid)
	return Problem{
		Name:   "perf events refused",
		Detail: fmt.Sprintf("perf_event_paranoid is %s: no core cycles without CAP_PERFMON", f.PerfParanoid),
		Mend:   "sudo sysctl kernel.perf_event_paranoid=2",
	}, err == nil && level > 2 && f.PMU != ""
}

func (f Facts) userAccessProblem() (Problem, bool) {
	return Problem{
		Name:   "counter by system call",
		Detail: "perf_user_access is 0: each reading of the cycle counter is a system call",
		Mend:   "sudo sysctl kernel.perf_user_access=1",
	}, f.PerfUserAccess == "0" && f.PMU != ""
}

func (f Facts) watchdogProblem() (Problem, bool) {
	return Problem{
		Name:   "NMI watchdog",
		Detail: "the kernel keeps a cycle counter for itself, and interrupts the core",
		Mend:   "sudo sysctl kernel.nmi_watchdog=0",
	}, f.NMIWatchdog == "on" && f.PMU != ""
}

// kvmMicrocode are the revisions that KVM makes up when its user sets none: for
// AMD (kernel, arch/x86/kvm/svm/svm.c) and Intel (vmx/vmx.c). Hyper-V shows all
// ones.
var kvmMicrocode = map[string]bool{"0x1000065": true, "0x1": true, "0xffffffff": true}

func (f Facts) microcodeProblem() (Problem, bool) {
	return Problem{
		Name:   "microcode hidden",
		Detail: f.Microcode + " is the hypervisor's placeholder: an update of the host's microcode would go unnoticed",
	}, f.virtual() && kvmMicrocode[f.Microcode]
}

package host

import (
	"fmt"
	"slices"
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

// Problem is a fact, or something measured, that makes the machine a poor bench.
type Problem struct {
	// Name is what is wrong, in two or three words.
	Name string `json:"name"`
	// Detail is what it does to figures.
	Detail string `json:"detail"`
	// Effect is what it did while the machine was measured, where that shows.
	Effect string `json:"effect,omitempty"`
	// Mend is the exact command that mends it, where there is one, for a shell.
	Mend string `json:"mend,omitempty"`
	// NotFixed marks those for which --require-fixed-host refuses the machine;
	// see the function NotFixed.
	NotFixed bool `json:"not_fixed,omitempty"`
}

// Problems lists what is wrong with the machine as a bench, as far as its facts
// tell, the worst first. Its order is stable. The function Problems adds what was
// measured.
func (f Facts) Problems() []Problem {
	var problems []Problem
	for _, check := range []func() (Problem, bool){
		f.virtualProblem, f.clockProblem, f.boostProblem, f.governorProblem, f.smtProblem,
		f.coreProblem, f.pmuProblem, f.paranoidProblem, f.limitProblem, f.oneCPUProblem,
		f.rdpmcProblem, f.userAccessProblem, f.watchdogProblem, f.isolationProblem, f.tickProblem,
		f.microcodeProblem,
	} {
		if p, bad := check(); bad {
			p.NotFixed = notFixed[p.Name] || strings.HasPrefix(p.Name, governor)
			problems = append(problems, p)
		}
	}
	return problems
}

// The names of those problems that others depend on.
const (
	virtualMachine = "virtual machine"
	clockHidden    = "clock hidden"
	clockFree      = "clock free"
	boostOn        = "boost on"
	governor       = "governor " // and its name
	smtOn          = "SMT on"
	efficiencyCore = "efficiency core"
	noCoreCycles   = "no core cycles"
	perfRefused    = "perf events refused"
	cpuTimeLimited = "CPU time limited"
	oneCPU         = "one CPU only"
	notIsolated    = "not isolated"
	stolen         = "time stolen"
	throttled      = "thermal throttling"
	clockUnsteady  = "clock unsteady"
	coreShared     = "core shared"
	heldOff        = "held off the CPU"
	otherLoad      = "other load"
)

// notFixed are the problems of a machine on which the published campaigns would
// not have measured (spec/guide.md: one performance core at a fixed clock, governor
// performance, boost and SMT off, core cycles), and those that show it unfixed.
var notFixed = map[string]bool{
	virtualMachine: true, clockHidden: true, clockFree: true, boostOn: true, smtOn: true, efficiencyCore: true,
	noCoreCycles: true, perfRefused: true, cpuTimeLimited: true, stolen: true, throttled: true, clockUnsteady: true,
}

func (f Facts) virtualProblem() (Problem, bool) {
	return Problem{
		Name:   virtualMachine,
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
			Name:   clockHidden,
			Detail: "no cpufreq: nobody can say at which clock a figure was taken, or hold it",
		}, true
	case Free:
		p := Problem{
			Name:   clockFree,
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
		Name:   boostOn,
		Detail: "the clock depends on temperature and on what the other cores do",
		Mend:   mend,
	}, f.Boost == "on"
}

func (f Facts) governorProblem() (Problem, bool) {
	return Problem{
		Name:   governor + f.Governor,
		Detail: "the guide measures with the performance governor",
		Mend:   "echo performance | sudo tee " + f.cpufreq("scaling_governor"),
	}, f.Governor != "" && f.Governor != "performance"
}

func (f Facts) smtProblem() (Problem, bool) {
	p := Problem{
		Name:   smtOn,
		Detail: fmt.Sprintf("a busy sibling thread slows CPU %d by half or more", f.BenchCPU),
		Mend:   "echo off | sudo tee /sys/devices/system/cpu/smt/control",
	}
	if len(f.Siblings) > 0 {
		p.Detail = fmt.Sprintf("CPU %d shares its core with CPU %s, which slows it by half or more when busy", f.BenchCPU, FormatCPUList(f.Siblings))
	}
	if f.virtual() {
		p.Mend = "" // the host's, whatever the guest switches off
	}
	return p, f.SMT == "on"
}

func (f Facts) smallIntel() bool { return f.CoreType == "cpu_atom" || f.CoreType == "cpu_lowpower" }

func (f Facts) coreProblem() (Problem, bool) {
	p := Problem{
		Name:   efficiencyCore,
		Detail: fmt.Sprintf("CPU %d is a small core; the guide measures a performance core, one of those in /sys/devices/cpu_core/cpus", f.BenchCPU),
	}
	if len(f.FastCPUs) > 0 {
		p.Detail = fmt.Sprintf("CPU %d is a small core; the guide measures a performance core: CPU %s", f.BenchCPU, FormatCPUList(f.FastCPUs))
		p.Mend = fmt.Sprintf("ngcc-bench host --cpu %d", f.FastCPUs[len(f.FastCPUs)-1])
	}
	return p, f.smallIntel() || len(f.FastCPUs) > 0
}

func (f Facts) pmuProblem() (Problem, bool) {
	p := Problem{
		Name:   noCoreCycles,
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
		Name:   perfRefused,
		Detail: fmt.Sprintf("perf_event_paranoid is %s: no core cycles without CAP_PERFMON", f.PerfParanoid),
		Mend:   "sudo sysctl kernel.perf_event_paranoid=2",
	}, err == nil && level > 2 && f.PMU != ""
}

func (f Facts) limitProblem() (Problem, bool) {
	p := Problem{
		Name:   cpuTimeLimited,
		Detail: fmt.Sprintf("a control group gives this process %.2g CPUs and stops it for the rest of each period", f.CPULimit),
		Mend:   "echo max | sudo tee /" + f.CPULimitFile,
	}
	if strings.HasSuffix(f.CPULimitFile, "cpu.cfs_quota_us") {
		p.Mend = "echo -1 | sudo tee /" + f.CPULimitFile
	}
	if f.container() {
		p.Detail += ": start the container without a limit (docker run without --cpus; no limits.cpu)"
		p.Mend = ""
	}
	return p, f.CPULimit > 0
}

func (f Facts) oneCPUProblem() (Problem, bool) {
	p := Problem{Name: oneCPU, Detail: "the rest of this program has no other CPU than the one that is timed, and disturbs it"}
	if len(f.AllowedCPUs) < f.CPUs {
		p.Detail += fmt.Sprintf("; the machine has %d", f.CPUs)
		if !f.container() {
			p.Mend = fmt.Sprintf("sudo taskset -cp 0-%d $$", f.CPUs-1) // of the shell; a cpuset would refuse it
		}
	}
	return p, len(f.AllowedCPUs) == 1
}

// rdpmcProblem: 1, the default, lets a process read the events that it opened (kernel,
// tools/perf/design.txt and arch/x86/events/core.c, set_attr_rdpmc).
func (f Facts) rdpmcProblem() (Problem, bool) {
	return Problem{
		Name:   "rdpmc off",
		Detail: "each reading of the cycle counter is a system call",
		Mend:   "echo 1 | sudo tee /" + pmuDir + "/" + f.PMU + "/rdpmc",
	}, f.Rdpmc == "0" && f.PMU != ""
}

// isolationProblem: what the kernel's command line takes away from the scheduler.
// The boot loader's file is known on some systems only.
func (f Facts) isolationProblem() (Problem, bool) {
	p := Problem{Name: notIsolated, Detail: fmt.Sprintf("the scheduler may put other tasks on CPU %d", f.BenchCPU)}
	p.Detail, p.Mend = f.bootMend(p.Detail, fmt.Sprintf("isolcpus=%d nohz_full=%d", f.BenchCPU, f.BenchCPU))
	return p, f.CPUs > 1 && !f.Isolated
}

func (f Facts) tickProblem() (Problem, bool) {
	p := Problem{Name: "tick on", Detail: fmt.Sprintf("the kernel's tick interrupts CPU %d some hundred times a second", f.BenchCPU)}
	p.Detail, p.Mend = f.bootMend(p.Detail, fmt.Sprintf("nohz_full=%d", f.BenchCPU))
	return p, f.Isolated && f.NohzFull == "off"
}

// bootMend is the command that adds to the kernel's command line, or, where it is
// not known, a detail that tells what to add.
func (f Facts) bootMend(detail, words string) (newDetail, mend string) {
	any := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(f.OS, n) })
	}
	switch {
	case f.Arch == "x86-64" && !f.container() && any("Debian", "Ubuntu"):
		return detail, fmt.Sprintf(`sudo sed -i 's/^GRUB_CMDLINE_LINUX="/&%s /' /etc/default/grub && sudo update-grub && sudo reboot`, words)
	case !f.container() && any("Fedora", "Red Hat", "CentOS", "AlmaLinux", "Rocky", "openEuler", "Anolis"):
		return detail, fmt.Sprintf(`sudo grubby --update-kernel=ALL --args="%s" && sudo reboot`, words)
	}
	return detail + "; add " + words + " to the kernel's command line", ""
}

// container says whether this process is in a container, which cannot change what
// belongs to the machine.
func (f Facts) container() bool { return strings.HasSuffix(f.Virtualisation, "container") }

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

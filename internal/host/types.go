// Package host states facts about the machine: what its figures may be compared
// with, and what is wrong with it as a bench.
package host

// Counter names what a figure's ticks are. Ticks of different counters are
// different units: never compared, never converted.
type Counter string

// The counters, best first.
const (
	CoreCycles Counter = "core-cycles" // perf events, user mode
	TSC        Counter = "tsc"         // x86 reference cycles
	CNTVCT     Counter = "cntvct"      // AArch64 generic timer
	Clock      Counter = "clock"       // CLOCK_MONOTONIC_RAW, nanoseconds
)

// Unit is the word printed after a figure of c: only core cycles are called
// cycles.
func (c Counter) Unit() string {
	switch c {
	case CoreCycles:
		return "cycles"
	case TSC:
		return "TSC ticks"
	case CNTVCT:
		return "CNTVCT ticks"
	case Clock:
		return "ns"
	}
	return string(c)
}

// Fingerprint is what must be equal for two figures of different runs to be
// comparable. An empty field means not known, and never equals anything.
type Fingerprint struct {
	Arch      string      `json:"arch"`
	CPUModel  string      `json:"cpu_model"`
	CPUID     string      `json:"cpu_id,omitempty" jsonschema:"description=family, model and stepping, or MIDR: tells processors apart that a hypervisor calls by one name"`
	CoreType  string      `json:"core_type" jsonschema:"description=which kind of core on a hybrid or big.LITTLE machine; uniform elsewhere"`
	Microcode string      `json:"microcode" jsonschema:"description=microcode or MIDR revision"`
	Counter   Counter     `json:"counter"`
	Compiler  string      `json:"compiler"`
	Libc      string      `json:"libc"`
	Driver    string      `json:"driver" jsonschema:"description=SHA-256 of the driver's sources and flags"`
	Clock     ClockPolicy `json:"clock"`
}

// ClockPolicy says how the bench CPU's clock is held. Two are comparable when
// the policies are equal and KHz differ by at most 1 %.
type ClockPolicy struct {
	Policy string `json:"policy" jsonschema:"enum=fixed,enum=free,enum=hidden,description=fixed: least and greatest frequency equal; free: the governor may move it; hidden: the machine does not show it"`
	KHz    int64  `json:"khz" jsonschema:"description=fixed: that frequency; free: the greatest allowed; hidden: the counter's own rate"`
}

// Facts are what a report says of the machine.
type Facts struct {
	CPUModel       string   `json:"cpu_model"`
	Arch           string   `json:"arch"`
	CPUs           int      `json:"cpus" jsonschema:"description=CPUs online"`
	AllowedCPUs    []int    `json:"allowed_cpus" jsonschema:"description=CPUs that this process may use"`
	BenchCPU       int      `json:"bench_cpu"`
	CoreType       string   `json:"core_type"`
	Microcode      string   `json:"microcode"`
	CPUID          string   `json:"cpu_id,omitempty" jsonschema:"description=x86 family, model and stepping, which a hypervisor's model name hides, or AArch64 MIDR implementer and part"`
	Features       []string `json:"features,omitempty" jsonschema:"description=CPU features as /proc/cpuinfo names them"`
	Governor       string   `json:"governor,omitempty"`
	ClockDriver    string   `json:"clock_driver,omitempty" jsonschema:"description=the kernel's cpufreq driver"`
	MinKHz         int64    `json:"min_khz,omitempty" jsonschema:"description=least frequency that the governor may choose"`
	MaxKHz         int64    `json:"max_khz,omitempty" jsonschema:"description=greatest frequency that the governor may choose"`
	BaseKHz        int64    `json:"base_khz,omitempty" jsonschema:"description=greatest frequency without boost, where the driver tells"`
	Boost          string   `json:"boost,omitempty" jsonschema:"enum=on,enum=off"`
	SMT            string   `json:"smt,omitempty" jsonschema:"enum=on,enum=off"`
	Siblings       []int    `json:"siblings,omitempty" jsonschema:"description=other CPUs online of the bench CPU's core"`
	FastCPUs       []int    `json:"fast_cpus,omitempty" jsonschema:"description=CPUs of the fastest kind where the bench CPU is of a smaller one"`
	Virtualisation string   `json:"virtualisation,omitempty"`
	PMU            string   `json:"pmu,omitempty" jsonschema:"description=the performance monitoring unit of the bench CPU, as /sys/bus/event_source/devices names it"`
	PMUType        int      `json:"pmu_type,omitempty" jsonschema:"description=its number for perf_event_attr.type, or for the high bits of config"`
	PerfParanoid   string   `json:"perf_event_paranoid,omitempty"`
	Rdpmc          string   `json:"rdpmc,omitempty" jsonschema:"description=x86: 0 where no process may read its counters itself"`
	PerfUserAccess string   `json:"perf_user_access,omitempty" jsonschema:"description=AArch64: 1 where a process may read its counters itself"`
	NMIWatchdog    string   `json:"nmi_watchdog,omitempty" jsonschema:"enum=on,enum=off,description=on: the kernel keeps a cycle counter for itself"`
	Isolated       bool     `json:"isolated,omitempty" jsonschema:"description=the scheduler leaves the bench CPU alone (isolcpus or an isolated cpuset)"`
	NohzFull       string   `json:"nohz_full,omitempty" jsonschema:"enum=on,enum=off,description=on: the kernel's tick leaves a lone task on the bench CPU alone"`
	CPULimit       float64  `json:"cpu_limit,omitempty" jsonschema:"description=CPU time that a control group allows as a number of CPUs; none: not limited"`
	CPULimitFile   string   `json:"cpu_limit_file,omitempty" jsonschema:"description=the control group's file that sets cpu_limit below the root directory"`
	MemoryKiB      int64    `json:"memory_kib"`
	OS             string   `json:"os"`
	Kernel         string   `json:"kernel"`
	Libc           string   `json:"libc"`
	Machine        string   `json:"machine,omitempty" jsonschema:"description=vendor and product where DMI tells"`
}

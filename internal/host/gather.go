package host

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// maxFile bounds what is read of one file; /proc/cpuinfo of 8192 CPUs is 12 MB.
const maxFile = 16 << 20

const cpuDir = "sys/devices/system/cpu"

// Gather reads the machine's facts from its root directory, os.DirFS("/"), for a
// bench on CPU benchCPU. A fact that the machine does not show stays empty, since
// most files are missing somewhere. The only error is a bench CPU that cannot be
// used. Libc is not among the files: set it from [Libc].
//
// Call it before pinning: AllowedCPUs are the main thread's.
func Gather(fsys fs.FS, benchCPU int) (Facts, error) {
	r := root{fsys}
	cpus := ParseCPUInfo(r.text("proc/cpuinfo"))
	online := r.cpuList(cpuDir + "/online")
	if len(online) == 0 {
		for _, c := range cpus {
			online = append(online, c.Number)
		}
		slices.Sort(online)
	}
	if benchCPU < 0 || len(online) > 0 && !slices.Contains(online, benchCPU) {
		return Facts{}, fmt.Errorf("CPU %d is not online (online: %s): choose one of these", benchCPU, FormatCPUList(online))
	}
	f := Facts{
		CPUs:        len(online),
		AllowedCPUs: r.allowedCPUs(),
		BenchCPU:    benchCPU,
		MemoryKiB:   r.memoryKiB(),
		OS:          r.osName(),
		Kernel:      r.line("proc/sys/kernel/osrelease"),
		Machine:     r.machine(),
	}
	r.processor(&f, cpus)
	f.Virtualisation = r.virtualisation(slices.Contains(f.Features, "hypervisor"))
	r.clock(&f)
	siblings := r.siblings(benchCPU)
	f.SMT = r.smt(siblings, f.virtual())
	f.Siblings = slices.DeleteFunc(siblings, func(c int) bool { return c == benchCPU })
	f.FastCPUs = r.fastCPUs(&f, online)
	r.perf(&f)
	r.alone(&f)
	f.CPULimit, f.CPULimitFile = r.cpuLimit()
	return f, nil
}

// siblings are the CPUs of the bench CPU's core, itself among them; empty where
// they are not shown.
func (r root) siblings(cpu int) []int {
	return r.cpuList(fmt.Sprintf("%s/cpu%d/topology/thread_siblings_list", cpuDir, cpu))
}

// alone fills in who leaves the bench CPU alone.
func (r root) alone(f *Facts) {
	for _, file := range []string{cpuDir + "/isolated", cgroupV2[0] + "/cpuset.cpus.isolated"} {
		f.Isolated = f.Isolated || slices.Contains(r.cpuList(file), f.BenchCPU)
	}
	if !r.exists(cpuDir + "/nohz_full") {
		return
	}
	f.NohzFull = "off" // "(null)" where no CPU is
	if slices.Contains(r.cpuList(cpuDir+"/nohz_full"), f.BenchCPU) {
		f.NohzFull = "on"
	}
}

// fastCPUs are the CPUs online of the fastest kind; none when the bench CPU is one
// of them. Intel's small cores are known by their PMU; its cpu_capacity differs
// between large cores too. Others go by the capacity, 1024 for the fastest
// (kernel, Documentation/scheduler/sched-capacity.rst).
func (r root) fastCPUs(f *Facts, online []int) (fast []int) {
	if f.smallIntel() {
		return r.cpuList("sys/devices/cpu_core/cpus")
	}
	capacity := func(cpu int) int64 { return r.number(fmt.Sprintf("%s/cpu%d/cpu_capacity", cpuDir, cpu)) }
	own := capacity(f.BenchCPU)
	if f.Arch != "aarch64" || own == 0 {
		return nil
	}
	var most int64
	for _, cpu := range online {
		most = max(most, capacity(cpu))
	}
	if 10*own >= 8*most { // two clusters of one kind may differ a little
		return nil
	}
	return slices.DeleteFunc(slices.Clone(online), func(cpu int) bool { return 10*capacity(cpu) < 8*most })
}

// processor fills in what the bench CPU is.
func (r root) processor(f *Facts, cpus []CPU) {
	i := slices.IndexFunc(cpus, func(c CPU) bool { return c.Number == f.BenchCPU })
	if i < 0 {
		return
	}
	bench := cpus[i]
	f.Arch = bench.arch()
	f.Features = bench.features()
	f.CPUModel = bench.Fields["model name"]
	f.Microcode = bench.Fields["microcode"]
	f.CPUID = bench.cpuid()
	f.CoreType = r.hybridType(f.BenchCPU)
	if f.Arch != "aarch64" {
		return
	}
	m, ok := bench.midr()
	if !ok {
		if m, ok = parseMIDR(r.line(fmt.Sprintf("%s/cpu%d/regs/identification/midr_el1", cpuDir, f.BenchCPU))); !ok {
			f.CoreType = "" // may be one of several kinds
			return
		}
	}
	f.Microcode = m.stepping()
	f.CPUID = m.numbers()
	f.CPUModel = m.core() // "model name", where a vendor's kernel has it, is the same for all kinds of core
	for _, c := range cpus {
		if o, ok := c.midr(); ok && (o.implementer != m.implementer || o.part != m.part) {
			f.CoreType = m.core()
		}
	}
}

// hybridType is the kind of core of an Intel hybrid machine, which has one
// performance monitoring unit for each; other machines are uniform (kernel,
// tools/perf/Documentation/intel-hybrid.txt).
func (r root) hybridType(cpu int) string {
	for _, pmu := range []string{"cpu_core", "cpu_atom", "cpu_lowpower"} {
		for _, dir := range []string{"sys/devices/", pmuDir + "/"} {
			if slices.Contains(r.cpuList(dir+pmu+"/cpus"), cpu) {
				return pmu
			}
		}
	}
	return "uniform"
}

// clock fills in how the bench CPU's clock is held (kernel,
// Documentation/admin-guide/pm/cpufreq.rst and intel_pstate.rst).
func (r root) clock(f *Facts) {
	dir := fmt.Sprintf("%s/cpu%d/cpufreq/", cpuDir, f.BenchCPU)
	f.Governor = r.line(dir + "scaling_governor")
	f.ClockDriver = r.line(dir + "scaling_driver")
	f.MinKHz = r.number(dir + "scaling_min_freq")
	f.MaxKHz = r.number(dir + "scaling_max_freq")
	f.BaseKHz = r.number(dir + "base_frequency")
	switch r.line(cpuDir + "/intel_pstate/no_turbo") {
	case "0":
		f.Boost = "on"
		return
	case "1":
		f.Boost = "off"
		return
	}
	// One CPU's own switch, where there is one, wins over the machine's.
	for _, name := range []string{dir + "boost", cpuDir + "/cpufreq/boost"} {
		if f.Boost = onOff(r.line(name)); f.Boost != "" {
			return
		}
	}
}

// smt says whether the bench CPU may share its core: siblings are its CPUs online,
// or empty. A virtual machine that sees no siblings knows nothing of those that
// its host has.
func (r root) smt(siblings []int, virtual bool) string {
	state := onOff(r.line(cpuDir + "/smt/active"))
	switch {
	case len(siblings) > 1:
		state = "on"
	case len(siblings) == 1:
		state = "off" // this core is, even if others are not
	}
	if virtual && state == "off" {
		return ""
	}
	return state
}

const pmuDir = "sys/bus/event_source/devices"

// perf fills in what stands between this process and core cycles.
func (r root) perf(f *Facts) {
	f.PerfParanoid = r.line("proc/sys/kernel/perf_event_paranoid")
	f.PerfUserAccess = r.line("proc/sys/kernel/perf_user_access")
	f.NMIWatchdog = onOff(r.line("proc/sys/kernel/nmi_watchdog"))
	units, err := fs.ReadDir(r.fsys, pmuDir)
	if err != nil {
		return
	}
	for _, u := range units {
		// A core's unit is "cpu", or names the CPUs that it counts in "cpus";
		// units outside of the cores have "cpumask" (kernel, tools/perf/util/pmu.c).
		if u.Name() == "cpu" || slices.Contains(r.cpuList(path.Join(pmuDir, u.Name(), "cpus")), f.BenchCPU) {
			f.PMU = u.Name()
			f.PMUType = int(r.number(path.Join(pmuDir, u.Name(), "type")))
			f.Rdpmc = r.line(path.Join(pmuDir, u.Name(), "rdpmc"))
			return
		}
	}
}

// allowedCPUs are the CPUs that this process may run on.
func (r root) allowedCPUs() []int {
	for line := range strings.Lines(r.text("proc/self/status")) {
		if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			cpus, _ := ParseCPUList(list) // damaged: not known
			return cpus
		}
	}
	return nil
}

func (r root) memoryKiB() int64 {
	for line := range strings.Lines(r.text("proc/meminfo")) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == "MemTotal:" && words[2] == "kB" {
			n, _ := strconv.ParseInt(words[1], 10, 64) // damaged: 0, not known
			return max(n, 0)
		}
	}
	return 0
}

// osName is PRETTY_NAME of os-release(5).
func (r root) osName() string {
	for _, file := range []string{"etc/os-release", "usr/lib/os-release"} {
		for line := range strings.Lines(r.text(file)) {
			if value, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
				return unquote(clean(value))
			}
		}
	}
	return ""
}

// unquote takes the quotes off a value of os-release(5), which follows the
// shell: within double quotes a backslash keeps the next of $ " \ ` as it is.
func unquote(s string) string {
	if len(s) < 2 || s[0] != s[len(s)-1] || s[0] != '"' && s[0] != '\'' {
		return s
	}
	quote, s := s[0], s[1:len(s)-1]
	if quote == '"' {
		s = strings.NewReplacer(`\$`, `$`, `\"`, `"`, `\\`, `\`, "\\`", "`").Replace(s)
	}
	return s
}

// root reads a machine's small text files; one that is missing or cannot be read
// is empty.
type root struct{ fsys fs.FS }

func (r root) text(name string) string {
	file, err := r.fsys.Open(name)
	if err != nil {
		return ""
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return "" // half a file would be half a truth
	}
	return string(data)
}

func (r root) line(name string) string { return clean(r.text(name)) }

func (r root) exists(name string) bool {
	_, err := fs.Stat(r.fsys, name)
	return err == nil
}

// number is a positive whole number, or 0: not known.
func (r root) number(name string) int64 {
	n, err := strconv.ParseInt(r.line(name), 10, 64)
	if err != nil {
		return 0
	}
	return max(n, 0)
}

func (r root) cpuList(name string) []int {
	cpus, err := ParseCPUList(r.line(name))
	if err != nil {
		return nil
	}
	return cpus
}

func onOff(s string) string {
	switch s {
	case "1":
		return "on"
	case "0":
		return "off"
	}
	return ""
}

func hasWord(s, word string) bool { return slices.Contains(strings.Fields(s), word) }

// clean takes off what would break a table or a terminal: space at the ends, the
// NUL of device tree strings, control characters.
func clean(s string) string {
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		switch {
		case c == '\t' || c == '\n':
			return ' '
		case unicode.IsPrint(c):
			return c
		}
		return -1
	}, s))
}

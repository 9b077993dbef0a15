package driver

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// buildCounterTest compiles a program of testdata/counter with those of csrc and
// returns the command that runs it. Its paths of /proc and /sys are relative.
func buildCounterTest(t *testing.T, p *platform, program string, sources ...string) []string {
	t.Helper()
	p.use(t) // skips where the platform is missing
	out := filepath.Join(t.TempDir(), "test")
	args := append([]string{}, flags...)
	args = append(args, "-Werror", `-DNGCC_ROOT="."`, "-Icsrc", "-o", out, "testdata/counter/"+program)
	for _, s := range sources {
		args = append(args, "csrc/"+s)
	}
	if text, err := exec.Command(p.cc, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return append(append([]string{}, p.emulator...), out)
}

// tree makes files below a new folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// The arithmetic and the retries of a reading in user space; the right values
// stand in page.c, from the rule in linux/perf_event.h.
func TestCounterPage(t *testing.T) {
	onEach(t, func(t *testing.T, p *platform) {
		command := buildCounterTest(t, p, "page.c")
		text, err := exec.Command(command[0], command[1:]...).CombinedOutput()
		if err != nil || len(text) > 0 {
			t.Errorf("%v\n%s", err, text)
		}
	})
}

const devices = "sys/bus/event_source/devices/"

var (
	onePMU = map[string]string{
		devices + "cpu/type":                  "4\n",
		"proc/self/status":                    "Name:\tx\nCapEff:\t0000000000000000\nSeccomp:\t0\n",
		"proc/sys/kernel/perf_event_paranoid": "4\n",
		"proc/sys/kernel/perf_user_access":    "0\n",
		"proc/sys/kernel/nmi_watchdog":        "1\n",
	}
	twoPMUs = map[string]string{
		devices + "cpu_core/type":      "4\n",
		devices + "cpu_core/cpus":      "0-7\n",
		devices + "cpu_atom/type":      "10\n",
		devices + "cpu_atom/cpus":      "8-11,14\n",
		devices + "uncore_imc/type":    "20\n",
		devices + "uncore_imc/cpumask": "0\n",
		devices + "cpu_atom/caps/x":    "1\n",
		"proc/sys/kernel/nmi_watchdog": "0\n",
		"proc/self/status":             "CapEff:\t0000000000000000\n",
	}
	container = map[string]string{
		devices + "cpu/type":                  "4\n",
		".dockerenv":                          "",
		"proc/self/status":                    "Name:\tx\nCapEff:\t0000004000000000\nSeccomp:\t2\n",
		"proc/sys/kernel/perf_event_paranoid": "2\n",
	}
)

// Each step of the ladder over a made-up kernel (ladder.c). @ is what reads a
// counter in user space: rdpmc or mrs.
func TestCounterLadder(t *testing.T) {
	tests := map[string]struct {
		files map[string]string
		args  string
		want  []string
		only  string // platform
	}{
		"user space":      {onePMU, "3", []string{"how @, instructions 1, branch misses 1, open 3\n", "config 0,", "cpu 3\n", "note: core-cycles by @\n"}, ""},
		"any CPU":         {onePMU, "-1", []string{"how @,", "cpu -1\n"}, ""},
		"no branches":     {onePMU, "3 branches=2", []string{"how @, instructions 1, branch misses 0, open 2\n", "note: branch misses are not counted: No such file"}, ""},
		"no instructions": {onePMU, "3 instructions=22", []string{"how @, instructions 0, branch misses 1, open 2\n", "instructions are not counted: Invalid argument; core-cycles by"}, ""},
		"room for two":    {onePMU, "3 room=2", []string{"how @, instructions 1, branch misses 0, open 2\n", "branch misses are not counted: core-cycles: the PMU has no room", "kernel.nmi_watchdog is 1 and holds a counter: sudo sysctl kernel.nmi_watchdog=0"}, ""},
		"room for one":    {onePMU, "3 room=1", []string{"how @, instructions 0, branch misses 0, open 1\n"}, ""},
		"no room":         {onePMU, "3 room=0", []string{"failed: core-cycles: the PMU has no room", "kernel.nmi_watchdog=0", "open 0, pages 0"}, ""},
		"multiplexed":     {onePMU, "3 shared=1", []string{"failed: core-cycles: counted for 400 of 1000 ns only, since the PMU has no room", "open 0, pages 0"}, ""},
		"silent":          {onePMU, "3 silent=0", []string{"failed: core-cycles: the counter counted nothing: ", "open 0"}, ""},
		"silent second":   {onePMU, "3 rdpmc=0 silent=1", []string{"how read, instructions 0, branch misses 1, open 2\n", "instructions are not counted: core-cycles: the counter counted nothing"}, ""},
		"not allowed":     {onePMU, "3 rdpmc=0", []string{"how read, instructions 1, branch misses 1, open 3\n", "note: core-cycles by read, since @: the kernel does not let"}, ""},
		"sysfs":           {onePMU, "3 rdpmc=0", []string{"echo 1 | sudo tee /sys/bus/event_source/devices/cpu/rdpmc\n"}, "native"},
		"sysctl":          {onePMU, "3 index=0", []string{"how read,", "last: config1 0\n", "kernel.perf_user_access is 0: sudo sysctl kernel.perf_user_access=1"}, "aarch64"},
		"not on":          {onePMU, "3 index=0", []string{"how read,", "since @: the event is on no counter"}, ""},
		"fault":           {onePMU, "3 fault=1", []string{"how read, instructions 1, branch misses 1, open 3\n", "since @: the instruction is not allowed here: "}, ""},
		"disagrees":       {onePMU, "3 wrong=1", []string{"how read,", "since @: it does not agree"}, ""},
		"cycles disagree": {onePMU, "3 wrong=1 instructions=22 branches=2", []string{"how read,", "since @: it does not agree"}, ""},
		"no page":         {onePMU, "3 map=1", []string{"how read,", "since @: mmap: Operation not permitted", "kernel.perf_event_mlock_kb"}, ""},
		"AArch64":         {onePMU, "3", []string{"leader: config 0, config1 3, cpu 3\nlast: config1 3"}, "aarch64"},
		"short counters":  {onePMU, "3 long=95", []string{"how mrs, instructions 1, branch misses 1, open 3", "config1 3, cpu 3\nlast: config1 2"}, "aarch64"},
		"not bound":       {onePMU, "3 bound=22", []string{"how mrs,", "config1 3, cpu -1\n"}, "aarch64"},
		"hybrid":          {twoPMUs, "9", []string{"how @,", "config a00000000,", "cpu 9\n"}, ""},
		"hybrid, big":     {twoPMUs, "7", []string{"config 400000000,"}, ""},
		"hybrid, last":    {twoPMUs, "14", []string{"config a00000000,"}, ""},
		"older kernel":    {twoPMUs, "9 type=2", []string{"how @,", "config 0,", "cpu 9\n"}, ""},
		"hybrid, none":    {twoPMUs, "12 silent=0", []string{"failed: core-cycles: the counter counted nothing: there are several kinds of cores, and no PMU counts on this one: bind"}, ""},
		"paranoid": {onePMU, "3 cycles=13", []string{"failed: core-cycles: perf_event_open: Permission denied (errno 13); kernel.perf_event_paranoid is 4, " +
			"neither CAP_PERFMON nor CAP_SYS_ADMIN is there: sudo sysctl kernel.perf_event_paranoid=2\n"}, ""},
		"container": {container, "3 cycles=1", []string{"kernel.perf_event_paranoid is 2, CAP_PERFMON or CAP_SYS_ADMIN is there, a container by the look of /.dockerenv: " +
			"the level would allow it, so a seccomp profile or a security module refuses: start the container with --cap-add PERFMON"}, ""},
		"no PMU":   {nil, "3 cycles=2", []string{"failed: core-cycles: perf_event_open: No such file or directory (errno 2): the kernel shows no PMU of this core", "virtual PMU"}, ""},
		"emulator": {nil, "3 cycles=38", []string{"failed: core-cycles: perf_event_open: Function not implemented", "CONFIG_PERF_EVENTS"}, ""},
	}
	onEach(t, func(t *testing.T, p *platform) {
		command := buildCounterTest(t, p, "ladder.c", "perf_why.c", "pmu_type.c", "reply.c")
		reader := map[string]string{"native": "rdpmc", "aarch64": "mrs"}[p.name]
		for name, test := range tests {
			if test.only != "" && test.only != p.name {
				continue
			}
			t.Run(name, func(t *testing.T) {
				args := append(command[1:len(command):len(command)], strings.Fields(test.args)...)
				c := exec.Command(command[0], args...)
				c.Dir = tree(t, test.files)
				text, err := c.CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				for _, want := range test.want {
					if want = strings.ReplaceAll(want, "@", reader); !strings.Contains(string(text), want) {
						t.Errorf("%q is missing in\n%s", want, text)
					}
				}
			})
		}
	})
}

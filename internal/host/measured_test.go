package host

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// files makes a machine of "name: contents" pairs.
func files(pairs ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return m
}

func names(problems []Problem) (n []string) {
	for _, p := range problems {
		n = append(n, p.Name)
	}
	return n
}

// fixedFacts are of a machine with which nothing is wrong.
func fixedFacts() Facts {
	return Facts{
		Arch: "x86-64", CPUs: 12, AllowedCPUs: []int{0, 2, 4}, BenchCPU: 2, CoreType: "cpu_core", Governor: "performance",
		ClockDriver: "intel_pstate", MinKHz: 2100000, MaxKHz: 2100000, Boost: "off", SMT: "off", PMU: "cpu_core", Rdpmc: "1",
		PerfParanoid: "1", NMIWatchdog: "off", Isolated: true, NohzFull: "on", OS: "Debian GNU/Linux 13 (trixie)",
	}
}

// steady is a measurement in which nothing disturbed, of 21 windows.
func steady(change func(s *Steadiness)) Measured {
	s := &Steadiness{Counter: CoreCycles, LevelTicks: 5000, BusyTicks: 8500}
	for range 21 {
		s.Windows = append(s.Windows, SteadyWindow{
			Nanoseconds: 50_000_000, Ticks: 105_000_000, Probes: 20_000, Quiet: 19_900, LevelTicks: 5000, LongestNs: 9000,
		})
	}
	change(s)
	return Measured{Steady: s, Load: &Load{Seconds: 1.1}}
}

func TestSteadinessFigures(t *testing.T) {
	s := steady(func(s *Steadiness) {
		s.Windows[3] = SteadyWindow{Nanoseconds: 100_000_000, Ticks: 106_050_000, Probes: 10_000, Quiet: 2_000, LevelTicks: 5100, LongestNs: 30_000_000, LostNs: 50_000_000, Gaps: 2}
		s.Windows[4].Probes, s.Windows[4].Quiet, s.Windows[4].LevelTicks = 50, 0, 9000 // too few to count
	}).Steady
	for _, test := range []struct {
		name      string
		got, want float64
	}{
		{"quiet share", s.QuietShare(), (19*19900. + 2000) / (19*20000 + 10000 + 50)},
		{"busy factor", s.BusyFactor(), 1.7},
		{"lost share", s.LostShare(), 50. / 1100},
		{"gaps", float64(s.Gaps()), 2},
		{"longest", float64(s.LongestNs()), 30e6},
		{"level drift", s.LevelDrift(), 0.02},
		{"rate drift", s.RateDrift(), 0.01}, // core cycles stand still in gaps: 2.121 to 2.1
		{"ticks a nanosecond", s.TicksPerNs(), 2.1},
	} {
		if d := test.got - test.want; d > 1e-9 || d < -1e-9 {
			t.Errorf("%s: %v, want %v", test.name, test.got, test.want)
		}
	}
	s.Counter = TSC
	if d := s.RateDrift() - (2.1/1.0605 - 1); d > 1e-9 || d < -1e-9 {
		t.Errorf("rate drift of the TSC: %v", s.RateDrift())
	}
	if e := (&Steadiness{}); e.QuietShare() != 0 || e.BusyFactor() != 1 || e.LostShare() != 0 || e.LevelDrift() != 0 || e.RateDrift() != 0 || e.TicksPerNs() != 0 {
		t.Error("figures of nothing are not zero")
	}
}

func TestProblems(t *testing.T) {
	nothing := func(*Steadiness) {}
	for _, test := range []struct {
		name     string
		facts    func(*Facts)
		measured Measured
		want     string // name, with * if not fixed
		effect   string // in the last one's
	}{
		{"nothing wrong", nil, steady(nothing), "", ""},
		{"not measured", nil, Measured{}, "", ""},
		{"SMT", func(f *Facts) { f.SMT, f.Siblings = "on", []int{3} }, steady(func(s *Steadiness) {
			for i := range s.Windows {
				s.Windows[i].Quiet = 7_000
			}
		}), "SMT on*", "35 % of probes quiet, the others 1.70 times as long"},
		{"hidden sibling", nil, steady(func(s *Steadiness) {
			for i := range s.Windows {
				s.Windows[i].Quiet = 7_000
			}
		}), "core shared", "35 % of probes quiet"},
		{"free clock", func(f *Facts) { f.MinKHz = 800000 }, steady(func(s *Steadiness) { s.Windows[7].Ticks *= 2 }), "clock free*", "2.100 GHz, by 100 % apart"},
		{"clock drops in spite of limits", nil, steady(func(s *Steadiness) { s.Windows[7].Ticks = 100_000_000 }), "clock unsteady*", "by 5.0 % apart"},
		{"another counter", nil, steady(func(s *Steadiness) { s.Counter = TSC }), "no core cycles*", ""},
		{"held off", nil, steady(func(s *Steadiness) {
			w := &s.Windows[0]
			w.Ticks, w.LongestNs, w.LostNs, w.Gaps = 98_700_000, 4e6, 3e6, 1
		}), "held off the CPU", "held off once, for up to 4.00 ms, 0.29 % of the time"},
		{"not isolated", func(f *Facts) { f.Isolated = false }, steady(func(s *Steadiness) { s.Switches = 3 }), "not isolated", "held off never, for up to 0.01 ms, 0.0 % of the time; 3 switches"},
		{"tick", func(f *Facts) { f.NohzFull = "off" }, steady(nothing), "tick on", ""},
		{"rdpmc", func(f *Facts) { f.Rdpmc = "0" }, steady(nothing), "rdpmc off", ""},
		{"one CPU", func(f *Facts) { f.AllowedCPUs = []int{2} }, steady(nothing), "one CPU only", "held off never"},
		{"limit", func(f *Facts) { f.CPULimit, f.CPULimitFile = 1.5, "sys/fs/cgroup/cpu.max" }, Measured{Load: &Load{LimitedShare: 0.3}}, "CPU time limited*", "stopped for 30 %"},
		{"steal", nil, Measured{Load: &Load{StealShare: 0.04}}, "time stolen*", "4.0 % of its time"},
		{"virtual", func(f *Facts) { f.Virtualisation = "virtual machine (KVM)" }, Measured{Load: &Load{}}, "virtual machine*", "0.0 % of the bench CPU's"},
		{"throttled now", nil, Measured{Load: &Load{Throttled: 3, ThrottledEver: 9, Seconds: 1}}, "thermal throttling*", "3 times in 1.0 s, 9 since"},
		{"throttled once", nil, Measured{Load: &Load{ThrottledEver: 9}}, "was throttled", "none of them now"},
		{"load", nil, Measured{Load: &Load{OtherShare: 0.5, WaitShare: 0.4, SiblingShare: 1, ElsewhereLoad: 2.5, LoadAverage: 3}}, "other load",
			"50 % of the bench CPU, tasks waited for it for 40 % of the time, its sibling was busy for 100 %, 2.5 other CPUs worked; load average 3.00"},
		{"big.LITTLE", func(f *Facts) { f.FastCPUs = []int{4, 5} }, Measured{}, "efficiency core*", ""},
		{"governor", func(f *Facts) { f.Governor = "powersave" }, Measured{}, "governor powersave*", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := fixedFacts()
			if test.facts != nil {
				test.facts(&f)
			}
			problems := Problems(f, test.measured)
			var got []string
			for _, p := range problems {
				if p.NotFixed {
					p.Name += "*"
				}
				got = append(got, p.Name)
			}
			if strings.Join(got, ", ") != test.want {
				t.Fatalf("%q, want %q", got, test.want)
			}
			if len(problems) > 0 && !strings.Contains(problems[len(problems)-1].Effect, test.effect) {
				t.Errorf("effect %q, want %q in it", problems[len(problems)-1].Effect, test.effect)
			}
			if fatal := NotFixed(f, test.measured); (len(fatal) > 0) != strings.HasSuffix(test.want, "*") {
				t.Errorf("not fixed: %q", names(fatal))
			}
		})
	}
}

// Every problem of every snapshot that the guide's campaigns exclude is marked.
func TestNotFixedSnapshots(t *testing.T) {
	for _, test := range []struct {
		name string
		cpu  int
		want []string
	}{
		{"epyc-kvm", 0, []string{"virtual machine", "clock hidden", "no core cycles"}},
		{"i7-12700", 2, nil},
		{"i7-12700", 17, []string{"clock hidden", "efficiency core"}}, // the snapshot has no cpufreq of that CPU
		{"rk3588", 6, []string{"clock free", "governor schedutil", "perf events refused"}},
		{"snapdragon-x", 2, nil},
	} {
		f, err := Gather(snapshot(t, test.name), test.cpu)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, names(NotFixed(f, Measured{}))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// The accounts are as proc_stat(5) and sched-stats.rst describe them; between the
// two looks CPU 1 worked 50 ticks, of which this process had 0.3 s, was idle 40 and
// stolen 10.
func TestLoad(t *testing.T) {
	const thermal = "sys/devices/system/cpu/cpu1/thermal_throttle/"
	f := Facts{BenchCPU: 1, Siblings: []int{3}, CPULimit: 2, CPULimitFile: "sys/fs/cgroup/cpu.max"}
	a := f.Look(files(
		"proc/stat", "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 100 0 0 100 0 0 0 0 0 0\ncpu1 100 10 20 300 5 1 2 7 50 0\ncpu3 0 0 0 0 0 0 0 0 0 0\nintr 5\n",
		"proc/loadavg", "0.15 0.26 1.19 1/200 17\n", "proc/schedstat", "version 17\ncpu1 0 0 0 0 0 0 900 1000 5\ndomain0 3\n",
		thermal+"core_throttle_count", "4\n", thermal+"package_throttle_count", "2\n",
		"sys/fs/cgroup/cpu.stat", "usage_usec 5\nnr_throttled 3\nthrottled_usec 1000\n"))
	b := f.Look(files(
		"proc/stat", "cpu0 150 0 0 150 0 0 0 0 0 0\ncpu1 120 15 35 335 10 6 7 17 60 0\ncpu3 90 0 0 10 0 0 0 0 0 0\ncpu4 1 2\n",
		"proc/loadavg", "2.50 0.26 1.19 1/200 17\n", "proc/schedstat", "version 17\ncpu1 0 0 0 0 0 0 900 250001000 5\n",
		thermal+"core_throttle_count", "5\n", thermal+"package_throttle_count", "4\n",
		"sys/fs/cgroup/cpu.stat", "throttled_usec 101000\n"))
	want := Load{
		Seconds: 1, StealShare: 0.1, OtherShare: 0.2, WaitShare: 0.25, SiblingShare: 0.9, ElsewhereLoad: 1.4,
		LoadAverage: 2.5, Throttled: 3, ThrottledEver: 9, LimitedShare: 0.1,
	}
	if diff := cmp.Diff(want, a.Until(b, f, 300_000_000), cmp.Comparer(func(x, y float64) bool { return x-y < 1e-9 && y-x < 1e-9 })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := b.Until(a, f, 0); got.StealShare < 0 || got.OtherShare != 0 || got.Throttled != 0 || got.WaitShare != 0 || got.LimitedShare != 0 {
		t.Errorf("accounts that run backwards: %+v", got)
	}
	empty := f.Look(fstest.MapFS{})
	if diff := cmp.Diff(Load{}, empty.Until(empty, f, 1)); diff != "" {
		t.Errorf("no accounts: %s", diff)
	}
}

func TestCPULimit(t *testing.T) {
	for _, test := range []struct {
		name  string
		files fstest.MapFS
		cpus  float64
		file  string
	}{
		{"none", files("proc/self/cgroup", "0::/\n"), 0, ""},
		{"max", files("proc/self/cgroup", "0::/a\n", "sys/fs/cgroup/a/cpu.max", "max 100000\n"), 0, ""},
		{"container's root", files("proc/self/cgroup", "0::/\n", "sys/fs/cgroup/cpu.max", "150000 100000\n"), 1.5, "sys/fs/cgroup/cpu.max"},
		{"the tightest of several", files("proc/self/cgroup", "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max", "400000 100000", "sys/fs/cgroup/a/cpu.max", "50000 100000"), 0.5, "sys/fs/cgroup/a/cpu.max"},
		{"version 1", files("proc/self/cgroup", "4:memory:/m\n3:cpu,cpuacct:/docker/1\n", "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "200000", "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000"), 2, "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us"},
		{"version 1 without", files("proc/self/cgroup", "3:cpu:/\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1", "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000"), 0, ""},
		{"not the cpu controller", files("proc/self/cgroup", "3:cpuset:/\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "1", "sys/fs/cgroup/cpu/cpu.cfs_period_us", "1"), 0, ""},
		{"above the mount", files("proc/self/cgroup", "0::/../../etc\n", "etc/cpu.max", "1 1"), 0, ""},
		{"damaged", files("proc/self/cgroup", "0::/\nx\n::\n", "sys/fs/cgroup/cpu.max", "5 0"), 0, ""},
	} {
		if cpus, file := (root{test.files}).cpuLimit(); cpus != test.cpus || file != test.file {
			t.Errorf("%s: %v by %q, want %v by %q", test.name, cpus, file, test.cpus, test.file)
		}
	}
	if us := (root{files("c/cpu.stat", "nr_throttled 1\nthrottled_time 5000000\n")}).limitedUs("c/cpu.cfs_quota_us"); us != 5000 {
		t.Errorf("version 1 stopped it for %d us, want 5000", us)
	}
}

func TestGatherBench(t *testing.T) {
	const cpu = "sys/devices/system/cpu/"
	f, err := Gather(files(
		"proc/cpuinfo", "processor: 3\nvendor_id: GenuineIntel\nflags: lm\n", cpu+"online", "0-3", cpu+"isolated", "\n", cpu+"nohz_full", "2-3\n",
		cpu+"smt/active", "1\n", cpu+"cpu3/topology/thread_siblings_list", "1,3\n", "sys/fs/cgroup/cpuset.cpus.isolated", "3\n",
		"sys/bus/event_source/devices/cpu/type", "4", "sys/bus/event_source/devices/cpu/rdpmc", "2\n"), 3)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(f.Siblings, []int{1}) || f.SMT != "on" || !f.Isolated || f.NohzFull != "on" || f.Rdpmc != "2" || f.FastCPUs != nil {
		t.Errorf("%+v", f)
	}
	// A core whose other thread was taken away alone, and no nohz_full.
	f, err = Gather(files(cpu+"smt/active", "1", cpu+"cpu3/topology/thread_siblings_list", "3", cpu+"nohz_full", "(null)\n"), 3)
	if err != nil || f.SMT != "off" || len(f.Siblings) != 0 || f.NohzFull != "off" {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestFastCPUs(t *testing.T) {
	arm := []string{"proc/cpuinfo", "processor: 0\nCPU implementer: 0x41\nCPU part: 0xd05\n", "sys/devices/system/cpu/online", "0-3"}
	for i, capacity := range []string{"414", "414", "1000", "1024"} {
		arm = append(arm, "sys/devices/system/cpu/cpu"+string(rune('0'+i))+"/cpu_capacity", capacity)
	}
	for _, test := range []struct {
		files fstest.MapFS
		cpu   int
		want  []int
	}{
		{files(arm...), 0, []int{2, 3}},
		{files(append(arm, "proc/cpuinfo", "processor: 2\nCPU implementer: 0x41\n")...), 2, nil},
		{snapshot(t, "i7-12700"), 17, []int{0, 2, 4, 6, 8, 10, 12, 14}},
		{snapshot(t, "i7-12700"), 2, nil},
	} {
		f, err := Gather(test.files, test.cpu)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(f.FastCPUs, test.want) {
			t.Errorf("CPU %d: %v, want %v", test.cpu, f.FastCPUs, test.want)
		}
	}
}

func TestMendBoot(t *testing.T) {
	f := Facts{Arch: "x86-64", CPUs: 4, BenchCPU: 3, OS: "Ubuntu 24.04.1 LTS"}
	if got, want := problemOf(f, "not isolated").Mend, `sudo sed -i 's/^GRUB_CMDLINE_LINUX="/&isolcpus=3 nohz_full=3 /' /etc/default/grub && sudo update-grub && sudo reboot`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	f.OS = "Fedora Linux 42"
	if got, want := problemOf(f, "not isolated").Mend, `sudo grubby --update-kernel=ALL --args="isolcpus=3 nohz_full=3" && sudo reboot`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	f.Virtualisation = "docker container"
	if p := problemOf(f, "not isolated"); p.Mend != "" || !strings.Contains(p.Detail, "add isolcpus=3 nohz_full=3") {
		t.Errorf("in a container: %+v", p)
	}
}

func FuzzLook(f *testing.F) {
	f.Add("cpu1 100 10 20 300 5 1 2 7 50 0\n", "cpu1 0 0 0 0 0 0 900 1000 5\n", "0.15 0.2 1/2 3")
	f.Add("cpu1 9007199254740992 9007199254740992 9007199254740992 9007199254740992 0 0 0 0\n", "cpu1", "NaN")
	f.Fuzz(func(t *testing.T, stat, sched, avg string) {
		m := Facts{BenchCPU: 1, Siblings: []int{0}}
		a := m.Look(files("proc/stat", "cpu0 1 1 1 1 1 1 1 1\ncpu1 1 1 1 1 1 1 1 1\n"))
		l := a.Until(m.Look(files("proc/stat", stat, "proc/schedstat", sched, "proc/loadavg", avg)), m, 1)
		for _, share := range []float64{l.StealShare, l.OtherShare, l.SiblingShare} {
			if !(share >= 0 && share <= 1) {
				t.Errorf("share %v in %+v", share, l)
			}
		}
		if !(l.WaitShare >= 0 && l.ElsewhereLoad >= 0 && l.LoadAverage >= 0 && l.Seconds >= 0) {
			t.Errorf("%+v", l)
		}
	})
}

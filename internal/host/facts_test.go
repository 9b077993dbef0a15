package host

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClockPolicy(t *testing.T) {
	for _, test := range []struct {
		name  string
		facts Facts
		want  ClockPolicy
	}{
		{"no cpufreq", Facts{}, ClockPolicy{Hidden, 2600000}},
		{"range", Facts{MinKHz: 800000, MaxKHz: 4900000, Governor: "performance", Boost: "off"}, ClockPolicy{Free, 4900000}},
		{"equal limits", Facts{MinKHz: 2100000, MaxKHz: 2100000, Boost: "off"}, ClockPolicy{Fixed, 2100000}},
		{"equal limits, no boost here", Facts{MinKHz: 2707200, MaxKHz: 2707200, ClockDriver: "scmi"}, ClockPolicy{Fixed, 2707200}},
		{"equal limits, boost obeys them", Facts{MinKHz: 2100000, MaxKHz: 2100000, Boost: "on", ClockDriver: "intel_pstate"}, ClockPolicy{Fixed, 2100000}},
		{"equal limits, boost exceeds them", Facts{MinKHz: 2100000, MaxKHz: 2100000, Boost: "on", ClockDriver: "acpi-cpufreq"}, ClockPolicy{Free, 2100000}},
		{"no lower limit", Facts{MaxKHz: 2100000}, ClockPolicy{Free, 2100000}},
	} {
		if got := test.facts.ClockPolicy(2600000); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

// problemOf gives the problem of that name, or a zero one.
func problemOf(f Facts, name string) Problem {
	ps := f.Problems()
	if i := slices.IndexFunc(ps, func(p Problem) bool { return p.Name == name }); i >= 0 {
		return ps[i]
	}
	return Problem{}
}

func TestMend(t *testing.T) {
	f := Facts{
		BenchCPU: 3, ClockDriver: "intel_pstate", Governor: "powersave", MinKHz: 800000, MaxKHz: 4900000, BaseKHz: 2100000,
		Boost: "on", SMT: "on", PMU: "cpu_core", PerfParanoid: "4", NMIWatchdog: "on",
	}
	const dir = "/sys/devices/system/cpu/"
	for name, want := range map[string]string{
		"clock free":          "echo 2100000 | sudo tee " + dir + "cpu3/cpufreq/scaling_max_freq " + dir + "cpu3/cpufreq/scaling_min_freq",
		"boost on":            "echo 1 | sudo tee " + dir + "intel_pstate/no_turbo",
		"governor powersave":  "echo performance | sudo tee " + dir + "cpu3/cpufreq/scaling_governor",
		"SMT on":              "echo off | sudo tee " + dir + "smt/control",
		"perf events refused": "sudo sysctl kernel.perf_event_paranoid=2",
		"NMI watchdog":        "sudo sysctl kernel.nmi_watchdog=0",
	} {
		if got := problemOf(f, name).Mend; got != want {
			t.Errorf("%s: mend %q, want %q", name, got, want)
		}
	}
	f.ClockDriver = "amd-pstate-epp"
	if got, want := problemOf(f, "boost on").Mend, "echo 0 | sudo tee "+dir+"cpufreq/boost"; got != want {
		t.Errorf("boost on without intel_pstate: mend %q, want %q", got, want)
	}
}

func TestHas(t *testing.T) {
	x86 := func(flags string) Facts { return Facts{Arch: "x86-64", Features: strings.Fields(flags)} }
	arm := func(features string) Facts { return Facts{Arch: "aarch64", Features: strings.Fields(features)} }
	epyc, err := Gather(snapshot(t, "epyc-kvm"), 0)
	if err != nil {
		t.Fatal(err)
	}
	oryon, err := Gather(snapshot(t, "snapdragon-x"), 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		facts   Facts
		need    string
		missing string
	}{
		{"EPYC", epyc, "avx2 avx512vl aes vaes sha bmi bmi2 pclmul vpclmulqdq lzcnt gfni sse4.2 rdrnd avx512vbmi2 x86-64-v4", ""},
		{"EPYC lacks", epyc, "avx2 avxvnni amx-tile neon sm4", "avxvnni amx-tile neon sm4"},
		{"Oryon", oryon, "neon aes sha2 sha3 crc lse dotprod fp16 sm4 bf16 i8mm rng", ""},
		{"Oryon lacks", oryon, "sve sve2-aes sha memtag", "sve sve2-aes sha memtag"},
		{"half of a pair", arm("asimd sha3"), "neon sha3", "sha3"},
		{"a prefix is not enough", x86("avx512_vnni avx2"), "avx512vnni avx", "avx"},
		{"nothing known", Facts{}, "avx2", "avx2"},
		{"nothing needed", Facts{}, "", ""},
	} {
		got := test.facts.Has(strings.Fields(test.need))
		if diff := cmp.Diff(test.missing, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

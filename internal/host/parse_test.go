package host

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseCPUList(t *testing.T) {
	for _, test := range []struct {
		in   string
		want []int
	}{
		{"", nil},
		{"\n", nil},
		{"0", []int{0}},
		{"0-3,8\n", []int{0, 1, 2, 3, 8}},
		{"8,0-1,1", []int{0, 1, 8}},
	} {
		got, err := ParseCPUList(test.in)
		if err != nil {
			t.Errorf("%q: %v", test.in, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.in, diff)
		}
	}
	for _, bad := range []string{",", "0,", "-1", "3-", "3-1", "+1", "0-3:2/4", "a", "0-4294967295", "0-99999", "0-65535,0-65535"} {
		if got, err := ParseCPUList(bad); err == nil {
			t.Errorf("%q: %v, want an error", bad, got)
		}
	}
}

func TestParseCPUInfo(t *testing.T) {
	for _, test := range []struct {
		name, in string
		want     []CPU
	}{
		{"empty", "", nil},
		{"no blank line between, own fields win", "Features\t: fp\nprocessor\t: 0\nFeatures\t: sve\nprocessor\t: 1\n", []CPU{
			{0, map[string]string{"Features": "sve"}}, {1, map[string]string{"Features": "fp"}}}},
		{"fields of all after the CPUs", "Processor\t: AArch64 Processor rev 1\nprocessor\t: 0\nprocessor\t: 1\n\nCPU part\t: 0xd03\n", []CPU{
			{0, map[string]string{"Processor": "AArch64 Processor rev 1", "CPU part": "0xd03"}},
			{1, map[string]string{"Processor": "AArch64 Processor rev 1", "CPU part": "0xd03"}}}},
		{"bad and repeated numbers", "processor: x\nmodel name: a\n\nprocessor: 0\nmodel name: b\n\nprocessor: 0\nmodel name: c\n", []CPU{
			{0, map[string]string{"model name": "b"}}}},
	} {
		if diff := cmp.Diff(test.want, ParseCPUInfo(test.in)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// The register's fields are as in the Arm Architecture Reference Manual; the
// third register is quoted in pytorch/cpuinfo#357.
func TestMIDR(t *testing.T) {
	for _, test := range []struct{ reg, core, stepping string }{
		{"0x00000000414fd0b0", "Arm Cortex-A76", "r4p0"},
		{"0x00000000512f0011", "Qualcomm Oryon", "r2p1"},
		{"0x512F0021", "implementer 0x51 part 0x002", "r2p1"},
	} {
		m, ok := parseMIDR(test.reg)
		if !ok || m.core() != test.core || m.stepping() != test.stepping {
			t.Errorf("%s: %s %s %v, want %s %s", test.reg, m.core(), m.stepping(), ok, test.core, test.stepping)
		}
	}
	for _, bad := range []string{"", "0x0", "x"} {
		if m, ok := parseMIDR(bad); ok {
			t.Errorf("%q: %+v, want none", bad, m)
		}
	}
}

func TestUnquote(t *testing.T) {
	for in, want := range map[string]string{
		`"Debian GNU/Linux"`: "Debian GNU/Linux", `'it'`: "it", `Fedora`: "Fedora", `"a \"b\" \\n"`: `a "b" \n`, `"`: `"`, ``: ``,
	} {
		if got := unquote(in); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

func FuzzParseCPUInfo(f *testing.F) {
	for _, name := range []string{"epyc-kvm", "rk3588"} {
		f.Add(string(snapshot(f, name)["proc/cpuinfo"].Data))
	}
	f.Add("Features: fp\nprocessor: 0\n\n::\nCPU part: 0xfffff\n")
	f.Fuzz(func(t *testing.T, text string) {
		seen := map[int]bool{}
		for _, c := range ParseCPUInfo(text) {
			if c.Number < 0 || c.Number > maxCPU || seen[c.Number] {
				t.Errorf("CPU number %d out of range or repeated", c.Number)
			}
			seen[c.Number] = true
			c.arch()
			c.features()
			if m, ok := c.midr(); ok && (m.part > 0xfff || m.implementer > 0xff || m.core() == "") {
				t.Errorf("MIDR %+v out of range", m)
			}
		}
	})
}

func FuzzParseCPUList(f *testing.F) {
	for _, s := range []string{"", "0", "0-3,8", "3-1", "0-65535", ",,", "0-", " 1 , 2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		cpus, err := ParseCPUList(s)
		if err != nil {
			return
		}
		if !slices.IsSorted(cpus) || len(cpus) > maxCPU+1 {
			t.Errorf("%q: %d CPUs, sorted %v", s, len(cpus), slices.IsSorted(cpus))
		}
		again, err := ParseCPUList(FormatCPUList(cpus))
		if err != nil || !slices.Equal(again, cpus) {
			t.Errorf("%q: written as %q, read as %v, %v", s, FormatCPUList(cpus), again, err)
		}
	})
}

package host

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
)

// CPU is what /proc/cpuinfo says of one CPU.
type CPU struct {
	Number int
	Fields map[string]string // by the kernel's names, which differ between architectures
}

// ParseCPUInfo reads /proc/cpuinfo of x86 or Arm: one block a CPU, one
// "key : value" a line. It takes what it understands and passes over the rest:
// the file is for people, and vendors' kernels add lines to it. Fields outside
// of any CPU's block, as older Arm kernels print them, hold for every CPU that
// has none of its own. Of two blocks for one CPU the first counts.
func ParseCPUInfo(text string) []CPU {
	var cpus []CPU
	shared := map[string]string{}
	seen := map[int]bool{}
	block := shared
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			block = shared
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		key, value = clean(key), clean(value)
		if key == "processor" {
			block = map[string]string{}
			n, err := parseCPU(value)
			if err == nil && !seen[n] {
				seen[n] = true
				cpus = append(cpus, CPU{Number: n, Fields: block})
			}
			continue
		}
		if _, have := block[key]; !have {
			block[key] = value
		}
	}
	for _, c := range cpus {
		own := maps.Clone(c.Fields)
		maps.Copy(c.Fields, shared)
		maps.Copy(c.Fields, own)
	}
	return cpus
}

// arch is the architecture by the catalogue's name, empty where the fields do
// not show it. A 32-bit kernel is neither.
func (c CPU) arch() string {
	switch {
	case c.Fields["CPU implementer"] != "" && c.Fields["CPU architecture"] != "7":
		return "aarch64"
	case c.Fields["vendor_id"] != "" && hasWord(c.Fields["flags"], "lm"):
		return "x86-64"
	}
	return ""
}

// features are the CPU's features, x86's and Arm's line alike.
func (c CPU) features() []string {
	if f := strings.Fields(c.Fields["Features"]); len(f) > 0 {
		return f
	}
	return strings.Fields(c.Fields["flags"])
}

// cpuid is an x86 CPU's family, model and stepping; empty on others.
func (c CPU) cpuid() string {
	family, model, stepping := c.Fields["cpu family"], c.Fields["model"], c.Fields["stepping"]
	if family == "" || model == "" {
		return ""
	}
	return fmt.Sprintf("family %s model %s stepping %s", family, model, stepping)
}

// midr is an Arm core's main ID register, MIDR_EL1 (Arm Architecture Reference
// Manual, D24.2).
type midr struct {
	implementer, part, variant, revision uint64
}

// midr is the ID register as cpuinfo prints it, field by field.
func (c CPU) midr() (m midr, ok bool) {
	for _, f := range []struct {
		name string
		to   *uint64
		bits int
	}{
		{"CPU implementer", &m.implementer, 8},
		{"CPU part", &m.part, 12},
		{"CPU variant", &m.variant, 4},
		{"CPU revision", &m.revision, 4},
	} {
		v, err := strconv.ParseUint(c.Fields[f.name], 0, f.bits)
		if err != nil {
			return midr{}, false
		}
		*f.to = v
	}
	return m, true
}

// parseMIDR takes the register as identification/midr_el1 prints it,
// "0x00000000512f0011". Zero, which no core has, is not known.
func parseMIDR(s string) (m midr, ok bool) {
	v, err := strconv.ParseUint(s, 0, 64)
	if err != nil || v == 0 {
		return midr{}, false
	}
	return midr{implementer: v >> 24 & 0xff, variant: v >> 20 & 0xf, part: v >> 4 & 0xfff, revision: v & 0xf}, true
}

// stepping is the core's revision as Arm's manuals write it: r4p1.
func (m midr) stepping() string {
	return fmt.Sprintf("r%dp%d", m.variant, m.revision)
}

// core is the core's name, or its numbers where the table has none.
func (m midr) core() string {
	if name := armCores[m.implementer<<12|m.part]; name != "" {
		return name
	}
	return m.numbers()
}

func (m midr) numbers() string {
	return fmt.Sprintf("implementer 0x%02x part 0x%03x", m.implementer, m.part)
}

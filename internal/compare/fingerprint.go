package compare

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/ngcc/bench-action/internal/host"
)

// clockTolerance is the part by which the clocks of two comparable figures may
// differ (DESIGN.md, When two figures may be compared).
const clockTolerance = 0.01

// notKnown stands for an empty field, which never equals anything.
const notKnown = "not known"

// Differences names what keeps figures with fingerprints base and head from
// being compared, one item a field, in the order of host.Fingerprint:
// "compiler: gcc 12.2.0 → clang 14.0.6". An empty result means comparable. An
// empty field differs from everything, another empty field too.
func Differences(base, head host.Fingerprint) []string {
	var out []string
	field := func(name, a, b string) {
		switch {
		case a == "" && b == "":
			out = append(out, name+": "+notKnown+" on either side")
		case a != b:
			out = append(out, name+": "+known(a)+" → "+known(b))
		}
	}
	field("architecture", base.Arch, head.Arch)
	if plainModel(base.CPUModel) != plainModel(head.CPUModel) || base.CPUModel == "" {
		field("CPU model", base.CPUModel, head.CPUModel)
	}
	if base.CPUID != head.CPUID {
		field("CPU ID", base.CPUID, head.CPUID)
	}
	field("core type", base.CoreType, head.CoreType)
	field("microcode", base.Microcode, head.Microcode)
	field("counter", string(base.Counter), string(head.Counter))
	field("compiler", base.Compiler, head.Compiler)
	field("libc", base.Libc, head.Libc)
	if base.Driver != head.Driver || base.Driver == "" {
		field("driver", shortDigest(base.Driver), shortDigest(head.Driver))
	}
	if d := clockDifference(base.Clock, head.Clock); d != "" {
		out = append(out, d)
	}
	return out
}

// Unknown names the fields of fp that are not known: with any of them, fp is
// comparable with nothing.
func Unknown(fp host.Fingerprint) []string {
	var out []string
	for _, d := range Differences(fp, fp) {
		name, _, _ := strings.Cut(d, ":")
		out = append(out, name)
	}
	return out
}

// clockDifference is empty when the policies are equal and the frequencies are
// known and within clockTolerance of the greater.
func clockDifference(a, b host.ClockPolicy) string {
	near := a.KHz > 0 && b.KHz > 0 &&
		float64(max(a.KHz, b.KHz)-min(a.KHz, b.KHz)) <= clockTolerance*float64(max(a.KHz, b.KHz))
	if a.Policy == b.Policy && a.Policy != "" && near {
		return ""
	}
	if a == b {
		return "clock: " + notKnown + " on either side"
	}
	return "clock: " + ClockText(a) + " → " + ClockText(b)
}

// ClockText is how people read a clock policy: "fixed at 2.71 GHz".
func ClockText(c host.ClockPolicy) string {
	rate := "a frequency that is " + notKnown
	if c.KHz > 0 {
		rate = fmt.Sprintf("%.2f GHz", float64(c.KHz)/1e6)
	}
	switch c.Policy {
	case "":
		return notKnown
	case "fixed":
		return "fixed at " + rate
	case "free":
		return "free up to " + rate
	case "hidden":
		return "hidden, counter at " + rate
	}
	return c.Policy + " " + rate
}

func known(s string) string {
	if s == "" {
		return notKnown
	}
	return s
}

// shortDigest is the first 12 digits of a digest, enough to tell two apart.
func shortDigest(s string) string {
	if len(s) > 12 {
		return s[:12] + "…"
	}
	return s
}

// Recognise says which registered system a machine is, by the hardware alone
// (architecture, CPU model, core type), so that another compiler or microcode
// on that system is named as a difference and not taken for an unknown machine.
// Core types are compared where both are known. Of several systems with the
// same hardware the one with the fewest differences is taken.
//
// Where there is none, or no single best, it returns nil and why.
func Recognise(baselines []Baseline, fp host.Fingerprint) (*Baseline, string) {
	if len(baselines) == 0 {
		return nil, "there is no baseline yet"
	}
	var best *Baseline
	fewest, tied := 0, ""
	names := make([]string, len(baselines))
	for i := range baselines {
		b := &baselines[i]
		names[i] = b.System
		if !sameHardware(b.Fingerprint, fp) {
			continue
		}
		switch n := len(Differences(b.Fingerprint, fp)); {
		case best == nil || n < fewest:
			best, fewest, tied = b, n, ""
		case n == fewest:
			tied = b.System
		}
	}
	switch {
	case best == nil:
		return nil, fmt.Sprintf("this machine (%s, %s) is none of the registered systems (%s)",
			known(fp.CPUModel), known(fp.Arch), strings.Join(names, ", "))
	case tied != "":
		return nil, fmt.Sprintf("this machine could be %s or %s: name the system", best.System, tied)
	}
	return best, ""
}

func sameHardware(a, b host.Fingerprint) bool {
	return a.Arch != "" && a.Arch == b.Arch &&
		a.CPUModel != "" && plainModel(a.CPUModel) == plainModel(b.CPUModel) &&
		(a.CoreType == "" || b.CoreType == "" || a.CoreType == b.CoreType)
}

var modelDecoration = regexp.MustCompile(`(?i)\((r|tm)\)|\b\d+th gen\b`)

// plainModel drops what vendors put around a model's name, and nothing that
// tells models apart: /proc/cpuinfo says "12th Gen Intel(R) Core(TM) i7-12700"
// where people write "Intel Core i7-12700".
func plainModel(s string) string {
	plain := modelDecoration.ReplaceAllString(s, " ")
	return strings.ToLower(strings.Join(strings.Fields(plain), " "))
}

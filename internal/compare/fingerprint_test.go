package compare

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ngcc/bench-action/internal/host"
)

// known86 is a fingerprint in which everything is known.
func known86() host.Fingerprint {
	return host.Fingerprint{
		Arch: "x86-64", CPUModel: "12th Gen Intel(R) Core(TM) i7-12700", CoreType: "cpu_core", Microcode: "0x38",
		Counter: host.CoreCycles, Compiler: "gcc 12.2.0", Libc: "glibc 2.36", Driver: strings.Repeat("ab", 32),
		Clock: host.ClockPolicy{Policy: "fixed", KHz: 2_100_000},
	}
}

func TestDifferencesNameEveryField(t *testing.T) {
	if d := Differences(known86(), known86()); d != nil {
		t.Fatalf("equal fingerprints differ: %v", d)
	}
	tests := []struct {
		change func(*host.Fingerprint)
		want   string
	}{
		{func(f *host.Fingerprint) { f.Arch = "aarch64" }, "architecture: x86-64 → aarch64"},
		{func(f *host.Fingerprint) { f.CPUModel = "Other" }, "CPU model: 12th Gen Intel(R) Core(TM) i7-12700 → Other"},
		{func(f *host.Fingerprint) { f.CPUModel = "Intel Core i7-12700" }, ""}, // the same, as people write it
		{func(f *host.Fingerprint) { f.CoreType = "cpu_atom" }, "core type: cpu_core → cpu_atom"},
		{func(f *host.Fingerprint) { f.Microcode = "0x39" }, "microcode: 0x38 → 0x39"},
		{func(f *host.Fingerprint) { f.Microcode = "" }, "microcode: 0x38 → not known"},
		{func(f *host.Fingerprint) { f.Counter = host.TSC }, "counter: core-cycles → tsc"},
		{func(f *host.Fingerprint) { f.Compiler = "clang 14.0.6" }, "compiler: gcc 12.2.0 → clang 14.0.6"},
		{func(f *host.Fingerprint) { f.Libc = "musl 1.2" }, "libc: glibc 2.36 → musl 1.2"},
		{func(f *host.Fingerprint) { f.Driver = strings.Repeat("cd", 32) }, "driver: abababababab… → cdcdcdcdcdcd…"},
		{func(f *host.Fingerprint) { f.Clock.Policy = "free" }, "clock: fixed at 2.10 GHz → free up to 2.10 GHz"},
		{func(f *host.Fingerprint) { f.Clock.KHz = 2_122_000 }, "clock: fixed at 2.10 GHz → fixed at 2.12 GHz"},
		{func(f *host.Fingerprint) { f.Clock.KHz = 2_120_000 }, ""}, // 0.94 %
		{func(f *host.Fingerprint) { f.Clock.KHz = 0 }, "clock: fixed at 2.10 GHz → fixed at a frequency that is not known"},
	}
	for _, tt := range tests {
		head := known86()
		tt.change(&head)
		if got := strings.Join(Differences(known86(), head), "; "); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestEmptyFieldNeverEqualsAnything(t *testing.T) {
	if n := len(Differences(host.Fingerprint{}, host.Fingerprint{})); n != 9 {
		t.Errorf("two empty fingerprints differ in %d fields, want all 9", n)
	}
	want := []string{"architecture", "CPU model", "core type", "microcode", "counter", "compiler", "libc", "driver", "clock"}
	if d := cmp.Diff(want, Unknown(host.Fingerprint{})); d != "" {
		t.Errorf("Unknown (-want +got):\n%s", d)
	}
}

func TestCompilerChangeOnARegisteredSystemIsNotAnUnknownMachine(t *testing.T) {
	systems := []Baseline{*seedARM(t), *seedX86(t)}
	fp := known86()
	fp.Compiler, fp.Microcode = "clang 14.0.6", "0xff"
	b, why := Recognise(systems, fp)
	if b == nil || b.System != "x86_1" {
		t.Fatalf("Recognise = %v, %q, want x86_1", b, why)
	}
	fp.CoreType = "cpu_atom"
	if b, why := Recognise(systems, fp); b != nil || !strings.Contains(why, "none of the registered systems (arm_1, x86_1)") {
		t.Errorf("another kind of core was taken for %v, %q", b, why)
	}
	if b, why := Recognise(nil, fp); b != nil || why != "there is no baseline yet" {
		t.Errorf("no baselines: %v, %q", b, why)
	}
}

func TestSimilarModelIsNotTheRegisteredSystem(t *testing.T) {
	for _, model := range []string{"", "12th Gen Intel(R) Core(TM) i7-12700K", "Intel(R) Xeon(R) Processor @ 2.30GHz"} {
		fp := known86()
		fp.CPUModel = model
		if b, _ := Recognise([]Baseline{*seedX86(t)}, fp); b != nil {
			t.Errorf("%q was taken for %s", model, b.System)
		}
	}
}

func TestTwoSystemsOfTheSameHardware(t *testing.T) {
	a, b := *seedX86(t), *seedX86(t)
	b.System = "x86_2"
	if got, why := Recognise([]Baseline{a, b}, known86()); got != nil || !strings.Contains(why, "x86_1 or x86_2") {
		t.Errorf("a tie was settled: %v, %q", got, why)
	}
	b.Fingerprint.Compiler = known86().Compiler
	if got, why := Recognise([]Baseline{a, b}, known86()); got == nil || got.System != "x86_2" {
		t.Errorf("the nearer system was not taken: %v, %q", got, why)
	}
}

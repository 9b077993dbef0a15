package toolchain

import (
	"fmt"

	"github.com/ngcc/bench-action/internal/catalog"
)

// guideFlags are the flags of the NICCS self-assessment guides (June 2026,
// implementation versions), by architecture and the guide's word for a variant.
var guideFlags = map[string]map[string][]string{
	"x86-64": {
		"reference":   {"-std=c99", "-Wpedantic", "-Wall", "-Wextra", "-O2"},
		"performance": {"-O3", "-march=x86-64", "-mavx2", "-mtune=native", "-flto", "-fomit-frame-pointer", "-std=c99", "-Wpedantic", "-Wall", "-Wextra"},
		"resource":    {"-Os", "-march=x86-64", "-mavx2", "-flto", "-fomit-frame-pointer", "-std=c99", "-Wpedantic", "-Wall", "-Wextra"},
	},
	"aarch64": {
		"reference":   {"-std=c99", "-Wpedantic", "-Wall", "-Wextra", "-O2"},
		"performance": {"-O3", "-march=armv8.2-a+sve", "-flto", "-fomit-frame-pointer", "-std=c99", "-Wpedantic", "-Wall", "-Wextra"},
		"resource":    {"-Os", "-march=armv8.2-a+sve", "-flto", "-fomit-frame-pointer", "-std=c99", "-Wpedantic", "-Wall", "-Wextra"},
	},
}

// guideFeatures are the CPU features that the guide's own flags ask for.
var guideFeatures = map[string]map[string][]string{
	"x86-64": {"performance": {"avx2"}, "resource": {"avx2"}},
}

// codeFlags make a library whose bytes depend on nothing but its sources: no
// paths, times or build ids, functions at 64-byte boundaries so that a change
// in one does not move the loops of the next.
var codeFlags = []string{"-fPIC", "-falign-functions=64"}

var linkFlags = []string{"-shared", "-Wl,-Bsymbolic", "-Wl,--build-id=none", "-Wl,-z,defs", "-Wl,-z,noexecstack"}

// flagSet is what one label is compiled with.
type flagSet struct {
	guide, added, dropped []string
}

// flagsFor puts a label's flags together. The guide's +sve is dropped by name:
// what a compiler makes with it does not run on cores without SVE.
func (c *Compiler) flagsFor(l catalog.Label) flagSet {
	var f flagSet
	for _, g := range guideFlags[c.Arch][l.Variant.Kind()] {
		switch {
		case g == "-march=armv8.2-a+sve":
			f.guide = append(f.guide, "-march=armv8.2-a")
			f.dropped = append(f.dropped, "+sve")
		case g == "-flto" && c.dropLTO:
			f.dropped = append(f.dropped, g)
		case g == "-flto":
			f.guide = append(f.guide, g)
			if c.Family == "gcc" {
				// gcc's LTO names its sections by a random number otherwise.
				f.added = append(f.added, fmt.Sprintf("-frandom-seed=%s", l))
			}
		default:
			f.guide = append(f.guide, g)
		}
	}
	f.added = append(f.added, codeFlags...)
	f.added = append(f.added, l.Variant.Flags...)
	f.added = append(f.added, l.Instance.Flags...)
	return f
}

// Needs lists what a label needs of the machine: an architecture, and CPU
// features by the compiler's names, the guide's own flags' included.
func (c *Compiler) Needs(l catalog.Label) (arch string, features []string) {
	arch = l.Variant.Arch
	if arch == "" {
		arch = c.Arch
	}
	features = append(features, guideFeatures[arch][l.Variant.Kind()]...)
	return arch, append(features, l.Variant.Features...)
}

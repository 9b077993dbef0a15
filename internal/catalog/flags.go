package catalog

import (
	"fmt"
	"regexp"
	"slices"
)

// allowedFlags is the allow-list for flags that META.yml may add: optimisation
// levels, macros, machine options and -f options that change only how code is
// generated. Whatever could load code, read or write other files or change the
// tool chain (-fplugin, -include, @file, -specs, -B, --sysroot, -Wl) is not in it.
var allowedFlags = []*regexp.Regexp{
	regexp.MustCompile(`^-O([0-3s]|fast)?$`),
	regexp.MustCompile(`^-D[A-Za-z_][A-Za-z0-9_]*(=[A-Za-z0-9_.+-]*)?$`),
	regexp.MustCompile(`^-m(arch|tune|cpu|prefer-vector-width|branch-cost|stack-alignment|align-data|move-max|store-max)=[A-Za-z0-9.+_-]+$`),
	regexp.MustCompile(`^-m(no-)?([a-z0-9]+|sse[34]\.[12]|outline-atomics|strict-align|general-regs-only)$`),
	regexp.MustCompile(`^-f(no-)?(unroll-loops|unroll-all-loops|peel-loops|inline-functions|inline|omit-frame-pointer|strict-aliasing|` +
		`wrapv|lto|tree-vectorize|tree-loop-vectorize|tree-slp-vectorize|vectorize|slp-vectorize|gcse|ivopts|schedule-insns|` +
		`schedule-insns2|sched-pressure|tree-pre|tree-ter|rename-registers|ipa-cp-clone|ipa-ra|stack-protector|` +
		`align-functions|align-loops|align-jumps|align-labels|if-conversion|if-conversion2|split-loops|unswitch-loops|` +
		`tree-loop-distribute-patterns|builtin|plt|signed-char|unsigned-char)$`),
	regexp.MustCompile(`^-falign-(functions|loops|jumps|labels)=[0-9]{1,4}$`),
	regexp.MustCompile(`^-f(inline-limit|tree-parallelize-loops)=[0-9]{1,5}$`),
}

// refusedFlags have the form of machine options and are not: they hand the
// option that follows to another tool.
var refusedFlags = []string{"-mllvm", "-mmlir"}

// CheckFlag says whether META.yml may name the compiler flag f. The error says
// what may stand there.
func CheckFlag(f string) error {
	if slices.Contains(refusedFlags, f) {
		return fmt.Errorf("%q passes options to another tool and is refused", f)
	}
	for _, re := range allowedFlags {
		if re.MatchString(f) {
			return nil
		}
	}
	return fmt.Errorf("%q is not allowed: -O…, -D…, -m… and code generation options such as -funroll-loops are", f)
}

package host

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxCPU bounds CPU numbers that are believed: Linux's NR_CPUS is at most 8192
// (arch/x86/Kconfig), so a greater one is a damaged file.
const maxCPU = 1<<16 - 1

// ParseCPUList parses the kernel's list of CPUs, such as "0-3,8", into numbers
// in rising order, each once. An empty list (a machine without isolated CPUs)
// is no error. The format is in the kernel's Documentation/core-api/
// printk-formats.rst, "%*pbl"; the "0-31:2/4" that only its command line takes
// is refused.
func ParseCPUList(s string) ([]int, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return nil, nil
	}
	var cpus []int
	for _, part := range strings.Split(s, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		lo, err := parseCPU(first)
		if err != nil {
			return nil, fmt.Errorf("CPU list %q: %w", s, err)
		}
		hi := lo
		if isRange {
			if hi, err = parseCPU(last); err != nil {
				return nil, fmt.Errorf("CPU list %q: %w", s, err)
			}
		}
		if hi < lo {
			return nil, fmt.Errorf("CPU list %q: range %q runs backwards", s, part)
		}
		if len(cpus)+hi-lo > maxCPU {
			return nil, fmt.Errorf("CPU list %.40q…: more than %d CPUs", s, maxCPU)
		}
		for c := lo; c <= hi; c++ {
			cpus = append(cpus, c)
		}
	}
	slices.Sort(cpus)
	return slices.Compact(cpus), nil
}

// parseCPU takes digits only: strconv alone would take "+1" and "-1".
func parseCPU(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || s[0] == '+' || n > maxCPU {
		return 0, fmt.Errorf("%q is not a CPU number", s)
	}
	return int(n), nil
}

// FormatCPUList writes cpus, which are in rising order, as the kernel does:
// "0-3,8".
func FormatCPUList(cpus []int) string {
	var b strings.Builder
	for i := 0; i < len(cpus); {
		j := i
		for j+1 < len(cpus) && cpus[j+1] == cpus[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(cpus[i]))
		if j > i {
			b.WriteString("-" + strconv.Itoa(cpus[j]))
		}
		i = j + 1
	}
	return b.String()
}

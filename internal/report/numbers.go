// Package report renders what a run found for people: the Markdown report and
// the summary on a terminal. It is pure: text in, text out, no files.
//
// Everything that comes from outside (compiler messages, names, reasons) goes
// through inline or fenced, so that it can break neither Markdown nor tables.
package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The number formats are those of the published pages (published/README.md,
// "How the pages print figures"): every one formats the unrounded value, and
// thresholds apply before rounding.

// Absent is printed where there is no figure.
const Absent = "–"

// usable says whether x can be printed as a figure: NaN, infinities, zero and
// negative numbers cannot.
func usable(x float64) bool { return x > 0 && !math.IsInf(x, 0) }

// Ticks prints ticks a call, whatever their unit: at or above 1e9 two decimals
// and G, 1e6 two decimals and M, 1e4 one decimal and k, an integer below.
func Ticks(x float64) string {
	switch {
	case !usable(x):
		return Absent
	case x >= 1e9:
		return strconv.FormatFloat(x/1e9, 'f', 2, 64) + " G"
	case x >= 1e6:
		return strconv.FormatFloat(x/1e6, 'f', 2, 64) + " M"
	case x >= 1e4:
		return strconv.FormatFloat(x/1e3, 'f', 1, 64) + " k"
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

// PerByte prints ticks a call over message bytes, one decimal.
func PerByte(ticks float64, messageBytes int) string {
	if !usable(ticks) || messageBytes <= 0 {
		return Absent
	}
	return strconv.FormatFloat(ticks/float64(messageBytes), 'f', 1, 64)
}

// Seconds prints a time in the largest of s, ms, µs, ns in which it is at least
// 1 before rounding, three significant digits, trailing zeros of the fraction
// dropped.
func Seconds(s float64) string {
	if !usable(s) {
		return Absent
	}
	for _, u := range []struct {
		name  string
		scale float64
	}{{"s", 1}, {"ms", 1e3}, {"µs", 1e6}} {
		if v := s * u.scale; v >= 1 {
			return significant(v) + " " + u.name
		}
	}
	return significant(s*1e9) + " ns"
}

// significant prints three significant digits and drops trailing zeros of the
// fraction; digits before the point are never dropped.
func significant(v float64) string {
	decimals := max(0, 2-int(math.Floor(math.Log10(v))))
	out := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(out, ".") {
		out = strings.TrimRight(strings.TrimRight(out, "0"), ".")
	}
	return out
}

// MBPerSecond prints 10^6 bytes a second from the mean time of a call in
// seconds, one decimal.
func MBPerSecond(messageBytes int, seconds float64) string {
	if !usable(seconds) || messageBytes <= 0 {
		return Absent
	}
	return strconv.FormatFloat(float64(messageBytes)/seconds/1e6, 'f', 1, 64)
}

// N prints the calls timed: "100000 (5 × 20000)". Trials of unequal length have
// no calls a trial: "101000 (5 trials)".
func N(callsOfTrials []uint64) string {
	if len(callsOfTrials) == 0 {
		return Absent
	}
	total, equal := uint64(0), true
	for _, n := range callsOfTrials {
		total += n
		equal = equal && n == callsOfTrials[0]
	}
	if !equal {
		return fmt.Sprintf("%d (%d trials)", total, len(callsOfTrials))
	}
	return fmt.Sprintf("%d (%d × %d)", total, len(callsOfTrials), callsOfTrials[0])
}

// KiB prints bytes over 1024, rounded down.
func KiB(bytes int64) string { return binary(bytes, 1<<10, "KiB") }

// MiB prints bytes over 1024², rounded down.
func MiB(bytes int64) string { return binary(bytes, 1<<20, "MiB") }

func binary(bytes, unit int64, name string) string {
	if bytes <= 0 {
		return Absent
	}
	return fmt.Sprintf("%d %s", bytes/unit, name)
}

// Percent prints a part as percent with two significant digits at least:
// "0.35 %", "12 %".
func Percent(part float64) string {
	p := 100 * part
	switch {
	case !usable(part):
		return Absent
	case p < 0.01:
		return "< 0.01 %"
	case p < 10:
		return strconv.FormatFloat(p, 'f', 2, 64) + " %"
	}
	return strconv.FormatFloat(p, 'f', 0, 64) + " %"
}

// Ratio prints head over base with its change: "1.0412 (+4.12 %)".
func Ratio(r float64) string {
	if !usable(r) {
		return Absent
	}
	return fmt.Sprintf("%.4f (%+.2f %%)", r, 100*(r-1))
}

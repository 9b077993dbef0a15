package witness

import (
	"fmt"
	"math"
	"strings"
)

// maxFunctions bounds the functions that Lines names.
const maxFunctions = 6

// Lines are the explanation for a report: first the totals, then the functions.
func (e Explanation) Lines() []string {
	if e.SameCode {
		return []string{"same code: nothing to explain"}
	}
	lines := []string{e.totals()}
	var more, moved int
	for _, f := range e.Functions {
		switch {
		case f.State == StateChanged && f.BaseBytes == f.HeadBytes && f.selfChange() == 0:
			moved++
		case len(lines) > maxFunctions:
			more++
		default:
			lines = append(lines, e.function(f))
		}
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("%s with a smaller difference not shown", functions(more)))
	}
	if moved > 0 {
		lines = append(lines, fmt.Sprintf("%s of the same size and cost with other bytes (moved addresses alone can do that)", functions(moved)))
	}
	return lines
}

// String is the lines as a text.
func (e Explanation) String() string { return strings.Join(e.Lines(), "\n") }

func (e Explanation) totals() string {
	if e.Instructions == nil {
		return "instructions not counted: " + e.Reason
	}
	bytes := float64(max(e.MessageBytes, 1))
	d := *e.Instructions
	text := "instructions a byte "
	if d.Base == d.Head {
		text += fmt.Sprintf("%s on both sides, exactly", figure(d.Head/bytes))
	} else {
		base, head := pair(d.Base/bytes, d.Head/bytes)
		text += fmt.Sprintf("%s → %s (%s)", base, head, percent(d))
	}
	if e.Branches != nil {
		text += "; branches " + percent(*e.Branches)
	}
	if e.Mispredicted != nil && e.Mispredicted.Change() != 0 {
		text += fmt.Sprintf("; mispredicted in callgrind's model %s → %s a call", figure(e.Mispredicted.Base), figure(e.Mispredicted.Head))
	}
	return text
}

func (e Explanation) function(f FunctionChange) string {
	var text string
	switch f.State {
	case StateAdded:
		text = fmt.Sprintf("%s: new, %d bytes", f.Name, f.HeadBytes)
	case StateRemoved:
		text = fmt.Sprintf("%s: gone, was %d bytes", f.Name, f.BaseBytes)
	case StateSame:
		text = fmt.Sprintf("%s: same code, %d bytes", f.Name, f.HeadBytes)
	case StateOutside:
		text = f.Name + ": not in the library's symbol table"
		if f.Object != "" && f.Object != coreName {
			text = fmt.Sprintf("%s: of %s", f.Name, f.Object)
		}
	default:
		text = fmt.Sprintf("%s: %d → %d bytes", f.Name, f.BaseBytes, f.HeadBytes)
	}
	change := f.selfChange()
	if change == 0 {
		return text
	}
	text += fmt.Sprintf(", %s instructions a byte", signed(change/float64(max(e.MessageBytes, 1))))
	switch share := math.Round(f.Share * 100); {
	case f.Share == 0, math.Abs(f.Share) > 9: // of totals that are equal, or nearly
	case share < 0:
		text += fmt.Sprintf(" (−%.0f %% of the difference)", -share)
	case share == 0:
		text += " (under 1 % of the difference)"
	default:
		text += fmt.Sprintf(" (%.0f %% of the difference)", share)
	}
	return text
}

func functions(n int) string {
	if n == 1 {
		return "1 function"
	}
	return fmt.Sprintf("%d functions", n)
}

// decimals gives a figure 2 decimals, and as many as show 2 digits of a small one.
func decimals(v float64) int {
	if v = math.Abs(v); v == 0 || v >= 0.1 {
		return 2
	}
	return min(1-int(math.Floor(math.Log10(v))), 9)
}

func figure(v float64) string { return fmt.Sprintf("%.*f", decimals(v), v) }

// pair prints two different figures with as many digits as tell them apart.
func pair(a, b float64) (string, string) {
	for d := 2; d < 9; d++ {
		x, y := fmt.Sprintf("%.*f", d, a), fmt.Sprintf("%.*f", d, b)
		if x != y {
			return x, y
		}
	}
	return fmt.Sprint(a), fmt.Sprint(b)
}

func signed(v float64) string {
	return sign(v) + figure(math.Abs(v))
}

func sign(v float64) string {
	if v < 0 {
		return "−"
	}
	return "+"
}

// percent is the change in per cent, with a digit more where it would be 0.0.
func percent(d Delta) string {
	r := (d.Ratio() - 1) * 100
	switch {
	case math.IsInf(r, 0):
		return "from none"
	case r == 0:
		return "+0.0 %"
	case math.Abs(r) < 0.05:
		return fmt.Sprintf("%s%.2g %%", sign(r), math.Abs(r))
	}
	return fmt.Sprintf("%s%.1f %%", sign(r), math.Abs(r))
}

package report

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of text from outside: a report is for reading, the whole text is in
// the run directory.
const (
	maxInlineRunes = 1000
	maxFenceLines  = 20
	maxFenceRunes  = 300 // a line
)

// ansi is the escape sequences that compilers colour their messages with.
var ansi = regexp.MustCompile("\x1b\\[[0-9;:?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(\x07|\x1b\\\\)")

// printable drops what has no place in text: control characters (line ends and
// tabs aside), invisible direction marks, bytes that are not UTF-8.
func printable(s string) string {
	s = ansi.ReplaceAllString(strings.ToValidUTF8(s, "�"), "")
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\u2028' || r == '\u2029':
			return '\n'
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, s)
}

// oneLine is printable text on one line, cut to max runes.
func oneLine(s string, max int) string {
	s = strings.Join(strings.Fields(printable(s)), " ")
	if utf8.RuneCountInString(s) > max {
		s = string([]rune(s)[:max-1]) + "…"
	}
	return s
}

// plainRunes may stand in a table cell or a sentence as they are.
const plainRunes = " ,.;:()+-/=%'\"?"

// inline is text from outside for a sentence or a table cell: one line, with
// every character that Markdown, HTML or GitHub could take for more than itself
// as a character reference. A reference is never read as mark-up.
func inline(s string) string {
	var out strings.Builder
	runes := []rune(oneLine(s, maxInlineRunes))
	for i, r := range runes {
		following := string(runes[i+1 : min(i+3, len(runes))])
		switch {
		case r == ':' && strings.HasPrefix(following, "/"), // a bare address becomes a link
			r == '.' && i >= 3 && strings.EqualFold(string(runes[i-3:i]), "www"):
			fmt.Fprintf(&out, "&#%d;", r)
		case r == '_' && i > 0 && wordRune(runes[i-1]) && i+1 < len(runes) && wordRune(runes[i+1]):
			out.WriteRune(r) // within a word it is no emphasis
		case r == '@': // GitHub notifies whoever is named after it
			out.WriteString("&#64;&#8203;")
		case r > 127 || wordRune(r) || strings.ContainsRune(plainRunes, r):
			out.WriteRune(r)
		default:
			fmt.Fprintf(&out, "&#%d;", r)
		}
	}
	return out.String()
}

func wordRune(r rune) bool { return r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// fenced is text from outside as a code block: printable, its lines cut, the
// middle left out where it is long. The fence is longer than any in the text.
// more says where the whole text is.
func fenced(s, more string) string {
	lines := strings.Split(strings.Trim(printable(s), "\n"), "\n")
	for i, l := range lines {
		if runes := []rune(l); len(runes) > maxFenceRunes {
			lines[i] = string(runes[:maxFenceRunes-1]) + "…"
		}
	}
	if left := len(lines) - maxFenceLines; left > 0 {
		head := lines[:maxFenceLines*3/4]
		tail := lines[len(lines)-maxFenceLines/4:]
		lines = append(append(append([]string{}, head...), fmt.Sprintf("… %d lines left out; all of them are in %s", left, more)), tail...)
	}
	longest, run := 2, 0
	for _, r := range strings.Join(lines, "\n") {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	return fence + "text\n" + strings.Join(lines, "\n") + "\n" + fence + "\n"
}

// table renders rows of cells that are safe already. right says which columns
// hold numbers.
func table(head []string, right []bool, rows [][]string) string {
	var out strings.Builder
	line := func(cells []string) { out.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(head)
	marks := make([]string, len(head))
	for i := range head {
		marks[i] = "---"
		if i < len(right) && right[i] {
			marks[i] = "---:"
		}
	}
	line(marks)
	for _, r := range rows {
		line(r)
	}
	return out.String()
}

// shellWord quotes s for a POSIX shell where it needs it.
func shellWord(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool {
		return r > 127 || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./,:=+", r)
	}) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

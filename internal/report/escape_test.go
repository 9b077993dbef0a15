package report

import (
	"strings"
	"testing"

	"github.com/ngcc/bench-action/internal/compare"
)

func TestTextFromOutsideCannotBreakMarkdown(t *testing.T) {
	tests := []struct{ in, want string }{
		{"hash-23/QILIN-512/hash_1024", "hash-23/QILIN-512/hash_1024"},
		{"a|b", "a&#124;b"},
		{`a\|b`, "a&#92;&#124;b"},
		{"<!-- x --><b>", "&#60;&#33;-- x --&#62;&#60;b&#62;"},
		{"`x` *y* _z_ ~w~ [l](u)", "&#96;x&#96; &#42;y&#42; &#95;z&#95; &#126;w&#126; &#91;l&#93;(u)"},
		{"two\nlines\r\n\ttab", "two lines tab"},
		{"@everyone", "&#64;&#8203;everyone"},
		{"http://x.y www.x.y", "http&#58;//x.y www&#46;x.y"},
		{"\x1b[31mred\x1b[0m\x00\u202edrow", "reddrow"},
		{"&lt;", "&#38;lt;"},
		{"gcc 12.2.0 → clang 14.0.6", "gcc 12.2.0 → clang 14.0.6"},
		{"bad \xff byte", "bad � byte"},
	}
	for _, tt := range tests {
		if got := inline(tt.in); got != tt.want {
			t.Errorf("inline(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
	if got := inline(strings.Repeat("é", 3*maxInlineRunes)); len([]rune(got)) != maxInlineRunes {
		t.Errorf("a long text has %d runes", len([]rune(got)))
	}
}

func TestFenceCannotBeClosedFromInside(t *testing.T) {
	got := fenced("a\n`````\n# title\n"+strings.Repeat("z", 1000), "x")
	if !strings.HasPrefix(got, "``````text\n") || !strings.HasSuffix(got, "…\n``````\n") {
		t.Errorf("fence:\n%s", got)
	}
}

// Every table of a report must keep its number of columns, whatever names hold.
func TestHostileNamesKeepTablesWhole(t *testing.T) {
	f := newFixture(t)
	f.Build.Labels[0].Name = "Q|<b>\n|x| `@you`"
	f.Run.Host.OS = "a|b\n## title"
	f.Build.Compiler.Version = "gcc | </details> | x"
	f.Records[0].Error, f.Records[0].Status = "line | 1\n| line 2 |", "invalid"
	md := Markdown(f.data(t))
	columns := 0
	for _, line := range strings.Split(md, "\n") {
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		n := strings.Count(line, "|")
		if columns != 0 && n != columns {
			t.Errorf("%d bars in a table of %d: %s", n, columns, line)
		}
		columns = n
	}
	if strings.Count(md, "</details>") != 1 || strings.Contains(md, "<b>") || strings.Contains(md, "\n## title") || strings.Contains(md, "@you") {
		t.Errorf("mark-up from outside got through:\n%s", md)
	}
}

func TestReportStandsForEmptyData(t *testing.T) {
	d := Data{Diff: compare.Diff{Outcome: compare.NewOutcome(nil, 0)}}
	if md := Markdown(d); !strings.HasPrefix(md, "**nothing measured**: no cell was selected") {
		t.Errorf("empty run:\n%s", md)
	}
	if term := Terminal(d); !strings.HasPrefix(term, "nothing measured") {
		t.Errorf("empty run: %s", term)
	}
}

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{"gcc-12": "gcc-12", "gcc -m32": "'gcc -m32'", "a'b": `'a'\''b'`, "": "''", "$(x)": "'$(x)'"} {
		if got := shellWord(in); got != want {
			t.Errorf("shellWord(%q) = %s, want %s", in, got, want)
		}
	}
}

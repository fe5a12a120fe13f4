package layout

import (
	"strings"
	"testing"
)

// TestTableAligns: cells align by the columns they take on a terminal, and no line is
// wider than it where its cells can be parted.
func TestTableAligns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		width      int
		rows       [][]string
	}{
		{"wide characters", "漢字  a\nab    b\n🐟e\u0301   c\n", 20, [][]string{{"漢字", "a"}, {"ab", "b"}, {"🐟e\u0301", "c"}}},
		{"a row that ends early", "a  b\na long one\nb\n\n", 20, [][]string{{"a", "b"}, {"a long one"}, {"b", "", ""}, {""}}},
		{"the last cell", "task  one two three\n      four\n", 20, [][]string{{"task", "one two three four"}}},
		{"fewer lines below", "a-task-of-it  one two\nb             one two\n              three\na\n    one two three four\n    five six seven\n", 24, [][]string{{"a-task-of-it", "one two"}, {"b", "one two three"}, {"a", "one two three four five six seven"}}},
		{"no room behind a long cell", "a-long-name-of-some\n    one two\nb                    x\n", 22, [][]string{{"a-long-name-of-some", "one two"}, {"b", "x"}}},
		{"more cells than fit", "one  two  three\n    four  five\n    sixteen by six\n    and more\n", 19,
			[][]string{{"one", "two", "three", "four", "five", "sixteen by six and more"}}},
		{"an empty cell", "a      b\nab  c  d\n", 20, [][]string{{"a", "", "b"}, {"ab", "c", "d"}}},
		{"wide words", "名  漢字漢字漢字\n    漢字\n", 16, [][]string{{"名", "漢字漢字漢字漢字"}}},
	} {
		var b strings.Builder
		table := &Table{Width: c.width}
		for _, row := range c.rows {
			table.Add(row)
		}
		if err := table.Print(&b); err != nil {
			t.Fatal(err)
		}
		if b.String() != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, b.String(), c.want)
		}
	}
}

// TestClippedByColumns: a line is cut by the columns it takes, never within a character.
func TestClippedByColumns(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"abcdef": "abcdef", "abcdefg": "abcde…", "漢字漢": "漢字漢", "漢字漢字": "漢字…", "a漢字漢": "a漢字…", "e\u0301bcdefg": "e\u0301bcde…",
	} {
		if got := Clip(in, 6); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestFold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, line, want string }{
		{"fits", "  a   b  c", "  a   b  c"},
		{"prose", "  one two three four five six", "  one two three four\n  five six"},
		{"a command", "read it; odd get skeg, then go on", "read it;\nodd get skeg, then\ngo on"},
		{"a command with quotes", "we now run git rm \"a b\" ok", "we now run\ngit rm \"a b\" ok"},
		{"a command too long", "run odd agent handoff list now", "run odd agent\nhandoff list now"},
		{"a column", "  --json  print what is there", "  --json  print what\n          is there"},
		{"two columns", "04:02  run X  claimed it", "04:02  run X\n       claimed it"},
		{"narrow columns", "task  a  one two three four", "task  a  one two\n         three four"},
		{"blanks in prose", "one two three four five  six", "one two three four\nfive  six"},
		{"a break at two blanks", "task  a-long-word-of  two", "task  a-long-word-of\n      two"},
		{"a column too wide", "  --input PATH  print what", "  --input PATH  print\n      what"},
		{"a long word", "see https://example.org/long/path now", "see\nhttps://example.org/long/path\nnow"},
		{"a word with no room in its column", "process  tide-table  docs/tides.md:4 and 1", "process  tide-table\n    docs/tides.md:4\n         and 1"},
		{"runes", "  ää öö üü ßß éé èè àà", "  ää öö üü ßß éé èè\n  àà"},
		{"wide characters", "  漢字 漢字 漢字 漢字 漢字", "  漢字 漢字 漢字\n  漢字 漢字"},
		{"wide characters without blanks", "  漢字漢字漢字漢字漢字漢字", "  漢字漢字漢字漢字漢\n  字漢字"},
		{"marks", "  e\u0301e\u0301e\u0301 one two three", "  e\u0301e\u0301e\u0301 one two three"},
		{"colours", "\x1b[1mone\x1b[0m  \x1b[2mtwo three four\x1b[0m", "\x1b[1mone\x1b[0m  \x1b[2mtwo three four\x1b[0m"},
		{"colours of a column", "\x1b[1mone\x1b[0m  two three four five", "\x1b[1mone\x1b[0m  two three four\n     five"},
		{"set in too deep", strings.Repeat(" ", 16) + "one two three four", "    one two three\n    four"},
	} {
		if got := Fold(c.line, 20); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

package cmd

import (
	"bufio"
	"slices"
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
		{"no room behind a long cell", "a-long-name-of-some\n    one two\nb                    x\n", 22, [][]string{{"a-long-name-of-some", "one two"}, {"b", "x"}}},
		{"more cells than fit", "one  two  three\n    four  five\n    sixteen by six\n    and more\n", 19,
			[][]string{{"one", "two", "three", "four", "five", "sixteen by six and more"}}},
		{"an empty cell", "a      b\nab  c  d\n", 20, [][]string{{"a", "", "b"}, {"ab", "c", "d"}}},
		{"wide words", "名  漢字漢字漢字\n    漢字\n", 16, [][]string{{"名", "漢字漢字漢字漢字"}}},
	} {
		var b strings.Builder
		env := Env{Stdout: &b, Terminal: true, Width: c.width}
		out := bufio.NewWriter(&b)
		if err := alignRows(env, slices.Values(c.rows)).printTo(out); err != nil {
			t.Fatal(err)
		}
		_ = out.Flush()
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
		if got := clipTo(in, 6); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

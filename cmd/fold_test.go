package cmd

import (
	"bytes"
	"strings"
	"testing"
)

func TestFold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, line, want string }{
		{"fits", "  a   b  c", "  a   b  c"},
		{"prose", "  one two three four five six", "  one two three four\n  five six"},
		{"a column", "  --json  print what is there", "  --json  print what\n          is there"},
		{"two columns", "04:02  run X  claimed it", "04:02  run X\n       claimed it"},
		{"narrow columns", "task  a  one two three four", "task  a  one two\n         three four"},
		{"blanks in prose", "one two three four five  six", "one two three four\nfive  six"},
		{"a column too wide", "  --input PATH  print what", "  --input PATH  print\n      what"},
		{"a long word", "see https://example.org/long/path now", "see\nhttps://example.org/long/path\nnow"},
		{"runes", "  ää öö üü ßß éé èè àà", "  ää öö üü ßß éé èè\n  àà"},
	} {
		if got := fold(c.line, 20); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// TestHelpFits: no page of help is wider than the terminal, in words that fit it, and
// a pipe gets every line whole.
func TestHelpFits(t *testing.T) {
	// Not parallel: the flag library keeps its help flag for the whole process.
	for _, page := range [][]string{{"help"}, {"help", "check"}, {"help", "hook", "install"}, {"task", "add", "--help"}, {"help", "drain"}} {
		var narrow, pipe bytes.Buffer
		for out, env := range map[*bytes.Buffer]Env{&narrow: {Terminal: true, Width: 60}, &pipe: {}} {
			env.Stdout, env.Stderr, env.Dir = out, out, t.TempDir()
			env.Getenv = func(string) string { return "" }
			if code := Main(env, append([]string{"odd"}, page...)...); code != exitDone {
				t.Fatalf("%v: exit %d: %s", page, code, out)
			}
		}
		for line := range strings.Lines(narrow.String()) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 60 && strings.Contains(strings.TrimLeft(line, " "), " ") {
				t.Errorf("%v: %d columns: %s", page, n, line)
			}
		}
		if !strings.Contains(pipe.String(), "\n"+exits+"\n") {
			t.Errorf("%v: a pipe's lines are broken:\n%s", page, &pipe)
		}
		if got, want := strings.Join(strings.Fields(narrow.String()), " "), strings.Join(strings.Fields(pipe.String()), " "); got != want {
			t.Errorf("%v: got\n%s\nwant the words of\n%s", page, got, want)
		}
	}
}

package cmd

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

// TestTalkFits: talk and the last column of rows break between words on a terminal; what
// has no room in its column goes on below, and a pipe gets lines whole.
func TestTalkFits(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"a", "blocked", "one two three four five"}, {"b", "a column too wide by far", "x"}}
	for live, want := range map[bool]string{
		true:  "odd: one two three\n     four five six\n  seven\n|a  blocked\n    one two three four\n    five\nb\n    a column too wide\n    by far\n    x\na  one two three four\n   five six\n",
		false: "odd: one two three four five six\n  seven\n|a\tblocked\tone two three four five\nb\ta column too wide by far\tx\na\tone two three four five six\n",
	} {
		env, out, said := quiet()
		env.Live, env.Terminal, env.Width = live, live, 22
		talk(env, "one two three four five six\n  seven")
		if err := errors.Join(printRows(env, rows), printRows(env, [][]string{{"a", "one two three four five six"}})); err != nil {
			t.Fatal(err)
		}
		if got := said.String() + "|" + out.String(); got != want {
			t.Errorf("live %t: got\n%s\nwant\n%s", live, got, want)
		}
	}
}

// TestQuestionFits: a question stands on the terminal whole, before the answer is read.
func TestQuestionFits(t *testing.T) {
	t.Parallel()
	for width, want := range map[int]string{0: "which agent? [extract]: ", 80: "which agent? [extract]: ", 16: "which agent?\n[extract]: "} {
		env, _, said := quiet()
		env.Stdin, env.Width = strings.NewReader("\n"), width
		err := env.newQuestions().askUntil(t.Context(), "which agent?", "extract", func(string) error { return nil })
		if got := said.String(); err != nil || got != want {
			t.Errorf("width %d: %q, %v; want %q", width, got, err, want)
		}
	}
}

// TestProseFits: markdown on a terminal breaks between words; code, tables, diffs and pipes stay whole.
func TestProseFits(t *testing.T) {
	t.Parallel()
	const code = "```\none two three four\n```\n| one | two three |\n@@ -1 +1 @@ one two\n one two three four\n+one two three four\n"
	for width, want := range map[int]string{0: "one two three four\nwhy? ", 14: "one two three\nfour\nwhy? "} {
		env, out, _ := quiet()
		env.Terminal, env.Width = true, width
		if err := printText(env, code+"\none two three four\nwhy? "); err != nil || out.String() != code+"\n"+want {
			t.Errorf("width %d: %q, %v", width, out, err)
		}
	}
}

// TestHelpFits: no page of help is wider than the terminal, in words that fit it, and
// a pipe gets every line whole.
func TestHelpFits(t *testing.T) {
	// Not parallel: the flag library keeps its help flag for the whole process.
	for _, page := range [][]string{{"help", "all"}, {"help", "check"}, {"help", "hook", "install"}, {"task", "add", "--help"}, {"help", "drain"}} {
		var narrow, pipe bytes.Buffer
		for out, env := range map[*bytes.Buffer]Env{&narrow: {Terminal: true, Width: 60}, &pipe: {}} {
			env.Stdout, env.Stderr, env.Dir = out, out, t.TempDir()
			env.Getenv = func(string) string { return "" }
			if code := oneAtATime(env, append([]string{"odd"}, page...)...); code != exitDone {
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

// TestExamplesFit: what stands broken in the source fits a terminal of 80 columns, where
// it would be broken again in the middle, and flags leave room for what they do.
func TestExamplesFit(t *testing.T) {
	t.Parallel()
	var walk func(path string, cmds []*cli.Command)
	walk = func(path string, cmds []*cli.Command) {
		for _, c := range cmds {
			for line := range strings.Lines(c.Description) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 78 {
					t.Errorf("odd help%s %s: %d columns and 2 in front: %s", path, c.Name, n, line)
				}
			}
			for _, f := range c.Flags {
				if names, _, _ := strings.Cut(f.String(), "\t"); strings.Contains(names, "[") || strings.HasSuffix(names, " value") {
					t.Errorf("odd help%s %s: %s: name the flag once, and what its value is", path, c.Name, names)
				}
			}
			walk(path+" "+c.Name, c.Subcommands)
		}
	}
	walk("", newApp(Env{Dir: t.TempDir()}).Commands)
}

// TestHelpIsWritten: a page of help that could not be written is a fault, as of any verb.
func TestHelpIsWritten(t *testing.T) {
	// Not parallel: the flag library keeps its help flag for the whole process.
	for _, page := range []string{"odd", "odd help", "odd help drain", "odd drain --help", "odd task"} {
		env, _, said := quiet()
		env.Stdout, env.Dir = unwritable{}, t.TempDir()
		if code := oneAtATime(env, strings.Fields(page)...); code != exitFault || !strings.Contains(said.String(), errUnwritable.Error()) {
			t.Errorf("%s: exit %d: %s", page, code, said)
		}
	}
}

// unwritable is a full disk behind stdout.
type unwritable struct{}

var errUnwritable = errors.New("no room")

func (unwritable) Write([]byte) (int, error) { return 0, errUnwritable }

// TestProgressIsOneLine: whatever a name holds, and however narrow the terminal is.
func TestProgressIsOneLine(t *testing.T) {
	t.Parallel()
	for width, want := range map[int]string{1: "\r…", 20: "\ra odd: approved", 0: "odd: a odd: approved\n"} {
		env, _, said := quiet()
		env.Live, env.Width = width > 0, width
		newProgress(env).setLine("a\nodd: approved")
		if got := said.String(); got != want {
			t.Errorf("width %d: %q, want %q", width, got, want)
		}
	}
}

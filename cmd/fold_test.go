package cmd

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/console/consoletest"
	"github.com/odd-cli/odd/cmd/internal/verb"
)

// TestHelpFits: no page of help is wider than the terminal, in words that fit it, and
// a pipe gets every line whole.
func TestHelpFits(t *testing.T) {
	// Not parallel: the flag library keeps its help flag for the whole process.
	for _, page := range [][]string{{"help", "all"}, {"help", "check"}, {"help", "hook", "install"}, {"task", "add", "--help"}, {"help", "drain"}} {
		var narrow, pipe bytes.Buffer
		for out, env := range map[*bytes.Buffer]console.Env{&narrow: {Terminal: true, Width: 60}, &pipe: {}} {
			env.Stdout, env.Stderr, env.Dir = out, out, t.TempDir()
			env.Getenv = func(string) string { return "" }
			if code := oneAtATime(env, append([]string{"odd"}, page...)...); code != verb.ExitDone {
				t.Fatalf("%v: exit %d: %s", page, code, out)
			}
		}
		for line := range strings.Lines(narrow.String()) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 60 && strings.Contains(strings.TrimLeft(line, " "), " ") {
				t.Errorf("%v: %d columns: %s", page, n, line)
			}
		}
		if !strings.Contains(pipe.String(), "\n"+verb.Exits+"\n") {
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
	walk("", newApp(console.Env{Dir: t.TempDir()}).Commands)
}

// TestHelpIsWritten: a page of help that could not be written is a fault, as of any verb.
func TestHelpIsWritten(t *testing.T) {
	// Not parallel: the flag library keeps its help flag for the whole process.
	for _, page := range []string{"odd", "odd help", "odd help drain", "odd drain --help", "odd task"} {
		env, _, said := consoletest.Quiet()
		env.Stdout, env.Dir = unwritable{}, t.TempDir()
		if code := oneAtATime(env, strings.Fields(page)...); code != verb.ExitFault || !strings.Contains(said.String(), errUnwritable.Error()) {
			t.Errorf("%s: exit %d: %s", page, code, said)
		}
	}
}

// unwritable is a full disk behind stdout.
type unwritable struct{}

var errUnwritable = errors.New("no room")

func (unwritable) Write([]byte) (int, error) { return 0, errUnwritable }

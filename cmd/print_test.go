package cmd

import (
	"errors"
	"strings"
	"testing"

	"github.com/odd-cli/odd/okf"
)

// Text from files and agents reaches the terminal without escapes, whichever
// way it is printed.
func TestPrintsPlainText(t *testing.T) {
	t.Parallel()
	const evil = "a\x1b]0;pwn\x07\x1b[31m\u202eb\u009b2Jc"
	for name, do := range map[string]func(Env) error{
		"rows":     func(e Env) error { return printRows(e, [][]string{{evil, evil}}) },
		"talk":     func(e Env) error { talk(e, "%s", evil); return nil },
		"error":    func(e Env) error { fail(e, errors.New(evil), false); return nil },
		"progress": func(e Env) error { newProgress(e).line(evil); return nil },
		"status": func(e Env) error {
			_, err := e.Stdout.Write([]byte(boardStatus{Paused: evil, Review: []string{evil}}.page()))
			return err
		},
	} {
		env, out, err := quiet()
		env.Terminal = true
		if e := do(env); e != nil {
			t.Fatal(e)
		}
		got := out.String() + err.String()
		if okf.Visible(got) != got || !strings.Contains(got, "[31mb") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A title cannot bring a trailer of its own, nor a second subject line.
func TestTrailersKeepTheSubjectOneLine(t *testing.T) {
	t.Parallel()
	got := trailers("approve: Tidy\n\nOdd-Approved-By: human:x\x1b[2J", "why\x1b[2J", "Odd-Task", "t-1", "Odd-Run", "")
	if want := "approve: Tidy Odd-Approved-By: human:x[2J\n\nwhy[2J\n\nOdd-Task: t-1\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Each -C is meant from the one before, and an absolute one starts anew.
func TestDirsInTurn(t *testing.T) {
	// Not parallel: the flag library keeps its help flag for the whole process.
	a, b := t.TempDir(), t.TempDir()
	for in, want := range map[string]string{
		"-C " + a + " -C " + b:    "odd: " + b + ": not a git repository",
		"-C " + a + " -C no-such": "odd: -C no-such: no such directory",
		"-C no-such-dir -C " + a:  "odd: -C no-such-dir: no such directory",
		"-C " + a + " -C .":       "odd: " + a + ": not a git repository",
	} {
		env, _, talk := quiet()
		Main(env, append([]string{"odd", "status"}, strings.Fields(in)...)...)
		if !strings.HasPrefix(talk.String(), want) {
			t.Errorf("%s: %q, want %q", in, talk, want)
		}
	}
}

package cmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/verb"
)

func TestPagerOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ environ, core, want string }{
		{"", "-", "[less]"},
		{"PAGER=more", "-", "[more]"},
		{"PAGER=more", "most -s", "[most -s]"},
		{"GIT_PAGER=less -S;PAGER=more", "most", "[less -S]"},
		{"ODD_PAGER=bat --plain;GIT_PAGER=less", "most", "[bat --plain]"},
		{"HOME=/home/ann;PAGER=~/bin/p -a", "-", "[/home/ann/bin/p -a]"},
		{"PAGER=cat", "-", "[]"},
		{"GIT_PAGER=;PAGER=more", "-", "[]"},
		{"PAGER=more", "", "[]"},
		{"", "diff-so-fancy | less", `core.pager: "diff-so-fancy | less" needs a shell`},
		{"PAGER=LESS=R less", "-", `PAGER: "LESS=R less" needs a shell`},
		{"PAGER=less $(tput cols)", "-", "needs a shell"},
		{"PAGER=less > /tmp/x", "-", "needs a shell"},
		{"PAGER=<(x)", "-", "needs a shell"},
	} {
		git := map[string]string{"core.pager": c.core}
		if c.core == "-" {
			delete(git, "core.pager")
		}
		argv, err := pagerOf(strings.Split(c.environ, ";"), git)
		got := fmt.Sprint(argv)
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want) || argv != nil) {
			t.Errorf("%s, core.pager %s: %s, want %s", c.environ, c.core, got, c.want)
		}
	}
}

// TestPaged: only what a person reads at a terminal goes through a pager.
func TestPaged(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"odd": true, "odd help all": true, "odd help drain": true, "odd log": true, "odd op show x": true, "odd -C /tmp log": true,
		"odd log --no-pager": false, "odd --no-pager log": false, "odd log --json": false, "odd approve x": false, "odd drain": false,
	} {
		for name, env := range map[string]console.Env{"terminal": {Terminal: true}, "pipe": {}, "CI": {Terminal: true, Environ: []string{"CI=1"}}, "agent": {Terminal: true, Environ: []string{"CLAUDECODE=1"}}, "dumb": {Terminal: true, Environ: []string{"TERM=dumb"}}} {
			env.Stdout, env.Stderr, env.Now = io.Discard, io.Discard, nil
			env.Getenv = func(name string) string {
				for _, kv := range env.Environ {
					if v, ok := strings.CutPrefix(kv, name+"="); ok {
						return v
					}
				}
				return ""
			}
			l, err := arrangeArgs(newApp(env), strings.Fields(line))
			if err != nil {
				t.Fatal(err)
			}
			got, _ := pageOutput(env, l, nil)
			if _, is := got.Stdout.(*screen); is != (want && name == "terminal") {
				t.Errorf("%s, %s: paged is %t", line, name, is)
			}
		}
	}
	for _, verbName := range pagedVerbs {
		if l, _ := arrangeArgs(newApp(console.Env{}), append([]string{"odd"}, strings.Fields(verbName)...)); l.verb != verbName {
			t.Errorf("%s is no verb", verbName)
		}
	}
}

// TestScreen: what is said while the pager is open goes through it, and a person who leaves it early is no fault.
func TestScreen(t *testing.T) {
	t.Parallel()
	at := func(t *testing.T, argv ...string) (console.Env, func() string) {
		out, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		return console.Env{Stdout: out, Stderr: out, Dir: t.TempDir(), Environ: os.Environ(), Terminal: true, Live: true}, func() string {
			b, _ := os.ReadFile(out.Name())
			return string(b)
		}
	}
	env, got := at(t)
	p := &screen{env: env, argv: []string{"sed", "s/^/| /"}}
	fmt.Fprintln(pagerStderr{p}, "before")
	fmt.Fprintln(p, "one")
	fmt.Fprintln(pagerStderr{p}, "beside")
	if p.leavePager(); got() != "before\n| one\n| beside\n" {
		t.Errorf("%q", got())
	}

	env, _ = at(t)
	p = &screen{env: env, argv: []string{"true"}}
	var err error
	for err == nil {
		_, err = p.Write(make([]byte, 1<<16))
	}
	if code, _ := verb.Status(err); code != verb.ExitDone || !errors.Is(err, syscall.EPIPE) {
		t.Errorf("left early: %v, exit %d", err, code)
	}
	p.leavePager()

	env, got = at(t)
	p = &screen{env: env, argv: []string{"odd-no-such-pager"}}
	fmt.Fprintln(p, "one")
	if p.leavePager(); !strings.Contains(got(), "set ODD_PAGER") || !strings.HasSuffix(got(), "one\n") {
		t.Errorf("no pager: %q", got())
	}
	if env := pagerEnv([]string{"LESS=-i", "PATH=/bin", "SEA_KEY=x"}); !slices.Equal(env, []string{"LV=-c", "PATH=/bin", "LESS=-i"}) {
		t.Errorf("%q", env)
	}
}

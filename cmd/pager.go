package cmd

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/journal/repo"
)

// pagedVerbs print what a person reads, and ask nothing after it.
var pagedVerbs = []string{
	"status", "config list", "config explain", "task list", "task show", "review", "search", "get", "check", "log", "explain",
	"knowledge related", "knowledge backlinks", "knowledge expand", "compile-persona", "journal list", "journal opens",
	"agent context", "agent handoff list", "agent handoff show", "agent persona show", "op list", "op show", "op diff", "op prompt",
	"gate lease show", "gate proposals list", "gate proposals show",
}

// pageOutput returns env for a command line whose output a person pages through, and what waits
// until they have left the pager. It is env itself where stdout is no terminal, where a
// program reads (--json, CI, an agent), and where the person has no pager.
func pageOutput(env console.Env, line commandLine, git map[string]string) (console.Env, func()) {
	none := func() {}
	page := line.verb == "" || line.verb == "help" || slices.Contains(line.args, "--help") || slices.Contains(pagedVerbs, line.verb)
	if !env.Terminal || !page || line.json || line.noPager || env.InCI() || env.AgentSign() != "" || env.Getenv("TERM") == "dumb" {
		return env, none
	}
	argv, err := pagerOf(env.Environ, git)
	if err != nil {
		console.Talk(env, "%v", err)
	}
	if argv == nil {
		return env, none
	}
	p := &screen{env: env, argv: argv}
	env.Stdout = p
	if env.Live {
		env.Stderr = pagerStderr{p}
	}
	return env, p.leavePager
}

// pagerOf returns the person's pager as words: odd's own, else the one that git would take, in
// git's order; nil for none. One that needs a shell is an error, because odd starts none.
func pagerOf(environ []string, git map[string]string) ([]string, error) {
	of := map[string]string{}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		of[name] = value
	}
	if pager, ok := git["core.pager"]; ok {
		of["core.pager"] = pager
	}
	from, text := "the usual pager", "less"
	for _, name := range []string{"ODD_PAGER", "GIT_PAGER", "core.pager", "PAGER"} {
		if pager, ok := of[name]; ok {
			from, text = name, pager
			break
		}
	}
	words := strings.Fields(text)
	switch {
	case len(words) == 0, len(words) == 1 && words[0] == "cat":
		return nil, nil
	case strings.ContainsAny(text, "|&;<>()$`\\\"'*?[]{}#!\n\x00"), strings.Contains(words[0], "="):
		return nil, fmt.Errorf("%s: %q needs a shell, and odd starts none; set ODD_PAGER to a program and its arguments, or to cat for none", from, text)
	}
	if below, ok := strings.CutPrefix(words[0], "~/"); ok {
		words[0] = of["HOME"] + "/" + below
	}
	return words, nil
}

// screen is a terminal behind a pager, which starts with the first byte.
type screen struct {
	env   console.Env // of the terminal
	argv  []string
	mu    sync.Mutex
	to    io.Writer   // nil before the first byte
	pager *repo.Pager // nil where it did not start
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.to == nil {
		s.startPager()
	}
	return s.to.Write(b)
}

func (s *screen) startPager() {
	s.to = s.env.Stdout
	p, err := repo.Page(s.argv, repo.Terminal{Dir: s.env.Dir, Env: pagerEnv(s.env.Environ), Out: s.env.Stdout, Err: s.env.Stderr})
	if err != nil {
		console.Talk(s.env, "pager: %v; install it, set ODD_PAGER, or use --no-pager", err)
		return
	}
	s.to, s.pager = p, p
}

func (s *screen) leavePager() {
	if s.pager != nil {
		_ = s.pager.Close()
	}
}

// pagerStderr is standard error beside a pager: the terminal until that has it.
type pagerStderr struct{ *screen }

func (b pagerStderr) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pager == nil {
		return b.env.Stderr.Write(text)
	}
	return b.pager.Write(text)
}

// pagerEnv returns all that a pager sees of the environment. Without the person's own options,
// less shows colours and leaves by itself what fits on one screen, as git has it.
func pagerEnv(environ []string) []string {
	out, less := []string{"LV=-c"}, "LESS=FRX"
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		switch {
		case name == "LESS":
			less = kv
		case slices.Contains([]string{"PATH", "HOME", "USER", "SHELL", "TERM", "TERMINFO", "COLORTERM", "LANG", "TMPDIR", "XDG_CONFIG_HOME", "EDITOR", "VISUAL", "LV", "LESSCHARSET", "LESSKEY", "LESSHISTFILE"}, name),
			strings.HasPrefix(name, "LC_"):
			out = append(out, kv)
		}
	}
	return append(out, less)
}

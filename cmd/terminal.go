package cmd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/cmd/internal/layout"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/secrets"
)

func (e Env) canAsk() bool { return e.Keyboard && !e.inCI() && e.agentSign() == "" }

// questions asks a person at the terminal, one line a question.
type questions struct {
	env Env
	in  *bufio.Reader
}

func (e Env) newQuestions() *questions { return &questions{e, bufio.NewReader(e.Stdin)} }

// askUntil asks until accept takes the answer, and says what is wrong with one that it does not.
// An empty answer is usual.
func (q *questions) askUntil(ctx context.Context, question, usual string, accept func(string) error) error {
	for {
		if usual != "" {
			question = strings.TrimSuffix(question, " ["+usual+"]") + " [" + usual + "]"
		}
		fmt.Fprint(q.env.Stderr, q.env.foldedLines(question+":")+" ")
		got, err := awaitAnswer(ctx, q.env.Stderr, func() (string, error) {
			s, err := q.in.ReadString('\n')
			s = strings.TrimSpace(s)
			if err != nil && (err != io.EOF || s == "") {
				fmt.Fprintln(q.env.Stderr)
				return "", context.Canceled
			}
			return s, nil
		})
		if err != nil {
			return err
		}
		if got == "" {
			got = usual
		}
		if err = accept(got); err == nil {
			return nil
		}
		talk(q.env, "%v", err)
	}
}

// pickRow has the person choose one of several, by its number or its first word.
func (q *questions) pickRow(ctx context.Context, what string, rows [][]string) (string, error) {
	first := 0
	for _, r := range rows {
		first = max(first, min(len(r[0]), 40))
	}
	for i, r := range rows {
		fmt.Fprintln(q.env.Stderr, layout.Clip(fmt.Sprintf("%3d  %-*s  %s", i+1, first, r[0], cell(strings.Join(r[1:], "  "))), q.env.terminalWidth()))
	}
	var chosen string
	err := q.askUntil(ctx, fmt.Sprintf("which %s? number or name", what), "", func(s string) error {
		for i, r := range rows {
			if s == r[0] || s == strconv.Itoa(i+1) {
				chosen = r[0]
				return nil
			}
		}
		return fmt.Errorf("%q is none of them; type a number from 1 to %d", s, len(rows))
	})
	return chosen, err
}

func onTask(env Env, run func(c *cli.Context, env Env, name string) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		name, err := taskArg(c, env)
		if err != nil {
			return err
		}
		return run(c, env, name)
	}
}

// takesTask reports whether a verb works on tasks in a state.
func takesTask(verb string, s board.State) bool {
	switch verb {
	case "approve", "reject", "review":
		return s == board.Review
	case "ready":
		return s == board.Backlog || s == board.Blocked
	}
	return true
}

// pickArg returns the single argument of a verb. Where it is missing, a person at a terminal picks
// one of the rows, named by their first cells; without any, none says why.
func pickArg(c *cli.Context, env Env, what, none string, rows func() ([][]string, error)) (string, error) {
	if c.NArg() > 0 || !env.canAsk() || c.Bool("json") {
		return c.Args().First(), oneArg(c)
	}
	list, err := rows()
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", usage("%s: want one argument, %s", verbOf(c), none)
	}
	return env.newQuestions().pickRow(c.Context, what, list)
}

// taskArg returns the argument of a verb that takes a task; a person picks one of those that it works on.
func taskArg(c *cli.Context, env Env) (string, error) {
	return pickArg(c, env, "task", "a task, and none is in a state for it; odd task list shows the tasks", func() (rows [][]string, err error) {
		v, err := openTasks(c.Context, env)
		if err != nil {
			return nil, err
		}
		for _, t := range v.taskRows() {
			if t.State != board.Done && takesTask(c.Command.Name, t.State) {
				rows = append(rows, []string{string(t.ID), string(t.State), t.Title})
			}
		}
		return rows, nil
	})
}

// opArg returns the argument of a verb that takes a change; a person picks one of the 20 that wait
// first, or are the latest.
func opArg(c *cli.Context, env Env) (string, error) {
	return pickArg(c, env, "op", "an op, and no agent has changed files yet", func() (rows [][]string, err error) {
		v, err := openFiles(c.Context, env)
		if err != nil {
			return nil, err
		}
		ops, err := v.state.Ops()
		for _, o := range inTurn(ops)[:min(20, len(ops))] {
			rows = append(rows, []string{shortOp(o.ID), o.Task, opRowOf(o).stateText()})
		}
		return rows, err
	})
}

// progress tells what is going on: one line that is rewritten on a terminal,
// plain lines elsewhere.
type progress struct {
	env  Env
	live bool

	mu    sync.Mutex
	wide  int           // columns of the live line as it stands
	text  string        // what goes on
	since time.Time     // when the sessions of the task began; zero before one
	used  session.Usage // by them
	stop  func()        // the clock of the live line; nil where none runs
}

func newProgress(env Env) *progress {
	return &progress{env: env, live: env.Live && env.Getenv("TERM") != "dumb" && !env.inCI()}
}

func (p *progress) setLine(s string) {
	if !p.live {
		talk(p.env, "%s", cell(s))
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = s
	p.drawLine()
}

// countTurn counts a turn of a session. From the first one of a task on, the live line has
// the time that the task takes, its turns and its cost.
func (p *progress) countTurn(u session.Usage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since.IsZero() || u.Turns == 0 && u.Cost == 0 {
		p.since = p.env.Now()
	}
	p.used = u
	if p.live {
		p.drawLine()
	}
}

// drawLine writes the live line so that it does not wrap, which would leave its head behind,
// and again each second while a session runs. The lock is held.
func (p *progress) drawLine() {
	text := p.text
	if !p.since.IsZero() {
		text = fmt.Sprintf("%s  %s  $%s  %s", p.env.Now().Sub(p.since).Round(time.Second), countNoun(p.used.Turns, "turn"), budget.MicroUSD(p.used.Cost), text)
		if p.stop == nil && p.env.After != nil {
			p.stop = p.env.After(time.Second, func() {
				p.mu.Lock()
				defer p.mu.Unlock()
				if p.stop != nil {
					p.stop = nil
					p.drawLine()
				}
			})
		}
	}
	text = layout.Clip(secrets.RedactText(cell(text)), max(1, p.env.terminalWidth()-1))
	fmt.Fprintf(p.env.Stderr, "\r%s", layout.Pad(text, p.wide))
	p.wide = layout.Width(text)
}

// clearLine clears the live line and stops its clock.
func (p *progress) clearLine() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop != nil {
		p.stop()
		p.stop = nil
	}
	if p.live && p.wide > 0 {
		fmt.Fprintf(p.env.Stderr, "\r%s\r", strings.Repeat(" ", p.wide))
	}
	p.wide = 0
}

// pagedVerbs print what a person reads, and ask nothing after it.
var pagedVerbs = []string{
	"status", "config list", "config explain", "task list", "task show", "review", "search", "get", "check", "log", "explain",
	"knowledge related", "knowledge backlinks", "knowledge expand", "compile-persona", "journal list", "journal opens",
	"agent context", "agent handoff list", "agent handoff show", "agent persona show", "op list", "op show", "op diff", "op trace", "op prompt",
	"gate lease show", "gate proposals list", "gate proposals show",
}

// pageOutput returns env for a command line whose output a person pages through, and what waits
// until they have left the pager. It is env itself where stdout is no terminal, where a
// program reads (--json, CI, an agent), and where the person has no pager.
func pageOutput(env Env, line commandLine, git map[string]string) (Env, func()) {
	none := func() {}
	page := line.verb == "" || line.verb == "help" || slices.Contains(line.args, "--help") || slices.Contains(pagedVerbs, line.verb)
	if !env.Terminal || !page || line.json || line.noPager || env.inCI() || env.agentSign() != "" || env.Getenv("TERM") == "dumb" {
		return env, none
	}
	argv, err := pagerOf(env.Environ, git)
	if err != nil {
		talk(env, "%v", err)
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
	env   Env // of the terminal
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
		talk(s.env, "pager: %v; install it, set ODD_PAGER, or use --no-pager", err)
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

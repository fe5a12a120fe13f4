package cmd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/cmd/internal/layout"
)

// canAsk reports a person at a terminal who can be asked.
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
		got, err := q.readLine(ctx)
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

// readLine reads one line. A terminal that ends, or a person who calls it off, is interrupted.
func (q *questions) readLine(ctx context.Context) (string, error) {
	return awaitAnswer(ctx, q.env.Stderr, func() (string, error) {
		s, err := q.in.ReadString('\n')
		s = strings.TrimSpace(s)
		if err != nil && (err != io.EOF || s == "") {
			fmt.Fprintln(q.env.Stderr)
			return "", context.Canceled
		}
		return s, nil
	})
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

// taskArg returns the single argument of a verb that takes a task. Where it is missing, a person
// at a terminal picks one of those in the given states, or of all.
func taskArg(c *cli.Context, env Env, states ...board.State) (string, error) {
	if c.NArg() > 0 || !env.canAsk() || c.Bool("json") {
		return oneArg(c, "a task")
	}
	v, err := openTasks(c.Context, env)
	if err != nil {
		return "", err
	}
	var rows [][]string
	for _, t := range v.taskRows() {
		if len(states) == 0 && t.State != board.Done || slices.Contains(states, t.State) {
			rows = append(rows, []string{string(t.ID), string(t.State), t.Title})
		}
	}
	if len(rows) == 0 {
		return "", usage("%s: want one argument, a task, and none is in a state for it; odd task list shows the tasks", verbOf(c))
	}
	return env.newQuestions().pickRow(c.Context, "task", rows)
}

// opArg returns the single argument of a verb that takes a change. Where it is missing, a
// person at a terminal picks one: those that wait first, then the latest.
func opArg(c *cli.Context, env Env) (string, error) {
	const most = 20
	if c.NArg() > 0 || !env.canAsk() || c.Bool("json") {
		return oneArg(c, "an op")
	}
	v, err := openFiles(c.Context, env)
	if err != nil {
		return "", err
	}
	ops, err := v.state.Ops()
	if err != nil {
		return "", err
	}
	var rows [][]string
	for _, o := range inTurn(ops) {
		rows = append(rows, []string{shortOp(o.ID), o.Task, opRowOf(o).stateText()})
	}
	if len(rows) == 0 {
		return "", usage("%s: want one argument, an op, and no agent has changed files yet", verbOf(c))
	}
	return env.newQuestions().pickRow(c.Context, "op", rows[:min(most, len(rows))])
}

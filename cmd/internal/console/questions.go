package console

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/odd-cli/odd/cmd/internal/layout"
)

// AwaitAnswer is Await for what ask reads from a terminal. A person who calls it off left the prompt's line open.
func AwaitAnswer[T any](ctx context.Context, tty io.Writer, ask func() (T, error)) (T, error) {
	said, err := Await(ctx, ask)
	if ctx.Err() != nil && err == ctx.Err() {
		_, _ = io.WriteString(tty, "\n")
	}
	return said, err
}

// Await returns what do returns, or the error of ctx once that is over: do itself goes on then, and
// nobody waits for it. A panic of do is an error.
func Await[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type answer struct {
		said T
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if p := recover(); p != nil {
				a.err = fmt.Errorf("a fault of odd: %v", p)
			}
			done <- a
		}()
		a.said, a.err = do()
	}()
	select {
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	case a := <-done:
		return a.said, a.err
	}
}

// CanAsk reports whether a person at the keyboard can be asked.
func (e Env) CanAsk() bool { return e.Keyboard && !e.InCI() && e.AgentSign() == "" }

// Questions asks a person at the terminal, one line a question.
type Questions struct {
	env Env
	in  *bufio.Reader
}

// NewQuestions returns questions to the person at the keyboard.
func (e Env) NewQuestions() *Questions { return &Questions{e, bufio.NewReader(e.Stdin)} }

// AskUntil asks until accept takes the answer, and says what is wrong with one that it does not.
// An empty answer is usual.
func (q *Questions) AskUntil(ctx context.Context, question, usual string, accept func(string) error) error {
	for {
		if usual != "" {
			question = strings.TrimSuffix(question, " ["+usual+"]") + " [" + usual + "]"
		}
		fmt.Fprint(q.env.Stderr, q.env.FoldedLines(question+":")+" ")
		got, err := AwaitAnswer(ctx, q.env.Stderr, func() (string, error) {
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
		Talk(q.env, "%v", err)
	}
}

// PickRow has the person choose one of several, by its number or its first word.
func (q *Questions) PickRow(ctx context.Context, what string, rows [][]string) (string, error) {
	first := 0
	for _, r := range rows {
		first = max(first, min(len(r[0]), 40))
	}
	for i, r := range rows {
		fmt.Fprintln(q.env.Stderr, layout.Clip(fmt.Sprintf("%3d  %-*s  %s", i+1, first, r[0], Cell(strings.Join(r[1:], "  "))), q.env.TerminalWidth()))
	}
	var chosen string
	err := q.AskUntil(ctx, fmt.Sprintf("which %s? number or name", what), "", func(s string) error {
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

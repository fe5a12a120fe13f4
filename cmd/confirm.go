package cmd

import (
	"context"
	"io"

	"github.com/odd-cli/odd/board/review"
)

// confirmHuman shows the person on the terminal what they decide about and asks there
// for the typed confirmation of the act.
func (w *workspace) confirmHuman(ctx context.Context, about, act, want string, signed bool) (review.Human, error) {
	who, err := w.repo.Identity(ctx)
	if err != nil {
		return review.Human{}, err
	}
	p := review.Person{Name: who.Name, Email: who.Email}
	at := w.personPlace()
	if signed {
		talk(w.env, "%s, signed:\n%s", act, about)
		return review.Signed(act, p, at, w.cfg.RequireSigned)
	}
	if err := review.Allowed(act, p, at); err != nil {
		return review.Human{}, err
	}
	tty, err := w.env.TTY()
	if err != nil {
		return review.Human{}, refuse("unconfirmed", "%s: you must type a confirmation, and there is no terminal; run the command in a terminal", act)
	}
	defer tty.Close()
	if _, err := io.WriteString(tty, w.env.foldedLines(about)); err != nil {
		return review.Human{}, refuse("unconfirmed", "%s: the terminal cannot be written to: %v; run it in another terminal", act, err)
	}
	h, err := awaitAnswer(ctx, tty, func() (review.Human, error) { return review.Confirm(tty, act, want, p, at) })
	w.noteDecided(w.env.Now())
	return h, err
}

// awaitAnswer waits for what ask reads from a terminal, or for the person to call it off:
// the read itself goes on when Ctrl-C is pressed, and nobody waits for it then.
func awaitAnswer[T any](ctx context.Context, tty io.Writer, ask func() (T, error)) (T, error) {
	type answer struct {
		said T
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		said, err := ask()
		done <- answer{said, err}
	}()
	select {
	case <-ctx.Done():
		_, _ = io.WriteString(tty, "\n") // the prompt's line has not ended
		var none T
		return none, ctx.Err()
	case a := <-done:
		return a.said, a.err
	}
}

// checkDecider returns the person that git names, and refuses a place where no person decides.
func (w *workspace) checkDecider(ctx context.Context, act string, at review.Place) (review.Person, error) {
	who, err := w.repo.Identity(ctx)
	if err != nil {
		return review.Person{}, err
	}
	p := review.Person{Name: who.Name, Email: who.Email}
	return p, review.Allowed(act, p, at)
}

// personPlace returns where the person is, as far as it can be told.
func (w *workspace) personPlace() review.Place {
	return review.Place{CI: w.env.inCI(), Session: w.env.agentSign(), Agent: review.Person{Name: w.cfg.AgentName, Email: w.cfg.AgentEmail}}
}

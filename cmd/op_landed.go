package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// landedBy is the op that landed by itself what t proposes, nil where none did: its
// records hold, and the branch that changes land on has the proposal.
func (v *view) landedBy(ctx context.Context, t board.Task) (*pipeline.Op, error) {
	if t.Result.Commit == "" {
		return nil, nil
	}
	c, err := v.repo.Commit(repo.OID(t.Result.Commit))
	if err != nil || len(c.Trailer("Odd-Op")) == 0 {
		return nil, nil // whoever asks has its own word for a proposal that is not here
	}
	all, err := v.state.Stories(func(o *state.Op) bool {
		return o.Task == string(t.ID) && o.Reason == pipeline.Landed && o.Proposal == t.Result.Commit
	})
	if err != nil || len(all) == 0 || !all[0].Sound {
		return nil, err
	}
	tip := v.tip
	if target, elsewhere := v.target(); elsewhere {
		if tip, err = v.repo.Ref(v.line.Local(target)); err != nil {
			return nil, fmt.Errorf("target %s: %w", target, err)
		}
	}
	if in, err := v.repo.Ancestor(ctx, c.OID, tip); err != nil || !in {
		return nil, err
	}
	o := all[0].Op()
	return &o, nil
}

// landedOn says where an op's change is, and how it goes again.
func landedOn(o pipeline.Op) string {
	at := o.Moved[1]
	return fmt.Sprintf("%.10s on %s; git revert %.10s undoes it", at.New, strings.TrimPrefix(at.Ref, "refs/heads/"), at.New)
}

// preview shows the person at the terminal a change that would land by itself; by
// is who typed that it may. Nobody fit to be asked is an error, and so is a time
// that ran out; any other answer is a no.
func (w *workspace) preview(ctx context.Context, p drain.Preview) (by string, err error) {
	act := fmt.Sprintf("merge the change of %s into %s without approval", p.Task, p.Target)
	who, err := w.repo.Identity(ctx)
	if err != nil {
		return "", err
	}
	person := review.Person{Name: who.Name, Email: who.Email}
	if err := review.Allowed(act, person, w.place()); err != nil {
		return "", err
	}
	tty, err := w.env.TTY()
	if err != nil {
		return "", errors.New("there is no terminal to show it on")
	}
	defer tty.Close()
	about := fmt.Sprintf("\n%s\n%s\n\n%s\nType land to merge it now. Anything else, or Enter, leaves it for odd review.\n", p.Op, strings.Join(p.Because, "\n"), p.Diff)
	if _, err := io.WriteString(tty, okf.Visible(about)); err != nil {
		return "", err
	}
	h, err := answered(ctx, tty, func() (review.Human, error) { return review.Confirm(tty, act, "land", person, w.place()) })
	switch {
	case err == nil:
		return h.By(), nil
	case ctx.Err() != nil:
		return "", errors.New("nobody answered in time")
	}
	return "", nil
}

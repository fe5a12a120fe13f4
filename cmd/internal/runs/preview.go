package runs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/okf"
)

// ConfirmPreview shows the person at the terminal a change that would land by itself; by
// is who typed that it may. Nobody fit to be asked is an error, and so is a time
// that ran out; any other answer is a no.
func ConfirmPreview(ctx context.Context, w *workspace.Clone, p drain.Preview) (by string, err error) {
	act := fmt.Sprintf("merge the change of %s into %s without approval", p.Task, p.Target)
	person, err := land.CheckDecider(ctx, w.Repo, act, land.PersonPlace(w))
	if err != nil {
		return "", err
	}
	tty, err := w.Env.TTY()
	if err != nil {
		return "", errors.New("there is no terminal to show it on")
	}
	defer tty.Close()
	about := fmt.Sprintf("\n%s\n%s\n\n%s\nType land to merge it now. Anything else, or Enter, leaves it for odd review.\n", p.Op, strings.Join(p.Because, "\n"), p.Diff)
	if _, err := io.WriteString(tty, okf.Visible(about)); err != nil {
		return "", err
	}
	h, err := console.AwaitAnswer(ctx, tty, func() (review.Human, error) { return review.Confirm(tty, act, "land", person, land.PersonPlace(w)) })
	switch {
	case err == nil:
		return h.By(), nil
	case ctx.Err() != nil:
		return "", errors.New("nobody answered in time")
	}
	return "", nil
}

package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/journal/repo"
)

func handoffVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "handoff",
		Usage: "pass work from one role to the next, in a file",
		Description: "odd agent handoff new --from planning --to execution \\\n" +
			"  --artifact knowledge/terms/slack-water.md --title \"Slack water\"\n" +
			"odd agent handoff list\n" +
			"odd agent handoff check\n\n" +
			"Work passes through five modes: exploration, planning, execution, validation,\n" +
			"resolution. A handoff is an atom in the folder handoffs/ with what the next\n" +
			"mode needs: a plan has assumptions and scope, a build has claims, a review\n" +
			"findings. revert and skip record in the journal that work goes back or leaves\n" +
			"a mode out.",
		Subcommands: []*cli.Command{handoffNew(env), handoffCheck(env), handoffShow(env), handoffList(env), handoffMerge(env), handoffClarify(env), handoffRevert(env), handoffSkip(env)},
	})
}

// handoffAct is one commit of a person: files, and the journal's entry about them.
type handoffAct struct {
	changes repo.Changes // by repository path
	subject string
	entry   journal.Entry
}

// actor is who keeps the record of an act: their name, for the journal's file, and
// how files name them. CI may keep one, and so may an agent outside of odd. A session of
// odd's has no such record but what it emits, and what the agent's identity wrote would
// be signed as a person's.
func (w *workspace) actor(ctx context.Context, act string) (name, by string, err error) {
	at := w.place()
	at.CI = false
	if w.env.Getenv("ODD_RUN") == "" {
		at.Session = ""
	}
	return w.signed(ctx, act, at)
}

// person is actor for an act that only a person may take.
func (w *workspace) person(ctx context.Context, act string) (name, by string, err error) {
	return w.signed(ctx, act, w.place())
}

func (w *workspace) signed(ctx context.Context, act string, at review.Place) (name, by string, err error) {
	who, err := w.repo.Identity(ctx)
	if err != nil {
		return "", "", err
	}
	return or(who.Name, who.Email), "human:" + who.Email, review.Allowed(act, review.Person{Name: who.Name, Email: who.Email}, at)
}

// day is the journal file of name today, below the bundle root.
func (w *workspace) day(name string) string {
	return journal.Path(w.env.Now(), strings.ToLower(name))
}

// tell commits what build makes together with its journal entry in the file
// day, or stages both.
func (w *workspace) tell(c *cli.Context, day string, build func(*view) (handoffAct, error)) (repo.OID, error) {
	return w.writeOrStage(c, (*view).sign, func(v *view) (repo.Changes, string, error) {
		act, err := build(v)
		if err != nil {
			return nil, "", err
		}
		name, e := v.file(day), act.entry
		types, _ := typesOf(v.graph, v.cfg.Root)
		e.Mark(types.Score(e))
		b, err := fs.ReadFile(v.bundle, day)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, "", err
		}
		if b, err = journal.Append(b, e); err != nil {
			return nil, "", fmt.Errorf("%s: %w", name, err)
		}
		ch := repo.Changes{name: b}
		maps.Copy(ch, act.changes)
		return ch, trailers(act.subject, ""), nil
	})
}

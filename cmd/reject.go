package cmd

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/board/verify"
	"github.com/odd-cli/odd/journal/repo"
)

func rejectVerb(env Env) *cli.Command {
	return verb("reject TASK", "turn a proposal down; the next attempt is told the reason",
		"odd reject read-the-handbook --reason \"the definitions miss the unit\"\n"+
			"odd reject read-the-handbook --reason \"read docs/ again\" --retry\n"+
			"odd reject read-the-handbook --reason \"Never add a dependency.\" --remember\n\n"+
			"Other tasks do not propose its atoms again until their source text changes.\n"+
			"With --retry nothing is declined. The task's file lists what is, under\n"+
			"declined; take an atom out there and commit, and it may come again.\n\n"+
			personNote,
		onTask(env, runReject),
		reasonFlag(),
		&cli.BoolFlag{Name: "remember", Usage: "also keep the reason as a policy that every later session is told, whatever its task"},
		&cli.BoolFlag{Name: "retry", Usage: "put the task back in ready, so that odd drain runs it again (default: backlog)"},
		yesFlag())
}

type rejection struct {
	reason           string
	retry, yes, json bool
	remember         bool            // the reason becomes a policy
	ends             pipeline.Reason // of an op that waits with the task
}

func runReject(c *cli.Context, env Env, name string) error {
	reason := c.String("reason")
	ask := reason == "" && env.canAsk() && !c.Bool("json")
	if reason == "" && !ask {
		return usage("reject: say why with --reason, because the next attempt reads it: odd reject %s --reason \"why\"", name)
	}
	v, t, err := opening{fetch: true, tasks: true}.openTask(c.Context, env, name)
	if err == nil {
		err = review.Rejectable(t)
	}
	if err != nil {
		return err
	}
	if ask {
		if err := env.newQuestions().askUntil(c.Context, "why? the next attempt is told", "", func(s string) error {
			if reason = s; s == "" {
				return errors.New("type one line")
			}
			return nil
		}); err != nil {
			return err
		}
	}
	o := rejection{reason: reason, retry: c.Bool("retry"), yes: c.Bool("yes"), json: c.Bool("json"), remember: c.Bool("remember"), ends: pipeline.Rejected}
	return v.rejectProposal(c.Context, t, o)
}

func (v *view) rejectProposal(ctx context.Context, t board.Task, o rejection) error {
	if err := review.Rejectable(t); err != nil {
		return err
	}
	if o.remember {
		if err := v.checkPreference(t, oneLine(o.reason)); err != nil {
			return err
		}
	}
	left, err := v.findUnapproved(ctx, t)
	if err != nil {
		return err
	}
	if v.cfg.Session.Substrate == "extract" && o.ends == pipeline.Rejected {
		talk(v.env, "warning: the offline reader cannot follow a reason, and reads the same again: narrow what it reads with odd task edit %s --input PATH, leave an atom out with odd approve %[1]s --without ID, or name another agent with odd config set session.substrate NAME", t.ID)
	}
	h, err := v.confirmHuman(ctx, "", "reject "+string(t.ID), string(t.ID), o.yes)
	if err != nil {
		return err
	}
	b, err := review.Reject(t, o.reason, o.retry, h, v.env.Now())
	if err != nil {
		return err
	}
	var declined []board.Decline
	if p, err := v.readProposal(t); err == nil && o.ends == pipeline.Rejected && !o.retry {
		for _, a := range v.proposedAtoms(p) {
			declined = append(declined, declineOf(a, oneLine(o.reason)))
		}
	}
	if b, err = review.Decline(b, t, declined, h, v.env.Now()); err != nil {
		return err
	}
	ch := repo.Changes{v.repoPath(t.Path): b}
	var preference string
	if o.remember {
		a, err := review.Preference(t, oneLine(o.reason), h, v.env.Now())
		if err != nil {
			return err
		}
		preference = v.repoPath(a.Path)
		ch[preference] = a.Bytes()
		if err := v.indexAdded(ctx, ch, preference); err != nil {
			return err
		}
	}
	op, err := v.endWaiting(ch, t, o.ends, o.reason)
	if err != nil {
		return err
	}
	msg := commitMessage("reject: "+or(t.Title, string(t.ID)), o.reason, "Odd-Task", string(t.ID), "Odd-Run", t.Result.Run, "Odd-Proposal", t.Result.Commit, "Odd-Op", op, "Odd-Rejected-By", h.By())
	oid, err := v.commitFiles(ctx, ch, msg)
	if err != nil {
		return err
	}
	if o.remember {
		talk(v.env, "%s: later sessions are told this; deprecate or delete the file to end that", preference)
		if globs := v.findForbidden(o.reason); len(globs) > 0 {
			talk(v.env, "to have every change there refused as well: odd config set pipeline.protected %s", strings.Join(quoteWords(globs), " "))
		}
	}
	if landed, err := v.landedBy(ctx, t); err == nil && landed != nil {
		talk(v.env, "%s: its change was merged without approval and stays: %s", t.ID, landedOn(*landed))
	}
	if left.OID != "" {
		talk(v.env, "%s: its files were merged without approval and stay; %s takes them out", t.ID, verify.TakeOut(left))
	}
	if len(declined) > 0 {
		what := "this atom"
		if n := len(declined); n > 1 {
			what = "these " + countNoun(n, "atom")
		}
		talk(v.env, "%s: other tasks do not propose %s again until the source text changes; odd task ready %[1]s lets this task try again", t.ID, what)
	}
	state := "backlog"
	if o.retry {
		state = "ready"
	}
	return show(v.env, o.json, map[string]string{"task": string(t.ID), "state": state, "by": h.By(), "commit": string(oid)}, []string{string(t.ID), state, h.By(), shortID(oid)})
}

// checkPreference refuses a reason that cannot become a preference: its file has no name, or
// is there already.
func (v *view) checkPreference(t board.Task, reason string) error {
	path := review.PreferencePath(reason)
	if path == "" {
		return refuse("reason", "reject %s: --remember needs a sentence as the reason, because later sessions are told nothing else", t.ID)
	}
	switch _, err := fs.Stat(v.bundle, path); {
	case err == nil:
		return refuse("exists", "reject %s: %s is there already; edit that file, and reject without --remember", t.ID, v.repoPath(path))
	case errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return err
	}
}

// findForbidden returns what [pipeline] protected has to hold for odd to refuse the changes that a
// reason such as "never touch docs/api" forbids; nil where it holds that already.
func (v *view) findForbidden(reason string) []string {
	globs := slices.Clone(v.cfg.Pipeline.Protected)
	for _, name := range board.ForbiddenPaths(reason, v.files, v.cfg.Root) {
		if !slices.Contains(globs, name) {
			globs = append(globs, name)
		}
	}
	if len(globs) == len(v.cfg.Pipeline.Protected) {
		return nil
	}
	return globs
}

// indexAdded adds to ch the indexes that list the atom that ch adds.
func (v *view) indexAdded(ctx context.Context, ch repo.Changes, atom string) error {
	merged, err := v.treeWith(ctx, v.tip, repo.Changes{atom: ch[atom]})
	if err != nil {
		return err
	}
	return v.updateIndexes(ctx, ch, []string{atom}, merged)
}

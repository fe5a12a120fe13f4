package approval

import (
	"cmp"
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
	"github.com/odd-cli/odd/cmd/internal/atoms"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
)

// RejectVerb declares odd reject.
func RejectVerb(env console.Env) *cli.Command {
	return verb.New("reject TASK", "turn a proposal down; the next attempt is told the reason",
		"odd reject read-the-handbook --reason \"the definitions miss the unit\"\n"+
			"odd reject read-the-handbook --reason \"read docs/ again\" --retry\n"+
			"odd reject read-the-handbook --reason \"Never add a dependency.\" --remember\n\n"+
			"Other tasks do not propose its atoms again until their source text changes.\n"+
			"odd lists these atoms under declined in the task's file. Remove one there and\n"+
			"commit, and agents may propose it again. With --retry, odd declines none.\n\n"+
			verb.PersonNote,
		workspace.OnTask(env, runReject),
		verb.ReasonFlag(),
		&cli.BoolFlag{Name: "remember", Usage: "also keep the reason as a policy that every later session is told, whatever its task"},
		&cli.BoolFlag{Name: "retry", Usage: "put the task back in ready, so that odd drain runs it again (default: backlog)"},
		verb.YesFlag())
}

// Rejection is a person's no to what a task proposes.
type Rejection struct {
	Reason           string
	retry, Yes, JSON bool
	remember         bool            // the reason becomes a policy
	Ends             pipeline.Reason // of an op that waits with the task
}

func runReject(c *cli.Context, env console.Env, name string) error {
	reason := c.String("reason")
	ask := reason == "" && env.CanAsk() && !c.Bool("json")
	if reason == "" && !ask {
		return verb.Usage("reject: say why with --reason, because the next attempt reads it: odd reject %s --reason \"why\"", name)
	}
	v, t, err := workspace.Options{Fetch: true, Tasks: true}.OpenTask(c.Context, env, name)
	if err == nil {
		err = review.Rejectable(t)
	}
	if err != nil {
		return err
	}
	if v.Config.Session.Substrate == "extract" {
		console.Talk(env, "warning: the offline reader cannot follow a reason, and reads the same again: narrow what it reads with odd task edit %s --input PATH, leave an atom out with odd approve %[1]s --without ID, or name another agent with odd config set session.substrate NAME", t.ID)
	}
	if ask {
		if err := env.NewQuestions().AskUntil(c.Context, "why? the next attempt is told", "", func(s string) error {
			if reason = s; s == "" {
				return errors.New("type one line")
			}
			return nil
		}); err != nil {
			return err
		}
	}
	o := Rejection{Reason: reason, retry: c.Bool("retry"), Yes: c.Bool("yes"), JSON: c.Bool("json"), remember: c.Bool("remember"), Ends: pipeline.Rejected}
	return RejectProposal(c.Context, v, t, o)
}

// RejectProposal asks the person to confirm the rejection of what t proposes, and lands it.
func RejectProposal(ctx context.Context, v *workspace.Board, t board.Task, o Rejection) error {
	if err := review.Rejectable(t); err != nil {
		return err
	}
	if o.remember {
		if err := checkPreference(v, t, console.OneLine(o.Reason)); err != nil {
			return err
		}
	}
	left, err := findUnapproved(ctx, v, t)
	if err != nil {
		return err
	}
	h, err := land.Confirm(ctx, v.Clone, "", "reject "+string(t.ID), string(t.ID), o.Yes)
	if err != nil {
		return err
	}
	b, err := review.Reject(t, o.Reason, o.retry, h, v.Env.Now())
	if err != nil {
		return err
	}
	var declined []board.Decline
	if p, err := v.ReadProposal(t); err == nil && o.Ends == pipeline.Rejected && !o.retry {
		for _, a := range ProposedAtoms(v, p) {
			declined = append(declined, a.Decline(console.OneLine(o.Reason)))
		}
	}
	if b, err = review.Decline(b, t, declined, h, v.Env.Now()); err != nil {
		return err
	}
	ch := repo.Changes{v.RepoPath(t.Path): b}
	var preference string
	if o.remember {
		a, err := review.Preference(t, console.OneLine(o.Reason), h, v.Env.Now())
		if err != nil {
			return err
		}
		preference = v.RepoPath(a.Path)
		ch[preference] = a.Bytes()
		if err := indexAdded(ctx, v, ch, preference); err != nil {
			return err
		}
	}
	op, err := endWaiting(v, ch, t, o.Ends, o.Reason)
	if err != nil {
		return err
	}
	msg := land.Message("reject: "+cmp.Or(t.Title, string(t.ID)), o.Reason, "Odd-Task", string(t.ID), "Odd-Run", t.Result.Run, "Odd-Proposal", t.Result.Commit, "Odd-Op", op, "Odd-Rejected-By", h.By())
	oid, err := land.CommitFiles(ctx, v, ch, msg)
	if err != nil {
		return err
	}
	if o.remember {
		console.Talk(v.Env, "%s: later sessions are told this; deprecate or delete the file to end that", preference)
		if globs := findForbidden(v, o.Reason); len(globs) > 0 {
			console.Talk(v.Env, "to have every change there refused as well: odd config set pipeline.protected %s", strings.Join(console.QuoteWords(globs), " "))
		}
	}
	if landed, err := landedBy(ctx, v, t); err == nil && landed != nil {
		console.Talk(v.Env, "%s: its change was merged without approval and stays: %s", t.ID, landedOn(*landed))
	}
	if left.OID != "" {
		console.Talk(v.Env, "%s: its files were merged without approval and stay; %s takes them out", t.ID, verify.TakeOut(left))
	}
	if len(declined) > 0 {
		what := "this atom"
		if n := len(declined); n > 1 {
			what = "these " + console.CountNoun(n, "atom")
		}
		console.Talk(v.Env, "%s: other tasks do not propose %s again until the source text changes; odd task ready %[1]s lets this task try again", t.ID, what)
	}
	state := "backlog"
	if o.retry {
		state = "ready"
	}
	return console.Show(v.Env, o.JSON, map[string]string{"task": string(t.ID), "state": state, "by": h.By(), "commit": string(oid)}, []string{string(t.ID), state, h.By(), console.ShortID(oid)})
}

// checkPreference refuses a reason that cannot become a preference: its file has no name, or
// is there already.
func checkPreference(v *workspace.Board, t board.Task, reason string) error {
	path := review.PreferencePath(reason)
	if path == "" {
		return verb.Refuse("reason", "reject %s: --remember needs a sentence as the reason, because later sessions are told nothing else", t.ID)
	}
	switch _, err := fs.Stat(v.Bundle, path); {
	case err == nil:
		return verb.Refuse("exists", "reject %s: %s is there already; edit that file, and reject without --remember", t.ID, v.RepoPath(path))
	case errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return err
	}
}

// findForbidden returns what [pipeline] protected has to hold for odd to refuse the changes that a
// reason such as "never touch docs/api" forbids; nil where it holds that already.
func findForbidden(v *workspace.Board, reason string) []string {
	globs := slices.Clone(v.Config.Pipeline.Protected)
	for _, name := range board.ForbiddenPaths(reason, v.Files, v.Config.Root) {
		if !slices.Contains(globs, name) {
			globs = append(globs, name)
		}
	}
	if len(globs) == len(v.Config.Pipeline.Protected) {
		return nil
	}
	return globs
}

// indexAdded adds to ch the indexes that list the atom that ch adds.
func indexAdded(ctx context.Context, v *workspace.Board, ch repo.Changes, atom string) error {
	merged, err := land.TreeWith(ctx, v.Repo, v.Tip, repo.Changes{atom: ch[atom]})
	if err != nil {
		return err
	}
	return atoms.UpdateIndexes(ctx, v, ch, []string{atom}, merged)
}

package approval

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/verify"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// UndoVerb declares odd undo.
func UndoVerb(env console.Env) *cli.Command {
	return verb.New("undo", "take back your last task edit, ready or reject; approvals stay",
		"odd undo\n\n"+
			"odd undoes the newest commit on the board with another commit, if it is from a\n"+
			"person's command, such as odd task add, edit or ready, or odd drain resume.\n"+
			"Approvals and gates stay; odd says why (exit 3). Both commits stay in the log.\n\n"+
			verb.PersonNote,
		verb.Do(env, runUndo), verb.YesFlag())
}

func runUndo(c *cli.Context, env console.Env) error {
	v, err := land.OpenToDecide(c.Context, env, "undo")
	if err != nil {
		return err
	}
	last, err := v.Repo.Commit(v.Tip)
	if err != nil {
		return err
	}
	subject, _, _ := strings.Cut(strings.TrimSpace(last.Message), "\n")
	if why := whyNotUndone(v, last, subject); why != "" {
		return verb.Refuse("undo", "%s %q cannot be undone: %s", console.ShortID(last.OID), console.OneLine(subject), why)
	}
	before, err := v.Repo.TreeOID(last.Parents[0], "")
	if err != nil {
		return err
	}
	diff, err := v.Repo.Diff(c.Context, last.Parents[0], last.OID)
	if err != nil {
		return err
	}
	about := fmt.Sprintf("%s\n  commit: %s of %s\n", okf.Visible(subject), console.ShortID(last.OID), last.Author.When.UTC().Format("2006-01-02 15:04Z"))
	var changed []string
	for _, c := range diff {
		changed = append(changed, c.Path)
		about += "  file: " + okf.Visible(c.Path) + "\n"
	}
	want := console.ShortID(last.OID)
	if tasks := last.Trailer("Odd-Task"); len(tasks) > 0 {
		want = console.OneLine(tasks[0])
	}
	h, err := land.Confirm(c.Context, v.Clone, about, "undo", want, c.Bool("yes"))
	if err != nil {
		return err
	}
	pairs := []string{"Odd-Undo", string(last.OID), "Odd-By", h.By()}
	for _, t := range last.Trailer("Odd-Task") {
		pairs = append(pairs, "Odd-Task", t)
	}
	oid, err := land.AsPerson(c.Context, v, []repo.OID{v.Tip}, before, nil, land.Message("board: undo "+subject, "", pairs...))
	if err != nil {
		return err
	}
	err = v.Line.Land(c.Context, v.Tip, oid)
	if no := (*verify.Refusal)(nil); errors.As(err, &no) {
		return verb.Refuse("undo", "%s %q cannot be undone: %s; nothing was done", console.ShortID(last.OID), console.OneLine(subject), no.Findings[0].Text())
	}
	if err != nil {
		return err
	}
	return console.Show(env, c.Bool("json"), map[string]any{"undone": string(last.OID), "commit": string(oid), "by": h.By(), "files": changed}, []string{console.ShortID(last.OID), "undone", console.OneLine(subject), console.ShortID(oid)})
}

// whyNotUndone says why a commit cannot be undone, "" where it can as far as it tells itself.
func whyNotUndone(v *workspace.Board, c repo.Commit, subject string) string {
	has := func(name string) bool { return len(c.Trailer(name)) > 0 }
	known := has("Odd-Task") || has("Odd-Resumed-By")
	switch {
	case strings.EqualFold(c.Author.Email, v.Config.AgentEmail):
		return "it is the newest commit of " + v.Line.Name() + " and odd made it for an agent; only a person's newest act is undone"
	case len(c.Parents) > 1 || has("Odd-Approved-By") || has("Odd-Approval"):
		return "approvals stay; odd task add asks for another change, and git revert -m 1 " + console.ShortID(c.OID) + " takes its files back by hand"
	case subject == "board: pause":
		return "odd drain resume lets drains run again"
	case has("Odd-Undo"):
		return "it was an undo; to have that back, run the command again that it took back: " + console.OneLine(strings.TrimPrefix(subject, "board: undo "))
	case slices.ContainsFunc([]string{"Odd-Gate", "Odd-Decision", "Odd-Lease"}, has):
		return "gates, decisions and leases are append-only; odd help gate shows the gates that change them"
	case !known || len(c.Parents) == 0:
		return "it is no command of odd; git revert undoes it"
	}
	return ""
}

package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/verify"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

func undoVerb(env Env) *cli.Command {
	return verb("undo", "take back your last task edit, ready or reject; approvals stay",
		"odd undo\n\n"+
			"It commits the board as it was before, if the newest commit there is a\n"+
			"person's command, such as odd task add, edit or ready, or odd drain resume.\n"+
			"Approvals and gates stay; odd says why (exit 3). An undone rejection leaves\n"+
			"odd log and its ledger; git log keeps both commits.\n\n"+
			personNote,
		do(env, runUndo), yesFlag())
}

func runUndo(c *cli.Context, env Env) error {
	v, err := openToDecide(c.Context, env, "undo")
	if err != nil {
		return err
	}
	last, err := v.repo.Commit(v.tip)
	if err != nil {
		return err
	}
	subject, _ := splitMessage(last)
	if why := v.whyNotUndone(last, subject); why != "" {
		return refuse("undo", "%s %q cannot be undone: %s", shortID(last.OID), oneLine(subject), why)
	}
	before, err := v.repo.TreeOID(last.Parents[0], "")
	if err != nil {
		return err
	}
	diff, err := v.repo.Diff(c.Context, last.Parents[0], last.OID)
	if err != nil {
		return err
	}
	about := fmt.Sprintf("%s\n  commit: %s of %s\n", okf.Visible(subject), shortID(last.OID), last.Author.When.UTC().Format("2006-01-02 15:04Z"))
	var changed []string
	for _, c := range diff {
		changed = append(changed, c.Path)
		about += "  file: " + okf.Visible(c.Path) + "\n"
	}
	want := shortID(last.OID)
	if tasks := last.Trailer("Odd-Task"); len(tasks) > 0 {
		want = oneLine(tasks[0])
	}
	h, err := v.confirmHuman(c.Context, about, "undo", want, c.Bool("yes"))
	if err != nil {
		return err
	}
	pairs := []string{"Odd-Undo", string(last.OID), "Odd-By", h.By()}
	for _, t := range last.Trailer("Odd-Task") {
		pairs = append(pairs, "Odd-Task", t)
	}
	oid, err := v.signCommit(c.Context, []repo.OID{v.tip}, before, nil, commitMessage("board: undo "+subject, "", pairs...))
	if err != nil {
		return err
	}
	err = v.line.Land(c.Context, v.tip, oid)
	if no := (*verify.Refusal)(nil); errors.As(err, &no) {
		return refuse("undo", "%s %q cannot be undone: %s; nothing was done", shortID(last.OID), oneLine(subject), no.Findings[0].Text())
	}
	if err != nil {
		return err
	}
	return show(env, c.Bool("json"), map[string]any{"undone": string(last.OID), "commit": string(oid), "by": h.By(), "files": changed}, []string{shortID(last.OID), "undone", oneLine(subject), shortID(oid)})
}

// whyNotUndone says why a commit cannot be undone, "" where it can as far as it tells itself.
func (v *view) whyNotUndone(c repo.Commit, subject string) string {
	has := func(name string) bool { return len(c.Trailer(name)) > 0 }
	known := has("Odd-Task") || has("Odd-Resumed-By")
	switch {
	case strings.EqualFold(c.Author.Email, v.cfg.AgentEmail):
		return "it is the newest commit of " + v.line.Name() + " and odd made it for an agent; only a person's newest act is undone"
	case len(c.Parents) > 1 || has("Odd-Approved-By") || has("Odd-Approval"):
		return "approvals stay; odd task add asks for another change, and git revert -m 1 " + shortID(c.OID) + " takes its files back by hand"
	case subject == "board: pause":
		return "odd drain resume lets drains run again"
	case has("Odd-Undo"):
		return "it was an undo; to have that back, run the command again that it took back: " + oneLine(strings.TrimPrefix(subject, "board: undo "))
	case slices.ContainsFunc([]string{"Odd-Gate", "Odd-Decision", "Odd-Lease"}, has):
		return "gates, decisions and leases are append-only; odd help gate shows the gates that change them"
	case !known || len(c.Parents) == 0:
		return "it is no command of odd; git revert undoes it"
	}
	return ""
}

package agents

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/journals"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/handoff"
)

func handoffVerb(env console.Env) *cli.Command {
	return verb.Group("handoff", "pass work from one role to the next, in a file",
		"odd agent handoff new --from planning --to execution \\\n"+
			"  --artifact knowledge/terms/slack-water.md --title \"Slack water\"\n"+
			"odd agent handoff list\n"+
			"odd agent handoff check\n\n"+
			"Work passes through five modes: exploration, planning, execution, validation,\n"+
			"resolution. A handoff is an atom in the folder handoffs/ with what the next\n"+
			"mode needs: a plan has assumptions and scope, a build has claims, a review\n"+
			"findings. revert and skip record in the journal that work goes back or leaves\n"+
			"a mode out.",
		handoffNew(env),
		verb.New("check [ID...]", "check that handoffs are complete and cite what exists",
			"odd agent handoff check\n"+
				"odd agent handoff check 2026-03-02-slack-water\n\n"+
				"A handoff needs the fields of its two modes, a journal entry, and sources that\n"+
				"exist. Exit 1 means findings. odd does not judge how good the content is.",
			verb.On(env, workspace.OpenCheckout, runHandoffCheck)),
		verb.New("show ID", "show one handoff",
			"odd agent handoff show 2026-03-02-slack-water --json",
			verb.On(env, workspace.OpenCheckout, runHandoffShow)),
		verb.New("list", "list the handoffs",
			"odd agent handoff list\n"+
				"odd agent handoff list --artifact knowledge/terms/slack-water.md",
			verb.On(env, workspace.OpenCheckout, runHandoffList),
			&cli.StringFlag{Name: "artifact", Usage: "list only those about `REF`: a path, id, uri or commit"}),
		verb.New("merge ID ID...", "merge several handoffs of one role on one artifact into one",
			"odd agent handoff merge 2026-03-02-review-a 2026-03-02-review-b \\\n"+
				"  --title \"Two reviews\"\n\n"+
				"The merged handoffs stay as they are. The new one has once what they agree on,\n"+
				"and every version of what they disagree on.",
			verb.Do(env, runHandoffMerge),
			&cli.StringFlag{Name: "title", Usage: "set the title to `TITLE`; it also makes the file name"},
			verb.NoCommitFlag()),
		verb.New("clarify ID KEY SENTENCE", "add a missing sentence to a handoff, as its author",
			"odd agent handoff clarify 2026-03-02-slack-water assumptions \\\n"+
				"  \"The almanac is this year's.\"\n\n"+
				"KEY is a field that the handoff needs; odd agent handoff check names what\n"+
				"lacks.",
			verb.Do(env, runHandoffClarify), verb.NoCommitFlag()), handoffRevert(env), handoffSkip(env))
}

func handoffRevert(env console.Env) *cli.Command {
	return verb.New("revert ARTIFACT", "record that work goes back to an earlier mode, and why",
		"odd agent handoff revert slack-water --from execution --to planning \\\n"+
			"  --reason \"The plan takes the almanac for this year's; is it?\"\n\n"+
			"odd help agent handoff lists the modes.",
		verb.Do(env, func(c *cli.Context, env console.Env) error {
			return journalAct(c, env, handoff.Act.Reversion, "from", "to")
		}),
		&cli.StringFlag{Name: "from", Usage: "`MODE` the work is in"},
		&cli.StringFlag{Name: "to", Usage: "earlier `MODE` it goes back to"},
		&cli.StringFlag{Name: "reason", Usage: "reason in one `SENTENCE`: one unknown, at most one question"},
		verb.NoCommitFlag())
}

func handoffSkip(env console.Env) *cli.Command {
	return verb.New("skip ARTIFACT", "record that a mode is left out, with reason and risks",
		"odd agent handoff skip slack-water --mode validation \\\n"+
			"  --reason \"The page is thrown away after the fair\" --risk \"wrong tides\"\n\n"+
			"odd help agent handoff lists the modes.",
		verb.Do(env, func(c *cli.Context, env console.Env) error { return journalAct(c, env, handoff.Act.Skip, "mode") }),
		&cli.StringFlag{Name: "mode", Usage: "`MODE` that is left out"},
		&cli.StringFlag{Name: "reason", Usage: "reason in one `SENTENCE`"},
		&cli.StringSliceFlag{Name: "risk", Usage: "name a `RISK` that you accept; repeatable"},
		verb.NoCommitFlag())
}

// journalAct records in the journal what say makes of an act on the modes that the flags name.
func journalAct(c *cli.Context, env console.Env, say func(handoff.Act) (handoff.Told, error), modes ...string) (err error) {
	a := handoff.Act{Artifact: c.Args().First(), Reason: console.OneLine(c.String("reason")), Risks: c.StringSlice("risk")}
	for _, flag := range modes {
		to := map[string]*contract.Mode{"from": &a.From, "to": &a.To, "mode": &a.Mode}[flag]
		if *to, err = readMode("handoff "+c.Command.Name, flag, c.String(flag)); err != nil {
			return err
		}
	}
	var told handoff.Told
	var file string
	oid, _, err := journals.CommitEntry(c, env, "handoff "+c.Command.Name+" "+a.Artifact, true, func(v *workspace.Board, who journals.Writer) (act journals.Change, err error) {
		a.By, a.At, file = who.By, who.At, v.RepoPath(who.Day)
		if a.Received, err = handoffsAbout(v, a.Artifact); err != nil {
			return act, err
		}
		if told, err = say(a); err != nil {
			return act, err
		}
		e := journal.Entry{Type: "D", TypeName: journal.TypeName("D", ""), Title: told.Title, Content: told.Content, More: []journal.Field{
			{Name: "rationale", Value: told.Rationale}, {Name: "alternatives", Value: told.Alternatives}, {Name: "reversibility", Value: told.Reversibility}}}
		return journals.Change{Changes: nil, Subject: "journal: " + told.Title, Entry: e}, nil
	})
	if err != nil {
		return err
	}
	return console.Show(env, c.Bool("json"), map[string]string{"file": file, "title": told.Title, "content": told.Content, "rationale": told.Rationale, "commit": string(oid)}, []string{file, "D", told.Title})
}

// handoffsAbout returns the handoffs about an artifact, by path. An artifact that is
// neither there nor handed over is refused: the name is likely a slip.
func handoffsAbout(v *workspace.Board, artifact string) ([]string, error) {
	var out []string
	for _, h := range handoff.All(v.Graph) {
		if sameArtifact(v, artifact, h.Artifact) {
			out = append(out, v.RepoPath(h.Path))
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	_, errAtom := v.Graph.Find(strings.TrimPrefix(artifact, v.Config.Root+"/"))
	if _, err := fs.Stat(v.Files, artifact); errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		if errAtom != nil {
			return nil, verb.Refuse("artifact", "%s: no handoff is about it, and %v", artifact, errAtom)
		}
	}
	return nil, nil
}

func findHandoff(v *workspace.Board, name string) (handoff.Handoff, error) {
	a, err := v.Graph.Find(strings.TrimPrefix(name, v.Config.Root+"/"))
	if err != nil {
		return handoff.Handoff{}, fmt.Errorf("handoff %w; odd agent handoff list shows which there are", err)
	}
	if a.Type != handoff.Type {
		return handoff.Handoff{}, fmt.Errorf("%s is a %s, not a handoff; odd agent handoff list shows which there are", a.ID, a.Type)
	}
	return handoff.Read(a)
}

// filesRoot returns the files that the board shows: the commit's, or the work tree's.
func filesRoot(v *workspace.Board) fs.FS {
	if _, committed := v.Bundle.(repo.TreeFS); committed || v.Repo.Root() == "" {
		return v.Files
	}
	return os.DirFS(v.Repo.Root())
}

// newHandoffWorld answers what the claims of h are checked against: the board, and the
// proposal that h is about, which may still wait for a person.
func newHandoffWorld(v *workspace.Board, h handoff.Handoff) handoff.World {
	places := []fs.FS{filesRoot(v), v.Bundle}
	o := drain.Records{Repo: v.Repo, State: v.State, Root: v.Config.Root, Graph: v.Graph, Tasks: v.AllTasks()}
	if made, err := o.Proposal(h); err == nil && made != nil {
		places = append(places, made.Files)
	}
	find := func(name string) (b []byte, there bool) {
		name = path.Clean(strings.TrimPrefix(filepath.ToSlash(name), "/"))
		for _, f := range places {
			if _, err := fs.Stat(f, name); err == nil {
				b, _ = fs.ReadFile(f, name) // nil for a folder
				return b, true
			}
		}
		return nil, false
	}
	return drain.HandoffWorld(v.Repo, v.Graph, v.Config.Root, find, func(file string, h handoff.Handoff) bool { return hasEntry(v, file, h) })
}

// hasEntry reports whether a journal file has an entry that tells of h.
func hasEntry(v *workspace.Board, file string, h handoff.Handoff) bool {
	return drain.JournalTells(v.Bundle, strings.TrimPrefix(file, v.Config.Root+"/"), h)
}

// artifactName returns one name for what a handoff is about: the path of an atom however
// it is called, and else what was said.
func artifactName(v *workspace.Board, ref string) string {
	if _, err := fs.Stat(filesRoot(v), ref); err == nil || ref == "" {
		return ref
	}
	if a, err := v.Graph.Find(strings.TrimPrefix(ref, v.Config.Root+"/")); err == nil {
		return v.RepoPath(a.Path)
	}
	return ref
}

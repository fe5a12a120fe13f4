package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/handoff"
)

func handoffVerb(env Env) *cli.Command {
	return group("handoff", "pass work from one role to the next, in a file",
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
		verb("check [ID...]", "check that handoffs are complete and cite what exists",
			"odd agent handoff check\n"+
				"odd agent handoff check 2026-03-02-slack-water\n\n"+
				"A handoff needs the fields of its two modes, a journal entry, and sources that\n"+
				"exist. Exit 1 means findings. odd does not judge how good the content is.",
			on(env, openHandoffs, runHandoffCheck)),
		verb("show ID", "show one handoff",
			"odd agent handoff show 2026-03-02-slack-water --json",
			on(env, openHandoffs, runHandoffShow)),
		verb("list", "list the handoffs",
			"odd agent handoff list\n"+
				"odd agent handoff list --artifact knowledge/terms/slack-water.md",
			on(env, openHandoffs, runHandoffList),
			&cli.StringFlag{Name: "artifact", Usage: "list only those about `REF`: a path, id, uri or commit"}),
		verb("merge ID ID...", "merge several handoffs of one role on one artifact into one",
			"odd agent handoff merge 2026-03-02-review-a 2026-03-02-review-b \\\n"+
				"  --title \"Two reviews\"\n\n"+
				"The merged handoffs stay as they are. The new one has once what they agree on,\n"+
				"and every version of what they disagree on.",
			do(env, runHandoffMerge),
			&cli.StringFlag{Name: "title", Usage: "set the title to `TITLE`; it also makes the file name"},
			noCommitFlag()),
		verb("clarify ID KEY SENTENCE", "add a missing sentence to a handoff, as its author",
			"odd agent handoff clarify 2026-03-02-slack-water assumptions \\\n"+
				"  \"The almanac is this year's.\"\n\n"+
				"KEY is a field that the handoff needs; odd agent handoff check names what\n"+
				"lacks.",
			do(env, runHandoffClarify), noCommitFlag()), handoffRevert(env), handoffSkip(env))
}

// handoffAct is one commit of a person: files, and the journal's entry about them.
type handoffAct struct {
	changes repo.Changes // by repository path
	subject string
	entry   journal.Entry
}

// checkActor returns who records an act: their name, for the journal's file, and
// how files name them. CI may keep one, and so may an agent outside of odd, unless only a person
// may. A session of odd's has no such record but what it emits, and what the agent's identity
// wrote would be signed as a person's.
func (w *workspace) checkActor(ctx context.Context, act string, person bool) (name, by string, err error) {
	at := w.personPlace()
	if !person {
		at.CI = false
		if w.env.Getenv("ODD_RUN") == "" {
			at.Session = ""
		}
	}
	who, err := w.checkDecider(ctx, act, at)
	return or(who.Name, who.Email), "human:" + who.Email, err
}

// journalDay returns the journal file of name today, below the bundle root.
func (w *workspace) journalDay(name string) string {
	return journal.Path(w.env.Now(), strings.ToLower(name))
}

// writer is who hands over, as files name them, when, and their journal file of today.
type writer struct{ by, at, day string }

// commitEntry commits what build makes together with its journal entry, or stages both, and
// returns the line of the entry in its file.
func commitEntry(c *cli.Context, env Env, act string, person bool, build func(*view, writer) (handoffAct, error)) (oid repo.OID, line int, err error) {
	w, err := openWorkspace(c.Context, env)
	if err != nil {
		return "", 0, err
	}
	name, by, err := w.checkActor(c.Context, act, person)
	if err != nil {
		return "", 0, err
	}
	who := writer{by, env.Now().UTC().Format(time.RFC3339), w.journalDay(or(c.String("slug"), name))}
	oid, err = w.writeOrStage(c, (*view).signCommit, func(v *view) (repo.Changes, string, error) {
		act, err := build(v, who)
		if err != nil {
			return nil, "", err
		}
		name, e := v.repoPath(who.day), act.entry
		types, _ := typesOf(v.graph, v.cfg.Root)
		e.Mark(types.Score(e))
		b, err := fs.ReadFile(v.bundle, who.day)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, "", err
		}
		if b, err = types.Append(b, e); err != nil {
			return nil, "", fmt.Errorf("%s: %w", name, err)
		}
		ch := repo.Changes{name: b}
		maps.Copy(ch, act.changes)
		line = bytes.Count(b, []byte("\n"))
		return ch, commitMessage(act.subject, ""), nil
	})
	return oid, line, err
}

func handoffRevert(env Env) *cli.Command {
	return verb("revert ARTIFACT", "record that work goes back to an earlier mode, and why",
		"odd agent handoff revert slack-water --from execution --to planning \\\n"+
			"  --reason \"The plan takes the almanac for this year's; is it?\"\n\n"+
			"odd help agent handoff lists the modes.",
		do(env, func(c *cli.Context, env Env) error { return journalAct(c, env, handoff.Act.Reversion, "from", "to") }),
		&cli.StringFlag{Name: "from", Usage: "`MODE` the work is in"},
		&cli.StringFlag{Name: "to", Usage: "earlier `MODE` it goes back to"},
		&cli.StringFlag{Name: "reason", Usage: "reason in one `SENTENCE`: one unknown, at most one question"},
		noCommitFlag())
}

func handoffSkip(env Env) *cli.Command {
	return verb("skip ARTIFACT", "record that a mode is left out, with reason and risks",
		"odd agent handoff skip slack-water --mode validation \\\n"+
			"  --reason \"The page is thrown away after the fair\" --risk \"wrong tides\"\n\n"+
			"odd help agent handoff lists the modes.",
		do(env, func(c *cli.Context, env Env) error { return journalAct(c, env, handoff.Act.Skip, "mode") }),
		&cli.StringFlag{Name: "mode", Usage: "`MODE` that is left out"},
		&cli.StringFlag{Name: "reason", Usage: "reason in one `SENTENCE`"},
		&cli.StringSliceFlag{Name: "risk", Usage: "name a `RISK` that you accept; repeatable"},
		noCommitFlag())
}

// journalAct records in the journal what say makes of an act on the modes that the flags name.
func journalAct(c *cli.Context, env Env, say func(handoff.Act) (handoff.Told, error), modes ...string) (err error) {
	a := handoff.Act{Artifact: c.Args().First(), Reason: oneLine(c.String("reason")), Risks: c.StringSlice("risk")}
	for _, flag := range modes {
		to := map[string]*contract.Mode{"from": &a.From, "to": &a.To, "mode": &a.Mode}[flag]
		if *to, err = readMode("handoff "+c.Command.Name, flag, c.String(flag)); err != nil {
			return err
		}
	}
	var told handoff.Told
	var file string
	oid, _, err := commitEntry(c, env, "handoff "+c.Command.Name+" "+a.Artifact, true, func(v *view, who writer) (act handoffAct, err error) {
		a.By, a.At, file = who.by, who.at, v.repoPath(who.day)
		if a.Received, err = v.handoffsAbout(a.Artifact); err != nil {
			return act, err
		}
		if told, err = say(a); err != nil {
			return act, err
		}
		e := journal.Entry{Type: "D", TypeName: journal.TypeName("D", ""), Title: told.Title, Content: told.Content, More: []journal.Field{
			{Name: "rationale", Value: told.Rationale}, {Name: "alternatives", Value: told.Alternatives}, {Name: "reversibility", Value: told.Reversibility}}}
		return handoffAct{nil, "journal: " + told.Title, e}, nil
	})
	if err != nil {
		return err
	}
	return show(env, c.Bool("json"), map[string]string{"file": file, "title": told.Title, "content": told.Content, "rationale": told.Rationale, "commit": string(oid)}, []string{file, "D", told.Title})
}

// handoffsAbout returns the handoffs about an artifact, by path. An artifact that is
// neither there nor handed over is refused: the name is likely a slip.
func (v *view) handoffsAbout(artifact string) ([]string, error) {
	var out []string
	for _, h := range handoff.All(v.graph) {
		if v.sameArtifact(artifact, h.Artifact) {
			out = append(out, v.repoPath(h.Path))
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	_, errAtom := v.graph.Find(strings.TrimPrefix(artifact, v.cfg.Root+"/"))
	if _, err := fs.Stat(v.files, artifact); errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		if errAtom != nil {
			return nil, refuse("artifact", "%s: no handoff is about it, and %v", artifact, errAtom)
		}
	}
	return nil, nil
}

// openHandoffs is openCurrent for verbs that only read handoffs: where HEAD is
// detached and odd.toml names no board, as in CI, what is checked out is read.
func openHandoffs(ctx context.Context, env Env) (*view, error) {
	w, err := openWorkspace(ctx, env)
	if err != nil {
		return nil, err
	}
	head, err := w.repo.Branch()
	if err != nil {
		return nil, err
	}
	if head != "" || w.cfg.Branch != "" || w.repo.Root() == "" {
		return w.readCurrent(ctx)
	}
	v := &view{workspace: w, line: &repo.Line{Repo: w.repo, Ref: "HEAD"}}
	if v.tip, err = w.repo.Resolve(ctx, "HEAD"); err != nil {
		return nil, err
	}
	return v, v.readFiles()
}

func (v *view) findHandoff(name string) (handoff.Handoff, error) {
	a, err := v.graph.Find(strings.TrimPrefix(name, v.cfg.Root+"/"))
	if err != nil {
		return handoff.Handoff{}, fmt.Errorf("handoff %w; odd agent handoff list shows which there are", err)
	}
	if a.Type != handoff.Type {
		return handoff.Handoff{}, fmt.Errorf("%s is a %s, not a handoff; odd agent handoff list shows which there are", a.ID, a.Type)
	}
	return handoff.Read(a)
}

// filesRoot returns the files that the view shows: the commit's, or the work tree's.
func (v *view) filesRoot() fs.FS {
	if _, committed := v.bundle.(repo.TreeFS); committed || v.repo.Root() == "" {
		return v.files
	}
	return os.DirFS(v.repo.Root())
}

// newHandoffWorld answers what the claims of h are checked against: the board, and the
// proposal that h is about, which may still wait for a person.
func (v *view) newHandoffWorld(h handoff.Handoff) handoff.World {
	places := []fs.FS{v.filesRoot(), v.bundle}
	o := drain.Records{Repo: v.repo, State: v.state, Root: v.cfg.Root, Graph: v.graph, Tasks: v.allTasks()}
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
	return drain.HandoffWorld(v.repo, v.graph, v.cfg.Root, find, v.hasEntry)
}

// hasEntry reports whether a journal file has an entry that tells of h.
func (v *view) hasEntry(file string, h handoff.Handoff) bool {
	return drain.JournalTells(v.bundle, strings.TrimPrefix(file, v.cfg.Root+"/"), h)
}

// artifactName returns one name for what a handoff is about: the path of an atom however
// it is called, and else what was said.
func (v *view) artifactName(ref string) string {
	if _, err := fs.Stat(v.filesRoot(), ref); err == nil || ref == "" {
		return ref
	}
	if a, err := v.graph.Find(strings.TrimPrefix(ref, v.cfg.Root+"/")); err == nil {
		return v.repoPath(a.Path)
	}
	return ref
}

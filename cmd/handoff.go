package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/handoff"
)

func handoffVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "handoff",
		Usage: "hand work from one mode to the next; go back or leave out in the open",
		Description: "odd handoff new --from planning --to execution --artifact knowledge/terms/slack-water.md\nodd handoff check\n" +
			"odd handoff merge review-a review-b --title \"Two reviews\"\nodd handoff revert slack-water --from execution --to planning --reason \"The plan takes the almanac for this year's; is it?\"",
		Subcommands: []*cli.Command{handoffNew(env), handoffCheck(env), handoffShow(env), handoffList(env), handoffMerge(env), handoffClarify(env), handoffRevert(env), handoffSkip(env)},
	})
}

// handoffAct is one commit of a person: files, and the journal's entry about them.
type handoffAct struct {
	changes repo.Changes // by repository path
	subject string
	entry   journal.Entry
}

// actor is who acts: a person, or the session that runs odd.
func (w *workspace) actor(ctx context.Context) (name string, by string, err error) {
	who, err := w.repo.Identity(ctx)
	if err != nil {
		return "", "", err
	}
	if w.env.Getenv("ODD_RUN") != "" {
		return or(who.Name, who.Email), "odd/" + version(), nil
	}
	return or(who.Name, who.Email), "human:" + who.Email, nil
}

// person is actor for an act that only a person may take.
func (w *workspace) person(ctx context.Context, act string) (name, by string, err error) {
	if w.env.Getenv("ODD_RUN") != "" {
		return "", "", refuse("session", "%s: a session cannot; a person decides it", act)
	}
	return w.actor(ctx)
}

// day is the journal file of name today, below the bundle root.
func (w *workspace) day(name string) string {
	return journal.Path(w.env.Now(), strings.ToLower(name))
}

// tell commits what build makes together with its journal entry in the file
// day, or stages both.
func (w *workspace) tell(ctx context.Context, day string, noCommit bool, build func(*view) (handoffAct, error)) (repo.OID, error) {
	both := func(v *view) (repo.Changes, string, error) {
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
		for file, text := range act.changes {
			ch[file] = text
		}
		return ch, trailers(act.subject, ""), nil
	}
	if noCommit {
		return "", w.stage(ctx, both)
	}
	return w.write(ctx, both)
}

// handoff finds a handoff by any of its names and reads it.
func (v *view) handoff(name string) (handoff.Handoff, error) {
	a, err := v.graph.Find(strings.TrimPrefix(name, v.cfg.Root+"/"))
	if err != nil {
		return handoff.Handoff{}, fmt.Errorf("handoff %s: %w", name, err)
	}
	if a.Type != handoff.Type {
		return handoff.Handoff{}, usage("%s is a %s, not a handoff", a.ID, a.Type)
	}
	return handoff.Read(a)
}

// root is the files the view is of: the commit's, or the work tree's.
func (v *view) root() fs.FS {
	if _, committed := v.bundle.(repo.TreeFS); committed || v.repo.Root() == "" {
		return v.files
	}
	return os.DirFS(v.repo.Root())
}

// world answers what the claims of handoffs are checked against.
func (v *view) world(ctx context.Context) handoff.World {
	find := func(p string) (fs.FS, string, bool) {
		p = path.Clean(strings.TrimPrefix(filepath.ToSlash(p), "/"))
		for _, f := range []fs.FS{v.root(), v.bundle} {
			if _, err := fs.Stat(f, p); err == nil {
				return f, p, true
			}
		}
		return nil, "", false
	}
	return handoff.World{
		Path: func(p string) bool { _, _, ok := find(p); return ok },
		Lines: func(p string) int {
			f, p, ok := find(p)
			if !ok {
				return -1
			}
			b, err := fs.ReadFile(f, p)
			if err != nil {
				return -1
			}
			return handoff.LineCount(b)
		},
		Commit: func(id string) bool {
			oid, err := v.repo.Resolve(ctx, id)
			return err == nil && strings.HasPrefix(string(oid), id)
		},
		Ref: func(s string) error {
			_, err := v.graph.Resolve(s)
			if errors.Is(err, okf.ErrNotFound) {
				return okf.ErrNotFound
			}
			return nil
		},
		Tells:  v.tells,
		Source: func(ref string) (handoff.Handoff, bool) { h, err := v.handoff(ref); return h, err == nil },
	}
}

// tells reports whether a journal file has an entry that tells of h.
func (v *view) tells(file string, h handoff.Handoff) bool {
	b, err := fs.ReadFile(v.bundle, strings.TrimPrefix(file, v.cfg.Root+"/"))
	if err != nil {
		return false
	}
	entries, _, err := journal.Parse(b)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if e.Type == "H" && handoff.Tells(e.Content, string(h.From), string(h.To), h.Path) {
			return true
		}
	}
	return false
}

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

	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/handoff"
)

// openHandoffs is openCurrent, for verbs that only read handoffs: where HEAD is
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
		return w.current(ctx)
	}
	v := &view{workspace: w, line: &repo.Line{Repo: w.repo, Ref: "HEAD"}}
	if v.tip, err = w.repo.Resolve(ctx, "HEAD"); err != nil {
		return nil, err
	}
	return v, v.readFiles()
}

// handoff finds a handoff by any of its names and reads it.
func (v *view) handoff(name string) (handoff.Handoff, error) {
	a, err := v.graph.Find(strings.TrimPrefix(name, v.cfg.Root+"/"))
	if err != nil {
		return handoff.Handoff{}, fmt.Errorf("handoff %w; odd agent handoff list shows which there are", err)
	}
	if a.Type != handoff.Type {
		return handoff.Handoff{}, fmt.Errorf("%s is a %s, not a handoff; odd agent handoff list shows which there are", a.ID, a.Type)
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

// world answers what the claims of h are checked against: the board, and the
// proposal that h is about, which may still wait for a person.
func (v *view) world(ctx context.Context, h handoff.Handoff) handoff.World {
	places := []fs.FS{v.root(), v.bundle}
	o := drain.Origin{Repo: v.repo, Files: v.files, Root: v.cfg.Root, Graph: v.graph, Tasks: v.tasks()}
	if made, err := o.Proposal(h); err == nil && made != nil {
		places = append(places, made.Files)
	}
	find := func(p string) (fs.FS, string, bool) {
		p = path.Clean(strings.TrimPrefix(filepath.ToSlash(p), "/"))
		for _, f := range places {
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
	if err != nil || !h.Vouches() {
		return false
	}
	for _, e := range entries {
		if e.Type == "H" && handoff.Tells(e.Content, string(h.From), string(h.To), h.Path) {
			return true
		}
	}
	return false
}

// artifact is one name for what a handoff is about: the path of an atom however
// it is called, and else what was said.
func (v *view) artifact(ref string) string {
	if _, err := fs.Stat(v.root(), ref); err == nil || ref == "" {
		return ref
	}
	if a, err := v.graph.Find(strings.TrimPrefix(ref, v.cfg.Root+"/")); err == nil {
		return v.file(a.Path)
	}
	return ref
}

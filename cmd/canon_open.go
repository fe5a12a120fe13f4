package cmd

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf/canon"
)

// readCanon reads the source as canon: every markdown file of the folder, atom or
// not. The bundle that it returns has a place and no atoms.
func (s source) readCanon(ctx context.Context, env Env) (*canon.Library, bundle, error) {
	if s.rev != "" {
		return s.committedCanon(ctx, env)
	}
	root, prefix, err := bundleDir(env, s.dir)
	if err != nil {
		return nil, bundle{}, err
	}
	top, below := root, "."
	if r, err := repo.Open(root, env.Environ); err == nil && r.Root() != "" {
		if rel, err := filepath.Rel(r.Root(), root); err == nil && filepath.IsLocal(rel) {
			top, below = r.Root(), filepath.ToSlash(rel)
		}
	}
	elsewhere, err := external(root)
	if err != nil {
		return nil, bundle{}, err
	}
	l, err := canon.Read(os.DirFS(top), below, elsewhere)
	return l, bundle{root: root, prefix: prefix}, err
}

func (s source) committedCanon(ctx context.Context, env Env) (*canon.Library, bundle, error) {
	r, _, files, err := s.commit(ctx, env)
	if err != nil {
		return nil, bundle{}, err
	}
	root, err := s.committedRoot(env, r, files)
	if err != nil {
		return nil, bundle{}, err
	}
	if st, err := fs.Stat(files, or(root, ".")); err != nil || !st.IsDir() {
		return nil, bundle{}, refuse("no-bundle", "%s: no such folder in commit %s; name another commit with --at, or another folder with --bundle", root, s.rev)
	}
	l, err := canon.Read(files, or(root, "."), externalAt(files, s.rev))
	return l, bundle{root: filepath.Join(r.Root(), filepath.FromSlash(root)), prefix: root, rev: s.rev}, err
}

package cmd

import (
	"context"
	"os"
	"path/filepath"

	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf/canon"
)

// readCanon reads the source as canon: every markdown file of the folder, atom or
// not. The bundle that it returns has a place and no atoms.
func (s source) readCanon(ctx context.Context, env Env) (*canon.Library, bundle, error) {
	if s.rev != "" {
		_, _, files, b, err := s.committed(ctx, env)
		if err != nil {
			return nil, b, err
		}
		l, err := canon.Read(files, or(b.prefix, "."), externalAt(files, s.rev))
		return l, b, err
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

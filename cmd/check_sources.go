package cmd

import (
	"context"
	"errors"
	"io/fs"

	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/disk"
)

// against compares the bundle with the files of its repository: those that its sources
// name, and the listings of the folders where odd.toml names the bundle. Outside a
// repository there is nothing to compare with.
func (b bundle) against(ctx context.Context, env Env) ([]okf.Problem, error) {
	var own fs.FS = disk.Dir(b.root)
	dir := b.root
	if b.rev != "" {
		dir = env.Dir
	}
	r, err := repo.Open(dir, env.Environ)
	if err != nil || r.Root() == "" {
		return nil, nil
	}
	commit, err := r.Ref("HEAD")
	if b.rev != "" {
		commit, err = r.Resolve(ctx, b.rev)
	}
	if err != nil && !errors.Is(err, repo.ErrNoRef) {
		return nil, err
	}
	tracked, err := r.Tree(commit)
	if err != nil {
		return nil, err
	}
	var files fs.FS = disk.Dir(r.Root())
	if b.rev != "" {
		files = tracked
		if own, err = fs.Sub(tracked, or(b.prefix, ".")); err != nil {
			return nil, err
		}
	}
	found := okf.CheckSources(b.graph, files, tracked)
	if b.prefix != "" {
		found = append(found, okf.CheckIndex(own, b.graph)...)
	}
	return found, nil
}

package repo

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// OpenReceiving is Open for a hook of git's that judges what is being pushed: where
// git has put the pushed objects in quarantine, a directory that GIT_QUARANTINE_PATH
// names, they are read too; "" is none. They are read by git itself, for nothing else knows where they are, and
// what git writes meanwhile lands beside them. A quarantine outside the repository's
// own objects is an error.
func OpenReceiving(dir string, environ []string, at string) (*Repo, error) {
	r, err := Open(dir, environ)
	if err != nil || at == "" {
		return r, err
	}
	if !filepath.IsAbs(at) {
		at = filepath.Join(r.gitDir, at)
	}
	objects := filepath.Join(r.common, "objects")
	real, err := filepath.EvalSymlinks(at)
	if err != nil {
		return nil, fmt.Errorf("the pushed objects: %w", err)
	}
	if home, err := filepath.EvalSymlinks(objects); err != nil || !strings.HasPrefix(real, home+string(filepath.Separator)) {
		return nil, fmt.Errorf("GIT_QUARANTINE_PATH: %s lies outside of %s", at, objects)
	}
	r.git.base = append(r.git.base, "GIT_QUARANTINE_PATH="+real, "GIT_OBJECT_DIRECTORY="+real, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+objects)
	r.objs = &gitStore{run: r.git, batch: &batch{run: r.git}}
	return r, nil
}

// HooksDir is where git looks for this repository's hooks, absolute: hooks/ in the
// common directory, or what core.hooksPath names.
func (r *Repo) HooksDir(ctx context.Context) (string, error) {
	out, err := r.readGitLine(ctx, "rev-parse", "--git-path", "hooks")
	if err == nil && !filepath.IsAbs(out) {
		out = filepath.Join(r.git.dir, out)
	}
	return out, err
}

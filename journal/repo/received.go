package repo

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/odd-cli/odd/journal/repo/object"
)

// OpenReceiving is Open for a hook that judges a push. at is GIT_QUARANTINE_PATH, the directory where git holds the
// pushed objects; "" is none. Git itself then reads objects, because only it finds them there, and writes new ones
// beside them. A quarantine outside the repository's objects is an error.
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
	r.git.Base = append(r.git.Base, "GIT_QUARANTINE_PATH="+real, "GIT_OBJECT_DIRECTORY="+real, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+objects)
	r.DB = object.New(r.git, r.gitDir)
	return r, nil
}

// HooksDir returns the absolute path of this repository's hooks: core.hooksPath, or hooks/ in the common directory.
func (r *Repo) HooksDir(ctx context.Context) (string, error) {
	out, err := r.git.ReadLine(ctx, "rev-parse", "--git-path", "hooks")
	if err == nil && !filepath.IsAbs(out) {
		out = filepath.Join(r.git.Dir, out)
	}
	return out, err
}

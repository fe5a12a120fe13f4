package repo

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing/format/config"
)

// applyCoreConfig makes of what was found what git makes of it: the repository's own
// configuration may name another work tree, or say that it has none. A work tree
// that does not lead back is refused: every git that odd starts there would work
// in another repository, or in none.
func (r *Repo) applyCoreConfig(abs string) error {
	bare, tree := r.readCoreConfig()
	switch {
	case tree != "":
		return r.useWorkTree(abs, tree)
	case bare:
		r.root, r.prefix = "", ""
	}
	return nil
}

// readCoreConfig returns what core.bare and core.worktree say, and notes how objects are named. Neither key of a repository's config
// file is a linked work tree's. What cannot be read git complains of.
func (r *Repo) readCoreConfig() (bare bool, tree string) {
	file := func(name string) *config.Config {
		c := config.New()
		if f, err := os.Open(name); err == nil {
			defer f.Close()
			_ = config.NewDecoder(f).Decode(c)
		}
		return c
	}
	all := file(filepath.Join(r.common, "config"))
	r.format = cmp.Or(strings.ToLower(all.Section("extensions").Option("objectFormat")), "sha1")
	files := []*config.Config{all}
	if r.gitDir != r.common {
		files = nil
	}
	if x := all.Section("extensions"); x.HasOption("worktreeConfig") && !isFalse(x.Option("worktreeConfig")) {
		files = append(files, file(filepath.Join(r.gitDir, "config.worktree")))
	}
	for _, c := range files {
		core := c.Section("core")
		if core.HasOption("bare") {
			bare = !isFalse(core.Option("bare"))
		}
		if core.HasOption("worktree") {
			tree = core.Option("worktree")
		}
	}
	return bare, tree
}

// useWorkTree makes tree, as core.worktree names it, the work tree.
func (r *Repo) useWorkTree(abs, tree string) error {
	if !filepath.IsAbs(tree) {
		tree = filepath.Join(r.gitDir, tree)
	}
	says := fmt.Sprintf("%s: core.worktree names %s", filepath.Join(r.gitDir, "config"), tree)
	real, err := filepath.EvalSymlinks(tree)
	if err != nil {
		return fmt.Errorf("%s: %w; git config --unset core.worktree, if it is a remnant", says, err)
	}
	if real == r.root {
		return nil
	}
	back, err := gitDirOf(real)
	if err == nil && back != "" {
		back, err = filepath.EvalSymlinks(back)
	}
	if own, ownErr := filepath.EvalSymlinks(r.gitDir); err != nil || ownErr != nil || back != own {
		return fmt.Errorf("%s, which does not lead back to it; write %q into %s, or git config --unset core.worktree, if it is a remnant",
			says, "gitdir: "+r.gitDir, filepath.Join(real, ".git"))
	}
	r.root, r.prefix = real, ""
	if rel, err := filepath.Rel(real, abs); err == nil && rel != "." && filepath.IsLocal(rel) {
		r.prefix = filepath.ToSlash(rel)
	}
	return nil
}

// checkTrusted asks git whether it works in the repository of another user, which it
// does where safe.directory says so.
func (r *Repo) checkTrusted() error {
	for _, p := range []string{r.gitDir, r.common, r.root} {
		st, err := os.Stat(p)
		if p == "" || err != nil {
			continue
		}
		if own, ok := st.Sys().(*syscall.Stat_t); ok && int(own.Uid) != os.Geteuid() {
			_, err := r.readGit(context.Background(), "rev-parse", "--git-dir")
			return err
		}
	}
	return nil
}

// checkEnvironment refuses where the caller's environment names another repository than the
// one that was found, or another work tree: every git they start there works in that
// one. What a hook of this one is given leads here, and what leads nowhere is nobody's.
func (r *Repo) checkEnvironment(environ []string) error {
	for _, v := range []struct{ name, is string }{{"GIT_DIR", r.gitDir}, {"GIT_WORK_TREE", r.root}} {
		named := envValue(environ, v.name)
		if named == "" || v.is == "" || v.name == "GIT_WORK_TREE" && !filepath.IsAbs(named) {
			continue
		}
		st, err := os.Stat(named)
		if err == nil && v.name == "GIT_DIR" {
			_, err = os.Lstat(filepath.Join(named, "HEAD"))
		}
		own, ownErr := os.Stat(v.is)
		if err == nil && ownErr == nil && !os.SameFile(st, own) {
			return fmt.Errorf("%s is set to %s, and the repository here is %s; unset %s, or run odd there", v.name, named, r.gitDir, v.name)
		}
	}
	return nil
}

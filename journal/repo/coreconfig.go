package repo

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing/format/config"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
)

// applyCoreConfig applies core.bare and core.worktree to the repository that was found. It refuses a work tree that
// does not lead back to it: git, started there, would work in another repository or in none.
func (r *Repo) applyCoreConfig(abs string) error {
	bare, tree, format := r.readCoreConfig()
	switch {
	case format != "sha1":
		return refuse("object-format", "%s: this repository uses %s object names, and odd works with sha1 only; make a new one with git init --object-format=sha1 DIR", r.common, format)
	case tree != "":
		return r.useWorkTree(abs, tree)
	case bare:
		r.root, r.prefix = "", ""
	}
	return nil
}

// readCoreConfig returns core.bare, core.worktree and the hash of object ids, "sha1" or "sha256", and sets whether there
// are extensions (gitrepository-layout) that change anything. A linked work tree does not use
// these keys from the common config file. Git reports a file that cannot be read.
func (r *Repo) readCoreConfig() (bare bool, tree, format string) {
	file := func(name string) *config.Config {
		c := config.New()
		if f, err := os.Open(name); err == nil {
			defer f.Close()
			_ = config.NewDecoder(f).Decode(c)
		}
		return c
	}
	all := file(filepath.Join(r.common, "config"))
	format = cmp.Or(strings.ToLower(all.Section("extensions").Option("objectFormat")), "sha1")
	r.extended = !slices.Contains([]string{"", "0", "1"}, all.Section("core").Option("repositoryFormatVersion")) ||
		slices.ContainsFunc(all.Section("extensions").Options, func(o *config.Option) bool { return !strings.HasPrefix(strings.ToLower(o.Key), "noop") })
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
	return bare, tree, format
}

// useWorkTree makes tree, the value of core.worktree, the work tree.
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

// checkTrusted asks git whether it may work in another user's repository, which safe.directory allows.
func (r *Repo) checkTrusted() error {
	for _, p := range []string{r.gitDir, r.common, r.root} {
		st, err := os.Stat(p)
		if p == "" || err != nil {
			continue
		}
		if own, ok := st.Sys().(*syscall.Stat_t); ok && int(own.Uid) != os.Geteuid() {
			_, err := r.git.Read(context.Background(), "rev-parse", "--git-dir")
			return err
		}
	}
	return nil
}

// checkEnvironment refuses an environment that names another repository or work tree than the one found, because
// every git that the caller starts would use that one. Hooks set variables that lead here, which is fine, and a
// path that does not exist is ignored.
func (r *Repo) checkEnvironment(environ []string) error {
	for _, v := range []struct{ name, is string }{{"GIT_DIR", r.gitDir}, {"GIT_WORK_TREE", r.root}} {
		named := gitcmd.Env(environ, v.name)
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

package cmd

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/urfave/cli/v2"
)

func hookVerb(env Env) *cli.Command {
	return group("hook", "install a git hook that runs odd check on every push",
		"odd hook install --dry-run\n"+
			"odd -C /srv/ours.git hook install\n"+
			"odd hook uninstall\n\n"+
			"The hook checks the new commits of a push as odd check --range does, and\n"+
			"refuses the push if there is a finding. Install it in the bare repository of\n"+
			"the server: in a clone, git push --no-verify skips it.",
		hookInstall(env),
		verb("uninstall", "remove the hook that odd installed",
			"odd hook uninstall\n"+
				"odd -C /srv/ours.git hook uninstall\n\n"+
				"A hook that odd did not write stays (exit 3).",
			on(env, hookHere, func(c *cli.Context, env Env, h gitHook) error { return h.putHook(env, c, nil) }), jsonFlag()),
		hookRun(env))
}

// The hooks that odd puts into a repository: a bare one receives, a working clone sends.
const (
	preReceive = "pre-receive"
	prePush    = "pre-push"
)

// hookMark is the line by which odd knows a hook of its own.
const hookMark = "# odd hook: written by odd hook install, taken out by odd hook uninstall"

func hookScript(name string) []byte {
	return []byte("#!/bin/sh\n" + hookMark + "\n" +
		"command -v odd >/dev/null 2>&1 || {\n" +
		"  echo \"odd: not found on this PATH, so nothing passes: $PATH\" >&2\n" +
		"  echo \"odd: install it there, or take this hook out: odd hook uninstall\" >&2\n" +
		"  exit 1\n}\n" +
		"exec odd hook run " + name + "\n")
}

// gitHook is where a repository's hook is.
type gitHook struct{ name, path string }

// hookHere returns the hook that fits the repository at env.Dir. Where core.hooksPath leads
// out of it the hook would be other repositories' too, and is refused.
func hookHere(ctx context.Context, env Env) (gitHook, error) {
	r, err := openRepo(env)
	if err != nil {
		return gitHook{}, err
	}
	h := gitHook{name: prePush}
	if r.Root() == "" {
		h.name = preReceive
	}
	dir, err := r.HooksDir(ctx)
	if err != nil {
		return h, err
	}
	h.path = filepath.Join(dir, h.name)
	for _, home := range []string{r.CommonDir(), r.Root()} {
		if rel, err := filepath.Rel(home, h.path); home != "" && err == nil && filepath.IsLocal(rel) {
			return h, nil
		}
	}
	return h, refuse("hooks-path", "git's core.hooksPath is %s, outside of this repository, so odd does not write there; have the hook there call odd hook run %s with its standard input", dir, h.name)
}

// readOwn returns what odd's hook holds, nil where there is none. One that odd did not
// write is refused, and told how to have both.
func (h gitHook) readOwn() ([]byte, error) {
	st, err := os.Lstat(h.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	var b []byte
	if st.Mode().IsRegular() { // a link or a folder is somebody else's
		if b, err = os.ReadFile(h.path); err != nil {
			return nil, err
		}
	}
	if !bytes.Contains(b, []byte(hookMark+"\n")) {
		return nil, refuse("hook-foreign", "%s: another hook exists there; have it call odd hook run %s with its standard input, or move it away and run the command again", h.path, h.name)
	}
	return b, nil
}

func hookInstall(env Env) *cli.Command {
	return verb("install", "install pre-receive in a bare repository, or pre-push in a clone",
		"odd hook install\n"+
			"odd -C /srv/ours.git hook install\n\n"+
			"odd checks the new commits of every branch in a push, as odd check --range\n"+
			"does. If one has a finding, the whole push is refused. Refused are also:\n"+
			"- deleting or rewriting the board branch or the target branch\n"+
			"- refs/replace/, and on a server refs/remotes/\n"+
			"Tags pass; their commits are checked when a branch brings them.\n\n"+
			"If [board] names no branch, the board is the default branch of the repository\n"+
			"that receives. A clone knows that of its remote from refs/remotes/NAME/HEAD\n"+
			"(set by git remote set-head NAME --auto), else it takes the branch that is\n"+
			"checked out. HEAD of a server must be on a branch. If the hook does not find\n"+
			"odd on PATH, every push is refused. odd never overwrites another hook (exit\n"+
			"3). git push --no-verify skips the hook of a clone, so install it on the\n"+
			"server too.",
		on(env, hookHere, runHookInstall), &cli.BoolFlag{Name: "dry-run", Usage: "print the hook and its path, and write nothing"}, jsonFlag())
}

func runHookInstall(c *cli.Context, env Env, h gitHook) error {
	now := hookScript(h.name)
	if !c.Bool("dry-run") {
		return h.putHook(env, c, now)
	}
	if _, err := h.readOwn(); err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(env, map[string]string{"hook": h.name, "path": h.path, "text": string(now)})
	}
	talk(env, "would write %s", h.path)
	_, err := env.Stdout.Write(now)
	return err
}

// putHook writes the hook, or removes it for nil, and says what there is now.
func (h gitHook) putHook(env Env, c *cli.Context, now []byte) error {
	changed, err := h.writeHook(env, verbOf(c), now)
	if err != nil {
		return err
	}
	state := "installed"
	if now == nil {
		state = "absent"
	}
	return show(env, c.Bool("json"), map[string]any{"hook": h.name, "path": h.path, "state": state, "changed": changed}, []string{h.name, strings.TrimSpace(h.path), state})
}

// writeHook writes the hook, or removes it for nil.
func (h gitHook) writeHook(env Env, verb string, now []byte) (changed bool, err error) {
	was, err := h.readOwn()
	if err == nil {
		err = byAgent(env, verb)
	}
	if err != nil {
		return false, err
	}
	switch changed = !bytes.Equal(was, now); {
	case changed && now == nil:
		err = os.Remove(h.path)
	case changed:
		if err = os.MkdirAll(filepath.Dir(h.path), 0o755); err == nil {
			err = renameio.WriteFile(h.path, now, 0o755)
		}
	}
	if err == nil && now != nil && env.findProgram("odd") == "" {
		talk(env, "odd is not on the PATH; until it is, the hook refuses every push")
	}
	return changed, err
}

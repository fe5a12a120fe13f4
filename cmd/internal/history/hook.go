package history

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/verify"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
)

// HookVerb declares odd hook.
func HookVerb(env console.Env) *cli.Command {
	return verb.Group("hook", "install a git hook that runs odd check on every push",
		"odd hook install\n"+
			"odd -C /srv/ours.git hook install\n"+
			"odd hook uninstall\n\n"+
			"The hook checks the new commits of a push as odd check --range does, and\n"+
			"refuses the push if there is a finding. Install it in the bare repository of\n"+
			"the server: in a clone, git push --no-verify skips it.",

		verb.New("install", "install pre-receive in a bare repository, or pre-push in a clone",
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
			verb.On(env, HookHere, func(c *cli.Context, env console.Env, h Hook) error { return h.putHook(env, c, hookScript(h.Name)) })),
		verb.New("uninstall", "remove the hook that odd installed",
			"odd hook uninstall\n"+
				"odd -C /srv/ours.git hook uninstall\n\n"+
				"A hook that odd did not write stays (exit 3).",
			verb.On(env, HookHere, func(c *cli.Context, env console.Env, h Hook) error { return h.putHook(env, c, nil) })),

		verb.NewText("run pre-receive|pre-push [REMOTE]", "check a push, as the hook does; refs come on stdin",
			"odd hook run pre-receive < refs\n\n"+
				"Call this from a hook of your own. Stdin has one line for each ref, as git\n"+
				"gives them to the hook. For pre-push REMOTE is the hook's first argument: odd\n"+
				"checks what is new since refs/remotes/REMOTE/BRANCH of the board, or all\n"+
				"commits where there is none. Exit 1 means a finding, or that odd could not\n"+
				"check the push: then the hook must refuse the push.",
			verb.Do(env, runHook)))
}

// The hooks that odd puts into a repository: a bare one receives, a working clone sends.
const (
	preReceive = "pre-receive"
	prePush    = "pre-push"
)

// hookMark is the line by which odd knows a hook of its own.
const hookMark = "# odd hook: written by odd hook install, taken out by odd hook uninstall"

// hookCall returns the command by which the hook has odd judge a push.
func hookCall(name string) string {
	if name == prePush {
		name += ` "$1"` // the remote
	}
	return "odd hook run " + name
}

func hookScript(name string) []byte {
	return []byte("#!/bin/sh\n" + hookMark + "\n" +
		"command -v odd >/dev/null 2>&1 || {\n" +
		"  echo \"odd: not found on this PATH, so nothing passes: $PATH\" >&2\n" +
		"  echo \"odd: install it there, or take this hook out: odd hook uninstall\" >&2\n" +
		"  exit 1\n}\n" +
		"exec " + hookCall(name) + "\n")
}

// Hook is where a repository's hook is.
type Hook struct{ Name, Path string }

// HookHere returns the hook that fits the repository at env.Dir. Where core.hooksPath leads
// out of it the hook would be other repositories' too, and is refused.
func HookHere(ctx context.Context, env console.Env) (Hook, error) {
	r, err := workspace.OpenRepo(env)
	if err != nil {
		return Hook{}, err
	}
	h := Hook{Name: prePush}
	if r.Root() == "" {
		h.Name = preReceive
	}
	dir, err := r.HooksDir(ctx)
	if err != nil {
		return h, err
	}
	h.Path = filepath.Join(dir, h.Name)
	for _, home := range []string{r.CommonDir(), r.Root()} {
		if rel, err := filepath.Rel(home, h.Path); home != "" && err == nil && filepath.IsLocal(rel) {
			return h, nil
		}
	}
	return h, verb.Refuse("hooks-path", "git's core.hooksPath is %s, outside of this repository, so odd does not write there; have the hook there call %s with its standard input", dir, hookCall(h.Name))
}

// ReadOwn returns what odd's hook holds, nil where there is none. One that odd did not
// write is refused, and told how to have both.
func (h Hook) ReadOwn() ([]byte, error) {
	st, err := os.Lstat(h.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	var b []byte
	if st.Mode().IsRegular() { // a link or a folder is somebody else's
		if b, err = os.ReadFile(h.Path); err != nil {
			return nil, err
		}
	}
	if !bytes.Contains(b, []byte(hookMark+"\n")) {
		return nil, verb.Refuse("hook-foreign", "%s: another hook exists there; have it call %s with its standard input, or move it away and run the command again", h.Path, hookCall(h.Name))
	}
	return b, nil
}

// putHook writes the hook, or removes it for nil, and says what there is now.
func (h Hook) putHook(env console.Env, c *cli.Context, now []byte) error {
	was, err := h.ReadOwn()
	if err == nil {
		err = land.RefuseAgent(env, verb.Name(c))
	}
	if err != nil {
		return err
	}
	changed, state := !bytes.Equal(was, now), "installed"
	switch {
	case now == nil:
		state = "absent"
		if changed {
			err = os.Remove(h.Path)
		}
	case changed:
		if err = os.MkdirAll(filepath.Dir(h.Path), 0o755); err == nil {
			err = renameio.WriteFile(h.Path, now, 0o755)
		}
	}
	if err != nil {
		return err
	}
	said := state
	if now == nil && changed {
		said = "removed"
	}
	if now != nil && env.FindProgram("odd") == "" {
		console.Talk(env, "odd is not on the PATH; until it is, the hook refuses every push")
	}
	return console.Show(env, c.Bool("json"), map[string]any{"hook": h.Name, "path": h.Path, "state": state, "changed": changed}, []string{h.Name, strings.TrimSpace(h.Path), said})
}

// pushedRef is one ref of a push; an empty id is none.
type pushedRef struct {
	ref      string
	old, new repo.OID
}

func runHook(c *cli.Context, env console.Env) error {
	name := c.Args().First()
	if name != preReceive && name != prePush {
		return verb.Usage("hook run: unknown hook %q; want pre-receive or pre-push", name)
	}
	refs, err := pushedRefs(env.Stdin, name)
	if err != nil {
		return err
	}
	r, err := repo.OpenReceiving(env.Dir, env.Environ, env.Getenv("GIT_QUARANTINE_PATH"))
	if err != nil {
		return err
	}
	p := push{ctx: c.Context, env: env, repo: r, checker: verify.NewChecker(c.Context, r), moving: map[string]repo.OID{}, receiving: name == preReceive, remote: c.Args().Get(1)}
	for _, m := range refs {
		if m.new != "" {
			p.moving[m.ref] = m.new
		}
	}
	if p.kept, err = p.keptBranches(); err != nil {
		return err
	}
	bad := false
	for _, m := range refs {
		fine, err := p.judgeRef(m)
		if err != nil {
			return fmt.Errorf("%s: refused, because odd could not check it: %w", m.ref, err)
		}
		bad = bad || !fine
	}
	if bad {
		return verb.ExitCode(verb.ExitFault)
	}
	return nil
}

// pushedRefs reads the lines that git gives a hook: "old new ref" to pre-receive,
// "ref new remote-ref old" to pre-push.
func pushedRefs(in io.Reader, name string) ([]pushedRef, error) {
	var out []pushedRef
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		f := strings.Fields(lines.Text())
		var m pushedRef
		switch {
		case name == preReceive && len(f) == 3:
			m = pushedRef{f[2], repo.OID(f[0]), repo.OID(f[1])}
		case name == prePush && len(f) == 4:
			m = pushedRef{f[2], repo.OID(f[3]), repo.OID(f[1])}
		default:
			return nil, verb.Usage("hook run %s: line %d of standard input is %q; want what git gives that hook", name, n, lines.Text())
		}
		for _, oid := range []*repo.OID{&m.old, &m.new} {
			if strings.Trim(string(*oid), "0") == "" {
				*oid = ""
			}
		}
		out = append(out, m)
	}
	return out, lines.Err()
}

// push is a push before it is let through.
type push struct {
	ctx       context.Context
	env       console.Env
	repo      *repo.Repo
	moving    map[string]repo.OID
	checker   verify.Checker
	kept      []string // full names of the board branch and the target, as the repository has them before the push
	receiving bool
	remote    string // of a push that leaves, as git names it to the hook
}

// keptBranches returns the board branch and the target by the odd.toml that stands where
// the push goes, so that no push names others for itself.
func (p push) keptBranches() ([]string, error) {
	defaults, err := p.defaultBranches()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, d := range defaults {
		law, err := workspace.ReadSettings(p.repo, d.New)
		if err != nil {
			return nil, err
		}
		board := cmp.Or(law.Branch, strings.TrimPrefix(d.Name, "refs/heads/"))
		for _, name := range []string{board, cmp.Or(law.Target, board)} {
			if name = "refs/heads/" + name; !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out, nil
}

// defaultBranches returns the branches whose odd.toml is asked, and which is the board where that
// names none: a server's is the one its HEAD is on. A clone may have any checked out,
// so that its remotes' are asked; where it knows none, the one checked out.
func (p push) defaultBranches() ([]repo.RefUpdate, error) {
	if !p.receiving {
		if all, err := p.repo.Defaults(p.ctx); len(all) > 0 || err != nil {
			return all, err
		}
	}
	head, err := p.repo.Branch()
	if err != nil {
		return nil, err
	}
	if err := p.checkHead(head); err != nil || head == "" {
		return nil, err
	}
	at, err := p.repo.Ref("refs/heads/" + head)
	if errors.Is(err, repo.ErrNoRef) {
		err = nil // it comes with this push
	}
	return []repo.RefUpdate{{Name: "refs/heads/" + head, New: at}}, err
}

// checkHead refuses to judge for a server whose HEAD is on no branch, nor on one that
// comes with this push: its odd.toml would not be found, and with it what to keep.
func (p push) checkHead(head string) error {
	if !p.receiving {
		return nil
	}
	name := "refs/heads/" + head
	if _, comes := p.moving[name]; head != "" && comes {
		return nil
	}
	if _, err := p.repo.Ref(name); head == "" || err != nil {
		return verb.Refuse("no-head", "HEAD of the receiving repository names no branch that exists (now: %s), so odd does not know which branch to protect; there, run git symbolic-ref HEAD refs/heads/BRANCH with the branch that holds odd.toml", cmp.Or(head, "none"))
	}
	return nil
}

// judgeRef reports whether one ref may move. What is no branch carries no history of the
// board, and may, unless it changes what a history reads as.
func (p push) judgeRef(m pushedRef) (bool, error) {
	if !strings.HasPrefix(m.ref, "refs/heads/") {
		return p.judgeOther(m)
	}
	kept := slices.Contains(p.kept, m.ref)
	if m.new == "" {
		if kept {
			console.Talk(p.env, "%s: this branch holds the tasks and may not be deleted [kept-branch]", m.ref)
		}
		return !kept, nil
	}
	from, on, err := p.knownBase(m)
	if err != nil {
		return false, err
	}
	if kept && !on {
		console.Talk(p.env, "%s: this branch holds the tasks and may not be rewritten; push commits that build on %s [kept-branch]", m.ref, m.old)
		return false, nil
	}
	report, err := p.checker.Check(verify.Scope{From: from, To: m.new, Refs: p.moving})
	if err != nil {
		return false, err
	}
	for _, f := range report.Findings {
		console.Talk(p.env, "%s", strings.ReplaceAll(f.String(), "\n", " "))
	}
	if n := len(report.Findings); n > 0 {
		console.Talk(p.env, "%s: %s in %s, so the whole push is refused", m.ref, console.CountNoun(n, "finding"), console.CountNoun(report.Commits, "new commit"))
		tellMend(p.env, report.Findings)
	}
	if len(report.Findings) == 0 && !p.receiving {
		p.warnOfFiles(m)
	}
	return len(report.Findings) == 0, nil
}

// warnOfFiles says how many errors odd check finds in the files of a branch. They refuse no push.
func (p push) warnOfFiles(m pushedRef) {
	o := checkOptions{src: workspace.Source{Rev: string(m.new)}, now: p.env.Now()}
	b, err := o.src.Load(p.ctx, p.env)
	if err != nil {
		return // the branch has no bundle
	}
	found, err := findProblems(p.ctx, b, p.env, o)
	if n := checkResult(b.Graph, found).Errors; err == nil && n > 0 {
		console.Talk(p.env, "%s: warning: %s in its knowledge; odd check --at %s lists them", m.ref, console.CountNoun(n, "error"), console.ShortID(m.new))
	}
}

// judgeOther refuses, of refs that are no branches, those by which git or odd would see
// another history than was judged: replacements of objects, and where a server says
// that another one stands. To take such a ref away is let through. What a run kept only
// grows, and a drain's lock passes to another run only once it has expired.
func (p push) judgeOther(m pushedRef) (bool, error) {
	switch {
	case p.receiving && strings.HasPrefix(m.ref, "refs/odd/run/"):
		changes, err := p.repo.Diff(p.ctx, m.old, m.new)
		lost := slices.IndexFunc(changes, func(c repo.Change) bool { return c.Old != "" })
		if err != nil || lost < 0 {
			return err == nil, err
		}
		console.Talk(p.env, "%s: this push would remove or change %s, which a run stored; if it must go, delete the ref on the server, with git update-ref -d %[1]s [kept-run]", m.ref, changes[lost].Path)
	case m.new == "":
		return true, nil
	case strings.HasPrefix(m.ref, "refs/replace/"):
		console.Talk(p.env, "%s: replacement refs are refused, because they hide history; push a normal commit [replaced]", m.ref)
	case p.receiving && strings.HasPrefix(m.ref, "refs/remotes/"):
		console.Talk(p.env, "%s: this ref belongs to another repository; push the branch itself to refs/heads/ [foreign-ref]", m.ref)
	case p.receiving && strings.HasPrefix(m.ref, "refs/odd/lock/"):
		if err := p.repo.CheckLock(m.old, m.new, p.env.Now()); err != nil {
			console.Talk(p.env, "%s: %v [lock-held]", m.ref, err)
			return false, nil
		}
		return true, nil
	default:
		return true, nil
	}
	return false, nil
}

// knownBase returns what is there before the push: where the ref was, or else where its
// history leaves that of the board; on tells that a ref goes on from where it was.
func (p push) knownBase(m pushedRef) (from repo.OID, on bool, err error) {
	if m.old != "" {
		if _, known := p.repo.Commit(m.old); known == nil {
			if on, err = p.repo.Ancestor(p.ctx, m.old, m.new); on || err != nil {
				return m.old, on, err
			}
		}
	}
	for _, name := range p.kept {
		for _, at := range p.knownPlaces(name, m.ref) {
			base, err := p.repo.MergeBase(p.ctx, at, m.new)
			later := from == "" || base == ""
			if err == nil && !later {
				later, err = p.repo.Ancestor(p.ctx, from, base)
			}
			if err != nil {
				return "", false, err
			}
			if later && base != "" {
				from = base
			}
		}
	}
	return from, m.old == "", nil
}

// knownPlaces returns the places of a kept branch that the other side has: where it is, and for
// other refs of this push where it will be. A clone knows them as it fetched them last.
func (p push) knownPlaces(name, pushed string) (out []repo.OID) {
	at := name
	if !p.receiving {
		at = "refs/remotes/" + p.remote + "/" + strings.TrimPrefix(name, "refs/heads/")
	}
	if oid, err := p.repo.Ref(at); err == nil {
		out = append(out, oid)
	}
	if oid, ok := p.moving[name]; ok && out != nil && name != pushed {
		out = append(out, oid)
	}
	return out
}

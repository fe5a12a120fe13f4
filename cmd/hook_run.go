package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/verify"
	"github.com/odd-cli/odd/journal/repo"
)

func hookRun(env Env) *cli.Command {
	return verb("run pre-receive|pre-push", "check a push, as the hook does; refs come on stdin",
		"odd hook run pre-receive < refs\n\n"+
			"Call this from a hook of your own. Stdin has one line for each ref, as git\n"+
			"gives them to the hook. Exit 1 means a finding, or that odd could not check\n"+
			"the push: then the hook must refuse the push.",
		do(env, runHook))
}

// pushedRef is one ref of a push; an empty id is none.
type pushedRef struct {
	ref      string
	old, new repo.OID
}

func runHook(c *cli.Context, env Env) error {
	name := c.Args().First()
	if name != preReceive && name != prePush {
		return usage("hook run: unknown hook %q; want pre-receive or pre-push", name)
	}
	refs, err := pushedRefs(env.Stdin, name)
	if err != nil {
		return err
	}
	r, err := repo.OpenReceiving(env.Dir, env.Environ, env.Getenv("GIT_QUARANTINE_PATH"))
	if err != nil {
		return err
	}
	p := push{ctx: c.Context, env: env, repo: r, checker: verify.NewChecker(c.Context, r), moving: map[string]repo.OID{}, receiving: name == preReceive}
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
		return exitCode(exitFault)
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
			return nil, usage("hook run %s: line %d of standard input is %q; want what git gives that hook", name, n, lines.Text())
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
	env       Env
	repo      *repo.Repo
	moving    map[string]repo.OID
	checker   verify.Checker
	kept      []string // full names of the board branch and the target, as the repository has them before the push
	receiving bool
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
		law, err := readSettings(p.repo, d.New)
		if err != nil {
			return nil, err
		}
		board := or(law.Branch, strings.TrimPrefix(d.Name, "refs/heads/"))
		for _, name := range []string{board, or(law.Target, board)} {
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
		return refuse("no-head", "HEAD of the receiving repository names no branch that exists (now: %s), so odd does not know which branch to protect; there, run git symbolic-ref HEAD refs/heads/BRANCH with the branch that holds odd.toml", or(head, "none"))
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
			talk(p.env, "%s: this branch holds the tasks and may not be deleted [kept-branch]", m.ref)
		}
		return !kept, nil
	}
	from, on, err := p.knownBase(m)
	if err != nil {
		return false, err
	}
	if kept && !on {
		talk(p.env, "%s: this branch holds the tasks and may not be rewritten; push commits that build on %s [kept-branch]", m.ref, m.old)
		return false, nil
	}
	report, err := p.checker.Check(verify.Scope{From: from, To: m.new, Refs: p.moving})
	if err != nil {
		return false, err
	}
	for _, f := range report.Findings {
		talk(p.env, "%s", strings.ReplaceAll(f.String(), "\n", " "))
	}
	if n := len(report.Findings); n > 0 {
		talk(p.env, "%s: %s in %s, so the whole push is refused", m.ref, countNoun(n, "finding"), countNoun(report.Commits, "new commit"))
	}
	if len(report.Findings) == 0 && !p.receiving {
		p.warnOfFiles(m)
	}
	return len(report.Findings) == 0, nil
}

// warnOfFiles says how many errors odd check finds in the files of a branch. They refuse no push.
func (p push) warnOfFiles(m pushedRef) {
	o := checkOptions{src: source{rev: string(m.new)}, now: p.env.Now()}
	b, err := o.src.loadBundle(p.ctx, p.env)
	if err != nil {
		return // the branch has no bundle
	}
	found, err := b.findProblems(p.ctx, p.env, o)
	if n := checkResult(b.graph, found).Errors; err == nil && n > 0 {
		talk(p.env, "%s: warning: %s in its knowledge; odd check --at %s lists them", m.ref, countNoun(n, "error"), shortID(m.new))
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
		talk(p.env, "%s: this push would remove or change %s, which a run stored; if it must go, delete the ref on the server, with git update-ref -d %[1]s [kept-run]", m.ref, changes[lost].Path)
	case m.new == "":
		return true, nil
	case strings.HasPrefix(m.ref, "refs/replace/"):
		talk(p.env, "%s: replacement refs are refused, because they hide history; push a normal commit [replaced]", m.ref)
	case p.receiving && strings.HasPrefix(m.ref, "refs/remotes/"):
		talk(p.env, "%s: this ref belongs to another repository; push the branch itself to refs/heads/ [foreign-ref]", m.ref)
	case p.receiving && strings.HasPrefix(m.ref, "refs/odd/lock/"):
		if err := p.repo.CheckLock(m.old, m.new, p.env.Now()); err != nil {
			talk(p.env, "%s: %v [lock-held]", m.ref, err)
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
		known, err := p.knownPlaces(name, m.ref)
		if err != nil {
			return "", false, err
		}
		for _, at := range known {
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
func (p push) knownPlaces(name, pushed string) ([]repo.OID, error) {
	var out []repo.OID
	if p.receiving {
		if oid, err := p.repo.Ref(name); err == nil {
			out = append(out, oid)
		}
	} else {
		refs, err := p.repo.Refs("refs/remotes/")
		if err != nil {
			return nil, err
		}
		for _, u := range refs {
			if strings.HasSuffix(u.Name, "/"+strings.TrimPrefix(name, "refs/heads/")) {
				out = append(out, u.New)
			}
		}
	}
	if oid, ok := p.moving[name]; ok && out != nil && name != pushed {
		out = append(out, oid)
	}
	return out, nil
}

package drain

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/risk"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/servers"
	"github.com/odd-cli/odd/reconcile/lint"
	"github.com/odd-cli/odd/reconcile/policy"
)

// newActJudge returns the function that allows or denies an act of a session. All rules of
// the act's kind must hold; an act of an unknown kind is denied.
//
//	write, delete  the contract changes things, the task asks for files, the path is
//	               in the task's scope, out of the bundle, not protected, and the
//	               session's live permit covers it
//	execute        the contract changes things; a person listed how the command begins,
//	               or it is a check of the task; and the iron gate has nothing hard against it
//	fetch          a person listed the host
//	external       the contract grants the server, a person listed the tool, and it is
//	               known to change nothing, or the contract changes things and the permit lives
func (d *drain) newActJudge(c *claim, w *work, desk func() session.Desk) func(session.Act) error {
	policy := risk.GatePolicy(d.repo, c.base, c.task, d.at.cfg)
	return func(a session.Act) error {
		k := w.bound.Contract
		if changes := a.Kind == session.Write || a.Kind == session.Delete || a.Kind == session.Execute; changes && k.Role != "" && !k.Mutates {
			return denyAct("read_only_contract", "a session in the role %s may not change anything", k.Role)
		}
		switch a.Kind {
		case session.Write, session.Delete:
			return d.allowsPath(w, policy, a.Path)
		case session.Execute:
			return d.allowsCommand(c, policy, desk(), a.Argv)
		case session.Fetch:
			if slices.Contains(d.at.cfg.Toolbox.Hosts, a.Host) {
				return nil
			}
			return denyAct("host_not_allowed", "the host %q is not allowed; a person can add it to [toolbox] web_hosts in odd.toml", a.Host)
		case session.External:
			return d.allowsTool(w, a)
		}
		return denyAct("no_permit", "odd does not know the kind of call %q, so it is not allowed", a.Kind)
	}
}

func denyAct(code, format string, args ...any) error {
	return &session.Denied{Code: code, Text: fmt.Sprintf(format, args...)}
}

// allowsPath holds a path to everything that a change of it would be held to.
func (d *drain) allowsPath(w *work, p lint.Options, name string) error {
	var no []string
	for _, f := range append(policy.CheckPath(name), policy.CheckProtected(name, p.Protect)...) {
		no = append(no, f.Text+"; "+f.Fix)
	}
	switch {
	case len(no) > 0:
		return denyAct("protected_path", "%s", strings.Join(no, "\n"))
	case w.change == nil:
		return denyAct("change_not_asked", "the task allows no file changes; a person can set paths with odd task edit --path GLOB")
	case d.inBundle(name):
		return denyAct("in_bundle", "%s is in the folder of atoms, which no tool writes; deliver it as an atom block", name)
	case len(p.Paths) > 0 && !policy.MatchAnyGlob(p.Paths, name):
		return denyAct("outside_scope", "%s is outside of the task's paths: %s", name, strings.Join(p.Paths, ", "))
	}
	if why := w.anchor.whyRefused(d, w.anchor.livePermit(), []string{name}); why != "" {
		return denyAct("no_permit", "%s", why)
	}
	return nil
}

// allowsCommand holds a command to what a person listed, and to the iron gate.
func (d *drain) allowsCommand(c *claim, p lint.Options, at session.Desk, argv []string) error {
	listed := slices.Concat(d.at.cfg.Toolbox.Run, d.checkCommands(c))
	begins := func(l []string) bool {
		return len(l) > 0 && len(argv) >= len(l) && slices.Equal(l, argv[:len(l)])
	}
	if at.Tree == "" || !slices.ContainsFunc(listed, begins) {
		return denyAct("command_not_allowed", "the command %q is not allowed; a person can add it to [toolbox] run in odd.toml", strings.Join(argv, " "))
	}
	v := policy.JudgeArgv(argv, policy.CommandPolicy{Allow: listed, Protect: p.Protect, Root: at.Tree, Outside: []string{at.Temp, at.Home}, Files: os.DirFS(at.Tree)})
	var no []string
	for _, f := range v.Findings {
		if f.Severity == policy.Hard {
			no = append(no, f.Text+"; "+f.Fix)
		}
	}
	if len(no) > 0 {
		return denyAct("command_not_allowed", "%s", strings.Join(no, "\n"))
	}
	return nil
}

// allowsTool holds the tool of a server, mcp_SERVER_TOOL, to what a person listed of
// the servers that the contract grants. It counts as one that changes something
// unless a person says otherwise, or who asks knows it by a hint that is trusted.
func (d *drain) allowsTool(w *work, a session.Act) error {
	k := w.bound.Contract
	for _, s := range servers.For(Specs(d.at.cfg, d.Cage.Home), k) {
		listed, reads := s.Listed(a.Tool)
		switch {
		case !listed:
			continue
		case reads, a.Read && s.TrustHints:
			return nil
		case !k.Mutates:
			return denyAct("read_only_contract", "a session in the role %s may not change anything, and %s may change something; a person can list the tool in [[mcp]] reads in odd.toml", k.Role, a.Tool)
		}
		if why := w.anchor.whyRefused(d, w.anchor.livePermit(), nil); why != "" {
			return denyAct("no_permit", "%s", why)
		}
		return nil
	}
	return denyAct("server_not_granted", "the tool %s is not allowed; a person can list it under [[mcp]] in odd.toml", a.Tool)
}

package drain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/board/risk"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona"
	"github.com/odd-cli/odd/persona/anchor"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/session/servers"
	"github.com/odd-cli/odd/reconcile"
	"github.com/odd-cli/odd/reconcile/policy"
)

// bind settles what the sessions of an attempt are bound to: it compiles the persona, binds the
// contract, begins the handshake and compiles the grant.
func (a *attempt) bind(ctx context.Context) (err error) {
	d, task := a.d, a.c.task
	if task.Role != "" {
		if a.persona, err = d.at.compilePersona(task.Role); err != nil {
			return err
		}
	}
	var no contract.Refusals
	if a.bound, no = d.contracts().resolveContract(task); len(no) > 0 {
		return fmt.Errorf("contract: %s", describeRefusals(no))
	}
	if a.declines, err = d.findDeclines(ctx, task, a.c.base); err != nil {
		return fmt.Errorf("brief: %w", err)
	}
	if a.anchor, err = d.beginHandshake(task, a.bound.Contract, anchor.Mode(d.at.cfg.Anchor.Mode)); err != nil {
		return fmt.Errorf("anchor: %s", oneLine(err.Error()))
	}
	a.grant = a.compileGrant()
	return nil
}

// compilePersona compiles the persona of a role. The error says why the role may not work; the
// persona is then what there is.
func (s *snapshot) compilePersona(role string) (persona.Persona, error) {
	p, err := persona.Compile(s.graph, role)
	if err != nil {
		return p, fmt.Errorf("role: %w", err)
	}
	p.Commit = string(s.tip)
	f := s.cfg.Floor
	if short := p.Below(persona.Floor{MinAtoms: f.Atoms, MinProcesses: f.Processes, MinGuides: f.Guides, MaxUnresolvedPct: f.UnresolvedPct}); len(short) > 0 {
		return p, errors.New(persona.Lacks(role, short))
	}
	return p, nil
}

// grantTerms returns what a session of t under k may do on base, bound by law.
func (cs contracts) grantTerms(base repo.OID, t board.Task, k contract.Contract, law anchor.Constitution) policy.Terms {
	out := policy.Terms{
		Role: string(k.Role), ReadOnly: !k.Mutates, Files: cs.at.changesFiles(t), Paths: t.Paths, Bundle: cs.at.cfg.Root,
		Allow: law.Paths, Deny: law.BlockedPath, Protect: risk.GatePolicy(cs.repo, base, t, cs.at.cfg).Protect,
		Commands: cs.at.cfg.Toolbox.Run, Checks: cs.at.checkCommands(t), Hosts: cs.at.cfg.Toolbox.Hosts,
	}
	for _, s := range servers.For(agent.Specs(cs.at.cfg, cs.Cage.Home), k) {
		out.Servers = append(out.Servers, s.Grant())
	}
	return out
}

// findConstitution returns what binds a session of t under c: the role's, as the commit
// of the claim has it, joined by odd's own law for every session. A session
// without a work role is bound by odd.toml and that law alone.
func (s *snapshot) findConstitution(t board.Task, c contract.Contract) (anchor.Constitution, error) {
	var law anchor.Constitution
	if t.Role == "" {
		b, err := fs.ReadFile(s.files, "odd.toml")
		if err != nil {
			return law, err
		}
		law = anchor.Constitution{Role: string(cmp.Or(c.Role, contract.General)), Path: "odd.toml", SHA256: hashBytes(b), Lines: strings.Count(string(b), "\n")}
	} else {
		a, err := s.graph.Find(t.Role)
		if err != nil {
			return law, err
		}
		in := anchor.Charters{Files: s.files, Places: s.cfg.Anchor.Constitutions, Atoms: []*okf.Atom{a}, Bundle: s.cfg.Root}
		if law, err = in.Find(path.Base(string(a.ID))); err != nil {
			return law, err
		}
	}
	law.Gates = append(slices.Clip(law.Gates), ownLaw(c, law.Lines)...)
	law.Escalation = cmp.Or(law.Escalation, "a person at the review")
	law.BlockedPath = append(slices.Clip(law.BlockedPath), s.recordPaths()...)
	law.GateCommand = append(gateCommands(t), law.GateCommand...)
	var err error
	law.Paths, err = s.writablePaths(t, c, law.Paths)
	return law, err
}

// ownLaw is what no session of odd's may do. These rules stand in no file, but a rule needs a line:
// each gets a line number of the constitution that it joins, counted from the top.
func ownLaw(c contract.Contract, lines int) []anchor.Rule {
	law := []string{
		"verify an atom",
		"approve or land its own work",
		"write outside the paths of its permit",
		"spend more than its claim reserved",
		"touch governance, odd.toml or the pause",
		"touch ledger, journal or proposals",
	}
	if !c.Mutates {
		law = append(law, "change what it only reads")
	}
	if c.Strict {
		law = append(law, "judge by more than it was given")
	}
	out := make([]anchor.Rule, len(law))
	for i, s := range law {
		out[i] = anchor.Rule{Text: s, Line: 1 + i%max(lines, 1)}
	}
	return out
}

// recordPaths returns the paths of the bundle that odd and its people alone write.
func (s *snapshot) recordPaths() []string {
	out := []string{"odd.toml"}
	for _, name := range []string{"governance/**", "ledger/**", "journal/**", "proposals/**", "pause.toml"} {
		out = append(out, s.pathOf(name))
	}
	return out
}

// gateCommands returns the commands that may judge what a session of t makes.
func gateCommands(t board.Task) []string {
	var out []string
	for _, c := range t.Commands {
		line := strings.Join(c, " ")
		if words, err := policy.ParseSimple(line); err == nil && slices.Equal(words, c) {
			out = append(out, line)
		}
	}
	return append(out, "odd check")
}

// writablePaths returns the globs a session may write, as anchor.Writable has them of its
// task, its role and the bundle; one that changes nothing has only its handoff.
func (s *snapshot) writablePaths(t board.Task, c contract.Contract, role []string) ([]string, error) {
	if !c.Mutates {
		return []string{s.pathOf("handoffs/**")}, nil
	}
	out := anchor.Writable(t.Paths, role, s.pathOf("**"))
	if len(out) == 0 {
		return nil, anchor.Refusal{{Code: anchor.PathsAsked, At: "paths", Text: fmt.Sprintf("task %s writes %s, and its role %s; give the task another role, or other paths",
			t.ID, strings.Join(t.Paths, ", "), strings.Join(role, ", "))}}
	}
	return out, nil
}

// compileGrant returns the grant of a session whose handshake has begun. Its permit is the
// one that the handshake has at the moment of an action.
func (a attempt) compileGrant() policy.Grant {
	var law anchor.Constitution
	h := a.anchor
	if h != nil {
		law = h.law
	}
	return policy.Compile(a.d.contracts().grantTerms(a.c.base, a.c.task, a.bound.Contract, law), policy.Live{
		Guards: protectedPath,
		Lease:  func(path string) string { return a.d.authority().whyUnleased(a.c.task, path) },
		Holds: func() error {
			var at anchor.World
			if h != nil {
				at = h.anchorWorld()
			}
			return h.livePermit().Check(at)
		},
	})
}

// whyRefused says why the session's grant does not let it do something to files: hand them over, or
// put them into its proposal. "" is nothing.
func (a attempt) whyRefused(kind policy.Kind, paths []string) string {
	var no *policy.Refusal
	if errors.As(a.grant.Allow(policy.Action{Kind: kind, Paths: paths}), &no) {
		return no.Text()
	}
	return ""
}

func (s *snapshot) itemPaths(items []reconcile.Item) []string {
	out := make([]string, len(items))
	for i, it := range items {
		out[i] = s.pathOf(it.Path)
	}
	return out
}

// Permissions is what a session on a task would be allowed now.
type Permissions struct {
	Task   okf.ID       `json:"task"`
	Role   string       `json:"role"`
	Agent  string       `json:"agent"`  // the substrate
	Next   []string     `json:"next"`   // the substrates that take over where a connection fails; their permissions may differ
	Asks   bool         `json:"asks"`   // the agent asks before each act; else only its sandbox and the judgement of its work hold it
	Permit bool         `json:"permit"` // the session gets a write permit
	Tools  []string     `json:"tools"`  // of the contract, where the agent has odd's own tools; nil: it has others
	Grant  policy.Terms `json:"grant"`

	Sandbox *Confinement `json:"sandbox,omitempty"` // of an agent that is a program; what it does without asking, only this confines
}

// Confinement is what [sandbox] of odd.toml says about an agent's program.
type Confinement struct {
	Enforce string   `json:"enforce"`
	Network string   `json:"network"`
	Read    []string `json:"read,omitempty"`  // besides the system, PATH and the scratch clone
	Write   []string `json:"write,omitempty"` // besides the scratch clone
}

// PermissionsFor compiles the grant that a session on the task of the options would get. It
// writes nothing. The error lists why there can be no such session.
func PermissionsFor(ctx context.Context, r *repo.Repo, o Options) (Permissions, error) {
	d, t, err := openInvocation(ctx, r, o, Invocation{})
	if err != nil {
		return Permissions{}, err
	}
	b, no := d.contracts().checkSpawnable(t)
	if len(no) > 0 {
		return Permissions{}, no
	}
	base, err := d.base()
	if err != nil {
		return Permissions{}, err
	}
	chain := substrateNames(d.at.agentChain(t))
	p := Permissions{Task: t.ID, Role: t.Role, Agent: chain[0], Next: chain[1:], Permit: d.at.bindsSessions()}
	kind := agent.KindOf(p.Agent)
	p.Asks = kind.Model || kind.Servers
	var law anchor.Constitution
	if p.Permit {
		if law, err = d.at.findConstitution(t, b.Contract); err != nil {
			return p, refuse("anchor", "%s: %s", t.ID, oneLine(err.Error()))
		}
	}
	p.Grant = d.contracts().grantTerms(base, t, b.Contract, law)
	if s := d.at.cfg.Sandbox; kind.Program {
		p.Sandbox = &Confinement{Enforce: s.Enforce, Network: s.Network, Read: s.Read, Write: s.Write}
	}
	switch {
	case kind.Model:
		p.Tools = []string{}
		for _, tool := range b.Contract.Tools {
			if tool.In {
				p.Tools = append(p.Tools, tool.Name)
			}
		}
	case p.Agent == "claude":
		p.Grant.Hosts = nil // its hook refuses every fetch
	case p.Agent == "exec":
		p.Grant.Commands, p.Grant.Checks, p.Grant.Hosts, p.Grant.Servers = nil, nil, nil, nil // nobody asks about its acts
	}
	return p, nil
}

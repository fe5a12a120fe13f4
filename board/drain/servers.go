package drain

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/persona/session/servers"
)

// Specs are the [[mcp]] tables as sessions start them; home is the user's, which
// "~/" means, "" for none.
func Specs(cfg config.Config, home string) []servers.Spec {
	var out []servers.Spec
	for _, s := range cfg.Servers {
		out = append(out, servers.Spec{Name: s.Name, Argv: s.Argv, URL: s.URL, TokenEnv: s.TokenEnv, Env: s.Env, Network: cage.Network(s.Network), Tree: s.Tree,
			Read: expandHome(home, s.Read), Tools: s.Tools, Reads: s.Reads, TrustHints: s.TrustHints, Roles: s.Roles, Required: s.Required, Start: s.Start, Timeout: s.Timeout, MaxBytes: s.MaxBytes, Pin: s.Pin})
	}
	return out
}

// Granted are the servers that odd.toml gives to t without being asked: the
// operational ones, and of the others those whose kinds or tags are t's.
func Granted(cfg config.Config, t board.Task) []contract.Grant {
	var out []contract.Grant
	for _, s := range cfg.Servers {
		if s.When == config.Operational || Relevant(s, t) {
			out = append(out, contract.Grant{Server: s.Name, Roles: s.Roles})
		}
	}
	return out
}

// Relevant reports a server that is for tasks like t. What is on no board is no task.
func Relevant(s config.Server, t board.Task) bool {
	if isOffBoard(t) {
		return false
	}
	tagged := slices.ContainsFunc(t.Atom.Tags, func(tag string) bool { return slices.Contains(s.Tags, tag) })
	return tagged || slices.Contains(s.Kinds, t.Kind)
}

// served are the servers of one session and the folder in which their programs run,
// apart from the session's own desk. The zero value has none.
type served struct {
	d    *drain
	set  *servers.Set
	at   *repo.Scratch
	lost []string // what the session has to do without
}

// startServers starts the servers of a session that works with odd's tools. why is why there can be no
// session.
func (a attempt) startServers(ctx context.Context, r *relay, k *desk) (s *served, why string) {
	s = &served{d: a.d}
	task := string(a.c.task.ID)
	specs := servers.For(Specs(a.d.at.cfg, a.d.Cage.Home), a.bound.Contract)
	lost, why := r.missingServers(specs)
	if k := a.bound.Contract; k.Strict {
		k.Strict = false
		for _, s := range servers.For(Specs(a.d.at.cfg, a.d.Cage.Home), k) {
			if s.Tree {
				lost = strings.TrimSpace(lost + "\n" + s.Name + ": it reads the files of the work, and this session has a fresh context")
			}
		}
	}
	if lost != "" {
		s.lost = append(s.lost, lost)
		a.d.addNote(task + ": its agent does not get all of its MCP servers: " + oneLine(lost))
	}
	own := r.hasSubstrate("anthropic", "openai") // they work with odd's own tools
	switch {
	case why != "" || len(specs) == 0:
		return s, why
	case !own && !r.hasSubstrate("claude", "acp"): // which start their servers themselves
		return s, a.d.whyNotLent(task, specs, r.currentName())
	case !own:
		return s, ""
	}
	held, err := a.d.place().makeCage(a.d.at.cfg.Sandbox)
	if err != nil {
		return s, err.Error()
	}
	o := servers.Options{Specs: specs, Environ: a.d.Environ, Run: a.d.Run, Version: a.d.By, Cage: held}
	if a.hasDesk() {
		if s.at, o.Tree, err = a.makeServerDesk(ctx, specs, k.begin); err != nil {
			return s, err.Error()
		}
		o.Desk = func(_ context.Context, one servers.Spec) (session.Desk, error) { return deskIn(s.at, "mcp-"+one.Name) }
	}
	s.set = servers.Open(ctx, o)
	if lost := s.set.Missing(); lost != "" {
		s.lost = append(s.lost, lost)
		a.d.addNote(task + ": the session goes on with some of its MCP servers missing: " + oneLine(lost))
	}
	if err := s.set.Lost(); err != nil {
		return s, err.Error()
	}
	return s, ""
}

func (s *served) tools() []session.Tool {
	if s.set == nil {
		return nil
	}
	return s.set.Tools()
}

// whyNotLent returns why there can be no session where a substrate that takes no servers
// would have to do without one that is required. Without the others it goes on.
func (n notes) whyNotLent(task string, specs []servers.Spec, substrate string) (why string) {
	var without, must []string
	for _, s := range specs {
		without = append(without, s.Name)
		if s.Required {
			must = append(must, s.Name)
		}
	}
	if len(must) > 0 {
		return fmt.Sprintf("the task needs an MCP server that its agent cannot use: %s; agents of kind %s take none from odd", strings.Join(must, ", "), substrate)
	}
	n.noteOnce(fmt.Sprintf("%s: agents of kind %s take no MCP server from odd; the session goes on without %s", task, substrate, strings.Join(without, ", ")))
	return ""
}

// makeServerDesk makes the folders in which the programs of servers run. Where one of them may look at the
// session's tree, that is laid out there as the session finds it.
func (a attempt) makeServerDesk(ctx context.Context, specs []servers.Spec, begin []repo.FileEdit) (*repo.Scratch, session.Desk, error) {
	if !slices.ContainsFunc(specs, func(s servers.Spec) bool { return s.Tree }) {
		s, err := a.d.repo.Hollow(a.d.Temp)
		return s, session.Desk{}, err
	}
	k := &desk{d: a.d, base: a.c.base, begin: begin}
	at, err := k.makeTree(ctx)
	return k.s, at, err
}

func deskIn(s *repo.Scratch, name string) (session.Desk, error) {
	dir, err := s.Room(name)
	return session.Desk{Tree: filepath.Join(dir, "tree"), Home: filepath.Join(dir, "home"), Temp: filepath.Join(dir, "temp")}, err
}

// stopServers ends the servers, if they still run, and returns what became of them.
func (s *served) stopServers() (uses []event.ServerUse) {
	if s.set != nil {
		s.set.Close()
		uses = serverUses(s.set)
	}
	if s.at != nil {
		if err := s.at.Close(); err != nil {
			s.d.addNote(err.Error())
		}
	}
	*s = served{d: s.d}
	return uses
}

func (r *relay) hasSubstrate(substrates ...string) bool {
	return slices.ContainsFunc(r.legs, func(l leg) bool { return slices.Contains(substrates, l.cfg.Session.Substrate) })
}

// missingServers tells which of a session's servers its agent, which starts them itself,
// has to do without; why is that of one that a session must not begin without.
func (r *relay) missingServers(specs []servers.Spec) (lost, why string) {
	var told []string
	for i, l := range r.legs {
		name := l.cfg.Session.Substrate
		if name != "claude" && name != "acp" {
			continue
		}
		a := servers.Agent{Env: l.cfg.Agent(name).Env, Network: cage.Network(l.cfg.Sandbox.Network)}
		for _, s := range specs {
			_, kept := servers.Handed([]servers.Spec{s}, a)
			switch {
			case len(kept) > 0 && s.Required:
				return "", name + " does not get " + kept[0]
			case i == 0:
				told = append(told, kept...)
			}
		}
	}
	return strings.Join(told, "\n"), ""
}

// serverUses returns what became of a session's servers as its ledger data has it. Its names
// do not change.
func serverUses(set *servers.Set) []event.ServerUse {
	var out []event.ServerUse
	for _, u := range set.Uses() {
		one := event.ServerUse{
			Name: u.Name, Tools: int64(len(u.Tools)), Calls: int64(u.Calls), Failed: int64(u.Failed),
			Says: cleanText(u.Says), ListSHA256: cleanText(u.Hash), Code: cleanText(u.Code), Detail: cleanText(u.Detail), Held: cleanText(u.Held),
		}
		for _, n := range u.Notes {
			one.Notes = append(one.Notes, cleanText(n))
		}
		out = append(out, one)
	}
	return out
}

// TryServers starts servers of a repository as a session of its configuration has them,
// with a tree laid out at base, and ends them with the function it returns. The
// error is about the place where they run.
func TryServers(ctx context.Context, r *repo.Repo, o Options, cfg config.Config, base repo.OID, specs []servers.Spec) (*servers.Set, func(), error) {
	held, err := Caged(o.Cage, cfg.Sandbox, r.CommonDir())
	if err != nil {
		return nil, nil, err
	}
	at, err := r.Scratch(ctx, o.Temp, base, repo.Signature{Name: cfg.AgentName, Email: cfg.AgentEmail, When: o.Now()})
	if err != nil {
		return nil, nil, err
	}
	tree, err := deskOf(at)
	if err != nil {
		_ = at.Close()
		return nil, nil, err
	}
	set := servers.Open(ctx, servers.Options{Specs: specs, Environ: o.Environ, Run: o.Run, Version: o.By, Cage: held, Tree: tree,
		Desk: func(_ context.Context, s servers.Spec) (session.Desk, error) { return deskIn(at, "mcp-"+s.Name) }})
	return set, func() { set.Close(); _ = at.Close() }, nil
}

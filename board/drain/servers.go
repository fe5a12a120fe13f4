package drain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/journal/repo/scratch"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/persona/session/servers"
)

// served are the servers of one session and the folder in which their programs run,
// apart from the session's own desk. The zero value has none.
type served struct {
	d    *drain
	set  *servers.Set
	at   *scratch.Clone
	lost []string // what the session has to do without
}

// startServers starts the servers of a session that works with odd's tools. why is why there can be no
// session.
func (a attempt) startServers(ctx context.Context, r *relay, k *desk) (s *served, why string) {
	s = &served{d: a.d}
	task := string(a.c.task.ID)
	specs := servers.For(agent.Specs(a.d.at.cfg, a.d.Cage.Home), a.bound.Contract)
	lost, why := r.missingServers(specs)
	if k := a.bound.Contract; k.Strict {
		k.Strict = false
		for _, s := range servers.For(agent.Specs(a.d.at.cfg, a.d.Cage.Home), k) {
			if s.Tree {
				lost = strings.TrimSpace(lost + "\n" + s.Name + ": it reads the files of the work, and this session has a fresh context")
			}
		}
	}
	if lost != "" {
		s.lost = append(s.lost, lost)
		a.d.addNote(task + ": its agent does not get all of its MCP servers: " + oneLine(lost))
	}
	own := r.hasKind(func(k agent.Kind) bool { return k.Model }) // they work with odd's own tools
	switch {
	case why != "" || len(specs) == 0:
		return s, why
	case !own && !r.hasKind(func(k agent.Kind) bool { return k.Servers }):
		return s, a.d.whyNotLent(task, specs, r.currentName())
	case !own:
		return s, ""
	}
	sandbox, err := a.d.computer().makeCage(a.d.at.cfg.Sandbox)
	if err != nil {
		return s, err.Error()
	}
	o := servers.Options{Specs: specs, Environ: a.d.Environ, Run: a.d.Run, Version: a.d.By, Cage: sandbox}
	if a.hasDesk() {
		if s.at, o.Tree, err = a.makeServerDesk(ctx, specs, k.begin); err != nil {
			return s, err.Error()
		}
		o.Desk = func(_ context.Context, one servers.Spec) (session.Desk, error) {
			return agent.DeskIn(s.at, "mcp-"+one.Name)
		}
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
func (a attempt) makeServerDesk(ctx context.Context, specs []servers.Spec, begin []repo.FileEdit) (*scratch.Clone, session.Desk, error) {
	if !slices.ContainsFunc(specs, func(s servers.Spec) bool { return s.Tree }) {
		s, err := scratch.Empty(a.d.repo, a.d.Temp)
		return s, session.Desk{}, err
	}
	k := &desk{d: a.d, base: a.c.base, begin: begin}
	at, err := k.makeTree(ctx)
	return k.s, at, err
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

func (r *relay) hasKind(is func(agent.Kind) bool) bool {
	return slices.ContainsFunc(r.legs, func(l leg) bool { return is(agent.KindOf(l.cfg.Session.Substrate)) })
}

// missingServers tells which of a session's servers its agent, which starts them itself,
// has to do without; why is that of one that a session must not begin without.
func (r *relay) missingServers(specs []servers.Spec) (lost, why string) {
	var told []string
	for i, l := range r.legs {
		name := l.cfg.Session.Substrate
		if !agent.KindOf(name).Servers {
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

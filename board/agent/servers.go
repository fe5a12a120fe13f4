package agent

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/journal/repo/scratch"
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
		if s.When == config.Operational || isRelevant(s, t) {
			out = append(out, contract.Grant{Server: s.Name, Roles: s.Roles})
		}
	}
	return out
}

// isRelevant reports a server that is for tasks like t. What is on no board is no task.
func isRelevant(s config.Server, t board.Task) bool {
	if t.Path == "" {
		return false
	}
	tagged := slices.ContainsFunc(t.Atom.Tags, func(tag string) bool { return slices.Contains(s.Tags, tag) })
	return tagged || slices.Contains(s.Kinds, t.Kind)
}

// DeskIn returns a folder of a scratch repository as a desk of its own.
func DeskIn(s *scratch.Clone, name string) (session.Desk, error) {
	dir, err := s.Room(name)
	return session.Desk{Tree: filepath.Join(dir, "tree"), Home: filepath.Join(dir, "home"), Temp: filepath.Join(dir, "temp")}, err
}

// TryServers starts servers of a repository as a session of its configuration has them,
// with a tree laid out at base, and ends them with the function it returns. The
// error is about the place where they run.
func (h Host) TryServers(ctx context.Context, r *repo.Repo, cfg config.Config, base repo.OID, specs []servers.Spec) (*servers.Set, func(), error) {
	held, err := Hold(h.Cage, cfg.Sandbox, r.CommonDir())
	if err != nil {
		return nil, nil, err
	}
	at, err := scratch.New(ctx, r, h.Temp, base, repo.Signature{Name: cfg.AgentName, Email: cfg.AgentEmail, When: h.Now()})
	if err != nil {
		return nil, nil, err
	}
	tree, err := DeskOf(at)
	if err != nil {
		_ = at.Close()
		return nil, nil, err
	}
	set := servers.Open(ctx, servers.Options{Specs: specs, Environ: h.Environ, Run: h.Run, Version: h.By, Cage: held, Tree: tree,
		Desk: func(_ context.Context, s servers.Spec) (session.Desk, error) { return DeskIn(at, "mcp-"+s.Name) }})
	return set, func() { set.Close(); _ = at.Close() }, nil
}

// Receiver is who gets something of a session: a server, or a program of this machine
// that may pass it on.
type Receiver struct {
	To   string `json:"to"`
	Gets string `json:"gets"`
}

// Receivers returns all who would get something of a session with these servers: the agents of
// its chain, MCP servers, and the hosts of web pages. None where nothing leaves odd.
func Receivers(chain []config.Config, servers []string) (out []Receiver) {
	for i, cfg := range chain {
		if r, ok := receiverOf(cfg); ok {
			if i > 0 {
				r.To += ", if " + chain[0].Session.Substrate + " cannot be reached"
			}
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		return nil
	}
	for _, server := range chain[0].Servers {
		if slices.Contains(servers, server.Name) {
			out = append(out, Receiver{"MCP server " + server.Name + ": " + cmp.Or(server.URL, strings.Join(server.Argv, " ")), "what the agent asks it"})
		}
	}
	if hosts := chain[0].Toolbox.Hosts; len(hosts) > 0 && slices.ContainsFunc(chain, func(c config.Config) bool { return KindOf(c.Session.Substrate).Model }) {
		out = append(out, Receiver{strings.Join(hosts, ", "), "the addresses of pages that the agent reads there"})
	}
	return out
}

// receiverOf returns who gets a session's brief, false where that stays in odd.
func receiverOf(cfg config.Config) (Receiver, bool) {
	name := cfg.Session.Substrate
	s, k := cfg.Agent(name), KindOf(name)
	switch {
	case k.Model:
		return Receiver{fmt.Sprintf("%s, model %s, with the key in %s", cmp.Or(s.BaseURL, k.baseURL), cmp.Or(s.Model, cfg.Session.Model), keyOf(cfg)),
			"the brief; then what the agent reads with its tools: files and history of this repository, the output of commands. Credentials that odd recognises are taken out."}, true
	case !k.Program:
		return Receiver{}, false
	}
	return Receiver{fmt.Sprintf("the program %q on this machine; network: %s", cmp.Or(strings.Join(s.Argv, " "), name), cfg.Sandbox.Network),
		"the brief, and a clone of this repository to read and write. What it passes on, and to whom, odd cannot see."}, true
}

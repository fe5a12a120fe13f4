package drain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/persona/session/anthropic"
	"github.com/odd-cli/odd/persona/session/openai"
)

// Receiver is who gets something of a session: a server, or a program of this machine
// that may pass it on.
type Receiver struct {
	To   string `json:"to"`
	Gets string `json:"gets"`
}

// listReceivers returns all who would get something of a session on t with these servers: its
// agent and those that stand in for it, MCP servers, and the hosts of web pages. None
// where nothing leaves odd.
func (s *snapshot) listReceivers(t board.Task, servers []string) (out []Receiver) {
	chain := s.agentChain(t)
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
	for _, server := range s.cfg.Servers {
		if slices.Contains(servers, server.Name) {
			out = append(out, Receiver{"MCP server " + server.Name + ": " + cmp.Or(server.URL, strings.Join(server.Argv, " ")), "what the agent asks it"})
		}
	}
	if hosts := s.cfg.Toolbox.Hosts; len(hosts) > 0 && keyOf(s.cfg) != "" {
		out = append(out, Receiver{strings.Join(hosts, ", "), "the addresses of pages that the agent reads there"})
	}
	return out
}

// receiverOf returns who gets a session's brief, false where that stays in odd.
func receiverOf(cfg config.Config) (Receiver, bool) {
	s := cfg.Agent(cfg.Session.Substrate)
	base := ""
	switch cfg.Session.Substrate {
	case "extract", "replay":
		return Receiver{}, false
	case "anthropic":
		base = cmp.Or(s.BaseURL, anthropic.DefaultBaseURL)
	case "openai":
		base = cmp.Or(s.BaseURL, openai.DefaultBaseURL)
	}
	if base != "" {
		return Receiver{fmt.Sprintf("%s, model %s, with the key in %s", base, cmp.Or(s.Model, cfg.Session.Model), keyOf(cfg)),
			"the brief; then what the agent reads with its tools: files and history of this repository, the output of commands. Credentials that odd recognises are taken out."}, true
	}
	program := strings.Join(s.Argv, " ")
	return Receiver{fmt.Sprintf("the program %q on this machine; network: %s", cmp.Or(program, cfg.Session.Substrate), cfg.Sandbox.Network),
		"the brief, and a clone of this repository to read and write. What it passes on, and to whom, odd cannot see."}, true
}

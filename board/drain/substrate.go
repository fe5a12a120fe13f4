package drain

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/acp"
	"github.com/odd-cli/odd/persona/session/anthropic"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/persona/session/claude"
	"github.com/odd-cli/odd/persona/session/endpoint"
	"github.com/odd-cli/odd/persona/session/exec"
	"github.com/odd-cli/odd/persona/session/extract"
	"github.com/odd-cli/odd/persona/session/loop"
	"github.com/odd-cli/odd/persona/session/openai"
	"github.com/odd-cli/odd/persona/session/replay"
)

// newSubstrate returns the substrate that cfg names. files are the board's; replay reads its
// recording from them.
func (pl place) newSubstrate(cfg config.Config, files fs.FS) (session.Substrate, error) {
	held, err := pl.makeCage(cfg.Sandbox)
	if err != nil {
		return nil, err
	}
	return Substrate(cfg, files, pl.repo.Root(), pl.Options, held)
}

// Substrate is the one that a configuration names. A recording lies in files; a
// command runs in dir, with what the configuration passes on of the environment, and is
// held as Caged says. An agent that starts its servers itself is handed none that reads
// more than the agent does, so that whose home "~/" means is no matter.
func Substrate(cfg config.Config, files fs.FS, dir string, o Options, held cage.Cage) (session.Substrate, error) {
	if err := Equipped(cfg, o.Environ); err != nil {
		return nil, err
	}
	s, network := cfg.Agent(cfg.Session.Substrate), cage.Network(cfg.Sandbox.Network)
	model, key, talk := cmp.Or(s.Model, cfg.Session.Model), endpoint.Variable(o.Environ, keyOf(cfg)), loopOptions(cfg)
	switch cfg.Session.Substrate {
	case "extract":
		return extract.Substrate{}, nil
	case "replay":
		return replay.Substrate{Files: files, File: s.File}, nil
	case "exec":
		return exec.Substrate{Argv: s.Argv, Dir: dir, Env: s.Env, Environ: o.Environ, Free: s.Free, MaxBytes: s.MaxBytes, Cage: held, Network: network}, nil
	case "claude":
		return claude.Substrate{Argv: s.Argv, Dir: dir, Model: model, Env: s.Env, Environ: o.Environ, Free: s.Free, Commands: cfg.Toolbox.Run, Servers: Specs(cfg, "/"), Cage: held, Network: network}, nil
	case "acp":
		return acp.Substrate{Argv: s.Argv, Dir: dir, Env: s.Env, Environ: o.Environ, Free: s.Free, MaxBytes: s.MaxBytes, Servers: Specs(cfg, "/"), Cage: held, Network: network, Commands: cage.Network(cfg.Sandbox.CheckNetwork)}, nil
	case "anthropic":
		return anthropic.Substrate{Model: model, BaseURL: s.BaseURL, Key: key, Thinking: s.Thinking, Timeout: s.AnswerTimeout, Environ: o.Environ, Tools: toolboxOptions(cfg, o, held), Talk: talk}, nil
	case "openai":
		return openai.Substrate{Model: model, BaseURL: s.BaseURL, Key: key, MaxTokensKey: s.MaxTokensKey, Timeout: s.AnswerTimeout, Environ: o.Environ, Tools: toolboxOptions(cfg, o, held), Talk: talk}, nil
	}
	return nil, refuse("substrate", "odd.toml: [session] substrate %q is unknown; use one of extract, replay, exec, claude, acp, anthropic, openai", cfg.Session.Substrate)
}

// Speechless refuses a session of role on a configuration whose substrate only
// reads documents into atoms: it could hand over nothing of what the role owes.
// nil where it can, and for the role general, which owes nothing.
func Speechless(cfg config.Config, role contract.Role) contract.Refusals {
	if cfg.Session.Substrate != "extract" || role == contract.General || role == "" {
		return nil
	}
	return contract.Refusals{{Code: "substrate-reads-only", Message: fmt.Sprintf("the built-in offline reader (extract) only turns documents into atoms and cannot work as %s", role),
		Way: otherAgent}}
}

// isProgram reports a substrate that is a program of its own, and no part of odd.
func isProgram(substrate string) bool {
	return slices.Contains([]string{"exec", "claude", "acp"}, substrate)
}

// loopOptions returns how the configured substrate holds its conversations.
func loopOptions(cfg config.Config) loop.Options {
	s := cfg.Agent(cfg.Session.Substrate)
	o := loop.Options{Free: s.Free, MaxTokens: s.MaxTokens, ContextBytes: s.ContextBytes, Prices: map[string]loop.Price{}}
	for model, p := range cfg.Prices {
		o.Prices[model] = loop.Price{Input: int64(p.Input), Output: int64(p.Output), CacheRead: int64(p.CacheRead), CacheWrite: int64(p.CacheWrite)}
	}
	return o
}

// keyOf names the variable that holds the key of the configured substrate, "" for
// one that has none.
func keyOf(cfg config.Config) string {
	name := cfg.Agent(cfg.Session.Substrate).KeyEnv
	switch cfg.Session.Substrate {
	case "anthropic":
		return cmp.Or(name, anthropic.DefaultKeyEnv)
	case "openai":
		return cmp.Or(name, openai.DefaultKeyEnv)
	}
	return ""
}

// anySet reports a variable among names that holds something.
func anySet(environ, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return endpoint.Variable(environ, name) != "" })
}

// checkCallable is Equipped for a substrate that calls a model through its API.
func checkCallable(cfg config.Config, environ []string) error {
	name, s, key := cfg.Session.Substrate, cfg.Agent(cfg.Session.Substrate), keyOf(cfg)
	var code string
	var lacks []string
	lack := func(c, text string) { code, lacks = cmp.Or(code, c), append(lacks, text) }
	model := cmp.Or(s.Model, cfg.Session.Model)
	if model == "" {
		lack("no-model", "no model is named; set [substrate."+name+"] model or [session] model")
	}
	needed := name == "anthropic" || openai.Hosted(s.BaseURL) || s.KeyEnv != ""
	if needed && endpoint.Variable(environ, key) == "" {
		lack("no-key", "the environment variable "+key+" is not set; export it with your API key where odd runs, or name another one in [substrate."+name+"] key_env")
	}
	if p, ok := cfg.Prices[model]; ok && !p.CacheWrites && name == "anthropic" && !s.Free {
		lack("no-price", "[prices.\""+model+"\"] has no cache_write_usd; add the price of a million tokens written to the cache")
	}
	if len(lacks) == 0 {
		return nil
	}
	return refuse(code, "odd.toml: substrate %q: %s", name, strings.Join(lacks, "; "))
}

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
	if hosts := s.cfg.Toolbox.Hosts; len(hosts) > 0 && slices.ContainsFunc(chain, func(c config.Config) bool { return keyOf(c) != "" }) {
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

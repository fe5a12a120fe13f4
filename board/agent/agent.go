// Package agent knows the agents and MCP servers that odd.toml names: what makes a session's substrate of
// them, what they lack before they can start, which sandbox holds their programs and the commands of checks,
// which credentials they are lent, and who gets what of a session. It knows no task's state and no run.
package agent

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/refusal"
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
	"github.com/odd-cli/odd/persona/session/toolbox"
)

// Host is odd's own process on this computer, as the programs that it starts know it.
type Host struct {
	Run     string           // the id of its run, run-ULID: ODD_RUN of programs
	By      string           // "odd/VERSION", as servers are told
	Now     func() time.Time // the clock
	Environ []string         // odd's own environment, from which exec passes on what odd.toml names
	Cage    cage.Cage        // by what odd can hold programs; the zero Cage holds them by their process group only
	Temp    string           // where scratch repositories are made, outside the repository; "" makes none
}

// Kind is what odd knows of the agents of one name.
type Kind struct {
	Program bool // it is a program of its own, and no part of odd
	Model   bool // it is a model behind an API, and works with odd's own tools
	Servers bool // it starts its MCP servers itself

	keyEnv, baseURL string // of a model
}

// KindOf returns what odd knows of the agents named name.
func KindOf(name string) Kind {
	return map[string]Kind{
		"exec":      {Program: true},
		"claude":    {Program: true, Servers: true},
		"acp":       {Program: true, Servers: true},
		"anthropic": {Model: true, keyEnv: anthropic.DefaultKeyEnv, baseURL: anthropic.DefaultBaseURL},
		"openai":    {Model: true, keyEnv: openai.DefaultKeyEnv, baseURL: openai.DefaultBaseURL},
	}[name]
}

// Substrate is the one that a configuration names. A recording lies in files; a
// command runs in dir, with what the configuration passes on of the environment, and is
// held as Hold says. An agent that starts its servers itself is handed none that reads
// more than the agent does, so that whose home "~/" means is no matter.
func (h Host) Substrate(cfg config.Config, files fs.FS, dir string, held cage.Cage) (session.Substrate, error) {
	if err := Equipped(cfg, h.Environ); err != nil {
		return nil, err
	}
	s, network := cfg.Agent(cfg.Session.Substrate), cage.Network(cfg.Sandbox.Network)
	model, key, talk := cmp.Or(s.Model, cfg.Session.Model), endpoint.Variable(h.Environ, keyOf(cfg)), loopOptions(cfg)
	switch cfg.Session.Substrate {
	case "extract":
		return extract.Substrate{}, nil
	case "replay":
		return replay.Substrate{Files: files, File: s.File}, nil
	case "exec":
		return exec.Substrate{Argv: s.Argv, Dir: dir, Env: s.Env, Environ: h.Environ, Free: s.Free, MaxBytes: s.MaxBytes, Cage: held, Network: network}, nil
	case "claude":
		return claude.Substrate{Argv: s.Argv, Dir: dir, Model: model, Env: s.Env, Environ: h.Environ, Free: s.Free, Commands: cfg.Toolbox.Run, Servers: Specs(cfg, "/"), Cage: held, Network: network}, nil
	case "acp":
		return acp.Substrate{Argv: s.Argv, Dir: dir, Env: s.Env, Environ: h.Environ, Free: s.Free, MaxBytes: s.MaxBytes, Servers: Specs(cfg, "/"), Cage: held, Network: network, Commands: cage.Network(cfg.Sandbox.CheckNetwork)}, nil
	case "anthropic":
		return anthropic.Substrate{Model: model, BaseURL: s.BaseURL, Key: key, Thinking: s.Thinking, Timeout: s.AnswerTimeout, Environ: h.Environ, Tools: h.toolboxOptions(cfg, held), Talk: talk}, nil
	case "openai":
		return openai.Substrate{Model: model, BaseURL: s.BaseURL, Key: key, MaxTokensKey: s.MaxTokensKey, Timeout: s.AnswerTimeout, Environ: h.Environ, Tools: h.toolboxOptions(cfg, held), Talk: talk}, nil
	}
	return nil, refusal.New("substrate", "odd.toml: [session] substrate %q is unknown; use one of extract, replay, exec, claude, acp, anthropic, openai", cfg.Session.Substrate)
}

// Speechless refuses a session of role on a configuration whose substrate only
// reads documents into atoms: it could hand over nothing of what the role owes.
// nil where it can, and for the role general, which owes nothing.
func Speechless(cfg config.Config, role contract.Role) contract.Refusals {
	if cfg.Session.Substrate != "extract" || role == contract.General || role == "" {
		return nil
	}
	return contract.Refusals{{Code: "substrate-reads-only", Message: fmt.Sprintf("the built-in offline reader (extract) only turns documents into atoms and cannot work as %s", role),
		Way: Other}}
}

// Other is the way out where the built-in reader cannot do the work.
const Other = `name an agent in odd.toml: [session] substrate = "exec", and its command in [substrate.exec] argv`

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
	k := KindOf(cfg.Session.Substrate)
	if !k.Model {
		return ""
	}
	return cmp.Or(cfg.Agent(cfg.Session.Substrate).KeyEnv, k.keyEnv)
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
	return refusal.New(code, "odd.toml: substrate %q: %s", name, strings.Join(lacks, "; "))
}

// Equipped says all that the configured substrate lacks to begin, before anything
// is claimed or spent: nil where it lacks nothing. A server at an address that
// odd.toml names may need no key; where it names a variable, that must hold one.
func Equipped(cfg config.Config, environ []string) error {
	name, s := cfg.Session.Substrate, cfg.Agent(cfg.Session.Substrate)
	named := slices.DeleteFunc(slices.Clone(cfg.Substrates[name].Env), func(v string) bool { return !tellsCredential.MatchString(v) })
	switch {
	case name == "acp" && len(s.Argv) == 0:
		return refusal.New("no-agent", `odd.toml: [session] substrate = "acp" needs a program; set [substrate.acp] argv, like ["gemini", "--acp"]`)
	case name == "exec" && len(s.Argv) == 0:
		return refusal.New("no-agent", `odd.toml: [session] substrate = "exec" needs a program; set [substrate.exec] argv to the command that reads the brief on stdin and prints its answer`)
	case name == "claude" && len(s.Argv) == 0 && !s.Free && !anySet(environ, s.Env):
		return refusal.New("no-key", `odd.toml: substrate "claude": not one of the variables %s is set, and the agent sees no other login; export one where odd runs, or name yours in [substrate.claude] env`, strings.Join(s.Env, ", "))
	case len(named) > 0 && !anySet(environ, named):
		return refusal.New("no-key", `odd.toml: substrate %q: not one of the variables %s is set, and the agent sees no login of yours; export one where odd runs, or correct [substrate.%[1]s] env`, name, strings.Join(named, ", "))
	case name == "replay" && s.File == "":
		return refusal.New("no-recording", `odd.toml: [session] substrate = "replay" needs a recording; set [substrate.replay] file to a file or folder in the repository`)
	}
	if KindOf(name).Model {
		return checkCallable(cfg, environ)
	}
	return nil
}

// toolboxOptions is what odd.toml lets the tools do that odd gives to models. What a
// session may do of it, its request says. What it runs is held as a check is.
func (h Host) toolboxOptions(cfg config.Config, held cage.Cage) toolbox.Options {
	t := cfg.Toolbox
	return toolbox.Options{
		Limits: toolbox.Limits{Timeout: t.Timeout, Command: t.Command}, Commands: t.Run, Hosts: t.Hosts, Now: h.Now,
		Runner: func(ctx context.Context, argv []string, at session.Desk) exec.Result {
			as := h.Command(cfg, held, at)
			as.Argv = argv
			return Run(ctx, as)
		},
	}
}

// Tools returns the tools that a configuration's agent has, as contracts name
// them. A program of somebody else's has tools that odd does not know.
func Tools(cfg config.Config) []string {
	tools := strings.Fields("search fetch get related expand write edit")
	switch name := cfg.Session.Substrate; {
	case KindOf(name).Model:
		tools = append(tools, strings.Fields("say emit_deliverable finish emit_atom emit_change")...)
		if len(cfg.Toolbox.Hosts) > 0 {
			tools = append(tools, "web-search")
		}
	case name == "claude":
		tools = append(tools, "why")
	default:
		return nil
	}
	if len(cfg.Toolbox.Run) > 0 {
		tools = append(tools, "exec")
	}
	return tools
}

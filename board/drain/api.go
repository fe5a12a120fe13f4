package drain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/anthropic"
	"github.com/odd-cli/odd/persona/session/endpoint"
	"github.com/odd-cli/odd/persona/session/loop"
	"github.com/odd-cli/odd/persona/session/openai"
	"github.com/odd-cli/odd/persona/session/toolbox"
)

// newAPISubstrate returns the substrate of a model's API that a configuration names, nil for one
// that is none.
func newAPISubstrate(cfg config.Config, environ []string, tools toolbox.Options) session.Substrate {
	s, talk := cfg.Agent(cfg.Session.Substrate), loopOptions(cfg)
	model, key := cmp.Or(s.Model, cfg.Session.Model), endpoint.Variable(environ, keyOf(cfg))
	switch cfg.Session.Substrate {
	case "anthropic":
		return anthropic.Substrate{Model: model, BaseURL: s.BaseURL, Key: key, Thinking: s.Thinking, Timeout: s.AnswerTimeout, Environ: environ, Tools: tools, Talk: talk}
	case "openai":
		return openai.Substrate{Model: model, BaseURL: s.BaseURL, Key: key, MaxTokensKey: s.MaxTokensKey, Timeout: s.AnswerTimeout, Environ: environ, Tools: tools, Talk: talk}
	}
	return nil
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

// callable is Equipped for a substrate that calls a model through its API.
func callable(cfg config.Config, environ []string) error {
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

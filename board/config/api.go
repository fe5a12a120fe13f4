package config

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/odd-cli/odd/board/budget"
)

// API is what [substrate.anthropic] and [substrate.openai] say of their server.
type API struct {
	Model         string        // goes before [session] model; "": that
	BaseURL       string        // https, or http on this machine; "": the provider's own
	KeyEnv        string        // the name of the variable that holds the key; "": the provider's own
	MaxTokens     int           // of an answer; 0: the substrate's own limit
	MaxTokensKey  string        // max_tokens or max_completion_tokens; "": what the server's name suggests
	Thinking      string        // adaptive or disabled; "": the model's own default
	ContextBytes  int           // of a conversation; 0: the substrate's own limit
	AnswerTimeout time.Duration // of one answer; 0: the session's
}

// Price is [prices."MODEL"]: what a model costs for a million tokens of each kind.
type Price struct {
	Input, Output budget.MicroUSD
	CacheRead     budget.MicroUSD // default Input, because no cache costs more than doing without
	CacheWrite    budget.MicroUSD
	CacheWrites   bool // cache_write_usd is given
}

// highestPrice keeps what an answer costs far below what an integer holds.
const highestPrice = 2_000_000_000

// priceSetter returns a setter of one member of [prices."MODEL"].
func priceSetter(at func(*Price) *budget.MicroUSD) setter {
	return entrySetter(func(c *Config) *map[string]Price { return &c.Prices }, modelName, func(p *Price, n node) error {
		m, err := readAmount(n)
		if err == nil && (m < 0 || m > highestPrice) {
			err = errors.New("want what a million tokens cost, from 0 to 2000 dollars")
		}
		if err == nil {
			*at(p) = m
		}
		return err
	})
}

func modelName(s string) error {
	if err := checkWord(s); err != nil {
		return fmt.Errorf("the name of a model: %w", err)
	}
	return nil
}

// checkPrices holds each price to what a cost is counted from. A model without one is
// charged as all that was reserved, so that half a price may not stand for it.
func (p *parser) checkPrices(root node) {
	for model, c := range p.c.Prices {
		at := lineOf(root, []string{"prices", model})
		for _, k := range []string{"input_usd", "output_usd"} {
			if lineOf(root, []string{"prices", model, k}) == 0 {
				p.addError(at, "prices.%q: has no %s; write both input_usd and output_usd, for a million tokens, or leave the model out", model, k)
			}
		}
		if lineOf(root, []string{"prices", model, "cache_read_usd"}) == 0 {
			c.CacheRead = c.Input
			p.c.Prices[model] = c
		}
	}
}

// readAddress reads the address of an API: https, or on this machine http, because a
// key goes there.
func readAddress(n node) (string, error) {
	s, err := readString(n, checkWord)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "" || u.Hostname() == "":
		return "", errors.New(`want the address of an API, like "https://api.example.org/v1"`)
	case u.User != nil:
		return "", errors.New("holds a name or a password; the key is in the environment, under the name in key_env")
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return "", errors.New("want an address without ? and #")
	case u.Scheme == "http" && !isLoopback(u.Hostname()), u.Scheme != "http" && u.Scheme != "https":
		return "", errors.New("want https, or http on this machine alone (127.0.0.1, ::1, localhost): what is said there, and the key, would be open on the way")
	}
	return strings.TrimRight(s, "/"), nil
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback() || host == "localhost"
}

func keyEnv(s string) error {
	if envName(s) != nil {
		return errors.New(`want the name of the environment variable that holds the key, like "ANTHROPIC_API_KEY", never the key`)
	}
	return nil
}

// Agent is [substrate.NAME], with the names of the variables by which claude logs in
// where odd.toml names none: it has no home of the user's to be logged in in.
func (c Config) Agent(name string) Substrate {
	s := c.Substrates[name]
	if name == "claude" && s.Env == nil {
		s.Env = []string{"ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"}
	}
	return s
}

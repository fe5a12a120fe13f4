package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agnivade/levenshtein"

	"github.com/odd-cli/odd/board/budget"
)

// Route is [route.LANE]: what takes the tasks of a lane, and what they may take.
type Route struct {
	Substrate string          // "": the usual one
	Model     string          // "": that substrate's own
	Timeout   time.Duration   // of one session; 0: [session] timeout, or else the lane's default
	MaxCost   budget.MicroUSD // of one attempt; 0: [session] max_usd
}

// Lanes are the ways a task may take, as package pipeline has them.
func Lanes() []string {
	return []string{"immediate", "standard", "complex", "background", "speculative"}
}

// laneTime is how long a session on a lane may take where odd.toml says nothing:
// agents need 5 to 20 minutes for a simple change.
func laneTime(lane string) time.Duration {
	switch lane {
	case "standard", "background":
		return 20 * time.Minute
	case "complex":
		return 30 * time.Minute
	}
	return 10 * time.Minute
}

// Limits are what the sessions for one task may take: each the time, all of an
// attempt together the turns and the money.
type Limits struct {
	Timeout time.Duration
	Turns   int
	MaxCost budget.MicroUSD
}

// Limits are those of a lane, by the nearest key of odd.toml that sets them.
func (c Config) Limits(lane string) Limits {
	r := c.Routes[lane]
	return Limits{
		Timeout: cmp.Or(r.Timeout, c.Session.Timeout, laneTime(lane)),
		Turns:   c.Session.MaxTurns,
		MaxCost: cmp.Or(r.MaxCost, c.Session.MaxCost),
	}
}

// LimitLines are the places in odd.toml, "timeout odd.toml:12", that set limits of a
// lane, of each limit the one that counts. b has been parsed.
func LimitLines(file string, b []byte, lane string) []string {
	root, err := parseTree(b)
	if err != nil {
		return nil
	}
	var out []string
	for _, key := range []string{"timeout", "max_turns", "max_usd"} {
		if n := cmp.Or(lineOf(root, []string{"route", lane, key}), lineOf(root, []string{"session", key})); n > 0 {
			out = append(out, fmt.Sprintf("%s %s:%d", key, file, n))
		}
	}
	return out
}

// routeSetter returns a setter of one member of [route.LANE].
func routeSetter(set func(*Route, node) error) setter {
	return entrySetter(func(c *Config) *map[string]Route { return &c.Routes }, laneName, set)
}

func laneName(lane string) error {
	if !slices.Contains(Lanes(), lane) {
		return fmt.Errorf("%q is no lane; want one of %s", lane, strings.Join(Lanes(), ", "))
	}
	return nil
}

// Using is the configuration of a session on the substrate that is named. A
// model's name means nothing to another substrate, so that [session] model stays
// with the usual one; a model that is given goes before all others.
func (c Config) Using(name, model string) Config {
	if name != c.Session.Substrate {
		c.Session.Substrate, c.Session.Model = name, ""
	}
	if model == "" {
		return c
	}
	c.Session.Model = model
	c.Substrates = maps.Clone(c.Substrates)
	if c.Substrates == nil {
		c.Substrates = map[string]Substrate{}
	}
	s := c.Substrates[name]
	s.Model = model
	c.Substrates[name] = s
	return c
}

// Chain are the configurations that a task of a lane may have its sessions on, in
// order: its route's or the usual one, then the fallbacks.
func (c Config) Chain(lane string) []Config {
	r := c.Routes[lane]
	if r.Substrate == "" {
		r.Substrate = c.Session.Substrate
	}
	out := []Config{c.Using(r.Substrate, r.Model)}
	for _, name := range c.Session.Fallback {
		if name != r.Substrate {
			out = append(out, c.Using(name, ""))
		}
	}
	return out
}

// Usable are the substrates that a session of this configuration may be of, each
// once: the usual one first.
func (c Config) Usable() []string {
	all := append([]string{c.Session.Substrate}, c.Session.Fallback...)
	for _, lane := range Lanes() {
		if r := c.Routes[lane]; r.Substrate != "" {
			all = append(all, r.Substrate)
		}
	}
	var out []string
	for _, name := range all {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// Costly names a substrate that can cost money, "" where none can: the embedded
// ones cannot, another only where odd.toml says so. One that may take over costs
// as much as one that is in use.
func (c Config) Costly() string {
	for _, name := range c.Usable() {
		if !c.FreeOf(name) {
			return name
		}
	}
	return ""
}

// FreeOf reports a substrate that costs no money.
func (c Config) FreeOf(name string) bool {
	return name == "extract" || name == "replay" || c.Substrates[name].Free
}

// Free reports that no session can cost money, whatever substrate takes it.
func (c Config) Free() bool { return c.Costly() == "" }

// checkSubstrates holds every substrate that odd.toml names to those there are.
func (p *parser) checkSubstrates(root node) {
	is := func(at int, key, name string) {
		if at > 0 && !slices.Contains(known, name) && lineOf(root, []string{"substrate", name}) == 0 {
			p.addError(at, "%s: there is no [substrate.%s]; known without a section are %s%s", key, name, strings.Join(known, ", "), didYouMean(name, known))
		}
	}
	is(lineOf(root, []string{"session", "substrate"}), "session.substrate", p.c.Session.Substrate)
	at := lineOf(root, []string{"session", "fallback"})
	for i, name := range p.c.Session.Fallback {
		is(at, "session.fallback", name)
		if name == p.c.Session.Substrate || slices.Contains(p.c.Session.Fallback[:i], name) {
			p.addError(at, "session.fallback: %q stands there already, as the substrate or before; name each once", name)
		}
	}
	for _, lane := range Lanes() {
		if r := p.c.Routes[lane]; r.Substrate != "" {
			is(lineOf(root, []string{"route", lane, "substrate"}), "route."+lane+".substrate", r.Substrate)
		}
	}
}

// didYouMean returns the clause that names who was meant by a name with at most two typing
// errors; "" where nobody is as near.
func didYouMean(name string, among []string) string {
	best, least := "", 3
	for _, one := range among {
		if d := levenshtein.ComputeDistance(name, one); d < min(least, len(one)) {
			best, least = one, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// parser collects a Config and everything wrong with it.
type parser struct {
	file   string
	c      Config
	errs   Errors
	values int
}

func (p *parser) fail(line int, format string, args ...any) {
	p.errs = append(p.errs, Error{p.file, max(line, 1), fmt.Sprintf(format, args...)})
}

// table reads the children of n, which stands at path.
func (p *parser) table(n node, path []string) {
	for _, child := range n.children {
		at := append(slices.Clone(path), child.name)
		name := strings.Join(at, ".")
		k, isKey, isTable := find(at)
		switch {
		case name == "mcp" && len(path) == 0:
			p.servers(child)
		case isKey:
			p.value(k, at, child)
		case isTable && child.table:
			p.table(child, at)
		case isTable:
			p.fail(child.line, "%s: want a table; write [%s] above its keys", name, name)
		default:
			p.fail(child.line, "%s", Unknown(at))
		}
	}
}

func (p *parser) value(k key, path []string, n node) {
	name := strings.Join(path, ".")
	p.values++
	if n.secret() {
		p.fail(n.line, "%s: looks like a credential; name an environment variable instead, and revoke the key if it was ever committed", name)
		return
	}
	part := name // what a setter calls the thing: a pattern's own part, or the key
	if i := slices.Index(strings.Split(k.name, "."), "*"); i >= 0 {
		part = path[i]
	}
	if err := k.set(&p.c, part, n); err != nil {
		p.fail(n.line, "%s: %v", name, err)
	}
}

// Unknown is what is wrong with a key that odd.toml does not have.
func Unknown(path []string) string {
	hint := "odd config explain lists the keys"
	if near := suggest(path); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return fmt.Sprintf("unknown key %q; %s", strings.Join(path, "."), hint)
}

// cross checks what one key says against another.
func (p *parser) cross(root node) {
	line := func(path ...string) int { return lineOf(root, path) }
	b := p.c.Budget
	if !p.c.HasBudget && line("budget") > 0 && line("budget", "monthly_usd") == 0 {
		p.fail(line("budget"), "budget: has no monthly_usd; without it no money may be spent")
	}
	if b.HardStop > 0 && b.HardStop < b.Monthly {
		p.fail(line("budget", "hard_stop_usd"), "budget.hard_stop_usd: %v is below monthly_usd %v; the hard stop is the outer limit", b.HardStop, b.Monthly)
	}
	p.checkTeams(line("budget", "teams"))
	for of, people := range p.c.Approvers {
		if n := p.c.Approvals; len(people) < n {
			p.fail(line("governance", "approvers", of), "governance.approvers.%q: names %d, and governance.approvals wants %d; name more people", of, len(people), n)
		}
	}
	if p.c.Pipeline.AutoApply && len(p.c.Approvers) > 0 {
		p.fail(line("pipeline", "auto_apply"), "pipeline.auto_apply: lands changes that nobody approves, and [governance.approvers] says who must; use one of them")
	}
	p.checkPrices(root)
	p.checkAnchor(max(line("anchor", "state"), line("bundle", "root")))
	p.checkSubstrates(root)
}

// checkTeams holds the teams to the month: what they have is reserved for them.
func (p *parser) checkTeams(line int) {
	left := p.c.Budget.Monthly
	for _, m := range p.c.Budget.Teams {
		if left -= m; left < 0 {
			p.fail(line, "budget.teams: together they have more than monthly_usd %v; a team's money is nobody else's, so give them less or raise the month", p.c.Budget.Monthly)
			return
		}
	}
}

// lineOf is the line of the node at path, 0 when there is none.
func lineOf(n node, path []string) int {
	for _, name := range path {
		i := slices.IndexFunc(n.children, func(c node) bool { return c.name == name })
		if i < 0 {
			return 0
		}
		n = n.children[i]
	}
	return n.line
}

// credential knows the shapes in which the big issuers hand out keys, private
// key blocks, web tokens, passwords in addresses and keys given to a flag. It is
// a net for accidents, not a proof of their absence.
var credential = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:\b|_)(?:` +
		`sk-[A-Za-z0-9_-]{16,}|` + // Anthropic, OpenAI and those who copy them
		`gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|` + // forges
		`(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,}|` + // clouds
		`xox[abeoprs]-[A-Za-z0-9-]{10,}|hf_[A-Za-z0-9]{20,}|gsk_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,}|` +
		`eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.` + // JSON web tokens
		`)|-----BEGIN [A-Z ]*PRIVATE KEY|://[^/\s:@]+:[^/\s:@]+@|` +
		`(?i:(?:api[-_]?key|access[-_]?token|auth[-_]?token|password|passwd|secret)=[^$\s]{8,}|\bbearer\s+[^$\s]{12,})`)
})

// secret looks for a credential in a value and, of a table, in all of it.
func (n node) secret() bool { return secret(n.value) || slices.ContainsFunc(n.children, node.secret) }

// secret looks for a credential in a value and everything below it.
func secret(v any) bool {
	switch v := v.(type) {
	case string:
		return credential().MatchString(v)
	case []any:
		return slices.ContainsFunc(v, secret)
	case []map[string]any:
		return slices.ContainsFunc(v, func(m map[string]any) bool { return secret(m) })
	case map[string]any:
		for _, e := range v {
			if secret(e) {
				return true
			}
		}
	}
	return false
}

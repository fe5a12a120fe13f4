package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"
)

// Error is one thing wrong with an odd.toml.
type Error struct {
	File    string
	Line    int // 1-based
	Message string
}

// Error is "file:line: message".
func (e Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Message) }

// Errors is everything wrong with an odd.toml, in the order of its lines.
type Errors []Error

// Error is one error a line.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// syntaxError is the error of a file that is not TOML.
func syntaxError(file string, b []byte, err error) Error {
	if pe, ok := errors.AsType[toml.ParseError](err); ok {
		return Error{file, faultLine(pe, b), rewordTOMLError(pe.Message)}
	}
	return Error{file, 1, strings.TrimPrefix(err.Error(), "toml: ")}
}

// faultLine returns the line, from 1, of b on which a fault begins. The library names the next
// line where the fault is the end of a line.
func faultLine(pe toml.ParseError, b []byte) int {
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	return 1 + bytes.Count(b[:min(max(pe.Position.Start, 0), len(b))], []byte("\n"))
}

// rewordTOMLError is a message of the TOML library as odd words its own.
func rewordTOMLError(msg string) string {
	if key, ok := strings.CutSuffix(msg, "' has already been defined."); ok {
		return strings.TrimPrefix(key, "Key '") + " is set twice; keep one of them"
	}
	return strings.TrimSuffix(msg, ".")
}

// node is one key of the file: a table with its children in the order of the
// lines, or a value with the text it was written as.
type node struct {
	name     string
	line     int
	value    any    // as the TOML library reads it; nil for a table
	literal  string // of a number
	children []node // of a table; the tables of an array of them
	table    bool
}

// located takes any TOML value and then fails on purpose: the library adds the
// value's position to an Unmarshaler's error and gives it away nowhere else.
type located struct{ value any }

var errLocated = errors.New("located")

// UnmarshalTOML keeps the value. Its error is always errLocated.
func (l *located) UnmarshalTOML(v any) error {
	l.value = v
	return errLocated
}

func parseTree(b []byte) (node, error) {
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	var top map[string]toml.Primitive
	md, err := toml.Decode(string(b), &top)
	if err != nil {
		return node{}, err
	}
	root := node{line: 1, table: true}
	root.children, err = readChildren(b, &md, top)
	return root, err
}

func readChildren(b []byte, md *toml.MetaData, table map[string]toml.Primitive) ([]node, error) {
	var out []node
	for name, prim := range table {
		n, err := readNode(b, md, prim)
		if err != nil {
			return nil, err
		}
		n.name = name
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b node) int { return cmp.Or(cmp.Compare(a.line, b.line), strings.Compare(a.name, b.name)) })
	return out, nil
}

func readNode(b []byte, md *toml.MetaData, prim toml.Primitive) (node, error) {
	var l located
	var pe toml.ParseError
	if err := md.PrimitiveDecode(prim, &l); !errors.As(err, &pe) {
		return node{}, fmt.Errorf("a value has no position: %w", err)
	}
	n := node{line: max(pe.Position.Line, 1), value: l.value}
	switch _, is := l.value.(map[string]any); {
	case is:
		return readTable(b, md, prim)
	case areTables(l.value):
		var err error
		n.children, err = readTables(b, md, prim)
		return n, err
	}
	if start := pe.Position.Start; start >= 0 && start < len(b) {
		n.literal = sourceNumber(l.value, b[start:])
	}
	return n, nil
}

func readTable(b []byte, md *toml.MetaData, prim toml.Primitive) (node, error) {
	var l located
	var pe toml.ParseError
	if err := md.PrimitiveDecode(prim, &l); !errors.As(err, &pe) {
		return node{}, fmt.Errorf("a table has no position: %w", err)
	}
	var below map[string]toml.Primitive
	if err := md.PrimitiveDecode(prim, &below); err != nil {
		return node{}, err
	}
	var err error
	n := node{line: max(pe.Position.Line, 1), table: true}
	n.children, err = readChildren(b, md, below)
	return n, err
}

// figure is a TOML decimal number; assigned is one behind its key, which is
// where the library places a value of an inline table.
var (
	figure   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[+-]?[0-9][0-9_.]*(?:[eE][+-]?[0-9_]+)?`) })
	assigned = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[^=\n]*=[ \t]*`) })
)

// sourceNumber is the text a number was written as, without underscores and the sign
// of plus; "" when the text at hand does not read back as the value.
func sourceNumber(v any, at []byte) string {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		for _, text := range [][]byte{figure().Find(at), figure().Find(at[len(assigned().Find(at)):])} {
			s := strings.TrimPrefix(strings.ReplaceAll(string(text), "_", ""), "+")
			if again, err := strconv.ParseFloat(s, 64); err == nil && again == v {
				return s
			}
		}
	}
	return ""
}

// parser collects a Config and everything wrong with it.
type parser struct {
	file   string
	c      Config
	errs   Errors
	values int
}

func (p *parser) addError(line int, format string, args ...any) {
	p.errs = append(p.errs, Error{p.file, max(line, 1), fmt.Sprintf(format, args...)})
}

// parseTable reads the children of n, which stands at path.
func (p *parser) parseTable(n node, path []string) {
	for _, child := range n.children {
		at := append(slices.Clone(path), child.name)
		name := strings.Join(at, ".")
		k, isKey, isTable := findKey(at)
		switch {
		case name == "mcp" && len(path) == 0:
			p.parseServers(child)
		case isKey:
			p.parseValue(k, at, child)
		case isTable && child.table:
			p.parseTable(child, at)
		case isTable:
			p.addError(child.line, "%s: want a table; write [%s] above its keys", name, name)
		default:
			p.addError(child.line, "%s", Unknown(at))
		}
	}
}

func (p *parser) parseValue(k key, path []string, n node) {
	name := strings.Join(path, ".")
	p.values++
	if n.holdsSecret() {
		p.addError(n.line, "%s: looks like a credential; name an environment variable instead, and revoke the key if it was ever committed", name)
		return
	}
	part := name // what a setter calls the thing: a pattern's own part, or the key
	if i := slices.Index(strings.Split(k.name, "."), "*"); i >= 0 {
		part = path[i]
	}
	if err := k.set(&p.c, part, n); err != nil {
		p.addError(n.line, "%s: %v", name, err)
	}
}

// Unknown is what is wrong with a key that odd.toml does not have.
func Unknown(path []string) string {
	hint := "odd config explain lists the keys"
	if near := nearestKey(path); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return fmt.Sprintf("unknown key %q; %s", strings.Join(path, "."), hint)
}

// checkAcross checks what one key says against another.
func (p *parser) checkAcross(root node) {
	line := func(path ...string) int { return lineOf(root, path) }
	b := p.c.Budget
	if !p.c.HasBudget && line("budget") > 0 && line("budget", "monthly_usd") == 0 {
		p.addError(line("budget"), "budget: has no monthly_usd; without it no money may be spent")
	}
	if b.HardStop > 0 && b.HardStop < b.Monthly {
		p.addError(line("budget", "hard_stop_usd"), "budget.hard_stop_usd: %v is below monthly_usd %v; the hard stop is the outer limit", b.HardStop, b.Monthly)
	}
	p.checkTeams(line("budget", "teams"))
	for of, people := range p.c.Approvers {
		if n := p.c.Approvals; len(people) < n {
			p.addError(line("governance", "approvers", of), "governance.approvers.%q: names %d, and governance.approvals wants %d; name more people", of, len(people), n)
		}
	}
	if p.c.Pipeline.AutoApply && len(p.c.Approvers) > 0 {
		p.addError(line("pipeline", "auto_apply"), "pipeline.auto_apply: lands changes that nobody approves, and [governance.approvers] says who must; use one of them")
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
			p.addError(line, "budget.teams: together they have more than monthly_usd %v; a team's money is nobody else's, so give them less or raise the month", p.c.Budget.Monthly)
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

// holdsSecret looks for a credential in a value and, of a table, in all of it.
func (n node) holdsSecret() bool {
	return isSecret(n.value) || slices.ContainsFunc(n.children, node.holdsSecret)
}

// isSecret looks for a credential in a value and everything below it.
func isSecret(v any) bool {
	switch v := v.(type) {
	case string:
		return credential().MatchString(v)
	case []any:
		return slices.ContainsFunc(v, isSecret)
	case []map[string]any:
		return slices.ContainsFunc(v, func(m map[string]any) bool { return isSecret(m) })
	case map[string]any:
		for _, e := range v {
			if isSecret(e) {
				return true
			}
		}
	}
	return false
}

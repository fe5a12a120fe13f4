package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/persona/contract"
)

// Server is one [[mcp]]: a server of the Model Context Protocol whose tools a
// session may be given.
type Server struct {
	Name       string          // lower-case letters, digits and "-", at most 24
	Argv       []string        // the command of one that speaks on its streams; nil: URL
	URL        string          // of one that speaks HTTP: https, or http on this machine
	TokenEnv   string          // the variable that holds the token for URL
	Env        []string        // names of variables that the command sees
	When       string          // operational (default): always; task_relevant: where Kinds or Tags fit a task, or a call asks
	Kinds      []string        // of tasks
	Tags       []string        // of tasks
	Roles      []contract.Role // that may use it; none: every role but those with a fresh context
	Tools      []string        // that may be used, by the server's own names; "*" is every
	Reads      []string        // of those, what a person says changes nothing
	TrustHints bool            // the server is believed where it says so itself
	Required   bool            // no session that is granted it begins without it
	Start      time.Duration   // start_timeout, default 15s
	Timeout    time.Duration   // of one call, default 30s
	MaxBytes   int             // of one message, default 1 MiB
	Network    string          // of the command: none (default) or allow
	Read       []string        // what the command may read besides, as [sandbox] read
	Tree       bool            // the command starts in the session's tree, which it may read
	Pin        string          // pin_sha256, what its list of tools must be
}

// The words of [[mcp]] when.
const (
	Operational  = "operational"
	TaskRelevant = "task_relevant"
)

const mostServerName = 24

// serverKeys are the keys of an [[mcp]] table.
func serverKeys() []key {
	return []key{
		{"mcp.name", serverSetter(func(s *Server, n node) (err error) { s.Name, err = readString(n, serverName); return })},
		{"mcp.argv", serverSetter(func(s *Server, n node) (err error) { s.Argv, err = readArgv(n); return })},
		{"mcp.url", serverSetter(func(s *Server, n node) (err error) { s.URL, err = readAddress(n); return })},
		{"mcp.token_env", serverSetter(func(s *Server, n node) (err error) { s.TokenEnv, err = readString(n, keyEnv); return })},
		{"mcp.env", serverSetter(func(s *Server, n node) (err error) { s.Env, err = readStrings(n, envName); return })},
		{"mcp.when", serverSetter(func(s *Server, n node) (err error) {
			s.When, err = nameOf(n, []string{Operational, TaskRelevant})
			return
		})},
		{"mcp.kinds", serverSetter(func(s *Server, n node) (err error) { s.Kinds, err = readStrings(n, taskKind); return })},
		{"mcp.tags", serverSetter(func(s *Server, n node) (err error) { s.Tags, err = readStrings(n, checkWord); return })},
		{"mcp.roles", serverSetter(serverRoles)},
		{"mcp.tools", serverSetter(func(s *Server, n node) (err error) { s.Tools, err = readStrings(n, checkWord); return })},
		{"mcp.reads", serverSetter(func(s *Server, n node) (err error) { s.Reads, err = readStrings(n, checkWord); return })},
		{"mcp.trust_hints", serverSetter(func(s *Server, n node) (err error) { s.TrustHints, err = readBool(n); return })},
		{"mcp.required", serverSetter(func(s *Server, n node) (err error) { s.Required, err = readBool(n); return })},
		{"mcp.start_timeout", serverSetter(func(s *Server, n node) (err error) { s.Start, err = spanOf(n, time.Second, 5*time.Minute); return })},
		{"mcp.timeout", serverSetter(func(s *Server, n node) (err error) { s.Timeout, err = spanOf(n, time.Second, time.Hour); return })},
		{"mcp.max_bytes", serverSetter(func(s *Server, n node) (err error) { s.MaxBytes, err = readInt(n, 4096, 1<<26); return })},
		{"mcp.network", serverSetter(func(s *Server, n node) (err error) { s.Network, err = nameOf(n, networkNames()); return })},
		{"mcp.read", serverSetter(func(s *Server, n node) (err error) { s.Read, err = readStrings(n, checkPlace); return })},
		{"mcp.tree", serverSetter(func(s *Server, n node) (err error) { s.Tree, err = readBool(n); return })},
		{"mcp.pin_sha256", serverSetter(func(s *Server, n node) (err error) { s.Pin, err = readString(n, checkDigest); return })},
	}
}

// serverSetter makes a setter of the [[mcp]] table that is being read.
func serverSetter(set func(*Server, node) error) setter {
	return func(c *Config, _ string, n node) error {
		if len(c.Servers) == 0 {
			return errors.New("write [[mcp]] above each server")
		}
		return set(&c.Servers[len(c.Servers)-1], n)
	}
}

func serverName(s string) error {
	bad := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' }
	switch {
	case s == "" || len(s) > mostServerName || strings.ContainsFunc(s, bad) || s[0] == '-':
		return fmt.Errorf("%q: want at most %d lower-case letters, digits and -", s, mostServerName)
	case s == "odd":
		return errors.New(`"odd" is odd itself, whose tools every session has; take another name`)
	}
	return nil
}

func taskKind(s string) error {
	_, err := contract.Named(s, board.Kinds())
	return err
}

func serverRoles(s *Server, n node) error {
	list, err := readStrings(n, checkWord)
	if err != nil {
		return err
	}
	for _, name := range list {
		role, err := contract.Named(name, contract.RoleNames())
		if err != nil {
			return err
		}
		if role == contract.Validator {
			return errors.New("a validator judges by what it is given, and has no servers but the operational ones of its profile")
		}
		s.Roles = append(s.Roles, role)
	}
	return nil
}

var sha = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{64}$`) })

func checkDigest(s string) error {
	if !sha().MatchString(s) {
		return errors.New("want the list_sha256 that odd mcp servers --check prints")
	}
	return nil
}

// parseServers reads the [[mcp]] tables.
func (p *parser) parseServers(n node) {
	if !areTables(n.value) {
		p.addError(n.line, "mcp: want tables: write [[mcp]] above each server")
		return
	}
	for _, one := range n.children {
		p.values++
		p.c.Servers = append(p.c.Servers, Server{When: Operational, Network: "none", Start: 15 * time.Second, Timeout: 30 * time.Second, MaxBytes: 1 << 20})
		p.parseTable(one, []string{"mcp"})
		before := p.c.Servers[:len(p.c.Servers)-1]
		p.checkServer(p.c.Servers[len(before)], one, before)
	}
}

// checkServer checks what one key of a server says against another.
func (p *parser) checkServer(s Server, n node, before []Server) {
	who := fmt.Sprintf("server %q", s.Name)
	if s.Name == "" {
		who = "this server"
	}
	has := func(key string) int { return lineOf(n, []string{key}) }
	no := func(line int, format string, args ...any) {
		if line == 0 {
			line = n.line
		}
		p.addError(line, "mcp: "+format, args...)
	}
	if has("name") == 0 {
		no(0, `a server without a name; write name = "files" in each [[mcp]] table`)
	}
	if s.Name != "" && slices.ContainsFunc(before, func(b Server) bool { return b.Name == s.Name }) {
		no(has("name"), "%s stands twice; give each its own name", who)
	}
	checkAddress(who, has, no)
	checkTools(s, who, has, no)
}

// checkAddress checks how a server is reached: by argv or by url, and by nothing that is
// for the other.
func checkAddress(who string, has func(string) int, no func(int, string, ...any)) {
	switch {
	case has("argv") == 0 && has("url") == 0:
		no(0, "%s: write argv, the command that starts it, or url, where it is", who)
	case has("argv") > 0 && has("url") > 0:
		no(has("url"), "%s: has both argv and url; write one", who)
	}
	wrong := func(of, with string, keys ...string) {
		for _, k := range keys {
			if has(of) > 0 && has(with) == 0 && has(k) > 0 {
				no(has(k), "%s: %s is for a server with %s", who, k, with)
			}
		}
	}
	wrong("url", "argv", "env", "network", "read", "tree")
	wrong("argv", "url", "token_env")
}

// checkTools checks which of a server's tools are lent, and for what.
func checkTools(s Server, who string, has func(string) int, no func(int, string, ...any)) {
	if has("tools") == 0 {
		no(0, `%s: write tools, the names of those that may be used, or tools = ["*"] for every one`, who)
	}
	for _, r := range s.Reads {
		if !slices.Contains(s.Tools, r) && !slices.Contains(s.Tools, "*") && has("tools") > 0 {
			no(has("reads"), "%s: reads names %q, which tools does not", who, r)
		}
	}
	for _, k := range []string{"kinds", "tags"} {
		if has(k) > 0 && s.When == Operational {
			no(has(k), `%s: %s says for which tasks; write when = "task_relevant" with it`, who, k)
		}
	}
}

// areTables reports an array of tables, however it is written.
func areTables(v any) bool {
	switch v := v.(type) {
	case []map[string]any:
		return true
	case []any:
		return len(v) > 0 && !slices.ContainsFunc(v, func(one any) bool { _, is := one.(map[string]any); return !is })
	}
	return false
}

// ServerNames are the names of the [[mcp]] tables, in their order.
func (c Config) ServerNames() []string {
	var out []string
	for _, s := range c.Servers {
		out = append(out, s.Name)
	}
	return out
}

// beginning is a line that begins a table of [[mcp]].
var beginning = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[ \t]*\[\[[ \t]*(?:mcp|"mcp"|'mcp')[ \t]*\]\]`) })

// readTables returns the tables of an array of tables, each at its line. The TOML library
// knows one place for all tables of an array, so each is read by itself where the
// file can be cut at their headers; else all stand at the line of the first.
func readTables(b []byte, md *toml.MetaData, prim toml.Primitive) ([]node, error) {
	var list []toml.Primitive
	if err := md.PrimitiveDecode(prim, &list); err != nil {
		return nil, err
	}
	cuts := beginning().FindAllIndex(b, -1)
	var out []node
	for i, one := range list {
		if n, ok := readTableAlone(b, cuts, i, len(list)); ok {
			out = append(out, n)
			continue
		}
		n, err := readTable(b, md, one)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

// readTableAlone returns the i-th of n tables, read from its part of the file.
func readTableAlone(b []byte, cuts [][]int, i, n int) (node, bool) {
	if len(cuts) != n {
		return node{}, false
	}
	end := len(b)
	if i+1 < n {
		end = cuts[i+1][0]
	}
	part := b[cuts[i][0]:end]
	var top struct {
		MCP []toml.Primitive `toml:"mcp"`
	}
	md, err := toml.Decode(string(part), &top)
	if err != nil || len(top.MCP) != 1 {
		return node{}, false
	}
	one, err := readTable(part, &md, top.MCP[0])
	if err != nil {
		return node{}, false
	}
	return one.shiftLines(strings.Count(string(b[:cuts[i][0]]), "\n")), true
}

// shiftLines returns n with everything in it some lines further down.
func (n node) shiftLines(lines int) node {
	n.line += lines
	n.children = slices.Clone(n.children)
	for i, c := range n.children {
		n.children[i] = c.shiftLines(lines)
	}
	return n
}

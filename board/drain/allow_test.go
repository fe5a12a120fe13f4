package drain

import (
	"errors"
	"strings"
	"testing"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/invoke"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/lint"
)

// as is the work of a role that is granted both servers.
func as(role contract.Role, mutates bool) *work {
	return &work{bound: bound{Contract: contract.Contract{Role: role, Mutates: mutates, Servers: []string{"sea", "shore"}}}}
}

// TestAllow breaks each rule that stands before an act, the permit's last.
func TestAllow(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Toolbox.Run = [][]string{{"go", "test"}, {"git"}}
	cfg.Servers = []config.Server{{Name: "sea", Tools: []string{"level", "raise"}, Reads: []string{"level"}}, {Name: "shore", Tools: []string{"*"}, TrustHints: true}}
	d := &drain{at: &snapshot{cfg: cfg}}
	c := &claim{task: board.Task{Commands: [][]string{{"make", "check"}}}}
	policy := lint.Options{Paths: []string{"cmd/**", "knowledge/**"}, Protect: []string{"cmd/gate.go"}}
	at := session.Desk{Tree: t.TempDir(), Home: t.TempDir(), Temp: t.TempDir()}
	asked := &work{change: &change{}}
	for _, tt := range []struct {
		name, code string
		err        error
	}{
		{"no path of the repository", "protected_path", d.allowsPath(asked, policy, "../x")},
		{"a hook", "protected_path", d.allowsPath(asked, policy, ".GIT/hooks/pre-commit")},
		{"protected by odd.toml", "protected_path", d.allowsPath(asked, policy, "cmd/gate.go")},
		{"no change was asked for", "change_not_asked", d.allowsPath(&work{}, policy, "cmd/x.go")},
		{"an atom as a file", "in_bundle", d.allowsPath(asked, policy, "knowledge/terms/x.md")},
		{"out of scope", "outside_scope", d.allowsPath(asked, policy, "docs/x.md")},
		{"without a permit", "no_permit", d.allowsPath(asked, policy, "cmd/x.go")},
		{"nobody listed it", "command_not_allowed", d.allowsCommand(c, policy, at, []string{"rm", "-rf", "."})},
		{"half of what is listed", "command_not_allowed", d.allowsCommand(c, policy, at, []string{"go"})},
		{"listed, and never allowed", "command_not_allowed", d.allowsCommand(c, policy, at, []string{"git", "push"})},
		{"without a desk", "command_not_allowed", d.allowsCommand(c, policy, session.Desk{}, []string{"go", "test"})},
		{"listed", "", d.allowsCommand(c, policy, at, []string{"go", "test", "./..."})},
		{"the task's own check", "", d.allowsCommand(c, policy, at, []string{"make", "check"})},
		{"a tool that reads", "", d.allowsTool(as(contract.Explorer, false), session.Act{Tool: "mcp_sea_level"})},
		{"a tool that may change things, of who may not", "read_only_contract", d.allowsTool(as(contract.Explorer, false), session.Act{Tool: "mcp_sea_raise"})},
		{"a hint that nobody trusts", "read_only_contract", d.allowsTool(as(contract.Explorer, false), session.Act{Tool: "mcp_sea_raise", Read: true})},
		{"a hint that is trusted", "", d.allowsTool(as(contract.Explorer, false), session.Act{Tool: "mcp_shore_walk", Read: true})},
		{"a tool that changes things, without a permit", "no_permit", d.allowsTool(as(contract.Builder, true), session.Act{Tool: "mcp_sea_raise"})},
		{"a tool that nobody listed", "server_not_granted", d.allowsTool(as(contract.Builder, true), session.Act{Tool: "mcp_sea_drain"})},
		{"no server", "server_not_granted", d.allowsTool(as(contract.Builder, true), session.Act{Tool: "mcp_seashore"})},
		{"a server that the contract leaves out", "server_not_granted", d.allowsTool(&work{bound: bound{Contract: contract.Contract{Role: contract.Builder}}}, session.Act{Tool: "mcp_sea_level"})},
		{"who judges", "", d.allowsTool(as(contract.Validator, false), session.Act{Tool: "mcp_sea_level"})},
		{"no contract", "server_not_granted", d.allowsTool(&work{}, session.Act{Tool: "mcp_sea_level"})},
	} {
		var no *session.Denied
		if code := ""; errors.As(tt.err, &no) {
			code = no.Code
			if code != tt.code {
				t.Errorf("%s: %v, want %q", tt.name, tt.err, tt.code)
			}
		} else if tt.code != "" {
			t.Errorf("%s: %v, want %q", tt.name, tt.err, tt.code)
		}
	}
}

// TestInlined counts a file as given only where all of it stands in the brief.
func TestInlined(t *testing.T) {
	t.Parallel()
	got := inlinedPaths([]byte("# Brief\n\nthe whole tide\n\nhalf of"), []invoke.File{{Path: "a", Text: []byte("the whole tide\n")}, {Path: "b", Text: []byte("half of it\n")}, {Path: "c"}, {Path: "a", Text: []byte("the whole tide\n")}})
	if strings.Join(got, " ") != "a" {
		t.Errorf("got %q", got)
	}
}

// TestActs keeps what odd saw, bounded.
func TestActs(t *testing.T) {
	t.Parallel()
	lines := strings.Split(strings.TrimSpace(string(encodeCalls(make([]session.Call, mostCalls+3)))), "\n")
	if n := len(lines); n != mostCalls+1 || lines[n-1] != `{"more":3}` {
		t.Errorf("%d lines, the last %s", n, lines[n-1])
	}
	data := event.SessionData{}
	tellActs(&data, session.Emission{Seen: true, Calls: []session.Call{{Status: session.CallOK}, {Status: session.CallOK}, {Status: session.CallDenied}}, Exploration: &session.Exploration{Milli: 3750, Categories: []string{"discovery"}, Unique: 2}})
	if !data.Seen || data.Calls[session.CallOK] != 2 || data.Calls[session.CallDenied] != 1 || data.Exploration.ScoreMilli != 3750 {
		t.Errorf("%v", data)
	}
}

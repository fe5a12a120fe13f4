package drain

import (
	"context"
	"strings"
	"testing"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/persona/anchor"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/invoke"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/policy"
)

// TestGrant asks the grant that a session gets: it has what odd.toml lists, and its permit
// ends with the session.
func TestGrant(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid+"[toolbox]\nrun = [[\"go\", \"test\"]]\nweb_hosts = [\"docs.example\"]\n\n[[mcp]]\nname = \"sea\"\nargv = [\"sea\"]\nwhen = \"operational\"\ntools = [\"level\"]\nreads = [\"level\"]\n", "a")
	var allow func(policy.Action) error
	place := policy.Place{Root: t.TempDir()}
	emit := policy.Action{Kind: policy.Emit, Paths: []string{"knowledge/terms/tide.md"}}
	w.answer = func(_ context.Context, r session.Request) (session.Emission, error) {
		allow = r.Allow
		for _, c := range []struct {
			code string
			policy.Action
		}{
			{"", policy.Action{Kind: policy.Read, Paths: []string{"docs/a.md"}}},
			{"change_not_asked", policy.Action{Kind: policy.Write, Paths: []string{"docs/a.md"}}},
			{"", policy.Action{Kind: policy.Run, Argv: []string{"go", "test"}, In: place}},
			{"command_not_allowed", policy.Action{Kind: policy.Run, Argv: []string{"go", "vet"}, In: place}},
			{"", policy.Action{Kind: policy.Fetch, Host: "docs.example"}},
			{"", policy.Action{Kind: policy.Call, Tool: "mcp_sea_level", Changes: true}},
			{"server_not_granted", policy.Action{Kind: policy.Call, Tool: "mcp_sea_drain", Changes: true}},
			{"", emit},
			{"no_permit", policy.Action{Kind: policy.Emit, Paths: []string{"knowledge/journal/2026-01-02-x.tsv"}}},
			{"no_permit", policy.Action{Kind: policy.Emit, Paths: []string{"docs/a.md"}}},
			{"no_permit", policy.Action{Kind: policy.Emit, Paths: []string{"knowledge/north/governance/lease.md"}}},
		} {
			if err := allow(c.Action); policy.CodeOf(err) != c.code {
				t.Errorf("%s %q %q %s: %v, want %q", c.Kind, c.Paths, c.Argv, c.Tool, err, c.code)
			}
		}
		return says(term("tide")), nil
	}
	w.must()
	if err := allow(emit); policy.CodeOf(err) != "no_permit" {
		t.Errorf("after the session: %v", err)
	}
}

// TestGrantReadsOnly lets a contract that changes nothing only read, with and without a role.
func TestGrantReadsOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, "a")
	d := &drain{boardWriter: boardWriter{repo: w.repo, at: &snapshot{}}}
	for _, c := range []struct {
		contract.Contract
		reads bool
	}{
		{contract.Contract{}, true},
		{contract.Contract{Role: contract.Explorer}, true},
		{contract.Contract{Role: contract.Builder, Mutates: true}, false},
	} {
		if got := d.contracts().grantTerms("", board.Task{}, c.Contract, anchor.Constitution{}).ReadOnly; got != c.reads {
			t.Errorf("role %q: reads only %v, want %v", c.Role, got, c.reads)
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

package cmd

import (
	"testing"

	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/reconcile/policy"
)

// TestPermissionRows tells what an agent cannot do although odd.toml lists it.
func TestPermissionRows(t *testing.T) {
	t.Parallel()
	terms := policy.Terms{Files: true, Paths: []string{"docs/**"}, Commands: [][]string{{"go", "test"}}, Checks: [][]string{{"make", "docs"}}, Hosts: []string{"docs.example"}}
	for _, c := range []struct {
		name, row, want string
		drain.Permissions
	}{
		{"all tools", "fetches", "docs.example", drain.Permissions{Agent: "openai", Asks: true, Tools: []string{"web-search"}}},
		{"no tool", "fetches", "nothing: the contract does not have the tool web-search", drain.Permissions{Agent: "openai", Asks: true, Tools: []string{}}},
		{"no tool", "writes", "nothing: the contract does not have the tool write or edit", drain.Permissions{Agent: "openai", Asks: true, Tools: []string{}}},
		{"no tool", "runs", "nothing: the contract does not have the tool exec", drain.Permissions{Agent: "openai", Asks: true, Tools: []string{}}},
		{"all tools", "runs", "go test ..., make docs", drain.Permissions{Agent: "openai", Asks: true, Tools: []string{"exec"}}},
		{"tools of its own", "runs", "go test ..., make docs ...", drain.Permissions{Agent: "claude", Asks: true}},
		{"tools of its own", "fetches", "docs.example", drain.Permissions{Agent: "acp", Asks: true}},
		{"not asked", "fetches", "what the sandbox lets it reach", drain.Permissions{Agent: "exec"}},
		{"built in", "fetches", "nothing: it is built in", drain.Permissions{Agent: "extract"}},
	} {
		c.Grant = terms
		for _, row := range permissionRows(c.Permissions) {
			if row[0] == c.row && row[1] != c.want {
				t.Errorf("%s: %s: %q, want %q", c.name, row[0], row[1], c.want)
			}
		}
	}
}

package tasks

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
		{"not asked", "reads", "its whole scratch clone, .git too, and the system's programs; by [sandbox] read and write also /opt, /srv", drain.Permissions{Agent: "exec", Sandbox: &drain.Confinement{Network: "none", Read: []string{"/opt"}, Write: []string{"/srv"}}}},
		{"not asked", "fetches", `nothing: [sandbox] network = "none"`, drain.Permissions{Agent: "exec", Sandbox: &drain.Confinement{Network: "none"}}},
		{"not asked", "fetches", `only servers that it starts itself: [sandbox] network = "loopback"`, drain.Permissions{Agent: "exec", Sandbox: &drain.Confinement{Network: "loopback"}}},
		{"not confined", "runs", `any program that your user can run: [sandbox] enforce = "off"`, drain.Permissions{Agent: "exec", Sandbox: &drain.Confinement{Enforce: "off", Network: "none"}}},
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

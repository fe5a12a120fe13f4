// Package policytest has actions and what one grant answers. Every adapter makes each
// action it can translate out of a call of its own, and must get the same code.
package policytest

import "github.com/odd-cli/odd/reconcile/policy"

// Terms are those of the grant that the rows are about.
func Terms() policy.Terms {
	return policy.Terms{
		Role: "builder", Files: true, Paths: []string{"docs/**", "cmd/**", "knowledge/**", "*"}, Bundle: "knowledge",
		Allow: []string{"docs/**", "knowledge/**", "*"}, Deny: []string{"docs/law/**"}, Protect: []string{"docs/gate.md"},
		Commands: [][]string{{"go", "test"}, {"git"}}, Checks: [][]string{{"make", "check"}}, Hosts: []string{"docs.example"},
		Servers: []policy.Server{{Prefix: "mcp_sea_", Tools: []string{"mcp_sea_level"}, Reads: []string{"mcp_sea_level"}}},
	}
}

// Grant is compiled from the terms, under a permit that holds.
func Grant(t policy.Terms) policy.Grant {
	return policy.Compile(t, policy.Live{Holds: func() error { return nil }})
}

// Row is an action and the code of its refusal, "" where it is allowed.
type Row struct {
	policy.Action
	Code string
}

// Rows are the actions. The folder docs is there; the files that are written are not.
func Rows() []Row {
	row := func(code string, a policy.Action) Row { return Row{a, code} }
	path := func(code string, k policy.Kind, p string) Row {
		return row(code, policy.Action{Kind: k, Paths: []string{p}})
	}
	run := func(code string, argv ...string) Row { return row(code, policy.Action{Kind: policy.Run, Argv: argv}) }
	return []Row{
		path("path_outside_repo", policy.Read, "../x"),
		path("protected_path", policy.Read, ".git/config"),
		path("protected_path", policy.Read, ".GIT/config"),
		path("", policy.Write, "docs/new.md"),
		path("path_outside_repo", policy.Write, "../x"),
		path("protected_path", policy.Write, ".git/hooks/pre-commit"),
		path("protected_path", policy.Write, "odd.toml"),
		path("protected_path", policy.Write, "docs/.env"),
		path("protected_path", policy.Write, ".claude/settings.json"),
		path("protected_path", policy.Write, "docs/gate.md"),
		path("protected_path", policy.Write, "docs/Gate.md"),
		path("in_bundle", policy.Write, "knowledge/terms/x.md"),
		path("in_bundle", policy.Write, "knowledge"),
		path("outside_scope", policy.Write, "lib/x.go"),
		path("no_permit", policy.Write, "cmd/x.go"),
		path("no_permit", policy.Write, "docs/law/x.md"),
		path("no_permit", policy.Write, "docs/LAW/x.md"),
		run("", "go", "test", "./..."),
		run("command_not_allowed", "go"),
		run("command_not_allowed", "rm", "-rf", "."),
		run("command_not_allowed", "git", "push"),
		run("command_not_allowed", "sudo", "go", "test"),
		row("", policy.Action{Kind: policy.Call, Tool: "mcp_sea_level", Changes: true}),
		row("host_not_allowed", policy.Action{Kind: policy.Fetch, Host: "evil.example"}),
	}
}

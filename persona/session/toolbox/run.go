package toolbox

import (
	"context"
	"strings"

	"github.com/odd-cli/odd/reconcile/policy"
)

// runners are the tools that start a program on the desk.
func runners(b *Box) []entry {
	var checks []string
	for _, k := range b.o.Checks {
		checks = append(checks, k.Name)
	}
	return []entry{
		{Tool: Tool{Name: "run", Mutates: true, Description: "Runs a command in the repository's tree, without a shell: nothing is expanded, piped or redirected. It may begin: " + beginnings(b.o.Commands)},
			kind: policy.Run, grant: "exec", argv: func(c *call) []string { return c.args.words["argv"] }, do: runCommand,
			params: []param{{name: "argv", kind: isWords, must: true, about: "the words of the command, the program first"}}},
		{Tool: Tool{Name: "run_tests", Mutates: true, Description: "Runs the project's own checks, by name."},
			kind: policy.Run, grant: "exec", argv: check, do: runCommand,
			params: []param{{name: "name", kind: isText, must: true, oneOf: checks, about: "which of them"}}},
	}
}

func beginnings(list [][]string) string {
	var out []string
	for _, argv := range list {
		out = append(out, strings.Join(argv, " "))
	}
	return strings.Join(out, "; ")
}

// check is the command of a named check.
func check(c *call) []string {
	for _, k := range c.b.o.Checks {
		if k.Name == c.args.text("name") {
			return k.Argv
		}
	}
	return nil
}

// runCommand runs a command that was let through.
func runCommand(ctx context.Context, c *call) (string, error) {
	argv := c.argv(c)
	c.b.mu.Lock()
	c.b.ran = true
	c.b.mu.Unlock()
	r := c.b.o.Runner(ctx, argv, c.b.tree.desk)
	out := strings.ReplaceAll(string(r.Output), c.b.tree.desk.Tree, "")
	switch {
	case !r.Done:
		return "", failf("not_run", "%s: %s %s\n%s", argv[0], r.Fault, r.Detail, out)
	case r.Exit != 0:
		return "", failf("exit", "%s ended with %d\n%s", argv[0], r.Exit, out)
	}
	return argv[0] + " ended well\n" + out, nil
}

package toolbox

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/odd-cli/odd/persona/session"
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
			kind: session.Execute, grant: "exec", argv: func(c *call) []string { return c.args.words["argv"] }, do: runCommand,
			params: []param{{name: "argv", kind: isWords, must: true, about: "the words of the command, the program first"}}},
		{Tool: Tool{Name: "run_tests", Mutates: true, Description: "Runs the project's own checks, by name."},
			kind: session.Execute, grant: "exec", argv: check, do: runCommand,
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

// whyNotRun says why a command may not run: nobody listed it, or the iron gate
// forbids what it would do.
func (c *call) whyNotRun() string {
	argv := c.argv(c)
	if len(argv) == 0 || argv[0] == "" {
		return "argv: names no program"
	}
	begins := func(list []string) bool {
		return len(list) > 0 && len(argv) >= len(list) && slices.Equal(list, argv[:len(list)])
	}
	own := slices.ContainsFunc(c.b.o.Checks, func(k Check) bool { return slices.Equal(k.Argv, argv) })
	if !own && !slices.ContainsFunc(c.b.o.Commands, begins) {
		return fmt.Sprintf("%q is not listed; a command may begin: %s", clip(strings.Join(argv, " "), 200), beginnings(c.b.o.Commands))
	}
	allow := slices.Clone(c.b.o.Commands)
	for _, k := range c.b.o.Checks {
		allow = append(allow, k.Argv)
	}
	d := c.b.tree.desk
	v := policy.JudgeArgv(argv, policy.CommandPolicy{Allow: allow, Protect: c.b.o.Protect, Root: d.Tree, Outside: []string{d.Temp, d.Home}, Files: os.DirFS(d.Tree)})
	var whys []string
	for _, f := range v.Findings {
		if f.Severity == policy.Hard {
			whys = append(whys, f.Text+"; "+f.Fix+" ["+f.Code+"]")
		}
	}
	return strings.Join(whys, "\n")
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

package toolbox

import (
	"context"
	"strings"

	"github.com/odd-cli/odd/reconcile/policy"
)

// runTools are the tools that start a program on the desk.
func runTools(b *Box) []entry {
	var checks []string
	for _, k := range b.o.Checks {
		checks = append(checks, k.Name)
	}
	return []entry{
		{Tool: Tool{Name: "run", Mutates: true, Description: "Runs a command in the repository's tree, without a shell: nothing is expanded, piped or redirected. It may begin: " + formatCommands(b.o.Commands)},
			kind: policy.Run, grant: "exec", argv: func(c *call) []string { return c.args.getWords("argv") }, do: runCommand,
			params: []param{{name: "argv", kind: isWords, must: true, about: "the words of the command, the program first"}}},
		{Tool: Tool{Name: "run_tests", Mutates: true, Description: "Runs the project's own checks, by name."},
			kind: policy.Run, grant: "exec", argv: checkArgv, do: runCommand,
			params: []param{{name: "name", kind: isText, must: true, oneOf: checks, about: "which of them"}}},
	}
}

func formatCommands(list [][]string) string {
	var out []string
	for _, argv := range list {
		out = append(out, strings.Join(argv, " "))
	}
	return strings.Join(out, "; ")
}

func checkArgv(c *call) []string {
	for _, k := range c.b.o.Checks {
		if k.Name == c.args.getText("name") {
			return k.Argv
		}
	}
	return nil
}

func runCommand(ctx context.Context, c *call) (string, error) {
	argv := c.argv(c)
	c.b.mu.Lock()
	c.b.ran = true
	c.b.mu.Unlock()
	r := c.b.o.Runner(ctx, argv, c.b.tree.desk)
	out := strings.ReplaceAll(string(r.Output), c.b.tree.desk.Tree, "")
	switch {
	case !r.Done:
		return "", failWith("not_run", "%s: %s %s\n%s", argv[0], r.Fault, r.Detail, out)
	case r.Exit != 0:
		return "", failWith("exit", "%s ended with %d\n%s", argv[0], r.Exit, out)
	}
	return argv[0] + " ended well\n" + out, nil
}

// historyTools are the tools that ask what came before, and what the session changed
// since. They look at commits up to the base and at the desk's files, never into the
// desk's own repository, which a session may have written.
func historyTools() []entry {
	where := param{name: "path", kind: isText, about: "a file or folder from the top of the repository; all of it without one"}
	tool := func(name, about string, do func(context.Context, *call) (string, error), params ...param) entry {
		return entry{Tool: Tool{Name: name, Description: about}, path: "path", grant: "fetch", do: do, params: params}
	}
	rev := func(name, about string) param { return param{name: name, kind: isText, most: 64, about: about} }
	diff := tool("git_diff", "Shows what you changed in the scratch clone so far or, with from or to, what changed between two commits up to the base.", gitDiff, where,
		rev("from", "a commit's id, or at least seven signs of it; the one before to where only to is given"), rev("to", "a commit's id; the base where only from is given"))
	diff.lone = true // a tool may be writing what it looks at
	return []entry{
		diff,
		tool("git_log", "Lists the commits that lead to the base, newest first.", gitLog, where,
			param{name: "most", kind: isInt, most: 200, about: "how many; 20 without it"}),
		tool("git_blame", "Shows which commit each line of a file is from.", gitBlame,
			param{name: "path", kind: isText, must: true, about: "the file"},
			param{name: "first", kind: isInt, most: 1 << 30, about: "the first line, from 1"},
			param{name: "last", kind: isInt, most: 1 << 30, about: "the last line; at most 200 lines are shown"}),
	}
}

func gitLog(ctx context.Context, c *call) (string, error) {
	return answerOf(c.b.o.Request.History.Log(ctx, c.at, max(c.args.getInt("most", 20), 1)))
}

func gitDiff(ctx context.Context, c *call) (string, error) {
	for _, name := range []string{"from", "to"} {
		if v := c.args.getText(name); v != "" && !commitID(v) {
			return "", failWith("bad_arguments", "%s: want a commit's id in hex, at least seven signs of it", name)
		}
	}
	if work := c.b.o.Request.History.Work; work != nil && c.b.tree.root != nil && c.args.getText("from")+c.args.getText("to") == "" {
		return answerOf(work(ctx, c.at))
	}
	return answerOf(c.b.o.Request.History.Diff(ctx, c.args.getText("from"), c.args.getText("to"), c.at))
}

// blamed is how many lines one call shows.
const blamed = 200

func gitBlame(ctx context.Context, c *call) (string, error) {
	first := max(c.args.getInt("first", 1), 1)
	last := min(c.args.getInt("last", first+blamed-1), first+blamed-1)
	if last < first {
		return "", failWith("bad_arguments", "last: is before first")
	}
	return answerOf(c.b.o.Request.History.Blame(ctx, c.at, first, last))
}

func answerOf(text string, err error) (string, error) {
	if err != nil {
		return "", failWith("history", "%s", err.Error())
	}
	if text == "" {
		text = "nothing"
	}
	return text, nil
}

// commitID reports what names one commit and nothing else: no branch, no option.
func commitID(s string) bool {
	if len(s) < 7 || len(s) > 64 {
		return false
	}
	return strings.Trim(s, "0123456789abcdef") == ""
}

package toolbox

import "context"

// historians are the tools that ask what came before, and what the session changed
// since. They look at commits up to the base and at the desk's files, never into the
// desk's own repository, which a session may have written.
func historians() []entry {
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
	return answerOf(c.b.o.Request.History.Log(ctx, c.at, max(c.args.num("most", 20), 1)))
}

func gitDiff(ctx context.Context, c *call) (string, error) {
	for _, name := range []string{"from", "to"} {
		if v := c.args.text(name); v != "" && !commitID(v) {
			return "", failf("bad_arguments", "%s: want a commit's id in hex, at least seven signs of it", name)
		}
	}
	if work := c.b.o.Request.History.Work; work != nil && c.b.tree.root != nil && c.args.text("from")+c.args.text("to") == "" {
		return answerOf(work(ctx, c.at))
	}
	return answerOf(c.b.o.Request.History.Diff(ctx, c.args.text("from"), c.args.text("to"), c.at))
}

// blamed is how many lines one call shows.
const blamed = 200

func gitBlame(ctx context.Context, c *call) (string, error) {
	first := max(c.args.num("first", 1), 1)
	last := min(c.args.num("last", first+blamed-1), first+blamed-1)
	if last < first {
		return "", failf("bad_arguments", "last: is before first")
	}
	return answerOf(c.b.o.Request.History.Blame(ctx, c.at, first, last))
}

// answerOf returns an answer of the history.
func answerOf(text string, err error) (string, error) {
	if err != nil {
		return "", failf("history", "%s", err.Error())
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
	for _, r := range s {
		if (r < '0' || r > '9') && (r < 'a' || r > 'f') {
			return false
		}
	}
	return true
}

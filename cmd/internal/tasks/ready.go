package tasks

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/runs"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/reconcile/policy"
)

// asksFor says what a person lets happen by making t ready: who filed it, what
// session it asks for and what that may cost. An agent may have filed the task,
// and have chosen all of it.
func asksFor(t board.Task, roles map[string]contract.Role) string {
	var b strings.Builder
	say := func(name, value string) {
		if value != "" && value != "0" {
			fmt.Fprintf(&b, "  %s: %s\n", name, console.OneLine(okf.Visible(value)))
		}
	}
	fmt.Fprintf(&b, "%s\n", console.OneLine(okf.Visible(cmp.Or(t.Title, string(t.ID)))))
	if t.Atom != nil {
		say("filed by", t.Atom.Generated.By)
	}
	say("role", t.Role)
	if as := t.Contracted(roles); as != contract.General || t.ContractRole != "" {
		say("session role", string(as))
	}
	say("profile", t.Persona)
	say("kind of output", string(t.Surface))
	say("engagement", string(t.Engagement))
	say("works on", t.Artifact)
	say("uses handoffs", strings.Join(t.Handoffs, ", "))
	say("reads", strings.Join(t.Inputs, ", "))
	say("may change", strings.Join(t.Paths, ", "))
	for _, argv := range t.Commands {
		say("runs", strings.Join(argv, " "))
	}
	if t.Budget > 0 {
		say("may cost", "$"+t.Budget.String())
	}
	say("turns at most", strconv.Itoa(t.MaxTurns))
	return b.String()
}

func runTaskReady(c *cli.Context, env console.Env) error {
	names := c.Args().Slice()
	if len(names) < 2 {
		name, err := workspace.TaskArg(c, env)
		if err != nil {
			return err
		}
		names = []string{name}
	}
	v, tasks, freed, err := openReadyable(c.Context, env, names)
	if err != nil {
		return err
	}
	list, rows := []map[string]string{}, [][]string{}
	for _, id := range freed {
		list = append(list, map[string]string{"task": id, "state": string(board.Ready)})
		rows = append(rows, []string{id, string(board.Ready)})
	}
	if len(tasks) > 0 {
		by, commit, err := makeReady(c.Context, v, tasks, c.Bool("yes"))
		if err != nil {
			return err
		}
		for _, t := range tasks {
			list = append(list, map[string]string{"task": string(t.ID), "state": string(board.Ready), "by": by, "commit": string(commit)})
			rows = append(rows, []string{string(t.ID), string(board.Ready), by, console.ShortID(commit)})
		}
	}
	if len(list) == 1 {
		return console.Show(env, c.Bool("json"), list[0], rows...)
	}
	return console.Show(env, c.Bool("json"), list, rows...)
}

// makeReady asks the person about the tasks, and makes all of them ready by one commit.
func makeReady(ctx context.Context, v *workspace.Board, tasks []board.Task, signed bool) (by string, commit repo.OID, err error) {
	ids := make([]string, len(tasks))
	var says strings.Builder
	for i, t := range tasks {
		ids[i] = string(t.ID)
		says.WriteString(asksFor(t, v.Config.Contract.Roles))
		for _, m := range PreflightTask(ctx, v, t) {
			says.WriteString("  warning: odd drain would refuse it: " + console.OneLine(okf.Visible(m)) + "\n")
		}
	}
	want, subject := ids[0], fmt.Sprintf("board: %s is ready", ids[0])
	if len(ids) > 1 {
		want = fmt.Sprintf("%d %s", len(ids), ids[0])
		subject = fmt.Sprintf("board: %d tasks are ready, %s first", len(ids), ids[0])
	}
	h, err := land.Confirm(ctx, v.Clone, says.String(), "task ready "+strings.Join(ids, " "), want, signed)
	if err != nil {
		return "", "", err
	}
	ch, pairs := repo.Changes{}, []string{}
	for _, t := range tasks {
		if ch[v.RepoPath(t.Path)], err = review.Ready(t, h); err != nil {
			return "", "", err
		}
		pairs = append(pairs, "Odd-Task", string(t.ID))
	}
	commit, err = land.CommitFiles(ctx, v, ch, land.Message(subject, "", append(pairs, "Odd-Ready-By", h.By())...))
	return h.By(), commit, err
}

// openReadyable returns the named tasks that a person can make ready, each once. A task that a
// killed drain held is freed first, and is ready by that: a person had allowed it before.
func openReadyable(ctx context.Context, env console.Env, names []string) (v *workspace.Board, tasks []board.Task, freed []string, err error) {
	for i, name := range names {
		var t board.Task
		if v, t, err = (workspace.Options{Fetch: i == 0, Tasks: true}).OpenTask(ctx, env, name); err != nil {
			return nil, nil, nil, err
		}
		if t.State == board.InProgress && slices.Contains(runs.FreeKilled(ctx, v.Clone), t.ID) {
			if v, t, err = (workspace.Options{Fetch: true, Tasks: true}).OpenTask(ctx, env, name); err != nil {
				return nil, nil, nil, err
			}
			if t.State == board.Ready {
				freed = append(freed, string(t.ID))
				continue
			}
		}
		if slices.ContainsFunc(tasks, func(other board.Task) bool { return other.ID == t.ID }) {
			return nil, nil, nil, verb.Usage("task ready: %s is named twice", t.ID)
		}
		if err = review.Readyable(t); err != nil {
			return nil, nil, nil, err
		}
		tasks = append(tasks, t)
	}
	return v, tasks, freed, nil
}

func runTaskPermissions(c *cli.Context, env console.Env, name string) error {
	w, o, _, err := runs.Open(c.Context, env)
	if err != nil {
		return err
	}
	o.Task, o.Progress = name, nil
	p, err := drain.PermissionsFor(c.Context, w.Repo, o)
	if err != nil {
		return err
	}
	return console.Show(env, c.Bool("json"), p, permissionRows(p)...)
}

func permissionRows(p drain.Permissions) [][]string {
	g := p.Grant
	held := "a program that acts without asking; only the sandbox confines it, and odd checks what it hands over"
	switch {
	case p.Asks && p.Sandbox != nil:
		held = "odd asks its rules before each act that the program tells of; any other act, only the sandbox confines"
	case p.Asks:
		held = "odd asks its rules before each act"
	case p.Agent == "extract" || p.Agent == "replay":
		held = "built in; it only reads, and hands over atoms"
	}
	if len(p.Next) > 0 {
		held += "; if its connection fails, " + strings.Join(p.Next, " or ") + " takes over, and these rows may differ"
	}
	has := func(tool string) bool { return p.Tools == nil || slices.Contains(p.Tools, tool) }
	const lacks = "nothing: the contract does not have the tool "
	write, hands := strings.Join(g.Paths, ", "), g.Writable()
	switch {
	case g.ReadOnly:
		write = "nothing: the role " + g.Role + " only reads"
	case !g.Files:
		write = "nothing: the task asks for atoms only; odd task edit --path lets it change files"
	case !has("write") && !has("edit"):
		write = lacks + "write or edit"
	case g.Bundle != "":
		write += "; nothing below " + g.Bundle + "/: files there come only from the atoms that it emits"
	}
	if !p.Permit {
		hands = "nothing: [anchor] mode untracked gives no write permit"
	}
	reads := "every file of its scratch clone but .git"
	runs := orNone(g.Runs(p.Tools == nil), "nothing: [toolbox] run and the task's commands list nothing")
	switch {
	case g.ReadOnly:
		runs = write
	case !has("exec"):
		runs = lacks + "exec"
	}
	fetches := orNone(g.Hosts, "nothing: [toolbox] web_hosts lists no host")
	switch {
	case p.Agent == "claude":
		fetches = "nothing: odd refuses the web tools of claude"
	case !has("web-search"):
		fetches = lacks + "web-search"
	case !p.Asks:
		fetches = "nothing: it is built in"
	}
	if p.Sandbox != nil && !p.Asks {
		reads, runs, fetches = confinedRows(*p.Sandbox)
	}
	var call []string
	none := "nothing: no [[mcp]] server is granted"
	if p.Agent == "exec" {
		none = "nothing: odd hands no [[mcp]] server to substrate exec"
	}
	for _, s := range g.Servers {
		call = append(call, callableTools(s, g.ReadOnly, p.Tools != nil)...)
		if g.ReadOnly {
			none = write + ", and [[mcp]] reads lists no tool"
		}
	}
	never := "files that govern, record, configure agents or CI, or hold credentials"
	if len(g.Protect) > 0 {
		never += "; " + strings.Join(g.Protect, ", ")
	}
	return [][]string{
		{"agent", p.Agent + ": " + held},
		{"reads", reads},
		{"writes", write},
		{"hands over", hands},
		{"never", never},
		{"runs", runs},
		{"fetches", fetches},
		{"calls", orNone(call, none)},
	}
}

// confinedRows say what a program may read, run and fetch that only the sandbox confines.
func confinedRows(s drain.Confinement) (reads, runs, fetches string) {
	if s.Enforce == "off" {
		const off = `: [sandbox] enforce = "off"`
		return "every file that your user can read" + off, "any program that your user can run" + off, "any host" + off
	}
	reads = "its whole scratch clone, .git too, and the system's programs"
	if more := slices.Concat(s.Read, s.Write); len(more) > 0 {
		reads += "; by [sandbox] read and write also " + strings.Join(more, ", ")
	}
	reach := map[string]string{"allow": "any host", "loopback": "only servers that it starts itself", "none": "nothing"}[s.Network]
	return reads, "any program that it can read, inside the sandbox; odd status --sandbox shows what holds here", reach + `: [sandbox] network = "` + s.Network + `"`
}

// callableTools lists the tools of a server that may be called. An agent that hears what the
// server says of its tools may, while it only reads, use those of a trusted one besides
// those that a person lists as reading.
func callableTools(s policy.Server, readOnly, hears bool) []string {
	tools := s.Tools
	if s.Every {
		tools = []string{s.Prefix + "*"}
	}
	if !readOnly {
		return tools
	}
	reads := slices.Clone(s.Reads)
	if others := slices.DeleteFunc(slices.Clone(tools), func(tool string) bool { return slices.Contains(reads, tool) }); s.Trust && hears && len(others) > 0 {
		reads = append(reads, strings.Join(others, ", ")+" (those that say they change nothing)")
	}
	return reads
}

func orNone(list []string, none string) string { return cmp.Or(strings.Join(list, ", "), none) }

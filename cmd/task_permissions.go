package cmd

import (
	"cmp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/reconcile/policy"
)

func taskPermissions(env Env) *cli.Command {
	return command(&cli.Command{
		Name:         "permissions",
		Usage:        "show what an agent may read, write, run and call for a task",
		ArgsUsage:    "TASK",
		BashComplete: completeTasks(env),
		Description: "odd task permissions read-the-handbook\n\n" +
			"It shows what odd drain would allow the task's agent, before the agent runs:\n" +
			"from the task, its role, odd.toml and the files that no agent may write.\n" +
			"Whatever is not listed is refused.",
		Flags:  []cli.Flag{jsonFlag()},
		Action: do(env, runTaskPermissions),
	})
}

func runTaskPermissions(c *cli.Context, env Env) error {
	name, err := taskArg(c, env)
	if err != nil {
		return err
	}
	w, err := openWorkspace(c.Context, env)
	if err != nil {
		return err
	}
	o, err := w.drainOptions()
	if err != nil {
		return err
	}
	o.Task = name
	p, err := drain.PermissionsFor(c.Context, w.repo, o)
	if err != nil {
		return err
	}
	return show(env, c.Bool("json"), p, permissionRows(p)...)
}

// permissionRows say what a grant allows, a line for each kind of action.
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
		call = append(call, callable(s, g.ReadOnly, p.Tools != nil)...)
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

// callable lists the tools of a server that may be called. An agent that hears what the
// server says of its tools may, while it only reads, use those of a trusted one besides
// those that a person lists as reading.
func callable(s policy.Server, readOnly, hears bool) []string {
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

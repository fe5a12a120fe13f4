package cmd

import (
	"cmp"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/drain"
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
	held := "odd does not ask about its acts; the sandbox holds it, and odd judges what it hands over"
	switch {
	case p.Asks:
		held = "odd asks its rules before each act"
	case p.Agent == "extract" || p.Agent == "replay":
		held = "built in; it only reads, and hands over atoms"
	}
	write, hands := strings.Join(g.Paths, ", "), g.Writable()
	switch {
	case g.ReadOnly:
		write = "nothing: the role " + g.Role + " only reads"
	case !g.Files:
		write = "nothing: the task asks for atoms only; odd task edit --path lets it change files"
	case g.Bundle != "":
		write += "; in " + g.Bundle + "/ only by atoms"
	}
	if !p.Permit {
		hands = "nothing: [anchor] mode untracked gives no write permit"
	}
	var run, call []string
	for _, argv := range g.Commands {
		run = append(run, strings.Join(argv, " "))
	}
	for _, s := range g.Servers {
		if s.Every {
			call = append(call, s.Prefix+"*")
		} else {
			call = append(call, s.Tools...)
		}
	}
	runs := orNone(run, "nothing: [toolbox] run and the task's commands list nothing")
	if g.ReadOnly {
		runs = write
	}
	never := "files that govern, record, configure agents or CI, or hold credentials"
	if len(g.Protect) > 0 {
		never += "; " + strings.Join(g.Protect, ", ")
	}
	return [][]string{
		{"agent", p.Agent + ": " + held},
		{"reads", "every file of its scratch clone but .git"},
		{"writes", write},
		{"hands over", hands},
		{"never", never},
		{"runs", runs},
		{"fetches", orNone(g.Hosts, "nothing: [toolbox] web_hosts lists no host")},
		{"calls", orNone(call, "nothing: no [[mcp]] server is granted")},
	}
}

func orNone(list []string, none string) string { return cmp.Or(strings.Join(list, ", "), none) }

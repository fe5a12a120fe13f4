package cmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/cmd/internal/agents"
	"github.com/odd-cli/odd/cmd/internal/anchors"
	"github.com/odd-cli/odd/cmd/internal/approval"
	"github.com/odd-cli/odd/cmd/internal/atoms"
	"github.com/odd-cli/odd/cmd/internal/changes"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/governance"
	"github.com/odd-cli/odd/cmd/internal/history"
	"github.com/odd-cli/odd/cmd/internal/journals"
	"github.com/odd-cli/odd/cmd/internal/pages"
	"github.com/odd-cli/odd/cmd/internal/start"
	"github.com/odd-cli/odd/cmd/internal/tasks"
	"github.com/odd-cli/odd/cmd/internal/verb"
)

// summary says in one line what odd is.
const summary = "keeps a team's knowledge and tasks as files in git; agents propose changes, people approve them"

// terms explains the words that help uses most.
const terms = "An atom is one markdown note. The board is the branch that holds the tasks. A proposal is an agent's commit on a review branch."

type section struct {
	title    string
	everyday bool // shown by odd help; the others only by odd help all
	verbs    []*cli.Command
}

func verbGroups(env console.Env) []section {
	return []section{
		{"Start", true, []*cli.Command{
			start.InitVerb(env), start.DemoVerb(env), start.StatusVerb(env), start.DoctorVerb(env), start.ConfigVerb(env),
		}},
		{"Tasks and proposals", true, []*cli.Command{
			tasks.TaskVerb(env), tasks.DrainVerb(env), approval.ReviewVerb(env), approval.ApproveVerb(env), approval.RejectVerb(env), approval.UndoVerb(env), approval.SyncVerb(env),
		}},
		{"Finding work", false, []*cli.Command{tasks.SenseVerb(env)}},
		{"Knowledge and history", true, []*cli.Command{
			atoms.SearchVerb(env), atoms.GetVerb(env), history.CheckVerb(env), history.LogVerb(env), history.ExplainVerb(env),
		}},
		{"More about knowledge", false, []*cli.Command{
			atoms.KnowledgeVerb(env), atoms.CompilePersonaVerb(env), atoms.ReconcileVerb(env), journals.JournalVerb(env),
		}},
		{"Agents", false, []*cli.Command{
			agents.AgentVerb(env), anchors.AnchorVerb(env), agents.MCPVerb(env), changes.OpVerb(env),
		}},
		{"Decisions and push checks", false, []*cli.Command{governance.GateVerb(env), history.HookVerb(env)}},
		{"Pages and shell", false, []*cli.Command{pages.SiteVerb(env), pages.ServeVerb(env), completionVerb(env)}},
	}
}

// helpPage returns a page of verbs with foot at its end: the everyday ones, or all with the
// verbs below them.
func helpPage(groups []section, all bool, foot string) string {
	var b strings.Builder
	b.WriteString("odd " + summary + ".\n" + terms + "\n\nUsage: odd [-C DIR] [--no-pager] COMMAND [flags] [arguments]\n")
	wide := map[bool]int{false: 8, true: 16}[all]
	for _, g := range groups {
		if !all && !g.everyday {
			continue
		}
		fmt.Fprintf(&b, "\n%s\n", g.title)
		for _, v := range g.verbs {
			fmt.Fprintf(&b, "  %-*s %s\n", wide, v.Name, v.Usage)
			var below []string
			for _, s := range v.Subcommands {
				below = append(below, s.Name)
			}
			if all && len(below) > 0 {
				fmt.Fprintf(&b, "  %-*s   %s\n", wide, "", strings.Join(below, ", "))
			}
		}
	}
	return b.String() + "\nodd help COMMAND shows a command's flags and an example" + foot + "\n"
}

// helpVerb returns odd help; helpFlag turns odd help VERB into odd VERB --help.
func helpVerb(env console.Env, groups []section) *cli.Command {
	return &cli.Command{Name: "help", Hidden: true, HideHelpCommand: true, ArgsUsage: "all|COMMAND", Action: func(c *cli.Context) error {
		if c.Args().First() != "all" {
			return printHelp(c, env, groups)
		}
		_, err := io.WriteString(c.App.Writer, helpPage(groups, true, ".\nodd -C DIR COMMAND runs it as if started in DIR. odd --version prints the version.\n"+
			"Long output goes through a pager at a terminal: ODD_PAGER, or the one that git uses. cat is none.\n"+verb.Exits))
		return err
	}}
}

func printHelp(c *cli.Context, env console.Env, groups []section) error {
	_, err := io.WriteString(c.App.Writer, helpPage(groups, false, "; odd help all lists every command.\nNext step here: "+start.NextStep(env)))
	return err
}

// stickyWriter keeps the first error of writing, which the library drops where it prints help.
type stickyWriter struct {
	io.Writer
	err error
}

func (s *stickyWriter) Write(b []byte) (int, error) {
	n, err := s.Writer.Write(b)
	if s.err == nil {
		s.err = err
	}
	return n, err
}

// Man returns the manual page odd(1): every command with its flags, examples and notes.
func Man() (string, error) {
	a := newApp(console.OS())
	describeInUsage(a.Commands)
	return a.ToManWithSection(1)
}

// describeInUsage puts the description of each command behind its usage, since the page
// shows no description by itself.
func describeInUsage(commands []*cli.Command) {
	for _, c := range commands {
		c.UsageText = ""
		if c.Description != "" {
			c.Usage += "\n\n```\n" + strings.TrimSpace(c.Description) + "\n```"
		}
		describeInUsage(c.Subcommands)
	}
}

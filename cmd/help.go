package cmd

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
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

func verbGroups(env Env) []section {
	return []section{
		{"Start", true, []*cli.Command{
			initVerb(env), demoVerb(env), statusVerb(env), doctorVerb(env), configVerb(env),
		}},
		{"Tasks and proposals", true, []*cli.Command{
			taskVerb(env), drainVerb(env), reviewVerb(env), approveVerb(env), rejectVerb(env), undoVerb(env), syncVerb(env),
		}},
		{"Finding work", false, []*cli.Command{senseVerb(env)}},
		{"Knowledge and history", true, []*cli.Command{
			searchVerb(env), getVerb(env), checkVerb(env), logVerb(env), explainVerb(env),
		}},
		{"More about knowledge", false, []*cli.Command{
			knowledgeVerb(env), compilePersona(env), reconcileVerb(env), journalVerb(env),
		}},
		{"Agents", false, []*cli.Command{
			agentVerb(env), anchorVerb(env), mcpVerb(env), opVerb(env),
		}},
		{"Decisions and push checks", false, []*cli.Command{gateVerb(env), hookVerb(env)}},
		{"Pages and shell", false, []*cli.Command{siteVerb(env), serveVerb(env), completionVerb(env)}},
	}
}

const exits = `Exit codes: 0 done, 1 failed or found problems, 2 wrong usage, 3 refused by a rule, 4 busy or paused, 130 interrupted. A message may end with a code such as [state]: odd explain state.`

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
func helpVerb(env Env, groups []section) *cli.Command {
	return &cli.Command{Name: "help", Hidden: true, HideHelpCommand: true, ArgsUsage: "all|COMMAND", Action: func(c *cli.Context) error {
		if c.Args().First() != "all" {
			return printHelp(c, env, groups)
		}
		_, err := io.WriteString(c.App.Writer, helpPage(groups, true, ".\nodd -C DIR COMMAND runs it as if started in DIR. odd --version prints the version.\n"+
			"Long output goes through a pager at a terminal: ODD_PAGER, or the one that git uses. cat is none.\n"+exits))
		return err
	}}
}

func printHelp(c *cli.Context, env Env, groups []section) error {
	_, err := io.WriteString(c.App.Writer, helpPage(groups, false, "; odd help all lists every command.\nNext step here: "+nextStep(env)))
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

// textFlag and listFlag are flags as a page of help shows them.
type (
	textFlag struct{ *cli.StringFlag }
	listFlag struct{ *cli.StringSliceFlag }
)

func (f textFlag) String() string { return flagLine(f.StringFlag.String(), f.Name) }
func (f listFlag) String() string { return flagLine(f.StringSliceFlag.String(), f.Name) }

// flagLine returns the library's line of a flag, with the flag once where it may be repeated,
// and a value called by what it is where its usage has no word for it.
func flagLine(line, name string) string {
	flag, use, _ := strings.Cut(line, "\t")
	flag, _, _ = strings.Cut(flag, " [ ")
	if bare, ok := strings.CutSuffix(flag, " value"); ok {
		flag = bare + " " + strings.ToUpper(name[strings.LastIndexByte(name, '-')+1:])
	}
	return flag + "\t" + use
}

const verbHelp = `{{.HelpName}}: {{.Usage}}

Usage: {{with .UsageText}}{{$.HelpName}}{{.}}{{end}}{{if .VisibleCommands}}{{if .UsageText}}
       {{end}}{{.HelpName}} COMMAND [flags] [arguments]

Commands
{{range .VisibleCommands}}{{if ne .Name "help"}}  {{printf "%-10s" .Name}}  {{.Usage}}
{{end}}{{end}}{{else}}
{{end}}{{if .VisibleFlags}}
Flags
{{range .VisibleFlags}}  {{.}}
{{end}}{{end}}{{if .Description}}
Example
{{indent 2 .Description}}
{{end}}
` + exits + "\n"

// nextStep says, for the end of odd help, which command comes next in the folder of
// env. It writes nothing, never fails and takes a second at most: odd status tells what
// it could not read.
func nextStep(env Env) string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	next := make(chan string, 1)
	go func() { next <- findNextStep(ctx, env) }() // a file that cannot be read in time is not waited for
	select {
	case s := <-next:
		return s
	case <-ctx.Done():
		return "odd status shows what is wrong here"
	}
}

func findNextStep(ctx context.Context, env Env) string {
	env.Stderr = io.Discard
	w, err := workspaceOf(ctx, env, true)
	switch _, reason := exitStatus(err); {
	case reason == "no-repository":
		return "odd demo makes a sample repository to try; or, in a git repository of yours, odd init"
	case reason == "no-config":
		return "odd init sets odd up in this repository"
	case err != nil:
		return "odd status shows what is wrong here"
	}
	w.tasksOnly = true
	next, err := w.nextCommand(ctx)
	if err != nil {
		return "odd status shows what is wrong here"
	}
	return next
}

// nextCommand returns what a person does next on this board; where nothing waits for one,
// what odd can do.
func (w *workspace) nextCommand(ctx context.Context) (string, error) {
	v, err := w.readCurrent(ctx)
	if err != nil {
		return "", err
	}
	loop, err := v.slowLoopOf(nil)
	if err != nil {
		return "", err
	}
	here, err := w.readClone(ctx, v.cfg.Root)
	if err != nil {
		return "", err
	}
	first := firstOfRows(v.taskRows())
	v.findRefusal(ctx, &first, here.dirty)
	_, err = fs.Stat(v.bundle, "pause.toml")
	if next := nextAct(v.readLease(loop), loop, err == nil, first, here); next != "" {
		return next, nil
	}
	return `odd task add "TITLE" adds a task`, nil
}

// Man returns the manual page odd(1): every command with its flags, examples and notes.
func Man() (string, error) {
	a := newApp(OS())
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

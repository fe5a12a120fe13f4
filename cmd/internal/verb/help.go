package verb

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf"
)

// UnknownVerb names a verb that is not among cmds, and the ones a person may have
// meant: the nearest there, or the only one of that name elsewhere in the tree. Behind is
// the verb above it, "" for none.
func UnknownVerb(a *cli.App, name string, cmds []*cli.Command, behind string) error {
	var names []string
	for _, c := range cmds {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	where := ""
	if behind != "" {
		where = behind + ": "
	}
	text := fmt.Sprintf("%sunknown command %q", where, name)
	if near := okf.Nearest(name, names); near != "" {
		return Usage("%s; did you mean odd %s?", text, strings.TrimLeft(behind+" "+near, " "))
	}
	if same := verbsNamed(a.Commands, "", name); len(same) == 1 {
		return Usage("%s; did you mean odd %s?", text, same[0])
	}
	if _, err := strconv.Atoi(name); err == nil && behind == "drain" {
		return Usage("%s; to run %s tasks: odd drain --max-tasks %[2]s", text, name)
	}
	if behind == "drain" {
		return Usage("%s; to run one task: odd drain --task %s", text, name)
	}
	if behind == "" && slices.ContainsFunc(a.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) && len(name) > 1 }) {
		return Usage("%s; did you mean odd --%s?", text, name)
	}
	if behind == "" {
		behind = "all"
	}
	return Usage("%s; see odd help %s", text, behind)
}

// verbsNamed returns the verbs of one name below cmds, as a person types them behind odd.
func verbsNamed(cmds []*cli.Command, above, name string) []string {
	var out []string
	for _, c := range cmds {
		if c.Name == name {
			out = append(out, above+c.Name)
		}
		out = append(out, verbsNamed(c.Subcommands, above+c.Name+" ", name)...)
	}
	return out
}

// unknownFlag returns what to say of a flag that c does not have.
func unknownFlag(c *cli.Context, typed string) string {
	var names []string
	if c.Command != nil {
		for _, f := range c.Command.Flags {
			names = append(names, f.Names()...)
		}
	}
	if near := okf.Nearest(strings.TrimLeft(typed, "-"), names); near != "" {
		return "unknown flag " + typed + "; did you mean --" + near + "?"
	}
	if c.Command != nil && strings.HasSuffix(c.Command.ArgsUsage, "...") {
		return "unknown flag " + typed + "; if it is a value, put -- before the values"
	}
	return "unknown flag " + typed
}

// OnUsage returns the library's error about a command line as Usage's.
func OnUsage(c *cli.Context, err error, _ bool) error {
	// The flag package says -x of a flag for which people type --x.
	text := regexp.MustCompile(`(argument: |not defined: |for flag )-(\w[\w-]+)`).ReplaceAllString(err.Error(), "$1--$2")
	if flag, ok := strings.CutPrefix(text, "flag provided but not defined: "); ok {
		text = unknownFlag(c, flag)
	}
	name := Name(c)
	if name == "" || name == c.App.Name {
		return Usage("%s; see odd help", text)
	}
	return Usage("%s: %s; see odd help %s", name, text, name)
}

// Exits ends every page of help.
const Exits = `Exit codes: 0 done, 1 failed or found problems, 2 wrong usage, 3 refused by a rule, 4 busy or paused, 130 interrupted. A message may end with a code such as [state]: odd explain state.`

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

// helpTemplate returns the page of help of a verb, whose description is its examples, an empty line, and what else
// there is to know.
func helpTemplate(description string) string {
	examples, about, _ := strings.Cut(description, "\n\n")
	if about != "" {
		about = "\n" + strings.TrimRight(about, "\n") + "\n"
	}
	if examples != "" {
		examples = "\nExamples\n  " + strings.ReplaceAll(examples, "\n", "\n  ") + "\n"
	}
	return helpHead + about + helpFlags + examples + "\n" + Exits + "\n"
}

// The parts of a page around the text of a verb, which has no {{ of a template: to quote the texts of
// all verbs would take a millisecond whenever odd starts.
const (
	helpHead = `{{.HelpName}}: {{.Usage}}

Usage: {{with .UsageText}}{{$.HelpName}}{{.}}{{end}}{{if .VisibleCommands}}{{if .UsageText}}
       {{end}}{{.HelpName}} COMMAND [flags] [arguments]

Commands
{{range .VisibleCommands}}{{if ne .Name "help"}}  {{printf "%-11s" .Name}}  {{.Usage}}
{{end}}{{end}}{{else}}
{{end}}`
	helpFlags = `{{if .VisibleFlags}}
Flags
{{range .VisibleFlags}}  {{.}}
{{end}}{{end}}`
)

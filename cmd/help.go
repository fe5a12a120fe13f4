package cmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

// group is one block of odd help.
type group struct {
	title string
	verbs []*cli.Command
}

// verbs lists every verb in help order. A new verb is one line here.
func verbs(env Env) []group {
	return []group{
		{"start", []*cli.Command{
			initVerb(env), demo(env), statusVerb(env), syncVerb(env),
		}},
		{"knowledge", []*cli.Command{
			check(env), get(env), search(env), related(env), expand(env), why(env), backlinks(env), graph(env), index(env), canonVerb(env),
			compilePersona(env), personaVerb(env), reconcileVerb(env), octaveVerb(env), mcpVerb(env),
		}},
		{"work", []*cli.Command{
			task(env), drainVerb(env), invokeVerb(env), observeVerb(env), handoffVerb(env), auditVerb(env), reviewVerb(env), approve(env), reject(env), opVerb(env), pause(env), resume(env), anchorVerb(env),
		}},
		{"slow loop", []*cli.Command{
			leaseVerb(env), gateVerb(env), proposalsVerb(env), decayVerb(env), decide(env), contextVerb(env),
		}},
		{"record", []*cli.Command{
			journalVerb(env), logVerb(env), hookVerb(env),
		}},
		{"shell", []*cli.Command{completion(env), versionVerb(env)}},
	}
}

const exits = `Exit codes: 0 done, 1 fault or findings, 2 usage, 3 refused by a rule, 4 busy or paused, 130 interrupted.`

// helpPage is the page odd help prints, as a template without actions.
func helpPage(groups []group) string {
	var b strings.Builder
	b.WriteString("odd: plain files, git history, no server; an agent can propose, only a person approves.\n\n")
	b.WriteString("Usage: odd [-C DIR] COMMAND [flags] [arguments]\n")
	for _, g := range groups {
		if len(g.verbs) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s\n", g.title)
		for _, v := range g.verbs {
			fmt.Fprintf(&b, "  %-16s %s\n", v.Name, v.Usage)
		}
	}
	b.WriteString("\nodd help COMMAND shows its flags and an example.\n" + exits + "\n")
	return strings.ReplaceAll(b.String(), "{{", `{{"{{"}}`)
}

// sure keeps the first error of writing, which the library drops where it prints help.
type sure struct {
	io.Writer
	err error
}

// Write implements io.Writer.
func (s *sure) Write(b []byte) (int, error) {
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

// flagLine is the library's line of a flag, with the flag once where it may be repeated,
// and a value called by what it is where its usage has no word for it.
func flagLine(line, name string) string {
	flag, use, _ := strings.Cut(line, "\t")
	flag, _, _ = strings.Cut(flag, " [ ")
	if bare, ok := strings.CutSuffix(flag, " value"); ok {
		flag = bare + " " + strings.ToUpper(name[strings.LastIndexByte(name, '-')+1:])
	}
	return flag + "\t" + use
}

const leafHelp = `{{.HelpName}}: {{.Usage}}

Usage: {{.HelpName}}{{if .VisibleFlags}} [flags]{{end}}{{if .ArgsUsage}} {{.ArgsUsage}}{{end}}
{{if .VisibleFlags}}
Flags
{{range .VisibleFlags}}  {{.}}
{{end}}{{end}}{{if .Description}}
Example
{{indent 2 .Description}}
{{end}}
` + exits + "\n"

const groupHelp = `{{.HelpName}}: {{.Usage}}

Usage: {{with .UsageText}}{{$.HelpName}}{{.}}
       {{end}}{{.HelpName}} COMMAND [flags] [arguments]

Commands
{{range .VisibleCommands}}{{if ne .Name "help"}}  {{printf "%-10s" .Name}}  {{.Usage}}
{{end}}{{end}}{{if .VisibleFlags}}
Flags
{{range .VisibleFlags}}  {{.}}
{{end}}{{end}}{{if .Description}}
Example
{{indent 2 .Description}}
{{end}}
` + exits + "\n"

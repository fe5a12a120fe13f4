package cmd

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// commandLine is what a person typed, put in the order the flag library needs.
type commandLine struct {
	args []string // program, verb path, flags, "--", arguments
	dirs []string // the values of -C, in order
	json bool
}

// arrange moves flags in front of arguments, because urfave/cli v2 takes every
// flag after the first argument for an argument, silently. "--" ends flags.
func arrange(a *cli.App, args []string) (commandLine, error) {
	line := commandLine{args: args[:1:1]}
	if slices.Contains(args, "--generate-bash-completion") {
		line.args = args
		return line, nil
	}
	args = helpFlag(args)
	var path, flags, rest []string
	cur, cmds := (*cli.Command)(nil), a.Commands
	for i := 1; i < len(args); i++ {
		t := args[i]
		switch {
		case t == "--":
			rest = append(rest, args[i+1:]...)
			i = len(args)
		case t == "-C" || strings.HasPrefix(t, "-C="):
			v, ok := strings.CutPrefix(t, "-C=")
			if !ok && i+1 == len(args) {
				return line, usage("-C needs a directory; see odd help")
			}
			if !ok {
				i++
				v = args[i]
			}
			line.dirs = append(line.dirs, v)
		case len(t) > 1 && t[0] == '-':
			flags = append(flags, t)
			line.json = line.json || t == "--json" || t == "-json"
			if takesValue(cur, cmds, t) && i+1 < len(args) {
				i++
				flags = append(flags, args[i])
			}
		default:
			if c := named(cmds, t); c != nil && len(rest) == 0 {
				path, cur, cmds = append(path, t), c, c.Subcommands
				continue
			}
			rest = append(rest, t)
		}
	}
	if len(rest) > 0 && len(cmds) > 0 { // no such verb: say that instead of showing help
		flags = slices.DeleteFunc(flags, func(f string) bool { return f == "--help" || f == "-h" })
	}
	line.args = append(line.args, path...)
	line.args = append(line.args, flags...)
	if slices.ContainsFunc(rest, func(s string) bool { return strings.HasPrefix(s, "-") && s != "-" }) {
		line.args = append(line.args, "--")
	}
	line.args = append(line.args, rest...)
	return line, nil
}

// helpFlag turns "help task add" into "task add --help", so that help has one
// page a verb and an unknown verb one message.
func helpFlag(args []string) []string {
	if len(args) < 3 || args[1] != "help" && args[1] != "h" {
		return args
	}
	return append(append([]string{args[0]}, args[2:]...), "--help")
}

func named(cmds []*cli.Command, name string) *cli.Command {
	for _, c := range cmds {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}

// takesValue reports whether the flag token t consumes the next token: a
// non-boolean flag of the verb so far, or of a verb that may still follow.
func takesValue(cur *cli.Command, cmds []*cli.Command, t string) bool {
	name := strings.TrimLeft(t, "-")
	if strings.Contains(name, "=") {
		return false
	}
	var flags []cli.Flag
	if cur != nil {
		flags = append(flags, cur.Flags...)
	}
	for _, c := range cmds {
		flags = append(flags, c.Flags...)
	}
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			d, ok := f.(cli.DocGenerationFlag)
			return ok && d.TakesValue()
		}
	}
	return false
}

package cmd

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/cmd/internal/verb"
)

// commandLine is what a person typed, put in the order the flag library needs.
type commandLine struct {
	args    []string // program, verb path, flags, "--", arguments
	verb    string   // the verb path, blanks between
	dirs    []string // the values of -C, in order
	json    bool
	noPager bool
	open    *completionRequest // asks for a completion, and for nothing else
}

// arrangeArgs moves flags in front of arguments, because urfave/cli v2 takes every
// flag after the first argument for an argument, silently. "--" ends flags.
func arrangeArgs(a *cli.App, args []string) (commandLine, error) {
	if last := len(args) - 1; last > 0 && args[last] == completionFlag {
		return unfinishedLine(a, args[1:last]), nil
	}
	args = helpFlag(args)
	r := reader{cmds: a.Commands, left: args[1:]}
	for len(r.left) > 0 {
		if err := r.readToken(r.nextToken()); err != nil {
			return r.line, err
		}
	}
	r.line.args, r.line.verb = append(args[:1:1], r.orderArguments()...), strings.Join(r.path, " ")
	return r.line, nil
}

// reader sorts the tokens of a command line.
type reader struct {
	left              []string // not read yet
	path, flags, rest []string
	cur               *cli.Command   // the verb so far
	cmds              []*cli.Command // the verbs that may follow
	line              commandLine
}

func (r *reader) nextToken() string {
	t := r.left[0]
	r.left = r.left[1:]
	return t
}

func (r *reader) readToken(t string) error {
	switch {
	case t == "--":
		r.rest, r.left = append(r.rest, r.left...), nil
	case t == "-C" || strings.HasPrefix(t, "-C="):
		v, ok := strings.CutPrefix(t, "-C=")
		if !ok && len(r.left) == 0 {
			return verb.Usage("-C needs a directory; see odd help")
		}
		if !ok {
			v = r.nextToken()
		}
		r.line.dirs = append(r.line.dirs, v)
		return nil
	case t == "--no-pager":
		r.line.noPager = true
	case len(t) > 1 && t[0] == '-':
		r.flags = append(r.flags, t)
		r.line.json = r.line.json || t == "--json" || t == "-json"
		if takesValue(r.cur, r.cmds, t) && len(r.left) > 0 {
			r.flags = append(r.flags, r.nextToken())
		}
	default:
		r.readWord(t)
	}
	return nil
}

func (r *reader) readWord(t string) {
	if t == "help" && len(r.cmds) > 0 && len(r.path) > 0 && len(r.rest) == 0 { // odd task help add
		r.flags = append(r.flags, "--help")
		return
	}
	if c := commandNamed(r.cmds, t); c != nil && len(r.rest) == 0 {
		r.path, r.cur, r.cmds = append(r.path, t), c, c.Subcommands
		return
	}
	r.rest = append(r.rest, t)
}

// orderArguments returns the verb, its flags, its arguments. Where no verb was named right,
// flags give way to the message that says so.
func (r *reader) orderArguments() []string {
	if slices.ContainsFunc(r.flags, func(f string) bool { return f == "--help" || f == "-help" || f == "-h" }) {
		switch {
		case r.cur == nil && len(r.rest) == 0:
			return []string{"help"}
		case r.cur != nil && (len(r.rest) == 0 || len(r.cmds) == 0 || r.cur.UsageText != ""):
			return append(r.path, "--help") // whatever arguments were typed
		}
	}
	if own := r.cur != nil && r.cur.ArgsUsage != ""; len(r.rest) > 0 && len(r.cmds) > 0 && !own {
		r.flags = nil
	}
	out := append(r.path, r.flags...)
	if slices.ContainsFunc(r.rest, func(s string) bool { return strings.HasPrefix(s, "-") && s != "-" }) {
		out = append(out, "--")
	}
	return append(out, r.rest...)
}

// helpFlag turns "help task add" into "task add --help", so that help has one
// page a verb and an unknown verb one message.
func helpFlag(args []string) []string {
	if len(args) < 3 || args[1] != "help" || args[2] == "all" || args[2] == "help" {
		return args
	}
	return append(append([]string{args[0]}, args[2:]...), "--help")
}

func commandNamed(cmds []*cli.Command, name string) *cli.Command {
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

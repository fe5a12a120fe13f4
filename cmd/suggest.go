package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf"
)

// unknownVerb names a verb that is not among cmds, and the ones a person may have
// meant: the nearest there, or the only one of that name elsewhere in the tree. Behind is
// the verb above it, "" for none.
func unknownVerb(a *cli.App, name string, cmds []*cli.Command, behind string) error {
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
		return usage("%s; did you mean odd %s?", text, strings.TrimLeft(behind+" "+near, " "))
	}
	if same := verbsNamed(a.Commands, "", name); len(same) == 1 {
		return usage("%s; did you mean odd %s?", text, same[0])
	}
	if behind == "" && slices.ContainsFunc(a.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) && len(name) > 1 }) {
		return usage("%s; did you mean odd --%s?", text, name)
	}
	if behind == "" {
		behind = "all"
	}
	return usage("%s; see odd help %s", text, behind)
}

// verbsNamed are the verbs of one name below cmds, as a person types them behind odd.
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

// unknownFlag is what to say of a flag that c does not have.
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
	return "unknown flag " + typed
}

// unknownCode is a fault that names the nearest code there is, or where all of them
// are listed.
func unknownCode(verb, code string, known []string) error {
	text := verb + ": unknown code \"" + code + "\"; "
	if near := okf.Nearest(code, known); near != "" {
		return errors.New(text + "did you mean " + near + "?")
	}
	return errors.New(text + "odd " + verb + " without one lists them")
}

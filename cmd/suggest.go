package cmd

import (
	"errors"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf"
)

// nearest is which of names a person may have meant, "" where none is near.
func nearest(name string, names []string) string {
	best, away := "", okf.Far
	for _, n := range names {
		if d := okf.Distance(strings.ToLower(name), strings.ToLower(n)); d < away {
			best, away = n, d
		}
	}
	return best
}

// unknownVerb names a verb that is not among cmds and the nearest that is. Behind is
// the verb above it, "" for none.
func unknownVerb(name string, cmds []*cli.Command, behind string) error {
	var names []string
	for _, c := range cmds {
		names = append(names, c.Name)
	}
	where := ""
	if behind != "" {
		where = behind + ": "
	}
	if near := nearest(name, names); near != "" {
		return usage("%sunknown command %q; did you mean %q?", where, name, near)
	}
	return usage("%sunknown command %q; see odd help%s", where, name, strings.TrimRight(" "+behind, " "))
}

// unknownFlag is what to say of a flag that c does not have.
func unknownFlag(c *cli.Context, typed string) string {
	var names []string
	if c.Command != nil {
		for _, f := range c.Command.Flags {
			names = append(names, f.Names()...)
		}
	}
	if near := nearest(strings.TrimLeft(typed, "-"), names); near != "" {
		return "unknown flag " + typed + "; did you mean --" + near + "?"
	}
	return "unknown flag " + typed
}

// unknownCode is a fault that names the nearest code there is, or where all of them
// are listed.
func unknownCode(verb, code string, known []string) error {
	text := verb + ": unknown code \"" + code + "\"; "
	if near := nearest(code, known); near != "" {
		return errors.New(text + "did you mean " + near + "?")
	}
	return errors.New(text + "odd " + verb + " without one lists them")
}

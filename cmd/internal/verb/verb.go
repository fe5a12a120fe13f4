// Package verb declares the commands of odd and turns their errors into exit codes. A verb is a
// command such as task add. New or Group declares it, with its help and its flags; Do or On checks
// its arguments and calls the function that runs it. An error of that function becomes one line on
// stderr, and one of these exit codes:
//
//	0    done
//	1    fault, or findings of check and lint (stdout tells which); that what is
//	     named is not there, or is of another kind, is a fault
//	2    usage: what no repository would take
//	3    refused by a rule; the text and the JSON name its reason code
//	4    busy or paused
//	130  interrupted
package verb

import (
	"context"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/cmd/internal/console"
)

// Declare finishes the declaration of one verb: our usage errors, our help page.
// Description has examples, a line each, then notes behind an empty line.
func Declare(c *cli.Command) *cli.Command {
	c.OnUsageError = OnUsage
	c.HideHelpCommand = true
	c.CustomHelpTemplate = helpTemplate(c.Description)
	for i, f := range c.Flags {
		switch f := f.(type) {
		case *cli.BoolFlag:
			f.DisableDefaultText = true
		case *cli.StringFlag:
			c.Flags[i] = textFlag{f}
		case *cli.StringSliceFlag:
			c.Flags[i] = listFlag{f}
		}
	}
	if c.Action != nil {
		c.UsageText = strings.TrimRight(" [flags] "+c.ArgsUsage, " ") // what it does by itself
	} else {
		c.Action = Alone(func(c *cli.Context) error { return cli.ShowSubcommandHelp(c) })
	}
	return c
}

// Alone returns the action of a verb that has others below it and does something by itself. An
// argument is then the name of a verb that is not there.
func Alone(do cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		if c.Args().Present() {
			return UnknownVerb(c.App, c.Args().First(), c.Command.Subcommands, Name(c))
		}
		return do(c)
	}
}

// New declares a verb without others below it that prints JSON too. Its name has the arguments
// behind it, as help shows them, such as "show TASK": Do checks their number by that.
func New(name, use, help string, action cli.ActionFunc, flags ...cli.Flag) *cli.Command {
	return NewText(name, use, help, action, append(flags, JSONFlag())...)
}

// NewText is New for a verb without --json.
func NewText(name, use, help string, action cli.ActionFunc, flags ...cli.Flag) *cli.Command {
	name, args, _ := strings.Cut(name, " ")
	return Declare(&cli.Command{Name: name, ArgsUsage: args, Usage: use, Description: help, Action: action, Flags: flags})
}

// Group declares a verb that only has others below it.
func Group(name, use, help string, below ...*cli.Command) *cli.Command {
	return Declare(&cli.Command{Name: name, Usage: use, Description: help, Subcommands: below})
}

// Do returns the action of a verb, which calls run with as many arguments as its usage takes.
func Do(env console.Env, run func(*cli.Context, console.Env) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		if err := checkArgs(c); err != nil {
			return err
		}
		return run(c, env)
	}
}

// checkArgs refuses fewer or more arguments than the usage of the verb names: [X] may be left
// out, X... and X… may be several.
func checkArgs(c *cli.Context) error {
	least, most := 0, 0
	for _, w := range strings.Fields(c.Command.ArgsUsage) {
		if !strings.HasPrefix(w, "[") {
			least++
		}
		if most++; strings.Contains(w, "...") || strings.Contains(w, "…") {
			most = math.MaxInt
			break
		}
	}
	switch {
	case c.NArg() > most && least == 0:
		return Usage("%s: unexpected argument %q; see odd help %[1]s", Name(c), c.Args().Get(most))
	case least == 1 && most == 1:
		return OneArg(c)
	case c.NArg() < least || c.NArg() > most:
		return Usage("%s: want %s; see odd help %[1]s", Name(c), c.Command.ArgsUsage)
	}
	return nil
}

// OneArg refuses more or fewer arguments than one.
func OneArg(c *cli.Context) error {
	if c.NArg() == 1 && c.Args().First() != "" {
		return nil
	}
	if strings.HasSuffix(c.Command.ArgsUsage, "...]") && c.NArg() == 0 {
		return Usage("%s: want one argument or more, %s; see odd help %[1]s", Name(c), c.Command.ArgsUsage)
	}
	return Usage("%s: want one argument, %s; see odd help %[1]s", Name(c), strings.TrimSuffix(strings.TrimPrefix(c.Command.ArgsUsage, "["), "...]"))
}

// OneFlag returns which of the flags is set, "" for none. Two together are an error of usage.
func OneFlag(c *cli.Context, flags ...string) (string, error) {
	set := slices.DeleteFunc(slices.Clone(flags), func(name string) bool { return !c.IsSet(name) })
	switch len(set) {
	case 0:
		return "", nil
	case 1:
		return set[0], nil
	}
	return "", Usage("%s: --%s do not go together; give one of them", Name(c), strings.Join(set, " and --"))
}

// On is Do for a verb that works on what open opens, such as a board. It closes an io.Closer
// after the verb.
func On[T any](env console.Env, open func(context.Context, console.Env) (T, error), run func(*cli.Context, console.Env, T) error) cli.ActionFunc {
	return Do(env, func(c *cli.Context, env console.Env) error {
		opened, err := open(c.Context, env)
		if err != nil {
			return err
		}
		if closes, ok := any(opened).(io.Closer); ok {
			defer closes.Close()
		}
		return run(c, env, opened)
	})
}

// Name returns the verb of a command line with the verbs above it, as a person types
// it behind odd.
func Name(c *cli.Context) string { return strings.TrimPrefix(c.Command.HelpName, c.App.Name+" ") }

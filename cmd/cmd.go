// Package cmd is odd's command line. A verb is a declaration, and a run function that
// reads the flags, calls one domain function and prints; do, on and one join the two.
//
// Stdout is data, stderr is talk. The exit codes are one table:
//
//	0    done
//	1    fault, or findings of check and lint (stdout tells which); that what is
//	     named is not there, or is of another kind, is a fault
//	2    usage: what no repository would take
//	3    refused by a rule; the text and the JSON name its reason code
//	4    busy or paused
//	130  interrupted
package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// The exit codes.
const (
	exitDone      = 0
	exitFault     = 1
	exitUsage     = 2
	exitRefused   = 3
	exitBusy      = 4
	exitInterrupt = 130
)

// Main runs odd with args (args[0] is the program) and returns its exit code.
func Main(env Env, args ...string) int {
	if code, ours := cage.Main(args); ours {
		return code
	}
	if asHook(args) {
		return failClosed(env, func() int { return runArgs(env, args) })
	}
	return runArgs(env, args)
}

func runArgs(env Env, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := newApp(env)
	line, err := arrangeArgs(a, args)
	if err != nil {
		return reportError(env, err, false)
	}
	for _, dir := range line.dirs { // each is meant from the one before, as git does
		env.Dir = env.absPath(dir)
		if st, err := os.Stat(env.Dir); err != nil || !st.IsDir() {
			return reportError(env, usage("-C %s: no such directory", dir), line.json)
		}
	}
	outer, leave := env, func() {}
	if env.Terminal && line.open == nil {
		git := repo.GitSettings(ctx, env.Dir, env.Environ, `core\.pager|color\.ui`)
		env.ColorUI = git["color.ui"]
		env, leave = pageOutput(env, line, git)
	}
	if len(line.dirs) > 0 || env.Terminal {
		a = newApp(env)
	}
	if line.open != nil {
		return reportError(env, line.open.printOffers(ctx, env), false)
	}
	if err = a.RunContext(ctx, line.args); err == nil {
		err = a.Writer.(*stickyWriter).err
	}
	leave()
	if ctx.Err() != nil && err != nil {
		err = ctx.Err()
	}
	return reportError(outer, err, line.json)
}

func newApp(env Env) *cli.App {
	groups := verbGroups(env)
	a := &cli.App{
		Name:            "odd",
		Usage:           summary,
		HideVersion:     true,
		HideHelpCommand: true,
		HideHelp:        true,
		Writer:          &stickyWriter{Writer: foldedOutput(env)},
		ErrWriter:       env.Stderr,
		// A sentence has commas: a flag that is given twice is the list.
		DisableSliceFlagSeparator: true,
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              onUsage,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "C", Usage: "run as if started in `DIR`"},
			&cli.BoolFlag{Name: "no-pager", Usage: "print long output without a pager"},
			&cli.BoolFlag{Name: "version", Aliases: []string{"v"}, Usage: "print odd's version"},
		},
		Action: func(c *cli.Context) error {
			switch {
			case c.Args().Present():
				return unknownVerb(c.App, c.Args().First(), c.App.Commands, "")
			case c.Bool("version"):
				_, err := fmt.Fprintln(c.App.Writer, versionText())
				return err
			}
			return printHelp(c, env, groups)
		},
	}
	for _, g := range groups {
		a.Commands = append(a.Commands, g.verbs...)
	}
	a.Commands = append(a.Commands, helpVerb(env, groups))
	return a
}

// command finishes the declaration of one verb: our usage errors, our help page.
// Description has examples, a line each, then notes behind an empty line.
func command(c *cli.Command) *cli.Command {
	c.OnUsageError = onUsage
	c.HideHelpCommand = true
	c.CustomHelpTemplate = verbHelp
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
		c.Action = alone(func(c *cli.Context) error { return cli.ShowSubcommandHelp(c) })
	}
	return c
}

// alone returns the action of a verb that has others below it, for when none of them is named.
func alone(do cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		if c.Args().Present() {
			return unknownVerb(c.App, c.Args().First(), c.Command.Subcommands, verbOf(c))
		}
		return do(c)
	}
}

// verb declares a verb without others below it that prints JSON too. Its name has the arguments
// behind it, as help shows them: do checks their number by that.
func verb(name, use, help string, action cli.ActionFunc, flags ...cli.Flag) *cli.Command {
	return textVerb(name, use, help, action, append(flags, jsonFlag())...)
}

// textVerb is verb for one whose output is no JSON, or always the same.
func textVerb(name, use, help string, action cli.ActionFunc, flags ...cli.Flag) *cli.Command {
	name, args, _ := strings.Cut(name, " ")
	return command(&cli.Command{Name: name, ArgsUsage: args, Usage: use, Description: help, Action: action, Flags: flags})
}

// group declares a verb that only has others below it.
func group(name, use, help string, below ...*cli.Command) *cli.Command {
	return command(&cli.Command{Name: name, Usage: use, Description: help, Subcommands: below})
}

// do returns the action of a verb, which calls run with as many arguments as its usage takes.
func do(env Env, run func(*cli.Context, Env) error) cli.ActionFunc {
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
		return usage("%s: unexpected argument %q; see odd help %[1]s", verbOf(c), c.Args().Get(most))
	case least == 1 && most == 1:
		return oneArg(c)
	case c.NArg() < least || c.NArg() > most:
		return usage("%s: want %s; see odd help %[1]s", verbOf(c), c.Command.ArgsUsage)
	}
	return nil
}

func oneArg(c *cli.Context) error {
	if c.NArg() == 1 && c.Args().First() != "" {
		return nil
	}
	return usage("%s: want one argument, %s; see odd help %[1]s", verbOf(c), strings.TrimSuffix(strings.TrimPrefix(c.Command.ArgsUsage, "["), "...]"))
}

// oneFlag returns which of the flags is set, "" for none; two exclude each other.
func oneFlag(c *cli.Context, flags ...string) (string, error) {
	set := slices.DeleteFunc(slices.Clone(flags), func(name string) bool { return !c.IsSet(name) })
	switch len(set) {
	case 0:
		return "", nil
	case 1:
		return set[0], nil
	}
	return "", usage("%s: --%s do not go together; give one of them", verbOf(c), strings.Join(set, " and --"))
}

// on is do for a verb that works on what open opens; it closes that after the verb.
func on[T any](env Env, open func(context.Context, Env) (T, error), run func(*cli.Context, Env, T) error) cli.ActionFunc {
	return do(env, func(c *cli.Context, env Env) error {
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

// usageError is a command line that cannot be meant.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

func usage(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

// verbOf returns the verb of a command line with the verbs above it, as a person types
// it behind odd.
func verbOf(c *cli.Context) string { return strings.TrimPrefix(c.Command.HelpName, c.App.Name+" ") }

func onUsage(c *cli.Context, err error, _ bool) error {
	// The flag package says -x of a flag for which people type --x.
	text := regexp.MustCompile(`(argument: |not defined: |for flag )-(\w[\w-]+)`).ReplaceAllString(err.Error(), "$1--$2")
	if flag, ok := strings.CutPrefix(text, "flag provided but not defined: "); ok {
		text = unknownFlag(c, flag)
	}
	name := verbOf(c)
	if name == "" || name == c.App.Name {
		return usage("%s; see odd help", text)
	}
	return usage("%s: %s; see odd help %s", name, text, name)
}

// exitCode is a result that is told on stdout already and only sets the code.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// refusal is cmd's own rule that said no; leaves have types of their own with the same method.
type refusal struct{ code, text string }

func (r refusal) Error() string   { return r.text }
func (r refusal) Refused() string { return r.code }

func refuse(code, format string, args ...any) error {
	return refusal{code, fmt.Sprintf(format, args...)}
}

// asFault returns err without its refusal: for a person who only looks, it is no refusal.
func asFault(err error) error { return errors.New(err.Error()) }

// exitStatus maps an error to its exit code and, for refusals, its reason code.
func exitStatus(err error) (code int, reason string) {
	var exit exitCode
	var refused interface{ Refused() string }
	var busy interface{ Busy() string }
	var lib cli.ExitCoder
	var use usageError
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE):
		return exitDone, ""
	case errors.As(err, &exit):
		return int(exit), ""
	case errors.Is(err, context.Canceled):
		return exitInterrupt, "interrupted"
	case errors.As(err, &use):
		return exitUsage, "usage"
	case errors.As(err, &busy):
		return exitBusy, busy.Busy()
	case errors.Is(err, repo.ErrBusy):
		return exitBusy, "busy"
	case errors.As(err, &refused):
		return exitRefused, refused.Refused()
	case errors.As(err, &lib):
		return exitUsage, "usage"
	}
	return exitFault, "fault"
}

// reportError prints err once and returns the exit code.
func reportError(env Env, err error, asJSON bool) int {
	code, reason := exitStatus(err)
	var exit exitCode
	if code == exitDone || errors.As(err, &exit) {
		return code
	}
	if code == exitInterrupt {
		fmt.Fprintln(env.Stderr, "odd: interrupted")
		return code
	}
	tag := ""
	if code == exitRefused || code == exitBusy {
		tag = " [" + reason + "]"
	}
	talk(env, "%s%s%s", strings.TrimRight(err.Error(), "\n"), tag, wayOut(err))
	var t shownError
	if asJSON && !errors.As(err, &t) {
		_ = printJSON(env, map[string]any{"error": errorJSON(err)})
	}
	return code
}

// wayOut returns what a person does about a disk that is full or fails; nothing where
// the error says so itself, or has another cause.
func wayOut(err error) string {
	if !repo.Faulty(err) {
		return ""
	}
	if errors.Is(err, syscall.EROFS) {
		return "; no file is half written: make it writable (mount), then run the command again"
	}
	return "; no file is half written: see to the disk (df -h, df -i), then run the command again"
}

// shownError is an error that stands in the JSON on stdout already: stdout is one document.
type shownError struct{ error }

func (t shownError) Unwrap() error { return t.error }

func shown(err error) error { return shownError{err} }

func errorJSON(err error) map[string]any {
	code, reason := exitStatus(err)
	return map[string]any{"code": code, "reason": reason, "message": secrets.RedactText(err.Error())}
}

// oddVersion returns the version of the module from the build info, "devel" where it has none.
func oddVersion() string {
	if bi, ok := debug.ReadBuildInfo(); ok && bi.Main.Version != "" && bi.Main.Version != "(devel)" {
		return bi.Main.Version
	}
	return "devel"
}

// versionText returns what --version prints: the version, and on a second line the commit
// that was built, when the build knew it.
func versionText() string {
	text := "odd " + oddVersion()
	bi, _ := debug.ReadBuildInfo()
	set := map[string]string{}
	for _, s := range bi.Settings {
		set[s.Key] = s.Value
	}
	if set["vcs.revision"] == "" {
		return text
	}
	changed := map[string]string{"true": " with changes"}[set["vcs.modified"]]
	return text + "\ncommit " + set["vcs.revision"] + changed + ", " + set["vcs.time"] + ", " + bi.GoVersion + " " + runtime.GOOS + "/" + runtime.GOARCH
}

// Package cmd is odd's command line: the table of commands, the order of arguments, help,
// completion and the pager. Each help group has a package below cmd/internal, which declares its
// verbs with package verb. A verb reads its flags, calls one domain function and prints.
package cmd

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/cmd/internal/anchors"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/session/cage"
)

// Env is the outside of odd, which a test makes for itself; OS returns the real one.
type Env = console.Env

// OS returns the real environment.
func OS() Env { return console.OS() }

// AgentVars returns the variables by which a command learns that an agent's harness started it.
func AgentVars() []string { return console.AgentVars() }

// Main runs odd with args (args[0] is the program) and returns its exit code.
func Main(env console.Env, args ...string) int {
	if code, ours := cage.Main(args); ours {
		return code
	}
	if anchors.AsHook(args) {
		return anchors.FailClosed(env, func() int { return runArgs(env, args) })
	}
	return runArgs(env, args)
}

func runArgs(env console.Env, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := newApp(env)
	line, err := arrangeArgs(a, args)
	if err != nil {
		return verb.Report(env, err, false)
	}
	for _, dir := range line.dirs { // each is meant from the one before, as git does
		env.Dir = env.AbsPath(dir)
		if st, err := os.Stat(env.Dir); err != nil || !st.IsDir() {
			return verb.Report(env, verb.Usage("-C %s: no such directory", dir), line.json)
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
		return verb.Report(env, line.open.printOffers(ctx, env), false)
	}
	if err = a.RunContext(ctx, line.args); err == nil {
		err = a.Writer.(*stickyWriter).err
	}
	leave()
	if ctx.Err() != nil && err != nil {
		err = ctx.Err()
	}
	return verb.Report(outer, err, line.json)
}

func newApp(env console.Env) *cli.App {
	groups := verbGroups(env)
	a := &cli.App{
		Name:            "odd",
		Usage:           summary,
		HideVersion:     true,
		HideHelpCommand: true,
		HideHelp:        true,
		Writer:          &stickyWriter{Writer: console.FoldedOutput(env)},
		ErrWriter:       env.Stderr,
		// A sentence has commas: a flag that is given twice is the list.
		DisableSliceFlagSeparator: true,
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              verb.OnUsage,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "C", Usage: "run as if started in `DIR`"},
			&cli.BoolFlag{Name: "no-pager", Usage: "print long output without a pager"},
			&cli.BoolFlag{Name: "version", Aliases: []string{"v"}, Usage: "print odd's version"},
		},
		Action: func(c *cli.Context) error {
			switch {
			case c.Args().Present():
				return verb.UnknownVerb(c.App, c.Args().First(), c.App.Commands, "")
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

// versionText returns what --version prints: the version, and on a second line the commit
// that was built, when the build knew it.
func versionText() string {
	text := "odd " + console.Version()
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

// SizeHeap lets the collector sleep until there are 16 MiB to look at, which most commands
// never reach; from then on the heap grows to half as much again as is alive.
func SizeHeap() {
	debug.SetGCPercent(400)
	runtime.AddCleanup(new([64]byte), func(int) { debug.SetGCPercent(50) }, 0)
}

package anchors

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/anchor"
	"github.com/odd-cli/odd/persona/session/claude"
)

func anchorGate(env console.Env) *cli.Command {
	return verb.NewText("gate", "allow or deny one tool call of an agent",
		"echo '{\"tool\": \"write\", \"paths\": [\"docs/a.md\"]}' | odd anchor gate\n"+
			"odd anchor gate --hook claude < call.json\n\n"+
			"The hook that odd anchor hook install writes runs this before each tool call.\n"+
			"Reading is allowed; writing needs a permit that covers the file. A call that\n"+
			"odd cannot judge is denied.\n\n"+
			"Without --hook, stdin is a JSON object with tool, paths, command, session and\n"+
			"cwd; stdout is the decision as JSON. Exit 0 allows, 3 denies, any other code\n"+
			"denies too. With --hook claude, it speaks Claude Code's PreToolUse format:\n"+
			"exit 0 without output allows; exit 0 with a decision denies; exit 2 is an\n"+
			"error and denies, with the reason on stderr. ODD_ANCHOR names the session if\n"+
			"the call does not.",
		verb.Do(env, runAnchorGate),
		&cli.StringFlag{Name: "hook", Usage: "read and answer in the hook format of `HARNESS`: claude"},
		&cli.StringFlag{Name: "ask", Usage: "with --hook, ask the running odd that listens at `SOCKET`"})
}

func runAnchorGate(c *cli.Context, env console.Env) error {
	hook := c.String("hook")
	switch {
	case c.IsSet("hook") && hook != "claude":
		return verb.Usage("anchor gate: --hook %q: want claude", hook)
	case c.IsSet("ask") && (hook == "" || c.String("ask") == ""):
		return verb.Usage("anchor gate: --ask names a socket, for --hook; give both")
	}
	d, err := decideInTime(c.Context, env, hook != "", c.String("ask"))
	if err != nil {
		d = anchor.Unjudged(err)
	}
	switch {
	case hook == "":
		if err := console.PrintJSON(env, struct {
			anchor.Decision
			Reason string `json:"reason,omitempty"`
		}{d, d.Reason()}); err != nil {
			return err
		}
		if !d.Allow {
			return verb.ExitCode(verb.ExitRefused)
		}
		return nil
	case d.Allow:
		return nil
	case err != nil:
		return errors.New(d.Reason())
	}
	if _, err := env.Stdout.Write(d.Hook()); err != nil {
		return fmt.Errorf("stdout: %v", err) // also where nobody reads it: a no that was not heard is a fault
	}
	return nil
}

// AsHook reports whether a command line asks for the gate in its hook form, as
// far as that can be told before the line is read.
func AsHook(args []string) bool {
	hook := slices.ContainsFunc(args, func(a string) bool {
		return strings.HasPrefix(a, "-") && strings.HasPrefix(strings.TrimLeft(a, "-"), "hook")
	})
	return hook && slices.Contains(args, "anchor") && slices.Contains(args, "gate")
}

// FailClosed turns every end but a decision into exit 2, which a harness takes
// for no: it takes any other code, and a program that a signal ended, for yes.
func FailClosed(env console.Env, run func() int) (code int) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a pipe that nobody reads is an error of the write
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintln(env.Stderr, okf.Visible(fmt.Sprintf("odd: anchor gate: a fault of odd: %v", p)))
			code = verb.ExitUsage
		}
	}()
	if code = run(); code != verb.ExitDone {
		code = verb.ExitUsage
	}
	return code
}

// gateTime is how long a decision may take. It is less than the timeout of the
// hook, because a harness may let a tool pass whose hook was too slow.
const gateTime = 3 * time.Second

// decideInTime judges the call on stdin, or fails when time is over: also when
// stdin never ends, or a disk does not answer.
func decideInTime(ctx context.Context, env console.Env, hook bool, ask string) (anchor.Decision, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if env.After != nil {
		defer env.After(gateTime, func() { cancel(fmt.Errorf("no decision within %v", gateTime)) })()
	}
	d, err := console.Await(ctx, func() (anchor.Decision, error) { return decideCall(ctx, env, hook, ask) })
	if ctx.Err() != nil {
		return anchor.Decision{}, context.Cause(ctx)
	}
	return d, err
}

func decideCall(ctx context.Context, env console.Env, hook bool, ask string) (anchor.Decision, error) {
	b, err := io.ReadAll(io.LimitReader(env.Stdin, anchor.MaxCall+1))
	if err != nil {
		return anchor.Decision{}, fmt.Errorf("stdin: %w", err)
	}
	if ask != "" { // a socket: who decides instead
		return askSession(ctx, ask, b)
	}
	read := anchor.ReadCall
	if hook {
		read = anchor.ReadHook
	}
	call, err := read(b)
	if err != nil {
		return anchor.Decision{}, err
	}
	if call.Cwd == "" {
		call.Cwd = env.Dir
	}
	env.Dir = call.Cwd
	a, err := Open(ctx, env)
	if err != nil {
		return anchor.Decision{}, err
	}
	defer a.Close()
	return anchor.Decide(call, a.newGatekeeper(ctx)), nil
}

// askSession has the odd that holds the session decide: what it allows is allowed.
func askSession(ctx context.Context, socket string, call []byte) (anchor.Decision, error) {
	a, err := claude.Ask(ctx, socket, call)
	if err != nil || a.Allow {
		return anchor.Decision{Allow: err == nil}, err
	}
	code := anchor.Code(a.Code)
	return anchor.Decision{Code: code, Reasons: []anchor.Problem{{Code: code, At: "tool", Text: a.Text}}, Way: "work within what the session may do, and say in the emission what it could not"}, nil
}

// stagedFiles returns the paths that git's index has other than HEAD.
func (a *Anchorage) stagedFiles(ctx context.Context) (out []string, err error) {
	f, err := a.Repo.Facts(ctx)
	for _, c := range f.Files {
		if c.XY != "" && !strings.ContainsRune(".? ", rune(c.XY[0])) {
			out = append(out, c.Path)
			if c.From != "" {
				out = append(out, c.From)
			}
		}
	}
	return out, err
}

// newGatekeeper asks git for no more than where HEAD is, except for a commit, and reads no bundle for the
// file of one role.
func (a *Anchorage) newGatekeeper(ctx context.Context) anchor.Gatekeeper {
	a.Desk.World.Facts, a.Desk.World.Constitution = a.headFacts, a.nearConstitution
	return anchor.Gatekeeper{
		WorkTree:  a.Repo.Root(),
		Files:     a.tree.FS(),
		Disk:      os.DirFS("/"),
		Commands:  a.cfg.Toolbox.Run,
		Checks:    a.cfg.Pipeline.Validate,
		Staged:    func() ([]string, error) { return a.stagedFiles(ctx) },
		Secret:    []string{filepath.Join(a.Repo.CommonDir(), "odd")},
		Token:     a.env.Getenv("ODD_ANCHOR"),
		Protected: a.Desk.World.Protected,
		Permits:   a.Desk.Permits,
		Valid:     a.Desk.HasValid,
	}
}

// headFacts returns the branch and HEAD, spelled as Facts spells them.
func (a *Anchorage) headFacts() (anchor.Facts, error) {
	branch, err := a.Repo.Branch()
	if err != nil {
		return anchor.Facts{}, err
	}
	head, err := a.Repo.Ref("HEAD")
	switch {
	case errors.Is(err, repo.ErrNoRef) && branch != "":
		head = repo.Initial
	case err != nil:
		return anchor.Facts{}, err
	}
	if branch == "" {
		branch = "detached[" + string(head[:min(8, len(head))]) + "]"
	}
	return anchor.Facts{Head: string(head), Branch: branch}, nil
}

// nearConstitution is findConstitution that first looks for a role's atom where odd init
// puts it, when it is there, without looking for others.
func (a *Anchorage) nearConstitution(role string) (anchor.Constitution, error) {
	name := path.Join("roles", role+".md")
	if b, err := a.tree.ReadFile(path.Join(a.cfg.Root, name)); err == nil {
		if atom, err := okf.Parse(name, b); err == nil {
			where := anchor.Charters{Files: a.tree.FS(), Places: a.cfg.Anchor.Constitutions, Bundle: a.cfg.Root, Atoms: []*okf.Atom{&atom}}
			if c, err := where.Find(role); err == nil {
				return c, nil
			}
		}
	}
	return a.findConstitution(role)
}

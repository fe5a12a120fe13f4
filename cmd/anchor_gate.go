package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/anchor"
)

func anchorGate(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "gate",
		Usage: "say whether a tool may be used now; what cannot be judged is denied",
		Description: "odd anchor gate --hook claude <call.json\n" +
			`echo '{"tool": "write", "paths": ["docs/a.md"]}' | odd anchor gate` + "\n\n" +
			"Without --hook: a call as {\"tool\", \"paths\", \"command\", \"session\", \"cwd\"} on stdin, the decision as\n" +
			"JSON on stdout; exit 0 is yes, 3 is no, and whatever else is no, too.\n" +
			"With --hook claude: Claude Code's PreToolUse form. Exit 0 without a word is yes, exit 0 with a\n" +
			"decision on stdout is no, and any fault is exit 2 with its reason on stderr; it never exits 1.\n" +
			"With --block no is exit 2 with its reason on stderr, for harnesses that read no decision.\n" +
			"ODD_ANCHOR names the session where the call does not.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "hook", Usage: "read and answer as the hook of `HARNESS`: claude"},
			&cli.BoolFlag{Name: "block", Usage: "with --hook, say no by exit 2"},
		},
		Action: func(c *cli.Context) error {
			if err := noArgs(c); err != nil {
				return err
			}
			hook, block := c.String("hook"), c.Bool("block")
			switch {
			case c.IsSet("hook") && hook != "claude":
				return usage("anchor gate: --hook %q: want claude", hook)
			case block && hook == "":
				return usage("anchor gate: --block says how --hook answers; give both")
			}
			return runAnchorGate(c.Context, env, hook != "", block)
		},
	})
}

// gateTime is how long a decision may take. It is less than the timeout of the
// hook, because a harness may let a tool pass whose hook was too slow.
const gateTime = 3 * time.Second

func runAnchorGate(ctx context.Context, env Env, hook, block bool) error {
	d, err := decideInTime(ctx, env, hook)
	if err != nil {
		d = anchor.Unjudged(err)
	}
	switch {
	case !hook:
		return tellDecision(env, d)
	case d.Allow:
		return nil
	case block || err != nil:
		return errors.New(d.Reason())
	}
	if _, err := env.Stdout.Write(d.Hook()); err != nil {
		return fmt.Errorf("stdout: %v", err) // also where nobody reads it: a no that was not heard is a fault
	}
	return nil
}

// tellDecision prints a decision for any harness.
func tellDecision(env Env, d anchor.Decision) error {
	if err := printJSON(env, struct {
		anchor.Decision
		Reason string `json:"reason,omitempty"`
	}{d, d.Reason()}); err != nil {
		return err
	}
	if !d.Allow {
		return exitCode(exitRefused)
	}
	return nil
}

// decideInTime judges the call on stdin, or fails when time is over: also when
// stdin never ends, or a disk does not answer.
func decideInTime(ctx context.Context, env Env, hook bool) (d anchor.Decision, err error) {
	type answer struct {
		d   anchor.Decision
		err error
	}
	answers := make(chan answer, 2)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				answers <- answer{err: fmt.Errorf("a fault of odd: %v", p)}
			}
		}()
		d, err := decideCall(ctx, env, hook)
		answers <- answer{d, err}
	}()
	if env.After != nil {
		defer env.After(gateTime, func() { answers <- answer{err: fmt.Errorf("no decision within %v", gateTime)} })()
	}
	select {
	case a := <-answers:
		return a.d, a.err
	case <-ctx.Done():
		return anchor.Decision{}, ctx.Err()
	}
}

func decideCall(ctx context.Context, env Env, hook bool) (anchor.Decision, error) {
	b, err := io.ReadAll(io.LimitReader(env.Stdin, anchor.MaxCall+1))
	if err != nil {
		return anchor.Decision{}, fmt.Errorf("stdin: %w", err)
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
	a, err := openAnchor(ctx, env)
	if err != nil {
		return anchor.Decision{}, err
	}
	defer a.Close()
	return anchor.Decide(call, a.gatekeeper()), nil
}

// gatekeeper asks git for no more than where HEAD is.
func (a *anchorage) gatekeeper() anchor.Gatekeeper {
	a.desk.World.Facts = a.headFacts
	return anchor.Gatekeeper{
		WorkTree:  a.repo.Root(),
		Files:     a.tree.FS(),
		Disk:      os.DirFS("/"),
		Secret:    []string{filepath.Join(a.repo.CommonDir(), "odd")},
		Token:     a.env.Getenv("ODD_ANCHOR"),
		Protected: a.desk.World.Protected,
		Permits:   a.desk.Permits,
		Valid:     a.desk.HasValid,
	}
}

// headFacts are the branch and HEAD, spelled as Facts spells them.
func (a *anchorage) headFacts() (anchor.Facts, error) {
	branch, err := a.repo.Branch()
	if err != nil {
		return anchor.Facts{}, err
	}
	head, err := a.repo.Ref("HEAD")
	switch {
	case errors.Is(err, repo.ErrNoRef) && branch != "":
		head = repo.Initial
	case err != nil:
		return anchor.Facts{}, err
	}
	if branch == "" {
		branch = "detached[" + string(head[:min(8, len(head))]) + "]"
	}
	return anchor.Facts{OK: true, Head: string(head), Branch: branch}, nil
}

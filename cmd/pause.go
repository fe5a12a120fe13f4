package cmd

import (
	"context"
	"io/fs"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/repo"
)

func pause(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "pause",
		Usage:     "let odd drain start no further task until a person resumes it",
		ArgsUsage: "REASON",
		Description: "odd drain pause \"the glossary is being rewritten\"\n\n" +
			"odd commits the reason as pause.toml on the board, so that it holds in every\n" +
			"clone that has the commit. A running drain stops before its next task.",
		Flags: []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			why, err := oneArg(c, "a reason in quotes")
			if err != nil {
				return err
			}
			if why = oneLine(why); why == "" {
				return usage("drain pause: the reason is empty; say why, like odd drain pause \"the glossary is being rewritten\"")
			}
			return runPause(c.Context, env, why, c.Bool("json"))
		},
	})
}

func runPause(ctx context.Context, env Env, why string, asJSON bool) error {
	w, err := openWorkspace(ctx, env)
	if err != nil {
		return err
	}
	who, err := w.repo.Identity(ctx)
	if err != nil {
		return err
	}
	oid, err := w.write(ctx, func(v *view) (repo.Changes, string, error) {
		if b, err := fs.ReadFile(v.bundle, "pause.toml"); err == nil {
			talk(env, "already paused: %s; odd drain resume lets drains run again", board.PauseReason(b))
			return nil, "", nil
		}
		b := board.PauseFile(why, "human:"+who.Email, env.Now())
		return repo.Changes{v.file("pause.toml"): b}, trailers("board: pause", why), nil
	})
	if err != nil {
		return err
	}
	return printState(env, "paused", oid, asJSON)
}

func resume(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "resume",
		Usage: "allow odd drain to run again after a pause; only a person can",
		Description: "odd drain resume\n\n" +
			personNote,
		Flags: []cli.Flag{yesFlag(), jsonFlag()},
		Action: func(c *cli.Context) error {
			if err := noArgs(c); err != nil {
				return err
			}
			return runResume(c.Context, env, c.Bool("yes"), c.Bool("json"))
		},
	})
}

func runResume(ctx context.Context, env Env, yes, asJSON bool) error {
	v, err := openBoard(ctx, env, true)
	if err != nil {
		return err
	}
	b, err := fs.ReadFile(v.bundle, "pause.toml")
	if err != nil {
		return printState(env, "running", "", asJSON)
	}
	talk(env, "paused: %s", board.PauseReason(b))
	h, err := v.human(ctx, "", "resume", "resume", yes)
	if err != nil {
		return err
	}
	msg := trailers("board: resume", "It was paused: "+board.PauseReason(b), "Odd-Resumed-By", h.By())
	oid, err := v.amend(ctx, repo.Changes{v.file("pause.toml"): nil}, msg)
	if err != nil {
		return err
	}
	return printState(env, "running", oid, asJSON)
}

func printState(env Env, state string, oid repo.OID, asJSON bool) error {
	if asJSON {
		return printJSON(env, map[string]string{"board": state, "commit": string(oid)})
	}
	return printRows(env, [][]string{{state, short(oid)}})
}

package cmd

import (
	"io/fs"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/repo"
)

func pauseVerb(env Env) *cli.Command {
	return verb("pause REASON", "let odd drain start no further task until a person resumes it",
		"odd drain pause \"the glossary is being rewritten\"\n\n"+
			"odd commits the reason as pause.toml on the board, so that it holds in every\n"+
			"clone that has the commit. A running drain stops before its next task.",
		on(env, openWorkspace, runPause))
}

func runPause(c *cli.Context, env Env, w *workspace) error {
	why := oneLine(c.Args().First())
	if why == "" {
		return usage("drain pause: the reason is empty; say why, like odd drain pause \"the glossary is being rewritten\"")
	}
	who, err := w.repo.Identity(c.Context)
	if err != nil {
		return err
	}
	oid, err := w.writeBy(c.Context, (*view).signCommit, func(v *view) (repo.Changes, string, error) {
		if b, err := fs.ReadFile(v.bundle, "pause.toml"); err == nil {
			talk(env, "already paused: %s; odd drain resume lets drains run again", board.PauseReason(b))
			return nil, "", nil
		}
		b := board.PauseFile(why, "human:"+who.Email, env.Now())
		return repo.Changes{v.repoPath("pause.toml"): b}, commitMessage("board: pause", why), nil
	})
	if err != nil {
		return err
	}
	return printState(env, "paused", oid, c.Bool("json"))
}

func resumeVerb(env Env) *cli.Command {
	return verb("resume", "allow odd drain to run again after a pause; only a person can",
		"odd drain resume\n\n"+
			personNote,
		on(env, openShared, runResume), yesFlag())
}

func runResume(c *cli.Context, env Env, v *view) error {
	b, err := fs.ReadFile(v.bundle, "pause.toml")
	if err != nil {
		return printState(env, "running", "", c.Bool("json"))
	}
	talk(env, "paused: %s", board.PauseReason(b))
	h, err := v.confirmHuman(c.Context, "", "resume", "resume", c.Bool("yes"))
	if err != nil {
		return err
	}
	msg := commitMessage("board: resume", "It was paused: "+board.PauseReason(b), "Odd-Resumed-By", h.By())
	oid, err := v.commitFiles(c.Context, repo.Changes{v.repoPath("pause.toml"): nil}, msg)
	if err != nil {
		return err
	}
	return printState(env, "running", oid, c.Bool("json"))
}

func printState(env Env, state string, oid repo.OID, asJSON bool) error {
	return show(env, asJSON, map[string]string{"board": state, "commit": string(oid)}, []string{state, shortID(oid)})
}

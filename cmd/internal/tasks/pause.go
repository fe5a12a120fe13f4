package tasks

import (
	"io/fs"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
)

func pauseVerb(env console.Env) *cli.Command {
	return verb.New("pause REASON", "let odd drain start no further task until a person resumes it",
		"odd drain pause \"the glossary is being rewritten\"\n\n"+
			"odd commits the reason as pause.toml on the board, so that it holds in every\n"+
			"clone that has the commit. A running drain stops before its next task.",
		verb.On(env, workspace.Open, runPause))
}

func runPause(c *cli.Context, env console.Env, w *workspace.Clone) error {
	why := console.OneLine(c.Args().First())
	if why == "" {
		return verb.Usage("drain pause: the reason is empty; say why, like odd drain pause \"the glossary is being rewritten\"")
	}
	who, err := w.Repo.Identity(c.Context)
	if err != nil {
		return err
	}
	oid, err := land.Write(c.Context, w, land.AsPerson, func(v *workspace.Board) (repo.Changes, string, error) {
		if b, err := fs.ReadFile(v.Bundle, "pause.toml"); err == nil {
			console.Talk(env, "already paused: %s; odd drain resume lets drains run again", board.PauseReason(b))
			return nil, "", nil
		}
		b := board.PauseFile(why, "human:"+who.Email, env.Now())
		return repo.Changes{v.RepoPath("pause.toml"): b}, land.Message("board: pause", why), nil
	})
	if err != nil {
		return err
	}
	return printState(env, "paused", oid, c.Bool("json"))
}

func resumeVerb(env console.Env) *cli.Command {
	return verb.New("resume", "allow odd drain to run again after a pause; only a person can",
		"odd drain resume\n\n"+
			verb.PersonNote,
		verb.On(env, workspace.OpenShared, runResume), verb.YesFlag())
}

func runResume(c *cli.Context, env console.Env, v *workspace.Board) error {
	b, err := fs.ReadFile(v.Bundle, "pause.toml")
	if err != nil {
		console.Talk(env, "drains are not paused; nothing was done")
		if !c.Bool("json") {
			return nil
		}
		return printState(env, "running", "", true)
	}
	console.Talk(env, "paused: %s", board.PauseReason(b))
	h, err := land.Confirm(c.Context, v.Clone, "", "resume", "resume", c.Bool("yes"))
	if err != nil {
		return err
	}
	msg := land.Message("board: resume", "It was paused: "+board.PauseReason(b), "Odd-Resumed-By", h.By())
	oid, err := land.CommitFiles(c.Context, v, repo.Changes{v.RepoPath("pause.toml"): nil}, msg)
	if err != nil {
		return err
	}
	return printState(env, "running", oid, c.Bool("json"))
}

func printState(env console.Env, state string, oid repo.OID, asJSON bool) error {
	return console.Show(env, asJSON, map[string]string{"board": state, "commit": string(oid)}, []string{state, console.ShortID(oid)})
}

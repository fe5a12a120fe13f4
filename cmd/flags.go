package cmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/urfave/cli/v2"
)

// The flags here stand on several verbs, with the same words on each.

func yesFlag() cli.Flag {
	return &cli.BoolFlag{Name: "yes", Usage: "skip the typed confirmation; only with [governance] require_signed and a signed commit"}
}

func reasonFlag() cli.Flag {
	return &cli.StringFlag{Name: "reason", Usage: "record `TEXT`, one line, as the reason"}
}

func noCommitFlag() cli.Flag {
	return &cli.BoolFlag{Name: "no-commit", Usage: "write and stage the file, but do not commit it"}
}

func atFlag() cli.Flag {
	return &cli.StringFlag{Name: "at", Usage: "read the atoms from commit `REV` instead of the working tree"}
}

func bundleFlag() cli.Flag {
	return &cli.StringFlag{Name: "bundle", Usage: "read the atoms in `DIR` (default: the bundle in odd.toml, else this folder)"}
}

func profileFlag() cli.Flag {
	return &cli.StringFlag{Name: "persona", Usage: "let the agent speak as persona `PROFILE`: NAME or NAME@VERSION"}
}

func workRoleFlag() cli.Flag {
	return &cli.StringFlag{Name: "work-role", Usage: "give the agent the context compiled for the role atom `ROLE`"}
}

func surfaceFlag(value string) cli.Flag {
	return &cli.StringFlag{Name: "surface", Value: value, Usage: "kind of output: code-output, audit, synthesis-ledger, real-time-stream, sidebar-chat, conversational, mentorship or strategic-translation"}
}

func engagementFlag() cli.Flag {
	return &cli.StringFlag{Name: "engagement", Usage: "agent (works without questions) or assistant (may ask you questions)"}
}

func voiceFlag() cli.Flag {
	return &cli.StringFlag{Name: "voice", Usage: "style of the text: persona, neutral or strict"}
}

func handoffFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "handoff", Usage: "give the agent the handoff `ID` (or path) to work from; repeatable"}
}

func artifactFlag() cli.Flag {
	return &cli.StringFlag{Name: "artifact", Usage: "say which file or atom is worked on, `REF`: a path, id or uri (default: the handoff's)"}
}

// personNote says how the verbs work that only a person can run.
const personNote = "Only a person can run this. odd shows what will happen and asks you to type an\n" +
	"id at the terminal; in CI and inside an agent's session it refuses (exit 3)."

// readInput reads the file a person named, - for stdin, and no more than one
// byte over limit, by which the caller knows that it is too long.
func readInput(env Env, name string, limit int64) ([]byte, error) {
	r := env.Stdin
	if name != "-" {
		f, err := os.Open(env.absPath(name))
		if err != nil {
			return nil, asNamed(name, err)
		}
		defer f.Close()
		r = f
	}
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b, nil
}

func readFile(env Env, name string) ([]byte, error) {
	b, err := os.ReadFile(env.absPath(name))
	if err != nil {
		return nil, asNamed(name, err)
	}
	return b, nil
}

// asNamed returns an error of a file under the name that a person gave it.
func asNamed(name string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return fmt.Errorf("%s: %w", name, at.Err)
	}
	return err
}

package cmd

import (
	"errors"
	"path/filepath"

	"github.com/google/renameio/v2"
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/persona/octave"
)

func octaveVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "octave",
		Usage: "check, format, read and edit OCTAVE files",
		Description: "odd anchor octave check agents/builder.oct.md\n" +
			"odd anchor octave set anchor.oct COMMIT.GATE 'go test ./...'\n\n" +
			"OCTAVE is a text format of nested KEY::VALUE lines. odd uses it for the rules\n" +
			"of roles (ROLE.oct.md) and for what agents send to odd anchor.",
		Subcommands: []*cli.Command{octaveCheck(env), octaveFmt(env), octaveGet(env), octaveSet(env)},
	})
}

// openOctave reads a document leniently; what leaves its structure in doubt is
// told and is an error.
func openOctave(env Env, name string) (*octave.Doc, error) {
	b, err := readInput(env, name, octave.MaxBytes)
	if err != nil {
		return nil, err
	}
	d, ps := octave.Parse(name, b, octave.Lenient)
	var bad []error
	for _, p := range octave.Errors(ps) {
		bad = append(bad, p)
	}
	return d, errors.Join(bad...)
}

// writeOctave replaces a file whole or not at all; a symlink stays one.
func writeOctave(env Env, name string, b []byte) error {
	file, err := filepath.EvalSymlinks(env.path(name))
	if err != nil {
		return err
	}
	return renameio.WriteFile(file, b, 0o644, renameio.WithExistingPermissions())
}

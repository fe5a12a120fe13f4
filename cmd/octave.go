package cmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/persona/octave"
)

func octaveVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "octave",
		Usage:       "check, format, read and edit OCTAVE files, byte by byte",
		Description: "odd octave check agents/*.oct.md\nodd octave set anchor.oct COMMIT.GATE 'go test ./...'",
		Subcommands: []*cli.Command{octaveCheck(env), octaveFmt(env), octaveGet(env), octaveSet(env)},
	})
}

// readOctave reads a file of OCTAVE, - for stdin, as far as odd reads one.
func readOctave(env Env, name string) ([]byte, error) {
	r := env.Stdin
	if name != "-" {
		f, err := os.Open(env.path(name))
		var at *fs.PathError
		if errors.As(err, &at) {
			return nil, fmt.Errorf("%s: %w", name, at.Err)
		}
		if err != nil {
			return nil, err
		}
		defer f.Close()
		r = f
	}
	b, err := io.ReadAll(io.LimitReader(r, octave.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b, nil
}

// openOctave reads a document leniently; what leaves its structure in doubt is
// told and is an error.
func openOctave(env Env, name string) (*octave.Doc, error) {
	b, err := readOctave(env, name)
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

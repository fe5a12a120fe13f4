package cmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// readInput reads the file a person named, - for stdin, and no more than one
// byte over limit, by which the caller knows that it is too long.
func readInput(env Env, name string, limit int64) ([]byte, error) {
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
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b, nil
}

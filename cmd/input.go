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

// readFile reads the file a person named, whole.
func readFile(env Env, name string) ([]byte, error) {
	b, err := os.ReadFile(env.path(name))
	if err != nil {
		return nil, asNamed(name, err)
	}
	return b, nil
}

// asNamed is an error of a file under the name that a person gave it.
func asNamed(name string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return fmt.Errorf("%s: %w", name, at.Err)
	}
	return err
}

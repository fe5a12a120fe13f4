package console

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ReadInput reads the file a person named, - for stdin, and no more than one
// byte over limit, by which the caller knows that it is too long.
func ReadInput(env Env, name string, limit int64) ([]byte, error) {
	r := env.Stdin
	if name != "-" {
		f, err := os.Open(env.AbsPath(name))
		if err != nil {
			return nil, AsNamed(name, err)
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

// ReadFile reads the file that a person named.
func ReadFile(env Env, name string) ([]byte, error) {
	b, err := os.ReadFile(env.AbsPath(name))
	if err != nil {
		return nil, AsNamed(name, err)
	}
	return b, nil
}

// AsNamed returns an error of a file under the name that a person gave it.
func AsNamed(name string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return fmt.Errorf("%s: %w", name, at.Err)
	}
	return err
}

package repo

import (
	"context"
	"errors"
	"strings"
)

// Identity is the person's own user.name and user.email, as their git would sign a commit; When is git's idea of now.
// git's guess from the host name is not accepted: the error names what to set.
func (r *Repo) Identity(ctx context.Context) (Signature, error) {
	out, err := r.git.run(ctx, call{
		args: []string{"-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT"}, read: true, self: true})
	if err != nil && exitCode(err) < 0 {
		return Signature{}, err
	}
	s, perr := parseSignature(strings.TrimSpace(string(out)))
	if err != nil || perr != nil || s.Name == "" || s.Email == "" {
		return Signature{}, errors.New(`git identity: not set; run git config user.name "Your Name" and git config user.email you@example.org`)
	}
	return s, nil
}

// Config reads one git config value, "" when unset. Of a key with several values it is the last.
func (r *Repo) Config(ctx context.Context, key string) (string, error) {
	out, err := r.read(ctx, "config", "-z", "--get", key)
	if exitCode(err) == 1 {
		return "", nil
	}
	return strings.TrimSuffix(string(out), "\x00"), err
}

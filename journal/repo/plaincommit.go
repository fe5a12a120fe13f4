package repo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// commitHooks are the hooks that a git commit runs, or that could refuse it.
var commitHooks = []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-index-change", "reference-transaction"}

// plain reports whether nothing of the person's but their name takes part in a
// commit: no hook is in place and nothing signs. Then git commit-tree makes the
// object that git commit would, without a work tree. Whatever is not understood
// for sure is not plain.
func (r *Repo) plain(ctx context.Context) (bool, error) {
	out, err := r.git.run(ctx, call{args: []string{"config", "-z", "--list"}, read: true, self: true})
	if err != nil {
		return false, err
	}
	hooks := filepath.Join(r.common, "hooks")
	for _, f := range fields(out) {
		key, value, _ := strings.Cut(f, "\n")
		switch {
		case key == "commit.gpgsign" && !isFalse(value):
			return false, nil
		case strings.HasPrefix(key, "hook."): // hooks that newer gits read from their configuration
			return false, nil
		case key == "core.hookspath":
			hooks = value
		}
	}
	if strings.HasPrefix(hooks, "~") || strings.HasPrefix(hooks, "%") || !filepath.IsAbs(hooks) && r.root == "" {
		return false, nil
	}
	if !filepath.IsAbs(hooks) {
		hooks = filepath.Join(r.root, hooks)
	}
	for _, name := range commitHooks {
		if _, err := os.Stat(filepath.Join(hooks, name)); !missing(err) {
			return false, nil
		}
	}
	return true, nil
}

// isFalse reports a value that git reads as no. A key without a value is a yes,
// which --list shows as it shows an empty one.
func isFalse(value string) bool {
	switch strings.ToLower(value) {
	case "false", "no", "off", "0":
		return true
	}
	return false
}

// plainCommit makes the commit object of a person without hooks or signing.
func (r *Repo) plainCommit(ctx context.Context, parents []OID, tree OID, message string) (OID, error) {
	args := []string{"commit-tree", string(tree), "-F", "-"}
	for _, p := range parents {
		args = append(args, "-p", string(p))
	}
	out, err := r.git.run(ctx, call{args: args, self: true, stdin: strings.NewReader(strings.TrimRight(message, "\n") + "\n")})
	if err != nil {
		return "", fmt.Errorf("the commit was refused, and nothing is changed: %w", err)
	}
	return OID(strings.TrimSpace(string(out))), nil
}

package config

import (
	"errors"
	"fmt"
	"strings"
)

// branchName holds a branch to the rules of git check-ref-format --branch, and
// keeps it from odd's own: a branch named odd or odd/review would stand where
// git needs a folder for odd/review/TASK.
func branchName(s string) error {
	if err := refName(s); err != nil {
		return err
	}
	low := strings.ToLower(s)
	switch {
	case strings.HasPrefix(s, "refs/"):
		return fmt.Errorf("%q: want the branch's short name, like %q", s, strings.TrimPrefix(s, "refs/heads/"))
	case low == "head":
		return fmt.Errorf("%q: is no branch", s)
	case low == "odd", low == "odd/review", strings.HasPrefix(low, "odd/review/"):
		return fmt.Errorf(`%q: odd keeps its review branches there; take another name, like "odd/board"`, s)
	}
	return nil
}

func remoteName(s string) error {
	if strings.Contains(s, "://") || strings.Contains(s, "@") {
		return errors.New(`want the name of a git remote, like "origin", not its address`)
	}
	return refName(s)
}

// refName is git check-ref-format for a name below refs/heads/.
func refName(s string) error {
	bad := func(r rune) bool { return control(r) || strings.ContainsRune(" ~^:?*[\\", r) }
	switch {
	case s == "", s == "@", s[0] == '-', strings.HasSuffix(s, "."), strings.Contains(s, ".."), strings.Contains(s, "@{"), strings.ContainsFunc(s, bad):
		return fmt.Errorf("%q: is no name git takes", s)
	}
	for _, part := range strings.Split(s, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return fmt.Errorf("%q: is no name git takes", s)
		}
	}
	return nil
}

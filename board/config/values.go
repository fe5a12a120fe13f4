package config

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/odd-cli/odd/board/budget"
)

const day = 24 * time.Hour

// The makers of setters: each binds a member of Config to the check of its value.

func text(at func(*Config) *string, check func(string) error) func(*Config, string, node) error {
	return func(c *Config, _ string, n node) error {
		s, err := str(n, check)
		if err == nil {
			*at(c) = s
		}
		return err
	}
}

// folder is text without the slash a person may end a folder with.
func folder(at func(*Config) *string, check func(string) error) func(*Config, string, node) error {
	return func(c *Config, _ string, n node) error {
		s, err := str(n, check)
		if err == nil {
			*at(c) = strings.TrimSuffix(s, "/")
		}
		return err
	}
}

func whole(at func(*Config) *int, low, high int) func(*Config, string, node) error {
	return func(c *Config, _ string, n node) error {
		v, err := integer(n, low, high)
		if err == nil {
			*at(c) = v
		}
		return err
	}
}

func flag(at func(*Config) *bool) func(*Config, string, node) error {
	return func(c *Config, _ string, n node) error {
		v, err := boolean(n)
		if err == nil {
			*at(c) = v
		}
		return err
	}
}

func money(at func(*Config) *budget.MicroUSD) func(*Config, string, node) error {
	return func(c *Config, _ string, n node) error {
		v, err := amount(n)
		if err == nil {
			*at(c) = v
		}
		return err
	}
}

func duration(at func(*Config) *time.Duration, low, high time.Duration) func(*Config, string, node) error {
	return func(c *Config, _ string, n node) error {
		v, err := spanOf(n, low, high)
		if err == nil {
			*at(c) = v
		}
		return err
	}
}

func spanOf(n node, low, high time.Duration) (time.Duration, error) {
	v, err := span(n)
	if err == nil && (v < low || v > high) {
		err = fmt.Errorf("want a duration from %s to %s", short(low), short(high))
	}
	return v, err
}

// The readers of values.

func str(n node, check func(string) error) (string, error) {
	s, ok := n.value.(string)
	if !ok {
		return "", errors.New("want a string")
	}
	return s, check(s)
}

func integer(n node, low, high int) (int, error) {
	v, ok := n.value.(int64)
	if !ok || v < int64(low) || v > int64(high) {
		return 0, fmt.Errorf("want an integer from %d to %d", low, high)
	}
	return int(v), nil
}

func boolean(n node) (bool, error) {
	v, ok := n.value.(bool)
	if !ok {
		return false, errors.New("want true or false")
	}
	return v, nil
}

func amount(n node) (budget.MicroUSD, error) {
	s, ok := n.value.(string)
	if !ok {
		s = n.literal
	}
	if s == "" {
		return 0, errors.New(`want an amount of dollars, like 0.25 or "0.25"`)
	}
	return budget.Parse(s)
}

// span reads a Go duration ("30m", "1h30m") or days ("14d").
func span(n node) (time.Duration, error) {
	s, _ := n.value.(string)
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if v, err := strconv.ParseUint(days, 10, 16); err == nil {
			return time.Duration(v) * day, nil
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, errors.New(`want a duration, like "30m", "2h" or "14d"`)
	}
	return d, nil
}

// short prints a duration without the units that are zero.
func short(d time.Duration) string {
	if d >= day && d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func words(n node, check func(string) error) ([]string, error) {
	list, ok := n.value.([]any)
	if !ok {
		return nil, errors.New(`want a list of strings, like ["one", "two"]`)
	}
	out := make([]string, 0, len(list))
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("want a list of strings, not %v in it", v)
		}
		if err := check(s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func argv(n node) ([]string, error) {
	if _, ok := n.value.(string); ok {
		return nil, errors.New(`is a string; write the command as a list of words, like ["my-agent", "--flag"]: odd runs no shell`)
	}
	out, err := words(n, func(s string) error {
		if strings.ContainsRune(s, 0) {
			return errors.New("has a NUL byte in a word")
		}
		return nil
	})
	if err == nil && (len(out) == 0 || out[0] == "") {
		return nil, errors.New("names no command; write at least one word")
	}
	return out, err
}

// argvs reads a list of commands, each a list of words.
func argvs(at func(*Config) *[][]string) func(*Config, string, node) error {
	return func(c *Config, _ string, n node) error {
		list, ok := n.value.([]any)
		if !ok {
			return errors.New(`want a list of commands, like [["make", "test"]]`)
		}
		out := make([][]string, 0, len(list))
		for i, v := range list {
			words, err := argv(node{value: v})
			if err != nil {
				return fmt.Errorf("command %d: %w", i+1, err)
			}
			out = append(out, words)
		}
		*at(c) = out
		return nil
	}
}

// list reads a list of strings that each pass check.
func list(at func(*Config) *[]string, check func(string) error) func(*Config, string, node) error {
	return func(c *Config, _ string, n node) error {
		out, err := words(n, check)
		if err == nil {
			*at(c) = out
		}
		return err
	}
}

// The checks of strings.

func word(s string) error {
	if s == "" || strings.ContainsFunc(s, control) {
		return errors.New("want a text of one line that is not empty")
	}
	return nil
}

func control(r rune) bool { return r < ' ' || r == 0x7f }

// email accepts the e-mail address of a person, as git has it.
func email(s string) error {
	if err := identity(s); err != nil || !strings.Contains(s, "@") {
		return fmt.Errorf("%q: want the address of a person, like ann@example.org", s)
	}
	return nil
}

// identity is half of a git identity: git drops these characters silently.
func identity(s string) error {
	if strings.TrimSpace(s) == "" || strings.ContainsAny(s, "<>") || strings.ContainsFunc(s, control) {
		return errors.New("want a text of one line without < and >")
	}
	return nil
}

func oneOf(allowed ...string) func(string) error {
	return func(s string) error {
		if slices.Contains(allowed, s) {
			return nil
		}
		return fmt.Errorf("%q: want %q or %q", s, allowed[0], allowed[1])
	}
}

// slug is a name that is the same on every file system and in every ref.
func slug(s string) error {
	bad := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' }
	if s == "" || strings.ContainsFunc(s, bad) || s[0] == '-' {
		return fmt.Errorf("%q: want lower-case letters, digits, - and _", s)
	}
	return nil
}

func envName(s string) error {
	bad := func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_'
	}
	if s == "" || s[0] >= '0' && s[0] <= '9' || strings.ContainsFunc(s, bad) {
		return errors.New("want names of environment variables, never their values")
	}
	return nil
}

// bundleRoot confines the bundle to a folder below the top of the repository.
func bundleRoot(s string) error {
	s = strings.TrimSuffix(s, "/")
	if s == "." || !fs.ValidPath(s) || strings.ContainsAny(s, `\:`) || strings.ContainsFunc(s, control) {
		return fmt.Errorf(`%q: want a folder below the top of the repository, like "knowledge", without ".."`, s)
	}
	return ours(s)
}

// repoFile accepts the path of a file below the top of the repository.
func repoFile(s string) error {
	if s == "." || !fs.ValidPath(s) || strings.ContainsAny(s, `\:`) || strings.ContainsFunc(s, control) {
		return fmt.Errorf(`%q: want a file below the top of the repository, like ".github/allowed_signers", without ".."`, s)
	}
	return ours(s)
}

package config

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/persona/contract"
)

const day = 24 * time.Hour

// setter stores the value of a key, or says what is wrong with it. part is what the key's pattern has a "*" for.
type setter func(c *Config, part string, n node) error

func valueSetter[T any](at func(*Config) *T, read func(node) (T, error)) setter {
	return func(c *Config, _ string, n node) error {
		v, err := read(n)
		if err == nil {
			*at(c) = v
		}
		return err
	}
}

// entrySetter returns a setter of one member of an entry of a table, by the entry's name.
func entrySetter[S any](table func(*Config) *map[string]S, name func(string) error, set func(*S, node) error) setter {
	return func(c *Config, part string, n node) error {
		if err := name(part); err != nil {
			return err
		}
		all := table(c)
		s := (*all)[part]
		if err := set(&s, n); err != nil {
			return err
		}
		if *all == nil {
			*all = map[string]S{}
		}
		(*all)[part] = s
		return nil
	}
}

// The readers of values, and what makes them from a check or from bounds.

func textOf(check func(string) error) func(node) (string, error) {
	return func(n node) (string, error) { return readString(n, check) }
}

// folderOf is text without the slash a person may end a folder with.
func folderOf(check func(string) error) func(node) (string, error) {
	return func(n node) (string, error) {
		s, err := readString(n, check)
		return strings.TrimSuffix(s, "/"), err
	}
}

func intOf(low, high int) func(node) (int, error) {
	return func(n node) (int, error) { return readInt(n, low, high) }
}

func durationOf(low, high time.Duration) func(node) (time.Duration, error) {
	return func(n node) (time.Duration, error) { return spanOf(n, low, high) }
}

// listOf reads a list of strings that each pass check.
func listOf(check func(string) error) func(node) ([]string, error) {
	return func(n node) ([]string, error) { return readStrings(n, check) }
}

// choiceOf reads one of a few words.
func choiceOf(all ...string) func(node) (string, error) {
	return func(n node) (string, error) {
		s, err := readString(n, checkWord)
		if err == nil && !slices.Contains(all, s) {
			if _, err = contract.Named(s, all); err == nil {
				err = fmt.Errorf("%q: want one of %s", s, strings.Join(all, ", "))
			}
		}
		return s, err
	}
}

// nameFrom reads one of a list of names, however it is spelled: case, "_" and "-" do not count.
func nameFrom[T ~string](all func() []T) func(node) (T, error) {
	return func(n node) (T, error) { return nameOf(n, all()) }
}

func spanOf(n node, low, high time.Duration) (time.Duration, error) {
	v, err := readDuration(n)
	if err == nil && (v < low || v > high) {
		err = fmt.Errorf("want a duration from %s to %s", formatDuration(low), formatDuration(high))
	}
	return v, err
}

func readString(n node, check func(string) error) (string, error) {
	s, ok := n.value.(string)
	if !ok {
		return "", errors.New("want a string")
	}
	return s, check(s)
}

func readInt(n node, low, high int) (int, error) {
	v, ok := n.value.(int64)
	if !ok || v < int64(low) || v > int64(high) {
		return 0, fmt.Errorf("want an integer from %d to %d", low, high)
	}
	return int(v), nil
}

func readBool(n node) (bool, error) {
	v, ok := n.value.(bool)
	if !ok {
		return false, errors.New("want true or false")
	}
	return v, nil
}

func readAmount(n node) (budget.MicroUSD, error) {
	s, ok := n.value.(string)
	if !ok {
		s = n.literal
	}
	if s == "" {
		return 0, errors.New(`want an amount of dollars, like 0.25 or "0.25"`)
	}
	return budget.Parse(s)
}

// readDuration reads a Go duration ("30m", "1h30m") or days ("14d").
func readDuration(n node) (time.Duration, error) {
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

// formatDuration prints a duration without the units that are zero.
func formatDuration(d time.Duration) string {
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

func readStrings(n node, check func(string) error) ([]string, error) {
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

func readArgv(n node) ([]string, error) {
	if _, ok := n.value.(string); ok {
		return nil, errors.New(`is a string; write the command as a list of words, like ["my-agent", "--flag"]: odd runs no shell`)
	}
	out, err := readStrings(n, func(s string) error {
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

// readArgvs reads a list of commands, each a list of words.
func readArgvs(n node) ([][]string, error) {
	list, ok := n.value.([]any)
	if !ok {
		return nil, errors.New(`want a list of commands, like [["make", "test"]]`)
	}
	out := make([][]string, 0, len(list))
	for i, v := range list {
		words, err := readArgv(node{value: v})
		if err != nil {
			return nil, fmt.Errorf("command %d: %w", i+1, err)
		}
		out = append(out, words)
	}
	return out, nil
}

// The checks of strings.

func checkWord(s string) error {
	if s == "" || strings.ContainsFunc(s, isControl) {
		return errors.New("want a text of one line that is not empty")
	}
	return nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// checkEmail accepts the e-mail address of a person, as git has it.
func checkEmail(s string) error {
	if err := checkIdentity(s); err != nil || !strings.Contains(s, "@") {
		return fmt.Errorf("%q: want the address of a person, like ann@example.org", s)
	}
	return nil
}

// checkIdentity holds a name or address to what git keeps of it: git drops these characters silently.
func checkIdentity(s string) error {
	if strings.TrimSpace(s) == "" || strings.ContainsAny(s, "<>") || strings.ContainsFunc(s, isControl) {
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

// checkSlug accepts a name that is the same on every file system and in every ref.
func checkSlug(s string) error {
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
	if s == "." || !fs.ValidPath(s) || strings.ContainsAny(s, `\:`) || strings.ContainsFunc(s, isControl) {
		return fmt.Errorf(`%q: want a folder below the top of the repository, like "knowledge", without ".."`, s)
	}
	return refuseGitDir(s)
}

// repoFile accepts the path of a file below the top of the repository.
func repoFile(s string) error {
	if s == "." || !fs.ValidPath(s) || strings.ContainsAny(s, `\:`) || strings.ContainsFunc(s, isControl) {
		return fmt.Errorf(`%q: want a file below the top of the repository, like ".github/allowed_signers", without ".."`, s)
	}
	return refuseGitDir(s)
}

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
	bad := func(r rune) bool { return isControl(r) || strings.ContainsRune(" ~^:?*[\\", r) }
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

func nameOf[T ~string](n node, all []T) (T, error) {
	s, err := readString(n, checkWord)
	if err != nil {
		return "", err
	}
	return contract.Named(s, all)
}

func kindName(kind string) error {
	_, err := contract.Named(kind, board.Kinds())
	if err == nil && !slices.Contains(board.Kinds(), kind) {
		err = fmt.Errorf("write %q in lower case", kind)
	}
	if err != nil {
		return fmt.Errorf("the kind of task: %w", err)
	}
	return nil
}

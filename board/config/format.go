package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// Format is the newest format that this odd knows, of all that it keeps in a repository:
// odd.toml, tasks, ledgers, and the rules that odd check holds them to. A change that an
// older odd would misread raises it. It is never lowered again, because a history that has
// commits of a newer format can be read by a newer odd alone.
const Format = 1

// Newer is the error of a repository whose format this odd does not know. Nothing of it
// may be written, or judged by rules that may not hold there any more.
type Newer struct {
	File         string
	Line, Format int
	Least        string // [odd] least_version, "" where odd.toml does not say
}

// Error is located, and names the way out.
func (n *Newer) Error() string {
	version := "a newer version"
	if n.Least != "" {
		version = n.Least + " or newer"
	}
	return fmt.Sprintf("%s:%d: odd.format: the repository has format %d, and this odd knows formats up to %d; update odd to %s, here and in CI", n.File, n.Line, n.Format, Format, version)
}

// Refused is the reason's code.
func (n *Newer) Refused() string { return "format" }

// checkFormat returns a Newer where odd.toml says so. It is asked before any other key: a newer
// format may have keys that this odd does not know.
func checkFormat(file string, root node) error {
	at := slices.IndexFunc(root.children, func(n node) bool { return n.name == "odd" })
	if at < 0 {
		return nil
	}
	n := &Newer{File: file}
	for _, k := range root.children[at].children {
		switch v := k.value.(type) {
		case int64:
			if k.name == "format" && v > Format {
				n.Line, n.Format = k.line, int(v)
			}
		case string:
			if k.name == "least_version" && isVersion(v) == nil && !k.holdsSecret() {
				n.Least = v
			}
		}
	}
	if n.Format == 0 {
		return nil
	}
	return n
}

// Older is the error of an odd that [odd] least_version lets read a repository, but not
// write in it.
type Older struct {
	Line           int // of odd.toml
	Version, Least string
}

// Error is located, and names the way out.
func (o *Older) Error() string {
	return fmt.Sprintf("odd.toml:%d: odd.least_version: this odd is %s, and only %s or newer may write here; update odd, here and in CI", o.Line, o.Version, o.Least)
}

// Refused is the reason's code.
func (o *Older) Refused() string { return "format" }

// CheckVersion returns an *Older if the release version of odd may not write. A build that
// is no release, whose version is "devel" or made from a commit, has none to compare.
func (c *Config) CheckVersion(version string) error {
	have, want := addV(version), addV(c.LeastVersion)
	if !semver.IsValid(have) || module.IsPseudoVersion(have) || semver.Compare(have, want) >= 0 {
		return nil
	}
	return &Older{c.LeastLine, version, c.LeastVersion}
}

// addV returns a version as Go writes it, with a leading v.
func addV(version string) string { return "v" + strings.TrimPrefix(version, "v") }

// isVersion returns why s is no version.
func isVersion(s string) error {
	if len(s) > 64 || !semver.IsValid(addV(s)) {
		return errors.New(`want a version, like "0.1.0"`)
	}
	return nil
}

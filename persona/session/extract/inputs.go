package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/policy"
)

// The limits on reading: a file over maxFile or beyond maxFiles or maxTotal is
// reported and left out, so that a drain over a forgotten data folder ends.
const (
	maxFile  = 1 << 20  // bytes
	maxRun   = 64 << 10 // lines without an empty one between; a parser's time grows with its square
	maxFiles = 20_000
	maxTotal = 256 << 20 // bytes
)

// file is one input that was read.
type file struct {
	path string
	text []byte
}

// skip is one input, or part of one, that was not read, and why. Those of a class are
// told together.
type skip struct {
	path, why string
	class     class
}

// class is why inputs of one kind are not read.
type class string

const (
	absent   class = "absent"   // an input that names nothing that can be read
	foreign  class = "foreign"  // text in another markup
	passed   class = "passed"   // a folder that is never walked into
	forge    class = "forge"    // a licence, change log or the like
	dated    class = "dated"    // minutes, a report, or what is put away
	planned  class = "planned"  // a proposal, a draft or a plan
	blank    class = "blank"    // a form that is to be filled in
	taught   class = "taught"   // a tutorial, an example or a sample
	formed   class = "formed"   // what a form says that documents of one folder fill in
	manual   class = "manual"   // a page for the users of a product, whose rules and procedures are not read
	unheaded class = "unheaded" // a file that is read without its front matter
)

// readInputs turns the task's inputs into files: a path names itself, a folder all
// markdown below it, a glob (with ** for any depth) what it matches. Folders
// and globs pass over dot-folders, folders of what others wrote such as vendor and themes, over the bundle
// unless they start inside it, and over files that hold nobody's knowledge
// (licences, change logs, a forge's templates). "!docs/archive/**" leaves out what the
// glob behind the mark matches, however it was named. The files come sorted by path.
func readInputs(ctx context.Context, f fs.FS, names []string, bundle string) ([]file, []skip, error) {
	c := collectFiles(ctx, f, names, bundle)
	paths := slices.Sorted(maps.Keys(c.found))
	var files []file
	total := 0
	for i, p := range paths {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if i >= maxFiles || total > maxTotal {
			c.skip(p, fmt.Sprintf("and %d more: over the limit of one session", len(paths)-i-1), "")
			break
		}
		if text, why := readText(f, p); why != "" {
			c.skip(p, why, "")
		} else {
			total += len(text)
			files = append(files, file{p, text})
		}
	}
	return files, c.skips, ctx.Err()
}

// Lacking says what keeps a reading of names from beginning: inputs that are not there or
// match nothing, or that none of their files can be read; nil for nothing. A file that an
// atom of g names as a source may be gone: then the atom is what is looked at.
func Lacking(f fs.FS, names []string, bundle string, g *okf.Graph) (out []string) {
	c := collectFiles(context.Background(), f, names, bundle)
	for _, s := range c.skips {
		if s.class == absent && !isCited(g, []string{s.path}) {
			out = append(out, s.path+" ("+s.why+")")
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, p := range slices.Sorted(maps.Keys(c.found)) {
		if _, why := readText(f, p); why == "" {
			return nil
		}
	}
	if isCited(g, names) {
		return nil
	}
	return []string{strings.Join(names, ", ") + " (holds no file in markdown or reStructuredText that can be read)"}
}

// collectFiles finds the files that names mean.
func collectFiles(ctx context.Context, f fs.FS, names []string, bundle string) *collector {
	c := &collector{ctx: ctx, fs: f, bundle: bundle, found: map[string]bool{}, told: map[skip]bool{}}
	var not []string
	for _, n := range names {
		if glob, is := strings.CutPrefix(n, "!"); is {
			not = append(not, glob)
		} else {
			c.addInput(n)
		}
	}
	for _, glob := range not {
		c.excludeGlob(glob)
	}
	c.skips = slices.DeleteFunc(c.skips, func(s skip) bool { // named by its own path as well
		return c.found[s.path] || s.class == passed && slices.ContainsFunc(names, func(n string) bool { return cleanPath(n) == s.path })
	})
	return c
}

type collector struct {
	ctx    context.Context
	fs     fs.FS
	bundle string
	found  map[string]bool
	skips  []skip
	told   map[skip]bool
}

// skip notes an input once, however many names lead to it.
func (c *collector) skip(path, why string, of class) {
	if s := (skip{path, why, of}); !c.told[s] {
		c.told[s] = true
		c.skips = append(c.skips, s)
	}
}

// cleanPath is an input as a path in the repository.
func cleanPath(name string) string {
	return strings.TrimPrefix(path.Clean(strings.TrimSuffix(name, "/")), "./")
}

func (c *collector) addInput(name string) {
	p := cleanPath(name)
	switch {
	case strings.Contains(name, "://"):
		c.skip(name, "an address, and this substrate reads only the repository", "")
	case name == "" || !fs.ValidPath(p):
		c.skip(name, "not a path inside the repository", absent)
	case strings.ContainsAny(p, "*?["):
		c.addGlob(p)
	default:
		c.addPath(name, p)
	}
}

func (c *collector) addPath(name, p string) {
	info, err := fs.Stat(c.fs, p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.skip(name, "not in the repository at this commit", absent)
	case err != nil:
		c.skip(name, err.Error(), "")
	case info.IsDir():
		c.walkFolder(p, func(string) bool { return true })
	default:
		c.found[p] = true
	}
}

// excludeGlob leaves out the files, and what was not read of them, that a glob matches.
func (c *collector) excludeGlob(glob string) {
	n := len(c.found) + len(c.skips)
	maps.DeleteFunc(c.found, func(p string, _ bool) bool { return policy.MatchGlob(glob, p) })
	c.skips = slices.DeleteFunc(c.skips, func(s skip) bool { return policy.MatchGlob(glob, s.path) })
	if len(c.found)+len(c.skips) == n {
		c.skip("!"+glob, "leaves out nothing: no file matches it", "")
	}
}

// addGlob walks from the part of the pattern that has no magic.
func (c *collector) addGlob(pattern string) {
	if _, err := path.Match(pattern, ""); err != nil {
		c.skip(pattern, "not a pattern: "+err.Error(), absent)
		return
	}
	parts := strings.Split(pattern, "/")
	n := slices.IndexFunc(parts, func(s string) bool { return strings.ContainsAny(s, "*?[") })
	root := path.Join(parts[:n]...)
	if root == "" {
		root = "."
	}
	if _, err := fs.Stat(c.fs, root); err != nil {
		c.skip(pattern, "matches no file in markdown or reStructuredText", absent)
		return
	}
	if !c.walkFolder(root, func(q string) bool { return policy.MatchGlob(pattern, q) }) {
		c.skip(pattern, "matches no file in markdown or reStructuredText", absent)
	}
}

// walkFolder finds the files below root that are wanted and can be read, and reports whether there
// are any, those that hold nobody's knowledge included.
func (c *collector) walkFolder(root string, wanted func(string) bool) (any bool) {
	_ = fs.WalkDir(c.fs, root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case c.ctx.Err() != nil:
			return fs.SkipAll
		case err != nil:
			c.skip(p, err.Error(), "")
		case d.IsDir() && p != root && p == c.bundle:
			return fs.SkipDir
		case d.IsDir() && p != root && isUnenteredFolder(d.Name()):
			if c.holdsFile(p, wanted) {
				c.skip(p, "a folder of that name", passed)
			}
			return fs.SkipDir
		case !d.Type().IsRegular() || !wanted(p):
		case isReadable(p) && boilerplateFile(path.Base(p)):
			c.skip(p, "a licence, change log or the like", forge)
			any = true
		case isReadable(p):
			c.found[p], any = true, true
		case in(".txt .adoc .html", strings.ToLower(path.Ext(p))):
			c.skip(p, "neither markdown nor reStructuredText", foreign)
		}
		return nil
	})
	return any
}

// holdsFile reports a folder with a markdown file that is wanted.
func (c *collector) holdsFile(dir string, wanted func(string) bool) (is bool) {
	_ = fs.WalkDir(c.fs, dir, func(p string, d fs.DirEntry, err error) error {
		if is = err == nil && d.Type().IsRegular() && isReadable(p) && wanted(p); is || c.ctx.Err() != nil {
			return fs.SkipAll
		}
		return nil
	})
	return is
}

// isUnenteredFolder names the folders that are never walked into.
func isUnenteredFolder(dir string) bool {
	return strings.HasPrefix(dir, ".") && dir != "." || in("node_modules vendor third_party third-party themes testdata changelogs __pycache__", dir)
}

// isReadable reports whether a file is in a markup that is read.
func isReadable(p string) bool {
	return in(".md .markdown .mdown .mkd .mdx .rst", path.Ext(withoutERB(p)))
}

// withoutERB is a path in lower case without the ending of a file that Ruby fills in.
func withoutERB(p string) string { return strings.TrimSuffix(strings.ToLower(p), ".erb") }

// release is the name of a file about one version.
var release = lazy(`^(?i:release|releases|version|changes|v)?[-_]?[0-9]+\.[0-9]+(?:\.[0-9]+)*\.\w+$`)

// changeLog and licensing are the names of change logs and of licences: others that begin so tell how one
// writes a change log or chooses a licence.
var (
	changeLog = lazy(`^change[-_]?logs?(?:[-_](?:v?[0-9].*|old|archived?|history|legacy|next|unreleased))?$`)
	licensing = lazy(`^eula$|^licen[sc]es?(?:[-_](?:[0-9].*|mit|apache|bsd|isc|[al]?gpl|mpl|cc|docs?|code)[0-9-_]*)?$`)
)

func boilerplateFile(base string) bool {
	name, _, _ := strings.Cut(base, ".")
	stem := strings.ToLower(name)
	if changeLog().MatchString(stem) || licensing().MatchString(stem) || release().MatchString(base) {
		return true
	}
	if name != strings.ToUpper(name) {
		return false // history.md may well say what a team knows, HISTORY.md is a change log
	}
	return strings.HasPrefix(stem, "license") || in("copying notice notices changes history news authors contributors "+
		"funding pull_request_template issue_template third-party-notices thirdpartynotices", stem)
}

// readText returns a file's text, or why it is none.
func readText(f fs.FS, p string) (text []byte, why string) {
	info, err := fs.Stat(f, p)
	if err != nil {
		return nil, err.Error()
	}
	if info.Size() > maxFile {
		return nil, "over 1 MiB"
	}
	text, err = fs.ReadFile(f, p)
	switch {
	case err != nil:
		return nil, err.Error()
	case !utf8.Valid(text):
		return nil, "not UTF-8 text"
	case bytes.IndexByte(text, 0) >= 0:
		return nil, "a binary file"
	case longestRun(text) > maxRun:
		return nil, fmt.Sprintf("%d bytes without an empty line, over the limit of %d", longestRun(text), maxRun)
	}
	return text, ""
}

// longestRun is the most bytes of text between two empty lines.
func longestRun(text []byte) int {
	most, run := 0, 0
	for line := range bytes.Lines(text) {
		run += len(line)
		if len(bytes.TrimSpace(line)) == 0 {
			run = 0
		}
		most = max(most, run)
	}
	return most
}

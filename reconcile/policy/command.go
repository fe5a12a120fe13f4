package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/odd-cli/odd/reconcile/secrets"
)

// CommandPolicy is what a command is judged against. The zero value is the
// strictest: nothing is allowed beyond the tables here.
type CommandPolicy struct {
	// Allow are beginnings of argv, like {"go", "test"} or {"make"}, for whose
	// effect a person answers: what such a program writes is not asked for. What
	// is denied stays denied.
	Allow [][]string
	// Work reports the argv of a program that may run at the top of the work tree whatever it
	// writes, for a session whose permit holds: the verdict says by Works that one runs. nil: none.
	Work func(argv []string) bool
	// Protect are globs of paths that no command may write, besides those that
	// [CheckProtected] knows.
	Protect []string
	// Root is the absolute path of the work tree, slashes only; an absolute path
	// below it is a path of the repository. Empty: every absolute path is outside.
	Root string
	// Dir is the folder of the repository the command starts in, "" for the top.
	Dir string
	// Outside are absolute folders outside the repository that may be written.
	Outside []string
	// Files is the work tree. Without it what a folder holds cannot be told, nor
	// what a symbolic link leads to: removing a folder is then unknown.
	Files fs.FS
}

// CommandVerdict is what a command line would do, as far as its letters tell.
type CommandVerdict struct {
	Programs [][]string `json:"programs"` // argv of each, in the order they are met; a word that only the shell could tell stands as it is written
	Reads    []string   `json:"reads,omitempty"`
	Writes   []string   `json:"writes,omitempty"`  // repository paths, sorted; outside it, as written; DIR/** is all below
	Stages   []string   `json:"stages,omitempty"`  // repository paths that git takes into the index or a commit; DIR/** is all below
	Commits  bool       `json:"commits,omitempty"` // git commits what is in the index
	Works    bool       `json:"works,omitempty"`   // a program of the policy's Work runs
	Unknown  bool       `json:"unknown"`           // Writes may not be all
	Reasons  []string   `json:"reasons,omitempty"` // why it is unknown
	Listable bool       `json:"-"`                 // with the programs of the line in the policy's Work, it is not unknown
	Findings []Finding  `json:"findings,omitempty"`
}

// Refused reports whether a hard finding forbids the command.
func (v CommandVerdict) Refused() bool {
	return slices.ContainsFunc(v.Findings, func(f Finding) bool { return f.Severity == Hard })
}

// ReadOnly reports whether the command is known to write nothing and may run.
func (v CommandVerdict) ReadOnly() bool {
	return !v.Unknown && !v.Works && !v.Commits && len(v.Writes)+len(v.Stages) == 0 && !v.Refused()
}

// JudgeCommand judges a line as bash would run it: every command of pipelines, lists,
// substitutions, functions and here-documents, what wrappers such as env, xargs
// and timeout run, and the text that sh -c, trap and here-documents give a
// shell. It reads the shell's syntax tree, so spacing, quoting and letter case
// hide nothing; what the tree cannot tell makes the verdict unknown, never safe.
//
// Reads are for people and for the rule that no credential file is read; a
// program may read more than its words name.
func JudgeCommand(line string, p CommandPolicy) CommandVerdict {
	s := newShell(p)
	s.judgeLine(line, p.startDirs(), input{})
	return s.verdict()
}

// JudgeArgv judges a command that is run without a shell.
func JudgeArgv(argv []string, p CommandPolicy) CommandVerdict {
	s := newShell(p)
	if len(argv) > 0 {
		c := call{dirs: p.startDirs()}
		for _, a := range argv {
			c.argv = append(c.argv, knownWord(a))
		}
		s.run(c)
	}
	return s.verdict()
}

// maxCommand is the longest command line that is read, in bytes: what a program
// writes into one line beyond it nobody has looked at.
const maxCommand = 32 << 10

// parse reads a command line as bash does. What bash would not run as it stands,
// a line that is not UTF-8 or holds characters nobody can see, is an error too.
func parse(line string) (*syntax.File, error) {
	if len(line) > maxCommand {
		return nil, fmt.Errorf("the command has %d bytes, more than the allowed %d", len(line), maxCommand)
	}
	for i, r := range line {
		switch {
		case r == utf8.RuneError:
			return nil, fmt.Errorf("column %d: not UTF-8", i+1)
		case r == '\r', r != '\n' && r != '\t' && unicode.IsControl(r), secrets.IsUnseen(r):
			return nil, fmt.Errorf("column %d: the invisible character %U", i+1, r)
		}
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(line), "")
	var perr syntax.ParseError
	switch {
	case errors.As(err, &perr):
		return nil, fmt.Errorf("column %d: %s", perr.Pos.Col(), perr.Text)
	case err != nil:
		return nil, err
	case isTooDeep(f):
		return nil, fmt.Errorf("it is nested more than %d levels deep", maxDepth)
	}
	return f, nil
}

// maxDepth is how deep a line's syntax tree is followed.
const maxDepth = 1000

func isTooDeep(f *syntax.File) bool {
	depth, deepest := 0, 0
	syntax.Walk(f, func(n syntax.Node) bool {
		if n == nil {
			depth--
			return true
		}
		depth++
		deepest = max(deepest, depth)
		return true
	})
	return deepest > maxDepth
}

// The bounds of one judgement. What is beyond them is refused, not skipped.
const (
	maxNesting = 8     // shells inside shells
	maxInner   = 32    // programs that run programs
	maxCalls   = 4000  // programs of one line
	maxListed  = 20000 // files met while looking into folders
)

// record gathers the verdict of one command.
type record struct {
	policy   CommandPolicy
	v        CommandVerdict
	seen     map[string]bool // findings and reasons given
	listable map[string]bool // reasons that go away where a person lists the program
	listed   int             // files met while looking into folders
}

// noteUnknown notes why the write set cannot be told.
func (r *record) noteUnknown(format string, args ...any) {
	reason := fmt.Sprintf(format, args...)
	if !r.seen[reason] {
		r.seen[reason] = true
		r.v.Reasons = append(r.v.Reasons, reason)
	}
}

func (r *record) addSoft(code, text, fix string) {
	r.addFinding(Finding{Code: code, Severity: Soft, How: BySyntax, Text: text, Fix: fix})
}
func (r *record) addHard(code, text, fix string) {
	r.addFinding(Finding{Code: code, Severity: Hard, How: BySyntax, Text: text, Fix: fix})
}

func (r *record) addFinding(f Finding) {
	if key := f.Code + "\x00" + f.Path + "\x00" + f.Text; !r.seen[key] {
		r.seen[key] = true
		r.v.Findings = append(r.v.Findings, f)
	}
}

// addProtected adds what forbids writing a path, and reports whether anything does.
func (r *record) addProtected(p string) bool {
	found := CheckProtected(p, r.policy.Protect)
	for _, f := range found {
		r.addFinding(f)
	}
	return len(found) > 0
}

// protectBelow refuses what is protected in a folder that is written as a whole.
func (r *record) protectBelow(dir string) {
	err := fs.WalkDir(r.policy.Files, dir, func(p string, d fs.DirEntry, err error) error {
		switch r.listed++; {
		case r.listed > maxListed:
			return fmt.Errorf("the written folders hold more than %d files", maxListed)
		case err != nil:
			r.noteUnknown("%s: %v", p, err)
		case p != dir && r.addProtected(p) && d.IsDir():
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		r.noteUnknown("%s: %v", dir, err)
	}
}

// close ends the judgement: nothing that was noted stands twice.
func (r *record) close() CommandVerdict {
	for _, list := range []*[]string{&r.v.Reads, &r.v.Writes, &r.v.Stages} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	r.v.Unknown = len(r.v.Reasons) > 0
	r.v.Listable = r.v.Unknown && !slices.ContainsFunc(r.v.Reasons, func(reason string) bool { return !r.listable[reason] })
	return r.v
}

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
	w := newWalker(p)
	w.judgeLine(line, w.startDirs(), input{})
	return w.verdict()
}

// JudgeArgv judges a command that is run without a shell.
func JudgeArgv(argv []string, p CommandPolicy) CommandVerdict {
	w := newWalker(p)
	c := call{dirs: w.startDirs()}
	for _, a := range argv {
		c.argv = append(c.argv, word{text: a, known: true, lead: a})
	}
	if len(argv) > 0 {
		w.judgeCall(c)
	}
	return w.verdict()
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

// walker gathers a verdict on its way through a command's trees.
type walker struct {
	p        CommandPolicy
	v        CommandVerdict
	funcs    map[string]dirs // functions of the line, with where they were made
	seen     map[string]bool // findings and reasons given
	sums     map[string]bool // variables that arithmetic computes
	set      map[string]bool // variables the line sets, and whether it tells to what
	gitIn    []string        // folders below the top that git works in
	depth    int             // of shells
	inside   int             // of programs
	listed   int
	pending  []string        // why the program being judged is unknown
	listable map[string]bool // reasons that go away where a person lists the program
	steered  bool            // the line sets a variable that a program may obey
	said     string          // all that was read as a line
	fills    *call           // the first program of unknown effect with a word that the line fills in
}

func newWalker(p CommandPolicy) *walker {
	return &walker{p: p, funcs: map[string]dirs{}, seen: map[string]bool{}, sums: map[string]bool{}, set: map[string]bool{}, listable: map[string]bool{}}
}

func (w *walker) verdict() CommandVerdict {
	w.judgeArithmetic()
	w.gitMade()
	if w.fills != nil {
		for _, a := range splitNames(w.said) {
			w.refuseGoverning(*w.fills, a)
		}
	}
	slices.Sort(w.v.Reads)
	slices.Sort(w.v.Writes)
	slices.Sort(w.v.Stages)
	w.v.Reads, w.v.Writes = slices.Compact(w.v.Reads), slices.Compact(w.v.Writes)
	w.v.Unknown = len(w.v.Reasons) > 0
	w.v.Listable = w.v.Unknown && !slices.ContainsFunc(w.v.Reasons, func(reason string) bool { return !w.listable[reason] })
	return w.v
}

// noteUnknown notes why the write set cannot be told.
func (w *walker) noteUnknown(format string, args ...any) {
	reason := fmt.Sprintf(format, args...)
	if !w.seen[reason] {
		w.seen[reason] = true
		w.v.Reasons = append(w.v.Reasons, reason)
	}
}

func (w *walker) addBySyntax(s Severity, code, text, fix string) {
	w.addFinding(Finding{Code: code, Severity: s, How: BySyntax, Text: text, Fix: fix})
}

func (w *walker) addHard(code, text, fix string) { w.addBySyntax(Hard, code, text, fix) }

func (w *walker) addFinding(f Finding) {
	if key := f.Code + "\x00" + f.Path + "\x00" + f.Text; !w.seen[key] {
		w.seen[key] = true
		w.v.Findings = append(w.v.Findings, f)
	}
}

// judgeLine judges text that a shell would read.
func (w *walker) judgeLine(text string, in dirs, from input) {
	if w.depth++; w.depth > maxNesting {
		w.addHard("command_too_deep", fmt.Sprintf("the command nests more than %d shells", maxNesting), "write the command itself")
		return
	}
	defer func() { w.depth-- }()
	w.said += "\n" + text
	f, err := parse(text)
	if err != nil {
		w.addHard("command_unparsed", "the command is not valid bash: "+err.Error(), "write a valid command")
		w.noteUnknown("the command does not parse")
		return
	}
	w.judgeList(f.Stmts, in, from)
}

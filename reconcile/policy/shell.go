package policy

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// dirs are the folders a command may be running in: more than one where a cd
// may have failed, lost where the line does not tell.
type dirs struct {
	at   []string // repository paths, "." for the top; outside it as written
	lost bool
}

func (d dirs) or(e dirs) dirs {
	at := slices.Clone(d.at)
	for _, p := range e.at {
		if !slices.Contains(at, p) {
			at = append(at, p)
		}
	}
	if len(at) > maxDirs {
		return dirs{at: at[:maxDirs], lost: true}
	}
	return dirs{at: at, lost: d.lost || e.lost}
}

func (d dirs) same(e dirs) bool { return d.lost == e.lost && slices.Equal(d.at, e.at) }

const maxDirs = 8

// input is what a command reads on its standard input.
type input struct {
	kind inputKind
	doc  word // a here-document
}

type inputKind int

const (
	inherited inputKind = iota // whoever runs the line
	piped                      // another command's output
	here                       // a here-document or here-string
	fromFile
)

// shell follows a line through its syntax tree to the programs that it runs.
type shell struct {
	record
	vars   variables
	funcs  map[string]dirs // functions of the line, with where they were made
	mine   []string        // those that the shell certainly has where it is
	depth  int             // of shells
	inside int             // of programs
	said   string          // all that was read as a line
	gitIn  []string        // folders below the top that git works in
	fills  *program        // the first of unknown effect with a word that the line fills in
}

func newShell(p CommandPolicy) *shell {
	return &shell{record: record{policy: p, seen: map[string]bool{}, listable: map[string]bool{}}, vars: variables{told: map[string]bool{}, evaluated: map[string]bool{}}, funcs: map[string]dirs{}}
}

func (s *shell) verdict() CommandVerdict {
	for _, name := range s.vars.untold() {
		s.noteUnknown("arithmetic or a test evaluates %s, and could run commands in its value; quote it in a test, or set it to a number", name)
	}
	s.gitMade()
	if s.fills != nil {
		for _, a := range splitNames(s.said) {
			s.fills.refuseGoverning(a)
		}
	}
	return s.close()
}

// openComment matches what may be a comment that ends in a backslash: for a shell it ends with its
// line, for the parser it goes on.
var openComment = lazyRegexp("(?m)((?:^|[\\s;|&()<>`])#[^\n]*\\\\)\n")

// judgeLine judges text that a shell would read, and returns where that shell is then.
func (s *shell) judgeLine(text string, in dirs, from input) (ok, bad dirs) {
	if plain := openComment().ReplaceAllString(text, "$1 \n"); plain != text {
		s.judgeLine(plain, in, from)
	}
	if s.depth++; s.depth > maxNesting {
		s.addHard("command_too_deep", fmt.Sprintf("the command nests more than %d shells", maxNesting), "write the command itself")
		return in, in
	}
	defer func() { s.depth-- }()
	s.said += "\n" + text
	f, err := parse(text)
	if err != nil {
		s.addHard("command_unparsed", "the command is not valid bash: "+err.Error(), "write a valid command")
		s.noteUnknown("the command does not parse")
		return in, in
	}
	return s.judgeList(f.Stmts, in, from)
}

// judgeList judges commands one after the other. Which of them fail is not known, so
// the next may start where either way leads. Only they certainly have a function that one
// of them makes.
func (s *shell) judgeList(stmts []*syntax.Stmt, in dirs, from input) (ok, bad dirs) {
	had := len(s.mine)
	defer func() { s.mine = s.mine[:had:had] }()
	ok, bad = in, in
	for i, st := range stmts {
		if i > 0 {
			in = ok.or(bad)
		}
		ok, bad = s.judgeStmt(st, in, from)
		if f, makes := st.Cmd.(*syntax.FuncDecl); makes && f.Name != nil && !st.Background && !st.Coprocess && !st.Disown {
			s.mine = append(s.mine, f.Name.Value)
		}
	}
	return ok, bad
}

// judgeStmt judges one statement and returns where the shell is when it succeeded
// and when it failed.
func (s *shell) judgeStmt(st *syntax.Stmt, in dirs, from input) (ok, bad dirs) {
	for _, r := range st.Redirs {
		from = s.judgeRedirect(r, in, from)
	}
	apart := st.Background || st.Coprocess || st.Disown
	if apart {
		s.addSoft("command_background", "the command leaves a program running in the background", "run it in the foreground")
	}
	if st.Cmd == nil {
		return in, in
	}
	ok, bad = s.judgeCmd(st.Cmd, in, from)
	switch {
	case apart:
		return in, in
	case st.Negated:
		return bad, ok
	}
	return ok, bad
}

func (s *shell) judgeCmd(c syntax.Command, in dirs, from input) (ok, bad dirs) {
	out := in
	switch c := c.(type) {
	case *syntax.CallExpr:
		return s.judgeCallExpr(c, in, from)
	case *syntax.BinaryCmd:
		return s.judgeBinary(c, in, from)
	case *syntax.Block:
		return s.judgeList(c.Stmts, in, from)
	case *syntax.Subshell:
		s.judgeList(c.Stmts, in, from)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return s.judgeStmt(c.Stmt, in, from)
		}
	case *syntax.CoprocClause:
		s.addHard("command_background", "coproc leaves a program running beside the shell", "run it in the foreground")
	case *syntax.FuncDecl:
		s.judgeFuncDecl(c, in)
	case *syntax.DeclClause:
		for _, a := range c.Args {
			s.judgeDeclaration(a, c.Variant.Value)
			s.judgeAssign(a)
			s.judgeExpansions(a, in)
		}
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			out = s.judgeBranches(out, from, c.Cond, c.Then)
		}
	case *syntax.WhileClause:
		out = s.judgeBranches(in, from, c.Cond, c.Do)
	case *syntax.CaseClause:
		s.judgeExpansions(c.Word, in)
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				s.judgeExpansions(p, in)
			}
			out = s.judgeBranches(out, from, item.Stmts)
		}
	case *syntax.ForClause:
		s.judgeLoop(c.Loop, in)
		out = s.judgeBranches(in, from, c.Do)
	default:
		s.judgeExpansions(c, in) // a test runs nothing but what it substitutes and computes
	}
	return out, out
}

func (s *shell) judgeBinary(c *syntax.BinaryCmd, in dirs, from input) (ok, bad dirs) {
	okX, badX := s.judgeStmt(c.X, in, from)
	switch c.Op {
	case syntax.AndStmt:
		okY, badY := s.judgeStmt(c.Y, okX, from)
		return okY, badX.or(badY)
	case syntax.OrStmt:
		okY, badY := s.judgeStmt(c.Y, badX, from)
		return okX.or(okY), badY
	}
	s.judgeStmt(c.Y, in, input{kind: piped})
	return in, in
}

// judgeBranches judges the parts of a conditional or a loop. Any of them may run, and in which
// folder the rest runs where one changes it is not followed.
func (s *shell) judgeBranches(in dirs, from input, parts ...[]*syntax.Stmt) dirs {
	for _, stmts := range parts {
		ok, bad := s.judgeList(stmts, in, from)
		if !ok.same(in) || !bad.same(in) {
			s.noteUnknown("a loop or a condition changes the folder it runs in; write cd before it")
			in = in.or(ok).or(bad)
			in.lost = true
		}
	}
	return in
}

// judgeLoop judges the head of a for loop, and the variable that it sets.
func (s *shell) judgeLoop(l syntax.Loop, in dirs) {
	s.judgeExpansions(l, in)
	switch l := l.(type) {
	case *syntax.WordIter:
		s.steer(l.Name.Value, "")
		s.vars.set(l.Name.Value, len(l.Items) > 0 && !slices.ContainsFunc(l.Items, func(w *syntax.Word) bool { return !isNumber(w) }))
	case *syntax.CStyleLoop:
		s.evaluate(l.Init, l.Cond, l.Post)
	}
}

// judgeFuncDecl judges a function's body where it is made; see judgeCallExpr for where it
// is called.
func (s *shell) judgeFuncDecl(f *syntax.FuncDecl, in dirs) {
	if f.Name == nil || f.Body == nil {
		s.addHard("command_unparsed", "the command defines a function without a name", "give the function a name")
		return
	}
	name := f.Name.Value
	if isKnownProgram(name) {
		s.addHard("command_redefines", "the command defines a function with the name of a program: "+name, "choose another name for the function")
	}
	if _, again := s.funcs[name]; again {
		s.noteUnknown("the function %s is defined twice", name)
	}
	s.funcs[name] = in
	syntax.Walk(f.Body, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 && readWord(c.Args[0]).text == name {
			s.addHard("command_fork_bomb", "the function "+name+" calls itself", "leave it out")
		}
		return true
	})
	ok, bad := s.judgeStmt(f.Body, in, input{kind: piped}) // its caller may give it anything
	if !ok.same(in) || !bad.same(in) {
		s.noteUnknown("the function %s changes the folder it runs in", name)
	}
}

// judgeExpansions judges what the words below a node run to get their text, and the
// variables they set on the way.
func (s *shell) judgeExpansions(n syntax.Node, in dirs) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			s.judgeList(n.Stmts, in, input{})
			return false
		case *syntax.ProcSubst:
			s.judgeList(n.Stmts, in, input{kind: piped})
			return false
		case *syntax.ParamExp:
			s.judgeParam(n)
		default:
			s.judgeComputed(n)
		}
		return true
	})
}

// judgeCallExpr judges a simple command: its assignments, its words and its program.
func (s *shell) judgeCallExpr(e *syntax.CallExpr, in dirs, from input) (ok, bad dirs) {
	for _, a := range e.Assigns {
		s.judgeExpansions(a, in)
		if a.Name != nil && a.Name.Value == "IFS" && len(e.Args) > 0 && readWord(e.Args[0]).is("read") {
			continue // which it steers, and nothing else
		}
		s.judgeAssign(a)
	}
	c := call{dirs: in, from: from}
	for _, arg := range e.Args {
		s.judgeExpansions(arg, in)
		c.argv = append(c.argv, readWord(arg))
	}
	if len(c.argv) == 0 {
		return in, in
	}
	name := c.argv[0]
	switch {
	case name.known && slices.Contains(s.mine, name.text):
		if !s.funcs[name.text].same(in) {
			s.noteUnknown("the function %s is called in another folder than it was defined in", name.text)
		}
		return in, in
	case name.is("cd", "pushd", "popd"):
		s.noteProgram(c)
		return s.changeFolder(c), in
	}
	s.run(c)
	return in, in
}

// changeFolder follows a cd, and loses its way at pushd and popd.
func (s *shell) changeFolder(c call) dirs {
	args := c.argv[1:]
	for len(args) > 0 && args[0].is("-L", "-P", "-e", "--") {
		args = args[1:]
	}
	switch {
	case c.dirs.lost:
		return c.dirs
	case c.name() != "cd" || len(args) != 1 || !args[0].known || args[0].is("-", ""):
		s.noteUnknown("%s goes to an unknown folder", c.name())
		return dirs{at: c.dirs.at, lost: true}
	}
	return s.policy.enterFolder(c.dirs, args[0])
}

// plainEnd matches the end of a here-document that every shell reads as it is written.
var plainEnd = lazyRegexp(`^(?:\\?[\w.!%+,:@/-]+|'[^'\\\n]+'|"[^"\\$` + "`" + `\n]+")$`)

// judgeRedirect judges one redirection and returns what it makes of standard input.
func (s *shell) judgeRedirect(r *syntax.Redirect, in dirs, from input) input {
	p := &program{shell: s, call: call{argv: []word{knownWord("a redirection")}, dirs: in}}
	var to word
	if r.Word != nil {
		s.judgeExpansions(r.Word, in)
		to = readWord(r.Word)
		p.argv = append(p.argv, to)
	}
	if r.N != nil {
		s.steer(strings.Trim(r.N.Value, "{}"), "") // {NAME}>FILE sets a variable
	}
	first := r.N == nil || r.N.Value == "0"
	reads := func(is input) input {
		if first {
			return is
		}
		return from
	}
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		if end := wordSource(r.Word); !plainEnd().MatchString(end) {
			s.addHard("command_unparsed", "a here-document ends at "+end+", which shells do not read alike", "write <<'END'")
		}
		if r.Hdoc != nil {
			s.judgeExpansions(r.Hdoc, in)
		}
		return reads(input{kind: here, doc: readDoc(r.Hdoc)})
	case syntax.WordHdoc:
		return reads(input{kind: here, doc: to})
	case syntax.RdrIn:
		if p.reads(to); strings.HasPrefix(to.text, "<(") {
			return reads(input{kind: piped})
		}
		return reads(input{kind: fromFile})
	case syntax.DplIn:
		return reads(input{kind: piped}) // any file that is open
	case syntax.DplOut:
		if to.known && strings.Trim(to.text, "0123456789-") == "" {
			return from
		}
	case syntax.RdrInOut:
		from = reads(input{kind: fromFile})
	}
	p.writes(false, to)
	p.settle()
	return from
}

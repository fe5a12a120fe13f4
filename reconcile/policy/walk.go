package policy

import (
	"maps"
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

func (w *walker) startDirs() dirs { return dirs{at: []string{inRepo(w.p.Dir)}} }

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
	kind  inputKind
	text  string // of a here-document
	known bool   // that the text holds no expansion
}

type inputKind int

const (
	inherited inputKind = iota // whoever runs the line
	piped                      // another command's output
	here                       // a here-document or here-string
	fromFile
)

// judgeList judges commands one after the other. Which of them fail is not known, so
// the next may start where either way leads.
func (w *walker) judgeList(ss []*syntax.Stmt, in dirs, from input) (ok, bad dirs) {
	ok, bad = in, in
	for i, s := range ss {
		if i > 0 {
			in = ok.or(bad)
		}
		ok, bad = w.judgeStmt(s, in, from)
	}
	return ok, bad
}

// judgeStmt judges one statement and returns where the shell is when it succeeded
// and when it failed.
func (w *walker) judgeStmt(s *syntax.Stmt, in dirs, from input) (ok, bad dirs) {
	for _, r := range s.Redirs {
		from = w.judgeRedirect(r, in, from)
	}
	if s.Background || s.Coprocess || s.Disown {
		w.addBySyntax(Soft, "command_background", "the command leaves a program running in the background", "run it in the foreground")
	}
	if s.Cmd == nil {
		return in, in
	}
	ok, bad = w.judgeCmd(s.Cmd, in, from)
	switch {
	case s.Background || s.Coprocess || s.Disown:
		return in, in
	case s.Negated:
		return bad, ok
	}
	return ok, bad
}

func (w *walker) judgeCmd(c syntax.Command, in dirs, from input) (ok, bad dirs) {
	switch c := c.(type) {
	case *syntax.CallExpr:
		return w.judgeCallExpr(c, in, from)
	case *syntax.BinaryCmd:
		return w.judgeBinary(c, in, from)
	case *syntax.Block:
		return w.judgeList(c.Stmts, in, from)
	case *syntax.Subshell:
		w.judgeList(c.Stmts, in, from)
		return in, in
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return w.judgeStmt(c.Stmt, in, from)
		}
		return in, in
	case *syntax.CoprocClause:
		w.addBySyntax(Soft, "command_background", "the command leaves a program running in the background", "run it in the foreground")
		w.judgeStmt(c.Stmt, in, input{kind: piped})
		return in, in
	case *syntax.FuncDecl:
		w.judgeFuncDecl(c, in)
		return in, in
	case *syntax.DeclClause:
		for _, a := range c.Args {
			w.judgeDeclaration(a)
			w.judgeAssign(a)
			w.judgeExpansions(a, in)
		}
		return in, in
	case *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause:
		out := w.judgeCompound(c, in, from)
		return out, out
	}
	w.judgeExpansions(c, in) // a test runs nothing but what it substitutes and computes
	return in, in
}

func (w *walker) judgeBinary(c *syntax.BinaryCmd, in dirs, from input) (ok, bad dirs) {
	switch c.Op {
	case syntax.AndStmt:
		okX, badX := w.judgeStmt(c.X, in, from)
		okY, badY := w.judgeStmt(c.Y, okX, from)
		return okY, badX.or(badY)
	case syntax.OrStmt:
		okX, badX := w.judgeStmt(c.X, in, from)
		okY, badY := w.judgeStmt(c.Y, badX, from)
		return okX.or(okY), badY
	}
	w.judgeStmt(c.X, in, from)
	w.judgeStmt(c.Y, in, input{kind: piped})
	return in, in
}

// judgeCompound judges the branches of a conditional or a loop. Any of them may run,
// and a loop that changes its folder may be anywhere afterwards.
func (w *walker) judgeCompound(c syntax.Command, in dirs, from input) dirs {
	out := in
	branch := func(cond, body []*syntax.Stmt) {
		ok, bad := w.judgeList(cond, in, from)
		out = out.or(ok).or(bad)
		ok, bad = w.judgeList(body, ok.or(bad), from)
		out = out.or(ok).or(bad)
	}
	switch c := c.(type) {
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			branch(c.Cond, c.Then)
		}
		return out
	case *syntax.CaseClause:
		w.judgeExpansions(c.Word, in)
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				w.judgeExpansions(p, in)
			}
			branch(nil, item.Stmts)
		}
		return out
	case *syntax.WhileClause:
		branch(c.Cond, c.Do)
	case *syntax.ForClause:
		w.judgeExpansions(c.Loop, in)
		if it, ok := c.Loop.(*syntax.WordIter); ok {
			w.judgeVariable(it.Name.Value, "")
			for _, item := range it.Items {
				v := readWord(item)
				w.noteSet(it.Name.Value, v.known)
			}
		}
		if it, ok := c.Loop.(*syntax.CStyleLoop); ok {
			w.addSums(it.Init, it.Cond, it.Post)
		}
		branch(nil, c.Do)
	}
	if !out.same(in) {
		w.noteUnknown("a loop changes the folder it runs in")
		out.lost = true
	}
	return out
}

// judgeFuncDecl judges a function's body where it is made; see judgeCallExpr for where it
// is called.
func (w *walker) judgeFuncDecl(f *syntax.FuncDecl, in dirs) {
	if f.Name == nil || f.Body == nil {
		w.addHard("command_unparsed", "the command defines a function without a name", "give the function a name")
		return
	}
	name := f.Name.Value
	if isKnownProgram(name) {
		w.addHard("command_redefines", "the command defines a function with the name of a program: "+name, "choose another name for the function")
	}
	if _, again := w.funcs[name]; again {
		w.noteUnknown("the function %s is defined twice", name)
	}
	w.funcs[name] = in
	if mayBeForkBomb(f.Body, name) {
		w.addHard("command_fork_bomb", "the function "+name+" calls itself without end", "leave it out")
	}
	ok, bad := w.judgeStmt(f.Body, in, input{})
	if !ok.same(in) || !bad.same(in) {
		w.noteUnknown("the function %s changes the folder it runs in", name)
	}
}

// mayBeForkBomb reports whether a function calls itself and starts programs side
// by side: it may be a bomb.
func mayBeForkBomb(body syntax.Node, name string) bool {
	itself, beside := false, false
	syntax.Walk(body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			itself = itself || len(n.Args) > 0 && readWord(n.Args[0]).text == name
		case *syntax.BinaryCmd:
			beside = beside || n.Op == syntax.Pipe || n.Op == syntax.PipeAll
		case *syntax.Stmt:
			beside = beside || n.Background || n.Coprocess || n.Disown
		}
		return true
	})
	return itself && beside
}

// judgeExpansions judges what the words below a node run to get their text, and the
// variables they set on the way.
func (w *walker) judgeExpansions(n syntax.Node, in dirs) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			w.judgeList(n.Stmts, in, input{})
			return false
		case *syntax.ProcSubst:
			w.judgeList(n.Stmts, in, input{kind: piped})
			return false
		case *syntax.ParamExp:
			w.judgeParam(n)
		default:
			w.judgeComputed(n)
		}
		return true
	})
}

// judgeParam judges an expansion of a variable that does more than give its value.
func (w *walker) judgeParam(n *syntax.ParamExp) {
	if n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) && n.Param != nil {
		w.judgeVariable(n.Param.Value, "")
		w.noteSet(n.Param.Value, false)
	}
	if n.Excl || n.Exp != nil && n.Exp.Op == syntax.OtherParamOps {
		w.noteUnknown("an indirect expansion may run what a variable holds")
	}
	w.addSums(n.Index)
	if n.Slice != nil {
		w.addSums(n.Slice.Offset, n.Slice.Length)
	}
}

// judgeComputed judges a node that is, or holds, arithmetic.
func (w *walker) judgeComputed(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.ArithmExp:
		w.addSums(n.X)
	case *syntax.ArithmCmd:
		w.addSums(n.X)
	case *syntax.LetClause:
		for _, x := range n.Exprs {
			w.addSums(x)
		}
	case *syntax.BinaryTest:
		if op := n.Op.String(); strings.HasPrefix(op, "-") && len(op) == 3 {
			w.addSums(n)
		}
	case *syntax.UnaryTest:
		if n.Op.String() == "-v" {
			w.addSums(n)
		}
	}
}

// addSums judges an arithmetic expression. The shell computes what a variable holds,
// and runs the commands in that, so the text of each must be told by the line.
func (w *walker) addSums(ns ...syntax.Node) {
	for _, n := range ns {
		if n == nil {
			continue
		}
		syntax.Walk(n, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CmdSubst:
				w.noteUnknown("arithmetic uses the output of a command, and could run commands in it")
				return false
			case *syntax.Word:
				if name := n.Lit(); syntax.ValidName(name) {
					w.sums[name] = true
				}
				if v := readWord(n); v.known && holdsCode(v.text) {
					w.noteUnknown("arithmetic could run the command in %s", v.text)
				}
			case *syntax.ParamExp:
				if n.Param != nil && !n.Length {
					w.sums[n.Param.Value] = true
				}
			case *syntax.BinaryArithm:
				if name, ok := n.X.(*syntax.Word); ok && strings.HasSuffix(n.Op.String(), "=") {
					w.judgeVariable(name.Lit(), "")
				}
			}
			return true
		})
	}
}

// judgeArithmetic says which variables arithmetic computes that hold what the line does
// not tell.
func (w *walker) judgeArithmetic() {
	for _, name := range slices.Sorted(maps.Keys(w.sums)) {
		if told, set := w.set[name]; !told || !set {
			w.noteUnknown("arithmetic or a test evaluates %s, and could run commands in its value; quote it in a test", name)
		}
	}
}

// judgeCallExpr judges a simple command: its assignments, its words and its program.
func (w *walker) judgeCallExpr(e *syntax.CallExpr, in dirs, from input) (ok, bad dirs) {
	for _, a := range e.Assigns {
		w.judgeAssign(a)
		w.judgeExpansions(a, in)
	}
	c := call{dirs: in, from: from}
	for _, arg := range e.Args {
		w.judgeExpansions(arg, in)
		c.argv = append(c.argv, readWord(arg))
	}
	if len(c.argv) == 0 {
		return in, in
	}
	name := c.argv[0]
	made, mine := w.funcs[name.text]
	switch {
	case name.known && mine:
		if !made.same(in) {
			w.noteUnknown("the function %s is called in another folder than it was defined in", name.text)
		}
		return in, in
	case name.known && name.text == "cd":
		return w.judgeCd(c)
	case name.known && (name.text == "pushd" || name.text == "popd"):
		w.noteUnknown("%s changes the folder through the directory stack", name.text)
		return dirs{at: in.at, lost: true}, in
	}
	w.judgeCall(c)
	return in, in
}

// judgeCd follows a change of folder.
func (w *walker) judgeCd(c call) (ok, bad dirs) {
	if w.noteProgram(c); c.dirs.lost {
		return c.dirs, c.dirs
	}
	args := c.argv[1:]
	for len(args) > 0 && args[0].known && slices.Contains([]string{"-L", "-P", "-e", "--"}, args[0].text) {
		args = args[1:]
	}
	if len(args) != 1 || !args[0].known || args[0].glob || args[0].text == "-" || args[0].text == "" {
		w.noteUnknown("cd goes to an unknown folder")
		return dirs{at: c.dirs.at, lost: true}, c.dirs
	}
	return w.enterFolder(c.dirs, args[0]), c.dirs
}

// judgeDeclaration judges a flag of a declaration that makes a variable more than text.
func (w *walker) judgeDeclaration(a *syntax.Assign) {
	if !a.Naked || a.Value == nil {
		return
	}
	flags := readWord(a.Value).lead
	switch {
	case flags == "" || flags[0] != '-':
	case strings.Contains(flags, "n"):
		w.addHard("command_environment", "the command gives a variable a second name", "use the variable's own name")
	case strings.Contains(flags, "i"):
		w.noteUnknown("a declaration evaluates a value, and could run commands in it")
	}
}

// judgeAssign judges a variable being set.
func (w *walker) judgeAssign(a *syntax.Assign) {
	if a.Name != nil {
		v := word{known: true}
		if a.Value != nil {
			v = readWord(a.Value)
		}
		w.judgeVariable(a.Name.Value, v.text)
		w.noteSet(a.Name.Value, v.known && a.Array == nil && a.Index == nil || isNumeric(a.Value))
		w.addSums(a.Index)
		if a.Array != nil {
			for _, e := range a.Array.Elems {
				w.addSums(e.Index)
			}
		}
	}
	if a.Naked && a.Value != nil { // an argument of declare that only the shell can read
		v := readWord(a.Value)
		name, value, _ := strings.Cut(v.text, "=")
		w.judgeVariable(name, value)
		if !v.known {
			w.noteUnknown("a declaration sets a variable that is not known")
		}
		return
	}
	if a.Value == nil {
		return
	}
	if v := readWord(a.Value); v.known && holdsCode(v.text) {
		w.noteUnknown("a variable holds the text of a command, which arithmetic could run")
	}
}

// noteSet notes whether the line tells what a variable is set to.
func (w *walker) noteSet(name string, told bool) {
	was, set := w.set[name]
	w.set[name] = told && (was || !set)
	if slices.Contains(integers, name) {
		w.sums[name] = true
	}
}

// integers are the shell's own variables whose value it computes when they are set.
var integers = strings.Fields("RANDOM SRANDOM SECONDS LINENO OPTIND HISTCMD EPOCHSECONDS BASHPID BASH_SUBSHELL PPID UID EUID")

// isNumeric reports whether a word is one arithmetic expansion: its value is a
// number, whatever it was computed from.
func isNumeric(v *syntax.Word) bool {
	if v == nil || len(v.Parts) != 1 {
		return false
	}
	_, ok := v.Parts[0].(*syntax.ArithmExp)
	return ok
}

// holdsCode reports whether text would run a command where a shell expands it.
func holdsCode(s string) bool { return strings.Contains(s, "$(") || strings.Contains(s, "`") }

// steering are the variables that decide which program runs, or what runs
// beside it.
var steering = []string{
	"PATH", "IFS", "ENV", "BASH_ENV", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS4", "CDPATH", "HOME", "PWD", "OLDPWD", "SHELL", "PAGER", "MANPAGER", "EDITOR", "VISUAL", "BROWSER",
	"LESSOPEN", "LESSCLOSE", "NODE_OPTIONS", "NODE_PATH", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PERL5OPT", "PERL5LIB", "PERL5DB", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS",
	"GOFLAGS", "GOROOT", "GOTOOLDIR", "GOPROXY", "GONOSUMDB", "GONOSUMCHECK", "GOINSECURE", "GOSUMDB", "GOENV", "GOTOOLCHAIN", "CC", "CXX", "AR", "RUSTC", "RUSTC_WRAPPER", "MAKEFLAGS", "MAKEFILES", "GZIP", "TAR_OPTIONS",
	"RIPGREP_CONFIG_PATH", "ODD_TTY", "TERMINFO", "BASH_ALIASES", "BASH_CMDS", "BASH_LOADABLES_PATH", "GOCACHEPROG", "GOAUTH", "GOVCS", "GOWORK", "PKG_CONFIG", "FC", "GCCGO",
	"GCONV_PATH", "LOCPATH", "NLSPATH", "GLIBC_TUNABLES", "AWKPATH", "AWKLIBPATH", "LESS", "LESSKEYIN", "LESSKEY_CONTENT",
}

// steeringPrefixes begin the names of more such variables.
var steeringPrefixes = []string{"LD_", "DYLD_", "GIT_", "SSH_", "BASH_FUNC_", "NPM_CONFIG_", "npm_config_", "PIP_", "XDG_", "CGO_", "BAT_"}

// tame are settings of such variables that only make programs do less.
var tame = []string{"PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_EDITOR=true", "GOPROXY=off", "GOTOOLCHAIN=local", "GOFLAGS=-mod=readonly", "GOFLAGS=-mod=vendor", "GOWORK=off", "CGO_ENABLED=0", "CGO_ENABLED=1"}

// quiet are variables that only change what a test prints, or how fast it is.
var quiet = strings.Fields("CI NO_COLOR FORCE_COLOR CLICOLOR TERM COLUMNS LANG LC_ALL TZ GOMAXPROCS RUST_BACKTRACE NODE_ENV MIX_ENV RAILS_ENV")

// judgeVariable judges a variable that is set; value is "" where it is not told.
func (w *walker) judgeVariable(name, value string) {
	if value == "" {
		name, _, _ = strings.Cut(name, "[")
	}
	steers := slices.Contains(steering, name) || slices.ContainsFunc(steeringPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
	w.steered = w.steered || strings.ToLower(name) != name && !slices.Contains(tame, name+"="+value) && !slices.Contains(quiet, name)
	if steers && !slices.Contains(tame, name+"="+value) {
		w.addHard("command_environment", "the command sets "+name+", which changes what programs run", "run the command without it")
	}
}

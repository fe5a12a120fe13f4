package policy

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// variables are those of a line. Arithmetic runs the commands in what one holds, so the line has
// to set it to a number.
type variables struct {
	told      map[string]bool // those that the line sets, and whether always to a number
	evaluated map[string]bool // by arithmetic
	steered   bool            // one is set that a program may obey
	lists     bool            // one may be a list
}

// untold lists the variables that arithmetic evaluates and that may hold more than a number.
func (v variables) untold() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(v.evaluated)), func(name string) bool { return v.told[name] })
}

// integers are the shell's own variables whose value it computes when they are set.
var integers = strings.Fields("RANDOM SRANDOM SECONDS LINENO OPTIND HISTCMD EPOCHSECONDS BASHPID BASH_SUBSHELL PPID UID EUID")

// set notes a variable that the line sets, and whether to a number.
func (v variables) set(name string, number bool) {
	was, again := v.told[name]
	v.told[name] = number && (was || !again)
	if slices.Contains(integers, name) {
		v.evaluated[name] = true
	}
}

// steer judges a variable that is set; value is "" where the line does not tell it.
func (s *shell) steer(name, value string) {
	if value == "" {
		name, _, _ = strings.Cut(name, "[")
	}
	if slices.Contains(tame, name+"="+value) {
		return
	}
	s.vars.steered = s.vars.steered || strings.ToLower(name) != name && !slices.Contains(quiet, name)
	if slices.Contains(steering, name) || slices.ContainsFunc(steeringPrefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
		s.addHard("command_environment", "the command sets "+name+", which changes what programs run", "run the command without it")
	}
}

// judgeAssign judges a variable being set, or an argument of declare that only the shell can read.
func (s *shell) judgeAssign(a *syntax.Assign) {
	v := word{known: true}
	if a.Value != nil {
		v = readWord(a.Value)
	}
	if a.Name != nil {
		s.steer(a.Name.Value, v.text)
		s.vars.set(a.Name.Value, !a.Naked && a.Array == nil && a.Index == nil && isNumber(a.Value))
		s.evaluate(a.Index)
		if s.vars.lists = s.vars.lists || a.Array != nil || a.Index != nil; a.Array != nil {
			for _, e := range a.Array.Elems {
				s.evaluate(e.Index)
			}
		}
	}
	if a.Naked && a.Value != nil {
		name, value, _ := strings.Cut(v.text, "=")
		s.steer(name, value)
		if !v.known || strings.Contains(name, "[") || strings.HasPrefix(value, "(") {
			s.noteUnknown("a declaration sets a variable that is not known")
		}
	} else if v.known && holdsCode(v.text) {
		s.noteUnknown("a variable holds the text of a command, which arithmetic could run")
	}
}

// judgeDeclaration judges a flag of a declaration that makes a variable more than text, and a value
// that a shell reads as a list: it runs the commands in one.
func (s *shell) judgeDeclaration(a *syntax.Assign, word string) {
	if a.Value == nil {
		return
	}
	v := readWord(a.Value)
	if list := strings.HasPrefix(v.lead, "(") || !v.known && v.lead == ""; !a.Naked && list && (s.vars.lists || v.lead != "") {
		s.noteUnknown("%s gives a variable a value that the shell may read as a list, and run commands in it; write NAME=VALUE", word)
	}
	switch flags := v.lead; {
	case !strings.HasPrefix(flags, "-"):
	case strings.Contains(flags, "n"):
		s.addHard("command_environment", "the command gives a variable a second name", "use the variable's own name")
	case strings.ContainsAny(flags, "aA"):
		s.vars.lists = true
	case strings.Contains(flags, "i"):
		s.noteUnknown("a declaration evaluates a value, and could run commands in it")
	}
}

// isNumber reports a value that is digits, or one arithmetic expansion, whatever that is computed from.
func isNumber(v *syntax.Word) bool {
	if v == nil || len(v.Parts) != 1 {
		return v == nil
	}
	_, computed := v.Parts[0].(*syntax.ArithmExp)
	return computed || v.Lit() != "" && strings.Trim(v.Lit(), "0123456789") == ""
}

// holdsCode reports whether text would run a command where a shell expands it.
func holdsCode(s string) bool { return strings.Contains(s, "$(") || strings.Contains(s, "`") }

// judgeParam judges an expansion of a variable that does more than give its value.
func (s *shell) judgeParam(n *syntax.ParamExp) {
	if n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) && n.Param != nil {
		s.steer(n.Param.Value, "")
		s.vars.set(n.Param.Value, false)
	}
	if n.Excl || n.Exp != nil && n.Exp.Op == syntax.OtherParamOps {
		s.noteUnknown("an indirect expansion may run what a variable holds")
	}
	s.evaluate(n.Index)
	if n.Slice != nil {
		s.evaluate(n.Slice.Offset, n.Slice.Length)
	}
}

// judgeComputed judges a node that is, or holds, arithmetic.
func (s *shell) judgeComputed(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.ArithmExp:
		s.evaluate(n.X)
	case *syntax.ArithmCmd:
		s.evaluate(n.X)
	case *syntax.LetClause:
		s.noteUnknown("let evaluates text, and could run commands in it; use $((…))")
		for _, x := range n.Exprs {
			s.evaluate(x)
		}
	case *syntax.BinaryTest:
		if op := n.Op.String(); strings.HasPrefix(op, "-") && len(op) == 3 {
			s.evaluate(n)
		}
	case *syntax.UnaryTest:
		if n.Op.String() == "-v" {
			s.evaluate(n)
		}
	}
}

// evaluate judges arithmetic expressions.
func (s *shell) evaluate(ns ...syntax.Node) {
	for _, n := range ns {
		if n == nil {
			continue
		}
		syntax.Walk(n, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CmdSubst:
				s.noteUnknown("arithmetic uses the output of a command, and could run commands in it")
				return false
			case *syntax.Word:
				s.evaluateWord(n)
				if v := readWord(n); v.known && holdsCode(v.text) {
					s.noteUnknown("arithmetic could run the command in %s", v.text)
				}
			case *syntax.ParamExp:
				if n.Param != nil && !n.Length {
					s.vars.evaluated[n.Param.Value] = true
				}
			case *syntax.BinaryArithm:
				if name, ok := n.X.(*syntax.Word); ok && strings.HasSuffix(n.Op.String(), "=") {
					s.steer(name.Lit(), "")
				}
			}
			return true
		})
	}
}

// evaluateWord judges a word of arithmetic, in which quotes and empty values hide no name.
func (s *shell) evaluateWord(w *syntax.Word) {
	switch w.Parts[0].(type) {
	case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ArithmExp:
		if len(w.Parts) == 1 {
			return // it is judged for itself
		}
	}
	source := wordSource(w)
	if strings.Contains(source, "'") {
		s.noteUnknown("arithmetic evaluates %s; write it without quotes", source)
	}
	for _, name := range strings.FieldsFunc(source, func(r rune) bool { return !strings.ContainsRune(nameLetters, r) }) {
		if syntax.ValidName(name) {
			s.vars.evaluated[name] = true
		}
	}
}

// steering are the variables that decide which program runs, or what runs
// beside it.
var steering = []string{
	"PATH", "IFS", "ENV", "BASH_ENV", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS4", "CDPATH", "HOME", "PWD", "OLDPWD", "SHELL", "PAGER", "MANPAGER", "EDITOR", "VISUAL", "BROWSER",
	"LESSOPEN", "LESSCLOSE", "NODE_OPTIONS", "NODE_PATH", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PERL5OPT", "PERL5LIB", "PERL5DB", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS",
	"GOFLAGS", "GOROOT", "GOTOOLDIR", "GOPROXY", "GONOSUMDB", "GONOSUMCHECK", "GOINSECURE", "GOSUMDB", "GOENV", "GOTOOLCHAIN", "CC", "CXX", "AR", "RUSTC", "RUSTC_WRAPPER", "MAKEFLAGS", "MAKEFILES", "GZIP", "TAR_OPTIONS",
	"RIPGREP_CONFIG_PATH", "ODD_TTY", "TERMINFO", "BASH_ALIASES", "BASH_CMDS", "BASH_LOADABLES_PATH", "GOCACHEPROG", "GOAUTH", "GOVCS", "GOWORK", "PKG_CONFIG", "FC", "GCCGO",
	"GCONV_PATH", "LOCPATH", "NLSPATH", "GLIBC_TUNABLES", "AWKPATH", "AWKLIBPATH", "LESS", "LESSKEYIN", "LESSKEY_CONTENT", "GLOBIGNORE", "SIMPLE_BACKUP_SUFFIX",
}

// steeringPrefixes begin the names of more such variables.
var steeringPrefixes = []string{"LD_", "DYLD_", "GIT_", "SSH_", "BASH_FUNC_", "NPM_CONFIG_", "npm_config_", "PIP_", "XDG_", "CGO_", "BAT_"}

// tame are settings of such variables that only make programs do less.
var tame = []string{"PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_EDITOR=true", "GOPROXY=off", "GOTOOLCHAIN=local", "GOFLAGS=-mod=readonly", "GOFLAGS=-mod=vendor", "GOWORK=off", "CGO_ENABLED=0", "CGO_ENABLED=1"}

// quiet are variables that only change what a test prints, or how fast it is.
var quiet = strings.Fields("CI NO_COLOR FORCE_COLOR CLICOLOR TERM COLUMNS LANG LC_ALL TZ GOMAXPROCS RUST_BACKTRACE NODE_ENV MIX_ENV RAILS_ENV")

package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/odd-cli/odd/reconcile/policy"
)

// effect is something a Go file does to the machine or to itself.
type effect struct {
	code, text string
	node       ast.Node
}

// effectsOf finds what a Go file does, and the commands that go generate would run for it.
// Code that is compiled in and not read is an effect of its file.
func effectsOf(d *delta, s side) []hit {
	if (d.ext == ".s" || d.ext == ".syso") && s.here {
		return []hit{newHit("dynamic_code_introduced", "is compiled in without being readable source", policy.ByText, "dynamic_code_introduced", d.Path, 0)}
	}
	if d.ext != ".go" || s.tree == nil {
		return nil
	}
	var out []effect
	for _, im := range s.tree.Imports {
		switch p, _ := strconv.Unquote(im.Path.Value); p {
		case "plugin", "unsafe", "C", "runtime/cgo":
			out = append(out, effect{"dynamic_code_introduced", fmt.Sprintf("imports %q, which can run code that is not in the source", p), im})
		}
	}
	for _, g := range s.tree.Comments {
		for _, c := range g.List {
			if strings.HasPrefix(c.Text, "//go:linkname") || strings.HasPrefix(c.Text, "//go:cgo_") || strings.HasPrefix(c.Text, "//go:wasmimport") {
				out = append(out, effect{"dynamic_code_introduced", "links a name to code in another place", c})
			}
		}
	}
	reflects := slices.Contains(slices.Collect(maps.Values(s.imports)), "reflect")
	s.eachCall(s.tree, func(name string, call *ast.CallExpr) {
		e := callEffect(name, call)
		if e.code == "" && reflects && s.callsReflected(name, call) {
			e = effect{"dynamic_code_introduced", "calls a function found by reflection", call}
		}
		if e.code != "" {
			out = append(out, e)
		}
	})
	hits := findGenerates(s)
	for _, e := range append(out, loadEffects(s)...) {
		hits = append(hits, newHit(e.code, e.text, policy.BySyntax, e.code, s.textOf(e.node), s.lineOf(e.node)))
	}
	return hits
}

var shellNames = []string{"sh", "bash", "zsh", "dash", "ksh", "fish", "cmd", "cmd.exe", "powershell", "powershell.exe", "pwsh", "busybox", "env"}

// callEffect says what a call of another package's function does: runs a program, gives
// rights, or asks whether it is being tested. Of rights, the bits by which others may write
// and those that lend an id are loose.
func callEffect(name string, call *ast.CallExpr) effect {
	first, _ := literalText(firstOf(call.Args))
	last, _ := literalText(lastOf(call.Args))
	bits, rights := readRights(call.Args)
	switch {
	case name == "os/exec.Command" || name == "os/exec.CommandContext":
		at := btoi(name == "os/exec.CommandContext")
		if at >= len(call.Args) {
			return effect{}
		}
		program, known := literalText(call.Args[at])
		program = program[strings.LastIndexAny(program, `/\`)+1:]
		if known && slices.Contains(shellNames, strings.ToLower(program)) {
			return effect{"shell_exec_introduced", "runs the shell " + program, call}
		}
		return effect{"process_exec_introduced", "runs a program", call}
	case slices.Contains(systemCalls, name):
		return effect{"shell_exec_introduced", "runs a program through a system call", call}
	case rights && bits&0o22 != 0o22 && (name == "syscall.Umask" || name == "golang.org/x/sys/unix.Umask"):
		return effect{"permission_loosened", "sets a umask that lets others write", call}
	case rights && bits&0o6002 != 0 && (slices.Contains(modeCalls, name) || strings.HasSuffix(name, ".Chmod")):
		return effect{"permission_loosened", fmt.Sprintf("sets the file mode %#o", bits), call}
	case name == "testing.Testing", name == "flag.Lookup" && strings.HasPrefix(first, "test."),
		(name == "strings.HasSuffix" || name == "strings.Contains") && (last == ".test" || last == ".test.exe"):
		return effect{"test_detected", "checks whether it runs in a test", call}
	}
	return effect{}
}

var (
	systemCalls = []string{"os.StartProcess", "syscall.Exec", "syscall.ForkExec", "syscall.StartProcess", "golang.org/x/sys/unix.Exec", "syscall.Syscall", "syscall.RawSyscall", "syscall.Syscall6"}
	modeCalls   = []string{"os.Chmod", "os.Mkdir", "os.MkdirAll", "os.OpenFile", "os.WriteFile"}
)

// callsReflected reports a call of a value of reflection that is not visibly a function which
// the file declares, and one that makes such a value of a function of a package that acts.
func (s side) callsReflected(name string, call *ast.CallExpr) bool {
	if name == "reflect.ValueOf" {
		return s.fromPackage(firstOf(call.Args), maxChain)
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"Call", "CallSlice", "MethodByName"}, sel.Sel.Name) {
		return false
	}
	of, ok := sel.X.(*ast.CallExpr)
	if pkg, rest, _ := strings.Cut(calleeName(sel.X), "."); sel.Sel.Name == "MethodByName" || !ok || s.imports[pkg] != "reflect" || rest != "ValueOf" {
		return true
	}
	id, ok := firstOf(of.Args).(*ast.Ident)
	return !ok || id.Obj == nil || id.Obj.Kind != ast.Fun
}

// fromPackage reports a function of a package that acts, or a variable that the file gives one.
func (s side) fromPackage(e ast.Expr, depth int) bool {
	switch x := e.(type) {
	case *ast.ParenExpr:
		return depth > 0 && s.fromPackage(x.X, depth-1)
	case *ast.CallExpr: // a conversion
		return depth > 0 && len(x.Args) == 1 && calleeName(x) == "any" && s.fromPackage(x.Args[0], depth-1)
	case *ast.SelectorExpr:
		pkg, ok := x.X.(*ast.Ident)
		if !ok || pkg.Obj != nil || !ast.IsExported(x.Sel.Name) {
			return false
		}
		from := s.imports[pkg.Name]
		return strings.HasPrefix(from, "golang.org/x/sys/") || slices.Contains([]string{"os", "os/exec", "syscall", "plugin", "net", "net/http"}, from)
	case *ast.Ident:
		if x.Obj == nil {
			return types.Universe.Lookup(x.Name) == nil // any file of the package may say what it is
		}
		var value ast.Expr
		switch d := x.Obj.Decl.(type) {
		case *ast.AssignStmt:
			if i := slices.IndexFunc(d.Lhs, func(e ast.Expr) bool { return dottedName(e) == x.Name }); i >= 0 && i < len(d.Rhs) {
				value = d.Rhs[i]
			}
		case *ast.ValueSpec:
			if i := slices.IndexFunc(d.Names, func(id *ast.Ident) bool { return id.Name == x.Name }); i >= 0 && i < len(d.Values) {
				value = d.Values[i]
			}
		}
		return depth > 0 && s.fromPackage(value, depth-1)
	}
	return false
}

func firstOf(list []ast.Expr) ast.Expr {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

func lastOf(list []ast.Expr) ast.Expr {
	if len(list) == 0 {
		return nil
	}
	return list[len(list)-1]
}

// readRights reads the last argument of a call as rights.
func readRights(args []ast.Expr) (bits uint64, ok bool) {
	e := lastOf(args)
	if c, is := e.(*ast.CallExpr); is && len(c.Args) == 1 {
		e = c.Args[0] // os.FileMode(0o777)
	}
	if dottedName(e) == "os.ModePerm" || dottedName(e) == "fs.ModePerm" {
		return 0o777, true
	}
	lit, is := e.(*ast.BasicLit)
	if !is || lit.Kind != token.INT {
		return 0, false
	}
	n, err := strconv.ParseUint(lit.Value, 0, 32)
	return n, err == nil
}

// loadEffects finds what a file does by being loaded: in init, and in the values
// of its variables.
func loadEffects(s side) []effect {
	var out []effect
	look := func(n ast.Node) {
		s.eachCall(n, func(name string, call *ast.CallExpr) {
			if actsOnMachine(name) {
				out = append(out, effect{"load_side_effect", "calls " + name + " when the package is loaded", call})
			}
		})
	}
	for _, d := range s.tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name == "init" && d.Body != nil {
				look(d.Body)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					for _, e := range v.Values {
						if _, isFunc := e.(*ast.FuncLit); !isFunc {
							look(e)
						}
					}
				}
			}
		}
	}
	return out
}

// onNetwork finds the functions of net and net/http that use the network or change how a program does.
var onNetwork = lazy(`^net(?:/http)?\.(?:Dial|Listen|Lookup|Resolve|FileConn|FileListener|Interface|Get|Head|Post|Serve|Handle\b|HandleFunc\b|Default\w+\.)`)

// actsOnMachine reports whether a function changes or asks the machine.
func actsOnMachine(name string) bool {
	for _, p := range []string{"os/exec.", "syscall.", "golang.org/x/sys/", "plugin."} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return onNetwork().MatchString(name) || slices.Contains(strings.Fields(`os.Remove os.RemoveAll os.Rename os.WriteFile os.Create os.OpenFile os.Mkdir os.MkdirAll os.Chmod os.Chown
		os.Setenv os.Unsetenv os.Clearenv os.Exit os.Symlink os.Link os.Truncate os.StartProcess os.Chdir os.CopyFS`), name)
}

// findGenerates finds the commands that go generate would run.
func findGenerates(s side) []hit {
	var out []hit
	for i, l := range s.lines() {
		line, ok := strings.CutPrefix(l, "//go:generate")
		if !ok {
			continue
		}
		line = strings.TrimSpace(line)
		v := policy.JudgeCommand(line, policy.CommandPolicy{})
		code := "generate_introduced"
		if v.Refused() || slices.ContainsFunc(v.Findings, func(f policy.Finding) bool { return f.Code == "command_network" }) {
			code = "generate_denied"
		}
		out = append(out, newHit(code, fmt.Sprintf("go generate would run %q", short80(line)), policy.BySyntax, l, "", i+1))
	}
	return out
}

package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/odd-cli/odd/reconcile/policy"
)

// checkLinks judges what a change takes away and still uses: imports of a file, and
// declarations of a folder, in every file of the change and beside it.
func checkLinks(c *change) []policy.Finding {
	var out []policy.Finding
	for _, d := range c.deltas {
		if d.ext == ".go" {
			out = append(out, checkImports(d)...)
		} else {
			out = append(out, importsByText(d)...)
		}
	}
	return append(out, checkSymbols(c)...)
}

// checkImports finds names of imports that a Go file has no more and uses still.
func checkImports(d *delta) []policy.Finding {
	if d.now.tree == nil {
		return nil
	}
	var out []policy.Finding
	_, selected := usesOf(d.now.tree)
	for as, from := range d.now.imports {
		if d.was.imports[as] == "" && selected[as] == nil && as == guessName(from) {
			return nil // a new import, whose package may have the name of one that is gone
		}
	}
	for name, from := range d.was.imports {
		if _, still := d.now.imports[name]; still || name == "_" || name == "." {
			continue
		}
		for _, use := range selected[name] {
			out = append(out, d.oneFinding("removed_import_still_referenced", policy.BySyntax, d.now.lineOf(use), fmt.Sprintf("uses %s, but %q is no longer imported", name, from))...)
			break
		}
	}
	slices.SortFunc(out, func(a, b policy.Finding) int { return a.Line - b.Line })
	return out
}

// usesOf returns the names that a Go file uses and does not declare, and of those before a
// dot what is selected from them.
func usesOf(f *ast.File) (names map[string]ast.Node, selected map[string]map[string]ast.Node) {
	names, selected = map[string]ast.Node{}, map[string]map[string]ast.Node{}
	free := map[*ast.Ident]bool{}
	for _, id := range f.Unresolved {
		names[id.Name], free[id] = id, true
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok && free[id] {
				if selected[id.Name] == nil {
					selected[id.Name] = map[string]ast.Node{}
				}
				selected[id.Name][sel.Sel.Name] = sel
			}
		}
		return true
	})
	return names, selected
}

// addDeclared adds the names that a declaration gives to a package.
func addDeclared(to map[string]bool, d ast.Decl) map[string]bool {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.Name != "init" && d.Name.Name != "main" {
			to[d.Name.Name] = true
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				to[s.Name.Name] = true
			case *ast.ValueSpec:
				for _, id := range s.Names {
					to[id.Name] = true
				}
			}
		}
	}
	delete(to, "_")
	return to
}

// checkSymbols finds declarations that a folder has no more and that a file of the
// change, or one beside it, still uses.
func checkSymbols(c *change) []policy.Finding {
	gone, now := c.removedSymbols()
	if len(gone) == 0 {
		return nil
	}
	var out []policy.Finding
	for _, d := range slices.Concat(c.deltas, c.beside) {
		if d.now.tree == nil {
			continue
		}
		names, selected := usesOf(d.now.tree)
		still := func(line ast.Node, name, dir string) {
			out = append(out, d.oneFinding("symbol_removed_still_used", policy.BySyntax, d.now.lineOf(line), fmt.Sprintf("uses %s, which is no longer declared in %s", name, dir))...)
		}
		for _, g := range gone {
			if use := names[g.name]; g.dir == d.dir && use != nil && d.now.imports[g.name] == "" {
				still(use, g.name, g.dir)
			}
			for as, from := range d.now.imports {
				if !importsFolder(from, g.dir) || !ast.IsExported(g.name) || slices.ContainsFunc(now[g.name], func(dir string) bool { return len(dir) > len(g.dir) && importsFolder(from, dir) }) {
					continue // of a folder below, which has the name
				}
				if use := selected[as][g.name]; use != nil {
					still(use, as+"."+g.name, g.dir)
				}
			}
		}
	}
	return out
}

// importsFolder reports an import whose path ends in the path of a folder.
func importsFolder(from, dir string) bool { return from == dir || strings.HasSuffix(from, "/"+dir) }

type symbol struct{ dir, name string }

// removedSymbols lists what the folders of a change declare no more, and the folders that
// have each name. A name that Go itself has stays usable.
func (c *change) removedSymbols() (gone []symbol, folders map[string][]string) {
	was, now := map[symbol]bool{}, map[symbol]bool{}
	note := func(to map[symbol]bool, dir string, s side) {
		if s.tree == nil {
			return
		}
		for _, d := range s.tree.Decls {
			for name := range addDeclared(map[string]bool{}, d) {
				to[symbol{dir, name}] = true
			}
		}
	}
	for _, d := range c.deltas {
		note(was, d.dir, d.was)
		note(now, d.dir, d.now)
	}
	for _, d := range c.beside {
		note(now, d.dir, d.now)
	}
	folders = map[string][]string{}
	for s := range now {
		folders[s.name] = append(folders[s.name], s.dir)
	}
	for s := range was {
		if !now[s] && types.Universe.Lookup(s.name) == nil {
			gone = append(gone, s)
		}
	}
	slices.SortFunc(gone, func(a, b symbol) int { return strings.Compare(a.dir+" "+a.name, b.dir+" "+b.name) })
	return gone, folders
}

// bindings find the names that imports of other languages bind, over as many lines
// as an import takes.
var bindings = sync.OnceValue(func() map[string]*regexp.Regexp {
	py := regexp.MustCompile(`(?m)^[ \t]*(?:from[ \t]+\S+[ \t]+)?import[ \t]+(\([^)]*\)|[^(\n]+)`)
	js := regexp.MustCompile(`(?m)^[ \t]*(?:(?:import|export)\s+(?:type\s+)?([^;'"()]+?)\s+from\b|(?:const|let|var)\s+([^;=]+?)\s*=\s*require\()`)
	return map[string]*regexp.Regexp{".py": py, ".js": js, ".mjs": js, ".ts": js, ".tsx": js, ".jsx": js}
})

var (
	identifier = lazy(`[A-Za-z_$][A-Za-z0-9_$]*`)
	// declaredName finds a name that a file declares itself.
	declaredName = lazy(`(?m)^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:(?:def|class|function|const|let|var|type|interface|enum)\s+([A-Za-z_$][A-Za-z0-9_$]*)|([A-Za-z_$][A-Za-z0-9_$]*)\s*=[^=])|\b(?:as|for)\s+([A-Za-z_$][A-Za-z0-9_$]*)`)
	// pythonParameters and pythonParameter find where a function's list of parameters begins, and its next name.
	pythonParameters = lazy(`(?m)^([ \t]*)(?:async[ \t]+)?def[ \t]+\w+[ \t]*(?:\[[^(\n]*)?\(`)
	pythonParameter  = lazy(`^\s*\*{0,2}\s*(\w+)\s*[:=,)]`)
	// quotes finds text in quotes, which names nothing unless it is an f-string of Python.
	quotes = lazy(`[A-Za-z]*(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')`)
)

// pythonBuiltins are names that modules often replace, and that stay when the import goes.
var pythonBuiltins = []string{"open", "print", "input", "map", "filter", "zip", "range", "str", "bytes", "int", "super", "object"}

// scriptGlobals are names that browsers and Node.js have without an import.
var scriptGlobals = strings.Fields(`AbortController AbortSignal Blob Buffer Event EventTarget File FormData Headers ReadableStream Request Response
	TextDecoder TextEncoder TransformStream URL URLSearchParams WebSocket WritableStream clearImmediate clearInterval clearTimeout console crypto
	fetch performance process queueMicrotask setImmediate setInterval setTimeout structuredClone`)

// importsByText does for Python and JavaScript what a tree does for Go.
func importsByText(d *delta) []policy.Finding {
	re := bindings()[d.ext]
	if re == nil || d.After == nil {
		return nil
	}
	before, after, known := d.Before, d.After, scriptGlobals
	if d.ext == ".py" {
		before, after, known = blankPython(d.Before), blankPython(d.After), pythonBuiltins
	}
	gone, _ := importedNames(re, before, d.ext == ".py") // a function of Python has its imports for itself
	kept, inImport := importedNames(re, after, false)
	for _, m := range declaredName().FindAllSubmatch(after, -1) {
		kept[string(m[1])+string(m[2])+string(m[3])] = true
	}
	for name := range kept {
		delete(gone, name)
	}
	maps.DeleteFunc(gone, func(name string, _ bool) bool { return slices.Contains(known, name) })
	if len(gone) == 0 {
		return nil
	}
	var out []policy.Finding
	if d.ext == ".py" {
		blankParameters(after, gone)
	}
	for i, l := range (side{src: after}).lines() {
		l = strings.TrimSpace(l)
		if inImport[i+1] || strings.HasPrefix(l, "#") || strings.HasPrefix(l, "//") || strings.HasPrefix(l, "*") {
			continue
		}
		l = quotes().ReplaceAllStringFunc(l, func(s string) string {
			if strings.ContainsAny(s[:strings.IndexAny(s, `"'`)], "fF") {
				return s
			}
			return ""
		})
		for _, at := range identifier().FindAllStringIndex(l, -1) {
			name := l[at[0]:at[1]]
			if !gone[name] || strings.HasSuffix(l[:at[0]], ".") || isArgument(l[at[1]:]) {
				continue
			}
			delete(gone, name)
			out = append(out, d.oneFinding("removed_import_still_referenced", policy.ByText, i+1, "uses "+name+", which is no longer imported")...)
		}
	}
	return out
}

// blankParameters puts spaces for those names in Python that are a parameter of a function:
// where its list of parameters says so, and in its body. Of src, comments and texts are blank.
func blankParameters(src []byte, names map[string]bool) {
	for at := 0; ; {
		m := pythonParameters().FindSubmatchIndex(src[at:])
		if m == nil {
			return
		}
		indent, taken := m[3]-m[2], map[string]bool{}
		at += m[1] - 1
		for depth := 0; at < len(src); at++ {
			c := src[at]
			if depth += openBrackets(string(c)); depth == 0 {
				break
			}
			if c == '"' || c == '\'' {
				at += max(bytes.IndexByte(src[at+1:], c), 0) + 1
			} else if depth == 1 && (c == '(' || c == ',') {
				if p := pythonParameter().FindSubmatch(src[at+1:]); p != nil && names[string(p[1])] {
					taken[string(p[1])] = true
					blank(p[1])
				}
			}
		}
		at = min(at, len(src))
		if len(taken) == 0 {
			continue
		}
		end := at
		for l := range bytes.Lines(src[at:]) {
			if end > at && dedents(string(l), indent) {
				break
			}
			end += len(l)
		}
		_, body, _ := bytes.Cut(src[at:end], []byte(":")) // behind what the function returns
		for _, word := range identifier().FindAll(body, -1) {
			if taken[string(word)] {
				blank(word)
			}
		}
	}
}

// isArgument reports that what stands before is the name of an argument or a key, not a use.
func isArgument(rest string) bool {
	return strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, "==") && !strings.HasPrefix(rest, "=>")
}

// importedNames returns the names that the imports of a text bind, and the lines, from 1, that
// imports take. With top, imports that are indented are passed over.
func importedNames(re *regexp.Regexp, text []byte, top bool) (names map[string]bool, lines map[int]bool) {
	names, lines = map[string]bool{}, map[int]bool{}
	for _, m := range re.FindAllSubmatchIndex(text, -1) {
		if top && strings.ContainsRune(" \t", rune(text[m[0]])) {
			continue
		}
		first := bytes.Count(text[:m[0]], []byte("\n")) + 1
		for n := range bytes.Count(text[m[0]:m[1]], []byte("\n")) + 1 {
			lines[first+n] = true
		}
		for g := 2; g+1 < len(m); g += 2 {
			if m[g] >= 0 {
				addBoundNames(names, string(text[m[g]:m[g+1]]))
			}
		}
	}
	return names, lines
}

// boundNames are the names that a file of Python or JavaScript declares, and as true those that it
// imports, but for what it has from its language, a runner of tests or, in JavaScript, a package.
func boundNames(ext string, text []byte) map[string]bool {
	out, re := map[string]bool{}, bindings()[ext]
	if re == nil {
		return nil
	}
	text = foreignImports().ReplaceAll(text, nil)
	for _, m := range declaredName().FindAllSubmatch(text, -1) {
		out[string(m[1])+string(m[2])+string(m[3])] = false
	}
	names, _ := importedNames(re, text, false)
	for name := range names {
		out[name] = true
	}
	return out
}

// foreignImports find what imports from a language, a runner of tests or a package.
var foreignImports = sync.OnceValue(func() *regexp.Regexp {
	python := `(?:anyio|asyncio|builtins|collections|contextlib|datetime|decimal|functools|hypothesis|io|itertools|json|mock|operator|os|pathlib|pytest|pytest_mock|six|sys|time|trio|typing|unittest)\b`
	return regexp.MustCompile(`(?m)^[ \t]*(?:from[ \t]+` + python + `\S*[ \t]+import[ \t]+(?:\([^)]*\)|[^(\n]+)|import[ \t]+` + python + `[^\n'"]*$|` +
		`(?:(?:import|export)\s+[^;'"()]+?\s+from\s*|(?:const|let|var)\s+[^;=]+?\s*=\s*require\(\s*)["'](?:(?:node|bun|npm|jsr):[^"'\n]*|@\w[^"'\n]*|\w[\w.-]*)["'])`)
})

// addBoundNames adds the names of an import's list, the last word of each: "a as b" binds b.
func addBoundNames(names map[string]bool, list string) {
	var plain strings.Builder
	for l := range strings.Lines(list) {
		l, _, _ = strings.Cut(l, "#")
		l, _, _ = strings.Cut(l, "//")
		plain.WriteString(l + " ")
	}
	for _, part := range strings.FieldsFunc(plain.String(), func(r rune) bool { return strings.ContainsRune(",{}();", r) }) {
		if words := strings.Fields(strings.ReplaceAll(part, ":", " ")); len(words) > 0 && words[len(words)-1] != "*" {
			names[strings.Split(path.Base(words[len(words)-1]), ".")[0]] = true
		}
	}
}

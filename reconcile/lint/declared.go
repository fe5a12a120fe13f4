package lint

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// compareNames returns the names that the code of the change declared and does not have any
// more, its tests aside, and those that it has still. A declaration that goes on under
// another name stands. Of languages other than Go any long name that is gone from all
// code is removed, and the functions of the files of the change stand.
func (c *change) compareNames() (removed, stands map[string]bool) {
	was, now := map[string]string{}, map[string]string{}
	for _, d := range slices.Concat(c.deltas, c.beside) {
		if !d.test && !slices.Contains(proseExts(), d.ext) {
			addDeclarations(d.ext, d.was, was)
			addDeclarations(d.ext, d.now, now)
		}
	}
	removed, stands = map[string]bool{}, map[string]bool{}
	for _, d := range slices.Concat(c.deltas, c.beside) {
		if d.test {
			continue
		}
		for _, f := range d.now.listFunctions() {
			stands[f.decl.Name.Name] = true
		}
		if d.ext != ".go" {
			for w := range findRoutines(d.ext, d.now) {
				stands[lastName(w)] = true
			}
		}
	}
	come := map[string]bool{}
	for w, rest := range now {
		come[rest] = come[rest] || was[w] == ""
	}
	for w, rest := range was {
		if _, still := now[w]; !still {
			w = strings.TrimPrefix(w, declaredMark)
			stands[w] = rest != "" && come[rest]
			removed[w] = !stands[w]
		}
	}
	return removed, stands
}

// fewerFunctions are the names of functions and methods that the code of the change declares less
// often than it did.
func (c *change) fewerFunctions() counts[string] {
	was, now := counts[string]{}, counts[string]{}
	count := func(d *delta, s side, to counts[string]) {
		for _, f := range s.listFunctions() {
			to[f.decl.Name.Name]++
		}
		for _, l := range s.lines() {
			if m := declaration().FindStringSubmatch(l); d.ext != ".go" && m != nil {
				to[m[1]]++
			}
		}
	}
	for _, d := range c.deltas {
		if !d.test {
			count(d, d.was, was)
			count(d, d.now, now)
		}
	}
	return was.subtract(now)
}

// leavesFolder reports a function that a folder declares no more, and that no other folder declares
// instead, whatever else bears its name.
func (c *change) leavesFolder(dir, name string) bool {
	was, now := "", false
	each := func(s side, do func(f function, text string)) {
		for _, f := range s.listFunctions() {
			do(f, strings.Replace(s.textOf(f.decl), f.decl.Name.Name, "", 1))
		}
	}
	for _, d := range c.deltas {
		each(d.was, func(f function, text string) {
			if d.dir == dir && !d.test && f.name == name {
				was = text
			}
		})
	}
	for _, d := range slices.Concat(c.deltas, c.beside) {
		old := map[string]bool{}
		each(d.was, func(f function, _ string) { old[f.name] = true })
		each(d.now, func(f function, text string) {
			now = now || text == was || f.decl.Name.Name == name && (d.dir == dir || !old[f.name])
		})
	}
	return was != "" && !now
}

// declaredMark stands before a name of another language where it is declared: that a name is
// no more declared says more than that it stands nowhere.
const declaredMark = "declares "

// addDeclarations adds the names that a side declares, each with what declares it less
// the name.
func addDeclarations(ext string, s side, to map[string]string) {
	if ext != ".go" {
		for _, l := range s.lines() {
			for _, w := range identifier().FindAllString(l, -1) {
				if len(w) >= 8 {
					to[w] += ""
				}
			}
			if m := declaration().FindStringSubmatch(l); m != nil {
				to[m[1]] = strings.Replace(l, m[1], "", 1)
				to[declaredMark+m[1]] = to[m[1]]
			}
		}
		return
	}
	if s.tree == nil {
		return
	}
	for _, decl := range s.tree.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok {
			to[f.Name.Name] = strings.Replace(s.textOf(f), f.Name.Name, "", 1)
			continue
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				to[n.Name.Name] = s.textOf(n.Type)
			case *ast.ValueSpec:
				for _, id := range n.Names {
					to[id.Name] += ""
				}
			case *ast.Field:
				for _, id := range n.Names {
					to[id.Name] += ""
				}
			case *ast.FuncLit:
				return false
			}
			return true
		})
	}
}

// touchesCode reports whether the change touches more than tests, prose and comments: code,
// but for new functions that do nothing, or a helper of tests that was there.
func (c *change) touchesCode() bool {
	return slices.ContainsFunc(c.deltas, func(d *delta) bool {
		if d.test {
			was := map[string]string{}
			for _, f := range d.was.listFunctions() {
				was[f.name] = d.was.textOf(f.decl)
			}
			return slices.ContainsFunc(d.now.listFunctions(), func(f function) bool {
				_, last, _ := strings.Cut(f.name, ".")
				return !isTestName(f.name) && !isTestName(last) && was[f.name] != "" && was[f.name] != d.now.textOf(f.decl)
			})
		}
		return !slices.Contains(proseExts(), d.ext) && !slices.Contains(strings.Split(d.dir, "/"), "testdata") && (d.ext != ".go" || !passedOver(d.Path)) && d.was.codeOnly() != d.now.codeOnly() && !d.addsNothing()
	})
}

// addsNothing reports a Go file to which only functions that do nothing come, types without
// fields, and imports.
func (d *delta) addsNothing() bool {
	if !d.goTrees() || !d.now.here {
		return false
	}
	was := counts[string]{}
	if d.was.here {
		for _, decl := range d.was.tree.Decls {
			was[d.was.textOf(decl)]++
		}
	}
	for _, decl := range d.now.tree.Decls {
		if text := d.now.textOf(decl); was[text] > 0 {
			was[text]--
			continue
		}
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if (function{decl: decl}).work() > 0 {
				return false
			}
		case *ast.GenDecl:
			if slices.ContainsFunc(decl.Specs, func(s ast.Spec) bool {
				t, named := s.(*ast.TypeSpec)
				if !named {
					return decl.Tok != token.IMPORT
				}
				fields, ok := t.Type.(*ast.StructType)
				return !ok || fields.Fields.NumFields() > 0
			}) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(slices.Collect(maps.Values(was)), func(n int) bool { return n > 0 })
}

// codeOnly is a side without its comments of whole lines, and without spaces.
func (s side) codeOnly() string {
	var out strings.Builder
	for _, l := range s.lines() {
		if l = strings.Join(strings.Fields(l), ""); l != "" && !strings.HasPrefix(l, "//") && l[0] != '#' && l[0] != '*' && !strings.HasPrefix(l, "/*") {
			out.WriteString(l)
		}
	}
	return out.String()
}

package sense

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/okf"
)

// undocumentedExports are the exported names of a Go file without a comment, but for those
// that an older version had so. Tests, commands, internal packages and generated files have
// none, and a file that does not parse.
func undocumentedExports(name string, before []nameAt, after []byte) (out []Finding) {
	if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.Contains("/"+name, "/internal/") || foreignFolders.MatchString(name) {
		return nil
	}
	for _, n := range undocumentedNames(after) {
		if !slices.ContainsFunc(before, func(o nameAt) bool { return o.name == n.name }) {
			out = append(out, Finding{Sensor: "export", Subject: name, Signature: n.name + " has no comment", Line: n.line})
		}
	}
	return out
}

// wellKnown are methods that need no comment, as linters for Go have it.
var wellKnown = []string{"Error", "Is", "Read", "ServeHTTP", "String", "Unwrap", "Write"}

type nameAt struct {
	name string
	line int
}

// undocumentedNames returns the exported names of a Go file that have no comment.
func undocumentedNames(text []byte) (out []nameAt) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "", text, parser.ParseComments)
	if err != nil || f.Name.Name == "main" || ast.IsGenerated(f) {
		return nil
	}
	add := func(of *ast.Ident, prefix string, docs ...*ast.CommentGroup) {
		if of.IsExported() && !slices.ContainsFunc(docs, func(d *ast.CommentGroup) bool { return d != nil }) {
			out = append(out, nameAt{prefix + of.Name, set.Position(of.Pos()).Line})
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if prefix, ok := receiverPrefix(d); ok && (prefix == "" || !slices.Contains(wellKnown, d.Name.Name)) {
				add(d.Name, prefix, d.Doc)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					add(s.Name, "", d.Doc, s.Doc, s.Comment)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						add(n, "", d.Doc, s.Doc, s.Comment)
					}
				}
			}
		}
	}
	return out
}

// receiverPrefix returns "T." for a method of an exported type T and "" for a function; ok is
// false for a method that no other package sees.
func receiverPrefix(d *ast.FuncDecl) (prefix string, ok bool) {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return "", true
	}
	of := d.Recv.List[0].Type
	for {
		switch t := of.(type) {
		case *ast.StarExpr:
			of = t.X
		case *ast.IndexExpr:
			of = t.X
		case *ast.IndexListExpr:
			of = t.X
		case *ast.Ident:
			return t.Name + ".", t.IsExported()
		default:
			return "", false
		}
	}
}

// namedPath is a path in backticks: with a folder, and a name that has an end.
var namedPath = regexp.MustCompile("`([A-Za-z0-9_.][A-Za-z0-9_./-]*/[A-Za-z0-9_.-]*\\.[A-Za-z0-9]+)`")

// findDeadReferences are the references of a Markdown file to files of the repository that are not
// there: links, and paths in backticks of what was there once. Has tells whether a path is
// a file or a folder now, and had whether it was before; had is nil where there is no before.
func findDeadReferences(name string, text []byte, has, had func(string) bool) (out []Finding) {
	if ext := strings.ToLower(path.Ext(name)); ext != ".md" && ext != ".markdown" || foreignFolders.MatchString(name) {
		return nil
	}
	add := func(what, to string, line int) {
		if to != "" && to != "." && !strings.HasPrefix(to, "../") && !has(to) {
			out = append(out, Finding{Sensor: "document", Subject: name, Signature: what + " " + to + ", which is not there", Line: line})
		}
	}
	doc, err := okf.New(name, []okf.Field{{Key: "type", Value: "document"}}, "\n"+string(text))
	if err != nil {
		return nil
	}
	for _, l := range doc.Links() {
		add("links to", l.Target, l.Line-doc.BodyLine)
	}
	for _, m := range namedPath.FindAllSubmatchIndex(text, -1) {
		to := path.Clean(string(text[m[2]:m[3]]))
		if had != nil && had(to) {
			add("names", to, bytes.Count(text[:m[0]], []byte("\n"))+1)
		}
	}
	return out
}

// Due are the chores whose time has come at now, each for its day, week or month by UTC.
func Due(chores []string, now time.Time) (out []Finding) {
	now = now.UTC()
	for _, c := range chores {
		every, what, err := ParseChore(c)
		if err != nil {
			continue // odd.toml is refused for it
		}
		year, week := now.ISOWeek()
		at := map[string]string{"daily": now.Format(time.DateOnly), "weekly": fmt.Sprintf("%d-W%02d", year, week), "monthly": now.Format("2006-01")}[every]
		out = append(out, Finding{Sensor: "due", Subject: what, Signature: every + ", for " + at})
	}
	return out
}

// ParseChore reads "weekly: Update the dependencies"; daily and monthly are the others.
func ParseChore(s string) (every, what string, err error) {
	every, what, _ = strings.Cut(s, ":")
	if what = strings.TrimSpace(what); what == "" || !slices.Contains([]string{"daily", "weekly", "monthly"}, every) {
		return "", "", fmt.Errorf(`%q: want daily, weekly or monthly, a colon and what is to be done, like "weekly: Update the dependencies"`, s)
	}
	return every, what, nil
}

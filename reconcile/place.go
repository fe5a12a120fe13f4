package reconcile

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/odd-cli/odd/okf"
)

// idForm is the form of an id that odd creates; longer ones make bad file names.
var idForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,119}$`) })

// reservedFolders are the folders of the bundle that an agent's atom may not be in.
var reservedFolders = []string{"canon", "personas", "handoffs", "journal", "ledger", "proposals", "governance"}

// governing are the types that only a person writes: canon, and who an agent is.
var governing = []string{"canon", "constraint", "principle", "method", "definition", "persona", "handoff", "journal"}

// folderOf returns the folder of a new atom of type t: the plural of the type, or canon for
// the canon types. It is "" for a type without a letter or digit.
func folderOf(t string) string {
	if isType(t, governing[:5]...) {
		return "canon"
	}
	name := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, strings.TrimSpace(t)), "-")
	switch {
	case name == "":
		return ""
	case len(name) > 1 && strings.HasSuffix(name, "y") && !strings.ContainsRune("aeiou", rune(name[len(name)-2])):
		return name[:len(name)-1] + "ies"
	case strings.HasSuffix(name, "s"), strings.HasSuffix(name, "x"), strings.HasSuffix(name, "ch"), strings.HasSuffix(name, "sh"):
		return name + "es"
	}
	return name + "s"
}

// badPath explains why p is not a path inside a bundle; "" if it is.
func badPath(p string) string {
	switch {
	case p == "":
		return ""
	case strings.HasPrefix(p, "/") || strings.ContainsAny(p, "\\\x00"):
		return "is not a path inside the bundle"
	}
	for _, s := range strings.Split(p, "/") {
		if s == ".." || s == "." || s == "" {
			return "leads out of the bundle"
		}
		if strings.HasPrefix(s, ".") {
			return "is in a hidden folder"
		}
	}
	if b := strings.ToLower(path.Base(p)); b == "index.md" || b == "log.md" {
		return "is a reserved file name"
	}
	return ""
}

// isReserved reports a path in a folder that only people write in.
func isReserved(p string) bool {
	first, _, _ := strings.Cut(strings.ToLower(p), "/")
	return slices.Contains(reservedFolders, first)
}

// nameIndex finds the prior atoms by everything that a new atom could collide with. The
// maps have only the keys of the candidates, so a large bundle is read once and not copied.
type nameIndex struct {
	path  map[string]*okf.Atom // lower case, because some file systems ignore case
	stem  map[string]*okf.Atom
	title map[string]*okf.Atom // type and title
	bare  map[string]*okf.Atom // type and id without folders and type prefix
	types map[string]bool      // of the candidates
}

// indexNames looks in g for the names of the candidates without a prior. titles has the
// titles that the emission changes, because new atoms are compared with the result.
func indexNames(g *okf.Graph, cands []candidate, titles map[okf.ID]string) nameIndex {
	n := nameIndex{map[string]*okf.Atom{}, map[string]*okf.Atom{}, map[string]*okf.Atom{}, map[string]*okf.Atom{}, map[string]bool{}}
	for _, c := range cands {
		if c.prior == nil {
			n.path[strings.ToLower(c.path)], n.stem[string(c.id)] = nil, nil
			n.title[c.title], n.bare[c.bare] = nil, nil
			n.types[foldType(c.Atom.Type)] = true
		}
	}
	if len(n.types) == 0 {
		return n
	}
	for _, a := range g.Atoms() {
		if t, changed := titles[a.ID]; changed {
			b := *a
			b.Title = t
			a = &b
		}
		setFirst(n.path, strings.ToLower(a.Path), a)
		setFirst(n.stem, path.Base(string(a.ID)), a)
		setFirst(n.stem, strings.TrimSuffix(path.Base(a.Path), ".md"), a)
		if n.types[foldType(a.Type)] {
			n.addKeys(titleKey(a), bareKey(a.Type, a.ID), a)
		}
	}
	return n
}

// addKeys records the keys that would make a candidate the same thing as a.
func (n nameIndex) addKeys(title, bare string, a *okf.Atom) {
	setFirst(n.title, title, a)
	setFirst(n.bare, bare, a)
}

// setFirst sets a wanted key to the first atom that has it. Prior atoms come in path order,
// candidates by id.
func setFirst(m map[string]*okf.Atom, k string, a *okf.Atom) {
	if cur, wanted := m[k]; wanted && cur == nil {
		m[k] = a
	}
}

// findSame returns the atom that c duplicates; nil if there is none.
func (n nameIndex) findSame(c candidate) *okf.Atom {
	if c.title != "" && n.title[c.title] != nil {
		return n.title[c.title]
	}
	return n.bare[c.bare]
}

func foldType(t string) string { return strings.ToLower(strings.TrimSpace(t)) }

// titleKey returns type and title after NFC, case folding and joining white space.
func titleKey(a *okf.Atom) string {
	t := strings.Join(strings.Fields(cases.Fold().String(norm.NFC.String(a.Title))), " ")
	if t == "" {
		return ""
	}
	return foldType(a.Type) + "\x00" + norm.NFC.String(t)
}

// bareKey returns type and id without folders and without a leading "type-".
func bareKey(t string, id okf.ID) string {
	t = foldType(t)
	return t + "\x00" + strings.TrimPrefix(strings.ToLower(path.Base(string(id))), strings.ReplaceAll(t, " ", "-")+"-")
}

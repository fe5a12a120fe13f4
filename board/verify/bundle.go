package verify

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona"
	"github.com/odd-cli/odd/persona/anchor"
)

// bundle is a parsed bundle with the tree it came from.
type bundle struct {
	tree     repo.OID
	graph    *okf.Graph
	problems []okf.Problem
}

// ReadBundle returns the graph of a commit's bundle. It reloads only what changed since the last call, because the
// bundles of two successive commits share nearly all atoms.
func (h *history) ReadBundle(commit repo.OID, root string) *okf.Graph {
	files, err := fs.Sub(h.ReadTree(commit), root)
	must(err)
	tree, _ := h.Find(commit, root)
	b := bundle{tree: tree}
	changed, near := h.changedSinceLast(tree)
	switch {
	case near:
		b.graph, b.problems = okf.Reload(files, h.bundle.graph, h.bundle.problems, changed)
	default:
		b.graph, b.problems, err = okf.Load(files)
		must(err)
	}
	must(okf.Unread(b.problems))
	h.bundle = b
	return b.graph
}

// changedSinceLast returns the atom files that differ from the bundle read last. near is false if there was none or
// many files differ.
func (h *history) changedSinceLast(tree repo.OID) (changed map[string]bool, near bool) {
	if h.bundle.graph == nil {
		return nil, false
	}
	all := h.Diff(h.bundle.tree, tree)
	changed = map[string]bool{}
	for _, ch := range all {
		if path.Ext(ch.Path) == ".md" {
			changed[ch.Path] = true
		}
	}
	return changed, len(changed) < muchChanged
}

// muchChanged is the number of changed atoms from which on a bundle is read as a whole.
const muchChanged = 256

// personas has the personas that were compiled from a bundle, and from others before it that make the same ones.
type personas struct {
	tree repo.OID
	by   map[string]rules.Persona // by role
}

// CompilePersona compiles a role's persona from a commit's bundle. It compiles none again while only tasks change,
// which is what most commits of a board do.
func (h *history) CompilePersona(commit repo.OID, root, role string) rules.Persona {
	tree, _ := h.Find(commit, root)
	if h.personas.by == nil || tree != h.personas.tree && !h.makesSamePersonas(h.personas.tree, tree) {
		h.personas.by = map[string]rules.Persona{}
	}
	h.personas.tree = tree
	p, ok := h.personas.by[role]
	if !ok {
		p = rules.NewPersona(h.ReadBundle(commit, root), role)
		h.personas.by[role] = p
	}
	p.Commit = string(commit)
	return p
}

// makesSamePersonas reports that two bundles differ in nothing that a persona shows.
func (h *history) makesSamePersonas(was, is repo.OID) bool {
	for _, ch := range h.Diff(was, is) {
		if path.Ext(ch.Path) != ".md" {
			continue // no atom
		}
		a, b := h.ReadAtom(ch.Old, ch.OldMode, ch.Path), h.ReadAtom(ch.New, ch.NewMode, ch.Path)
		if a == nil || b == nil || !persona.Overlooks(a, b) {
			return false
		}
	}
	return true
}

// constitution is what a role is bound by, or why nothing is.
type constitution struct {
	anchor.Constitution
	atoms []*okf.Atom // of the file it was expected in
	err   error
}

// FindConstitution returns the constitution of a role in a commit, where it is expected in one file. It reads none
// again while that file and the folders of constitutions stay.
func (h *history) FindConstitution(at repo.OID, law *config.Config, name, role string) (anchor.Constitution, []*okf.Atom, error) {
	blob, mode := h.Find(at, name)
	k := blob + repo.OID(fmt.Sprintf(" %s %q %q %q %q", mode, law.Root, name, role, law.Anchor.Constitutions))
	for _, dir := range law.Anchor.Constitutions {
		top, _, _ := strings.Cut(dir, "/")
		for _, beside := range []string{"", ".__tmp__", ".__old__"} { // of an interrupted update
			oid, mode := h.Find(at, top+beside)
			k += repo.OID(mode) + oid + " "
		}
	}
	c, ok := h.charters.get(k)
	if !ok {
		in := anchor.Charters{Files: h.ReadTree(at), Places: law.Anchor.Constitutions, Bundle: law.Root}
		if rel, inside := strings.CutPrefix(name, law.Root+"/"); inside {
			if a := h.ReadAtom(blob, mode, rel); a != nil {
				in.Atoms = []*okf.Atom{a}
			}
		}
		c.Constitution, c.err = in.Find(role)
		c.atoms = in.Atoms
		h.charters.put(k, c)
	}
	return c.Constitution, c.atoms, c.err
}

package verify

import (
	"io/fs"
	"path"

	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// bundle is a parsed bundle with the tree it came from.
type bundle struct {
	tree     repo.OID
	graph    *okf.Graph
	problems []okf.Problem
}

// ReadBundle returns the graph of a commit's bundle. It reloads only what changed since the last call, because the
// bundles of two successive claims share nearly all atoms.
func (h *history) ReadBundle(commit repo.OID, root string) *okf.Graph {
	top := h.ReadTree(commit)
	files, err := fs.Sub(top, root)
	must(err)
	tree, _ := h.Find(commit, root)
	b := bundle{tree: tree}
	changed, near := h.changedSinceLast(tree)
	switch {
	case near:
		b.graph, b.problems = okf.Reload(files, h.bundle.graph, h.bundle.problems, changed)
	default:
		if b.graph, b.problems, err = okf.Load(files); err != nil {
			must(err)
			return nil
		}
	}
	if err := okf.Unread(b.problems); err != nil {
		must(err)
		return nil
	}
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

package reconcile

import (
	"github.com/rogpeppe/go-internal/diff"

	"github.com/odd-cli/odd/okf"
)

// Diff returns the unified diff between the file of g at the item's path and the bytes that
// the item writes, or would have written. It is empty for an item without bytes.
func Diff(g *okf.Graph, it Item) []byte {
	if it.Bytes == nil {
		return nil
	}
	var old []byte
	name := "/dev/null"
	if a := g.ByPath(it.Path); a != nil {
		old, name = a.Bytes(), "a/"+it.Path
	}
	return diff.Diff(name, old, "b/"+it.Path, it.Bytes)
}

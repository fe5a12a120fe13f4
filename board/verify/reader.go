package verify

import (
	"io/fs"

	"github.com/odd-cli/odd/journal/repo"
)

// fault carries an error of reading up to try.
type fault struct{ error }

// must ends what is going on with an error of reading, unless err is nil. No reader below returns such an error,
// so no rule can forget one: a missing or damaged object never looks like an empty one.
func must(err error) {
	if err != nil {
		panic(fault{err})
	}
}

// try returns the error of reading that ended do.
func try(do func()) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case fault:
			err = p.error
		default:
			panic(p)
		}
	}()
	do()
	return nil
}

// find returns the id and mode of a path below a commit or tree, "" where nothing is.
func (g *repoFacts) find(at repo.OID, path string) (repo.OID, string) {
	oid, mode, err := g.repo.Find(at, path)
	must(err)
	return oid, mode
}

func (g *repoFacts) blob(oid repo.OID) []byte {
	b, err := g.repo.Blob(oid)
	must(err)
	return b
}

// diff returns the files that differ between two commits or trees; "" is an empty one.
func (g *repoFacts) diff(a, b repo.OID) []repo.Change {
	all, err := g.repo.Diff(g.ctx, a, b)
	must(err)
	return all
}

// names returns the names in a folder.
func (g *repoFacts) names(at repo.OID, dir string) []string {
	all, err := g.repo.Names(at, dir)
	must(err)
	return all
}

// tree returns the files of a commit or tree.
func (g *repoFacts) tree(at repo.OID) fs.FS {
	files, err := g.repo.Tree(at)
	must(err)
	return files
}

// readCommit returns a commit, from the range if it is there.
func (h *history) readCommit(oid repo.OID) repo.Commit {
	if n, in := h.place[oid]; in {
		return h.commits[n]
	}
	c, err := h.repo.Commit(oid)
	must(err)
	return c
}

// knownCommit returns a commit that a record or a trailer names. ok is false if this clone has none of that name.
func (h *history) knownCommit(oid repo.OID) (c repo.Commit, ok bool) {
	if n, in := h.place[oid]; in {
		return h.commits[n], true
	}
	c, err := h.repo.Commit(oid)
	return c, err == nil
}

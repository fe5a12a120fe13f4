package verify

import (
	"io/fs"
	"iter"
	"slices"

	"github.com/odd-cli/odd/board/risk"
	"github.com/odd-cli/odd/journal/repo"
)

// fault carries an error of reading up to try.
type fault struct{ error }

// must ends what is going on with an error of reading, unless err is nil. No reader below returns such an error, so no
// rule can forget one: a missing or damaged object never looks like an empty one.
func must(err error) {
	if err != nil {
		panic(fault{err})
	}
}

// tryReading returns the error of reading that ended do.
func tryReading(do func()) (err error) {
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

// Must is must for a rule.
func (g *repoFacts) Must(err error) { must(err) }

// Find returns the id and mode of a path below a commit or tree, "" where nothing is.
func (g *repoFacts) Find(at repo.OID, path string) (repo.OID, string) {
	oid, mode, err := g.repo.Find(at, path)
	must(err)
	return oid, mode
}

func (g *repoFacts) Blob(oid repo.OID) []byte {
	b, err := g.repo.Blob(oid)
	must(err)
	return b
}

// Diff returns the files that differ between two commits or trees; "" is an empty one. The changes of a commit are asked
// for again by what continues it.
func (g *repoFacts) Diff(a, b repo.OID) []repo.Change {
	k := diffKey(a, b)
	all, ok := g.diffs.get(k)
	if !ok {
		var err error
		all, err = g.repo.Diff(g.ctx, a, b)
		must(err)
		if a != "" {
			g.diffs.put(k, all)
		}
	}
	return slices.Clone(all)
}

func diffKey(a, b repo.OID) repo.OID { return a + " " + b }

// Names returns the names in a folder.
func (g *repoFacts) Names(at repo.OID, dir string) []string {
	all, err := g.repo.Names(at, dir)
	must(err)
	return all
}

// listedTree has the blobs of a tree.
type listedTree struct {
	at    repo.OID
	blobs map[repo.OID]bool
}

// HoldsBlob reports whether some file of a commit or tree is a blob. The sessions of one run ask for the same tree.
func (g *repoFacts) HoldsBlob(at, blob repo.OID) bool {
	if g.listed.at != at {
		blobs := map[repo.OID]bool{}
		for _, ch := range g.Diff("", at) {
			blobs[ch.New] = true
		}
		g.listed = listedTree{at, blobs}
	}
	return g.listed.blobs[blob]
}

// ReadTree returns the files of a commit or tree.
func (g *repoFacts) ReadTree(at repo.OID) fs.FS {
	files, err := g.repo.Tree(at)
	must(err)
	return files
}

// ReadCommit returns a commit, from the range if it is there.
func (h *history) ReadCommit(oid repo.OID) repo.Commit {
	if n, in := h.place[oid]; in {
		return h.commits[n]
	}
	c, err := h.repo.Commit(oid)
	must(err)
	return c
}

// FindCommit returns a commit that a record or a trailer names. ok is false if this clone has none of that name.
func (h *history) FindCommit(oid repo.OID) (c repo.Commit, ok bool) {
	if n, in := h.place[oid]; in {
		return h.commits[n], true
	}
	c, ok, err := h.repo.FindCommit(h.ctx, oid)
	must(err)
	return c, ok
}

// Survey reads what the risk of a change is judged by.
func (g *repoFacts) Survey(s risk.Site) *risk.Ground {
	ground, err := risk.Survey(g.ctx, g.repo, s)
	must(err)
	return ground
}

// VerifySignature returns what a commit lacks of a signature by one of the signers that a blob lists.
func (g *repoFacts) VerifySignature(oid, signers repo.OID) string {
	why, err := g.repo.VerifyBy(g.ctx, oid, g.Blob(signers))
	must(err)
	return why
}

// MergeBase returns the best common ancestor of two commits, "" for none.
func (g *repoFacts) MergeBase(a, b repo.OID) repo.OID {
	base, err := g.repo.MergeBase(g.ctx, a, b)
	must(err)
	return base
}

// Log yields the commits reachable from to and not from from, children before parents.
func (g *repoFacts) Log(from, to repo.OID) iter.Seq[repo.Commit] {
	return func(yield func(repo.Commit) bool) {
		for c, err := range g.repo.Log(g.ctx, from, to) {
			must(err)
			if !yield(c) {
				return
			}
		}
	}
}

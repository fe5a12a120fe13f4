package cmd

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"

	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/disk"
)

// worthKeeping is the least number of atoms a cache is kept for: below it,
// reading the files costs less than keeping what they said.
const worthKeeping = 500

// loadTree loads the bundle of a commit. Its tree id names the cache, so a hit
// needs no walk and can never be stale.
func loadTree(env Env, r *repo.Repo, tree repo.OID, bundle fs.FS) (*okf.Graph, []okf.Problem, error) {
	defer env.slow("loading the board")()
	name := "tree-" + string(tree)
	if b := r.Cached(name); b != nil {
		if g, ps, err := okf.Decode(b, bundle); err == nil {
			g.KeepWords(r)
			return g, ps, nil
		}
	}
	g, ps, fresh, err := okf.LoadCached(bundle, nil, env.Now())
	return g, ps, keep(r, name, g, fresh, err)
}

// loadDir loads the bundle in a folder of the work tree. Files whose size and
// time are as they were are not read.
func loadDir(env Env, r *repo.Repo, root string) (*okf.Graph, []okf.Problem, error) {
	defer env.slow("loading " + root)()
	if r == nil {
		return okf.Load(disk.Dir(root))
	}
	sum := sha256.Sum256([]byte(root))
	name := "dir-" + hex.EncodeToString(sum[:8])
	g, ps, fresh, err := okf.LoadCached(disk.Dir(root), r.Cached(name), env.Now())
	return g, ps, keep(r, name, g, fresh, err)
}

// keep stores a fresh cache. That it could not be stored is nobody's error: the
// cache is disposable and the disk may be read-only.
func keep(r *repo.Repo, name string, g *okf.Graph, fresh []byte, err error) error {
	if err != nil || g.Len() < worthKeeping {
		return err
	}
	g.KeepWords(r)
	if fresh != nil {
		_ = r.Keep(name, fresh)
	}
	return nil
}

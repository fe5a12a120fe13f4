package cmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
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
	return committed{r: r, kind: "tree-", files: bundle}.load(tree, env.Now())
}

// loadTasks is loadTree for the tasks alone; tree is that of their folder, "" for none.
func loadTasks(env Env, r *repo.Repo, tree repo.OID, bundle fs.FS) (*okf.Graph, []okf.Problem, error) {
	defer env.slow("loading the board")()
	return committed{r: r, kind: "tasks-", under: board.Folder + "/", files: board.Only(bundle)}.load(tree, env.Now())
}

// committed is a bundle of a commit, or a folder of one.
type committed struct {
	r     *repo.Repo
	kind  string // the caches' names begin so
	under string // the folder, with a slash behind, "" for all
	files fs.FS
}

func (c committed) load(tree repo.OID, now time.Time) (*okf.Graph, []okf.Problem, error) {
	name := c.kind + string(tree)
	if b := c.r.Cached(name); b != nil {
		if g, ps, err := okf.Decode(b, c.files); err == nil {
			g.KeepWords(c.r)
			return g, ps, nil
		}
	}
	if g, ps, changed := c.near(tree); g != nil {
		if changed > fewChanges && g.Len() >= worthKeeping {
			_ = c.r.Keep(name, okf.Encode(g, ps, now))
		}
		return g, ps, nil
	}
	g, ps, fresh, err := okf.LoadCached(c.files, nil, now)
	return g, ps, keep(c.r, name, g, fresh, err)
}

// fewChanges is up to how many files a commit's cache may differ from another
// commit and do for it as it is: reading so many anew costs less than a new
// cache of ten thousand. Up to mostChanges, it is where a new cache starts from.
const fewChanges, mostChanges = 256, 2048

// near loads from the latest cache of another tree what both have, and reads the
// files that differ, which the trees tell. The graph is nil where no cached tree
// is as near as mostChanges; changed is in how many files they differ.
func (c committed) near(tree repo.OID) (g *okf.Graph, ps []okf.Problem, changed int) {
	if tree == "" {
		return nil, nil, 0
	}
	for _, name := range c.r.CachedNames(c.kind) {
		diff, err := c.r.Diff(context.Background(), repo.OID(strings.TrimPrefix(name, c.kind)), tree)
		if err != nil || len(diff) > mostChanges {
			continue // its tree may be gone by now
		}
		g, ps, err := okf.Decode(c.r.Cached(name), c.files)
		if err != nil {
			continue
		}
		paths := make(map[string]bool, len(diff))
		for _, ch := range diff {
			paths[c.under+ch.Path] = true
		}
		g, ps = okf.Reload(c.files, g, ps, paths)
		g.KeepWords(c.r)
		return g, ps, len(diff)
	}
	return nil, nil, 0
}

// loadDir loads the bundle in a folder of the work tree. Files whose size and
// time are as they were are not read.
func loadDir(env Env, r *repo.Repo, root string) (*okf.Graph, []okf.Problem, error) {
	return loadFiles(env, r, root, "dir-", disk.Dir(root))
}

// loadTasksDir is loadDir for the tasks alone.
func loadTasksDir(env Env, r *repo.Repo, root string) (*okf.Graph, []okf.Problem, error) {
	return loadFiles(env, r, root, "todo-", board.Only(disk.Dir(root)))
}

func loadFiles(env Env, r *repo.Repo, root, kind string, files fs.FS) (*okf.Graph, []okf.Problem, error) {
	defer env.slow("loading " + root)()
	if r == nil {
		return okf.Load(files)
	}
	sum := sha256.Sum256([]byte(root))
	name := kind + hex.EncodeToString(sum[:8])
	g, ps, fresh, err := okf.LoadCached(files, r.Cached(name), env.Now())
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

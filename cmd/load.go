package cmd

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/disk"
)

// worthKeeping is the least number of atoms a cache is kept for: below it,
// reading the files costs less than keeping what they said.
const worthKeeping = 500

// loadTree loads the bundle of a commit.
func loadTree(env Env, r *repo.Repo, bundle fs.FS) (*okf.Graph, []okf.Problem, error) {
	defer env.announceSlow("loading the board")()
	return state.Of(bundle, r).Atoms()
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
	defer env.announceSlow("loading " + root)()
	if r == nil {
		return okf.Load(files)
	}
	sum := sha256.Sum256([]byte(root))
	name := kind + hex.EncodeToString(sum[:8])
	g, ps, fresh, err := okf.LoadCached(files, r.Cached(name), env.Now())
	if err == nil && g.Len() >= worthKeeping {
		g.KeepWords(r)
		if fresh != nil {
			_ = r.Keep(name, fresh) // the cache is disposable, and the disk may be read-only
		}
	}
	return g, ps, err
}

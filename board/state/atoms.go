package state

import (
	"context"
	"io/fs"
	"path"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// atomsWorthKeeping is the least number of atoms a graph is cached for: below it,
// reading the files costs less than keeping what they said.
const atomsWorthKeeping = 500

// fewChanges is up to how many files a cached graph may differ from the tree and do for it
// as it is: reading so many anew costs less than a new cache of ten thousand. Up to
// mostChanges, it is where a new cache starts from.
const fewChanges, mostChanges = 256, 2048

// atoms is the graph of a bundle, or of its tasks alone.
type atoms struct {
	isRead   bool     // it is of the State's own tree; else of one before it
	tree     repo.OID // that it is of; "" where that has no id
	graph    *okf.Graph
	problems []okf.Problem
	err      error
}

// Atoms returns the graph of the bundle's atoms, and what is wrong with their files.
func (s *State) Atoms() (*okf.Graph, []okf.Problem, error) {
	err := s.all.readTree(s.cache, s.bundle, "tree-", ".")
	return s.all.graph, s.all.problems, err
}

// TaskAtoms is [State.Atoms] for the folder of tasks alone. It reads nothing else of the bundle.
func (s *State) TaskAtoms() (*okf.Graph, []okf.Problem, error) {
	err := s.board.readTree(s.cache, board.Only(s.bundle), "tasks-", board.Folder)
	return s.board.graph, s.board.problems, err
}

// Tasks returns the tasks on the board in order of id, and what is wrong with files there that
// cannot be read as tasks.
func (s *State) Tasks() ([]board.Task, []okf.Problem, error) {
	g, _, err := s.Atoms()
	if err == nil && g != s.tasksOf {
		s.tasks, s.unread = board.TasksAfter(g, s.tasks)
		s.tasksOf = g
	}
	return s.tasks, s.unread, err
}

// readTree brings a to the tree of a folder of the bundle, once.
func (a *atoms) readTree(cache Cache, files fs.FS, kind, dir string) error {
	if !a.isRead {
		before := *a
		*a = atoms{isRead: true}
		a.err = a.loadGraph(cache, files, kind, dir, before)
	}
	return a.err
}

// loadGraph makes the graph from that of a tree before, from what an earlier process kept of this
// tree or of one near it, or from the files.
func (a *atoms) loadGraph(cache Cache, files fs.FS, kind, dir string, before atoms) (err error) {
	if info, err := fs.Lstat(files, dir); err == nil {
		a.tree, _ = info.Sys().(repo.OID)
	}
	if before.graph != nil && a.tree != "" && a.tree == before.tree {
		a.graph, a.problems = before.graph, before.problems
		return nil
	}
	if cache == nil || a.tree == "" {
		a.graph, a.problems, err = okf.Load(files)
		return err
	}
	if before.graph != nil && a.readChanges(cache, files, before, dir) <= mostChanges {
		return nil
	}
	name := kind + string(a.tree)
	if a.decodeCached(cache, files, name) {
		return nil
	}
	changed := mostChanges + 1
	for _, name := range cache.CachedNames(kind) {
		near := atoms{tree: repo.OID(strings.TrimPrefix(name, kind))}
		if near.decodeCached(cache, files, name) {
			changed = a.readChanges(cache, files, near, dir)
		}
		if changed <= mostChanges {
			break
		}
	}
	if changed > mostChanges {
		if a.graph, a.problems, err = okf.Load(files); err != nil {
			return err
		}
	}
	if a.graph.Len() < atomsWorthKeeping {
		return nil
	}
	if changed > fewChanges {
		fresh := okf.Encode(a.graph, a.problems)
		_ = cache.Keep(name, fresh) // the next process is only slower
		// From here on the graph is the cached one: its records say without parsing what an atom
		// is, and the texts need no memory.
		a.graph, a.problems, err = okf.Decode(fresh, files)
	}
	a.graph.KeepWords(cache)
	return err
}

// decodeCached reads a cached graph of these files, or of a tree near theirs.
func (a *atoms) decodeCached(cache Cache, files fs.FS, name string) bool {
	b := cache.Cached(name)
	if b == nil {
		return false
	}
	var err error
	if a.graph, a.problems, err = okf.Decode(b, files); err != nil {
		return false
	}
	a.graph.KeepWords(cache)
	return true
}

// readChanges takes from another tree's graph what both have and reads the files that differ. It
// returns how many those are, and does nothing where they are more than mostChanges.
func (a *atoms) readChanges(cache Cache, files fs.FS, from atoms, dir string) int {
	diff, err := cache.Diff(context.Background(), from.tree, a.tree)
	if err != nil || len(diff) > mostChanges {
		return mostChanges + 1 // its tree may be gone by now
	}
	paths := make(map[string]bool, len(diff))
	for _, c := range diff {
		paths[path.Join(dir, c.Path)] = true
	}
	a.graph, a.problems = okf.Reload(files, from.graph, from.problems, paths)
	return len(diff)
}

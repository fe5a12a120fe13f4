//go:build bench

package bench

import (
	"fmt"
	"os"
	"testing"
)

// TestBenchLoad measures what every other command begins with.
func TestBenchLoad(t *testing.T) {
	s := begin()
	for _, n := range sizes() {
		c := bundleOf(t, n)
		cold, read := inChild("load, no cache", "load", c.bundle()), inChild("read every file", "read", c.bundle())
		s.turns(t, n, times(n), cold, read)
		s.note("bytes of text", n, read.run(t).counts["bytes"])

		cache, size := c.kept(t)
		s.note("bytes of cache", n, size)
		for _, args := range [][]string{{"load", c.bundle()}, {"warm", c.bundle(), cache}, {"tree", c.bundle(), cache}} {
			got := inChild("", args[0], append(args[1:], "count")...).run(t).counts["atoms"]
			if want := float64(n + c.board.N); got != want {
				t.Fatalf("%s: %v atoms, want %v", args[0], got, want)
			}
		}
		s.turns(t, n, times(n),
			inChild("load, cache and hand edits", "warm", c.bundle(), cache),
			inChild("list and lstat every file", "stat", c.bundle()))
		s.turns(t, n, times(n),
			inChild("load, a commit's tree", "tree", c.bundle(), cache),
			command("odd --version", c.dir, "", odd, "--version"))
	}
	s.end(t, "load")
}

// TestBenchCommands measures whole commands on bundles, files unchanged since
// the cache was made, and once without it.
func TestBenchCommands(t *testing.T) {
	s := begin()
	for _, n := range sizes() {
		c := bundleOf(t, n)
		get := command("odd get", c.dir, "type: term", odd, "get", c.atom())
		search := command("odd search", c.dir, "dept-", odd, "search", "kittiwake")
		s.turns(t, n, min(2, times(n)), c.without(get), inChild("read every file", "read", c.bundle()), c.without(search))
		get.run(t)
		process(t, c.dir, "", "", odd, "get", c.atom(), "--at", "HEAD")
		cache, _ := c.kept(t)
		s.turns(t, n, times(n),
			inChild("load, cache and hand edits", "warm", c.bundle(), cache),
			command("odd --version", c.dir, "", odd, "--version"), get,
			command("odd knowledge related", c.dir, "owner", odd, "knowledge", "related", c.atom()),
			command("odd compile-persona", c.dir, c.role(), odd, "compile-persona", c.role()),
			command("odd task list", c.dir, c.board.ID(0), odd, "task", "list"),
			search,
			command("odd get --at HEAD", c.dir, "type: term", odd, "get", c.atom(), "--at", "HEAD"))
		s.turns(t, n, min(3, times(n)),
			command("odd check", c.dir, "", odd, "check"),
			inChild("read every file", "read", c.bundle()))
		s.questions(t, n, c)
	}
	s.end(t, "commands")
}

// questions times single calls on a loaded graph, in microseconds: what a
// question costs when loading is left out.
func (s *section) questions(t *testing.T, n int, c company) {
	t.Helper()
	least := map[string]float64{}
	for range min(3, times(n)) {
		for name, us := range inChild("queries", "queries", c.bundle(), c.role(), c.atom(), "kittiwake").run(t).counts {
			if old, ok := least[name]; !ok || us < old {
				least[name] = us
			}
		}
	}
	for _, name := range []string{"get", "related", "compile-persona", "search, first", "search, a rare word"} {
		s.note("µs: "+name, n, least[name])
		t.Log(fmt.Sprintf("%s, %d: %.1f µs", name, n, least[name]))
	}
}

// TestBenchReconcile measures the merge of 10,000 emitted atoms into an empty
// bundle, and writing as many files.
func TestBenchReconcile(t *testing.T) {
	s := begin()
	n := min(10_000, *atomsMax)
	c := bundleOf(t, 1000)
	file := emission(t, n)
	clean := func(t *testing.T) {
		sh(t, c.dir, "", "git", "clean", "-fdq")
		sh(t, c.dir, "", "git", "status", "--short")
	}
	merge := job{"odd reconcile", func(t *testing.T) sample {
		defer clean(t)
		return process(t, c.dir, "", "added", odd, "reconcile", file)
	}}
	files := job{"write as many files", func(t *testing.T) sample {
		dir := t.TempDir()
		defer os.RemoveAll(dir)
		return inChild("", "write", dir, fmt.Sprint(n)).run(t)
	}}
	s.turns(t, n, min(5, times(n)), merge, files)
	s.end(t, "reconcile")
}

//go:build bench

package bench

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/odd-cli/odd/okf/okftest"
)

// company is a repository with a bundle of atoms and a board of tasks, all of
// it committed and checked out.
type company struct {
	dir    string
	corpus okftest.Corpus
	board  okftest.Tasks
}

func (c company) bundle() string { return filepath.Join(c.dir, "knowledge") }

// role, atom and word are what questions ask about: a department in the middle,
// an atom of it, and a word that one atom in 500 has.
func (c company) role() string { return c.corpus.Role(c.corpus.N / okftest.PerFolder / 2) }

func (c company) atom() string {
	path, _ := c.corpus.Atom(c.corpus.N/okftest.PerFolder/2*okftest.PerFolder + 42)
	return strings.TrimSuffix(path, ".md")
}

var companies = map[string]company{}

// bundleOf is a company of n atoms and 100 tasks, made once in a run.
func bundleOf(t *testing.T, n int) company { return companyOf(t, n, 100, 0) }

// boardOf is a company of 100 atoms and n tasks.
func boardOf(t *testing.T, n int) company { return companyOf(t, 100, n, 0) }

func companyOf(t *testing.T, atoms, tasks, ops int) company {
	t.Helper()
	name := fmt.Sprintf("company-%d-%d-%d", atoms, tasks, ops)
	if c, ok := companies[name]; ok {
		return c
	}
	c := company{dir: filepath.Join(work, name), corpus: okftest.Corpus{Seed: seed, N: atoms}}
	c.board = okftest.Tasks{Seed: seed, N: tasks, Role: c.corpus.Role(0)}
	const config = "[bundle]\nroot = \"knowledge\"\n[session]\nmax_atoms = 10000\n"
	write(t, filepath.Join(c.dir, "odd.toml"), config)
	for _, err := range []error{c.corpus.Write(c.bundle()), c.board.Write(c.bundle())} {
		if err != nil {
			t.Fatal(err)
		}
	}
	sh(t, c.dir, "", "git", "init", "-q", "-b", "main")
	imports(t, c.dir, func(w io.Writer) {
		blob(w, "odd.toml", []byte(config))
		for _, files := range []iter.Seq2[string, []byte]{c.corpus.All(), c.board.All()} {
			for path, text := range files {
				blob(w, "knowledge/"+path, text)
			}
		}
		for path, text := range ledger(t, ops) {
			blob(w, "knowledge/"+path, text)
			write(t, filepath.Join(c.bundle(), path), string(text))
		}
	})
	sh(t, c.dir, "", "git", "read-tree", "HEAD")
	settle()
	sh(t, c.dir, "", "git", "update-index", "-q", "--refresh")
	companies[name] = c
	return c
}

// imports makes the first commit of the repository in dir out of the files
// that give writes: one pack, as a clone has, and no million loose objects.
func imports(t *testing.T, dir string, give func(io.Writer)) {
	t.Helper()
	c := exec.Command("git", "fast-import", "--quiet")
	c.Dir, c.Env, c.Stderr = dir, environ(), os.Stderr
	in, err := c.StdinPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(in, 1<<20)
	fmt.Fprintf(w, "commit refs/heads/main\ncommitter %s 1772442000 +0000\ndata 5\nbegin\n", person)
	give(w)
	for _, err := range []error{w.Flush(), in.Close(), c.Wait()} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func blob(w io.Writer, path string, text []byte) {
	fmt.Fprintf(w, "M 100644 inline %s\ndata %d\n%s\n", path, len(text), text)
}

// forget removes odd's cache, so that the next command has none.
func (c company) forget(t *testing.T) {
	t.Helper()
	if err := os.RemoveAll(c.cache()); err != nil {
		t.Fatal(err)
	}
}

func (c company) cache() string { return filepath.Join(c.dir, ".git", "odd", "cache") }

// kept is a cache of the bundle that children can read, and how large it is.
func (c company) kept(t *testing.T) (file string, bytes float64) {
	t.Helper()
	file = c.dir + ".cache"
	inChild("", "keep", c.bundle(), file).run(t)
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return file, float64(info.Size())
}

// without is the job done with no cache of odd's; removing it is not timed.
func (c company) without(j job) job {
	return job{j.name + ", no cache", func(t *testing.T) sample { c.forget(t); return j.run(t) }}
}

// emitted is the corpus that a session emits.
func emitted(n string) okftest.Corpus {
	size, err := strconv.Atoi(n)
	if err != nil {
		panic(err)
	}
	return okftest.Corpus{Seed: seed + 1, N: size}
}

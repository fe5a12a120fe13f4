//go:build bench

package testscripts

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/okftest"
	"github.com/odd-cli/odd/persona"
)

var (
	atomCount = flag.Int("atoms", 100_000, "atoms in the generated bundle")
	report    = flag.String("report", filepath.Join(root, "BENCHMARKS.md"), "where the figures go")
)

// figure is one row: what odd does beside what the machine does with the same
// files in the same run.
type figure struct {
	what, beside string
	ours, yard   time.Duration
}

// TestBench measures and writes BENCHMARKS.md, all but the sections of other benches. It sets no limit: a stop-watch
// says more about the machine than about odd, which is why each row has a
// yardstick of its own.
func TestBench(t *testing.T) {
	dir := t.TempDir()
	generate(t, dir, *atomCount)
	files := list(t, dir)
	read := best(3, func() { readAll(t, files) })
	var g *okf.Graph
	load := best(3, func() {
		var err error
		if g, _, err = okf.Load(os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
	})
	if got := len(g.Atoms()); got != *atomCount {
		t.Fatalf("loaded %d atoms, want %d", got, *atomCount)
	}
	one := best(3, func() { readAll(t, files[:1]) })
	compile := best(5, func() {
		if _, err := persona.Compile(g, "dept-0000/role-0"); err != nil {
			t.Fatal(err)
		}
	})
	rows := []figure{
		{fmt.Sprintf("load %d atoms, no cache, pages warm", *atomCount), "parallel read of the same files", load, read},
		{"compile one persona from the loaded graph", "read of one file", compile, one},
	}
	rows = append(rows, cached(t, dir, files)...)
	rows = append(rows, drained(t, 20))
	for _, r := range rows {
		t.Logf("%s: %v, %s: %v, ratio %.2f", r.what, r.ours, r.beside, r.yard, ratio(r))
	}
	old, _ := os.ReadFile(*report)
	_, sections, _ := strings.Cut(string(old), "\n## ")
	if sections != "" {
		sections = "\n## " + sections
	}
	if err := os.WriteFile(*report, append(page(rows), sections...), 0o644); err != nil {
		t.Fatal(err)
	}
}

// cached loads the bundle with what an earlier load left, once as a folder
// that a person may have edited and once as a tree that cannot have changed.
func cached(t *testing.T, dir string, files []string) []figure {
	t.Helper()
	bundle := os.DirFS(dir)
	_, _, cache, err := okf.LoadCached(bundle, nil, time.Now().Add(time.Hour))
	if err != nil || cache == nil {
		t.Fatalf("LoadCached: %d bytes, %v", len(cache), err)
	}
	edited := best(3, func() {
		if _, _, fresh, err := okf.LoadCached(bundle, cache, time.Now()); err != nil || fresh != nil {
			t.Fatalf("LoadCached again: fresh %d bytes, %v", len(fresh), err)
		}
	})
	tree := best(3, func() {
		if _, _, err := okf.Decode(cache, bundle); err != nil {
			t.Fatal(err)
		}
	})
	stats := best(3, func() { statAll(t, dir) })
	file := filepath.Join(t.TempDir(), "cache")
	write(t, file, string(cache))
	one := best(3, func() { readAll(t, []string{file}) })
	return []figure{
		{fmt.Sprintf("load %d atoms with the cache, hand edits looked for", len(files)), "list and lstat of the same files", edited, stats},
		{fmt.Sprintf("load %d atoms with the cache, a commit's tree", len(files)), "read of the cache file", tree, one},
	}
}

// statAll lists every folder and asks for every file, a folder a worker.
func statAll(t *testing.T, dir string) {
	folders, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	each(len(folders), func(i int) {
		files, err := os.ReadDir(filepath.Join(dir, folders[i].Name()))
		if err != nil {
			t.Error(err)
		}
		for _, f := range files {
			if _, err := os.Lstat(filepath.Join(dir, folders[i].Name(), f.Name())); err != nil {
				t.Error(err)
			}
		}
	})
}

// drained runs one drain over n ready tasks of the demo company, and as many
// git commits as that takes: a claim, a proposal and a result each.
func drained(t *testing.T, n int) figure {
	t.Helper()
	dir := t.TempDir()
	env := append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+filepath.Join(dir, "gitconfig"),
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.org")
	run := func(in, name string, args ...string) {
		c := exec.Command(name, args...)
		c.Dir, c.Env = in, env
		if b, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, b)
		}
	}
	odd, company := built(t, dir), filepath.Join(dir, "company")
	run(dir, odd, "demo", company)
	for i := range n {
		doc := fmt.Sprintf("# Words\n\nWord %d a\n: The first thing of number %d.\n\nWord %d b\n: The second thing of number %d.\n", i, i, i, i)
		task := fmt.Sprintf("---\ntype: task\nid: task-%d\ntitle: Read page %d\nstate: ready\nkind: extract\nrole: shore-lead\ninputs: [pages/%d.md]\n---\n", i, i, i)
		write(t, filepath.Join(company, "pages", fmt.Sprintf("%d.md", i)), doc)
		write(t, filepath.Join(company, "knowledge", "tasks", fmt.Sprintf("task-%d.md", i)), task)
	}
	run(company, "git", "add", "-A")
	run(company, "git", "commit", "-qm", "pages")
	ours := best(1, func() { run(company, odd, "drain", "--max-tasks", fmt.Sprint(n)) })
	yard := best(1, func() {
		for i := range 3 * n {
			write(t, filepath.Join(company, "README.md"), fmt.Sprint(i))
			run(company, "git", "commit", "-qam", "one")
		}
	})
	return figure{fmt.Sprintf("drain %d tasks", n), fmt.Sprintf("%d git commit processes", 3*n), ours, yard}
}

// built is the path of an odd made for a bench.
func built(t *testing.T, dir string) string {
	t.Helper()
	odd := filepath.Join(dir, "odd")
	build := exec.Command("go", "build", "-o", odd, "./cmd/odd")
	build.Dir = root
	if b, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return odd
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func ratio(f figure) float64 { return float64(f.ours) / float64(f.yard) }

// page is BENCHMARKS.md: the machine, the commit, the command, the rows.
func page(rows []figure) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Benchmarks\n\nBoth sides of a row are measured in one run, best of three or more, on one machine. The ratio is the figure.\n\n")
	fmt.Fprintf(&b, "* machine: %s, %d cores, %s/%s, %s\n", cpu(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	fmt.Fprintf(&b, "* commit: %s\n* command: `make bench`\n\n", out("git", "describe", "--always", "--dirty"))
	fmt.Fprintf(&b, "| odd | ms | beside | ms | ratio |\n| --- | ---: | --- | ---: | ---: |\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %.2f |\n", r.what, ms(r.ours), r.beside, ms(r.yard), ratio(r))
	}
	return b.Bytes()
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f", float64(d)/float64(time.Millisecond)) }

func out(name string, args ...string) string {
	c := exec.Command(name, args...)
	c.Dir = root
	b, err := c.Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(b))
}

func cpu() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	for l := range strings.Lines(string(b)) {
		if name, ok := strings.CutPrefix(l, "model name"); ok {
			return strings.TrimLeft(strings.TrimSpace(name), ": \t")
		}
	}
	return "unknown processor"
}

// best is the shortest of n runs.
func best(n int, f func()) time.Duration {
	var all []time.Duration
	for range n {
		begin := time.Now()
		f()
		all = append(all, time.Since(begin))
	}
	return slices.Min(all)
}

// list is every file of the bundle, in folder order.
func list(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// readAll reads files by as many workers as there are cores.
func readAll(t *testing.T, files []string) {
	each(len(files), func(i int) {
		if _, err := os.ReadFile(files[i]); err != nil {
			t.Error(err)
		}
	})
}

// each calls f for 0 to n-1, by as many workers as there are cores.
func each(n int, f func(int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
}

// generate writes the bundle of n atoms that okftest describes.
func generate(t *testing.T, dir string, n int) {
	t.Helper()
	for name, text := range okftest.Bundle(n) {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), string(text))
	}
}

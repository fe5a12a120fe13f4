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

// TestBench measures and writes BENCHMARKS.md. It sets no limit: a stop-watch
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
	for _, r := range rows {
		t.Logf("%s: %v, %s: %v, ratio %.2f", r.what, r.ours, r.beside, r.yard, ratio(r))
	}
	if err := os.WriteFile(*report, page(rows), 0o644); err != nil {
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
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(files); i = next.Add(1) - 1 {
				if _, err := os.ReadFile(files[i]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// generate writes the bundle of n atoms that okftest describes.
func generate(t *testing.T, dir string, n int) {
	t.Helper()
	for name, text := range okftest.Bundle(n) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

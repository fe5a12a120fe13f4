package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/okftest"
)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// trouble is a folder with a file of each kind that gives a problem.
func trouble(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range okftest.Bundle(250) {
		write(t, dir, name, string(text))
	}
	for _, n := range []string{"a", "b", "m", "z"} {
		write(t, dir, "big/"+n+".md", "---\ntype: x\n---\n")
		if err := os.Truncate(filepath.Join(dir, "big", n+".md"), okf.MaxFileBytes+1); err != nil {
			t.Fatal(err)
		}
		write(t, dir, "big/fine-"+n+".md", "---\ntype: x\n---\n"+strings.Repeat("Text.\n", 100_000))
	}
	write(t, dir, "deep/er/than/most/x.md", "---\ntype: x\n---\n")
	write(t, dir, "deep/empty.md", "")
	write(t, dir, ".hidden/x.md", "no atom")
	for _, l := range []string{"out.md", "deep/out", "deep/er/in.md"} {
		if err := os.Symlink(filepath.Join(dir, "deep", "empty.md"), filepath.Join(dir, l)); err != nil {
			t.Skip(err)
		}
	}
	return dir
}

// A folder loads as os.DirFS says it should, without a cache and with one.
func TestLoad(t *testing.T) {
	t.Parallel()
	dir := trouble(t)
	want, wantPs, err := okf.Load(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	if len(wantPs) != 8 {
		t.Fatalf("%d problems: %v", len(wantPs), wantPs)
	}
	f := Dir(dir)
	g, ps, err := okf.Load(f)
	same(t, want, g, wantPs, ps, err)
	later := time.Now().Add(time.Hour)
	g, ps, cache, err := okf.LoadCached(f, nil, later)
	same(t, want, g, wantPs, ps, err)
	g, ps, fresh, err := okf.LoadCached(f, cache, later)
	same(t, want, g, wantPs, ps, err)
	if fresh != nil {
		t.Error("nothing changed and the cache is new")
	}
	write(t, dir, "deep/er/than/most/x.md", "---\ntype: other\n---\n")
	if g, _, _, err = okf.LoadCached(f, cache, later); err != nil || g.ByID("deep/er/than/most/x").Type != "other" {
		t.Error("a hand edit is not seen", err)
	}
}

func same(t *testing.T, want, got *okf.Graph, wantPs, gotPs []okf.Problem, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(wantPs, gotPs); d != "" {
		t.Fatalf("-want +got\n%s", d)
	}
	texts := func(g *okf.Graph) (out []string) {
		for _, a := range g.Atoms() {
			out = append(out, fmt.Sprint(a.Path, a.Blob, g.Out(a.ID), string(a.Bytes())))
		}
		return out
	}
	if d := cmp.Diff(texts(want), texts(got)); d != "" {
		t.Fatalf("-want +got\n%.2000s", d)
	}
}

func TestContract(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "a.md", "A")
	write(t, dir, "b/c.md", "C")
	if err := fstest.TestFS(Dir(dir), "a.md", "b/c.md"); err != nil {
		t.Error(err)
	}
}

// swapped is a folder in which change happens between the list and the reading.
type swapped struct {
	FS
	change func() // called once
}

func swap(dir string, change func()) swapped { return swapped{Dir(dir), sync.OnceFunc(change)} }

func (s swapped) ReadMany(names []string, fn func(string, []byte) error) error {
	s.change()
	return s.FS.ReadMany(names, fn)
}

// A file that turns into a link after it was listed is not followed, not even
// within the folder; nor is a folder that turns into a link that leads out.
func TestSwapped(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	write(t, outside, "x.md", "---\ntype: secret\n---\n")
	for _, what := range []string{"a/x.md", "a"} {
		for _, to := range []string{filepath.Join(outside, "x.md"), "../b/y.md", outside} {
			dir := t.TempDir()
			write(t, dir, "a/x.md", "---\ntype: x\n---\n")
			write(t, dir, "b/y.md", "---\ntype: other\n---\n")
			g, ps, err := okf.Load(swap(dir, func() {
				if err := os.RemoveAll(filepath.Join(dir, what)); err != nil {
					t.Error(err)
				}
				if err := os.Symlink(to, filepath.Join(dir, what)); err != nil {
					t.Skip(err)
				}
			}))
			if err != nil || len(g.Atoms()) != 1 || len(ps) != 1 || ps[0].Path != "a/x.md" || ps[0].Code != "odd-unreadable" {
				t.Errorf("%s → %s: %d atoms, %v, %v", what, to, len(g.Atoms()), ps, err)
			}
		}
	}
}

// A file that is gone, or that may not be read, costs itself alone.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 20 {
		write(t, dir, fmt.Sprintf("a%02d.md", i), "---\ntype: x\n---\n")
	}
	locked := os.Getuid() > 0
	if locked {
		if err := os.Chmod(filepath.Join(dir, "a11.md"), 0); err != nil {
			t.Fatal(err)
		}
	}
	g, ps, err := okf.Load(swap(dir, func() {
		for _, n := range []string{"a03.md", "a04.md", "a05.md", "a19.md"} {
			_ = os.Remove(filepath.Join(dir, n))
		}
	}))
	bad := 4
	if locked {
		bad++
	}
	if err != nil || len(g.Atoms()) != 20-bad || len(ps) != bad {
		t.Errorf("%d atoms, %v, %v", len(g.Atoms()), ps, err)
	}
	for _, p := range ps {
		if p.Code != "odd-unreadable" {
			t.Error(p)
		}
	}
	if _, _, err := okf.Load(Dir(filepath.Join(dir, "gone"))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// A file that grows while it is read is read to where it once ended.
func TestGrowing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "a.md", "0")
	h, err := os.OpenFile(filepath.Join(dir, "a.md"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	stop, done := make(chan bool), make(chan error)
	go func() {
		var err error
		for i := 1; err == nil; i++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
				_, err = fmt.Fprint(h, i%10)
			}
		}
		done <- err
	}()
	want := bytes.Repeat([]byte("0123456789"), 1<<20)
	for range 200 {
		err := Dir(dir).ReadMany([]string{"a.md"}, func(_ string, b []byte) error {
			if len(b) == 0 || !bytes.HasPrefix(want, b) {
				return fmt.Errorf("%d bytes that never were", len(b))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// Texts lie side by side and none reaches into the next.
func TestRoom(t *testing.T) {
	t.Parallel()
	var s slab
	for _, n := range []int{0, 1, slabSize / 4, slabSize/4 + 1, slabSize} {
		a, b := s.alloc(n), s.alloc(n)
		if len(a) != n || cap(a) != n || len(b) != n {
			t.Errorf("room(%d) is %d of %d", n, len(a), cap(a))
		}
		_ = append(a, 'x')
		if n > 0 && b[0] != 0 {
			t.Errorf("room(%d) reaches into the next", n)
		}
	}
}

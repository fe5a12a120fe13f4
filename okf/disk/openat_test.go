//go:build linux || darwin

package disk

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/odd-cli/odd/okf"
)

// rootOnly is a folder on a system that has no call for what a root does.
func rootOnly(dir string) FS {
	return FS{sync.OnceValues(func() (top, error) {
		root, err := Dir(dir).root()
		root.fd = -1
		return root, err
	})}
}

// Folders that only a root opens are read as those that one call opens, and
// neither opens what a link leads out to.
func TestRootOnly(t *testing.T) {
	t.Parallel()
	dir, outside := trouble(t), t.TempDir()
	write(t, outside, "x.md", "---\ntype: secret\n---\n")
	want, wantPs, err := okf.Load(Dir(dir))
	if err != nil {
		t.Fatal(err)
	}
	g, ps, err := okf.Load(rootOnly(dir))
	same(t, want, g, wantPs, ps, err)
	if err := fstest.TestFS(rootOnly(filepath.Join(dir, "deep", "er", "than")), "most/x.md"); err != nil {
		t.Error(err)
	}
	for link, to := range map[string]string{"far": outside, "up": "../" + filepath.Base(outside), "near": "deep"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
		for _, f := range []FS{Dir(dir), rootOnly(dir)} {
			if _, err := f.ReadDir(link); (err == nil) != (link == "near") {
				t.Errorf("%s → %s: %v", link, to, err)
			}
			err := f.ReadMany([]string{link + "/x.md"}, func(string, []byte) error { return nil })
			if err == nil {
				t.Errorf("%s → %s was read", link, to)
			}
		}
	}
}

// An edit that keeps the size and sets the time of the text back is seen.
func TestTimeSetBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "a.md", "---\ntype: one\n---\n")
	file, old := filepath.Join(dir, "a.md"), time.Now().Add(-time.Hour)
	back := func() {
		if err := os.Chtimes(file, old, old); err != nil {
			t.Fatal(err)
		}
	}
	back()
	later := time.Now().Add(time.Hour)
	_, _, cache, err := okf.LoadCached(Dir(dir), nil, later)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, fresh, err := okf.LoadCached(Dir(dir), cache, later); err != nil || fresh != nil {
		t.Fatal("nothing changed and the cache is new", err)
	}
	for range 10_000 { // the system's clock for files ticks in milliseconds
		write(t, dir, "a.md", "---\ntype: two\n---\n")
		back()
		if g, _, _, err := okf.LoadCached(Dir(dir), cache, later); err != nil {
			t.Fatal(err)
		} else if g.ByID("a").Type == "two" {
			return
		}
	}
	t.Error("the edit is not seen")
}

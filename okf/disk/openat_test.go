//go:build linux || darwin

package disk

import (
	"errors"
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
	return FS{sync.OnceValues(func() (rootDir, error) {
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

// A folder that took another's place is seen, also where its files have the size
// of those that were there and changed in the same tick of the system's clock.
func TestFolderInAnothersPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	twins(t, dir, "a/x.md", "b/x.md")
	later := time.Now().Add(time.Hour)
	_, _, cache, err := okf.LoadCached(Dir(dir), nil, later)
	if err != nil {
		t.Fatal(err)
	}
	for _, move := range [][2]string{{"a", "c"}, {"b", "a"}, {"c", "b"}} {
		if err := os.Rename(filepath.Join(dir, move[0]), filepath.Join(dir, move[1])); err != nil {
			t.Fatal(err)
		}
	}
	g, _, _, err := okf.LoadCached(Dir(dir), cache, later)
	if err != nil || g.ByID("a/x").Type != "two" || g.ByID("b/x").Type != "one" {
		t.Errorf("a/x is of type %s, b/x of %s, %v", g.ByID("a/x").Type, g.ByID("b/x").Type, err)
	}
}

// twins writes two files that only their texts and inodes tell apart. Whoever
// looks at a file or its folder in between gets it a finer time.
func twins(t *testing.T, dir, one, two string) {
	t.Helper()
	for range 100 {
		var open [2]*os.File
		for i, name := range []string{one, two} {
			write(t, dir, name, "")
			h, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			open[i] = h
		}
		_, errOne := open[0].WriteString("---\ntype: one\n---\n")
		_, errTwo := open[1].WriteString("---\ntype: two\n---\n")
		if err := errors.Join(errOne, errTwo, open[0].Close(), open[1].Close()); err != nil {
			t.Fatal(err)
		}
		var times [2]int64
		Dir(dir).StatMany([]string{one, two}, func(i int, _, changed int64, _ uint64) { times[i] = changed })
		if times[0] == times[1] {
			return
		}
	}
	t.Skip("the system's clock for files ticks faster than they are written")
}

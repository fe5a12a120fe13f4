package board

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"testing/fstest"

	"github.com/odd-cli/odd/okf"
)

// counted fails the test when a path outside the tasks is asked for.
type counted struct {
	fs.FS
	t *testing.T
}

func (c counted) Open(name string) (fs.File, error) {
	if name != "." && name != Folder && !onBoard(name) {
		c.t.Errorf("opened %s", name)
	}
	return c.FS.Open(name)
}

func (c counted) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == "." {
		c.t.Error("listed the root")
	}
	return fs.ReadDir(c.FS, name)
}

func TestOnlyLooksAtTasksAlone(t *testing.T) {
	t.Parallel()
	f := fstest.MapFS{
		"index.md":          {Data: []byte("# Index\n")},
		"terms/tide.md":     {Data: []byte("---\ntype: term\n---\n")},
		"tasks/a.md":        {Data: []byte("---\ntype: task\n---\n")},
		"tasks/deep/b.md":   {Data: []byte("---\ntype: task\ndependencies: [a]\n---\n")},
		"tasks/note.md":     {Data: []byte("---\ntype: note\n---\n")},
		"elsewhere/task.md": {Data: []byte("---\ntype: task\n---\n")},
	}
	g, ps, err := okf.Load(Only(counted{f, t}))
	if err != nil || len(ps) > 0 {
		t.Fatal(err, ps)
	}
	part, _ := Tasks(g)
	whole, _, err := okf.Load(f)
	if err != nil {
		t.Fatal(err)
	}
	all, _ := Tasks(whole)
	if len(part) != 2 || len(all) != 2 {
		t.Fatalf("%d tasks by the folder, %d by the bundle, want 2", len(part), len(all))
	}
	for i := range part {
		if part[i].ID != all[i].ID || part[i].Path != all[i].Path {
			t.Errorf("%s at %s, by the bundle %s at %s", part[i].ID, part[i].Path, all[i].ID, all[i].Path)
		}
	}
	if dep := part[1].Dependencies; len(dep) != 1 || dep[0] != "tasks/a" {
		t.Errorf("dependencies %v", dep)
	}
	found := CheckTasks(whole)
	if len(found) == 0 || found[0].Path != "elsewhere/task.md" || found[0].Code != "odd-task-path" {
		t.Errorf("a task elsewhere is not told first: %v", found)
	}
}

// A bundle without tasks is an empty board; no bundle is an error.
func TestOnlyOfNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	g, ps, err := okf.Load(Only(os.DirFS(dir)))
	if err != nil || len(ps) > 0 || len(g.Atoms()) > 0 {
		t.Errorf("%v %v", ps, err)
	}
	if _, _, err := okf.Load(Only(os.DirFS(dir + "/none"))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no bundle: %v", err)
	}
	if err := os.Symlink("/", dir+"/"+Folder); err != nil {
		t.Skip(err)
	}
	if _, ps, _ := okf.Load(Only(os.DirFS(dir))); len(ps) != 1 || ps[0].Path != Folder {
		t.Errorf("a link for a folder: %v", ps)
	}
}

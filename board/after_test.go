package board

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/odd-cli/odd/okf"
)

// What a later look at the board has read is what a look that knows nothing reads;
// what did not change is the task it was, but for one that names another atom.
func TestTasksAfter(t *testing.T) {
	t.Parallel()
	f := fstest.MapFS{}
	write := func(name, text string) {
		f[name] = &fstest.MapFile{Data: []byte("---\n" + text + "\n---\n")}
	}
	write("tasks/a.md", "type: task\nid: first\nstate: ready")
	write("tasks/b.md", "type: task\nid: second\nstate: ready")
	write("tasks/c.md", "type: task\nid: third\ndependencies: [/tasks/b.md]")
	write("tasks/d.md", "type: task\nstate: x")
	write("tasks/e.md", "type: task\nid: fifth")
	g, ps, err := okf.Load(f)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := Tasks(g)
	write("tasks/a.md", "type: task\nid: first\nstate: in_progress")
	write("tasks/b.md", "type: task\nid: renamed")
	delete(f, "tasks/e.md")
	write("tasks/f.md", "type: task\nid: sixth")
	write("tasks/g.md", "type: task\nid: same")
	g, ps = okf.Reload(f, g, ps, map[string]bool{"tasks/a.md": true, "tasks/b.md": true, "tasks/e.md": true, "tasks/f.md": true, "tasks/g.md": true})
	want, bad := Tasks(g)
	got, again := TasksAfter(g, before)
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(Task{}, "Atom")); d != "" || len(want) != 5 {
		t.Errorf("of %d tasks: %s", len(want), d)
	}
	if d := cmp.Diff(bad, again); d != "" || len(bad) != 1 {
		t.Error(d)
	}
	write("tasks/f.md", "type: task\nid: sixth\ntitle: New")
	for i := range got {
		got[i].Title = "as it was"
	}
	g, _ = okf.Reload(f, g, ps, map[string]bool{"tasks/f.md": true})
	for i, task := range must(TasksAfter(g, got)) {
		if was := task.Title == "as it was"; was != (task.ID != "sixth" && task.ID != "third") {
			t.Errorf("%d: %s has the title %q", i, task.ID, task.Title)
		}
	}
}

func must(ts []Task, _ []okf.Problem) []Task { return ts }

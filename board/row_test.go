package board

import (
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/okf"
)

// memory keeps files of a cache.
type memory map[string][]byte

func (m memory) Cached(name string) []byte        { return m[name] }
func (m memory) Keep(name string, b []byte) error { m[name] = b; return nil }

// Rows are the rows of the tasks that are read whole, with the same problems, whether
// the bundle comes from its files or from a cache.
func TestRowsAreThoseOfTasks(t *testing.T) {
	t.Parallel()
	f := fstest.MapFS{
		"sea/tern.md":        {Data: []byte("---\ntype: term\n---\n")},
		"elsewhere.md":       {Data: []byte("---\ntype: task\n---\n")},
		"tasks/gull.md":      {Data: []byte("---\ntype: task\ndependencies: [tern, tasks/auk.md, broken, none, puffin]\n---\n")},
		"tasks/tern.md":      {Data: []byte("---\ntype: task\nid: a-tern\ntitle: Count\nstate: in_progress\nclaimed_by: run-1\nlease_expires: 2026-07-01T09:00:00Z\n---\n")},
		"tasks/auk.md":       {Data: []byte("---\ntype: task\nid: razorbill\nstate: blocked\nblocked_reason: rain\npriority: p0\nrole: editor\n---\n")},
		"tasks/broken.md":    {Data: []byte("---\ntype: task\npriority: high\nstate: x\n---\n")},
		"tasks/deep/puff.md": {Data: []byte("---\ntype: task\nid: puffin\ngenerated: {by: human:ann@example.org, at: 2026-06-01T09:00:00Z}\nacceptance: [one, two]\n---\n")},
	}
	loaded, ps, err := okf.Load(f)
	if err != nil {
		t.Fatal(err)
	}
	cached, _, err := okf.Decode(okf.Encode(loaded, ps), f)
	if err != nil {
		t.Fatal(err)
	}
	kept := memory{}
	first, _, _ := okf.Decode(okf.Encode(loaded, ps), f)
	first.KeepWords(kept)
	Rows(first)
	second, _, _ := okf.Decode(okf.Encode(loaded, ps), f)
	second.KeepWords(kept)
	if len(kept) != 1 {
		t.Fatalf("%d rows files", len(kept))
	}
	for name, g := range map[string]*okf.Graph{"files": loaded, "cache": cached, "first": first, "kept": second} {
		rows, bad := Rows(g) // before Tasks, which makes every atom
		tasks, problems := Tasks(g)
		if d := cmp.Diff(RowsOf(tasks), rows); d != "" || len(rows) != 4 {
			t.Errorf("%s: of %d rows: %s", name, len(rows), d)
		}
		if d := cmp.Diff(problems, bad); d != "" || len(bad) != 2 {
			t.Errorf("%s: %s", name, d)
		}
		all := IndexOf(rows)
		for _, task := range tasks {
			if got, ok := Find(tasks, task.ID); !ok || got.Path != task.Path || all[task.ID].Path != task.Path {
				t.Errorf("%s: Find(%s) = %s, %v", name, task.ID, got.Path, ok)
			}
			if a, b := Eligible(&task.Row, all, nine.Add(-time.Hour)), Eligible(all[task.ID], IndexOf(RowsOf(tasks)), nine.Add(-time.Hour)); a != b {
				t.Errorf("%s: %s waits for %q or %q", name, task.ID, a, b)
			}
		}
		if _, ok := Find(tasks, "nobody"); ok {
			t.Error("Find found nobody")
		}
	}
}

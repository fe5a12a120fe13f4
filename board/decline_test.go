package board

import (
	"testing"

	"github.com/odd-cli/odd/okf"
)

func taskOf(t *testing.T, id, keys string) Task {
	t.Helper()
	a, err := okf.Parse("tasks/"+id+".md", []byte("---\ntype: task\nid: "+id+"\n"+keys+"---\n"))
	if err != nil {
		t.Fatal(err)
	}
	task, err := Parse(&a)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// A no holds for the text it was said of, and for every task but its own; the last counts.
func TestDeclinedBefore(t *testing.T) {
	t.Parallel()
	tasks := []Task{
		taskOf(t, "a", "declined:\n  - {id: skeg, text: 'sha256:11', by: human:ann, at: 2026-03-02T09:00:00Z, reason: vague}\n  - {id: desk, text: 'sha256:22', by: human:ann, at: 2026-03-02T09:00:00Z}\n"),
		taskOf(t, "b", "declined: {id: skeg, text: 'sha256:11', by: human:bob, at: 2026-03-03T09:00:00Z}\n"),
	}
	for _, c := range []struct {
		again   okf.ID
		id      okf.ID
		grounds string
		want    string
	}{
		{"c", "skeg", "sha256:11", "declined by human:bob on 2026-03-03"},
		{"b", "skeg", "sha256:11", "declined by human:ann on 2026-03-02: vague"},
		{"c", "skeg", "sha256:12", ""},
		{"c", "keel", "sha256:11", ""},
		{"a", "desk", "sha256:22", ""},
	} {
		if got := DeclinedBefore(Declines(tasks, c.again))(c.id, c.grounds); got != c.want {
			t.Errorf("%s of %s for %s: %q, want %q", c.id, c.grounds, c.again, got, c.want)
		}
	}
}

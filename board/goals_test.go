package board

import (
	"slices"
	"testing"
	"testing/fstest"

	"github.com/odd-cli/odd/okf"
)

func TestDirection(t *testing.T) {
	atom := func(path, text string) okf.Atom {
		a, err := okf.Parse(path, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	task := func(id, keys string) okf.Atom {
		return atom("tasks/"+id+".md", "---\ntype: task\nid: "+id+"\n"+keys+"\n---\n")
	}
	goals := []okf.Atom{
		atom("goals/ship.md", "---\ntype: goal\nid: ship\ntitle: Ship the handbook\n---\n"),
		atom("goals/speed.md", "---\ntype: goal\nid: speed\n---\n"),
		atom("goals/idle.md", "---\ntype: goal\nid: idle\ntitle: Rest\n---\n"),
		atom("goals/past.md", "---\ntype: goal\nid: past\nstatus: deprecated\n---\n"),
	}
	tasks := []okf.Atom{
		task("a", "state: done\ngoal: ship"), task("b", "state: review\ngoal: goals/ship.md"), task("c", "state: in_progress\ngoal: goals/ship.md\nclaimed_by: run-x\nlease_expires: 2026-03-02T09:00:00Z"),
		task("d", "state: blocked\ngoal: speed\nblocked_reason: no"), task("e", "state: done\ngoal: speed"),
		task("f", "state: ready"), task("g", "state: ready\ngoal: nowhere"), task("h", "state: ready\ngoal: a"), task("i", "state: backlog"), task("j", "state: ready\ngoal: past"), task("k", "state: done\ngoal: past"),
	}
	of := func(atoms ...okf.Atom) []string {
		g := graphOf(t, atoms...)
		rows, problems := Rows(g)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return DirectionOf(g, rows).Lines()
	}
	want := []string{
		"Rest: no task names it",
		"Ship the handbook: 1 of 3 tasks done, 1 in review, 1 in progress",
		"speed: 1 of 2 tasks done, 1 blocked, nobody works on it",
		"4 of 8 open tasks name no goal; odd task edit TASK --goal GOAL names one",
		"1 of 8 open tasks name a deprecated goal",
	}
	if got := of(append(goals, tasks...)...); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if got := of(append(goals[3:], tasks...)...); got != nil {
		t.Errorf("without a goal in force: %q", got)
	}
}

// graphOf loads a bundle of the files of these atoms.
func graphOf(t *testing.T, atoms ...okf.Atom) *okf.Graph {
	t.Helper()
	files := fstest.MapFS{}
	for _, a := range atoms {
		files[a.Path] = &fstest.MapFile{Data: a.Bytes()}
	}
	g, _, err := okf.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

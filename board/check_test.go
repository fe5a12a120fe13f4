package board

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/okf"
)

// graph loads a bundle of path → frontmatter keys.
func graph(t *testing.T, atoms map[string]string) *okf.Graph {
	t.Helper()
	f := fstest.MapFS{}
	for path, keys := range atoms {
		f[path] = &fstest.MapFile{Data: []byte("---\n" + keys + "\n---\n")}
	}
	g, problems, err := okf.Load(f)
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	return g
}

func TestCheckTasks(t *testing.T) {
	t.Parallel()
	g := graph(t, map[string]string{
		"roles/editor.md":      "type: role",
		"capabilities/desk.md": "type: capability",
		"tasks/good.md":        "type: task\nrole: editor\nteam: desk\ndependencies: [later]\nsoft_dependencies: [bad]",
		"tasks/later.md":       "type: task\nrole: /roles/editor.md",
		"tasks/bad.md":         "type: task\nstate: sideways\npriority: 1",
		"tasks/lost.md":        "type: task\nrole: nobody\nteam: editor\nkind: juggle\ndependencies: [bad, nowhere]",
		"tasks/loop-a.md":      "type: task\nrole: editor\ndependencies: loop-b",
		"tasks/loop-b.md":      "type: task\nrole: editor\ntitle: b\ndependencies: [tasks/loop-a.md]",
		"tasks/lazy.md":        "type: task\ncommands: [[make]]\ngenerated: {by: odd/0.1}",
		"terms/task.md":        "type: term\nstate: sideways",
	})
	var got []string
	for _, p := range CheckTasks(g) {
		got = append(got, string(p.Severity)+" "+p.Code+" "+p.Error())
	}
	want := []string{
		`error odd-task-state tasks/bad.md:3: unknown state "sideways"; use one of backlog, ready, in_progress, review, blocked, done`,
		`error odd-task-priority tasks/bad.md:4: unknown priority "1"; use p0, p1, p2 or p3; p0 comes first`,
		`warning odd-task-soft-dependencies tasks/good.md:6: soft dependency tasks/bad is not a task or cannot be read; name a task that odd task list shows`,
		`warning odd-task-role tasks/lazy.md:1: the task has no role, so odd drain cannot work on it; set one with odd task edit tasks/lazy --role ROLE`,
		`warning odd-task-commands tasks/lazy.md:3: the commands were added by odd/0.1, not by a person; read them before odd task ready, because odd will run them`,
		`error odd-task-dependencies tasks/loop-a.md:4: dependencies form a cycle: tasks/loop-a → tasks/loop-b → tasks/loop-a; remove one of them, or move it to soft_dependencies`,
		`error odd-task-role tasks/lost.md:3: unknown role: nobody: no such atom`,
		`error odd-task-team tasks/lost.md:4: "editor" is a role, not a capability; name an atom of type capability`,
		`error odd-task-kind tasks/lost.md:5: unknown kind "juggle"; use one of research`,
		`error odd-task-dependencies tasks/lost.md:6: depends on nowhere, which is not a task or cannot be read; name a task that odd task list shows`,
		`error odd-task-dependencies tasks/lost.md:6: depends on tasks/bad, which is not a task or cannot be read; name a task that odd task list shows`,
	}
	if len(got) != len(want) {
		t.Fatalf("got %d problems, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("got  %s\nwant %s", got[i], want[i])
		}
	}
}

func TestCheckTeams(t *testing.T) {
	t.Parallel()
	g := graph(t, map[string]string{"capabilities/desk.md": "type: capability", "capabilities/ops.md": "type: capability\nid: ops", "roles/editor.md": "type: role\nid: editor"})
	var got []string
	for _, p := range CheckTeams(g, map[string]budget.MicroUSD{"ops": 1, "desk": 1, "capabilities/desk": 1, "editor": 1, "nobody": 1}) {
		got = append(got, p.Error())
	}
	want := []string{
		`odd.toml:1: [budget.teams]: "desk" is not an id; write "capabilities/desk"`,
		`odd.toml:1: [budget.teams]: "editor" is a role, not a capability; name an atom of type capability by its id`,
		`odd.toml:1: [budget.teams]: unknown capability: nobody: no such atom; name an atom of type capability by its id`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestTasksResolvesDependencies(t *testing.T) {
	t.Parallel()
	g := graph(t, map[string]string{
		"tasks/z.md":           "type: task\nid: first",
		"tasks/a.md":           "type: task\nid: second\nteam: desk\ndependencies: [z, /tasks/z.md, first, gone]\nsoft_dependencies: tasks/z.md",
		"tasks/bad.md":         "type: task\nstate: x",
		"capabilities/desk.md": "type: capability",
	})
	tasks, problems := Tasks(g)
	if len(tasks) != 2 || tasks[0].ID != "first" || tasks[1].ID != "second" || len(problems) != 1 {
		t.Fatalf("got %v, %v", tasks, problems)
	}
	if d := cmp.Diff([]okf.ID{"first", "first", "first", "gone"}, tasks[1].Dependencies); d != "" {
		t.Error(d)
	}
	if tasks[1].Team != "capabilities/desk" {
		t.Errorf("the team is %q", tasks[1].Team)
	}
	if d := cmp.Diff([]okf.ID{"first"}, tasks[1].Soft); d != "" {
		t.Error(d)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	full := Filing{
		Title: "Read the\thandbook", Description: "Take the terms out.", Kind: "extract", Priority: "p1", Role: "shore-lead", Team: "desk",
		Dependencies: []string{"open"}, Soft: []string{"paint"}, Acceptance: []string{"every atom: a line"}, Inputs: []string{"docs/"},
		Paths: []string{"knowledge/**"}, Commands: [][]string{{"make", "test"}}, Budget: 250_000, MaxTurns: 12, Tags: []string{"reading"},
		Body: "Start with the glossary.\u200b", By: "human:ann@example.org", At: nine.In(time.FixedZone("east", 3600)),
	}
	a, err := New(full)
	if err != nil {
		t.Fatal(err)
	}
	again, err := okf.Parse(a.Path, a.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(&again)
	if err != nil {
		t.Fatal(err)
	}
	if got.ID != "read-the-handbook" || got.Path != "tasks/read-the-handbook.md" || got.State != Backlog || got.Budget != 250_000 ||
		got.Created != "2026-07-01T09:00:00Z" || again.Confidence() != okf.Asserted || len(got.Commands) != 1 || got.MaxTurns != 12 {
		t.Errorf("got %+v\n%s", got, a.Bytes())
	}
	if body := string(a.Body()); !strings.Contains(body, "# Read the handbook\n\nStart with the glossary.\n") {
		t.Errorf("body %q", body)
	}
}

func TestNewByAnAgent(t *testing.T) {
	t.Parallel()
	agent := Filing{Title: "Mend it", By: "odd-agent/0.1", At: nine}
	a, err := New(agent)
	if err != nil {
		t.Fatal(err)
	}
	if got := task(t, string(a.Bytes())); got.State != Backlog || a.Confidence() != okf.Inferred {
		t.Errorf("got %s, %v", got.State, a.Confidence())
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		f    Filing
		want string
	}{
		{"the title is empty", Filing{By: "human:a", Title: " \u200b"}, "the title is empty"},
		{"a title without letters", Filing{By: "human:a", Title: "…"}, "the title has no a-z or 0-9 to make an id from"},
		{"an id that climbs", Filing{By: "human:a", Title: "x", ID: "../x"}, `"../x": the id may have only lower-case letters`},
		{"an id in capitals", Filing{By: "human:a", Title: "x", ID: "X"}, "the id may have only lower-case letters"},
		{"a listing's name", Filing{By: "human:a", Title: "Index"}, "index.md is a reserved file name"},
		{"another's", Filing{By: "human:a", Title: "x", ID: "log"}, "log.md is a reserved file name"},
		{"nobody", Filing{Title: "x"}, "no author is given"},
		{"an agent's commands", Filing{By: "odd/0.1", Title: "x", Commands: [][]string{{"rm"}}}, "odd/0.1 is not a person, and only a person"},
		{"an agent's approval", Filing{By: "odd/0.1", Title: "x", Tags: []string{"approved-by:human:a"}}, "only odd approve writes approved- tags"},
		{"nobody in particular", Filing{By: "human:", Title: "x", Commands: [][]string{{"rm"}}}, "only a person may add commands"},
		{"what Parse refuses", Filing{By: "human:a", Title: "x", Priority: "high"}, `unknown priority "high"`},
		{"paths that climb", Filing{By: "human:a", Title: "x", Paths: []string{"../**"}}, "is not a glob inside the repository"},
	} {
		c.f.At = nine
		if _, err := New(c.f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

package testscripts

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/knowledge"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona"
	"github.com/odd-cli/odd/persona/contract"
)

// bundleIn is the part of an archive below its knowledge folder.
func bundleIn(t *testing.T, files []knowledge.File, edit func(string) string) fs.FS {
	t.Helper()
	all := fstest.MapFS{}
	for _, f := range files {
		all[f.Path] = &fstest.MapFile{Data: []byte(edit(string(f.Data)))}
	}
	sub, err := fs.Sub(all, "knowledge")
	if err != nil {
		t.Fatal(err)
	}
	return sub
}

func asShipped(s string) string { return s }

// sound loads a bundle of ours and wants nothing at all to be wrong with it:
// every file, every edge, every link, every task.
func sound(t *testing.T, f fs.FS) (*okf.Graph, []board.Task) {
	t.Helper()
	g, problems, err := okf.Load(f)
	if err != nil {
		t.Fatal(err)
	}
	tasks, more := board.Tasks(g)
	problems = append(problems, okf.Check(g, time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))...)
	for _, p := range append(problems, more...) {
		t.Error(p)
	}
	for _, a := range g.Atoms() {
		for _, d := range g.Dangling(a.ID) {
			t.Errorf("%s:%d: %s leads nowhere: %s", a.Path, d.Line, d.Kind, d.Target)
		}
		linked := map[string]bool{}
		for _, l := range a.Links() {
			linked[l.Target] = true
		}
		for _, h := range g.Out(a.ID) {
			if to, err := g.Find(string(h.To)); err != nil || !linked[to.Path] {
				t.Errorf("%s: the edge to %s has no link in the body", a.Path, h.To)
			}
		}
		if a.Title == "" || a.Description == "" {
			t.Errorf("%s: without a title or a description", a.Path)
		}
	}
	for _, i := range okf.Index(f, g, nil) {
		if i.State != okf.IndexFresh {
			t.Errorf("%s: %s; odd knowledge index writes it", i.Path, i.State)
		}
	}
	for _, task := range tasks {
		if _, err := g.Find(task.Role); err != nil {
			t.Errorf("%s: role: %v", task.Path, err)
		}
	}
	return g, tasks
}

// missing compiles a role and lists what keeps it below the floor.
func missing(t *testing.T, g *okf.Graph, role string) []persona.Shortfall {
	t.Helper()
	p, err := persona.Compile(g, role)
	if err != nil {
		t.Fatal(err)
	}
	return p.Below(persona.DefaultFloor())
}

func TestOwnBundle(t *testing.T) {
	t.Parallel()
	g, tasks := sound(t, os.DirFS(filepath.Join(root, "knowledge")))
	for _, role := range []string{"maintainer", "reviewer", "agent-operator"} {
		if short := missing(t, g, role); len(short) > 0 {
			t.Errorf("%s is below the floor: %v", role, short)
		}
	}
	if len(tasks) == 0 {
		t.Error("no tasks read")
	}
}

// TestStarter: as laid out its role is refused, which is how a person learns
// what a persona rests on; made true, it clears the floor.
func TestStarter(t *testing.T) {
	t.Parallel()
	g, tasks := sound(t, bundleIn(t, knowledge.Starter(), asShipped))
	if short := missing(t, g, "keeper"); len(short) > 0 {
		t.Errorf("the keeper is below the floor: %v", short)
	}
	if len(tasks) != 1 || tasks[0].State != board.Backlog {
		t.Errorf("tasks = %+v, want one in backlog", tasks)
	}
}

func TestDemo(t *testing.T) {
	t.Parallel()
	g, tasks := sound(t, bundleIn(t, knowledge.Demo(), asShipped))
	if short := missing(t, g, "shore-lead"); len(short) > 0 {
		t.Errorf("the shore lead is below the floor: %v", short)
	}
	if len(tasks) != 1 || tasks[0].State != board.Ready || tasks[0].Kind != "extract" {
		t.Errorf("tasks = %+v, want one ready to extract", tasks)
	}
}

// TestShippedProfiles: the audit's profile is in force in our bundle and in the
// one that init lays out, with its prompt, and the two are the same.
func TestShippedProfiles(t *testing.T) {
	t.Parallel()
	var prompts, profiles []string
	for name, f := range map[string]fs.FS{
		"our bundle": os.DirFS(filepath.Join(root, "knowledge")),
		"starter":    bundleIn(t, knowledge.Starter(), asShipped),
	} {
		g, _, err := okf.Load(f)
		if err != nil {
			t.Fatal(err)
		}
		r := contract.LoadRoster(g)
		if len(r.Problems) > 0 || len(r.Profiles) != 1 {
			t.Fatalf("%s: %d profiles, problems %v", name, len(r.Profiles), r.Problems)
		}
		p := r.Profiles[0]
		if p.Name != "audit-reviewer" || p.Standing != contract.InForce || !slices.Equal(p.Roles, []contract.Role{contract.Validator}) {
			t.Errorf("%s: %+v", name, p)
		}
		prompt, err := g.Find(p.SystemPromptURI)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		profile, err := g.Find(string(p.ID))
		if err != nil {
			t.Fatal(err)
		}
		prompts, profiles = append(prompts, string(prompt.Bytes())), append(profiles, string(profile.Bytes()))
	}
	if prompts[0] != prompts[1] || profiles[0] != profiles[1] {
		t.Error("what init lays out is not what we use ourselves")
	}
}

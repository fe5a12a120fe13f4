package drain

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/session"
)

// A session first says what it wants to read and what it plans, as far as it can; what it says
// reaches the next one's brief, and only a plan that nobody can follow, or the end of the money,
// ends the work.
func TestStepsBeforeTheWork(t *testing.T) {
	t.Parallel()
	step := func(expansion, plan string) session.Emission {
		e := says()
		e.Usage.Cost = 1
		if expansion != "" {
			e.Expansion = &session.Change{Line: 1, Text: []byte(expansion)}
		}
		if plan != "" {
			e.Plan = &session.Change{Line: 1, Text: []byte(plan)}
		}
		return e
	}
	asks := func(files string) session.Emission {
		return step(`{"schema_version": "expansion.1", "additional_files_needed": [`+files+`], "reasoning": "r"}`, "")
	}
	plans := func(file string) session.Emission {
		return step("", `{"schema_version": "plan.1", "approach": "names first", "complexity": "moderate", "risk_factors": [], "test_strategy": "none", "architectural_notes": "none", "ordered_changes": [
{"file_path": "`+file+`", "change_type": "modify", "description": "d", "dependencies": [], "estimated_scope": "small"}]}`)
	}
	dear := says()
	dear.Usage.Cost = 100_000
	atoms := says(term("x"))
	atoms.Usage.Cost = 1
	stuck := session.Fail("stuck", "no maps")
	stuck.Usage = atoms.Usage
	const all = "expand plan work"
	for name, c := range map[string]struct {
		expand []session.Emission // one a time it is asked
		plan   session.Emission
		asked  string // the steps of the sessions
		end    pipeline.Reason
		brief  []string // what the brief of the work says, or with "!" does not
		told   string   // to the person
	}{
		"it reads and plans": {expand: []session.Emission{asks(`"lib/moons.txt", ".ssh/id_rsa"`), asks(`"lib/moons.txt"`)}, plan: plans("docs/a.md"), asked: "expand expand plan work",
			brief: []string{"the moons of the sea", "Not given: .ssh/id_rsa", "Not given: lib/moons.txt: it was given already", "names first"}},
		"it wants no more":           {expand: []session.Emission{asks("")}, plan: plans("docs/a.md"), asked: all, brief: []string{"names first", "!Not given"}},
		"what it wants is not there": {expand: []session.Emission{asks(`"suns.txt"`)}, plan: plans("docs/a.md"), asked: all, brief: []string{"Not given: suns.txt: there is no such file"}},
		"it says nothing":            {expand: []session.Emission{step("", "")}, plan: step("", ""), asked: all, brief: []string{"!names first"}},
		"nobody can read it":         {expand: []session.Emission{step("{", "")}, plan: step("", "{"), asked: all, brief: []string{"!names first"}},
		"it gives up in a step":      {expand: []session.Emission{stuck}, plan: stuck, asked: all},
		"it works in a step":         {expand: []session.Emission{atoms}, plan: plans("docs/a.md"), asked: all, told: "a: in this step the agent only answers; odd drops the changes that it made (expand)"},
		"it plans another change":    {expand: []session.Emission{asks("")}, plan: plans("src/a.go"), asked: "expand plan", end: pipeline.PlanWrong},
		"it plans out of the tree":   {expand: []session.Emission{asks("")}, plan: plans("../a.go"), asked: "expand plan", end: pipeline.PlanWrong},
		"a step takes all the money": {expand: []session.Emission{dear}, asked: "expand", end: pipeline.CostCapExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, paid+"[pipeline]\nexpand = \"auto\"\nplan = \"always\"\n", "a")
			w.commit(repo.Changes{"docs/a.md": []byte("# A\n"), "lib/moons.txt": []byte("the moons of the sea\n"), ".ssh/id_rsa": []byte("x\n"),
				"knowledge/tasks/a.md": []byte("---\ntype: task\nid: a\ntitle: A new module of tides\nstate: ready\nkind: implement\nrole: shore-lead\npaths: [docs/**]\n---\n")}, "the docs")
			var asked []string
			brief, told := "", ""
			w.o.Progress = func(s string) { told += s + "\n" }
			w.answer = func(_ context.Context, r session.Request) (session.Emission, error) {
				switch r.Step {
				case session.StepExpand:
					asked = append(asked, "expand")
					return c.expand[min(len(asked), len(c.expand))-1], nil
				case session.StepPlan:
					asked = append(asked, "plan")
					return c.plan, nil
				}
				asked, brief = append(asked, "work"), string(r.Brief)
				return delivers(1, "# B\n"), nil
			}
			o := w.must().Tasks[0]
			stories, _ := w.ops()
			if got := stories[0].Op(); strings.Join(asked, " ") != c.asked || got.Reason != c.end || (o.State == "review") != (c.end == "") {
				t.Fatalf("asked for %q, ended %q as %s (%s); want %q, %q", asked, got.Reason, o.State, o.Reason, c.asked, c.end)
			}
			for _, want := range c.brief {
				if want, not := strings.CutPrefix(want, "!"); strings.Contains(brief, want) == not {
					t.Errorf("the brief says %q: %v\n%s", want, !not, brief)
				}
			}
			if !strings.Contains(told, c.told) || c.told == "" && strings.Contains(told, "in this step") {
				t.Error(told)
			}
			if cost := fmt.Sprint(o.Cost); c.end == pipeline.CostCapExceeded && cost != "0.10" {
				t.Errorf("it cost %s", cost)
			}
		})
	}
}

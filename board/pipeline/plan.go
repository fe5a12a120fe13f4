package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/reconcile/policy"
)

// Caps of a plan.
const (
	maxPlanBytes   = 128 << 10 // of the whole
	maxPlanChanges = 50        // files it means to change
	maxPlanList    = 50        // risk factors
)

// ShortAsk is the longest description, in bytes, of work on at most one file that
// needs no plan.
const ShortAsk = 200

// ChangePlan is plan.1, as far as more than its session reads it: what a session means
// to change, in which order.
type ChangePlan struct {
	Approach   string
	Complexity Complexity
	Changes    []PlannedChange
}

// PlannedChange is one file of a plan.
type PlannedChange struct {
	Path  string
	After []string // paths of the plan that come before
}

// NeedsPlan reports a change of more than one file, or one that takes more than a few
// words to describe. A glob is not one file.
func NeedsPlan(targets []string, description string) bool {
	one := len(targets) == 1 && !strings.ContainsAny(targets[0], "*?[") && !strings.HasSuffix(targets[0], "/")
	return len(targets) > 0 && (!one || len(description) > ShortAsk)
}

// ParsePlan reads plan.1 and holds it against the globs of what its task may
// change. A plan that is wrong is refused: a dependency that is not in it, a
// circle, an order that is not that of its dependencies, or no file in common
// with the task. The error is an Unusable.
func ParsePlan(b []byte, targets []string) (ChangePlan, error) {
	var p ChangePlan
	var u Unusable
	f, err := readSchema(b, maxPlanBytes, "plan.1", &u)
	if err != nil {
		return p, err
	}
	p.Approach = f.readText("approach", true, maxWords)
	p.Complexity = Complexity(f.readWord("complexity", "trivial", "moderate", "complex", "architectural"))
	changes := f.readList("ordered_changes", true, maxPlanChanges)
	f.readTexts("risk_factors", true, maxPlanList, maxWords)
	f.readText("test_strategy", true, maxWords)
	f.readText("architectural_notes", true, maxWords)
	f.refuseOthers("unexpected_key")
	var at []string
	for _, v := range changes {
		g := &form{v: v, u: &u}
		if g.checkObject(v) {
			p.Changes, at = append(p.Changes, g.readChange()), append(at, v.place())
		}
	}
	if len(changes) == 0 && len(u) == 0 {
		f.addFault("plan_empty", f.v.place(), "ordered_changes is empty", "name the files to change")
	}
	if len(u) > 0 {
		return p, u
	}
	return p, p.check(at, targets).errorOrNil()
}

func (f *form) readChange() PlannedChange {
	c := PlannedChange{Path: f.readText("file_path", true, maxPathBytes)}
	f.readWord("change_type", "modify", "create", "delete")
	f.readText("description", true, maxWords)
	c.After = f.readTexts("dependencies", true, maxPlanChanges, maxPathBytes)
	f.readWord("estimated_scope", "small", "medium", "large")
	f.refuseOthers("unexpected_key")
	return c
}

// check lists what makes a plan one that nobody can follow.
func (p ChangePlan) check(at []string, targets []string) Unusable {
	var u Unusable
	say := func(i int, code, text, fix string) {
		u = append(u, Fault{code, fmt.Sprintf("%s, %s", at[i], p.Changes[i].Path), text, fix})
	}
	place := map[string]int{}
	for i, c := range p.Changes {
		for _, f := range policy.CheckPath(c.Path) {
			say(i, f.Code, f.Text, f.Fix)
		}
		if _, twice := place[c.Path]; twice {
			say(i, "plan_path_twice", "is in the plan twice", "merge the two entries")
			continue
		}
		place[c.Path] = i
	}
	circles := p.findCycles(place)
	for i, c := range p.Changes {
		for _, d := range c.After {
			j, known := place[d]
			switch {
			case !known:
				say(i, "plan_dangling", fmt.Sprintf("depends on %q, which is not in the plan", d), "name a file of the plan, or leave the dependency out")
			case circles[c.Path] && circles[d]:
				say(i, "plan_cycle", fmt.Sprintf("depends on %q in a cycle", d), "break the cycle")
			case j >= i:
				say(i, "plan_order", fmt.Sprintf("depends on %q, which comes later", d), "move it behind that")
			}
		}
	}
	if !slices.ContainsFunc(p.Changes, func(c PlannedChange) bool { return policy.MatchAnyGlob(expandFolders(targets), c.Path) }) {
		u = append(u, Fault{"plan_no_overlap", at[0], "changes none of the task's files: " + strings.Join(targets, ", "), "plan the change that the task asks for"})
	}
	return u
}

// findCycles are the paths on a circle of dependencies: those that can be reached
// from themselves.
func (p ChangePlan) findCycles(place map[string]int) map[string]bool {
	on := map[string]bool{}
	for _, c := range p.Changes {
		seen := map[string]bool{}
		for next := slices.Clone(c.After); len(next) > 0; {
			d := next[0]
			next = next[1:]
			if j, known := place[d]; known && !seen[d] {
				seen[d] = true
				next = append(next, p.Changes[j].After...)
			}
		}
		if seen[c.Path] {
			on[c.Path] = true
		}
	}
	return on
}

// expandFolders are globs with those of a folder, "docs/", meaning all below it.
func expandFolders(globs []string) []string {
	out := make([]string, len(globs))
	for i, g := range globs {
		if dir, ok := strings.CutSuffix(g, "/"); ok {
			g = dir + "/**"
		}
		out[i] = g
	}
	return out
}

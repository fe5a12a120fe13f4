package board

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/okf"
)

// CheckTasks returns everything wrong with the tasks of g: unreadable keys, an unknown role,
// team or kind, missing or cyclic dependencies, and commands that no person wrote. The codes
// begin with "odd-task-". An Error keeps a task from being drained; a Warn does not. The
// order is path, line, code.
func CheckTasks(g *okf.Graph) []okf.Problem {
	tasks, problems := Tasks(g)
	for _, a := range g.OfType(func(typ string) bool { return typ == Type }) {
		if !onBoard(a.Path) {
			problems = append(problems, newProblem(a, "path", okf.Warn, "tasks outside of "+Folder+"/ are ignored", "move the file into "+Folder+"/"))
		}
	}
	all := IndexOf(RowsOf(tasks))
	round, known := cycleFinder{all: all}, referenceChecker{g, map[string]string{}}
	for _, t := range tasks {
		problems = append(problems, t.checkReferences(known, all)...)
		if loop := round.findFrom(t.ID); loop != nil {
			problems = append(problems, newProblem(g.ByID(okf.ID(loop[0])), "dependencies", okf.Error,
				"dependencies form a cycle: "+strings.Join(loop, " → "), "remove one of them, or move it to soft_dependencies"))
		}
	}
	slices.SortFunc(problems, func(a, b okf.Problem) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), strings.Compare(a.Code, b.Code), strings.Compare(a.Message, b.Message))
	})
	return problems
}

// Unread returns those errors in a bundle's files that keep files of the board, or its
// folder, from being read as tasks. They include tasks that share an id, of which only the first by path is
// seen.
func Unread(files []okf.Problem) []okf.Problem {
	var out []okf.Problem
	for _, p := range files {
		if p.Severity == okf.Error && (onBoard(p.Path) || p.Path == Folder) {
			out = append(out, p)
		}
	}
	return out
}

// Twin returns the problem that another file has the same id as the task at path, nil if
// none has. Then nobody can say which task is meant, so callers refuse to act on either.
func Twin(files []okf.Problem, path string) *okf.Problem {
	for i, p := range files {
		if p.Path == path && p.Code == "odd-duplicate-id" {
			return &files[i]
		}
	}
	return nil
}

// CheckTeams returns the names of [budget.teams] in odd.toml that are not the id of a
// capability of g. drain refuses while there are any, because their budget would apply to
// nobody. The order is by name.
func CheckTeams(g *okf.Graph, teams map[string]budget.MicroUSD) []okf.Problem {
	var out []okf.Problem
	for _, name := range slices.Sorted(maps.Keys(teams)) {
		wrong, hint := (referenceChecker{g: g}).checkReference(name, "capability"), "name an atom of type capability by its id"
		if a, err := g.Find(name); wrong == "" && err == nil && string(a.ID) != name {
			wrong, hint = fmt.Sprintf("%q is not an id", name), fmt.Sprintf("write %q", a.ID)
		}
		if wrong != "" {
			out = append(out, okf.Problem{Code: "odd-budget-team", Severity: okf.Error, Path: "odd.toml", Line: 1, Message: "[budget.teams]: " + wrong, Hint: hint})
		}
	}
	return out
}

// checkReferences checks what a task names in the rest of the bundle.
func (t Task) checkReferences(g referenceChecker, all Index) []okf.Problem {
	var out []okf.Problem
	add := func(key string, s okf.Severity, message, hint string) {
		out = append(out, newProblem(t.Atom, key, s, message, hint))
	}
	if t.Role == "" {
		add("role", okf.Warn, "the task has no role, so odd drain cannot work on it", "set one with odd task edit "+string(t.ID)+" --role ROLE")
	} else if wrong := g.checkReference(t.Role, "role"); wrong != "" {
		add("role", okf.Error, wrong, "name an atom of type role")
	}
	if t.Goal != "" {
		if wrong := g.checkReference(t.Goal, GoalType); wrong != "" {
			add("goal", okf.Warn, wrong, "name an atom of type goal")
		}
	}
	if t.Team != "" {
		if wrong := g.checkReference(t.Team, "capability"); wrong != "" {
			add("team", okf.Error, wrong, "name an atom of type capability")
		}
	}
	if !slices.Contains(Kinds(), t.Kind) {
		add("kind", okf.Error, fmt.Sprintf("unknown kind %q", t.Kind), "use one of "+joinWords(Kinds()))
	}
	for _, id := range t.Dependencies {
		if _, ok := all[id]; !ok {
			add("dependencies", okf.Error, fmt.Sprintf("depends on %s, which is not a task or cannot be read", id), "name a task that odd task list shows")
		}
	}
	for _, id := range t.Soft {
		if _, ok := all[id]; !ok {
			add("soft_dependencies", okf.Warn, fmt.Sprintf("soft dependency %s is not a task or cannot be read", id), "name a task that odd task list shows")
		}
	}
	if len(t.Commands) > 0 && t.Atom.Generated.By != "" && !t.Atom.Generated.Human() && t.State == Backlog {
		add("commands", okf.Warn, "the commands were added by "+t.Atom.Generated.By+", not by a person", "read them before odd task ready, because odd will run them")
	}
	return out
}

// referenceChecker finds what is wrong with references. It caches the answer for a missing
// name, because finding what the name could mean compares it with every id.
type referenceChecker struct {
	g    *okf.Graph
	told map[string]string
}

// checkReference returns what is wrong with a reference to an atom of a type, "" for
// nothing.
func (n referenceChecker) checkReference(name, typ string) string {
	if a := n.g.Target(name, ""); a != nil {
		if a.Type != typ {
			return fmt.Sprintf("%q is a %s, not a %s", name, a.Type, typ)
		}
		return ""
	}
	wrong, ok := n.told[name]
	if !ok {
		_, err := n.g.Find(name)
		wrong = fmt.Sprint(err)
		if n.told != nil {
			n.told[name] = wrong
		}
	}
	return fmt.Sprintf("unknown %s: %s", typ, wrong)
}

package board

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
)

// Parse reads a task atom. The error is an okf.Problem, such as an unknown state or a bad
// lease: the first one that CheckTasks would return. A task with a problem is not drained.
func Parse(a *okf.Atom) (Task, error) {
	t, problems := parseTask(a)
	if len(problems) > 0 {
		return Task{}, problems[0]
	}
	return t, nil
}

// Tasks reads every task of g in id order, with the problems of those that cannot be read.
// It resolves dependencies and teams that are named by path or stem to ids, because budgets
// and boards use ids.
func Tasks(g *okf.Graph) ([]Task, []okf.Problem) { return TasksAfter(g, nil) }

// TasksAfter is Tasks, given an earlier result for the bundle. It reuses the tasks whose
// atom is the same, if they name no other atom.
func TasksAfter(g *okf.Graph, before []Task) ([]Task, []okf.Problem) {
	known := make(map[*okf.Atom]*Task, len(before))
	for i, t := range before {
		if t.Team == "" && len(t.Dependencies)+len(t.Soft) == 0 {
			known[t.Atom] = &before[i]
		}
	}
	var problems []okf.Problem
	atoms := g.OfType(func(typ string) bool { return typ == Type })
	tasks := make([]Task, 0, len(atoms))
	for _, a := range atoms {
		if !onBoard(a.Path) {
			continue
		}
		if t := known[a]; t != nil {
			tasks = append(tasks, *t)
			continue
		}
		t, bad := parseTask(a)
		if problems = append(problems, bad...); len(bad) > 0 {
			continue
		}
		tasks = append(tasks, t)
	}
	slices.SortFunc(tasks, func(a, b Task) int { return cmp.Compare(a.ID, b.ID) })
	rows := RowsOf(tasks)
	r := resolver{g: g, rows: rows, stems: sync.OnceValue(func() map[string]okf.ID { return indexStems(rows) })}
	for i := range tasks {
		r.resolveTask(&tasks[i])
	}
	return tasks, problems
}

// IsTask reports whether an atom is a task on the board, readable or not.
func IsTask(a *okf.Atom) bool { return a.Type == Type && onBoard(a.Path) }

// ReadTask returns the task that Tasks(g) has for a. It reads other tasks only if a name
// needs them. The error is the first of the task's problems.
func ReadTask(g *okf.Graph, a *okf.Atom) (Task, error) {
	t, err := Parse(a)
	if err != nil {
		return Task{}, err
	}
	resolver{g: g, stems: sync.OnceValue(func() map[string]okf.ID {
		all, _ := Rows(g)
		return indexStems(all)
	})}.resolveTask(&t)
	return t, nil
}

// Behind returns t and every task it depends on, directly or indirectly: all that Eligible
// needs to judge t.
func Behind(g *okf.Graph, t Task) Index {
	all := Index{t.ID: &t.Row}
	for todo := t.Dependencies; len(todo) > 0; {
		id := todo[0]
		todo = todo[1:]
		a := g.ByID(id)
		if _, had := all[id]; had || a == nil || !IsTask(a) {
			continue
		}
		if dep, err := ReadTask(g, a); err == nil {
			all[id] = &dep.Row
			todo = append(slices.Clip(todo), dep.Dependencies...)
		}
	}
	return all
}

// resolver finds the task that a dependency names: any name that a task has in the bundle,
// or else a stem that only one task has. So a board that was loaded alone gets the same
// dependencies as with its bundle.
type resolver struct {
	g     *okf.Graph
	rows  []*Row // sorted by id; may be nil
	stems func() map[string]okf.ID
}

func (r resolver) resolveTask(t *Task) {
	if t.Team != "" {
		if a := r.g.Target(t.Team, ""); a != nil && a.Type == "capability" {
			t.Team = string(a.ID)
		}
	}
	r.resolveIDs(t.Dependencies)
	r.resolveIDs(t.Soft)
}

func (r resolver) resolveIDs(ids []okf.ID) {
	for i, id := range ids {
		if _, ok := slices.BinarySearchFunc(r.rows, id, func(t *Row, id okf.ID) int { return cmp.Compare(t.ID, id) }); ok {
			continue // an exact id comes before any other name
		}
		if a := r.g.Target(string(id), ""); a != nil && IsTask(a) {
			ids[i] = a.ID
		} else if one := r.stems()[strings.TrimSuffix(string(id), ".md")]; one != "" {
			ids[i] = one
		}
	}
}

// indexStems maps the last elements of the tasks' ids and paths to their ids, "" if several
// tasks have one.
func indexStems(rows []*Row) map[string]okf.ID {
	out := make(map[string]okf.ID, len(rows))
	for _, t := range rows {
		for _, stem := range []string{path.Base(string(t.ID)), strings.TrimSuffix(path.Base(t.Path), ".md")} {
			if had, ok := out[stem]; ok && had != t.ID {
				out[stem] = ""
				continue
			}
			out[stem] = t.ID
		}
	}
	return out
}

// reader reads the keys of one task and collects what is wrong with them.
type reader struct {
	a        *okf.Atom
	has      uint64 // the bits of the keys that the task has
	problems []okf.Problem
}

// newReader returns a reader of a. Most tasks have few of the possible keys, so it marks
// once which ones there are.
func newReader(a *okf.Atom) *reader {
	r := &reader{a: a}
	for i := range a.Fields {
		r.has |= keyBit(a.Fields[i].Key)
	}
	return r
}

// keyBit returns a key's bit in reader.has. Several keys may share a bit.
func keyBit(key string) uint64 {
	if key == "" {
		return 1
	}
	return 1 << ((len(key) + 5*int(key[0]) + 11*int(key[len(key)-1])) % 64)
}

// lookUp returns the value of a key, nil if it is missing.
func (r *reader) lookUp(key string) any {
	if r.has&keyBit(key) == 0 {
		return nil
	}
	f, _ := r.a.Field(key)
	return f.Value
}

func (r *reader) addProblem(key, message, hint string) {
	r.problems = append(r.problems, newProblem(r.a, key, okf.Error, message, hint))
}

// newProblem returns a problem with a key of a task. Its code is "odd-task-" and the key
// with "-" for "_".
func newProblem(a *okf.Atom, key string, s okf.Severity, message, hint string) okf.Problem {
	return okf.Problem{
		Code: "odd-task-" + strings.ReplaceAll(key, "_", "-"), Severity: s, Path: a.Path, Line: a.Line(key), Message: message, Hint: hint,
	}
}

func parseTask(a *okf.Atom) (Task, []okf.Problem) {
	r := newReader(a)
	t := Task{Blob: a.Blob, Atom: a}
	t.ID, t.Path, t.Title, t.Created = a.ID, a.Path, cmp.Or(a.Title, string(a.ID)), a.Generated.At
	t.State, t.Kind, t.Priority = r.readState(), cmp.Or(formatScalar(r.lookUp("kind")), "implement"), r.readPriority()
	t.Role, t.Goal, t.Team, t.Signal = r.readText("role"), r.readText("goal"), r.readText("team"), readName(r, "signal", Signals)
	t.Dependencies, t.Soft = r.readIDs("dependencies"), r.readIDs("soft_dependencies")
	t.Acceptance, t.Inputs, t.Paths, t.Commands = r.readList("acceptance"), r.readInputs(), r.readGlobs(), r.readCommands()
	t.Budget, t.MaxTurns = r.readMoney("budget_usd"), r.readInteger("max_turns", 1)
	t.ContractRole, t.Persona = readName(r, "contract_role", contract.RoleNames), r.readText("persona")
	t.Surface, t.Engagement = readName(r, "surface", contract.SurfaceNames), readName(r, "engagement", contract.EngagementNames)
	t.Voice, t.Handoffs, t.Artifact = readName(r, "voice", contract.VoiceNames), r.readList("handoff"), r.readText("artifact")
	t.ClaimedBy, t.LeaseExpires, t.Attempts = r.readText("claimed_by"), r.readTime("lease_expires"), r.readInteger("attempts", 0)
	t.BlockedReason, t.Rejected, t.Declined, t.Result = r.readText("blocked_reason"), r.readRejections(), r.readDeclines(), r.readResult()
	t.Endorsed = r.readEndorsements()
	if okf.Visible(a.Path) != a.Path || strings.ContainsAny(a.Path, "\n\t") {
		r.addProblem("path", "the file name has invisible characters", "rename it with git mv; people type its id to confirm")
	}
	if t.State == InProgress && t.ClaimedBy != "" && t.LeaseExpires.IsZero() && len(r.problems) == 0 {
		r.addProblem("lease_expires", "claimed_by is set ("+t.ClaimedBy+") but lease_expires is not", "remove claimed_by, or set lease_expires")
	}
	return t, r.problems
}

func (r *reader) readState() State {
	word := r.readText("state")
	switch word {
	case "":
		return Backlog // nobody has made it ready
	case "in-progress", "claimed":
		return InProgress
	}
	if slices.Contains(States(), State(word)) {
		return State(word)
	}
	hint := "use one of " + joinWords(States())
	if near := nearestState(word); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	r.addProblem("state", fmt.Sprintf("unknown state %q", word), hint)
	return ""
}

// nearestState returns the state that a foreign or mistyped word most likely means, or "".
func nearestState(word string) State {
	folded := strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(word))
	switch folded {
	case "todo", "to_do", "open", "new", "draft", "proposed":
		return Backlog
	case "doing", "wip", "active", "started":
		return InProgress
	case "in_review", "reviewing", "to_review", "needs_review":
		return Review
	case "closed", "complete", "completed", "finished", "resolved":
		return Done
	case "stuck", "waiting", "on_hold":
		return Blocked
	}
	for _, s := range States() {
		if n := len(s) - 2; folded == string(s) || len(folded) >= 3 && (strings.HasPrefix(string(s), folded) || strings.HasPrefix(folded, string(s)[:n])) {
			return s
		}
	}
	return ""
}

func joinWords[T ~string](list []T) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return strings.Join(out, ", ")
}

func (r *reader) readPriority() string {
	switch p := r.readText("priority"); p {
	case "":
		return "p2"
	case "p0", "p1", "p2", "p3":
		return p
	default:
		r.addProblem("priority", fmt.Sprintf("unknown priority %q", p), "use p0, p1, p2 or p3; p0 comes first")
		return ""
	}
}

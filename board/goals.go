package board

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// GoalType is the atom type of a goal: what tasks are for. A task names one with the key goal.
const GoalType = "goal"

// Goal is a goal that is not deprecated, and how many of its tasks are in which state.
type Goal struct {
	ID    okf.ID        `json:"id"`
	Title string        `json:"title"`
	Tasks map[State]int `json:"tasks"`
}

// Direction says how the tasks that are not done stand to the goals.
type Direction struct {
	Goals   []Goal `json:"goals"` // by id
	Open    int    `json:"open"`  // those tasks
	Aimless int    `json:"without_goal,omitempty"`
	Over    int    `json:"with_deprecated_goal,omitempty"`
}

// DirectionOf returns the direction of the tasks of g, nil where g has no goal in force.
func DirectionOf(g *okf.Graph, rows []*Row) *Direction {
	d := &Direction{}
	at := map[okf.ID]int{}
	over := map[okf.ID]bool{}
	for _, a := range g.OfType(func(typ string) bool { return typ == GoalType }) {
		if strings.EqualFold(a.Status, "deprecated") {
			over[a.ID] = true
			continue
		}
		at[a.ID] = len(d.Goals)
		d.Goals = append(d.Goals, Goal{a.ID, cmp.Or(a.Title, string(a.ID)), map[State]int{}})
	}
	if len(d.Goals) == 0 {
		return nil
	}
	for _, t := range rows {
		open := t.State != Done
		if open {
			d.Open++
		}
		var goal *okf.Atom
		if t.Goal != "" {
			goal = g.Target(t.Goal, "")
		}
		switch {
		case goal != nil && goal.Type == GoalType && !over[goal.ID]:
			d.Goals[at[goal.ID]].Tasks[t.State]++
		case !open:
		case goal != nil && over[goal.ID]:
			d.Over++
		default:
			d.Aimless++
		}
	}
	return d
}

// Serving returns the tasks that name a goal, in their order on the board.
func Serving(g *okf.Graph, rows []*Row, goal *okf.Atom) (out []*Row) {
	for _, t := range rows {
		if t.Goal == "" {
			continue
		}
		if a := g.Target(t.Goal, ""); a != nil && a.ID == goal.ID {
			out = append(out, t)
		}
	}
	return Order(out, IndexOf(rows))
}

// Lines say how far each goal is, one a line, and last how many tasks serve none. A nil
// Direction has none.
func (d *Direction) Lines() (out []string) {
	if d == nil {
		return nil
	}
	for _, g := range d.Goals {
		out = append(out, g.Title+": "+g.progress())
	}
	if d.Aimless > 0 {
		out = append(out, fmt.Sprintf("%d of %d open tasks name no goal; odd task edit TASK --goal GOAL names one", d.Aimless, d.Open))
	}
	if d.Over > 0 {
		out = append(out, fmt.Sprintf("%d of %d open tasks name a deprecated goal", d.Over, d.Open))
	}
	return out
}

// progress says how far the goal is: "3 of 5 tasks done, 1 in review".
func (g Goal) progress() string {
	all := 0
	for _, n := range g.Tasks {
		all += n
	}
	if all == 0 {
		return "no task names it"
	}
	out := []string{fmt.Sprintf("%d of %d tasks done", g.Tasks[Done], all)}
	for _, s := range []struct {
		state State
		words string
	}{{Review, "in review"}, {InProgress, "in progress"}, {Ready, "ready"}, {Blocked, "blocked"}} {
		if n := g.Tasks[s.state]; n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n, s.words))
		}
	}
	if g.Tasks[Review]+g.Tasks[InProgress]+g.Tasks[Ready] == 0 && g.Tasks[Done] < all {
		out = append(out, "nobody works on it")
	}
	return strings.Join(out, ", ")
}

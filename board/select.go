package board

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/odd-cli/odd/okf"
)

// Reason is why a task is not eligible; "" means it is.
type Reason string

// Eligible returns why t may not be drained now. Reasons are its state, a claim that still
// holds, an unknown kind, or a hard dependency that is missing, not done, or leads back to
// t. Whether the board is paused, a budget is left and the persona is good enough, drain
// checks itself.
func Eligible(t *Row, all Index, now time.Time) Reason {
	switch {
	case t.State != Ready:
		return Reason(map[State]string{
			Backlog: "it is in backlog; odd task ready " + string(t.ID) + " makes it ready", Blocked: "it is blocked; odd task ready " + string(t.ID) + " tries again",
			Review: "it is in review; odd review " + string(t.ID) + " shows the proposal", InProgress: "it is in progress", Done: "it is done",
		}[t.State])
	case !t.LeaseExpires.IsZero() && !t.Expired(now):
		return Reason(fmt.Sprintf("%s is working on it until %s", t.ClaimedBy, t.LeaseExpires.Format(time.RFC3339)))
	case !slices.Contains(Kinds(), t.Kind):
		return Reason(fmt.Sprintf("unknown kind %q; set one with odd task edit %s --kind KIND", t.Kind, t.ID))
	}
	for _, id := range t.Dependencies {
		dep, ok := all[id]
		switch {
		case !ok:
			return Reason(fmt.Sprintf("depends on %s, which is not a task or cannot be read", id))
		case dep.State == Done:
			continue
		}
		if t.isChained(all) {
			if loop := (&cycleFinder{all: all, most: maxCycleWalk}).findFrom(t.ID); loop != nil {
				return Reason("its dependencies form a cycle: " + strings.Join(loop, " → "))
			}
		}
		return Reason("depends on " + string(id) + ", which is " + string(dep.State))
	}
	return ""
}

// isChained reports whether a dependency of t has dependencies. Without one there is no
// cycle.
func (t *Row) isChained(all Index) bool {
	return slices.ContainsFunc(t.Dependencies, func(id okf.ID) bool { d := all[id]; return d != nil && len(d.Dependencies) > 0 })
}

// maxCycleWalk is how many tasks Eligible visits to find a cycle, because it is called for
// every task. A task behind a longer chain is not eligible anyway.
const maxCycleWalk = 100

// cycleFinder finds cycles of hard dependencies. One value may be asked about many tasks and
// visits each once.
type cycleFinder struct {
	all   Index
	most  int            // tasks to walk at most; 0 is no limit
	place map[okf.ID]int // 1-based place on the trail, or walked
	trail []string
}

// walked is the place of a task that needs no second visit.
const walked = -1

// findFrom walks the dependencies of id and returns the first cycle, with its first task
// again at the end. It returns nil if there is none, or none that it has not returned
// before.
func (c *cycleFinder) findFrom(id okf.ID) []string {
	if c.place == nil {
		c.place = map[okf.ID]int{}
	}
	if c.place[id] == walked || c.most > 0 && len(c.place) >= c.most {
		return nil
	}
	c.trail = append(c.trail, string(id))
	c.place[id] = len(c.trail)
	defer func() {
		c.trail = c.trail[:len(c.trail)-1]
		c.place[id] = walked
	}()
	t := c.all[id]
	if t == nil {
		return nil
	}
	for _, dep := range t.Dependencies {
		if at := c.place[dep]; at > 0 {
			return append(slices.Clone(c.trail[at-1:]), string(dep))
		}
		if loop := c.findFrom(dep); loop != nil {
			return loop
		}
	}
	return nil
}

// Order sorts eligible tasks by priority, then by how many tasks each unblocks (most first),
// then by creation time and id. A task unblocks another if it is the last hard dependency
// that the other waits for. Tasks without a readable creation time come last. rows is not
// changed.
func Order(rows []*Row, all Index) []*Row {
	freed := countUnblocked(all)
	groups := map[rank][]*Row{} // few, so most tasks need no comparing
	for _, t := range rows {
		c := rank{t.Priority, freed[t.ID]}
		groups[c] = append(groups[c], t)
	}
	var sorting sync.WaitGroup
	for _, list := range groups {
		sorting.Go(func() { sortByAge(list) })
	}
	sorting.Wait()
	out := make([]*Row, 0, len(rows))
	for _, c := range slices.SortedFunc(maps.Keys(groups), rank.compare) {
		out = append(out, groups[c]...)
	}
	return out
}

// rank is what tasks are ordered by before their age.
type rank struct {
	priority string
	freed    int
}

func (a rank) compare(b rank) int {
	return cmp.Or(strings.Compare(a.priority, b.priority), cmp.Compare(b.freed, a.freed))
}

// sortByAge sorts tasks of one rank by creation time, then id. Unreadable times come last,
// ordered by their text, so that the order is total.
func sortByAge(list []*Row) {
	type aged struct {
		*Row
		made time.Time // zero where Created is no moment
	}
	ages := make([]aged, len(list))
	for i, t := range list {
		ages[i].Row = t
		if t.Created != "" {
			ages[i].made, _ = time.Parse(time.RFC3339, t.Created)
		}
	}
	slices.SortFunc(ages, func(a, b aged) int {
		switch dated := !a.made.IsZero(); {
		case dated != !b.made.IsZero():
			if dated {
				return -1
			}
			return 1
		case dated:
			return cmp.Or(a.made.Compare(b.made), cmp.Compare(a.ID, b.ID))
		}
		return cmp.Or(strings.Compare(a.Created, b.Created), cmp.Compare(a.ID, b.ID))
	})
	for i := range ages {
		list[i] = ages[i].Row
	}
}

// countUnblocked counts, for every task, the tasks that wait for it alone.
func countUnblocked(all Index) map[okf.ID]int {
	freed := map[okf.ID]int{}
	for _, t := range all {
		if t.State == Done {
			continue
		}
		var open okf.ID
		waits := 0
		for _, dep := range t.Dependencies {
			if d, ok := all[dep]; (!ok || d.State != Done) && dep != open {
				open = dep
				waits++
			}
		}
		if waits == 1 {
			freed[open]++
		}
	}
	return freed
}

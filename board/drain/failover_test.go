package drain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/policy"
)

// legs is a world whose sessions fail over from "first" to "second" to "third".
type legs struct {
	*world
	does  map[string]func(session.Request) session.Emission
	calls []string
}

// speaks is one substrate of legs.
type speaks struct {
	of   *legs
	name string
}

func (s speaks) Run(ctx context.Context, r session.Request) (session.Emission, error) {
	if e, ok := r.BeginTurn(ctx, session.Usage{}); !ok {
		return e, nil
	}
	s.of.calls = append(s.of.calls, s.name)
	return s.of.does[s.name](r), nil
}

// newLegs has the tasks given; more is the tail of odd.toml.
func newLegs(t *testing.T, more string, tasks ...string) *legs {
	t.Helper()
	l := &legs{world: newWorld(t, paid, tasks...), does: map[string]func(session.Request) session.Emission{}}
	l.commit(repo.Changes{"odd.toml": []byte(`[budget]
monthly_usd = 9
[session]
substrate = "first"
fallback = ["second", "third"]
max_usd = 0.10
[substrate.first]
argv = ["true"]
[substrate.second]
argv = ["true"]
[substrate.third]
argv = ["true"]
free = true
[governance]
lease = "off"
[drain]
max_tasks = 1
` + more)}, "three substrates")
	for _, name := range []string{"first", "second", "third"} {
		l.does[name] = func(session.Request) session.Emission { return says(term("tide")) }
	}
	l.o.Substrate = func(cfg config.Config, _ fs.FS) (session.Substrate, error) {
		return speaks{l, cfg.Session.Substrate}, nil
	}
	return l
}

// breaks is a transport that fails after it cost so much; -1 is a cost nobody tells.
func breaks(class session.Class, cost int64) func(session.Request) session.Emission {
	return func(session.Request) session.Emission {
		e := session.Fail(session.Transport, "no luck")
		e.Class, e.Usage = class, session.Usage{Cost: max(cost, 0), CostKnown: cost >= 0}
		return e
	}
}

// used are the substrates asked since the last call.
func (l *legs) used() string {
	s := strings.Join(l.calls, " ")
	l.calls = nil
	return s
}

// Whatever the class of the primary's failure, the fallback finishes the task in
// the same session, and the primary is left alone for as long as the class says.
// What is no transport's fault fails over nowhere.
func TestTheFallbackFinishes(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	fmt.Fprintf(&table, "%-20s %-14s %-8s %-9s %-8s %-16s %s\n", "class", "asked", "task", "cost", "records", "asked meanwhile", "left alone for")
	for _, c := range []struct {
		class session.Class
		alone int // seconds
	}{
		{session.RateLimited, 15}, {session.TimedOut, 45}, {session.ServerError, 60}, {session.ConnectionError, 120}, {session.TransientTransport, 5},
		{session.Permanent, 900}, {session.ContextOverflow, 0}, {session.Content, 0}, {"", 0},
	} {
		l := newLegs(t, "", "a", "b")
		l.does["first"] = breaks(c.class, 1_000)
		r := l.must()
		asked, o := l.used(), r.Tasks[0]
		fails := c.class != "" && c.class != session.Content
		want, state, cost := "first second", board.Review, "$0.021"
		if !fails {
			want, state, cost = "first", board.Blocked, "$0.001"
		}
		if asked != want || o.State != state || "$"+o.Cost.String() != cost {
			t.Errorf("%q: asked %s, %+v; want %s, %s, %s", c.class, asked, o, want, state, cost)
		}
		records := strings.Count(l.ledgers(), `"kind":"session"`)
		if records != len(strings.Fields(want)) || fails && !strings.Contains(l.ledgers(), `"class":"`+string(c.class)+`"`) {
			t.Errorf("%q: %d session records: %s", c.class, records, l.ledgers())
		}
		soon := "-"
		if c.alone > 0 {
			l.does["first"] = func(session.Request) session.Emission { return says(term("ebb")) }
			l.now = l.now.Add(time.Duration(c.alone-1) * time.Second)
			l.must()
			soon = l.used()
			if soon != "second" {
				t.Errorf("%q: %ds later asks %s, want second", c.class, c.alone-1, soon)
			}
		}
		name := string(c.class)
		if name == "" {
			name = "(the agent's own)"
		}
		fmt.Fprintf(&table, "%-20s %-14s %-8s %-9s %-8d %-16s %ds\n", name, asked, o.State, "$"+o.Cost.String(), records, soon, c.alone)
	}
	t.Log("\n" + table.String())
}

// What is left of money and turns decides who may take over.
func TestTakingOver(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		task      string
		break1    func(session.Request) session.Emission
		break2    func(session.Request) session.Emission
		asked     string
		state     board.State
		cost, why string
	}{
		"a cost nobody tells leaves who is free": {"a", breaks(session.ServerError, -1), nil, "first third", board.Review, "0.10", ""},
		"one that took all leaves nobody":        {"a", breaks(session.ServerError, 100_000), nil, "first", board.Blocked, "0.10", "first: no luck"},
		"all failing is told of each":            {"a", breaks(session.RateLimited, 0), breaks(session.Permanent, 5), "first second third", board.Blocked, "0.000005", "first: no luck; second: no luck; third: no luck"},
		"no turn is left":                        {"a max_turns: 1", breaks(session.RateLimited, 0), nil, "first", board.Blocked, "0.00", "first: no luck; all 1 turns are used"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLegs(t, "", c.task)
			l.does["first"] = c.break1
			if c.break2 != nil {
				l.does["second"], l.does["third"] = c.break2, breaks(session.ServerError, 0)
			}
			r := l.must()
			o := r.Tasks[0]
			if got := l.used(); got != c.asked || o.State != c.state || o.Cost.String() != c.cost || !strings.Contains(o.Reason, c.why) {
				t.Errorf("asked %s, %+v; want %s, %s, $%s, %s", got, o, c.asked, c.state, c.cost, c.why)
			}
		})
	}
}

// Where everything failed for long, nothing is claimed, and it is said until
// when; what an earlier clone recorded, this one knows.
func TestQueueOnly(t *testing.T) {
	t.Parallel()
	l := newLegs(t, "", "a", "b")
	for name := range l.does {
		l.does[name] = breaks(session.Permanent, 0)
	}
	l.must()
	l.used()
	l.now = l.now.Add(899 * time.Second)
	_, err := l.drain(context.Background())
	if code(err) != "queue-only" || !strings.Contains(err.Error(), "run odd drain again after 2026-03-02T09:15:00Z") || l.used() != "" {
		t.Errorf("all of it is broken: %v", err)
	}
	before, _ := l.repo.Ref("refs/heads/main")
	_, err = l.invoke(1)
	if after, _ := l.repo.Ref("refs/heads/main"); code(err) != "queue-only" || l.used() != "" || after != before {
		t.Errorf("a session that no task asks for: %v", err)
	}
	if !strings.Contains(l.task("b"), "state: ready") {
		t.Error("a task was claimed")
	}
	o := l.o
	o.Run = "run-01KJPWD6M0E8497ANGJ5R0NC00"
	p, err := Explain(context.Background(), l.repo, o)
	if err != nil || !strings.Contains(fmt.Sprint(p.Tasks), "queue-only") {
		t.Errorf("the plan: %+v, %v", p, err)
	}
	l.now = l.now.Add(time.Second)
	l.does["first"] = func(session.Request) session.Emission { return says(term("tide")) }
	if r := l.must(); l.used() != "first" || r.Tasks[0].State != board.Review {
		t.Errorf("the probe: %+v", r.Tasks)
	}
}

// A lane goes to what its route names, with the same fallbacks.
func TestRoutes(t *testing.T) {
	t.Parallel()
	l := newLegs(t, "[route.background]\nsubstrate = \"third\"\nmodel = \"small\"\n[route.immediate]\nsubstrate = \"second\"\n", "a priority: p3", "b priority: p0", "c")
	var models []string
	l.o.Substrate = func(cfg config.Config, _ fs.FS) (session.Substrate, error) {
		models = append(models, cfg.Session.Substrate+" "+cfg.Session.Model)
		return speaks{l, cfg.Session.Substrate}, nil
	}
	o := l.o
	o.Run, o.MaxTasks = "run-01KJPWD6M0E8497ANGJ5R0NC01", 9
	p, err := Explain(context.Background(), l.repo, o)
	if err != nil {
		t.Fatal(err)
	}
	var plan []string
	for _, s := range p.Tasks {
		plan = append(plan, fmt.Sprintf("%s %s %s", s.Task, s.Substrate, s.Why))
	}
	if got := strings.Join(plan, ", "); got != "b second lane immediate, c first , a third lane background" {
		t.Errorf("the plan: %s", got)
	}
	l.o.MaxTasks = 9
	l.must()
	if got := l.used(); got != "second first third" {
		t.Errorf("asked %s", got)
	}
	if got := strings.Join(models[len(models)-2:], ", "); got != "third small, second " {
		t.Errorf("the last chain: %s", got)
	}
}

// An agent that takes over may cost what the one before left, and no more.
func TestTheFallbackHasTheMoneyThatIsLeft(t *testing.T) {
	t.Parallel()
	l := newLegs(t, "", "a")
	var had []int64
	l.does["first"] = func(r session.Request) session.Emission {
		had = append(had, int64(r.MaxCost))
		return breaks(session.ServerError, 30_000)(r)
	}
	l.does["second"] = func(r session.Request) session.Emission {
		had = append(had, int64(r.MaxCost))
		return says(term("tide"))
	}
	l.must()
	if got := fmt.Sprint(had); got != "[100000 70000]" {
		t.Errorf("micro-USD that each may cost: %s", got)
	}
}

// TestBesideOthers: of sessions that run at the same time, each call waits for the baton and
// gets the drain's own answer.
func TestBesideOthers(t *testing.T) {
	t.Parallel()
	b := &baton{}
	held := func(what string) error {
		if b.TryLock() {
			b.Unlock()
			t.Errorf("%s without the baton", what)
		}
		return errors.New(what)
	}
	told := ""
	q := b.guardRequest(session.Request{
		Turn:     func(session.Usage) error { return held("turn") },
		Allow:    func(policy.Action) error { return held("allow") },
		Desk:     func(context.Context) (session.Desk, error) { return session.Desk{}, held("desk") },
		Progress: func(s string) { told = fmt.Sprint(s, held("progress")) },
	})
	_, desk := q.Desk(t.Context())
	q.Progress(", a ")
	if got := fmt.Sprint(q.Turn(session.Usage{}), q.Allow(policy.Action{}), desk, told); got != "turn allow desk, a progress" {
		t.Errorf("%q", got)
	}
	if q = b.guardRequest(session.Request{}); q.Allow != nil || q.Desk != nil {
		t.Error("a session may do what nobody asked about")
	}
}

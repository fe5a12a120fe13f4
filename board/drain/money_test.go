package drain

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/session"
)

// Whatever is reserved and closed in whatever order, a team can always reserve
// what it has not spent, and no envelope is ever passed.
func TestNoTeamSpendsAnothers(t *testing.T) {
	t.Parallel()
	teams := []string{"", "docs", "news", "other"}
	rapid.Check(t, func(t *rapid.T) {
		docs, news := budget.MicroUSD(rapid.IntRange(0, 40).Draw(t, "docs")), budget.MicroUSD(rapid.IntRange(0, 40).Draw(t, "news"))
		e := budget.Envelope{Monthly: docs + news + budget.MicroUSD(rapid.IntRange(0, 40).Draw(t, "rest")), Teams: map[string]budget.MicroUSD{"docs": docs, "news": news}}
		var file []byte
		var open []event.Record
		seq := 0
		put := func(r event.Record) {
			seq++
			r.Run, r.Seq, r.TS = "run-1", seq, begin
			b, err := event.Append(file, r)
			if err != nil {
				t.Fatal(err)
			}
			file = b
		}
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			if len(open) > 0 && rapid.Bool().Draw(t, "close") {
				i := rapid.IntRange(0, len(open)-1).Draw(t, "which")
				c := open[i]
				open = append(open[:i:i], open[i+1:]...)
				put(event.Record{Kind: event.Outcome, Task: c.Task, Team: c.Team, Cost: rapid.Int64Range(0, c.Reserved).Draw(t, "cost")})
			} else {
				team, want := rapid.SampledFrom(teams).Draw(t, "team"), budget.MicroUSD(rapid.IntRange(1, 30).Draw(t, "want"))
				if fits(t, e, file, team, want) {
					c := event.Record{Kind: event.Claim, Task: fmt.Sprint("t", seq), Team: team, Reserved: int64(want)}
					open = append(open, c)
					put(c)
				}
			}
			for _, p := range pursesOf(t, e, file) {
				if p.Left < 0 {
					t.Fatalf("%s has spent and reserved $%s of $%s", p.Name, p.total(), p.Stop)
				}
				if p.Name != Tenant && p.Left > 0 && !fits(t, e, file, p.Name, p.Left) {
					t.Fatalf("%q cannot reserve the $%s that it has left", p.Name, p.Left)
				}
			}
		}
	})
}

func pursesOf(t *rapid.T, e budget.Envelope, file []byte) []Purse {
	records, err := event.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := event.FileSum{}.Add(records)
	if err != nil {
		t.Fatal(err)
	}
	s, err := event.Combine(sum)
	if err != nil {
		t.Fatal(err)
	}
	return Purses(e, s, event.Month(begin))
}

// fits asks as afford does.
func fits(t *rapid.T, e budget.Envelope, file []byte, team string, want budget.MicroUSD) bool {
	all := pursesOf(t, e, file)
	for _, p := range all[1:] {
		if p.Name == cmp.Or(e.Share(team), Unapportioned) && p.decide(want) == budget.Stop {
			return false
		}
	}
	return budget.Decide(e, all[0].total(), want) != budget.Stop
}

// A team without an envelope, and a task without a team, spend what no team has.
func TestUnapportioned(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "\n[budget]\nmonthly_usd = 0.15\n[budget.teams]\nshore = 0.06\n", "a", "b team: pier")
	w.commit(repo.Changes{
		"knowledge/capabilities/shore.md": []byte("---\ntype: capability\nid: shore\n---\n"),
		"knowledge/capabilities/pier.md":  []byte("---\ntype: capability\nid: pier\n---\n"),
	}, "teams")
	if _, err := w.drain(context.Background()); code(err) != "budget-team" || !strings.Contains(err.Error(), "the month's budget without the teams' shares, $0.09") {
		t.Errorf("0.10 of 0.09: %v", err)
	}
}

// An alert is told once a month, and a cost above the reservation counts as it is.
func TestAlertIsToldOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "\n[budget]\nmonthly_usd = 0.30\nalert_at_pct = 50\n", "a", "b")
	w.answer = func(context.Context, session.Request) (session.Emission, error) {
		e := says()
		e.Usage.Cost = 120_001 // of 0.10
		return e, nil
	}
	w.o.MaxTasks = 1
	first := strings.Join(w.must().Notes, "\n")
	if want := "a: it cost $0.120001, $0.020001 more than reserved; all of it counts"; !strings.Contains(first, want) {
		t.Errorf("notes %q, want %q", first, want)
	}
	r := w.must()
	if got := strings.Join(r.Notes, "\n"); !strings.Contains(got, "budget: $0.220001 is spent or reserved of this month's budget of $0.30") || r.Spent != 240_002 || r.Level != "alert" {
		t.Errorf("the second drain: %+v", r)
	}
	w.commit(repo.Changes{"knowledge/tasks/c.md": []byte(task("c"))}, "one more")
	w.o.MaxTasks = 0
	if _, err := w.drain(context.Background()); code(err) != "budget" {
		t.Errorf("0.10 on top of 0.240002 of 0.30: %v", err)
	}
	if n := strings.Count(w.ledgers(), `"alert":["tenant"]`); n != 1 {
		t.Errorf("the alert stands %d times in the ledger, want once", n)
	}
	if !strings.Contains(w.ledgers(), `"over_micro_usd":20001`) {
		t.Error("no record tells of the cost above the reservation")
	}
}

// An alert that only the cost of a session makes due stands in its outcome, once.
func TestAnAlertOfWhatASessionCost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "\n[budget]\nmonthly_usd = 0.30\nalert_at_pct = 50\n", "a", "b")
	w.answer = func(context.Context, session.Request) (session.Emission, error) {
		e := says()
		e.Usage.Cost = 160_001 // more than half of 0.30, and 0.10 was reserved
		return e, nil
	}
	w.o.MaxTasks = 1
	w.must()
	var with []string
	for line := range strings.Lines(w.ledgers()) {
		if strings.Contains(line, `"alert":["tenant"]`) {
			with = append(with, line)
		}
	}
	if len(with) != 1 || !strings.Contains(with[0], `"kind":"outcome"`) {
		t.Errorf("the alert stands in %q, want in the outcome", with)
	}
	w.answer = func(context.Context, session.Request) (session.Emission, error) { return says(), nil }
	w.must()
	if n := strings.Count(w.ledgers(), `"alert":["tenant"]`); n != 1 {
		t.Errorf("after a second task it stands %d times", n)
	}
}

// task is a ready task's file.
func task(id string) string {
	return "---\ntype: task\nid: " + id + "\ntitle: " + id + "\nstate: ready\nkind: extract\nrole: shore-lead\n---\n"
}

// Money that is spent elsewhere while a session runs ends it at its next turn;
// what it said is kept, and the board is paused.
func TestHardStopDuringASession(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		toml, elsewhere string // what the board gets while the session runs
		cost            int64
		want, after     string
	}{
		"spent elsewhere": {paid, `{"cost_micro_usd":900001,"kind":"outcome","run":"run-other","seq":1,"task":"x","ts":"2026-03-02T09:00:00Z","v":1}` + "\n",
			0, "$1.000001 is spent or reserved this month, more than the limit of $1.00", "budget"},
		"no budget any more": {paid, "", 0, "can cost money, and no budget is set", "no-budget"},
		"its own cost":       {"\n[budget]\nmonthly_usd = 0.10\n", "", 100_001, "$0.100001 is spent or reserved this month, more than the limit of $0.10", "budget"},
		"a team's": {paid + "[budget.teams]\nshore-lead = 0.85\n", `{"cost_micro_usd":50001,"kind":"outcome","run":"run-other","seq":1,"task":"x","ts":"2026-03-02T09:00:00Z","v":1}` + "\n",
			0, "$0.150001 is spent or reserved this month, more than the month's budget without the teams' shares, $0.15", "<nil>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, strings.Replace(c.toml, "shore-lead", "shore", 1), "a")
			w.commit(repo.Changes{"knowledge/capabilities/shore.md": []byte("---\ntype: capability\nid: shore\n---\n")}, "a team")
			w.answer = func(ctx context.Context, r session.Request) (session.Emission, error) {
				if c.elsewhere != "" {
					w.commit(repo.Changes{"knowledge/ledger/2026-03/run-other.jsonl": []byte(c.elsewhere)}, "elsewhere")
				}
				if c.after == "no-budget" {
					w.commit(repo.Changes{"odd.toml": []byte(strings.Replace(w.read("refs/heads/main", "odd.toml"), paid, "", 1))}, "no budget")
				}
				u := session.Usage{Turns: 1, Cost: c.cost, CostKnown: true}
				if r.MaxCost = 0; c.cost > 0 { // as an agent that looks at no limit
					r.Turn = nil
				}
				e, ok := r.BeginTurn(ctx, u)
				if ok {
					e = says(term("x"))
				}
				e.Usage, e.Raw = u, []byte("half a thought")
				return e, nil
			}
			r, err := w.drain(context.Background())
			o := r.Tasks[0]
			if c.cost > 0 { // its answer was whole: it waits for its review, and the board is paused all the same
				if o.State != board.Review {
					t.Errorf("%+v", o)
				}
			} else if o.State != board.Blocked || !strings.Contains(o.Reason, c.want) {
				t.Errorf("%+v, want blocked: %s", o, c.want)
			}
			if code(err) != c.after {
				t.Errorf("the drain: %v, want %s", err, c.after)
			}
			if p := w.read("refs/heads/main", "knowledge/pause.toml"); (p != "") != (c.after == "budget") || p != "" && !strings.Contains(p, c.want) {
				t.Errorf("pause.toml = %q", p)
			}
			if got := w.read("refs/odd/run/"+r.Run, "a.1/emission.md"); c.cost == 0 && got != "half a thought" {
				t.Errorf("kept %q of what it said", got)
			}
		})
	}
}

// Two clones that both saw the last dollar: the claim is a compare-and-swap of
// the board, so exactly one of them has it.
func TestTwoDrainsOneDollar(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	w := newWorld(t, "\n[board]\nremote = \"origin\"\n[budget]\nmonthly_usd = 0.10\n", "a", "b")
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("clone", "-q", "--bare", w.repo.Root(), filepath.Join(dir, "hub.git"))
	both := make([]*drain, 2)
	for i := range both {
		name := filepath.Join(dir, fmt.Sprint(i))
		git("clone", "-q", "file://"+filepath.Join(dir, "hub.git"), name)
		clone, err := repo.Open(name, os.Environ())
		if err != nil {
			t.Fatal(err)
		}
		o := w.o
		o.Run = fmt.Sprintf("run-01KJPWD6M0E8497ANGJ5R0NB%02d", i)
		if both[i], err = openDrain(ctx, clone, o); err != nil {
			t.Fatal(err)
		}
		if err := both[i].readBoard(ctx); err != nil {
			t.Fatal(err)
		}
	}
	var had []string
	next := make([]board.Task, 2)
	for i, d := range both { // both look before either claims, and each takes another task
		d.Task = []string{"a", "b"}[i]
		var err error
		if next[i], _, err = d.nextTask(t.Context(), nil); err != nil {
			t.Fatalf("drain %d: %v", i, err)
		}
	}
	for i, d := range both {
		c, err := d.claim(ctx, next[i], 1)
		switch {
		case c != nil:
			had = append(had, string(c.task.ID))
		case code(err) != "budget":
			t.Errorf("drain %d: %v", i, err)
		}
	}
	if len(had) != 1 || had[0] != "a" {
		t.Errorf("claimed: %v, want a alone", had)
	}
	if all := both[1].authority().tenantPurse(); all.total() != 100_000 {
		t.Errorf("reserved in all: %s", all.total())
	}
}

// A session that no task asked for pauses the board like any other once the month is past its hard stop.
func TestAnInvocationPauses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, "a")
	e := finds("x")
	e.Usage = session.Usage{Turns: 1, Cost: 2_000_000, CostKnown: true}
	w.answer = answers(e)
	if r, err := w.invoke(1); code(err) != "budget" || len(r.Said) != 1 || r.Said[0].Outcome != "completed" {
		t.Errorf("the session: %+v, %v", r, err)
	}
	if _, err := w.drain(t.Context()); code(err) != "paused" {
		t.Errorf("the drain after it: %v", err)
	}
}

package drain

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// What odd drain --dry-run says a drain would do is what the drain does, task by task, and
// where it would stop, it stops for that.
func TestExplainIsWhatADrainDoes(t *testing.T) {
	t.Parallel()
	const tasks = "knowledge/tasks/"
	for name, c := range map[string]struct {
		toml  string
		tasks []string
		files repo.Changes
		set   func(*world)
		stop  string   // code of what stops the drain
		no    string   // code of what refuses the only task there is
		steps []string // "ID run" or "ID reason", in order
	}{
		"in the order of the board":  {paid, []string{"b", "c priority: p0", "a dependencies: [c]"}, nil, nil, "", "", []string{"c run", "a task a: depends on c, which is ready", "b run"}},
		"only so many":               {paid, []string{"b", "c priority: p0"}, nil, func(w *world) { w.o.MaxTasks = 1 }, "", "", []string{"c run", "b not in this run, which takes fewer tasks (--max-tasks)"}},
		"one by its name":            {paid, []string{"b", "c priority: p0"}, nil, func(w *world) { w.o.Task = "b" }, "", "", []string{"c not named by --task", "b run"}},
		"more than there is to pay":  {"\n[budget]\nmonthly_usd = 0.05\n", []string{"b"}, nil, nil, "", "budget", []string{"b task b: it may cost $0.10, and with $0.00 spent or reserved this month that is more than the limit of $0.05"}},
		"a pause":                    {paid, []string{"b"}, repo.Changes{"knowledge/pause.toml": []byte("reason = \"tea\"\nby = \"human:ann@example.org\"\nat = 2026-03-02T08:00:00Z\n")}, nil, "paused", "", []string{"b run"}},
		"another state":              {paid, []string{"b"}, repo.Changes{tasks + "d.md": []byte("---\ntype: task\nid: d\ntitle: d\nstate: backlog\nkind: extract\nrole: shore-lead\n---\n")}, nil, "", "", []string{"b run", "d task d: it is in backlog; odd task ready d makes it ready"}},
		"no role of that name":       {paid, nil, repo.Changes{tasks + "d.md": []byte("---\ntype: task\nid: d\ntitle: d\nstate: ready\nkind: extract\nrole: nobody\n---\n")}, nil, "", "floor", []string{"d task d: role: nobody: no such atom; the roles are boat-builder, shore-lead"}},
		"no configuration":           {paid, []string{"b"}, repo.Changes{"odd.toml": nil}, nil, "no-config", "", nil},
		"no bundle":                  {paid + "[bundle]\nroot = \"elsewhere\"\n", []string{"b"}, nil, nil, "no-bundle", "", nil},
		"a ledger that is torn":      {paid, []string{"b"}, repo.Changes{"knowledge/ledger/2026-03/" + runA + ".jsonl": []byte("{\n")}, nil, "ledger", "", nil},
		"a clock that stands behind": {paid, []string{"b", "c"}, nil, func(w *world) { w.o.MaxTasks = 1; w.must(); w.now = w.now.Add(-time.Hour); w.o.MaxTasks = 9 }, "clock", "", []string{"b ", "c run"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.toml, c.tasks...)
			if c.files != nil {
				w.commit(c.files, "more")
			}
			if c.set != nil {
				c.set(w)
			}
			o := w.o
			o.Run = runB
			p, err := Explain(t.Context(), w.repo, o)
			if err != nil {
				t.Fatal(err)
			}
			r, err := w.drain(context.Background())
			var run, ran []string
			for i, s := range p.Tasks {
				is := string(s.Task) + " " + s.Reason
				if s.Run {
					is, run = string(s.Task)+" run", append(run, string(s.Task))
				}
				if i >= len(c.steps) || !strings.HasPrefix(is, c.steps[i]) || (s.Reason == "") != s.Run || c.no != "" && (len(s.Refusals) != 1 || s.Refusals[0].Code != c.no) {
					t.Errorf("step %d: %s, %+v", i, is, s.Refusals)
				}
			}
			for _, o := range r.Tasks {
				ran = append(ran, string(o.Task))
			}
			stop := ""
			if len(p.Stops) > 0 {
				stop, run = p.Stops[0].Code, nil
			}
			if len(p.Tasks) != len(c.steps) || stop != c.stop || strings.Join(run, " ") != strings.Join(ran, " ") {
				t.Errorf("it says that %d tasks, %q, stop with %q; %q ran", len(p.Tasks), run, p.Stops, ran)
			}
			if want := c.stop + c.no; want == "" && err != nil || want != "" && code(err) != want {
				t.Errorf("the drain stops with %v, want %q", err, want)
			}
		})
	}
}

// A board that cannot be read or counted stops a drain, its explanation and an invocation, also
// where there is nothing to do.
func TestNoBoardNoDrain(t *testing.T) {
	t.Parallel()
	ledger := func(run string, records ...event.Record) repo.Changes {
		var b []byte
		for i, r := range records {
			r.Run, r.Seq, r.TS = run, i+1, begin.Add(-time.Hour)
			var err error
			if b, err = event.Append(b, r); err != nil {
				t.Fatal(err)
			}
		}
		return repo.Changes{"knowledge/ledger/2026-03/" + run + ".jsonl": b}
	}
	for name, c := range map[string]struct {
		toml  string
		tasks []string
		files []repo.Changes
		says  string
	}{
		"more than can be counted": {paid, nil, []repo.Changes{
			ledger(runA, event.Record{Kind: event.Claim, Task: "x", Reserved: math.MaxInt64}), ledger(runB, event.Record{Kind: event.Claim, Task: "y", Reserved: 1}, event.Record{Kind: event.Outcome, Task: "y", Cost: 1}),
		}, "more money than odd can count"},
		"a file for a bundle": {paid + "[bundle]\nroot = \"odd.toml\"\n", []string{"b"}, nil, "folder"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.toml, c.tasks...)
			for _, ch := range c.files {
				w.commit(ch, "more")
			}
			o := w.o
			o.Run = runB
			p, explained := Explain(t.Context(), w.repo, o)
			if len(p.Stops) > 0 {
				explained = errors.New(p.Stops[0].Text)
			}
			_, drained := w.drain(context.Background())
			_, invoked := w.invoke(1)
			for what, err := range map[string]error{"explained": explained, "drained": drained, "invoked": invoked} {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
}

package drain

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// paper is a board without a repository: its files by path. What a plan changes can be
// written onto it, as its commit would.
type paper struct {
	*testing.T
	root  string // of the bundle
	files repo.Changes
}

// newPaper returns a board with these tasks, each "ID key: value|key: value".
func newPaper(t *testing.T, toml string, tasks ...string) *paper {
	p := &paper{t, "knowledge", repo.Changes{"odd.toml": []byte("[session]\nsubstrate = \"exec\"\nmax_usd = 0.10\n[substrate.exec]\nargv = [\"true\"]\n[governance]\nlease = \"off\"\n" + toml)}}
	for _, id := range tasks {
		id, more, _ := strings.Cut(id, " ")
		p.files["knowledge/tasks/"+id+".md"] = []byte("---\ntype: task\nid: " + id + "\ntitle: " + id + "\nkind: extract\nrole: shore-lead\n" + strings.ReplaceAll(more, "|", "\n") + "\n---\n")
	}
	return p
}

// run is a run that begins on the board at a moment.
func (p *paper) run(id string, now time.Time) *drain {
	p.Helper()
	tree := fstest.MapFS{}
	for name, b := range p.files {
		tree[name] = &fstest.MapFile{Data: b}
	}
	d := newDrain(nil, Options{Branch: "refs/heads/main", Host: agent.Host{Run: id, Now: func() time.Time { return now }}, Progress: func(string) {}})
	d.line = &repo.Line{Ref: "refs/heads/main"}
	var err error
	if d.at, err = snapshotOf("", fs.FS(tree), nil, nil); err != nil {
		p.Fatal(err)
	}
	return d
}

// write writes a plan's files, which must be the only ones it names.
func (p *paper) write(d *draft, only ...string) {
	p.Helper()
	for name := range d.all(p.root) {
		if !containsPrefix(only, strings.TrimPrefix(name, p.root+"/")) {
			p.Errorf("the plan writes %s", name)
		}
	}
	maps.Copy(p.files, d.all(p.root))
}

func containsPrefix(prefixes []string, name string) bool {
	for _, one := range prefixes {
		if strings.HasPrefix(name, one) {
			return true
		}
	}
	return false
}

// claim has a run claim a task.
func (p *paper) claim(run, id string, now time.Time) *claim {
	p.Helper()
	d := p.run(run, now)
	c, plan := d.planClaim(p.task(d, id), bound{}, 1)
	if plan.err != nil {
		p.Fatal(plan.err)
	}
	p.write(plan, "tasks/"+id+".md", "ledger/")
	return c
}

func (p *paper) task(d *drain, id string) board.Task {
	p.Helper()
	t, err := d.at.findTask(id)
	if err != nil {
		p.Fatal(err)
	}
	return t
}

// records are those of a run's ledger.
func (p *paper) records(d *drain) []event.Record {
	p.Helper()
	rs, err := event.Read(p.files[p.root+"/"+d.log.ledgerPath()])
	if err != nil {
		p.Fatal(err)
	}
	return rs
}

const (
	runA = "run-01KJPWD6M0E8497ANGJ5R0NAAA"
	runB = "run-01KJPWD6M0E8497ANGJ5R0NABB"
)

// A claim reserves what one session may cost, counts the attempt and holds the task until
// its lease ends: the money is in the books before a session can spend any.
func TestPlanClaim(t *testing.T) {
	p := newPaper(t, "[budget]\nmonthly_usd = 1.0\n", "tide state: ready|attempts: 1")
	c := p.claim(runA, "tide", begin)
	d := p.run(runB, begin)
	now := p.task(d, "tide")
	if now.State != board.InProgress || now.ClaimedBy != runA || now.Attempts != 2 || !now.LeaseExpires.Equal(begin.Add(d.at.cfg.TaskLease)) {
		t.Errorf("the task is %s of %q, attempt %d, until %s", now.State, now.ClaimedBy, now.Attempts, now.LeaseExpires)
	}
	if len(d.at.spend.Open) != 1 || d.at.spend.Open[0].Reserved != 100_000 || c.reserved != 100_000 {
		t.Errorf("reserved: %+v", d.at.spend.Open)
	}
	if _, plan := d.planClaim(now, bound{}, 1); plan.err == nil {
		t.Error("a second run claims the task while the first holds it")
	}
}

// A sweep takes back what expired and what was killed, charges the whole reservation, and
// leaves live claims alone.
func TestPlanSweep(t *testing.T) {
	for _, at := range []struct {
		name   string
		after  time.Duration
		killed []string
		tries  int
		to     board.State
		cost   int64
		op     string // that somebody wrote into the claim
	}{
		{"alive", time.Minute, nil, 0, board.InProgress, 0, ""},
		{"killed", time.Minute, []string{runA}, 0, board.Ready, 100_000, ""},
		{"another killed", time.Minute, []string{runB}, 0, board.InProgress, 0, ""},
		{"expired", 24 * time.Hour, nil, 0, board.Ready, 100_000, ""},
		{"expired, the last attempt", 24 * time.Hour, nil, 2, board.Blocked, 100_000, ""},
		{"expired, of an op that is none", 24 * time.Hour, nil, 0, board.Ready, 100_000, "../../x"},
	} {
		t.Run(at.name, func(t *testing.T) {
			p := newPaper(t, "[drain]\nmax_attempts = 3\n[budget]\nmonthly_usd = 1.0\n", "tide state: ready|attempts: "+string(rune('0'+at.tries)), "ebb state: ready")
			p.claim(runA, "tide", begin)
			for name, b := range p.files {
				if at.op != "" && strings.Contains(name, runA) {
					p.files[name] = bytes.Replace(b, []byte(`"data":{`), []byte(`"data":{"op":"`+at.op+`",`), 1)
				}
			}
			before := string(p.files["knowledge/tasks/ebb.md"])
			d := p.run(runB, begin.Add(at.after))
			plan, swept := d.planSweep(at.killed)
			if plan.err != nil {
				t.Fatal(plan.err)
			}
			if swept := len(swept) > 0; swept != (at.cost > 0) || swept != (len(plan.all(p.root)) > 0) {
				t.Errorf("swept: %v, files %d", swept, len(plan.all(p.root)))
			}
			p.write(plan, "tasks/tide.md", d.log.ledgerPath())
			after := p.run(runB, begin.Add(at.after))
			if now := p.task(after, "tide"); now.State != at.to {
				t.Errorf("the task is %s, want %s", now.State, at.to)
			}
			if open := len(after.at.spend.Open); open != 0 && at.cost > 0 || open != 1 && at.cost == 0 {
				t.Errorf("%d claims are open", open)
			}
			for _, r := range p.records(d) {
				if r.Kind != event.Abandoned || r.DeadRun != runA || r.Cost != at.cost {
					t.Errorf("recorded: %+v", r)
				}
			}
			if string(p.files["knowledge/tasks/ebb.md"]) != before {
				t.Error("a task that nobody held is changed")
			}
		})
	}
}

// Two runs that plan from the same board write only what is theirs: no ledger is shared.
func TestPlansShareNoFile(t *testing.T) {
	p := newPaper(t, "[budget]\nmonthly_usd = 1.0\n", "tide state: ready", "ebb state: ready")
	var plans []*draft
	for _, one := range [][2]string{{runA, "tide"}, {runB, "ebb"}} {
		d := p.run(one[0], begin)
		_, plan := d.planClaim(p.task(d, one[1]), bound{}, 1)
		if plan.err != nil {
			t.Fatal(plan.err)
		}
		plans = append(plans, plan)
	}
	for name := range plans[0].all(p.root) {
		if _, shared := plans[1].all(p.root)[name]; shared {
			t.Errorf("both write %s", name)
		}
	}
}

// A plan that is thrown away leaves nothing behind: planned again, it is the same.
func TestPlanLeavesNothing(t *testing.T) {
	p := newPaper(t, "[budget]\nmonthly_usd = 1.0\n", "tide state: ready")
	d := p.run(runA, begin)
	_, first := d.planClaim(p.task(d, "tide"), bound{}, 1)
	if first.err != nil {
		t.Fatal(first.err)
	}
	_, again := d.planClaim(p.task(d, "tide"), bound{}, 1)
	if again.err != nil {
		t.Fatal(again.err)
	}
	if !maps.EqualFunc(first.all(p.root), again.all(p.root), func(a, b []byte) bool { return string(a) == string(b) }) || first.message != again.message {
		t.Error("the second plan differs from the first, which was dropped")
	}
}

// A result is planned by the board as it is when it lands: what a person changed meanwhile,
// and a session whose time was over, are recorded and published nowhere.
func TestPlanResult(t *testing.T) {
	for _, at := range []struct {
		name    string
		amid    func(*paper)
		after   time.Duration
		verdict string
		state   board.State
	}{
		{"nothing came between", func(*paper) {}, time.Minute, "review", board.Review},
		{"a person took the task back", func(p *paper) {
			p.files["knowledge/tasks/tide.md"] = []byte(strings.Replace(string(p.files["knowledge/tasks/tide.md"]), "title: tide", "title: ebb", 1))
		}, time.Minute, "lost", board.InProgress},
		{"a person deleted the task", func(p *paper) { delete(p.files, "knowledge/tasks/tide.md") }, time.Minute, "lost", ""},
		{"a person renamed the bundle's folder", func(p *paper) {
			for name, b := range maps.Clone(p.files) {
				if below, ok := strings.CutPrefix(name, "knowledge/"); ok {
					delete(p.files, name)
					p.files["kb/"+below] = b
				}
			}
			p.root, p.files["odd.toml"] = "kb", append([]byte("bundle.root = \"kb\"\n"), p.files["odd.toml"]...)
		}, time.Minute, "review", board.Review},
		{"the computer slept", func(*paper) {}, time.Hour, "blocked", board.Blocked},
	} {
		t.Run(at.name, func(t *testing.T) {
			p := newPaper(t, "[drain]\nlease = \"3h\"\n[budget]\nmonthly_usd = 1.0\n", "tide state: ready")
			moment := begin
			d := p.run(runA, begin)
			d.Now = func() time.Time { return moment }
			d.log.now = d.Now
			c, plan := d.planClaim(p.task(d, "tide"), bound{}, 1)
			if plan.err != nil {
				t.Fatal(plan.err)
			}
			p.write(plan, "tasks/tide.md", "ledger/")
			d.log.files = plan.own
			r := result{c: c, done: []work{{lastSession: lastSession{ran: true, spent: 40_000}}}}
			r.sessions = d.recorder().draftSessions(r.c, r.done...)
			at.amid(p)
			moment = begin.Add(at.after)
			d.at = p.run(runA, moment).at
			r.out = Outcome{Task: "tide", State: board.Review, Branch: "odd/review/tide.1", Proposal: "1111111111111111111111111111111111111111", Cost: 40_000}
			r.ref = repo.RefUpdate{Name: "refs/heads/odd/review/tide.1", New: r.out.Proposal}
			r.artifacts = repo.RefUpdate{Name: "refs/odd/run/" + runA, New: "2222222222222222222222222222222222222222"}
			result, end := d.recorder().planResult(t.Context(), r, nil)
			out := end.out
			if result.err != nil {
				t.Fatal(result.err)
			}
			again, same := d.recorder().planResult(t.Context(), r, nil)
			if again.err != nil || !reflect.DeepEqual(out, same.out) || !maps.EqualFunc(result.all(p.root), again.all(p.root), bytes.Equal) || again.message != result.message {
				t.Errorf("planned again, the result is another: %+v, %+v, %v", out, same.out, again.err)
			}
			if proposed := out.Branch != ""; proposed != (at.verdict == "review") || string(out.State) != at.verdict && at.verdict != "lost" {
				t.Errorf("the plan says %+v", out)
			}
			p.write(result, "tasks/tide.md", "ledger/", "journal/")
			last := p.records(d)[len(p.records(d))-1]
			if last.Kind != event.Outcome || last.Outcome().Verdict != at.verdict || last.Cost != 40_000 {
				t.Errorf("the outcome is %s, cost %d", last.Outcome().Verdict, last.Cost)
			}
			if published := len(result.refs) == 2; published != (at.verdict == "review") || result.refs[len(result.refs)-1] != r.artifacts {
				t.Errorf("the result moves %v", result.refs)
			}
			var state board.State
			if now, err := p.run(runB, moment).at.findTask("tide"); err == nil {
				state = now.State
			}
			if state != at.state {
				t.Errorf("the task is %q, want %q", state, at.state)
			}
			if open := p.run(runB, moment).at.spend.Open; len(open) != 0 {
				t.Errorf("money is still reserved: %+v", open)
			}
		})
	}
}

// A pause is one file and one record.
func TestPlanPause(t *testing.T) {
	p := newPaper(t, "", "tide state: ready")
	d := p.run(runA, begin)
	plan := d.planPause("the month is spent")
	p.write(plan, "pause.toml", "ledger/")
	if err := p.run(runB, begin).at.refuseWhilePaused(); err == nil || !strings.Contains(err.Error(), "the month is spent") {
		t.Errorf("the next run: %v", err)
	}
	if rs := p.records(d); len(rs) != 1 || rs[0].Kind != event.Paused {
		t.Errorf("recorded: %+v", rs)
	}
}

// A draft in which anything went wrong is never committed, whatever else it holds, and what went wrong
// first is told.
func TestPlanGoneWrong(t *testing.T) {
	for name, c := range map[string]struct {
		wrong func(*draft)
		file  func(*runLog) string // that it went wrong in, nil for none
	}{
		"a record of no kind":             {func(p *draft) { p.record(event.Record{}) }, (*runLog).ledgerPath},
		"data that is another kind's":     {func(p *draft) { p.record(event.Record{Kind: event.Paused, Data: event.ClaimData{Attempt: 1}}) }, nil},
		"an op that never began":          {func(p *draft) { p.recordOps(pipeline.Op{}) }, (*runLog).ledgerPath},
		"an entry without a title":        {func(p *draft) { p.tellJournal("O", "", "x") }, (*runLog).journalPath},
		"a proposal for no gate there is": {func(p *draft) { p.addProposals(gate.Buffer{}, []gate.Proposal{{Gate: "moon"}}) }, (*runLog).proposalsPath},
		"whatever a planner found":        {func(p *draft) { p.fail(errors.New("x")) }, nil},
	} {
		p := newPaper(t, "", "tide state: ready")
		d := p.run(runA, begin)
		plan := d.planPause("the month is spent")
		c.wrong(plan)
		first := plan.err
		if c.file != nil && !strings.HasPrefix(first.Error(), c.file(d.log)+": ") {
			t.Errorf("%s: %v, want the file %s before it", name, first, c.file(d.log))
		}
		plan.fail(errors.New("later"))
		plan = plan.clone()
		if plan.isEmpty(p.root) {
			t.Errorf("%s: it looks like nothing to do", name)
		}
		if made, err := d.commit(t.Context(), plan); err == nil || err != first || made != "" {
			t.Errorf("%s: committed as %q: %v", name, made, err)
		}
	}
}

package drain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/refusal"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/knowledge"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/persona/session/toolbox"
	"github.com/odd-cli/odd/reconcile"
)

// TestMain gives git a home without anybody's configuration, and lets the test
// binary be a keeper.
func TestMain(m *testing.M) {
	if code, ours := cage.Main(os.Args); ours {
		os.Exit(code)
	}
	home, err := os.MkdirTemp("", "odd-drain-")
	if err != nil {
		panic(err)
	}
	for k, v := range map[string]string{"HOME": home, "XDG_CONFIG_HOME": home, "GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1"} {
		os.Setenv(k, v)
	}
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

var (
	begin = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	ann   = repo.Signature{Name: "Ann", Email: "ann@example.org", When: begin}
)

// world is a small company on a board, and what its sessions answer.
type world struct {
	drawn  int
	t      *testing.T
	repo   *repo.Repo
	clock  sync.Mutex // of now, where sessions run side by side
	now    time.Time
	runs   int
	answer func(context.Context, session.Request) (session.Emission, error)
	o      Options
}

// Run is the substrate of every world.
func (w *world) Run(ctx context.Context, r session.Request) (session.Emission, error) {
	if e, ok := r.BeginTurn(ctx, session.Usage{}); !ok {
		return e, nil
	}
	return w.answer(ctx, r)
}

const paid = "\n[budget]\nmonthly_usd = 1\n"

// newWorld has the demo company, odd.toml with the given tail and one ready task a name.
func newWorld(t *testing.T, toml string, tasks ...string) *world {
	t.Helper()
	r, err := repo.Init(context.Background(), t.TempDir(), os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	ch := repo.Changes{"odd.toml": []byte("[session]\nsubstrate = \"exec\"\nmax_usd = 0.10\n[substrate.exec]\nargv = [\"true\"]\n[governance]\nlease = \"off\"\n[drain]\nmax_tasks = 9\n" + toml)}
	for _, f := range knowledge.Demo() {
		if !strings.HasPrefix(f.Path, "knowledge/tasks/") {
			ch[f.Path] = f.Data
		}
	}
	for _, id := range tasks {
		id, extra, _ := strings.Cut(id, " ")
		ch["knowledge/tasks/"+id+".md"] = []byte("---\ntype: task\nid: " + id + "\ntitle: " + id + "\nstate: ready\nkind: extract\nrole: shore-lead\n" + strings.ReplaceAll(extra, "|", "\n") + "\n---\n")
	}
	w := worldIn(t, r)
	w.commit(ch, "begin")
	return w
}

// worldIn is the world of a repository.
func worldIn(t *testing.T, r *repo.Repo) *world {
	w := &world{t: t, repo: r, now: begin}
	w.answer = func(context.Context, session.Request) (session.Emission, error) { return says(term("tide")), nil }
	w.o = Options{Branch: "refs/heads/main", Host: agent.Host{By: "odd/test", Now: w.time, Temp: t.TempDir()}, Random: w.chance,
		Substrate: func(config.Config, fs.FS) (session.Substrate, error) { return w, nil }}
	return w
}

func (w *world) time() time.Time {
	w.clock.Lock()
	defer w.clock.Unlock()
	return w.now
}

// chance is the same for every test, and never the same twice.
func (w *world) chance(b []byte) error {
	for i := range b {
		w.drawn++
		b[i] = byte(w.drawn * 37)
	}
	return nil
}

// commit is a person's.
func (w *world) commit(ch repo.Changes, msg string) {
	w.t.Helper()
	tip, err := w.repo.Ref("refs/heads/main")
	var parents []repo.OID
	if err == nil {
		parents = []repo.OID{tip}
	}
	oid, err := w.repo.Make(context.Background(), parents, ch, ann, msg+"\n")
	if err == nil {
		err = w.repo.Move(context.Background(), repo.RefUpdate{Name: "refs/heads/main", Old: tip, New: oid})
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) drain(ctx context.Context) (Report, error) {
	w.t.Helper()
	w.runs++
	o := w.o
	o.Run = fmt.Sprintf("run-01KJPWD6M0E8497ANGJ5R0NA%02d", w.runs)
	return Run(ctx, w.repo, o)
}

func (w *world) must() Report {
	w.t.Helper()
	r, err := w.drain(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	if pin, err := w.repo.Ref(pinned + w.last()); err == nil {
		w.t.Errorf("the drain leaves its base pinned at %s", pin)
	}
	return r
}

// read is a file of a ref.
func (w *world) read(ref, name string) string {
	w.t.Helper()
	oid, err := w.repo.Ref(ref)
	if err != nil {
		w.t.Fatal(err)
	}
	f, err := w.repo.Tree(oid)
	if err != nil {
		w.t.Fatal(err)
	}
	b, err := fs.ReadFile(f, name)
	if err != nil {
		return ""
	}
	return string(b)
}

func (w *world) task(id string) string { return w.read("refs/heads/main", "knowledge/tasks/"+id+".md") }

func term(id string) session.Atom {
	a, err := okf.Parse("terms/"+id+".md", []byte("---\ntype: term\nid: "+id+"\ntitle: "+id+"\nconfidence: verified\n---\nIt is.\n"))
	if err != nil {
		panic(err)
	}
	return session.Atom{Atom: a, At: "emission:1"}
}

func says(atoms ...session.Atom) session.Emission {
	return session.Emission{Atoms: atoms, Outcome: session.Completed, Usage: session.Usage{Turns: 1, Cost: 20_000, CostKnown: true}}
}

func code(err error) string {
	var no *refusal.Refusal
	var wait *Busy
	switch {
	case errors.As(err, &no):
		return no.Code
	case errors.As(err, &wait):
		return wait.Code
	}
	return fmt.Sprint(err)
}

func TestTasksGoInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, "c priority: p0", "a priority: p2", "b priority: p2|dependencies: [a]", "d priority: p1")
	r := w.must()
	var got []string
	for _, o := range r.Tasks {
		got = append(got, fmt.Sprintf("%s %s", o.Task, o.State))
	}
	// b waits for a person: review is not done
	if s := strings.Join(got, ", "); s != "c review, d review, a review" || len(r.Notes) > 0 {
		t.Errorf("order: %s, notes %q", s, r.Notes)
	}
	if r.Spent != 60_000 || r.Level != "ok" {
		t.Errorf("spent %d, level %s", r.Spent, r.Level)
	}
	p, err := Explain(t.Context(), w.repo, w.o)
	if err != nil || len(p.Tasks) != 4 || slices.ContainsFunc(p.Tasks, func(s Step) bool { return s.Run || s.Reason == "" }) {
		t.Errorf("what waits for a person would run: %+v, %v", p.Tasks, err)
	}
	_, all := w.ops()
	for _, rec := range all {
		if o := rec.Outcome(); o.Proposal != "" && (len(o.Paths) != 1 || o.Paths[0].Path != "knowledge/terms/tide.md") {
			t.Errorf("%s: the outcome does not record what is proposed: %+v", o.Branch, o.Paths)
		}
	}
}

func TestTheCap(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, "a")
	r := w.must()
	if n := r.Tasks[0].Effects[reconcile.Added]; n != 1 {
		t.Fatalf("effects %v", r.Tasks[0].Effects)
	}
	got := w.read("refs/heads/"+r.Tasks[0].Branch, "knowledge/terms/tide.md")
	if !strings.Contains(got, "confidence: inferred") || strings.Contains(got, "verified") {
		t.Errorf("the cap did not hold:\n%s", got)
	}
}

// A session that does not say what it cost is charged its reservation.
func TestUnknownCostIsTheReservation(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, "a budget_usd: 0.30")
	w.answer = func(context.Context, session.Request) (session.Emission, error) {
		return session.Emission{Outcome: session.Completed, Usage: session.Usage{Turns: 1}}, nil
	}
	if r := w.must(); r.Tasks[0].Cost != 300_000 {
		t.Errorf("cost %s", r.Tasks[0].Cost)
	}
}

// Past the hard stop the board is paused for whoever comes next.
func TestHardStopPauses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, "a", "b")
	w.answer = func(context.Context, session.Request) (session.Emission, error) {
		e := says(term("x"))
		e.Usage.Cost = 2_000_000
		return e, nil
	}
	r, err := w.drain(context.Background())
	if code(err) != "budget" || len(r.Tasks) != 1 || r.Tasks[0].State != board.Review || r.Spent != 2_000_000 {
		t.Fatalf("the drain that met it: %+v, %v", r, err)
	}
	if p := w.read("refs/heads/main", "knowledge/pause.toml"); board.PauseReason([]byte(p)) == "" || p == "" {
		t.Errorf("pause.toml = %q", p)
	}
	if _, err := w.drain(context.Background()); code(err) != "paused" {
		t.Errorf("second drain: %v", err)
	}
}

// A person who moves the bundle while a session runs takes the run's own files along: the
// result goes on from them where they lie then.
func TestTheBundleMovesWhileASessionRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid+"[bundle]\nroot = \"knowledge\"\n", "a")
	w.answer = func(context.Context, session.Request) (session.Emission, error) {
		ch := repo.Changes{"odd.toml": []byte(strings.Replace(w.read("refs/heads/main", "odd.toml"), `"knowledge"`, `"kb"`, 1))}
		tip, err := w.repo.Ref("refs/heads/main")
		if err != nil {
			t.Fatal(err)
		}
		all, err := w.repo.Diff(context.Background(), "", tip)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			if rel, ok := strings.CutPrefix(f.Path, "knowledge/"); ok {
				ch[f.Path], ch["kb/"+rel] = nil, []byte(w.read("refs/heads/main", f.Path))
			}
		}
		w.commit(ch, "move")
		return says(term("tide")), nil
	}
	r := w.must()
	b := w.read("refs/heads/main", "kb/"+event.Path(r.Run, begin))
	all, err := event.Read([]byte(b))
	if err != nil || len(all) < 2 || all[0].Kind != event.Claim || all[len(all)-1].Kind != event.Outcome {
		t.Errorf("%v: the ledger is\n%s", err, b)
	}
	for i, r := range all {
		if r.Seq != i+1 {
			t.Errorf("record %d is numbered %d", i+1, r.Seq)
		}
	}
}

// A pause that a person makes while a drain is about to is kept, whenever it comes.
func TestAPersonsPauseIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid)
	w.commit(repo.Changes{"knowledge/ledger/2026-03/run-old.jsonl": []byte(`{"cost_micro_usd":2000000,"kind":"outcome","run":"run-old","seq":1,"task":"x","ts":"2026-03-02T08:00:00Z","v":1}` + "\n")}, "spent")
	hers := board.PauseFile("lunch", "human:ann@example.org", begin)
	for at, came := 1, true; came; at++ {
		asked := 0
		w.o.Now = func() time.Time {
			if asked++; asked == at {
				w.commit(repo.Changes{"knowledge/pause.toml": hers}, "pause")
			}
			return w.now
		}
		_, err := w.drain(context.Background())
		if came = asked >= at; !came {
			break
		}
		if p := w.read("refs/heads/main", "knowledge/pause.toml"); err == nil || p != string(hers) {
			t.Errorf("at %d of %d: %v, and pause.toml is %q", at, asked, err, p)
		}
		w.commit(repo.Changes{"knowledge/pause.toml": nil}, "resume")
	}
}

// Without a budget only what costs money stops: what was spent under an earlier
// one is no reason to hold what is free.
func TestSpentWithoutABudget(t *testing.T) {
	t.Parallel()
	spent := repo.Changes{"knowledge/ledger/2026-03/run-old.jsonl": []byte(`{"cost_micro_usd":5,"kind":"outcome","run":"run-old","seq":1,"task":"x","ts":"2026-03-02T08:00:00Z","v":1}` + "\n")}
	for free, want := range map[string]string{"free = true\n": "", "": "no-budget"} {
		w := newWorld(t, "", "a")
		toml := strings.Replace(w.read("refs/heads/main", "odd.toml"), "[governance]", free+"[governance]", 1)
		spent["odd.toml"] = []byte(toml)
		w.commit(spent, "an earlier run")
		w.answer = func(context.Context, session.Request) (session.Emission, error) { return says(term("tide")), nil }
		p, err := Explain(context.Background(), w.repo, w.o)
		if err != nil || want == "" && len(p.Stops) > 0 {
			t.Errorf("%q: the plan stops for %v, %v", toml, p.Stops, err)
		}
		r, err := w.drain(context.Background())
		if (err != nil) != (want != "") || err != nil && code(err) != want {
			t.Errorf("%q: %v; want %q", toml, err, want)
		}
		if want == "" && (r.Level != "ok" || strings.Contains(strings.Join(r.Notes, "\n"), "budget of $0")) {
			t.Errorf("%q: level %s, notes %q", toml, r.Level, r.Notes)
		}
		if p := w.read("refs/heads/main", "knowledge/pause.toml"); p != "" {
			t.Errorf("%q: paused: %s", toml, p)
		}
	}
}

func TestTeamEnvelope(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid+"[budget.teams]\nnobody = 0.05\n", "a")
	if _, err := w.drain(context.Background()); code(err) != "budget-team" {
		t.Errorf("a team that is no capability: %v", err)
	}
	team := repo.Changes{"knowledge/capabilities/shore.md": []byte("---\ntype: capability\nid: nobody\n---\n")}
	w.commit(team, "a team")
	w.commit(repo.Changes{"knowledge/tasks/a.md": []byte(strings.Replace(w.task("a"), "state:", "team: nobody\nstate:", 1))}, "its task")
	if _, err := w.drain(context.Background()); code(err) != "budget-team" {
		t.Errorf("over the team's envelope: %v", err)
	}
}

func fails(name, detail string) func(context.Context, session.Request) (session.Emission, error) {
	return answers(session.Fail(name, detail))
}

// What blocks a task, and what it says.
func TestBlocked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer func(context.Context, session.Request) (session.Emission, error)
		want   string
	}{
		"a fault of the substrate": {func(context.Context, session.Request) (session.Emission, error) {
			return session.Emission{}, errors.New("boom")
		}, "session: boom"},
		"a declared failure": {func(context.Context, session.Request) (session.Emission, error) {
			return session.Fail("stuck", "no maps"), nil
		}, "session failed: stuck: no maps"},
		"no outcome": {func(context.Context, session.Request) (session.Emission, error) {
			return session.Emission{Atoms: []session.Atom{term("x")}}, nil
		}, "no_outcome: the agent ended without the block odd.finish.1; run odd task ready a"},
		"no outcome, and words": {func(context.Context, session.Request) (session.Emission, error) {
			return session.Emission{Raw: []byte("hm")}, nil
		}, "odd review a --emission shows what it printed; run odd task ready a"},
		"out of time":  {fails(session.Timeout, ""), "session_timeout: the session had 20m0s; raise [session] timeout in odd.toml"},
		"out of turns": {fails(session.TurnLimit, "all 2 turns are used"), "turn_limit: all 2 turns are used; run odd task edit a --max-turns N"},
		"out of money": {fails(session.OverBudget, "$0.09 is spent"), "cost_cap_exceeded: $0.09 is spent; run odd task edit a --budget-usd USD"},
		"in a loop":    {fails(toolbox.Degenerate, "ten times"), "degenerate_loop: ten times; run odd task ready a"},
		"unreachable":  {fails(session.Transport, "HTTP 500"), "transport_failed: the agent or its model could not be reached, or broke off: HTTP 500; run odd task ready a"},
		"a handoff": {func(context.Context, session.Request) (session.Emission, error) {
			return session.Emission{Outcome: session.HandoffInsufficient}, nil
		}, "handoff_insufficient"},
		"a change": {func(context.Context, session.Request) (session.Emission, error) {
			return session.Emission{Outcome: session.Completed, Change: &session.Change{Text: []byte("{}"), Line: 1}}, nil
		}, "change-not-asked"},
		"one bad atom of two": {func(context.Context, session.Request) (session.Emission, error) {
			return says(term("x"), term("x")), nil
		}, "emission refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, paid, "a")
			w.answer = c.answer
			r := w.must()
			if o := r.Tasks[0]; o.State != board.Blocked || !strings.Contains(o.Reason, c.want) || o.Branch != "" {
				t.Errorf("%+v, want blocked: %s", o, c.want)
			}
			if !strings.Contains(w.task("a"), "state: blocked") {
				t.Error(w.task("a"))
			}
		})
	}
}

// What no session could begin with is refused before the claim, all of it at once: the
// task stays ready, and no attempt is spent.
func TestRefusedBeforeTheClaim(t *testing.T) {
	t.Parallel()
	nobody := " contract_role: planner|surface: sidebar-chat|persona: nobody"
	for name, c := range map[string]struct{ toml, keys, code, want string }{
		"the contract":         {paid, nobody, "contract", "unknown persona"},
		"every refusal of it":  {paid, nobody, "contract", "[handoff-missing]"},
		"an input":             {paid, " inputs: [gone.md, none/*.md]", "inputs", "inputs: gone.md is not in the repository, none/*.md is not in"},
		"a check's program":    {paid, " paths: [tool/**]|commands: [[no-such-program, x]]", "no-program", `the check "no-such-program x" needs the program no-such-program`},
		"contract and input":   {paid, nobody + "|inputs: [gone.md]", "contract", "gone.md is not in"},
		"a program of its own": {paid, " paths: [tool/**]|commands: [[./check.sh]]", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.toml, "a"+c.keys)
			r, err := w.drain(context.Background())
			if c.code == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if code(err) != c.code || !strings.Contains(err.Error(), c.want) || len(r.Tasks) > 0 {
				t.Errorf("%v [%s], want %s [%s]", err, code(err), c.want, c.code)
			}
			if task := w.task("a"); !strings.Contains(task, "state: ready") || strings.Contains(task, "attempts") {
				t.Error(task)
			}
			tip, err := w.repo.Ref("refs/heads/main")
			if err != nil {
				t.Fatal(err)
			}
			a, _ := okf.Parse("tasks/a.md", []byte(w.task("a")))
			at, err := board.Parse(&a)
			if err != nil {
				t.Fatal(err)
			}
			no, err := Preflight(context.Background(), w.repo, w.o, tip, at)
			if all := strings.Join(no, "; "); err != nil || !strings.Contains(all, c.want) || strings.Contains(all, "task a: ") {
				t.Errorf("preflight: %q, %v", no, err)
			}
		})
	}
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, "a", "b")
	ctx, cancel := context.WithCancel(context.Background())
	w.answer = func(context.Context, session.Request) (session.Emission, error) {
		cancel()
		return says(term("x")), nil
	}
	r, err := w.drain(ctx)
	if !errors.Is(err, context.Canceled) || len(r.Tasks) != 1 || r.Tasks[0].State != board.Blocked {
		t.Errorf("%+v, %v", r.Tasks, err)
	}
	if !strings.Contains(w.task("a"), "state: blocked") || !strings.Contains(w.task("b"), "state: ready") {
		t.Errorf("a: %s b: %s", w.task("a"), w.task("b"))
	}
}

// The board may move on while a session runs, and its task to another folder; a pause then ends the
// session at its next turn.
func TestTheBoardMovesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, "a", "b")
	w.answer = func(ctx context.Context, r session.Request) (session.Emission, error) {
		if r.Task == "a" {
			w.commit(repo.Changes{"notes.txt": []byte("x\n"), "knowledge/tasks/a.md": nil, "knowledge/tasks/old/a.md": []byte(w.task("a"))}, "a note, and the task elsewhere")
			if e, ok := r.BeginTurn(ctx, session.Usage{}); !ok {
				return e, nil
			}
			return says(term("x")), nil
		}
		w.commit(repo.Changes{"knowledge/pause.toml": board.PauseFile("enough", "human:ann@example.org", w.now)}, "pause")
		if e, ok := r.BeginTurn(ctx, session.Usage{}); !ok {
			return e, nil
		}
		return says(term("y")), nil
	}
	r := w.must()
	if len(r.Tasks) != 2 || r.Tasks[0].State != board.Review || r.Tasks[1].State != board.Blocked || !strings.Contains(r.Tasks[1].Reason, "paused: enough") {
		t.Errorf("%+v", r.Tasks)
	}
	if w.read("refs/heads/main", "notes.txt") == "" {
		t.Error("the person's commit is gone")
	}
}

// A task that may not be drained any more while it is claimed is told, and where a person asked for it, the drain
// is refused for that.
func TestATaskIsRefusedAtItsClaim(t *testing.T) {
	t.Parallel()
	for _, named := range []string{"", "a"} {
		w := newWorld(t, paid, forDocs, "b")
		w.o.Task = named
		once := sync.OnceFunc(func() {
			w.commit(repo.Changes{"odd.toml": []byte(strings.Replace(w.read("refs/heads/main", "odd.toml"), "monthly_usd = 1", "monthly_usd = 0.01", 1))}, "less money")
		})
		w.o.Random = func(b []byte) error { // for the op that the claim names
			once()
			return w.chance(b)
		}
		r, err := w.drain(context.Background())
		switch {
		case named != "":
			if code(err) != "budget" {
				t.Errorf("a drain of it alone: %+v, %v", r, err)
			}
		case err != nil || len(r.Tasks) > 0 || !strings.Contains(strings.Join(r.Notes, "\n"), "a: not claimed: task a: it may cost $0.10"):
			t.Errorf("%+v, %v", r, err)
		}
	}
}

// A claim that outlives its lease cannot take another turn, nor be taken from its sweeper.
func TestTheLeaseExpiresMidSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, "a")
	w.answer = func(ctx context.Context, r session.Request) (session.Emission, error) {
		w.now = w.now.Add(time.Hour)
		if e, ok := r.BeginTurn(ctx, session.Usage{}); !ok {
			return e, nil
		}
		return says(term("x")), nil
	}
	if r := w.must(); r.Tasks[0].State != board.Blocked || !strings.Contains(r.Tasks[0].Reason, "lease_expired: the claim on the task ended at ") {
		t.Errorf("%+v", r.Tasks)
	}
}

// A second drain is told who holds the lock, and nothing happens.
func TestOneDrain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, "a")
	unlock, err := w.repo.LockDrainFor("run-other")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unlock() }()
	if _, err := w.drain(context.Background()); code(err) != "locked" || !strings.Contains(err.Error(), "run-other") {
		t.Errorf("%v", err)
	}
	p, err := Explain(context.Background(), w.repo, w.o)
	if err != nil || len(p.Stops) != 1 || p.Stops[0].Code != "locked" || len(p.Tasks) != 1 || !p.Tasks[0].Run {
		t.Errorf("%+v, %v", p, err)
	}
}

// An update is made against the blob the session saw; a person who was faster wins.
func TestConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, "a")
	w.answer = func(_ context.Context, r session.Request) (session.Emission, error) {
		a, err := r.Graph.Find("slack-water")
		if err != nil {
			return session.Emission{}, err
		}
		changed, err := okf.Parse(a.Path, []byte("---\ntype: term\nid: slack-water\ntitle: Slack\n---\nNew.\n"))
		return says(session.Atom{Atom: changed, Base: "0123456789012345678901234567890123456789", At: "emission:1"}), err
	}
	if r := w.must(); r.Tasks[0].Effects[reconcile.Conflict] != 1 {
		t.Errorf("%+v", r.Tasks[0])
	}
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, "a")
	w.answer = func(context.Context, session.Request) (session.Emission, error) {
		e := says(term("tide"), term("tern"))
		e.Notes = []session.Note{{Type: "O", Facet: "open", Title: "Who counts the terns?", Content: "Nobody says."}}
		e.Proposals = []session.Proposal{{Severity: "low", Gate: "framing", Reason: "terns"}}
		e.Raw = session.Print(e)
		return e, nil
	}
	first := w.must().Tasks[0]
	w.commit(repo.Changes{"knowledge/proposals/" + w.last() + ".jsonl": nil}, "nobody asks for a gate any more")
	w.commit(repo.Changes{"knowledge/terms/tide.md": []byte("---\ntype: term\nid: tide\ntitle: tide\nconfidence: asserted\n---\nBy hand.\n")}, "a person was faster")
	o := w.o
	o.Task, o.Run = "a", "run-01KJPWD6M0E8497ANGJ5R0NAZZ"
	again, err := Refresh(context.Background(), w.repo, o)
	if err != nil {
		t.Fatal(err)
	}
	if again.Branch != "odd/review/a.2" || again.Proposal == first.Proposal || again.Effects[reconcile.Added] != 1 || again.Effects[reconcile.Conflict] != 1 || again.Cost != budget.MicroUSD(0) {
		t.Errorf("%+v after %+v", again, first)
	}
	if strings.Contains(w.journal(o.Run), "terns?") || len(w.proposed().Proposals) > 0 {
		t.Errorf("what the session said is recorded again: %+v\n%s", w.proposed(), w.journal(o.Run))
	}
	if !strings.Contains(w.task("a"), "state: review") || !strings.Contains(w.task("a"), string(again.Proposal)) {
		t.Error(w.task("a"))
	}
	if !strings.Contains(w.read("refs/heads/main", "knowledge/terms/tide.md"), "By hand.") {
		t.Error("the person's term is gone")
	}
	w.commit(repo.Changes{"knowledge/terms/tern.md": []byte("---\ntype: term\nid: tern\n---\nBy hand.\n")}, "and again")
	o.Run = "run-01KJPWD6M0E8497ANGJ5R0NAZY"
	if _, err := Refresh(context.Background(), w.repo, o); code(err) != "emission" {
		t.Errorf("with nothing left to land: %v", err)
	}
}

// What is judged again is what the ledger says was kept, held to the contract it
// was made under, however often and whatever became of its ref.
func TestRefreshHoldsToTheContract(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, "a")
	w.answer = func(context.Context, session.Request) (session.Emission, error) {
		a, err := okf.Parse("terms/tide.md", []byte("---\ntype: term\nid: tide\ntitle: 🦦 Tide\n---\nIt ebbs.\n"))
		e := says(session.Atom{Atom: a, At: "emission:1"})
		e.Raw = session.Print(e)
		return e, err
	}
	if o := w.must().Tasks[0]; o.State != "review" {
		t.Fatalf("%+v", o)
	}
	run := "refs/odd/run/" + w.last()
	for i, id := range []string{"ZX", "ZW"} {
		was, err := w.repo.Ref(run)
		if err != nil {
			t.Fatal(err)
		}
		forged, err := w.repo.WriteTree(context.Background(), "", map[string][]byte{"a.1/emission.md": []byte(strings.ReplaceAll(string(session.Print(says(term("forged")))), "\r", ""))})
		if err == nil {
			err = w.repo.Update(context.Background(), repo.RefUpdate{Name: run, Old: was, New: forged})
		}
		if err != nil {
			t.Fatal(err)
		}
		w.commit(repo.Changes{"knowledge/terms/other.md": []byte(fmt.Sprintf("---\ntype: term\nid: other\n---\n%d\n", i))}, "moved on")
		o := w.o
		o.Task, o.Run = "a", "run-01KJPWD6M0E8497ANGJ5R0NA"+id
		again, err := Refresh(context.Background(), w.repo, o)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.read("refs/heads/"+again.Branch, "knowledge/terms/tide.md"); !strings.Contains(got, "title: Tide\n") {
			t.Errorf("checked again as %s:\n%s", o.Run, got)
		}
		run = "refs/odd/run/" + o.Run
	}
}

// A title cannot bring a trailer of its own, nor a second subject line.
func TestMessageKeepsTheSubjectOneLine(t *testing.T) {
	t.Parallel()
	got := (&runLog{}).message("propose: Tidy\n\nOdd-Run: other\x1b[2J", "why\x1b[2J", traced{task: "t-1"})
	if want := "propose: Tidy Odd-Run: other[2J\n\nwhy[2J\n\nOdd-Task: t-1\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A person's git holds the index for a moment: the claim waits, and lands.
func TestAClaimWaitsForThePersonsGit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, "a")
	lock := filepath.Join(w.repo.CommonDir(), "index.lock")
	if err := os.WriteFile(lock, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	waited := 0
	w.o.Wait = func(time.Duration) {
		if waited++; waited == 3 {
			if err := os.Remove(lock); err != nil {
				t.Error(err)
			}
		}
	}
	if r := w.must(); len(r.Tasks) != 1 || r.Tasks[0].State != board.Review || waited != 3 {
		t.Errorf("%+v after waiting %d times", r.Tasks, waited)
	}
}

// Somebody's file is in the way for a moment, as where another odd has just moved the branch: the claim
// waits, and lands. One that stays is told.
func TestAClaimWaitsForAFileInTheWay(t *testing.T) {
	t.Parallel()
	for _, stays := range []bool{false, true} {
		w := newWorld(t, paid, "a")
		name := filepath.Join(w.repo.Root(), "knowledge", "tasks", "a.md")
		was, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		waited := 0
		w.o.Check = func(context.Context, *repo.Line, repo.OID, repo.OID, []repo.RefUpdate) error {
			if waited > 0 && !stays {
				return nil
			}
			return os.WriteFile(name, append(was[:len(was):len(was)], "other\n"...), 0o644)
		}
		w.o.Wait = func(time.Duration) {
			if waited++; !stays {
				if err := os.WriteFile(name, was, 0o644); err != nil {
					t.Error(err)
				}
			}
		}
		r, err := w.drain(context.Background())
		if landed := len(r.Tasks) == 1 && r.Tasks[0].State == board.Review && err == nil; landed == stays || stays != (waited == inTheWayTries) || stays && !errors.Is(err, repo.ErrInTheWay) {
			t.Errorf("stays %t: %+v after waiting %d times: %v", stays, r.Tasks, waited, err)
		}
	}
}

// A person commits at every moment of a drain in turn, a swept claim included:
// the drain ends well and both are in history.
func TestAPersonCommitsAtAnyMoment(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 4, 6, 9, 12} {
		w := newWorld(t, paid, "a")
		w.commit(repo.Changes{"knowledge/tasks/dead.md": []byte("---\ntype: task\nid: dead\nstate: in_progress\nkind: extract\nrole: shore-lead\nattempts: 1\nclaimed_by: run-x\nlease_expires: 2026-03-01T00:00:00Z\n---\n")}, "a dead claim")
		calls := 0
		w.o.Now = func() time.Time {
			if calls++; calls == n {
				w.commit(repo.Changes{"notes.txt": []byte("x\n")}, "a note")
			}
			return w.now
		}
		r, err := w.drain(context.Background())
		if err != nil || len(r.Tasks) != 2 || len(r.Swept) != 1 {
			t.Errorf("at moment %d: %+v, %v", n, r, err)
		}
		if calls >= n && w.read("refs/heads/main", "notes.txt") == "" {
			t.Errorf("at moment %d: the person's commit is gone", n)
		}
	}
}

// A drain's clock goes on, or stands, and never goes back.
func TestOnward(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	now := monotonicClock(func() time.Time { return at })
	first := now()
	at = at.Add(-time.Hour)
	if got := now(); !got.Equal(first) {
		t.Errorf("after the machine's clock was set back: %s, want %s", got, first)
	}
	at = first.Add(time.Minute)
	if got := now(); !got.Equal(at) {
		t.Errorf("after it was set right: %s, want %s", got, at)
	}
}

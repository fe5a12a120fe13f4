package drain

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/invoke"
	"github.com/odd-cli/odd/persona/session"
)

// invoke runs sessions of an explorer that no task asks for.
func (w *world) invoke(n int) (Report, error) {
	w.t.Helper()
	w.runs++
	o := w.o
	o.Run, o.Invoked = fmt.Sprintf("run-01KJPWD6M0E8497ANGJ5R0NA%02d", w.runs), true
	if o.Call.Role == "" {
		o.Call.Role = contract.Explorer
	}
	return Invoke(context.Background(), w.repo, o, Invocation{Title: "look around", Sessions: n})
}

func (w *world) mustInvoke(n int) Report {
	w.t.Helper()
	r, err := w.invoke(n)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// finds is the emission of an explorer that found what.
func finds(what string) session.Emission {
	e := says()
	e.Deliverable = &deliver.Deliverable{Schema: deliver.SchemaSynthesis, Synthesis: &deliver.Synthesis{
		Possibilities: []string{what}, Tensions: []string{}, Unknowns: []string{"who asks"}, Frames: []string{"one"}}}
	return e
}

func answers(e session.Emission) func(context.Context, session.Request) (session.Emission, error) {
	return func(context.Context, session.Request) (session.Emission, error) { return e, nil }
}

// records of a run, as the board has them.
func (w *world) records(run string) []event.Record {
	w.t.Helper()
	r, err := event.Read([]byte(w.read("refs/heads/main", "knowledge/ledger/2026-03/"+run+".jsonl")))
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) journal(run string) string {
	w.t.Helper()
	return w.read("refs/heads/main", "knowledge/journal/2026-03-02-"+strings.ToLower(run)+".tsv")
}

// One claim reserves the money of all sessions, and each has its own record.
func TestInvokeReservesForAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid)
	w.answer = func(_ context.Context, r session.Request) (session.Emission, error) {
		return finds(fmt.Sprint(r.Member)), nil
	}
	r := w.mustInvoke(3)
	all := w.records(r.Run)
	if len(all) != 8 || all[0].Reserved != 300_000 || all[0].Task != r.Run || all[7].Cost != 60_000 || all[7].Kind != event.Outcome {
		t.Fatalf("%+v", all)
	}
	for n, s := range r.Said {
		if text := w.read("refs/heads/main", s.Handoff); !strings.Contains(text, fmt.Sprintf("possibilities: [%q]", fmt.Sprint(n+1))) && !strings.Contains(text, fmt.Sprintf("- %q", fmt.Sprint(n+1))) {
			t.Errorf("session %d handed over\n%s", n+1, text)
		}
	}
	if _, err := w.invoke(10); code(err) != "budget" {
		t.Errorf("ten sessions of $0.10 after $0.06 of $1: %v", err)
	}
}

// What a session without a task may not bring, and what it comes to.
func TestInvokeOutcomes(t *testing.T) {
	t.Parallel()
	leak := finds("AK" + "IAIOSFODNN7EXAMPLE")
	atoms := finds("x")
	atoms.Atoms = []session.Atom{term("tide")}
	mark := finds("x")
	mark.Deliverable.Synthesis.Entries = []deliver.Entry{{Observation: "🦦", Context: "c", Implication: "i", Confidence: "low", OpenQuestions: []string{}}}
	gone := finds("x")
	gone.Deliverable.Synthesis.Unknowns = []string{"see docs/gone.md:3"}
	lacking := says()
	lacking.Outcome, lacking.Missing = session.HandoffInsufficient, []string{"the frame"}
	for name, c := range map[string]struct {
		answer  session.Emission
		outcome string
		reason  string
	}{
		"nothing handed over": {says(), "failed", "no-deliverable"},
		"a credential":        {leak, "failed", "looks like a credential"},
		"an atom":             {atoms, "failed", "read-only"},
		"nothing but a mark":  {mark, "failed", "entries[0].observation"},
		"a dead reference":    {gone, "failed", "docs/gone.md"},
		"nothing to work on":  {lacking, "handoff_insufficient", "the frame"},
		"found":               {finds("x"), "completed", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, paid)
			w.answer = answers(c.answer)
			r := w.mustInvoke(1)
			s := r.Said[0]
			if s.Outcome != c.outcome || !strings.Contains(s.Reason, c.reason) || (s.Handoff != "") != (c.outcome == "completed") {
				t.Errorf("%+v, want %s: %s", s, c.outcome, c.reason)
			}
			if out := w.records(r.Run); out[len(out)-1].Kind != event.Outcome {
				t.Errorf("the claim is open: %+v", out)
			}
		})
	}
}

// A session's note passes for no entry of odd's own: it neither tells of a
// transition nor ends an override, and is of a type that there is.
func TestNotesAreASessionsWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid)
	e := finds("a buoy")
	e.Notes = []session.Note{
		{Type: "H", Title: "override ended: exploration, planning", Content: "execution → validation: knowledge/handoffs/2026-03-02-slack.md hands over."},
		{Type: "D", Title: "gone back", Content: " \u200bREVERSION: execution → planning: all of it"},
		{Type: "zz", Title: "of no type", Content: "left out"},
		{Type: "D", Content: "without a title, left out"},
		{Type: "O-open", Title: "two dates differ", Content: "an arrow → is an arrow | closes: journal/2026-03-02-ann.tsv#2"},
	}
	w.answer = answers(e)
	missing := 0
	w.o.Progress = func(s string) { missing += strings.Count(s, "a note of the session is not in the journal: ") }
	r := w.mustInvoke(1)
	got := w.journal(r.Run)
	for _, want := range []string{"\tnoted: override ended: exploration, planning\tnoted: execution → validation: ", "\tnoted: ", "\tan arrow → is an arrow \\| closes:"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "\tREVERSION") || strings.Contains(got, "left out") || missing != 2 {
		t.Errorf("a note passes for more than it is, or %d, not 2, are told to be missing:\n%s", missing, got)
	}
}

// A person answers a turn; when nobody does, the session has yielded and that is no failure.
func TestInvokeDialogue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid)
	w.o.Call = contract.Call{Role: contract.Explorer, Surface: contract.Conversational, Engagement: contract.Assistant}
	if _, err := w.invoke(1); code(err) != "no-turn-channel" && !strings.Contains(err.Error(), "there is no terminal to answer on") {
		t.Errorf("without anybody: %v", err)
	}
	w.answer = func(_ context.Context, r session.Request) (session.Emission, error) {
		if r.Try > 1 {
			return finds("what was answered"), nil
		}
		e := says()
		e.Says = []deliver.Say{{Kind: "question", Text: "Which tide?", Marker: session.Yielding}}
		return e, nil
	}
	var asked string
	w.o.Reply = func(_ context.Context, t invoke.Turn) (string, error) {
		asked = t.Said[len(t.Said)-1].Text
		return "the spring tide", nil
	}
	if s := w.mustInvoke(1).Said[0]; s.Outcome != "completed" || asked != "Which tide?" {
		t.Errorf("%+v after %q", s, asked)
	}
	w.o.Reply = func(context.Context, invoke.Turn) (string, error) { return "", io.EOF }
	if s := w.mustInvoke(1).Said[0]; s.Outcome != "yielded" || !strings.Contains(s.Reason, "Which tide?") || s.Handoff != "" {
		t.Errorf("%+v", s)
	}
}

// An override starts in the claim's commit and ends in the result's.
func TestOverrideStartsAndEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid)
	w.o.Call.Override = &contract.Override{Modes: []contract.Mode{contract.Exploration, contract.Planning}, Reason: "the harbour closes tomorrow at six", Risks: []string{"nobody looks twice"}}
	w.o.Person = "human:ann@example.org"
	var during string
	w.answer = func(_ context.Context, r session.Request) (session.Emission, error) {
		during = w.journal(r.Run)
		return finds("x"), nil
	}
	r := w.mustInvoke(1)
	if !strings.Contains(during, "override started by human:ann@example.org") || strings.Contains(during, "override ended") {
		t.Errorf("while the session runs the journal says\n%s", during)
	}
	if after := w.journal(r.Run); !strings.Contains(after, "override ended: exploration, planning") {
		t.Errorf("afterwards\n%s", after)
	}
	if text := w.read("refs/heads/main", r.Said[0].Handoff); !strings.Contains(text, overridden) {
		t.Errorf("not tagged:\n%s", text)
	}
}

// A session that dies is swept when its own lease has run out, and holds its artifact until then.
func TestInvokeDies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, "a")
	w.o.Call = contract.Call{Role: contract.Explorer, Artifact: "knowledge/terms/slack-water.md",
		Override: &contract.Override{Modes: []contract.Mode{contract.Exploration, contract.Planning}, Reason: "the harbour closes tomorrow at six", Risks: []string{"nobody looks twice"}}}
	w.answer = func(context.Context, session.Request) (session.Emission, error) {
		runtime.Goexit() // as a process that is killed
		return session.Emission{}, nil
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = w.invoke(2)
	}()
	<-ended
	dead := fmt.Sprintf("run-01KJPWD6M0E8497ANGJ5R0NA%02d", w.runs)
	w.o.Call = contract.Call{Role: contract.Observer, Artifact: "terms/slack-water"}
	w.answer = answers(says())
	o := w.o
	o.Run, o.Invoked = "run-01KJPWD6M0E8497ANGJ5R0NAZZ", true
	o.Call.Role = contract.Explorer
	if _, err := Resolve(context.Background(), w.repo, o, Invocation{}); err != nil {
		t.Errorf("the same mode may share it: %v", err)
	}
	o.Call.Override = &contract.Override{Modes: []contract.Mode{contract.Planning, contract.Execution}, Reason: "the harbour closes tomorrow at six", Risks: []string{"x"}}
	o.Call.Role = contract.Planner
	if _, err := Resolve(context.Background(), w.repo, o, Invocation{}); err == nil || !strings.Contains(err.Error(), "artifact-busy") || !strings.Contains(err.Error(), dead) {
		t.Errorf("another mode while it is held: %v", err)
	}
	w.o.Call = contract.Call{}
	w.now = w.now.Add(119 * time.Minute)
	w.must()
	if all := w.records(w.last()); hasAbandoned(all, dead) {
		t.Error("swept while two sessions may still run")
	}
	w.now = w.now.Add(2 * time.Minute)
	w.commit(repo.Changes{"knowledge/tasks/b.md": []byte("---\ntype: task\nid: b\nstate: ready\nkind: extract\nrole: shore-lead\n---\n")}, "another")
	w.must()
	if all := w.records(w.last()); !hasAbandoned(all, dead) {
		t.Errorf("not swept: %+v", all)
	}
	if j := w.journal(w.last()); !strings.Contains(j, "override ended: the session died; "+dead) {
		t.Errorf("the override has no end:\n%s", j)
	}
}

func (w *world) last() string { return fmt.Sprintf("run-01KJPWD6M0E8497ANGJ5R0NA%02d", w.runs) }

func hasAbandoned(all []event.Record, run string) bool {
	for _, r := range all {
		if r.Kind == event.Abandoned && r.DeadRun == run && r.Cost == 200_000 {
			return true
		}
	}
	return false
}

// A person commits at every moment of an invocation in turn: both are in history.
func TestAPersonCommitsWhileInvoking(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 9; n++ {
		w := newWorld(t, paid)
		w.answer = answers(finds("x"))
		calls := 0
		w.o.Now = func() time.Time {
			if calls++; calls == n {
				w.commit(repo.Changes{"notes.txt": []byte("x\n")}, "a note")
			}
			return w.now
		}
		r, err := w.invoke(1)
		if err != nil || len(r.Said) != 1 || w.read("refs/heads/main", r.Said[0].Handoff) == "" {
			t.Errorf("at moment %d: %+v, %v", n, r, err)
		}
		if calls >= n && w.read("refs/heads/main", "notes.txt") == "" {
			t.Errorf("at moment %d: the person's commit is gone", n)
		}
	}
}

// An update of what a proposal changed is, on the board, one of what it was made on.
func TestRebased(t *testing.T) {
	t.Parallel()
	b := bound{built: &Made{Paths: []event.ProposedPath{{Path: "knowledge/terms/tide.md", Base: "old", Result: "new"}, {Path: "knowledge/terms/tern.md", Result: "made"}}}}
	for base, want := range map[string]string{"": "", "new": "old", "made": "", "other": "other"} {
		if got := b.emissionBase(base); got != want {
			t.Errorf("%q: got %q, want %q", base, got, want)
		}
	}
}

func TestTaint(t *testing.T) {
	t.Parallel()
	a := term("tide")
	e, err := tagOverride(session.Emission{Atoms: []session.Atom{a}})
	if err == nil {
		e, err = tagOverride(e)
	}
	if err != nil || strings.Join(e.Atoms[0].Atom.Tags, ",") != overridden {
		t.Errorf("%v, %v", e.Atoms[0].Atom.Tags, err)
	}
	if string(a.Atom.Bytes()) == string(e.Atoms[0].Atom.Bytes()) || e.Atoms[0].Atom.ID != okf.ID("tide") {
		t.Error("the atom is not its own, tagged")
	}
}

// built is a task's builder session: one term and its claims.
func builds(id, text string) session.Emission {
	a, err := okf.Parse("terms/"+id+".md", []byte("---\ntype: term\nid: "+id+"\n---\n"+text+"\n"))
	if err != nil {
		panic(err)
	}
	e := says(session.Atom{Atom: a, At: "emission:1"})
	e.Deliverable = &deliver.Deliverable{Schema: deliver.SchemaClaims, Claims: &deliver.Claims{
		Artifact: "knowledge/terms/" + id + ".md", Does: []string{"names it"}, DoesNot: []string{}, Scope: "the channel"}}
	e.Raw = session.Print(e)
	return e
}

// builder collapses planning and execution, so that it needs no plan.
func (w *world) builder() {
	w.o.Call = contract.Call{Role: contract.Builder, Override: &contract.Override{
		Modes: []contract.Mode{contract.Planning, contract.Execution}, Reason: "the harbour closes tomorrow at six", Risks: []string{"nobody planned"}}}
	w.o.Invoked, w.o.Person, w.o.Task = true, "human:ann@example.org", "a"
}

// A claim that was lost hands nothing over, and its record does not say it did.
func TestALostClaimHandsNothingOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, "a")
	w.builder()
	w.answer = func(context.Context, session.Request) (session.Emission, error) {
		w.commit(repo.Changes{"knowledge/tasks/a.md": []byte(strings.Replace(w.task("a"), "title: a", "title: b", 1))}, "changed my mind")
		return builds("buoy", "It floats."), nil
	}
	r := w.must()
	if r.Tasks[0].State != "" {
		t.Fatalf("%+v", r.Tasks[0])
	}
	for _, rec := range w.records(r.Run) {
		if rec.Session().Handoff != "" {
			t.Errorf("%+v says that it handed over", rec)
		}
	}
	if j := w.journal(r.Run); strings.Contains(j, "execution → validation") || !strings.Contains(j, "override ended") {
		t.Errorf("the journal says\n%s", j)
	}
}

// What a validator is shown is the proposal that waits: after it was judged
// again, that of today.
func TestAValidatorSeesWhatWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, "a")
	w.builder()
	w.answer = answers(builds("buoy", "It floats."))
	built := w.must().Tasks[0]
	if built.State != "review" || built.Session.Handoff == "" {
		t.Fatalf("%+v", built)
	}
	var brief string
	look := func() {
		t.Helper()
		o := w.o
		o.Call, o.Task, o.Handoffs = contract.Call{Role: contract.Validator}, "", []string{built.Session.Handoff}
		w.runs++
		o.Run = w.last()
		w.answer = func(_ context.Context, r session.Request) (session.Emission, error) {
			brief = string(r.Brief)
			e := says()
			e.Deliverable = &deliver.Deliverable{Schema: deliver.SchemaFindings, Findings: &deliver.Findings{Artifact: "knowledge/terms/buoy.md", Findings: []deliver.Finding{}}}
			return e, nil
		}
		r, err := Invoke(context.Background(), w.repo, o, Invocation{})
		if err != nil || r.Said[0].Outcome != "completed" {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	look()
	if !strings.Contains(brief, "It floats.") || !strings.Contains(brief, w.read("refs/heads/"+built.Branch, "knowledge/terms/buoy.md")) {
		t.Errorf("the brief does not show the proposal:\n%s", brief)
	}
	w.now = w.now.Add(time.Hour)
	o := w.o
	w.runs++
	o.Run, o.Call, o.Invoked = w.last(), contract.Call{}, false
	again, err := Refresh(context.Background(), w.repo, o)
	if err != nil {
		t.Fatal(err)
	}
	look()
	if now := w.read("refs/heads/"+again.Branch, "knowledge/terms/buoy.md"); !strings.Contains(brief, now) || again.Proposal == built.Proposal {
		t.Errorf("the brief shows another than what waits:\n%s", brief)
	}
}

// A session whose program is not installed is refused before anything is reserved for it.
func TestInvokeWithoutItsProgram(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid)
	w.commit(repo.Changes{"odd.toml": []byte(strings.Replace(w.read("refs/heads/main", "odd.toml"), `"true"`, `"no-such-agent"`, 1))}, "another agent")
	w.o.Substrate = nil
	before, _ := w.repo.Ref("refs/heads/main")
	if _, err := w.invoke(1); code(err) != "no-program" {
		t.Error(err)
	}
	if after, _ := w.repo.Ref("refs/heads/main"); after != before {
		t.Error("it wrote to the board")
	}
}

// In a drain nobody answers: an engagement that needs somebody is refused.
func TestNobodyAnswersADrain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid+"[contract]\nengagement = \"assistant\"\n", "a")
	if r, err := w.drain(context.Background()); code(err) != "contract" || !strings.Contains(err.Error(), "[no-turn-channel]") || len(r.Tasks) > 0 {
		t.Errorf("%+v, %v", r.Tasks, err)
	}
}

// What was said of an attempt reaches the next one in the same mode, and no other.
func TestBeforeIsOfTheSameMode(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, "a kind: research")
	w.commit(repo.Changes{"knowledge/tasks/a.md": []byte(strings.Replace(w.task("a"), "kind: extract\n", "", 1))}, "one kind")
	var brief string
	w.answer = func(_ context.Context, r session.Request) (session.Emission, error) {
		brief = string(r.Brief)
		return session.Fail("stuck", "no MAPS"), nil
	}
	again := func(role string) {
		t.Helper()
		text := strings.Replace(w.task("a"), "state: blocked", "state: ready\ncontract_role: "+role, 1)
		w.commit(repo.Changes{"knowledge/tasks/a.md": []byte(text)}, "again")
		w.must()
	}
	w.must()
	again("explorer")
	if !strings.Contains(brief, "no MAPS") {
		t.Errorf("the second explorer does not know what stopped the first:\n%s", brief)
	}
	w.commit(repo.Changes{"knowledge/tasks/a.md": []byte(strings.Replace(w.task("a"), "contract_role: explorer\n", "", 1))}, "no longer")
	again("general")
	if strings.Contains(brief, "no MAPS") {
		t.Errorf("a general knows what an explorer was stopped by:\n%s", brief)
	}
}

// What a session says on its way to history is redacted: notes, and why it failed.
func TestCredentialsStayOutOfHistory(t *testing.T) {
	t.Parallel()
	key := "AK" + "IAIOSFODNN7EXAMPLE"
	w := newWorld(t, paid, "a")
	w.answer = func(context.Context, session.Request) (session.Emission, error) {
		e := session.Fail("stuck", "the door is shut to "+key)
		e.Notes = []session.Note{{Type: "O", Title: "found " + key, Content: "it says " + key}}
		return e, nil
	}
	r := w.must()
	w.answer = answers(session.Fail("stuck", key))
	said := w.mustInvoke(1)
	for name, text := range map[string]string{
		"task": w.task("a"), "journal": w.journal(r.Run), "the other journal": w.journal(said.Run),
		"ledger": w.read("refs/heads/main", "knowledge/ledger/2026-03/"+r.Run+".jsonl"),
	} {
		if strings.Contains(text, key) || !strings.Contains(text, "[redacted:aws-key]") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}

// Sessions of one invocation run side by side: each waits for all the others here. What
// they come to stands in their order, whoever ends first.
func TestSessionsRunSideBySide(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid)
	var here sync.WaitGroup
	here.Add(3)
	last := make(chan struct{})
	w.answer = func(ctx context.Context, r session.Request) (session.Emission, error) {
		if e, ok := r.BeginTurn(ctx, session.Usage{}); !ok {
			return e, nil
		}
		here.Done()
		here.Wait()
		if r.Member == 3 {
			defer close(last)
		} else {
			<-last
		}
		r.Progress("looked")
		return finds(fmt.Sprint("one of ", r.Member)), nil
	}
	r := w.mustInvoke(3)
	var got []string
	for _, s := range r.Said {
		got = append(got, s.Deliverable.Synthesis.Possibilities...)
	}
	if !slices.Equal(got, []string{"one of 1", "one of 2", "one of 3"}) {
		t.Errorf("%q", got)
	}
}

// A person who is asked by sessions that run side by side answers one after the other.
func TestSessionsAskOneAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid)
	w.o.Call.Engagement = contract.Assistant
	var here sync.WaitGroup
	here.Add(3)
	var asking, most atomic.Int32
	w.o.Reply = func(context.Context, invoke.Turn) (string, error) {
		n := asking.Add(1)
		here.Wait() // all have come as far as to ask
		for range 1000 {
			runtime.Gosched()
		}
		most.Store(max(most.Load(), n))
		asking.Add(-1)
		return "go on", nil
	}
	w.answer = func(ctx context.Context, r session.Request) (session.Emission, error) {
		if e, ok := r.BeginTurn(ctx, session.Usage{}); !ok {
			return e, nil
		}
		here.Done()
		if said, err := r.Ask(ctx, "which way?"); err != nil || said != "go on" {
			t.Errorf("the answer is %q, %v", said, err)
		}
		return finds("a way"), nil
	}
	w.mustInvoke(3)
	if most.Load() != 1 {
		t.Errorf("%d sessions asked at once", most.Load())
	}
}

// member is a substrate that answers each of several sessions in its own way.
type member func(ctx context.Context, r session.Request) (session.Emission, error)

func (m member) Run(ctx context.Context, r session.Request) (session.Emission, error) {
	return m(ctx, r)
}

// Of several sessions side by side one changes git's configuration: nothing of any is kept,
// because nobody can tell which it was, and the reason is told.
func TestNothingIsKeptBesideTampering(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid)
	tampered := make(chan struct{})
	w.o.Substrate = func(config.Config, fs.FS) (session.Substrate, error) {
		return member(func(ctx context.Context, r session.Request) (session.Emission, error) {
			if r.Member == 1 {
				defer close(tampered)
				name := filepath.Join(w.repo.CommonDir(), "config")
				b, err := os.ReadFile(name)
				if err == nil {
					err = os.WriteFile(name, append(b, "[alias]\nx = !true\n"...), 0o644)
				}
				return finds("a"), err
			}
			<-tampered
			return finds("b"), nil
		}), nil
	}
	r, err := w.invoke(2)
	if err == nil || !strings.Contains(err.Error(), "config in the git directory changed") || !strings.HasSuffix(err.Error(), "then run the command again") {
		t.Errorf("the invocation says %v", err)
	}
	for _, said := range r.Said {
		if said.Handoff != "" || !strings.Contains(said.Reason, "config in the git directory changed") {
			t.Errorf("%+v", said)
		}
	}
}

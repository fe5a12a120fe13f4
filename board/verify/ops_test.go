package verify

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/event/eventtest"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// doing is the work of one phase, phases that of all.
type (
	doing  func(context.Context, pipeline.Op) (pipeline.Out, error)
	phases map[pipeline.Phase]doing
)

// opPhases are an op's phases; until, where it is not "", is the one that errs, or "land" for one that lands by itself.
func opPhases(w *run, until pipeline.Phase) phases {
	to := func(at, next pipeline.Phase, facts ...string) doing {
		return func(context.Context, pipeline.Op) (pipeline.Out, error) {
			out := pipeline.Out{Next: next, Set: map[string]string{}}
			for i := 0; i < len(facts); i += 2 {
				out.Set[facts[i]] = facts[i+1]
			}
			if at == pipeline.Apply {
				out.Moved = pipeline.Effect{Ref: "refs/heads/odd/review/" + w.task + ".1", New: string(w.proposal)}
			}
			if at == pipeline.Gate && until == "land" {
				out.Set[pipeline.FactTier] = "SAFE_AUTO"
			}
			if at == pipeline.Verify && until == "land" {
				out.Reason, out.Moved = pipeline.Landed, pipeline.Effect{Ref: "refs/heads/main", Old: string(w.base), New: string(w.proposal)}
			}
			if at == until {
				return out, fmt.Errorf("no luck")
			}
			return out, nil
		}
	}
	return phases{
		pipeline.Classify: to(pipeline.Classify, pipeline.Route), pipeline.Route: to(pipeline.Route, pipeline.Generate),
		pipeline.Generate: to(pipeline.Generate, pipeline.Validate, pipeline.FactCandidate, "c1"), pipeline.Validate: to(pipeline.Validate, pipeline.Gate),
		pipeline.Gate:    to(pipeline.Gate, pipeline.Approve, pipeline.FactRules, "r1", pipeline.FactTier, "APPROVAL_REQUIRED"),
		pipeline.Approve: to(pipeline.Approve, pipeline.Apply), pipeline.Apply: to(pipeline.Apply, pipeline.Verify), pipeline.Verify: to(pipeline.Verify, pipeline.Waiting),
	}
}

// withOp makes a run's op, which waits, or ends where until errs.
func withOp(until pipeline.Phase, l pipeline.Limits, facts ...map[string]string) func(*story, *run, repo.Changes) {
	return func(s *story, w *run, ch repo.Changes) {
		s.Helper()
		at := s.now
		in := saidIn(opPhases(w, until), facts)
		world := pipeline.World{
			Run: w.id, Now: func() time.Time { return at },
			Work: func(ctx context.Context, o pipeline.Op) (pipeline.Out, error) { return in[o.Phase](ctx, o) },
			Keep: func(o pipeline.Op) { s.record(w, ch, o.Record()) },
		}
		id := w.op
		if id == "" {
			id = "op-" + w.id[len(w.id)-2:]
		}
		o, err := pipeline.Begin(id, w.task, w.id, at, l, map[string]string{pipeline.FactBase: string(w.base)})
		if err != nil {
			s.Fatal(err)
		}
		o = pipeline.Run(s.Context(), world, l, o)
		if s.ops[w.task] = o; o.Ended() {
			delete(s.ops, w.task)
		}
	}
}

// saidIn are steps whose gate says other facts than theirs.
func saidIn(st phases, facts []map[string]string) phases {
	gate, generate := st[pipeline.Gate], st[pipeline.Generate]
	put := func(w doing, keys ...string) doing {
		return func(ctx context.Context, o pipeline.Op) (pipeline.Out, error) {
			out, err := w(ctx, o)
			for _, f := range facts {
				for k, v := range f {
					if len(keys) == 0 || slices.Contains(keys, k) {
						out.Set[k] = v
					}
				}
			}
			return out, err
		}
	}
	st[pipeline.Gate], st[pipeline.Generate] = put(gate), put(generate, pipeline.FactCandidate)
	return st
}

// endOp writes the ending of a task's op, if one waits, in a file of its own.
func (s *story) endOp(task string, ch repo.Changes, r pipeline.Reason) {
	s.Helper()
	o, ok := s.ops[task]
	if !ok {
		return
	}
	end, err := pipeline.End(o, o.ID, s.now, r, "")
	if err != nil {
		s.Fatal(err)
	}
	delete(s.ops, task)
	rec := end.Record()
	rec.Seq = 1
	b, err := event.Append(nil, rec)
	if err != nil {
		s.Fatal(err)
	}
	ch["knowledge/"+event.Path(o.ID, s.now)] = b
}

// workChange tells the work on a task whose op waits.
func workChange(s *story, task string) *run {
	s.Helper()
	w := s.claim(task)
	w.pipes = withOp("", pipeline.Limits{})
	s.result(w, 100_000, terms("keel"))
	return w
}

// expire ends the op of a task as a later run does, when its time is over.
func (s *story) expire(task string, after time.Duration) {
	s.Helper()
	o := s.ops[task]
	delete(s.ops, task)
	s.now = s.now.Add(after)
	w := s.newRun(task)
	end, err := pipeline.Expire(o, w.id, latest(s.now, o.Until))
	if err != nil {
		s.Fatal(err)
	}
	b, err := okf.Edit(s.task(task).Atom.Bytes(), okf.Set{Key: "state", Value: string(board.Backlog)}, okf.Set{Key: "result"})
	if err != nil {
		s.Fatal(err)
	}
	ch := repo.Changes{taskFile(task): b}
	s.appendOp(w, ch, end)
	s.land(s.make("expire", task, draft{who: agentMail, parents: []repo.OID{s.tip()}, ch: ch, trailers: [][2]string{{"Odd-Run", w.id}, {"Odd-Task", task}}}))
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// appendOp appends the record of an op to a run's ledger, at the op's own moment.
func (s *story) appendOp(w *run, ch repo.Changes, o pipeline.Op) {
	s.Helper()
	b, ok := ch[w.file]
	if !ok {
		b = s.file(w.file)
	}
	r := o.Record()
	r.Seq = 1 + bytes.Count(b, []byte("\n"))
	b, err := event.Append(b, r)
	if err != nil {
		s.Fatal(err)
	}
	ch[w.file] = b
}

// tellChanges tells every way an op may end, after which its task is free again.
func (s *story) tellChanges() {
	s.Helper()
	for _, id := range []string{"p-merged", "p-rejected", "p-expired", "p-failed"} {
		s.add(id, "budget_usd: 0.05\n")
	}
	s.approve(s.work("p-merged", "mast"), false)
	s.reject(s.work("p-rejected", "boom"))
	s.work("p-expired", "gaff")
	s.expire("p-expired", 15*24*time.Hour)
	w := s.claim("p-failed")
	w.pipes = withOp(pipeline.Gate, pipeline.Limits{})
	s.result(w, 1, nil)
}

func (s *story) work(task, atom string) *run {
	s.Helper()
	w := s.claim(task)
	w.pipes = withOp("", pipeline.Limits{})
	s.result(w, 1, terms(atom))
	return w
}

// rewrite makes the records of ops in a draft's ledger others: change returns what stands instead of each.
func rewrite(s *story, d *draft, change func(n int, r event.Record) []event.Record) {
	s.Helper()
	name := ledgerIn(d)
	all, err := event.Read(d.ch[name])
	if err != nil {
		s.Fatal(err)
	}
	var b []byte
	n := 0
	for _, r := range all {
		out := []event.Record{r}
		if r.Kind == event.Op || r.Kind == event.OpEnd {
			n++
			out = change(n, r)
		}
		for _, r := range out {
			r.Seq = 1 + bytes.Count(b, []byte("\n"))
			if b, err = event.Append(b, r); err != nil {
				s.Fatal(err)
			}
		}
	}
	d.ch[name] = b
}

// onlyRecord keeps the first n records of ops.
func onlyRecord(n int) func(*story, *draft) {
	return func(s *story, d *draft) {
		rewrite(s, d, func(i int, r event.Record) []event.Record {
			if i > n {
				return nil
			}
			return []event.Record{r}
		})
	}
}

// setRecord changes the data of one record of an op.
func setRecord(n int, key string, v any) func(*story, *draft) {
	return func(s *story, d *draft) {
		rewrite(s, d, func(i int, r event.Record) []event.Record {
			if i == n {
				eventtest.Set(&r, key, v)
			}
			return []event.Record{r}
		})
	}
}

// dropOp takes the op's own file out of a draft.
func dropOp(s *story, d *draft) {
	for name := range d.ch {
		if strings.Contains(name, "/op-") {
			delete(d.ch, name)
		}
	}
}

func TestEveryOpEndsOnce(t *testing.T) {
	const at = "15 ledger/2026-03/R1.jsonl:"
	waits := func(s *story) repo.OID { workChange(s, "t"); return "" }
	merged := func(s *story) repo.OID { return s.approve(workChange(s, "t"), false) }
	denied := func(s *story) repo.OID { s.reject(workChange(s, "t")); return "" }
	late := func(s *story) repo.OID { workChange(s, "t"); s.expire("t", 15*24*time.Hour); return "" }
	failing := func(s *story) repo.OID {
		w := s.claim("t")
		w.pipes = withOp(pipeline.Validate, pipeline.Limits{})
		s.result(w, 1, nil)
		return ""
	}
	runTampers(t, []tamper{
		{name: "waits", tell: waits, want: []string{}},
		{name: "merged", tell: merged, want: []string{}},
		{name: "rejected", tell: denied, want: []string{}},
		{name: "expired", tell: late, want: []string{}},
		{name: "failed", tell: failing, want: []string{}},
		{name: "no ending", at: "result t", tell: failing, do: onlyRecord(4),
			want: []string{at + "7 op-01 never ended: its last phase is validate, and the claim of R1 on t is closed"}},
		{name: "an ending that hides a phase", at: "result t", tell: failing, do: func(s *story, d *draft) {
			rewrite(s, d, func(i int, r event.Record) []event.Record {
				if i == 4 {
					return nil
				}
				return []event.Record{r}
			})
		}, want: []string{at + "7 op-01.5 after op-01.3: a record is missing, or there twice"}},
		{name: "no candidate", at: "result t", tell: waits, do: setRecord(4, "set", nil),
			want: []string{at + "7 op-01.4: validate is entered without the fact candidate", at + "8 op-01.5: gate is entered without the fact candidate", at + "9 op-01.6: approve is entered without the fact candidate"}},
		{name: "a phase skipped", at: "result t", tell: waits, do: setRecord(5, "to", "approve"),
			want: []string{at + "8 op-01.5: cannot move from validate to approve; want one of validate, repair, gate, blocked, cancelled, expired, failed_permanent",
				at + "9 op-01.6: cannot move from approve to approve; want one of apply, blocked, cancelled, expired, failed_permanent"}},
		{name: "another proposal than its task's", at: "result t", tell: waits, do: func(s *story, d *draft) {
			rewrite(s, d, func(int, event.Record) []event.Record { return nil })
			w := &run{id: "run-01KJ0000000000000000000001", task: "t", file: ledgerIn(d), base: s.tip(), proposal: s.tip()}
			withOp("", pipeline.Limits{})(s, w, d.ch)
		}, want: []string{at + "12 op-01 waits with # on refs/heads/odd/review/t.1, its task with # on odd/review/t.1"}},
		{name: "longer than odd.toml says", tell: func(s *story) repo.OID {
			w := s.claim("t")
			w.pipes = withOp("", pipeline.Limits{Wait: 1000 * time.Hour})
			s.result(w, 1, terms("keel"))
			return ""
		}, want: []string{at + "12 op-01 may wait 1000h0m0s, odd.toml says 336h0m0s"}},
		{name: "waits, and its task is blocked", tell: func(s *story) repo.OID {
			w := s.claim("t")
			w.pipes, w.proposal = withOp("", pipeline.Limits{}), s.tip()
			s.result(w, 1, nil)
			return ""
		}, want: []string{at + "12 op-01 waits for a person, and its commit does not put t in review"}},
		{name: "a merge that does not say so", at: "approve t", tell: merged, do: dropOp,
			want: []string{"15 tasks/t.md:5 op-01 waits for a person without an ending, and its task is done"}},
		{name: "a merge of another tier", at: "approve t", tell: merged, do: func(_ *story, d *draft) { d.set("Odd-Tier", "SAFE_AUTO") },
			want: []string{"15 ledger/2026-03/op-01.jsonl:1 op-01 is recorded as merged with tier APPROVAL_REQUIRED, in a commit that says it merges op-01 with tier SAFE_AUTO"}},
		{name: "a merge that names no op", at: "approve t", tell: merged, do: func(_ *story, d *draft) { d.set("Odd-Op", "") },
			want: []string{"15 ledger/2026-03/op-01.jsonl:1 op-01 is recorded as merged with tier APPROVAL_REQUIRED, in a commit that says it merges no op with tier APPROVAL_REQUIRED"}},
		{name: "a no that does not say so", at: "reject t", tell: denied, do: dropOp,
			want: []string{"15 tasks/t.md:5 op-01 waits for a person without an ending, and its task is ready"}},
		{name: "a person takes the task back by hand", tell: func(s *story) repo.OID {
			workChange(s, "t")
			d := draft{ch: repo.Changes{}}
			replaceIn(s, &d, taskFile("t"), "state: review", "state: backlog")
			return s.ann("back", d.ch)
		}, want: []string{"15 tasks/t.md:5 op-01 waits for a person without an ending, and its task is backlog"}},
		{name: "a person takes the task away by hand", tell: func(s *story) repo.OID {
			workChange(s, "t")
			return s.ann("away", repo.Changes{taskFile("t"): nil})
		}, want: []string{"15 tasks/t.md:1 op-01 waits for a person without an ending, and its task is gone"}},
		{name: "in another's name", at: "reject t", tell: denied, do: func(s *story, d *draft) { d.set("Odd-Rejected-By", "human:"+bobMail) },
			want: []string{"15 ledger/2026-03/op-01.jsonl:1 op-01 is recorded as rejected, by human:bob@example.org in a commit by ann@example.org"}},
		{name: "a no that is told as a merge", at: "reject t", tell: denied, do: func(s *story, d *draft) {
			stories, _ := pipeline.ReadOps(s.ledgers())
			s.ops["t"] = stories[0].Op()
			s.endOp("t", d.ch, pipeline.Merged)
		}, want: []string{"15 ledger/2026-03/op-01.jsonl:1 op-01 is recorded as merged, but this commit merges nothing"}},
		{name: "told, and the task waits on", at: "reject t", tell: denied, do: func(s *story, d *draft) { d.ch[taskFile("t")] = s.file(taskFile("t")) },
			want: []string{"15 ledger/2026-03/op-01.jsonl:1 op-01 is recorded as rejected, and its commit does not take t out of review"}},
		{name: "two endings", tell: func(s *story) repo.OID {
			w := workChange(s, "t")
			was := s.ops["t"]
			s.reject(w)
			end, err := pipeline.End(was, "op-01", s.now, pipeline.CancelledByPerson, "")
			if err != nil {
				s.Fatal(err)
			}
			name := "knowledge/ledger/2026-03/op-01.jsonl"
			r := end.Record()
			r.Seq = 2
			b, err := event.Append(s.file(name), r)
			if err != nil {
				s.Fatal(err)
			}
			return s.ann("again", repo.Changes{name: b})
		}, want: []string{"15 ledger/2026-03/op-01.jsonl:2 op-01.10 after op-01.10: a record is missing, or there twice",
			"15 ledger/2026-03/op-01.jsonl:2 op-01.10: cancelled after its ending, cancelled; nothing follows an ending"}},
		{name: "a person ends it in the run's ledger", at: "reject t", tell: denied, do: func(s *story, d *draft) {
			dropOp(s, d)
			stories, _ := pipeline.ReadOps(s.ledgers())
			o := stories[0].Op()
			end, err := pipeline.End(o, o.Run, s.now, pipeline.Rejected, "")
			if err != nil {
				s.Fatal(err)
			}
			s.appendOp(&run{id: o.Run, file: "knowledge/ledger/2026-03/" + o.Run + ".jsonl"}, d.ch, end)
		}, want: []string{"14 ledger/2026-03/R1.jsonl:13 is a record of R1 that another commit than its own adds",
			"15 ledger/2026-03/R1.jsonl:13 op-01 is recorded as rejected in the ledger of R1; a person's word stands in a file of the op's own"}},
		{name: "a person ends what a run has not", tell: func(s *story) repo.OID {
			workChange(s, "t")
			ch := repo.Changes{}
			s.endOp("t", ch, pipeline.Superseded)
			return s.ann("so", ch)
		}, want: []string{"15 ledger/2026-03/op-01.jsonl:1 another commit than a run's ends op-01 as superseded"}},
		{name: "expired too early", tell: func(s *story) repo.OID { workChange(s, "t"); s.expire("t", time.Hour); return "" },
			want: []string{"5 ledger/2026-03/R2.jsonl:1 is dated 2026-03-16T09:04:00Z in a commit of 2026-03-02T10:06:00Z",
				"15 ledger/2026-03/R2.jsonl:1 op-01 is told at 2026-03-16T09:04:00Z, in a commit of 2026-03-02T10:06:00Z"}},
		{name: "expired, and not back in backlog", at: "expire t", tell: late, do: func(s *story, d *draft) {
			replaceIn(s, d, taskFile("t"), "state: backlog", "state: ready")
		}, want: []string{"15 ledger/2026-03/R2.jsonl:1 op-01 expired, and its task goes to ready; it returns to backlog",
			"3 tasks/t.md:5 a commit by odd or an agent moves the task from review to ready; only a person may do that"}},
		{name: "a run says that a person merged", at: "expire t", tell: late, do: func(s *story, d *draft) {
			stories, _ := pipeline.ReadOps(s.ledgers())
			end, err := pipeline.End(stories[0].Op(), "run-01KJ0000000000000000000002", s.now, pipeline.Merged, "")
			if err != nil {
				s.Fatal(err)
			}
			name := ledgerIn(d)
			d.ch[name] = nil
			s.appendOp(&run{file: name}, d.ch, end)
		}, want: []string{"15 ledger/2026-03/R2.jsonl:1 a commit by odd or an agent ends op-01 as merged; only a person does",
			"3 tasks/t.md:5 a commit by odd or an agent moves the task from review to backlog; only a person may do that"}},
		{name: "swept and left open", tell: func(s *story) repo.OID {
			w := s.claim("t")
			s.land(s.make("half", "t", s.halfDone(w)))
			s.sweep(w, 500_000)
			return ""
		}, want: []string{at + "4 op-01 never ended: its last phase is generate, and the claim of R1 on t is closed"}},
		{name: "goes on after it was swept", tell: func(s *story) repo.OID {
			w := s.claim("t")
			s.sweep(w, 500_000)
			s.land(s.make("half", "t", s.halfDone(w)))
			return ""
		}, want: []string{at + "4 op-01 never ended: its last phase is generate, and the claim of R1 on t is closed"}},
	})
}

// TestAnnouncedOps: a claim that announces an op is closed with its one ending, or with the op waiting, whoever closes
// it.
func TestAnnouncedOps(t *testing.T) {
	claim := func(s *story) *run {
		s.announced = "op-01"
		return s.claim("t")
	}
	died := func(ends bool) func(*story) repo.OID {
		return func(s *story) repo.OID {
			w := claim(s)
			s.tamper["sweep t"] = inOrder(s.tamper["sweep t"], func(s *story, d *draft) { s.opOfDead(w, d, ends) })
			s.sweep(w, 500_000)
			return ""
		}
	}
	const swept = "15 ledger/2026-03/R2.jsonl:"
	runTampers(t, []tamper{
		{name: "waits", tell: func(s *story) repo.OID {
			w := claim(s)
			w.pipes = withOp("", pipeline.Limits{})
			s.result(w, 1, terms("keel"))
			return ""
		}, want: []string{}},
		{name: "ended for the dead", tell: died(true), want: []string{}},
		{name: "begun for the dead and left open", tell: died(false),
			want: []string{swept + "2 op-01 never ended: its last phase is classify, and the claim of R2 on t is closed"}},
		{name: "swept, and not a word of it", tell: func(s *story) repo.OID { s.sweep(claim(s), 500_000); return "" },
			want: []string{swept + "1 the claim of R1 on t announced op-01, and is closed with no record of how that op ended"}},
		{name: "a result without a word of it", tell: func(s *story) repo.OID { s.result(claim(s), 1, nil); return "" },
			want: []string{"15 ledger/2026-03/R1.jsonl:3 the claim of R1 on t announced op-01, and is closed with no record of how that op ended"}},
		{name: "another op instead", tell: func(s *story) repo.OID {
			w := claim(s)
			w.op, w.pipes = "op-02", withOp("", pipeline.Limits{})
			s.result(w, 1, terms("keel"))
			return ""
		}, want: []string{"15 ledger/2026-03/R1.jsonl:3 the claim of R1 on t announced op-01, and is closed with no record of how that op ended",
			"15 ledger/2026-03/R1.jsonl:4 op-02 is begun for the claim of R1 on t, which announced op-01"}},
		{name: "for a claim that announced none", tell: func(s *story) repo.OID {
			w := s.claim("t")
			s.tamper["sweep t"] = func(s *story, d *draft) { s.opOfDead(w, d, true) }
			s.sweep(w, 500_000)
			return ""
		}, want: []string{swept + "2 op-01 is begun for the claim of R1 on t, which announced none"}},
	})
}

// inOrder is one tampering and then another.
func inOrder(a, b func(*story, *draft)) func(*story, *draft) {
	return func(s *story, d *draft) {
		if b(s, d); a != nil {
			a(s, d)
		}
	}
}

// opOfDead adds to a sweep the op that the dead run announced, and its ending.
func (s *story) opOfDead(dead *run, d *draft, ends bool) {
	s.Helper()
	file := ledgerIn(d)
	w := &run{id: strings.TrimSuffix(path.Base(file), ".jsonl"), file: file}
	o, err := pipeline.Begin("op-01", dead.task, w.id, s.now, pipeline.Limits{}, map[string]string{pipeline.FactDied: dead.id})
	if err != nil {
		s.Fatal(err)
	}
	if s.appendOp(w, d.ch, o); !ends {
		return
	}
	if o, err = pipeline.End(o, w.id, s.now, pipeline.Abandoned, ""); err != nil {
		s.Fatal(err)
	}
	s.appendOp(w, d.ch, o)
}

// halfDone is a run's commit in the middle of its op.
func (s *story) halfDone(w *run) draft {
	ch := repo.Changes{}
	withOp("", pipeline.Limits{})(s, w, ch)
	d := draft{who: agentMail, parents: []repo.OID{s.tip()}, ch: ch, trailers: [][2]string{{"Odd-Run", w.id}, {"Odd-Task", w.task}}}
	onlyRecord(3)(s, &d)
	return d
}

// ledgers are the records of the first run, as the branch has them.
func (s *story) ledgers() []event.Record {
	s.Helper()
	all, err := event.Read(s.file("knowledge/ledger/2026-03/run-01KJ0000000000000000000001.jsonl"))
	if err != nil {
		s.Fatal(err)
	}
	return all
}

// On a forge it is the sync that tells of the merge, on a person's word.
func TestASyncEndsTheOp(t *testing.T) {
	t.Parallel()
	file := "knowledge/ledger/2026-03/op-01.jsonl"
	for name, c := range map[string]struct {
		do   func(*story, *draft)
		want []string
	}{
		"as it is": {func(*story, *draft) {}, []string{}},
		"untold":   {dropOp, []string{"15 tasks/t.md:5 op-01 waits for a person without an ending, and its task is done"}},
		"a no": {func(s *story, d *draft) {
			stories, _ := pipeline.ReadOps(s.ledgers())
			s.ops["t"] = stories[0].Op()
			s.endOp("t", d.ch, pipeline.Rejected)
		}, []string{"15 ledger/2026-03/op-01.jsonl:1 a commit by odd or an agent ends op-01 as rejected; only a person does"}},
		"more than the ending": {func(s *story, d *draft) {
			stories, _ := pipeline.ReadOps(s.ledgers())
			r := stories[0].Told[3].Record
			r.Run, r.Seq = "op-01", 2
			b, err := event.Append(d.ch[file], r)
			if err != nil {
				s.Fatal(err)
			}
			d.ch[file] = b
		}, []string{"14 ledger/2026-03/op-01.jsonl:2 is a record of op-01 that another commit than its own adds",
			"15 ledger/2026-03/R1.jsonl:7 op-01.4 after op-01.4: a record is missing, or there twice"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begin(t, lawWith(t, team), map[string]func(*story, *draft){"done t": c.do})
			s.pipes = withOp("", pipeline.Limits{})
			s.tellForge(s.mergeButton)
			if d := cmp.Diff(c.want, listFindings(s.check("", s.tip()))); d != "" {
				t.Error(d)
			}
		})
	}
}

package verify

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/event/eventtest"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/contract"
)

// Sessions without a task reserve money for each of them, and hand over only new files of their run.
func TestSessionsAloneAreProven(t *testing.T) {
	claims := func(change func(*event.Record)) func(*story, *draft) {
		return func(s *story, d *draft) {
			name := ledgerIn(d)
			all, err := event.Read(d.ch[name])
			if err != nil {
				s.Fatal(err)
			}
			change(&all[0])
			if d.ch[name], err = event.Append(nil, all[0]); err != nil {
				s.Fatal(err)
			}
		}
	}
	explore := func(s *story) repo.OID { s.runWithoutTask(contract.Explorer); return "" }
	// again puts records like that of the session before it.
	again := func(n int, change func(*event.Record)) func(*story, *draft) {
		return func(s *story, d *draft) {
			name := ledgerIn(d)
			all, err := event.Read(d.ch[name])
			if err != nil {
				s.Fatal(err)
			}
			r := all[1]
			change(&r)
			all = slices.Concat(all[:1], slices.Repeat([]event.Record{r}, n), all[1:])
			for i := range all {
				all[i].Seq = i + 1
			}
			if d.ch[name], err = event.Append(nil, all[0]); err != nil {
				s.Fatal(err)
			}
			for _, r := range all[1:] {
				if d.ch[name], err = event.Append(d.ch[name], r); err != nil {
					s.Fatal(err)
				}
			}
			changeOutcome(s, d, func(r *event.Record) {
				if r.Kind == event.Outcome {
					r.Cost = 100
				}
			})
		}
	}
	fell := func(r *event.Record) {
		r.Cost, r.Data = 0, event.SessionData{Substrate: "exec", Failure: "transport", Contract: r.Session().Contract}
	}
	other := func(s *story) repo.OID {
		s.ann("more", repo.Changes{"odd.toml": bytes.Replace(s.file("odd.toml"), []byte("[substrate.exec]"), []byte("fallback = [\"extract\"]\n[substrate.exec]"), 1)})
		return explore(s)
	}
	const tooMany = "5 ledger/2026-03/R1.jsonl:%d is session %d of a claim that reserved for 1"
	runTampers(t, []tamper{
		{name: "as it is", tell: explore, want: []string{}},
		{name: "less than one session costs", at: "begin invoke", tell: explore, do: claims(func(r *event.Record) { r.Reserved = 400_000 }),
			want: []string{"5 ledger/2026-03/R1.jsonl:1 reserves $0.40 for 1 sessions, each may cost $0.50"}},
		{name: "for one of two", at: "begin invoke", tell: explore, do: claims(func(r *event.Record) { eventtest.Set(r, "sessions", int64(2)) }),
			want: []string{"5 ledger/2026-03/R1.jsonl:1 reserves $0.50 for 2 sessions, each may cost $0.50"}},
		{name: "for none", at: "begin invoke", tell: explore, do: claims(func(r *event.Record) { eventtest.Set(r, "sessions", nil) }),
			want: []string{"5 ledger/2026-03/R1.jsonl:1 reserves $0.50 for 0 sessions, each may cost $0.50"}},
		{name: "three for one", at: "end invoke", tell: explore, do: again(2, func(*event.Record) {}),
			want: []string{fmt.Sprintf(tooMany, 3, 2), fmt.Sprintf(tooMany, 4, 3)}},
		{name: "another took over", at: "end invoke", tell: other, do: again(1, fell), want: []string{}},
		{name: "another that took over nothing", at: "end invoke", tell: other, do: again(1, func(*event.Record) {}), want: []string{fmt.Sprintf(tooMany, 3, 2)}},
		{name: "nobody could take over", at: "end invoke", tell: explore, do: again(1, fell), want: []string{fmt.Sprintf(tooMany, 3, 2)}},
		{name: "in another's name", at: "end invoke", tell: explore, do: func(s *story, d *draft) {
			d.ch["knowledge/handoffs/ann.md"] = []byte("---\ntype: handoff\nconfidence: inferred\n---\n")
		}, want: []string{
			"2 handoffs/ann.md:1 a run writes a handoff that does not bear its name",
			"11 handoffs/ann.md:1 a handoff that no session of the commit handed over",
		}},
	})
}

// A session that only reads and has no task engages, so drains run beside it. Older versions of odd claimed for it;
// such a run, and one that changes something, must run alone.
func TestReadersRunBesideDrains(t *testing.T) {
	rich := func(s *story) {
		s.ann("more money", repo.Changes{"odd.toml": regexp.MustCompile(`monthly_usd = .*`).ReplaceAll(s.file("odd.toml"), []byte("monthly_usd = 9"))})
	}
	beside := func(kind event.Kind, role contract.Role, drains int) func(*story) repo.OID {
		return func(s *story) repo.OID {
			rich(s)
			w := s.beginSession(kind, role)
			other := s.beginSession(event.Engage, contract.Observer)
			for range drains {
				s.result(s.claim("t"), 10, terms("keel"))
			}
			s.endSession(w, role)
			s.endSession(other, contract.Observer)
			return ""
		}
	}
	// forge makes the first record of a ledger one to engage.
	forge := func(s *story, d *draft) {
		name := ledgerIn(d)
		all, err := event.Read(d.ch[name])
		if err == nil {
			all[0].Kind = event.Engage
			d.ch[name], err = event.Append(nil, all[0])
		}
		if err != nil {
			s.Fatal(err)
		}
	}
	runTampers(t, []tamper{
		{name: "two beside a drain", tell: beside(event.Engage, contract.Explorer, 1), want: []string{}},
		{name: "two whose money is not there", tell: func(s *story) repo.OID {
			w := s.beginSession(event.Engage, contract.Explorer)
			s.runWithoutTask(contract.Explorer)
			s.endSession(w, contract.Explorer)
			return ""
		}, want: []string{"5 ledger/2026-03/R2.jsonl:1 reserves $0.50 on top of $0.50, past what no team has, $0.60"}},
		{name: "a drain between its own", tell: func(s *story) repo.OID {
			a := s.claim("t")
			s.endSession(s.beginSession(event.Engage, contract.Explorer), contract.Explorer)
			s.result(a, 10, terms("keel"))
			return ""
		}, want: []string{}},
		{name: "as an older odd claimed it", tell: beside(event.Claim, contract.Explorer, 0), want: []string{}},
		{name: "as an older odd claimed it, beside a drain", tell: beside(event.Claim, contract.Explorer, 1),
			want: []string{"4 ledger/2026-03/R1.jsonl:2 R1 goes on after R3 claimed in #; two drains ran at once"}},
		{name: "who builds", at: "begin invoke", tell: beside(event.Engage, contract.General, 0),
			want: []string{"4 ledger/2026-03/R1.jsonl:1 R1 engages a session of the general, which may change files; it claims"}},
		{name: "a task", at: "claim t", tell: func(s *story) repo.OID { s.result(s.claim("t"), 0, nil); return "" }, do: forge, want: []string{
			"4 ledger/2026-03/R1.jsonl:1 R1 engages t; a task is claimed",
			"5 tasks/t.md:5 the task was claimed, but the ledger reserves no money for it"}},
		{name: "a drain that engages as well", tell: func(s *story) repo.OID {
			rich(s)
			w := s.beginSession(event.Engage, contract.Explorer)
			s.add("u", "")
			task := w.task
			w.task = "t"
			b, err := board.Claim(s.task("t"), w.id, s.now.Add(30*time.Minute))
			if err != nil {
				s.Fatal(err)
			}
			ch := repo.Changes{taskFile("t"): b}
			s.record(w, ch, event.Record{Kind: event.Claim, Role: "editor", Team: "docs", Reserved: 500_000, Data: eventtest.Data(event.Claim, map[string]any{"attempt": 1})})
			s.land(s.make("claim", "t", draft{who: agentMail, parents: []repo.OID{s.tip()}, ch: ch, trailers: [][2]string{{"Odd-Run", w.id}, {"Odd-Task", "t"}}}))
			s.claim("u")
			w.task = task
			s.endSession(w, contract.Explorer)
			return ""
		}, want: []string{
			"4 ledger/2026-03/R1.jsonl:2 R1 claims t while it holds R1",
			"4 ledger/2026-03/R1.jsonl:3 R1 goes on after R2 claimed in #; two drains ran at once"}},
		{name: "for less than it may cost", at: "begin invoke", tell: beside(event.Engage, contract.Explorer, 1), do: func(s *story, d *draft) {
			name := ledgerIn(d)
			all, err := event.Read(d.ch[name])
			if err == nil && all[0].Run == "run-01KJ0000000000000000000001" {
				all[0].Reserved = 400_000
				d.ch[name], err = event.Append(nil, all[0])
			}
			if err != nil {
				s.Fatal(err)
			}
		}, want: []string{"5 ledger/2026-03/R1.jsonl:1 reserves $0.40 for 1 sessions, each may cost $0.50"}},
	})
}

// A watch that hands nothing over may last longer than its permit. What is handed over was read under a permit.
func TestAWatchMayOutliveItsPermit(t *testing.T) {
	t.Parallel()
	const late = "a session that was read after its permit had ended"
	for role, want := range map[contract.Role]bool{contract.Observer: false, contract.Explorer: true} {
		t.Run(string(role), func(t *testing.T) {
			t.Parallel()
			s := begin(t, lawWith(t, ""), map[string]func(*story, *draft){"end invoke": func(s *story, d *draft) {
				w := &run{task: "run-01KJ0000000000000000000001", base: s.tip()}
				s.bindAnchor(w)
				w.permit["expires_at"] = s.now.Add(-5 * time.Minute).Format(time.RFC3339)
				name := ledgerIn(d)
				all, err := event.Read(d.ch[name])
				if err != nil {
					s.Fatal(err)
				}
				eventtest.Set(&all[1], "anchor", w.session["anchor"])
				permit := all[1]
				permit.Kind, permit.Cost, permit.Role, permit.Data = event.Anchor, 0, "editor", eventtest.Data(event.Anchor, w.permit)
				all = slices.Insert(all, 2, permit)
				d.ch[name] = nil
				for i, r := range all {
					r.Seq = i + 1
					if d.ch[name], err = event.Append(d.ch[name], r); err != nil {
						s.Fatal(err)
					}
				}
			}})
			s.runWithoutTask(role)
			if got := strings.Join(listFindings(s.check("", s.tip())), "\n"); strings.Contains(got, late) != want {
				t.Errorf("found\n%s", got)
			}
		})
	}
}

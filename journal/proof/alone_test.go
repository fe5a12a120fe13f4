package proof

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/event/eventtest"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/contract"
)

// Sessions that no task asks for reserve for each of them, and hand over what is
// their run's and new.
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
	explore := func(s *story) repo.OID { s.invoke(contract.Explorer); return "" }
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
			relay(s, d, func(r *event.Record) {
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

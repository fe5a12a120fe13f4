package verify

import (
	"testing"
	"time"

	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/event/eventtest"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/handoff"
)

// tellAudit tells a validator without a task, whose claim brings the claims that it judges.
func (s *story) tellAudit() {
	s.Helper()
	w := s.newRun("")
	w.task = w.id
	name, b, err := handoff.Make(handoff.Meta{Slug: "claims", From: contract.Execution, To: contract.Validation, Artifact: keelFile, Run: w.id, By: "odd/1",
		At: s.now.Format(time.RFC3339), Journal: w.journal()}, newDeliverable(contract.Builder))
	if err != nil {
		s.Fatal(err)
	}
	name = "knowledge/" + name
	ch := repo.Changes{name: b}
	s.journal(w, ch, journal.Entry{Type: "H", Title: "claims", Content: "execution → validation: " + name})
	data := map[string]any{"sessions": 1, "contract_role": "validator", "mode": "validation", "handoff": name}
	if w.lease = s.currentLease(); w.lease != "" {
		data["lease"] = w.lease
	}
	s.record(w, ch, event.Record{Kind: event.Claim, Reserved: 500_000, Data: eventtest.Data(event.Claim, data)})
	w.base = s.land(s.make("begin", "audit", draft{who: agentMail, parents: []repo.OID{s.tip()}, ch: ch, trailers: [][2]string{{"Odd-Run", w.id}, {"Odd-Lease", w.lease}}}))
	s.bindSession(w, contract.Validator, name)
	s.handOver(w, contract.Validator, "", name)
	ch = repo.Changes{}
	w.trace = event.Trace(s.record(w, ch, event.Record{Kind: event.Session, Cost: 7, Data: eventtest.Data(event.Session, w.sessionData())}))
	s.record(w, ch, event.Record{Kind: event.Outcome, Cost: 7, Trace: w.trace, Data: eventtest.Data(event.Outcome, map[string]any{"verdict": "completed"})})
	s.journal(w, ch, w.tells...)
	for name, b := range w.also {
		ch[name] = b
	}
	s.land(s.make("end", "audit", draft{who: agentMail, parents: []repo.OID{s.tip()}, ch: ch, trailers: [][2]string{{"Odd-Run", w.id}, {"Odd-Trace", w.trace}}}))
}

func TestAClaimBringsOnlyItsValidatorsClaims(t *testing.T) {
	const file = "11 handoffs/R1-claims.md:1 "
	const began = "11 ledger/2026-03/R1.jsonl:2 a session of the validator began from handoffs/R1-claims.md"
	const wrong = "handoffs/R1-claims.md:7: execution → planning is no transition; a handoff is one of exploration → planning, planning → execution, execution → validation, validation → resolution, resolution → validation; going back and leaving out are odd agent handoff revert and odd agent handoff skip"
	tell := func(s *story) repo.OID { s.tellAudit(); return "" }
	claim := func(key, value string) func(*story, *draft) {
		return func(s *story, d *draft) {
			changeOutcome(s, d, func(r *event.Record) { eventtest.Set(r, key, value) })
		}
	}
	runTampers(t, []tamper{
		{name: "as it should be", tell: tell, want: []string{}},
		{name: "that it does not name", at: "begin audit", tell: tell, do: claim("handoff", ""),
			want: []string{file + "a handoff that no session of the commit handed over"}},
		{name: "for another role", at: "begin audit", tell: tell, do: claim("contract_role", "resolver"),
			want: []string{file + "a claim of a session as resolver that brings a handoff execution → validation",
				"10 ledger/2026-03/R1.jsonl:2 a session of the validator; its claim asks for the role resolver"}},
		{name: "of another transition", at: "begin audit", tell: tell, do: func(s *story, d *draft) {
			replaceIn(s, d, handoffIn(d), "to: validation", "to: planning")
		}, want: []string{file + "a claim brings what is no handoff: " + wrong, began + ", which is no handoff: " + wrong}},
		{name: "incomplete", at: "begin audit", tell: tell, do: func(s *story, d *draft) { replaceIn(s, d, handoffIn(d), "scope: the plan\n", "") },
			want: []string{file + "a handoff that lacks scope", began + ", which lacks scope"}},
		{name: "untold", at: "begin audit", tell: tell, do: func(s *story, d *draft) {
			replaceIn(s, d, "knowledge/journal/2026-03-02-run-01kj0000000000000000000001.tsv", "execution → validation", "execution, validation")
		}, want: []string{file + "a handoff execution → validation, of which no journal entry of its commit tells", began + ", of which no journal entry tells"}},
	})
}

// A detecting session without a task needs no stance and no scope, but a valid lease.
func TestAnAuditIsUnderALease(t *testing.T) {
	const claim = "8 ledger/2026-03/R1.jsonl:1 a claim "
	under := func(change func(*gate.Lease), after time.Duration) func(*story) repo.OID {
		return func(s *story) repo.OID {
			s.activateLease(change, nil)
			s.now = s.now.Add(after)
			s.tellAudit()
			return ""
		}
	}
	as := func(role string) func(*story, *draft) {
		return func(s *story, d *draft) {
			changeOutcome(s, d, func(r *event.Record) { eventtest.Set(r, "contract_role", role) })
		}
	}
	of := func(kind string) string {
		return claim + "of kind " + kind + " in execution, where only implement, produce, extract, document, fix, change are drained"
	}
	runTampers(t, []tamper{
		{name: "in execution", tell: under(nil, 0), want: []string{}},
		{name: "in evaluation", tell: func(s *story) repo.OID {
			s.activateLease(nil, nil)
			s.passGate("evaluation", gate.Act{Gate: gate.EvaluationGate, Kind: "enter", Reason: "look"})
			s.tellAudit()
			return ""
		}, want: []string{}},
		{name: "of a narrow scope", tell: under(func(l *gate.Lease) { l.Scope.Kinds, l.Scope.Tasks = []string{"extract"}, []string{"t"} }, 0), want: []string{}},
		{name: "past its end", tell: under(nil, 80*time.Hour),
			want: []string{claim + "under L-0001, which was not valid: L-0001 ended at 2026-03-05T09:02:00Z"}},
		{name: "by who explores", at: "begin audit", tell: under(nil, 0), do: as("explorer"), want: []string{
			"11 handoffs/R1-claims.md:1 a claim of a session as explorer that brings a handoff execution → validation", of("research"),
			"10 ledger/2026-03/R1.jsonl:2 a session of the validator; its claim asks for the role explorer"}},
		{name: "a task's", tell: func(s *story) repo.OID {
			s.add("judge", "kind: review\ncontract_role: validator\n")
			s.activateLease(nil, nil)
			return s.claim("judge").base
		}, want: []string{of("review")}},
		{name: "as if of a task", at: "begin audit", tell: under(nil, 0), do: func(s *story, d *draft) {
			changeOutcome(s, d, func(r *event.Record) { r.Task = "t" })
		}, want: []string{"5 ledger/2026-03/R1.jsonl:1 claims t, which its commit does not put in progress", of("review"), "5 ledger/2026-03/R1.jsonl:2 a session ran before money was reserved for it in an earlier commit",
			"11 ledger/2026-03/R1.jsonl:2 a session of the validator names handoff knowledge/handoffs/R1-claims.md as blob #, which the commit of its claim does not hold",
			"5 ledger/2026-03/R1.jsonl:3 an outcome without an open claim of R1"}},
	})
}

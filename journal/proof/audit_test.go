package proof

import (
	"testing"
	"time"

	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/journal/ledger"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/handoff"
)

// audit tells a validator without a task, whose claim brings the claims that it
// judges.
func (s *story) audit() {
	s.Helper()
	w := s.newRun("")
	w.task = w.id
	name, b, err := handoff.Make(handoff.Meta{Slug: "claims", From: contract.Execution, To: contract.Validation, Artifact: keelFile, Run: w.id, By: "odd/1",
		At: s.now.Format(time.RFC3339), Journal: w.journal()}, delivered(contract.Builder))
	if err != nil {
		s.Fatal(err)
	}
	name = "knowledge/" + name
	ch := repo.Changes{name: b}
	s.journal(w, ch, journal.Entry{Type: "H", Title: "claims", Content: "execution → validation: " + name})
	s.record(w, ch, ledger.Record{Kind: ledger.Claim, Reserved: 500_000, Data: map[string]any{"sessions": 1, "contract_role": "validator", "mode": "validation", "handoff": name}})
	w.base = s.land(s.make("begin", "audit", draft{who: agentMail, parents: []repo.OID{s.tip()}, ch: ch, trailers: [][2]string{{"Odd-Run", w.id}}}))
	s.bind(w, contract.Validator, name)
	s.hand(w, contract.Validator, "", name)
	ch = repo.Changes{}
	w.trace = ledger.Trace(s.record(w, ch, ledger.Record{Kind: ledger.Session, Cost: 7, Data: w.said()}))
	s.record(w, ch, ledger.Record{Kind: ledger.Outcome, Cost: 7, Trace: w.trace, Data: map[string]any{"verdict": "completed"}})
	s.journal(w, ch, w.tells...)
	for name, b := range w.also {
		ch[name] = b
	}
	s.land(s.make("end", "audit", draft{who: agentMail, parents: []repo.OID{s.tip()}, ch: ch, trailers: [][2]string{{"Odd-Run", w.id}, {"Odd-Trace", w.trace}}}))
}

func TestAClaimBringsOnlyItsValidatorsClaims(t *testing.T) {
	const file = "11 handoffs/R1-claims.md:1 "
	const began = "11 ledger/2026-03/R1.jsonl:2 a session of the validator began from handoffs/R1-claims.md"
	const wrong = "handoffs/R1-claims.md:7: execution → planning is no transition; a handoff is one of exploration → planning, planning → execution, execution → validation, validation → resolution, resolution → validation; going back and leaving out are odd handoff revert and odd handoff skip"
	tell := func(s *story) repo.OID { s.audit(); return "" }
	claim := func(key, value string) func(*story, *draft) {
		return func(s *story, d *draft) {
			relay(s, d, func(r *ledger.Record) { r.Data[key] = value })
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
			swap(s, d, handoffIn(d), "to: validation", "to: planning")
		}, want: []string{file + "a claim brings what is no handoff: " + wrong, began + ", which is no handoff: " + wrong}},
		{name: "incomplete", at: "begin audit", tell: tell, do: func(s *story, d *draft) { swap(s, d, handoffIn(d), "scope: the plan\n", "") },
			want: []string{file + "a handoff that lacks scope", began + ", which lacks scope"}},
		{name: "untold", at: "begin audit", tell: tell, do: func(s *story, d *draft) {
			swap(s, d, "knowledge/journal/2026-03-02-run-01kj0000000000000000000001.tsv", "execution → validation", "execution, validation")
		}, want: []string{file + "a handoff execution → validation, of which no journal entry of its commit tells", began + ", of which no journal entry tells"}},
	})
}

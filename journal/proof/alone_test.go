package proof

import (
	"testing"

	"github.com/odd-cli/odd/journal/ledger"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/contract"
)

// Sessions that no task asks for reserve for each of them, and hand over what is
// their run's and new.
func TestSessionsAloneAreProven(t *testing.T) {
	claims := func(change func(*ledger.Record)) func(*story, *draft) {
		return func(s *story, d *draft) {
			name := ledgerIn(d)
			all, err := ledger.Read(d.ch[name])
			if err != nil {
				s.Fatal(err)
			}
			change(&all[0])
			if d.ch[name], err = ledger.Append(nil, all[0]); err != nil {
				s.Fatal(err)
			}
		}
	}
	explore := func(s *story) repo.OID { s.invoke(contract.Explorer); return "" }
	runTampers(t, []tamper{
		{name: "as it is", tell: explore, want: []string{}},
		{name: "less than one session costs", at: "begin invoke", tell: explore, do: claims(func(r *ledger.Record) { r.Reserved = 400_000 }),
			want: []string{"5 ledger/2026-03/R1.jsonl:1 reserves $0.40 for 1 sessions, each may cost $0.50"}},
		{name: "for one of two", at: "begin invoke", tell: explore, do: claims(func(r *ledger.Record) { r.Data["sessions"] = int64(2) }),
			want: []string{"5 ledger/2026-03/R1.jsonl:1 reserves $0.50 for 2 sessions, each may cost $0.50"}},
		{name: "for none", at: "begin invoke", tell: explore, do: claims(func(r *ledger.Record) { delete(r.Data, "sessions") }),
			want: []string{"5 ledger/2026-03/R1.jsonl:1 reserves $0.50 for 0 sessions, each may cost $0.50"}},
		{name: "in another's name", at: "end invoke", tell: explore, do: func(s *story, d *draft) {
			d.ch["knowledge/handoffs/ann.md"] = []byte("---\ntype: handoff\nconfidence: inferred\n---\n")
		}, want: []string{
			"2 handoffs/ann.md:1 a run writes a handoff that does not bear its name",
			"11 handoffs/ann.md:1 a handoff that no session of the commit handed over",
		}},
	})
}

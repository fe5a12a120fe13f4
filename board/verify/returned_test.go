package verify

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/event/eventtest"
	"github.com/odd-cli/odd/journal/repo"
)

// revertClaim tells a claim that Ann reverts while its session runs, what she and others do then, and what the run has
// to tell: it comes with its whole ledger, as the drain has it.
func revertClaim(s *story, then func(w *run), change func([]byte) []byte) *run {
	s.Helper()
	s.anchored = true
	was := s.file(taskFile("t"))
	w := s.claim("t")
	told := s.file(w.file)
	s.ann("revert", repo.Changes{taskFile("t"): was, w.file: nil})
	then(w)
	ch := repo.Changes{w.file: change(told)}
	s.bindAnchor(w)
	s.record(w, ch, event.Record{Kind: event.Session, Cost: 5, Data: eventtest.Data(event.Session, w.sessionData())})
	w.trace = event.Trace(s.record(w, ch, event.Record{Kind: event.Anchor, Role: "editor", Data: eventtest.Data(event.Anchor, w.permit)}))
	s.record(w, ch, event.Record{Kind: event.Outcome, Team: "docs", Cost: 5, Trace: w.trace, Data: eventtest.Data(event.Outcome, map[string]any{"verdict": "lost"})})
	s.land(s.make("lost", "t", draft{who: agentMail, parents: []repo.OID{s.tip()}, ch: ch, trailers: [][2]string{{"Odd-Run", w.id}, {"Odd-Task", "t"}, {"Odd-Trace", w.trace}}}))
	return w
}

// A ledger that comes back is judged by what it says anew, and by the claim that it held.
func TestALedgerThatComesBack(t *testing.T) {
	same := func(b []byte) []byte { return b }
	const gone = "14 ledger/2026-03/R1.jsonl:1 is append-only and was deleted"
	runTampers(t, []tamper{
		{name: "from a revert of its claim", tell: func(s *story) repo.OID { revertClaim(s, func(*run) {}, same); return "" }, want: []string{gone}},
		{name: "with another claim", tell: func(s *story) repo.OID {
			revertClaim(s, func(*run) {}, func(b []byte) []byte { return bytes.Replace(b, []byte("500000"), []byte("600000"), 1) })
			return ""
		}, want: []string{gone,
			"5 ledger/2026-03/R1.jsonl:1 claims t, which its commit does not put in progress",
			"5 ledger/2026-03/R1.jsonl:2 a session ran before money was reserved for it in an earlier commit",
			"12 ledger/2026-03/R1.jsonl:3 an anchor at #; its claim is #"}},
		{name: "after another run claimed", tell: func(s *story) repo.OID {
			revertClaim(s, func(*run) { s.add("u", ""); s.n++; s.result(s.claim("u"), 0, nil); s.n = 1 }, same)
			return ""
		}, want: []string{gone, "4 ledger/2026-03/R1.jsonl:2 R1 goes on after R3 claimed in #; two drains ran at once"}},
		{name: "in another month", tell: func(s *story) repo.OID {
			revertClaim(s, func(w *run) { w.file = strings.Replace(w.file, "2026-03", "2026-02", 1) }, same)
			return ""
		}, want: []string{gone,
			"5 ledger/2026-02/R1.jsonl:1 claims t, which its commit does not put in progress",
			"5 ledger/2026-02/R1.jsonl:2 a session ran before money was reserved for it in an earlier commit"}},
		{name: "by a person's hand", tell: func(s *story) repo.OID {
			w := work(s, "t")
			b := s.file(w.file)
			s.ann("take away", repo.Changes{w.file: nil})
			return s.ann("put back", repo.Changes{w.file: b})
		}, want: []string{gone}},
		{name: "by a person's hand, with more", tell: func(s *story) repo.OID {
			w := work(s, "t")
			b := s.file(w.file)
			s.ann("take away", repo.Changes{w.file: nil})
			ch := repo.Changes{w.file: b}
			s.record(w, ch, event.Record{Kind: event.Refused})
			return s.ann("put back", ch)
		}, want: []string{gone, "14 ledger/2026-03/R1.jsonl:4 is a record of R1 that another commit than its own adds"}},
	})
}

// The start of the range makes no difference to a ledger that comes back.
func TestALedgerThatComesBackIntoARange(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	s.add("t", "team: docs\n")
	base := s.tip()
	revertClaim(s, func(*run) { s.ann("note", repo.Changes{"docs/a.md": []byte("# A\n")}) }, func(b []byte) []byte { return b })
	at := s.tip()
	for at != base {
		c, err := s.r.Commit(at)
		if err != nil {
			t.Fatal(err)
		}
		at = c.Parents[0]
		want := []string{}
		if string(s.at(at, s.listFiles("knowledge/ledger")[0])) != "" || at == base {
			want = []string{"14 ledger/2026-03/R1.jsonl:1 is append-only and was deleted"}
		}
		if d := cmp.Diff(want, listFindings(s.check(at, s.tip()))); d != "" {
			t.Errorf("from %s: %s", at, d)
		}
	}
}

package verify

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// putBack is all that makes the branch what it was at a commit, as a revert does.
func (s *story) putBack(to repo.OID) repo.Changes {
	s.Helper()
	all, err := s.r.Diff(s.Context(), to, s.tip())
	if err != nil {
		s.Fatal(err)
	}
	ch := repo.Changes{}
	for _, f := range all {
		ch[f.Path] = s.at(to, f.Path)
	}
	return ch
}

// Who puts a file back as it was, which odd asks for, is told of nothing more; and of whatever is lost by it, or comes
// with it.
func TestWhatIsPutBack(t *testing.T) {
	const (
		journal   = "knowledge/journal/2026-03-02-ann.tsv"
		rewritten = "14 ledger/2026-03/R1.jsonl:2 is append-only, and old lines of it were changed"
		hers      = "14 journal/2026-03-02-ann.tsv:1 is append-only, and old lines of it were changed"
	)
	row := func(title string) []byte { return []byte("O\tObservation\t\t\t\t\t" + title + "\tb\n") }
	write := func(s *story, b ...[]byte) repo.OID {
		return s.ann("write", repo.Changes{journal: bytes.Join(b, nil)})
	}
	edited := func(s *story) (was repo.OID) {
		w := work(s, "t")
		was = s.tip()
		d := draft{who: annMail, parents: []repo.OID{was}, ch: repo.Changes{}}
		replaceIn(s, &d, w.file, `"cost_micro_usd":100000`, `"cost_micro_usd":100`)
		s.land(s.make("edit", "", d))
		return was
	}
	runTampers(t, []tamper{
		{name: "a line", tell: func(s *story) repo.OID { return s.ann("back", s.putBack(edited(s))) }, want: []string{rewritten}},
		{name: "a line, and edited again", tell: func(s *story) repo.OID {
			was := edited(s)
			sly := s.tip()
			s.ann("back", s.putBack(was))
			return s.ann("again", s.putBack(sly))
		}, want: []string{rewritten, rewritten}},
		{name: "a line, with a line of one's own", tell: func(s *story) repo.OID {
			ch := s.putBack(edited(s))
			for name := range ch {
				s.record(&run{id: "run-01KJ0000000000000000000001", file: name}, ch, event.Record{Kind: event.Refused})
			}
			return s.ann("back", ch)
		}, want: []string{rewritten, "14 ledger/2026-03/R1.jsonl:4 is a record of R1 that another commit than its own adds"}},
		{name: "a line, by a machine", tell: func(s *story) repo.OID {
			ch := s.putBack(edited(s))
			return s.land(s.make("back", "", draft{who: agentMail, parents: []repo.OID{s.tip()}, ch: ch}))
		}, want: []string{rewritten, "2 ledger/2026-03/R1.jsonl:1 the agent's commit belongs to no run: it has no trailer Odd-Run", rewritten}},
		{name: "a revert of a result", tell: func(s *story) repo.OID {
			w := work(s, "t")
			was := s.tip()
			s.ann("revert", s.putBack(w.base))
			s.ann("revert the revert", s.putBack(was))
			return s.approve(w, false)
		}, want: []string{"14 journal/2026-03-02-R1.tsv:1 is append-only and was deleted", rewritten}},
		{name: "reverts of a result and its claim", tell: func(s *story) repo.OID {
			before := s.tip()
			w := work(s, "t")
			was := s.tip()
			s.ann("revert", s.putBack(w.base))
			s.ann("revert", s.putBack(before))
			s.ann("back", s.putBack(was))
			return s.approve(w, false)
		}, want: []string{"14 journal/2026-03-02-R1.tsv:1 is append-only and was deleted", rewritten, "14 ledger/2026-03/R1.jsonl:1 is append-only and was deleted"}},
		{name: "proposals of a run", tell: func(s *story) repo.OID {
			const name = "knowledge/proposals/run-01KJ0000000000000000000001.jsonl"
			b := s.encodeProposal("P-1", gate.TaskAgent)
			w := s.claim("t")
			w.also = repo.Changes{name: b}
			s.result(w, 1, terms("keel"))
			s.ann("take away", repo.Changes{name: nil})
			return s.ann("back", repo.Changes{name: b})
		}, want: []string{"14 proposals/R1.jsonl:1 is append-only and was deleted"}},
		{name: "a journal", tell: func(s *story) repo.OID {
			write(s, row("a"))
			write(s, row("b"))
			return write(s, row("a"), row("c"))
		}, want: []string{hers}},
		{name: "a journal that had grown meanwhile", tell: func(s *story) repo.OID {
			write(s, row("a"))
			write(s, row("b"))
			write(s, row("b"), row("c"))
			return write(s, row("a"))
		}, want: []string{hers, hers}},
		{name: "less of a journal than there was", tell: func(s *story) repo.OID {
			write(s, row("a"))
			write(s, row("a"), row("c"))
			write(s, row("b"))
			return write(s, row("a"))
		}, want: []string{hers, hers}},
	})
}

// Rows of gates come back as the last gate left them, and with none behind them that no gate passed.
func TestGatesArePutBackAsTheyWere(t *testing.T) {
	const rewritten = "14 governance/gates.jsonl:2 is append-only, and old lines of it were changed"
	runTampers(t, []tamper{{name: "with a row more", tell: func(s *story) repo.OID {
		all := func() repo.Changes {
			return repo.Changes{gatesFile: s.file(gatesFile), leaseFile: s.file(leaseFile), "odd.toml": s.file("odd.toml")}
		}
		l := gate.DraftOf(s.now, gate.Plan{}).Lease
		framed := s.passGate("framing", gate.Act{Gate: gate.Framing, Kind: "draft", Lease: &l})
		s.passGate("commitment", gate.Act{Gate: gate.Commitment, Kind: "activate"})
		other := all()
		s.land(framed)
		s.now = s.now.Add(time.Hour)
		good := s.passGate("commitment", gate.Act{Gate: gate.Commitment, Kind: "activate"})
		s.passGate("assess", gate.Act{Gate: gate.EvaluationGate, Kind: "enter"})
		more := all()
		s.land(good)
		s.ann("rewrite", other)
		return s.land(s.make("back", "", draft{who: bobMail, parents: []repo.OID{s.tip()}, ch: more, trailers: [][2]string{{"Odd-Gate", "evaluation"}}}))
	}, want: []string{"8 governance/gates.jsonl:1 governance/ was changed without a gate: the commit has no trailer Odd-Gate", rewritten,
		"8 governance/lease.toml:1 governance/ was changed without a gate: the commit has no trailer Odd-Gate", rewritten}}})
}

// It is the same from any range.
func TestWhatIsPutBackIntoARange(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	s.add("t", "team: docs\n")
	w := work(s, "t")
	was := s.tip()
	from := s.ann("revert", s.putBack(w.base))
	s.ann("revert the revert", s.putBack(was))
	for _, at := range []repo.OID{from, s.tip()} {
		if d := cmp.Diff([]string{}, listFindings(s.check(at, s.tip()))); d != "" {
			t.Error(d)
		}
	}
}

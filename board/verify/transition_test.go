package verify

import (
	"strings"
	"testing"

	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/contract"
)

const (
	annTSV = "knowledge/journal/2026-03-02-ann.tsv"
)

// tellBuilder tells a builder that begins from Ann's plan; change may lie in it.
func tellBuilder(change func(string) string) func(*story) repo.OID {
	return func(s *story) repo.OID {
		s.workTask("work", contract.Builder, s.byHand(contract.Planner, change))
		return ""
	}
}

func replace(old, now string) func(string) string {
	return func(s string) string { return strings.Replace(s, old, now, 1) }
}

func TestHandoffsStandBeforeTheirSession(t *testing.T) {
	const at = "11 ledger/2026-03/R1.jsonl:2 a session of the builder "
	named := func(change func(from map[string]any)) func(*story, *draft) {
		return func(s *story, d *draft) {
			changeSession(s, d, func(_, of map[string]any) {
				change(of["handoffs"].([]any)[0].(map[string]any))
			})
		}
	}
	runTampers(t, []tamper{
		{name: "none", at: "result work", tell: tellBuilder(nil),
			do:   func(s *story, d *draft) { changeSession(s, d, func(_, of map[string]any) { delete(of, "handoffs") }) },
			want: []string{at + "without a handoff"}},
		{name: "none to validate", at: "result judge", tell: tellJudged,
			do:   func(s *story, d *draft) { changeSession(s, d, func(_, of map[string]any) { delete(of, "handoffs") }) },
			want: []string{"11 ledger/2026-03/R2.jsonl:2 a session of the validator without a handoff"}},
		{name: "other bytes", at: "result work", tell: tellBuilder(nil),
			do:   named(func(from map[string]any) { from["blob"] = strings.Repeat("a", 40) }),
			want: []string{at + "names handoff knowledge/handoffs/2026-03-02-planner.md as blob #, which the commit of its claim does not hold"}},
		{name: "no bytes", at: "result work", tell: tellBuilder(nil), do: named(func(from map[string]any) { delete(from, "blob") }),
			want: []string{at + "names handoff knowledge/handoffs/2026-03-02-planner.md as blob none, which the commit of its claim does not hold"}},
		{name: "nowhere", at: "result work", tell: tellBuilder(nil), do: named(func(from map[string]any) { from["path"] = "knowledge/handoffs/none.md" }),
			want: []string{at + "names handoff knowledge/handoffs/none.md as blob #, which the commit of its claim does not hold"}},
		{name: "written after the claim", tell: func(s *story) repo.OID {
			s.add("work", "contract_role: builder\n")
			w := s.claim("work")
			name := s.byHand(contract.Planner, nil)
			claimed := w.base
			w.base = s.tip()
			s.bindSession(w, contract.Builder, name)
			w.base = claimed
			s.result(w, 10, nil)
			return ""
		}, want: []string{at + "names handoff knowledge/handoffs/2026-03-02-planner.md as blob #, which the commit of its claim does not hold"}},
		{name: "edited after the claim, which is the person's to do", tell: func(s *story) repo.OID {
			name := s.byHand(contract.Planner, nil)
			s.add("work", "contract_role: builder\n")
			w := s.claim("work")
			s.ann("edit", repo.Changes{name: append(s.file(name), "More.\n"...)})
			s.bindSession(w, contract.Builder, name)
			s.result(w, 10, nil)
			return ""
		}, want: []string{}},
		{name: "of another transition", tell: func(s *story) repo.OID {
			s.workTask("work", contract.Builder, s.byHand(contract.Explorer, nil))
			return ""
		}, want: []string{at + "began from handoffs/2026-03-02-explorer.md, which is exploration → planning"}},
		{name: "incomplete", tell: tellBuilder(replace("scope_out: [one]\n", "")),
			want: []string{at + "began from handoffs/2026-03-02-planner.md, which lacks scope_out"}},
		{name: "no handoff at all", tell: tellBuilder(replace("type: handoff", "type: term")),
			want: []string{at + `began from handoffs/2026-03-02-planner.md, which is no handoff: handoffs/2026-03-02-planner.md:2: type "term", not handoff; name a handoff`}},
		{name: "not told of", at: "hand", tell: tellBuilder(nil),
			do:   func(s *story, d *draft) { delete(d.ch, annTSV) },
			want: []string{at + "began from handoffs/2026-03-02-planner.md, of which no journal entry tells"}},
		{name: "told of by what is no handoff entry", at: "hand", tell: tellBuilder(nil),
			do:   func(s *story, d *draft) { replaceIn(s, d, annTSV, "H\tHandoff", "O\tObservation") },
			want: []string{at + "began from handoffs/2026-03-02-planner.md, of which no journal entry tells"}},
		{name: "another told of", at: "hand", tell: tellBuilder(nil),
			do:   func(s *story, d *draft) { replaceIn(s, d, annTSV, "handoffs/2026", "handoffs/2025") },
			want: []string{at + "began from handoffs/2026-03-02-planner.md, of which no journal entry tells"}},
		{name: "told of by another run's notes", tell: func(s *story) repo.OID {
			const notes = "journal/2026-03-02-run-01kj0000000000000000000009.tsv"
			name := s.byHand(contract.Planner, replace("journal/2026-03-02-ann.tsv", notes))
			s.ann("notes", repo.Changes{"knowledge/" + notes: s.file(annTSV)})
			s.workTask("work", contract.Builder, name)
			return ""
		}, want: []string{at + "began from handoffs/2026-03-02-planner.md, of which no journal entry tells"}},
		{name: "told of in a journal that it names the long way", tell: tellBuilder(replace("journal: journal/", "journal: journal/../journal/")), want: []string{}},
		{name: "told of in no journal it names", tell: tellBuilder(replace("journal: journal/2026-03-02-ann.tsv\n", "")),
			want: []string{at + "began from handoffs/2026-03-02-planner.md, of which no journal entry tells"}},
	})
}

func TestHandoffsComeWithTheirSession(t *testing.T) {
	const file = "11 handoffs/R1-planning-to-execution.md:1 "
	plans := func(s *story) repo.OID { return tellSession(contract.Planner)(s) }
	in := func(old, now string) func(*story, *draft) {
		return func(s *story, d *draft) { replaceIn(s, d, handoffIn(d), old, now) }
	}
	tsv := "knowledge/journal/2026-03-02-run-01kj0000000000000000000001.tsv"
	runTampers(t, []tamper{
		{name: "untold", at: "result work", tell: plans, do: func(s *story, d *draft) {
			d.ch[tsv], _ = journal.Append(nil, journal.Entry{Type: "O", Title: "work"})
		}, want: []string{file + "a handoff planning → execution, of which no journal entry of its commit tells"}},
		{name: "told of as another transition", at: "result work", tell: plans, do: func(s *story, d *draft) { replaceIn(s, d, tsv, "planning → execution", "planning → validation") },
			want: []string{file + "a handoff planning → execution, of which no journal entry of its commit tells"}},
		{name: "told of before it was there", tell: func(s *story) repo.OID {
			from := handoffsFor(s, contract.Planner)
			s.add("work", "contract_role: planner\n")
			w := s.claim("work")
			s.bindSession(w, contract.Planner, from...)
			s.handOver(w, contract.Planner, "", from...)
			ch := repo.Changes{}
			s.journal(w, ch, w.tells...)
			s.record(w, ch, event.Record{Kind: event.Reconcile})
			s.land(s.make("early", "work", draft{who: agentMail, parents: []repo.OID{s.tip()}, ch: ch, trailers: [][2]string{{"Odd-Run", w.id}, {"Odd-Task", "work"}}}))
			w.tells = nil
			s.result(w, 10, repo.Changes{})
			return ""
		}, want: []string{file + "a handoff planning → execution, of which no journal entry of its commit tells"}},
		{name: "told of in another's journal", at: "result work", tell: plans, do: in("journal: journal/2026-03-02-run-01kj0000000000000000000001.tsv", "journal: journal/2026-03-02-ann.tsv"),
			want: []string{file + "a handoff told of in journal/2026-03-02-ann.tsv, which is not its run's journal"}},
		{name: "in another mode than its session's", at: "result work", tell: plans, do: func(s *story, d *draft) {
			in("from: planning", "from: execution")(s, d)
			in("to: execution", "to: validation")(s, d)
		}, want: []string{file + "a handoff from execution by a session of the planner in planning"}},
		{name: "of modes that nothing joins", at: "result work", tell: plans, do: in("to: execution", "to: resolution"),
			want: []string{file + "a run hands over what is no handoff: handoffs/R1-planning-to-execution.md:7: planning → resolution is no transition; a handoff is one of exploration → planning, planning → execution, execution → validation, validation → resolution, resolution → validation; going back and leaving out are odd agent handoff revert and odd agent handoff skip"}},
		{name: "incomplete", at: "result work", tell: plans, do: in("deferred: []\n", ""),
			want: []string{file + "a handoff that lacks deferred"}},
		{name: "that no session wrote", at: "result work", tell: plans, do: func(s *story, d *draft) {
			changeSession(s, d, func(data, _ map[string]any) { delete(data, "handoff") })
		}, want: []string{file + "a handoff that no session of the commit handed over"}},
		{name: "that is not there", at: "result work", tell: plans, do: func(s *story, d *draft) { delete(d.ch, handoffIn(d)) },
			want: []string{"11 ledger/2026-03/R1.jsonl:2 a session that handed over knowledge/handoffs/R1-planning-to-execution.md, which its commit does not add"}},
		{name: "by a role without a mode", at: "end invoke", tell: func(s *story) repo.OID { s.runWithoutTask(contract.Explorer); return "" }, do: func(s *story, d *draft) {
			changeSession(s, d, func(_, of map[string]any) { delete(of, "mode") })
		}, want: []string{"11 handoffs/R1-exploration-to-planning.md:1 a handoff from exploration by a session of the explorer in no mode",
			"10 ledger/2026-03/R1.jsonl:2 a session of the explorer in no mode; its mode is exploration"}},
	})
}

// Invariant 2 checks what a run may do to a handoff file.
func TestHandoffsAreTheirRuns(t *testing.T) {
	built := "knowledge/handoffs/run-01kj0000000000000000000001-execution-to-validation.md"
	edit := func(s *story, d *draft) { replaceIn(s, d, built, "title:", "title: Sly") }
	runTampers(t, []tamper{
		{name: "a run edits one", at: "result judge", tell: tellJudged, do: edit,
			want: []string{"2 handoffs/R1-execution-to-validation.md:1 a run changes a handoff that is there; it writes only its own, once"}},
		{name: "a run removes one", at: "result judge", tell: tellJudged, do: func(s *story, d *draft) { d.ch[built] = nil },
			want: []string{"2 handoffs/R1-execution-to-validation.md:1 a run changes a handoff that is there; it writes only its own, once"}},
		{name: "a proposal holds one", at: "proposal judge", tell: func(s *story) repo.OID { tellJudged(s); return s.proposals["judge"] }, do: edit,
			want: []string{"2 handoffs/R1-execution-to-validation.md:1 a proposal writes where only a person does", "2 handoffs/R1-execution-to-validation.md:1 is in the proposal and not in the record of R2"}},
		{name: "the agent edits one", at: "agent", tell: func(s *story) repo.OID { tellJudged(s); return byAgent(repo.Changes{})(s) }, do: edit,
			want: []string{"2 handoffs/R1-execution-to-validation.md:1 the agent's commit belongs to no run: it has no trailer Odd-Run"}},
		{name: "a person may", tell: func(s *story) repo.OID {
			tellJudged(s)
			d := draft{ch: repo.Changes{}}
			edit(s, &d)
			return s.ann("edit", d.ch)
		}, want: []string{}},
	})
}

func TestOverridesAreToldAndTagged(t *testing.T) {
	one := "knowledge/journal/2026-03-02-run-01kj0000000000000000000001.tsv"
	tell := func(s *story) repo.OID { s.tellOverride(nil); return "" }
	proposalOf := func(task string) func(*story) repo.OID {
		return func(s *story) repo.OID { s.tellOverride(nil); return s.proposals[task] }
	}
	untag := func(s *story, d *draft) {
		name := handoffIn(d)
		replaceIn(s, d, name, "tags: [override-produced]\n", "")
		replaceIn(s, d, name, "override: override of execution, validation\n", "")
	}
	runTampers(t, []tamper{
		{name: "the start untold", at: "claim patch", tell: tell, do: func(s *story, d *draft) { delete(d.ch, one) },
			want: []string{"11 ledger/2026-03/R1.jsonl:1 an override of execution, validation, whose start no journal entry of the claim tells"}},
		{name: "the start of another", at: "claim patch", tell: tell, do: func(s *story, d *draft) { replaceIn(s, d, one, "override: execution, ", "override: planning, ") },
			want: []string{"11 ledger/2026-03/R1.jsonl:1 an override of execution, validation, whose start no journal entry of the claim tells"}},
		{name: "the end untold", at: "result patch", tell: tell, do: func(s *story, d *draft) { replaceIn(s, d, one, "override ended", "override goes on") },
			want: []string{"11 ledger/2026-03/R1.jsonl:3 the end of an override of execution, validation, of which no journal entry tells"}},
		{name: "the end untold, of one that died", tell: func(s *story) repo.OID {
			s.override = map[string]any{"modes": []any{"execution", "validation"}, "reason": "the ferry stands still", "risks": []any{"haste"}}
			s.sweep(s.claim("t"), 500_000)
			return ""
		}, want: []string{"11 ledger/2026-03/R2.jsonl:1 the end of an override of execution, validation, of which no journal entry tells"}},
		{name: "its handoff untagged", at: "result patch", tell: tell, do: untag,
			want: []string{"11 handoffs/R1-execution-to-validation.md:1 a handoff made under an override, and not tagged so"}},
		{name: "what was made from it untagged", at: "result judge", tell: tell, do: untag,
			want: []string{"11 handoffs/R2-validation-to-resolution.md:1 a handoff made from handoffs/R1-execution-to-validation.md, which an override produced, and not tagged so"}},
		{name: "its atoms untagged", at: "proposal patch", tell: proposalOf("patch"), do: func(s *story, d *draft) {
			replaceIn(s, d, "knowledge/terms/patch.md", "tags: [override-produced]\n", "")
		}, want: []string{"2 terms/patch.md:1 is blob #, R1 recorded #", "11 terms/patch.md:1 an atom made under an override, and not tagged override-produced"}},
		{name: "its atoms judged again, and then untagged", tell: func(s *story) repo.OID {
			s.refresh(s.tellOverride(nil), terms("patch"))
			return s.proposals["patch"]
		}, want: []string{"11 terms/patch.md:1 an atom made under an override, and not tagged override-produced"}},
		{name: "atoms made from it untagged", at: "proposal mend", tell: proposalOf("mend"), do: func(s *story, d *draft) {
			replaceIn(s, d, "knowledge/terms/mend.md", "tags: [override-produced]\n", "")
		}, want: []string{"2 terms/mend.md:1 is blob #, R3 recorded #",
			"11 terms/mend.md:1 an atom made from handoffs/R2-validation-to-resolution.md, which an override produced, and not tagged override-produced"}},
	})
}

package verify

import (
	"testing"

	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/event/eventtest"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
)

// tellJudged tells up to a validator's result on what a builder made.
func tellJudged(s *story) repo.OID {
	_, claims := s.workTask("build", contract.Builder, s.byHand(contract.Planner, nil))
	s.workTask("judge", contract.Validator, claims)
	return ""
}

// handoffsFor are the handoffs, a person's, that a session of a role begins from.
func handoffsFor(s *story, role contract.Role) []string {
	row := roleRow(role)
	for _, r := range contract.Roles() {
		if row.Needs && r.Mode == row.Reads[0].From {
			return []string{s.byHand(r.Role, nil)}
		}
	}
	return nil
}

// tellSession tells one session on a task for a role.
func tellSession(role contract.Role) func(*story) repo.OID {
	return func(s *story) repo.OID { s.workTask("work", role, handoffsFor(s, role)...); return "" }
}

// tellProposing tells one session of a role on a task for it, and atoms it may not propose.
func tellProposing(role contract.Role) func(*story) repo.OID {
	return func(s *story) repo.OID {
		from := handoffsFor(s, role)
		s.add("work", "contract_role: "+string(role)+"\n")
		w := s.claim("work")
		s.bindSession(w, role, from...)
		s.result(w, 10, terms("keel"))
		return ""
	}
}

// tellQuiet tells a session on a task for a role, that hands over nothing; change may lie in its record.
func tellQuiet(role contract.Role, change func(data, of map[string]any)) func(*story) repo.OID {
	return func(s *story) repo.OID {
		from := handoffsFor(s, role)
		s.add("work", "contract_role: "+string(role)+"\n")
		w := s.claim("work")
		s.bindSession(w, role, from...)
		change(w.session, w.session["contract"].(map[string]any))
		s.result(w, 10, nil)
		return ""
	}
}

// tellProfiled tells a session under a role that a profile composed, which a person asked for beside the task.
func (s *story) tellProfiled(atoms repo.Changes) {
	s.Helper()
	s.tamper["claim t"] = func(s *story, d *draft) {
		changeOutcome(s, d, func(r *event.Record) { eventtest.Set(r, "contract_role", "reviewer") })
	}
	w := s.claim("t")
	s.bindSession(w, "reviewer")
	w.session["deliverable"] = deliver.SchemaFindings
	s.result(w, 10, atoms)
}

func TestWhoDetectsDoesNotChange(t *testing.T) {
	runTampers(t, []tamper{
		{name: "a validator proposes", tell: tellProposing(contract.Validator),
			want: []string{"10 ledger/2026-03/R1.jsonl:3 proposes a file after a session of the validator, which changes nothing"}},
		{name: "a planner proposes", tell: tellProposing(contract.Planner),
			want: []string{"10 ledger/2026-03/R1.jsonl:3 proposes a file after a session of the planner, which changes nothing"}},
		{name: "an explorer proposes", tell: tellProposing(contract.Explorer),
			want: []string{"10 ledger/2026-03/R1.jsonl:3 proposes a file after a session of the explorer, which changes nothing"}},
		{name: "an observer proposes", tell: tellProposing(contract.Observer),
			want: []string{"10 ledger/2026-03/R1.jsonl:3 proposes a file after a session of the observer, which changes nothing"}},
		{name: "a general may", tell: tellProposing(contract.General), want: []string{}},
		{name: "nobody proposes", tell: func(s *story) repo.OID {
			w := s.claim("t")
			w.silent = true
			s.result(w, 0, terms("keel"))
			return ""
		}, want: []string{"10 ledger/2026-03/R1.jsonl:2 proposes a file, and no session made it"}},
		{name: "a validator's task judged again, with atoms", tell: func(s *story) repo.OID {
			hers := s.byHand(contract.Builder, nil)
			s.add("work", "contract_role: validator\n")
			w := s.claim("work")
			s.bindSession(w, contract.Validator, hers)
			s.result(w, 10, repo.Changes{})
			s.refresh(w, terms("keel"))
			return ""
		}, want: []string{"10 ledger/2026-03/R2.jsonl:2 proposes a file after a session of the validator, which changes nothing"}},
		{name: "a builder's task judged again, twice", tell: func(s *story) repo.OID {
			w, _ := s.workTask("work", contract.Builder, s.byHand(contract.Planner, nil))
			w = s.refresh(w, terms("keel"))
			s.refresh(w, terms("keel", "skeg"))
			return ""
		}, want: []string{}},
		{name: "a profile's own role that delivers findings", tell: func(s *story) repo.OID { s.tellProfiled(nil); return "" }, want: []string{}},
		{name: "a profile's own role that delivers findings and proposes", tell: func(s *story) repo.OID { s.tellProfiled(terms("keel")); return "" },
			want: []string{"10 ledger/2026-03/R1.jsonl:3 proposes a file after a session of the reviewer, which changes nothing"}},
		{name: "under another role than its task's", tell: tellQuiet(contract.Observer, func(_, of map[string]any) { of["role"] = "general" }),
			want: []string{"10 ledger/2026-03/R1.jsonl:2 a session of the general; its task asks for the role observer"}},
		{name: "under a role that nobody knows", tell: tellQuiet(contract.Observer, func(_, of map[string]any) { of["role"] = "free" }),
			want: []string{"10 ledger/2026-03/R1.jsonl:2 a session of the free; its task asks for the role observer"}},
		{name: "without a contract on a validator's task", tell: func(s *story) repo.OID {
			s.add("work", "contract_role: validator\n")
			s.result(s.claim("work"), 10, nil)
			return ""
		}, want: []string{"10 ledger/2026-03/R1.jsonl:2 a session without a contract; its task asks for the role validator"}},
		{name: "without a contract where odd.toml asks for one", tell: func(s *story) repo.OID {
			s.ann("law", repo.Changes{"odd.toml": []byte(lawWith(s, "[contract.roles]\nresearch = \"explorer\"\n"))})
			s.add("work", "kind: research\n")
			s.result(s.claim("work"), 10, nil)
			return ""
		}, want: []string{"10 ledger/2026-03/R1.jsonl:2 a session without a contract; its task asks for the role explorer"}},
		{name: "without a contract, as before there were any", tell: func(s *story) repo.OID {
			s.add("work", "kind: research\n")
			s.result(s.claim("work"), 10, nil)
			return ""
		}, want: []string{}},
		{name: "another role than its invocation", at: "end invoke", tell: func(s *story) repo.OID { s.runWithoutTask(contract.Observer); return "" },
			do:   func(s *story, d *draft) { changeSession(s, d, func(_, of map[string]any) { of["role"] = "general" }) },
			want: []string{"10 ledger/2026-03/R1.jsonl:2 a session of the general; its claim asks for the role observer"}},
	})
}

func TestWhoMakesDoesNotCertify(t *testing.T) {
	findings := func(s *story, d *draft) {
		changeSession(s, d, func(data, _ map[string]any) { data["deliverable"] = deliver.SchemaFindings })
	}
	second := func(s *story) repo.OID {
		claims, findings := s.byHand(contract.Builder, nil), s.byHand(contract.Validator, nil)
		s.add("work", "contract_role: resolver\n")
		w := s.claim("work")
		s.bindSession(w, contract.Validator, claims)
		ch := repo.Changes{}
		s.record(w, ch, event.Record{Kind: event.Session, Data: eventtest.Data(event.Session, w.sessionData())})
		s.land(s.make("first", "work", draft{who: agentMail, parents: []repo.OID{s.tip()}, ch: ch, trailers: [][2]string{{"Odd-Run", w.id}, {"Odd-Task", "work"}}}))
		s.bindSession(w, contract.Resolver, findings)
		s.result(w, 10, repo.Changes{})
		return ""
	}
	runTampers(t, []tamper{
		{name: "a builder delivers findings", at: "result work", tell: tellSession(contract.Builder), do: findings,
			want: []string{"10 ledger/2026-03/R1.jsonl:2 a session of the builder delivers findings; who makes does not certify"}},
		{name: "a resolver delivers findings", at: "result work", tell: tellSession(contract.Resolver), do: findings,
			want: []string{"10 ledger/2026-03/R1.jsonl:2 a session of the resolver delivers findings; who makes does not certify"}},
		{name: "an explorer delivers findings", at: "result work", tell: tellSession(contract.Explorer), do: findings,
			want: []string{"10 ledger/2026-03/R1.jsonl:2 a session of the explorer delivers findings; who makes does not certify"}},
		{name: "a validator delivers a plan", at: "result judge", tell: tellJudged,
			do: func(s *story, d *draft) {
				changeSession(s, d, func(data, _ map[string]any) { data["deliverable"] = deliver.SchemaPlan })
			},
			want: []string{"10 ledger/2026-03/R2.jsonl:2 a session of the validator delivers odd.plan.1; its own is odd.findings.1"}},
		{name: "a builder in validation", tell: tellQuiet(contract.Builder, func(_, of map[string]any) { of["mode"] = "validation" }),
			want: []string{"10 ledger/2026-03/R1.jsonl:2 a session of the builder in validation; its mode is execution"}},
		{name: "an observer in a mode", tell: tellQuiet(contract.Observer, func(_, of map[string]any) { of["mode"] = "execution" }),
			want: []string{"10 ledger/2026-03/R1.jsonl:2 a session of the observer in execution; its mode is none"}},
		{name: "a validator in no mode", tell: tellQuiet(contract.Validator, func(_, of map[string]any) { delete(of, "mode") }),
			want: []string{"10 ledger/2026-03/R1.jsonl:2 a session of the validator in no mode; its mode is validation"}},
		{name: "a validator and a resolver on one task", tell: second,
			want: []string{"5 ledger/2026-03/R1.jsonl:2 a session has no outcome in its commit, so its cost is counted nowhere",
				"10 ledger/2026-03/R1.jsonl:2 a session of the validator; its task asks for the role resolver",
				"10 ledger/2026-03/R1.jsonl:3 a session of the resolver after a session of the validator for the same task; who makes does not certify"}},
		{name: "a validator by a plan", tell: func(s *story) repo.OID {
			s.workTask("judge", contract.Validator, s.byHand(contract.Planner, nil))
			return ""
		}, want: []string{"10 ledger/2026-03/R1.jsonl:2 a session of the validator judges by handoffs/2026-03-02-planner.md, which is from planning; only what was made is validated"}},
	})
}

func TestOverridesAreDeclared(t *testing.T) {
	type m = map[string]any
	lying := func(change func(declared, said m)) func(*story) repo.OID {
		return func(s *story) repo.OID { s.tellOverride(change); return "" }
	}
	both := func(key string, value any) func(*story) repo.OID {
		return lying(func(declared, said m) { declared[key], said[key] = value, value })
	}
	const at = "10 ledger/2026-03/R1.jsonl:2 "
	runTampers(t, []tamper{
		{name: "other modes than declared", tell: lying(func(_, said m) { said["modes"] = []any{"execution", "validation", "resolution"} }),
			want: []string{at + "an override of execution, resolution, validation; its claim declares one of execution, validation"}},
		{name: "not declared", tell: lying(func(declared, _ m) { clear(declared) }),
			want: []string{at + "an override that its claim does not declare"}},
		{name: "declared and then hidden", tell: lying(func(_, said m) { clear(said) }),
			want: []string{at + "an override that its claim declares and its session does not"}},
		{name: "no reason", tell: both("reason", " "), want: []string{at + "an override without a reason"}},
		{name: "no risk", tell: both("risks", []any{""}), want: []string{at + "an override that acknowledges no risk"}},
		{name: "one mode", tell: both("modes", []any{"execution"}), want: []string{at + "an override that collapses no modes"}},
		{name: "a mode there is not", tell: both("modes", []any{"execution", "haste"}), want: []string{at + "an override of haste, which is no mode"}},
		{name: "modes without the session's", tell: both("modes", []any{"planning", "validation"}),
			want: []string{at + "an override of planning, validation for a session of the builder"}},
	})
}

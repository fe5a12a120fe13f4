package verify

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/event/eventtest"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/handoff"
)

const keelFile = "knowledge/terms/keel.md"

// roleRow is a role's row of the contract's table.
func roleRow(role contract.Role) contract.RoleRow {
	for _, r := range contract.Roles() {
		if r.Role == role {
			return r
		}
	}
	return contract.RoleRow{Role: role}
}

// bindSession gives the run's session a contract, with the handoffs as its claim left them.
func (s *story) bindSession(w *run, role contract.Role, handoffs ...string) {
	s.Helper()
	of := map[string]any{"hash": strings.Repeat("c", 64), "role": string(role), "surface": "audit", "engagement": "agent"}
	if m := roleRow(role).Mode; m != "" {
		of["mode"] = string(m)
	}
	var from []any
	for _, name := range handoffs {
		b := s.at(w.base, name)
		blob := strings.Repeat("0", 40)
		if b != nil {
			blob = okf.BlobID(b)
		}
		from = append(from, map[string]any{"path": name, "blob": blob})
	}
	if from != nil {
		of["handoffs"] = from
	}
	if s.override != nil {
		of["override"] = s.override
	}
	w.session = map[string]any{"contract": of}
}

// handOver makes the run's session hand over what its role delivers, and returns where.
func (s *story) handOver(w *run, role contract.Role, tainted string, derives ...string) string {
	s.Helper()
	t, ok := handoff.After(roleRow(role).Mode)
	if !ok {
		s.Fatalf("%s hands over nothing", role)
	}
	m := handoff.Meta{From: t.From, To: t.To, Artifact: keelFile, Run: w.id, By: "odd/1", At: s.now.Format(time.RFC3339), Journal: w.journal(), Tainted: tainted}
	for _, name := range derives {
		m.Derives = append(m.Derives, strings.TrimSuffix(strings.TrimPrefix(name, "knowledge/"), ".md"))
	}
	name, b, err := handoff.Make(m, newDeliverable(role))
	if err != nil {
		s.Fatal(err)
	}
	w.session["deliverable"], w.session["handoff"] = t.Schema, "knowledge/"+name
	w.also = repo.Changes{"knowledge/" + name: b}
	w.tells = append(w.tells, journal.Entry{Type: "H", Title: "handed over", Content: t.String() + ": " + name + " at " + m.At})
	return "knowledge/" + name
}

// newDeliverable is a whole deliverable of a role.
func newDeliverable(role contract.Role) deliver.Deliverable {
	some := []string{"one"}
	d := deliver.Deliverable{Schema: roleRow(role).Schema}
	switch role {
	case contract.Explorer:
		d.Synthesis = &deliver.Synthesis{Possibilities: some, Tensions: some, Unknowns: some, Frames: some}
	case contract.Planner:
		d.Plan = &deliver.Plan{Artifact: keelFile, Assumptions: some, ScopeIn: some, ScopeOut: some, Deferred: []string{}, WouldInvalidate: some}
	case contract.Builder:
		d.Claims = &deliver.Claims{Artifact: keelFile, Does: some, DoesNot: some, Scope: "the plan"}
	case contract.Validator:
		d.Findings = &deliver.Findings{Artifact: keelFile, Findings: []deliver.Finding{{ID: "F1", Location: keelFile + ":1", Claim: "it holds", Evidence: "it does not",
			Classification: deliver.Defect, Disposition: deliver.Fix}}}
	case contract.Resolver:
		d.Remediation = &deliver.Remediation{Artifact: keelFile, Remedies: []deliver.Remedy{{Finding: "F1", Changed: []string{keelFile}}}}
	}
	return d
}

// workTask files a task for a role that names the handoffs, and works it: a role that may change something proposes a
// term. It returns the run and its handoff.
func (s *story) workTask(task string, role contract.Role, handoffs ...string) (*run, string) {
	s.Helper()
	s.add(task, "contract_role: "+string(role)+"\n")
	w := s.claim(task)
	s.bindSession(w, role, handoffs...)
	name := s.handOver(w, role, "", handoffs...)
	atoms := repo.Changes{}
	if roleRow(role).Mutates {
		atoms = terms("term-" + task)
	}
	s.result(w, 10, atoms)
	return w, name
}

// byHand is a handoff that Ann writes, with its entry in her journal.
func (s *story) byHand(role contract.Role, change func(string) string) string {
	s.Helper()
	t, _ := handoff.After(roleRow(role).Mode)
	name, b, err := handoff.Make(handoff.Meta{Slug: string(role), From: t.From, To: t.To, Artifact: keelFile, By: "human:" + annMail, At: "2026-03-02T08:00:00Z", Journal: "journal/2026-03-02-ann.tsv"}, newDeliverable(role))
	if err != nil {
		s.Fatal(err)
	}
	tsv, err := journal.Append(s.file("knowledge/journal/2026-03-02-ann.tsv"), journal.Entry{Type: "H", Title: "handed over", Content: t.String() + ": " + name})
	if err != nil {
		s.Fatal(err)
	}
	if change != nil {
		b = []byte(change(string(b)))
	}
	s.ann("hand", repo.Changes{"knowledge/" + name: b, "knowledge/journal/2026-03-02-ann.tsv": tsv})
	return "knowledge/" + name
}

// runWithoutTask runs a session that no task asks for, as odd agent run does. One that may change files is of an older
// odd, which claimed all of them.
func (s *story) runWithoutTask(role contract.Role, handoffs ...string) *run {
	s.Helper()
	kind := event.Engage
	if roleRow(role).Mutates {
		kind = event.Claim
	}
	w := s.beginSession(kind, role)
	s.endSession(w, role, handoffs...)
	return w
}

// beginSession records that a session begins which no task asks for.
func (s *story) beginSession(kind event.Kind, role contract.Role) *run {
	s.Helper()
	w := s.newRun("")
	w.task = w.id
	ch := repo.Changes{}
	s.record(w, ch, event.Record{Kind: kind, Reserved: 500_000, Data: eventtest.Data(event.Claim, map[string]any{"sessions": 1, "contract_role": string(role), "mode": string(roleRow(role).Mode)})})
	w.base = s.land(s.make("begin", "invoke", draft{who: agentMail, parents: []repo.OID{s.tip()}, ch: ch, trailers: [][2]string{{"Odd-Run", w.id}}}))
	return w
}

// endSession records its end.
func (s *story) endSession(w *run, role contract.Role, handoffs ...string) {
	s.Helper()
	s.bindSession(w, role, handoffs...)
	if roleRow(role).Mode != "" {
		s.handOver(w, role, "", handoffs...)
	}
	ch := repo.Changes{}
	w.trace = event.Trace(s.record(w, ch, event.Record{Kind: event.Session, Cost: 7, Data: eventtest.Data(event.Session, w.sessionData())}))
	s.record(w, ch, event.Record{Kind: event.Outcome, Cost: 7, Trace: w.trace, Data: eventtest.Data(event.Outcome, map[string]any{"verdict": "completed"})})
	s.journal(w, ch, w.tells...)
	for name, b := range w.also {
		ch[name] = b
	}
	s.land(s.make("end", "invoke", draft{who: agentMail, parents: []repo.OID{s.tip()}, ch: ch, trailers: [][2]string{{"Odd-Run", w.id}, {"Odd-Trace", w.trace}}}))
}

// tellWorkflow is the five-role workflow, each session fed by the handoff before it.
func (s *story) tellWorkflow() {
	s.Helper()
	_, synthesis := s.workTask("explore", contract.Explorer)
	_, plan := s.workTask("plan", contract.Planner, synthesis)
	w, claims := s.workTask("build", contract.Builder, plan)
	s.approve(w, false)
	_, findings := s.workTask("validate", contract.Validator, claims)
	w, remedies := s.workTask("resolve", contract.Resolver, findings)
	s.reject(w)
	s.workTask("again", contract.Validator, remedies)
}

func TestTheFiveRolesAreClean(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	s.tellWorkflow()
	s.runWithoutTask(contract.Explorer)
	s.runWithoutTask(contract.Observer)
	s.runWithoutTask(contract.Builder, s.byHand(contract.Planner, nil))
	r := s.check("", s.tip())
	if d := cmp.Diff([]string{}, listFindings(r)); d != "" {
		t.Error(d)
	}
	for _, row := range r.Rows {
		if row.N == 10 && row.Checked < 18 || row.N == 11 && row.Checked < 17 {
			t.Errorf("row %d judged %d things", row.N, row.Checked)
		}
	}
}

// A range may begin anywhere, also between a claim and its result.
func TestContractsAreJudgedFromAnyGround(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), map[string]func(*story, *draft){
		"result again": func(s *story, d *draft) { changeSession(s, d, func(_, of map[string]any) { delete(of, "handoffs") }) },
	})
	s.tellWorkflow()
	s.tellOverride(nil)
	var all []repo.OID
	for c, err := range s.r.Log(t.Context(), "", s.tip()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c.OID)
	}
	lied := false
	for i, from := range all {
		got := listFindings(s.check(from, s.tip()))
		if lied = lied || len(got) > 0; !lied {
			continue
		}
		if d := cmp.Diff([]string{"11 ledger/2026-03/R6.jsonl:2 a session of the validator without a handoff"}, got); d != "" {
			t.Errorf("%d commits: %s", i, d)
		}
	}
	if !lied {
		t.Error("the lie was not found")
	}
}

// An override of execution and validation is clean if one session builds and judges, and all its work and what is made
// from it is tagged.
func TestAnHonestOverrideIsClean(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	s.tellOverride(nil)
	if d := cmp.Diff([]string{}, listFindings(s.check("", s.tip()))); d != "" {
		t.Error(d)
	}
}

// tellOverride tells of an override, of a validator and of a resolver who go on from it. change may lie, of what is
// declared and of what the session's record says.
func (s *story) tellOverride(change func(declared, said map[string]any)) *run {
	s.Helper()
	plan := s.byHand(contract.Planner, nil)
	override := func() map[string]any {
		return map[string]any{"by": "human:" + annMail, "modes": []any{"execution", "validation"}, "reason": "the ferry stands still until noon", "risks": []any{"no second look"}}
	}
	declared, said := override(), override()
	if change != nil {
		change(declared, said)
	}
	s.add("patch", "contract_role: builder\n")
	s.override = nilIfEmpty(declared)
	w := s.claim("patch")
	s.override = nilIfEmpty(said)
	s.bindSession(w, contract.Builder, plan)
	name := s.handOver(w, contract.Builder, "override of execution, validation", plan)
	w.session["deliverable"] = deliver.SchemaClaims
	s.result(w, 10, taintedTerm("patch"))
	patched := w
	s.override = nil
	s.add("judge", "contract_role: validator\n")
	w = s.claim("judge")
	s.bindSession(w, contract.Validator, name)
	name = s.handOver(w, contract.Validator, "override of execution, validation", name)
	s.result(w, 10, repo.Changes{})
	s.add("mend", "contract_role: resolver\n")
	w = s.claim("mend")
	s.bindSession(w, contract.Resolver, name)
	s.handOver(w, contract.Resolver, "override of execution, validation", name)
	s.result(w, 10, taintedTerm("mend"))
	return patched
}

// nilIfEmpty is m, nil where it is empty.
func nilIfEmpty(m map[string]any) map[string]any {
	if len(m) == 0 {
		return nil
	}
	return m
}

// taintedTerm is a term that an override produced.
func taintedTerm(name string) repo.Changes {
	p, b := term(name, "tags: [override-produced]\n")
	return repo.Changes{p: b}
}

// changeSession changes the session record of a draft, with the trace made true again.
func changeSession(s *story, d *draft, change func(data, contract map[string]any)) {
	s.Helper()
	changeOutcome(s, d, func(r *event.Record) {
		if r.Kind == event.Session {
			data := eventtest.Keys(*r)
			of, _ := data["contract"].(map[string]any)
			change(data, of)
			r.Data = eventtest.Data(r.Kind, data)
		}
	})
}

// handoffIn is the draft's handoff.
func handoffIn(d *draft) string {
	for _, name := range rules.SortedKeys(d.ch) {
		if strings.Contains(name, "/handoffs/") {
			return name
		}
	}
	return ""
}

package invoke

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/session"
)

// script is a substrate that says one emission a call, and keeps what it was asked.
type script struct {
	says []string
	cost int64 // of each, -1 for unknown
	got  []session.Request
}

func (s *script) Run(ctx context.Context, r session.Request) (session.Emission, error) {
	s.got = append(s.got, r)
	if e, ok := r.BeginTurn(ctx, session.Usage{}); !ok {
		return e, nil
	}
	if len(s.got) > len(s.says) {
		return session.Emission{}, errors.New("asked once too often")
	}
	e := session.Read([]byte(s.says[len(s.got)-1]))
	e.Usage = session.Usage{Turns: 1, Cost: max(s.cost, 0), CostKnown: s.cost >= 0}
	e.Transcript = fmt.Appendf(nil, "talk %d\n", len(s.got))
	return e, nil
}

// says is an emission of blocks.
func says(blocks ...string) string {
	var b strings.Builder
	for _, x := range blocks {
		fmt.Fprintf(&b, "```json\n%s\n```\n\n", x)
	}
	return b.String()
}

const (
	finished  = `{"schema": "odd.finish.1", "outcome": "completed"}`
	termBlock = "```atom\n---\ntype: term\nid: slack-water\ntitle: Slack water\n---\n\nThe hour between tides.\n```\n"
)

func say(kind, text, marker string) string {
	return fmt.Sprintf(`{"schema": "odd.say.1", "says": [{"kind": %q, "text": %q, "marker": %q}]}`, kind, text, marker)
}

func handover(schema string) string {
	d, _ := exampleOf(schema)
	return string(deliver.Encode(d))
}

// under is a contract by the tables, of a surface without caps.
func under(role contract.Role, e contract.Engagement) contract.Contract {
	for _, r := range contract.Roles() {
		if r.Role == role {
			return contract.Contract{Role: role, Mode: r.Mode, Mutates: r.Mutates, Bound: r.Bound, Deliverable: r.Schema, Next: r.Next,
				Strict: r.Freshness == contract.FreshStrict, Engagement: e, Voice: contract.VoiceNeutral,
				Surface: contract.SurfaceRule{Name: contract.Conversational, Narrative: true}}
		}
	}
	panic("unreachable: " + string(role))
}

func start(c contract.Contract, s *script) Session {
	in := input()
	in.Contract = c
	return Session{Contract: c, Brief: Compose(in), Substrate: s, Request: session.Request{BundleRoot: "knowledge"}}
}

// part is the text of a brief's part, "" for none.
func part(b Brief, name string) string {
	for _, p := range b.Manifest {
		if p.Name == name {
			return string(p.Text)
		}
	}
	return ""
}

func TestSentBackAndShortened(t *testing.T) {
	t.Parallel()
	long := says(say("progress", strings.Repeat("word ", 80), ""), handover(deliver.SchemaClaims), finished)
	short := says(say("progress", "the term stands", ""), handover(deliver.SchemaClaims), finished)
	c := under(contract.Builder, contract.Agent)
	c.Surface.MaxTokens = 60
	tests := []struct {
		name    string
		says    []string
		change  func(*Session)
		cost    int64
		calls   int
		failure string
		mention string
	}{
		{"at once", []string{short}, nil, 5, 1, "", ""},
		{"second try", []string{long, short}, nil, 5, 2, "", ""},
		{"third try", []string{long, long, short}, nil, 5, 3, "", ""},
		{"never", []string{long, long, long}, nil, 5, 3, TooLong, "says[0].text: about 100 tokens, at most 60"},
		{"not a third time", []string{long, long, long, short}, nil, 5, 3, TooLong, "sent back as often"},
		{"no turn left", []string{long, long}, func(s *Session) { s.Request.MaxTurns = 2 }, 5, 2, TooLong, "no turn is left"},
		{"no money left", []string{long, long}, func(s *Session) { s.Request.MaxCost = 10 }, 5, 2, TooLong, "no money is left"},
		{"unknown cost", []string{long}, func(s *Session) { s.Request.MaxCost = 10 }, -1, 1, TooLong, "unknown"},
		{"free of limits", []string{long, short}, nil, -1, 2, "", ""},
		{"worse instead", []string{long, says(finished)}, nil, 5, 2, "no-deliverable", ""},
		{"malformed instead", []string{long, "```json\n{\n```\n"}, nil, 5, 2, session.Malformed, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &script{says: tt.says, cost: tt.cost}
			in := start(c, s)
			if tt.change != nil {
				tt.change(&in)
			}
			r, err := Run(t.Context(), in)
			if err != nil || len(s.got) != tt.calls || len(r.Briefs) != tt.calls {
				t.Fatalf("%v after %d calls and %d briefs, want %d", err, len(s.got), len(r.Briefs), tt.calls)
			}
			e := r.Emission
			if e.Failure != tt.failure || !strings.Contains(e.Detail, tt.mention) || (e.Deliverable == nil) != (tt.failure != "") {
				t.Errorf("got %s %q %q with %v", e.Outcome, e.Failure, e.Detail, e.Deliverable)
			}
			want := session.Usage{Turns: tt.calls, Cost: int64(tt.calls) * max(tt.cost, 0), CostKnown: tt.cost >= 0}
			if d := cmp.Diff(want, e.Usage); d != "" {
				t.Errorf("usage (-want +got):\n%s", d)
			}
			if string(e.Raw) != tt.says[tt.calls-1] || strings.Count(string(e.Transcript), "talk ") != tt.calls {
				t.Errorf("Raw %q, Transcript %q", e.Raw, e.Transcript)
			}
			for i, b := range r.Briefs {
				if again := part(b, "again"); (i > 0) != strings.Contains(again, "says[0].text: about 100 tokens, at most 60 (an estimate") || string(s.got[i].Brief) != string(b.Text) || s.got[i].Try != i+1 {
					t.Errorf("brief %d says %q", i+1, again)
				}
			}
		})
	}
}

// Every try's limits are what the ones before left.
func TestOneBudget(t *testing.T) {
	t.Parallel()
	long := says(say("progress", strings.Repeat("word ", 80), ""), handover(deliver.SchemaClaims), finished)
	c := under(contract.Builder, contract.Agent)
	c.Surface.MaxTokens = 60
	s := &script{says: []string{long, long, long}, cost: 4}
	in := start(c, s)
	asked := 0
	in.Request.MaxTurns, in.Request.MaxCost, in.Request.Turn = 9, 100, func(session.Usage) error { asked++; return nil }
	if _, err := Run(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	for i, r := range s.got {
		if r.MaxTurns != 9-i || r.MaxCost != 100-4*int64(i) {
			t.Errorf("try %d: %d turns, %d micro-USD", i+1, r.MaxTurns, r.MaxCost)
		}
	}
	if asked != 3 {
		t.Errorf("the caller was asked for %d turns, want 3", asked)
	}
}

// One try whose cost nobody knows makes the whole's unknown.
func TestOneUnknownCost(t *testing.T) {
	t.Parallel()
	s := &script{says: []string{says(say("progress", "reading on", "holding")), says(say("progress", "done", "done"), handover(deliver.SchemaClaims), finished)}}
	in := start(under(contract.Builder, contract.Assistant), s)
	in.Substrate = substrate(func(ctx context.Context, r session.Request) (session.Emission, error) {
		e, err := s.Run(ctx, r)
		e.Usage = session.Usage{Turns: 1, Cost: 7, CostKnown: r.Try > 1}
		return e, err
	})
	r, err := Run(t.Context(), in)
	if u := r.Emission.Usage; err != nil || r.Emission.Outcome != session.Completed || u.CostKnown || u.Turns != 2 {
		t.Errorf("got %+v, %v", r.Emission, err)
	}
}

// The wall time is the whole session's: it does not begin again with a try.
func TestTimeOfTheWhole(t *testing.T) {
	t.Parallel()
	long := says(say("progress", strings.Repeat("word ", 80), ""), handover(deliver.SchemaClaims), finished)
	c := under(contract.Builder, contract.Agent)
	c.Surface.MaxTokens = 60
	in := start(c, nil)
	say := &script{says: []string{long, long, long}}
	var due []time.Time
	in.Substrate = substrate(func(ctx context.Context, r session.Request) (session.Emission, error) {
		end, _ := ctx.Deadline()
		due = append(due, end)
		return say.Run(ctx, r)
	})
	in.Request.Timeout = time.Hour
	if _, err := Run(t.Context(), in); err != nil || len(due) != 3 || due[0].IsZero() || due[0] != due[1] || due[1] != due[2] {
		t.Errorf("%v, the tries had until %v", err, due)
	}
}

// What was kept is held to the contract again as a session's emission is, and what no
// contract bound, or had failed, stays.
func TestHold(t *testing.T) {
	t.Parallel()
	e := session.Read([]byte(termBlock + says(`{"schema": "odd.finish.1", "outcome": "completed", "detail": "no 🦦 scope"}`)))
	failed := e
	failed.Outcome, failed.Failure = session.Failed, "no-access"
	for _, c := range []struct {
		role            contract.Role
		e               session.Emission
		failure, detail string
		atoms           int
	}{
		{"", e, "", "no 🦦 scope", 1},
		{contract.General, e, "", "no scope", 1},
		{contract.Observer, e, ReadOnly, "observer changes nothing; it emitted 1 atoms", 0},
		{contract.Observer, failed, "no-access", "no 🦦 scope", 1},
	} {
		var k contract.Contract
		if c.role != "" {
			k = under(c.role, contract.Agent)
		}
		if got := Hold(k, "knowledge", c.e); got.Failure != c.failure || !strings.HasSuffix(got.Detail, c.detail) || len(got.Atoms) != c.atoms {
			t.Errorf("%s: %q %q, %d atoms", c.role, got.Failure, got.Detail, len(got.Atoms))
		}
	}
}

// A session was seen if every try was, and has its desk unless its contract is strict.
func TestSeenAsAWhole(t *testing.T) {
	t.Parallel()
	hold, end := says(say("progress", "reading on", "holding")), says(say("progress", "done", "done"), handover(deliver.SchemaClaims), finished)
	for _, unseen := range []int{0, 1, 2} {
		s := &script{says: []string{hold, end}}
		in := start(under(contract.Builder, contract.Assistant), nil)
		in.Request.Desk = func(context.Context) (session.Desk, error) { return session.Desk{}, nil }
		in.Substrate = substrate(func(ctx context.Context, r session.Request) (session.Emission, error) {
			e, err := s.Run(ctx, r)
			e.Seen = r.Try != unseen
			return e, err
		})
		r, err := Run(t.Context(), in)
		if err != nil || r.Emission.Seen != (unseen == 0) || s.got[0].Desk == nil {
			t.Errorf("unseen try %d: %v, %v, a desk: %v", unseen, r.Emission.Seen, err, s.got[0].Desk != nil)
		}
	}
}

type substrate func(context.Context, session.Request) (session.Emission, error)

func (f substrate) Run(ctx context.Context, r session.Request) (session.Emission, error) {
	return f(ctx, r)
}

func TestContractHeldOnTheEmission(t *testing.T) {
	t.Parallel()
	remedied := func(finding, changed string) string {
		return string(deliver.Encode(deliver.Deliverable{Schema: deliver.SchemaRemediation, Remediation: &deliver.Remediation{Artifact: "a",
			Remedies: []deliver.Remedy{{Finding: finding, Changed: []string{changed}, Why: "the tide table"}}}}))
	}
	tests := []struct {
		name    string
		role    contract.Role
		text    string
		failure string
	}{
		{"explorer", contract.Explorer, says(handover(deliver.SchemaSynthesis), finished), ""},
		{"explorer with an atom", contract.Explorer, termBlock + says(handover(deliver.SchemaSynthesis), finished), ReadOnly},
		{"planner with an atom", contract.Planner, termBlock + says(handover(deliver.SchemaPlan), finished), ReadOnly},
		{"validator with an atom", contract.Validator, termBlock + says(handover(deliver.SchemaFindings), finished), ReadOnly},
		{"validator with a change", contract.Validator, "```change\nx\n```\n" + says(handover(deliver.SchemaFindings), finished), ReadOnly},
		{"observer with an atom", contract.Observer, termBlock + says(finished), ReadOnly},
		{"builder", contract.Builder, termBlock + says(handover(deliver.SchemaClaims), finished), ""},
		{"builder that judges", contract.Builder, termBlock + says(handover(deliver.SchemaFindings), finished), Certifies},
		{"builder with a plan", contract.Builder, says(handover(deliver.SchemaPlan), finished), WrongDeliverable},
		{"builder with nothing", contract.Builder, says(finished), "no-deliverable"},
		{"planner without its minimum", contract.Planner, says(`{"schema": "odd.plan.1", "artifact": "a"}`, finished), "incomplete-deliverable"},
		{"general", contract.General, termBlock + says(finished), ""},
		{"general that hands over", contract.General, says(handover(deliver.SchemaPlan), finished), WrongDeliverable},
		{"general that judges", contract.General, says(handover(deliver.SchemaFindings), finished), Certifies},
		{"resolver", contract.Resolver, termBlock + says(remedied("F1", "slack-water"), finished), ""},
		{"resolver that certifies", contract.Resolver, says(handover(deliver.SchemaFindings), finished), Certifies},
		{"resolver beyond its findings", contract.Resolver, says(remedied("F9", "slack-water"), finished), OutsideFindings},
		{"resolver with another atom", contract.Resolver, termBlock + says(remedied("F1", "terms/ebb.md"), finished), OutsideFindings},
		{"question to nobody", contract.Builder, says(say("question", "which tide?", ""), handover(deliver.SchemaClaims), finished), "clarifying-question"},
		{"question and silence", contract.Builder, says(say("assertion", "which tide?", "yielding")), "clarifying-question"},
		{"silence", contract.Builder, says(say("progress", "half way", "")), session.Silent},
		{"declared", contract.Builder, says(`{"schema": "odd.finish.1", "outcome": "failed", "failure": "no-access"}`), "no-access"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := under(tt.role, contract.Agent)
			if tt.role == contract.Resolver {
				c.Handoffs = []contract.Handoff{{From: contract.Validation, To: contract.Resolution, Findings: map[string]deliver.Disposition{"F1": deliver.Fix}}}
			}
			r, err := Run(t.Context(), start(c, &script{says: []string{tt.text}}))
			e := r.Emission
			if err != nil || e.Failure != tt.failure || (e.Outcome == session.Completed) != (tt.failure == "") {
				t.Fatalf("got %s %q %q, %v; want %q", e.Outcome, e.Failure, e.Detail, err, tt.failure)
			}
			if tt.failure != "" && (len(e.Atoms) > 0 || e.Deliverable != nil || len(e.Notes) > 0 || string(e.Raw) != tt.text) {
				t.Errorf("something of a failed emission was kept, or Raw lost: %+v", e)
			}
		})
	}
}

// What is kept is clean: by the surface, and beyond it in frontmatter, notes and
// the words of the outcome. A body is knowledge and stays as it is.
func TestCleaned(t *testing.T) {
	t.Parallel()
	atom := "```atom\n---\ntype: term\nid: otter\ntitle: The 🦦 otter\n---\n\nThe mark 🦦 stands for Oddie.\n```\n"
	text := atom + says(say("assertion", "It stands 🦦 now", ""), `{"schema": "odd.notes.1", "notes": [{"type": "O", "title": "seen 🦦 twice", "content": "on 🦦 paper ✅"}]}`,
		handover(deliver.SchemaClaims), finished)
	r, err := Run(t.Context(), start(under(contract.Builder, contract.Agent), &script{says: []string{text}}))
	e := r.Emission
	if err != nil || e.Outcome != session.Completed || len(r.Verdict.Changes) != 4 {
		t.Fatalf("got %s %q, %v, %v", e.Outcome, e.Detail, r.Verdict.Changes, err)
	}
	got := []string{e.Says[0].Text, e.Notes[0].Title, e.Notes[0].Content, string(e.Atoms[0].Atom.Bytes())}
	want := []string{"It stands now", "seen twice", "on paper ✅", "---\ntype: term\nid: otter\ntitle: The otter\n---\n\nThe mark 🦦 stands for Oddie.\n"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("cleaned (-want +got):\n%s", d)
	}
	text = says(`{"schema": "odd.finish.1", "outcome": "handoff_insufficient", "missing": ["scope 🦦 out"], "detail": "no 🦦 scope"}`)
	r, err = Run(t.Context(), start(under(contract.Builder, contract.Agent), &script{says: []string{text}}))
	if e = r.Emission; err != nil || e.Outcome != session.HandoffInsufficient || e.Missing[0] != "scope out" || e.Detail != "no scope" {
		t.Errorf("got %+v, %v", e, err)
	}
	text = "```atom\n---\ntype: 🦦\nid: otter\n---\n```\n" + says(handover(deliver.SchemaClaims), finished)
	r, err = Run(t.Context(), start(under(contract.Builder, contract.Agent), &script{says: []string{text}}))
	if e = r.Emission; err != nil || e.Failure != session.Malformed || len(e.Atoms) > 0 {
		t.Errorf("an atom that is none without its mark: %+v, %v", e, err)
	}
}

// Without a contract a session is package session's, and no surface judges it.
func TestWithoutAContract(t *testing.T) {
	t.Parallel()
	s := &script{says: []string{termBlock + says(say("question", "which?", ""), finished)}}
	r, err := Run(t.Context(), start(contract.Contract{}, s))
	if err != nil || r.Emission.Outcome != session.Completed || len(r.Emission.Atoms) != 1 || s.got[0].Files != nil {
		t.Errorf("got %+v, %v", r.Emission, err)
	}
	if _, err := Run(t.Context(), start(contract.Contract{}, &script{})); err == nil {
		t.Error("a substrate's fault was lost")
	}
}

// What a strict session's substrate can reach is what its contract names.
func TestAStrictSessionSeesNoMore(t *testing.T) {
	t.Parallel()
	atom := func(kind string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("---\ntype: " + kind + "\ntitle: T\n---\n\nText.\n")}
	}
	files := fstest.MapFS{
		"docs/a.md": {Data: []byte("a")}, "tasks/outside.md": {Data: []byte("not the bundle's")},
		"knowledge/terms/ebb.md": atom("term"), "knowledge/tasks/t.md": atom("task"), "knowledge/handoffs/mine.md": atom("handoff"),
		"knowledge/handoffs/plan.md": atom("handoff"), "knowledge/journal/2026-03-02-x.tsv": {Data: []byte("x")},
		"knowledge/ledger/2026-03/run.jsonl": {Data: []byte("{}")}, "knowledge/proposals/p.jsonl": {Data: []byte("{}")},
	}
	g, _, err := okf.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	c := under(contract.Validator, contract.Agent)
	c.Handoffs = []contract.Handoff{{Path: "handoffs/mine.md", From: contract.Execution, To: contract.Validation}}
	s := &script{says: []string{says(handover(deliver.SchemaFindings), finished)}}
	in := start(c, s)
	in.Request.Files, in.Request.Graph, in.Request.Inputs = files, g, []string{"docs/a.md"}
	in.Request.Desk = func(context.Context) (session.Desk, error) { return session.Desk{}, nil }
	if _, err := Run(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	got := s.got[0]
	if len(got.Inputs) > 0 || got.Desk != nil || got.Role != "validator" || got.After != "execution" {
		t.Errorf("got %+v", got)
	}
	if err := fstest.TestFS(got.Files, "docs/a.md", "tasks/outside.md", "knowledge/terms/ebb.md", "knowledge/handoffs/mine.md"); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"knowledge/tasks/t.md", "knowledge/tasks", "knowledge/handoffs/plan.md", "knowledge/journal/2026-03-02-x.tsv", "knowledge/ledger/2026-03/run.jsonl", "knowledge/proposals"} {
		if f, err := got.Files.Open(name); err == nil {
			t.Errorf("%s is in sight: %v", name, f)
		}
	}
	var ids []string
	for _, a := range got.Graph.Atoms() {
		ids = append(ids, string(a.ID))
	}
	if d := cmp.Diff([]string{"handoffs/mine", "terms/ebb"}, ids); d != "" {
		t.Errorf("atoms (-want +got):\n%s", d)
	}
}

// What a session proposes is heard once, however often it was sent back and
// whatever its surface made of the rest.
func TestProposalsOutliveAFailure(t *testing.T) {
	t.Parallel()
	alarm := `{"schema": "odd.proposal.1", "severity": "emergency", "gate": "emergency", "reason": "the dock is on fire"}`
	long := says(alarm, say("progress", strings.Repeat("word ", 80), ""), handover(deliver.SchemaClaims), finished)
	c := under(contract.Builder, contract.Agent)
	c.Surface.MaxTokens = 60
	res, err := Run(context.Background(), start(c, &script{says: []string{long, long, long}}))
	want := []session.Proposal{{Severity: "emergency", Gate: "emergency", Reason: "the dock is on fire"}}
	if d := cmp.Diff(want, res.Emission.Proposals); err != nil || res.Emission.Failure != TooLong || d != "" {
		t.Errorf("%v, %s\n%s", err, res.Emission.Failure, d)
	}
}

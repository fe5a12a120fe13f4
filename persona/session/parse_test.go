package session

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/persona/deliver"
)

const fence3 = "```"

const goodAtom = "---\ntype: term\nid: embargo\ntitle: Embargo\n---\n\nNews that waits.\n"

const done = fence3 + "json\n{\"schema\": \"odd.finish.1\", \"outcome\": \"completed\"}\n" + fence3 + "\n"

const (
	synthesis = `{"schema": "odd.synthesis.1", "possibilities": ["one"], "tensions": [], "unknowns": ["two"], "frames": ["three"]}`
	plan      = `{"schema": "odd.plan.1", "artifact": "terms/embargo.md", "assumptions": ["a"], "scope_in": ["b"], "scope_out": [], "would_invalidate": ["c"]}`
)

func atomBlock(attrs, text string) string {
	return fence3 + "atom" + attrs + "\n" + text + fence3 + "\n"
}

func jsonBlock(text string) string { return fence3 + "json\n" + text + "\n" + fence3 + "\n" }

func TestParseWhole(t *testing.T) {
	t.Parallel()
	blob := strings.Repeat("0a", 20)
	text := "I read it.\n\n" + atomBlock(" base="+blob+" path=terms/embargo.md", goodAtom) +
		jsonBlock(`{"schema": "odd.notes.1", "notes": [{"type": "O", "facet": "open", "title": "two hours", "content": "which?"}]}`) +
		jsonBlock(`{"schema": "odd.say.1", "says": [{"kind": "question", "text": "which hour binds?", "marker": "done"}]}`) +
		jsonBlock(plan) +
		jsonBlock(`{"schema": "odd.usage.1", "turns": 3, "cost_micro_usd": 12500, "model": "acme/1"}`) +
		jsonBlock(`{"schema": "odd.handoff.1", "handoff": "to the desk"}`) + done
	e, bad := Parse([]byte(text))
	if len(bad) > 0 {
		t.Fatalf("problems: %v", bad)
	}
	if len(e.Atoms) != 1 {
		t.Fatalf("got %d atoms, want 1", len(e.Atoms))
	}
	a := e.Atoms[0]
	got := []string{a.At, a.Base, a.Atom.Path, string(a.Atom.ID), string(a.Atom.Bytes())}
	want := []string{"emission:3", blob, "terms/embargo.md", "embargo", goodAtom}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("atom (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]Note{{"O", "open", "two hours", "which?"}}, e.Notes); d != "" {
		t.Errorf("notes (-want +got):\n%s", d)
	}
	if d := cmp.Diff(Usage{Turns: 3, Cost: 12500, CostKnown: true, Model: "acme/1"}, e.Usage); d != "" {
		t.Errorf("usage (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]deliver.Say{{Kind: "question", Text: "which hour binds?", Marker: Done}}, e.Says); d != "" {
		t.Errorf("says (-want +got):\n%s", d)
	}
	if e.Deliverable == nil || e.Deliverable.Schema != deliver.SchemaPlan || e.Deliverable.Plan.ScopeOut == nil || e.Deliverable.Plan.Deferred != nil {
		t.Errorf("got deliverable %+v, want a plan", e.Deliverable)
	}
	roundTrip(t, e)
	if e.Outcome != Completed || e.Handoff != "to the desk" || e.Change != nil {
		t.Errorf("got outcome %q, handoff %q, change %v", e.Outcome, e.Handoff, e.Change)
	}
}

func TestParseOutcome(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		outcome    Outcome
		failure    string
		atoms      int
	}{
		{"silence", "", Failed, Silent, 0},
		{"silence drops the atoms", atomBlock("", goodAtom), Failed, Silent, 0},
		{"completed", atomBlock("", goodAtom) + done, Completed, "", 1},
		{"named failure", jsonBlock(`{"schema":"odd.finish.1","outcome":"failed","failure":"no-access"}`), Failed, "no-access", 0},
		{"unnamed failure", jsonBlock(`{"schema":"odd.finish.1","outcome":"failed"}`), Failed, "declared", 0},
		{"refused", jsonBlock(`{"schema":"odd.finish.1","outcome":"refused","detail":"not mine"}`), Refused, "", 0},
		{"handoff", jsonBlock(`{"schema":"odd.finish.1","outcome":"handoff_insufficient","missing":["scope out"]}`), HandoffInsufficient, "", 0},
		{"a finish in another block is prose", fence3 + "text\n{\"schema\":\"odd.finish.1\"}\n" + fence3 + "\n", Failed, Silent, 0},
		{"a finish inside a longer fence is content", "````text\n" + done + "````\n", Failed, Silent, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e, bad := Parse([]byte(tt.text))
			if len(bad) > 0 || e.Outcome != tt.outcome || e.Failure != tt.failure || len(e.Atoms) != tt.atoms {
				t.Errorf("got %q %q, %d atoms, problems %v; want %q %q, %d atoms",
					e.Outcome, e.Failure, len(e.Atoms), bad, tt.outcome, tt.failure, tt.atoms)
			}
			if e.Usage.CostKnown {
				t.Error("a cost nobody stated is known")
			}
		})
	}
}

func TestParseProblems(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text, want string
		line             int
	}{
		{"atom without frontmatter", "x\n" + atomBlock("", "body\n"), "frontmatter", 3},
		{"atom without type", atomBlock("", "---\nid: x\n---\n"), "type", 0},
		{"atom without a name", atomBlock("", "---\ntype: term\n---\n"), "neither an id nor a path", 1},
		{"open atom", fence3 + "atom\n" + goodAtom, "not closed", 1},
		{"open json", fence3 + "json\n{}", "not closed", 1},
		{"open change", fence3 + "change\n", "not closed", 1},
		{"bad base", atomBlock(" base=12", goodAtom), `base "12"`, 1},
		{"base twice", atomBlock(" base="+strings.Repeat("a", 40)+" base="+strings.Repeat("b", 40), goodAtom), "base", 1},
		{"path outside", atomBlock(" path=../x.md", goodAtom), `path "../x.md"`, 1},
		{"absolute path", atomBlock(" path=/x.md", goodAtom), `path "/x.md"`, 1},
		{"reserved path", atomBlock(" path=a/index.md", goodAtom), "path", 1},
		{"unknown attribute", atomBlock(" mode=force", goodAtom), `"mode=force"`, 1},
		{"one id twice", atomBlock("", goodAtom) + atomBlock("", goodAtom), "stands twice, first on line 1", 10},
		{"not json", jsonBlock("{"), "unexpected end", 2},
		{"located json", jsonBlock("{\"schema\":\n \"odd.finish.1\",\n \"outcome\": 1}"), "outcome", 4},
		{"json list", jsonBlock("[]"), "not a JSON object", 0},
		{"no schema", jsonBlock("{}"), "without a schema", 0},
		{"unknown schema", jsonBlock(`{"schema":"odd.finish.2"}`), `unknown schema "odd.finish.2"`, 1},
		{"unknown key", jsonBlock(`{"schema":"odd.finish.1","outcome":"completed","sure":true}`), "sure", 0},
		{"key twice", jsonBlock(`{"schema":"odd.finish.1","outcome":"failed","outcome":"completed"}`), "outcome", 0},
		{"key in another case", jsonBlock(`{"schema":"odd.finish.1","outcome":"failed","Outcome":"completed"}`), "Outcome", 0},
		{"unknown outcome", jsonBlock(`{"schema":"odd.finish.1","outcome":"done"}`), `unknown outcome "done"`, 0},
		{"completed with a failure", jsonBlock(`{"schema":"odd.finish.1","outcome":"completed","failure":"x"}`), "with a failure", 0},
		{"two outcomes", done + done, "stands twice", 4},
		{"two usages", jsonBlock(`{"schema":"odd.usage.1"}`) + jsonBlock(`{"schema":"odd.usage.1"}`), "stands twice", 4},
		{"a cost beyond all", jsonBlock(`{"schema":"odd.usage.1","cost_micro_usd":9223372036854775807}`), "more is no session's", 0},
		{"turns beyond all", jsonBlock(`{"schema":"odd.usage.1","turns":9223372036854775807}`), "more is no session's", 0},
		{"negative cost", jsonBlock(`{"schema":"odd.usage.1","cost_micro_usd":-1}`), "not negative", 0},
		{"two deliverables", jsonBlock(plan) + jsonBlock(synthesis), "a second deliverable, odd.synthesis.1; the first is odd.plan.1 on line 1", 4},
		{"one deliverable twice", jsonBlock(plan) + jsonBlock(plan), "a second deliverable, odd.plan.1", 4},
		{"deliverable of another shape", jsonBlock("{\"schema\": \"odd.plan.1\",\n \"assumptions\": \"none\"}"), "odd.plan.1: assumptions: not a list", 3},
		{"truncated deliverable", "I plan.\n" + jsonBlock("{\"schema\": \"odd.plan.1\",\n \"artifact\": \"x\","), "unexpected end", 4},
		{"prose in the block", jsonBlock("Here it is:\n" + plan), "invalid character 'H'", 2},
		{"prose after the object", jsonBlock(plan + "\nThat is all."), "after top-level value", 3},
		{"two objects in a block", jsonBlock(plan + "\n" + synthesis), "after top-level value", 3},
		{"json too large", jsonBlock(`{"schema":"` + strings.Repeat("x", maxObject) + `"}`), "at most 1048576", 1},
		{"says of nothing", jsonBlock(`{"schema":"odd.say.1","says":[{"kind":"question","text":" "}]}`), "says[0]", 0},
		{"unknown kind", jsonBlock(`{"schema":"odd.say.1","says":[{"kind":"frame","text":"a"},{"kind":"remark","text":"b"}]}`), `says[1]: unknown kind "remark"`, 0},
		{"unknown marker", jsonBlock(`{"schema":"odd.say.1","says":[{"kind":"question","text":"?","marker":"over"}]}`), `marker "over"`, 0},
		{"too many says", jsonBlock(`{"schema":"odd.say.1","says":[` + strings.Repeat(`{"kind":"frame","text":"b"},`, maxSays) + `{"kind":"frame","text":"b"}]}`), "501 says", 0},
		{"insufficient, naming nothing", jsonBlock(`{"schema":"odd.finish.1","outcome":"handoff_insufficient"}`), "without missing", 0},
		{"insufficient, naming blanks", jsonBlock(`{"schema":"odd.finish.1","outcome":"handoff_insufficient","missing":["a"," "]}`), "missing[1]", 0},
		{"completed with something missing", jsonBlock(`{"schema":"odd.finish.1","outcome":"completed","missing":["a"]}`), "something missing", 0},
		{"unknown severity", jsonBlock(`{"schema":"odd.proposal.1","severity":"grave","gate":"framing","reason":"x"}`), `unknown severity "grave"`, 0},
		{"unknown gate", jsonBlock(`{"schema":"odd.proposal.1","severity":"low","gate":"back","reason":"x"}`), `unknown gate "back"`, 0},
		{"a proposal that speaks for another", jsonBlock(`{"schema":"odd.proposal.1","source":"user_signal","severity":"low","gate":"framing","reason":"x"}`), "source", 0},
		{"a proposal without a reason", jsonBlock(`{"schema":"odd.proposal.1","severity":"low","gate":"framing","reason":" "}`), "without a reason", 0},
		{"a proposal that goes on", jsonBlock(`{"schema":"odd.proposal.1","severity":"low","gate":"framing","reason":"` + strings.Repeat("x", maxReason+1) + `"}`), "at most 500", 0},
		{"too many proposals", strings.Repeat(alarm, maxProposals+1), "more than 50", 0},
		{"empty note", jsonBlock(`{"schema":"odd.notes.1","notes":[{}]}`), "note 1", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e, bad := Parse([]byte(tt.text))
			if len(bad) == 0 {
				t.Fatalf("got no problem, want %q", tt.want)
			}
			if got := bad[0]; !strings.Contains(got.Error(), tt.want) || tt.line > 0 && got.Line != tt.line || got.Path != Source {
				t.Errorf("got %q on line %d, want %q on line %d", got.Error(), got.Line, tt.want, tt.line)
			}
			if d := cmp.Diff(Usage{}, e.Usage); d != "" || len(e.Atoms) > 0 || e.Outcome != "" {
				t.Errorf("something was returned beside a problem: %+v", e)
			}
		})
	}
}

const alarm = "```json\n{\"schema\":\"odd.proposal.1\",\"severity\":\"emergency\",\"gate\":\"emergency\",\"reason\":\"the dock is on fire\"}\n```\n"

// A proposal is heard however the session ends.
func TestParseProposals(t *testing.T) {
	t.Parallel()
	want := []Proposal{{"emergency", "emergency", "the dock is on fire"}}
	for name, text := range map[string]string{
		"completed": alarm + done, "silent": alarm, "failed": alarm + jsonBlock(`{"schema":"odd.finish.1","outcome":"failed"}`),
		"refused": alarm + jsonBlock(`{"schema":"odd.finish.1","outcome":"refused"}`),
	} {
		e, bad := Parse([]byte(text))
		if d := cmp.Diff(want, e.Proposals); d != "" || len(bad) > 0 {
			t.Errorf("%s: %v\n%s", name, bad, d)
		}
		roundTrip(t, e)
		if e = e.failWith(Timeout, ""); len(e.Proposals) != 1 {
			t.Errorf("%s: a timeout silenced it", name)
		}
	}
}

// What stands before and between the blocks is prose, JSON or not, and a turn
// that declares no outcome keeps what it said and nothing else.
func TestParseProseAndTurns(t *testing.T) {
	t.Parallel()
	e, bad := Parse([]byte("{\"schema\": \"odd.plan.1\"}\n\nHere is my plan:\n" + jsonBlock(plan) + "That was it.\n" + done))
	if len(bad) > 0 || e.Deliverable == nil || e.Outcome != Completed {
		t.Errorf("got %+v, problems %v", e, bad)
	}
	say := jsonBlock(`{"schema":"odd.say.1","says":[{"kind":"question","text":"which?","marker":"yielding"}]}`)
	e, bad = Parse([]byte(say + atomBlock("", goodAtom) + jsonBlock(plan)))
	if len(bad) > 0 || e.Failure != Silent || len(e.Says) != 1 || len(e.Atoms) > 0 || e.Deliverable != nil {
		t.Errorf("got %+v, problems %v", e, bad)
	}
	roundTrip(t, e)
}

func TestParseOneBadAmongTen(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, id := range strings.Fields("a b c d e f g h i") {
		b.WriteString(atomBlock("", "---\ntype: term\nid: "+id+"\n---\n"))
	}
	b.WriteString(atomBlock("", "---\nid: j\n---\n") + done)
	e := Read([]byte(b.String()))
	if e.Outcome != Failed || e.Failure != Malformed || len(e.Atoms) > 0 {
		t.Errorf("got %s %s with %d atoms, want failed malformed with none", e.Outcome, e.Failure, len(e.Atoms))
	}
	if !strings.HasPrefix(e.Detail, "emission:5") || string(e.Raw) != b.String() {
		t.Errorf("detail %q is not located, or Raw is not what was said", e.Detail)
	}
}

func TestParseChangeAndNesting(t *testing.T) {
	t.Parallel()
	nested := "---\ntype: process\nid: p\n---\n\n" + fence3 + "sh\nmake\n" + fence3 + "\n"
	e, bad := Parse([]byte("````atom\n" + nested + "````\n" + fence3 + "change\n--- a\n+++ b\n" + fence3 + "\r\n" + done))
	if len(bad) > 0 || len(e.Atoms) != 1 || e.Change == nil || e.Change.Line == 0 {
		t.Fatalf("got %d atoms, change %v, problems %v", len(e.Atoms), e.Change, bad)
	}
	if got := string(e.Atoms[0].Atom.Bytes()); got != nested {
		t.Errorf("got content %q, want %q", got, nested)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("prose\n" + atomBlock(" path=terms/x.md", goodAtom) + done)
	f.Add(jsonBlock(`{"schema":"odd.usage.1","turns":1,"cost_micro_usd":0}`) + done)
	f.Add("````atom\n```\n````\n```json")
	f.Add(jsonBlock(`{"schema":"odd.say.1","says":[{"kind":"frame","text":"b","marker":"holding"}]}`) + jsonBlock(plan) + done)
	f.Add(jsonBlock(synthesis) + jsonBlock(`{"schema":"odd.finish.1","outcome":"handoff_insufficient","missing":["x"]}`))
	f.Add(jsonBlock(`{"schema":"odd.findings.1","artifact":"a","findings":[{"location":"a:1","claim":"c","evidence":"e","classification":"blocker","disposition":"fix"}]}`) + done)
	f.Add(alarm + alarm)
	f.Add("```atom base=\n---\ntype: [\n---\n```\n")
	f.Add("\x00```change\r\n```\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		e, bad := Parse([]byte(text))
		lines := strings.Count(text, "\n") + 1
		for _, p := range bad {
			if p.Line < 1 || p.Line > lines || p.Message == "" {
				t.Errorf("problem %+v is not in a text of %d lines", p, lines)
			}
		}
		if len(bad) > 0 && (e.Outcome != "" || len(e.Atoms) > 0) {
			t.Error("something was returned beside a problem")
		}
		if len(bad) == 0 && !isKnownOutcome(e.Outcome) {
			t.Errorf("outcome %q", e.Outcome)
		}
		if len(bad) == 0 {
			roundTrip(t, e)
		}
		for _, a := range e.Atoms {
			if a.Atom.Type == "" || a.Atom.Path == "" && !a.Atom.ExplicitID {
				t.Errorf("atom at %s has no type or no name", a.At)
			}
		}
	})
}

// roundTrip wants Parse(Print(e)) to be e, but for where the blocks stood.
func roundTrip(t *testing.T, e Emission) {
	t.Helper()
	again, bad := Parse(Print(e))
	if len(bad) > 0 {
		t.Fatalf("what was printed is not read: %v", bad)
	}
	plain := func(e Emission) ([]string, Emission) {
		var atoms []string
		for _, a := range e.Atoms {
			atoms = append(atoms, a.Base, a.Atom.Path, string(a.Atom.ID), string(a.Atom.Bytes()))
		}
		e.Atoms, e.Change = nil, nil
		return atoms, e
	}
	wantAtoms, want := plain(e)
	gotAtoms, got := plain(again)
	if d := cmp.Diff(want, got) + cmp.Diff(wantAtoms, gotAtoms); d != "" {
		t.Errorf("printed and read again (-want +got):\n%s", d)
	}
}

func octaveBlock(text string) string { return fence3 + "octave\n" + text + fence3 + "\n" }

// What a session says to its anchor comes through as it stands, also without an
// outcome, and what comes after work is told.
func TestParsePayloads(t *testing.T) {
	t.Parallel()
	bind, proof := "===IDENTITY===\nBIND:\n  ROLE::editor\n===END===\n", "===IDENTITY===\nCOMMIT:\n===END===\n"
	want := []Payload{{Text: []byte(bind), Line: 2}, {Text: []byte(proof), Line: 8}}
	text := "Here is who I am.\n" + octaveBlock(bind) + octaveBlock(proof)
	if e, bad := Parse([]byte(text)); len(bad) > 0 || e.Failure != Silent || cmp.Diff(want, e.Payloads) != "" {
		t.Errorf("%v, %s: %s", bad, e.Failure, cmp.Diff(want, e.Payloads))
	}
	e, bad := Parse([]byte(octaveBlock(bind) + atomBlock("", goodAtom) + octaveBlock(proof) + done))
	if len(bad) > 0 || len(e.Atoms) != 1 || len(e.Payloads) != 2 || e.Payloads[0].Late || !e.Payloads[1].Late {
		t.Errorf("%v, %+v", bad, e)
	}
	again, bad := Parse(Print(e))
	if len(bad) > 0 || len(again.Payloads) != 2 || string(again.Payloads[1].Text) != proof {
		t.Errorf("printed: %v, %+v", bad, again.Payloads)
	}
	if _, bad := Parse([]byte(fence3 + "octave\n" + bind)); len(bad) != 1 || !strings.Contains(bad[0].Message, "the octave block is not closed") {
		t.Errorf("not closed: %v", bad)
	}
}

// A change and the blocks that lead to one are kept as they stand, each once.
func TestParseChangeAndItsSteps(t *testing.T) {
	t.Parallel()
	block := func(word, text string) string { return fence3 + word + "\n" + text + fence3 + "\n" }
	e, bad := Parse([]byte(block("expansion", "{\"e\": 1}\n") + block("plan", "not JSON\n") + block("change", "{\"c\": 1}\n") + done))
	if len(bad) > 0 {
		t.Fatal(bad)
	}
	want := []Change{{[]byte("{\"e\": 1}\n"), 1}, {[]byte("not JSON\n"), 4}, {[]byte("{\"c\": 1}\n"), 7}}
	if d := cmp.Diff(want, []Change{*e.Expansion, *e.Plan, *e.Change}); d != "" {
		t.Error(d)
	}
	for _, word := range []string{"expansion", "plan", "change"} {
		if _, bad := Parse([]byte(block(word, "1\n") + block(word, "2\n") + done)); len(bad) != 1 || bad[0].Line != 4 || !strings.Contains(bad[0].Message, "stands twice, first on line 1") {
			t.Errorf("two of %s: %v", word, bad)
		}
		if _, bad := Parse([]byte(done + fence3 + word + "\nopen\n")); len(bad) != 1 || !strings.Contains(bad[0].Message, "is not closed") {
			t.Errorf("an open %s: %v", word, bad)
		}
	}
	failed := judgeEmission(t.Context(), Emission{Outcome: Refused, Change: e.Change, Plan: e.Plan, Expansion: e.Expansion}, Request{})
	if failed.Change != nil || failed.Plan != nil || failed.Expansion != nil {
		t.Error("a session that refused keeps its change")
	}
}

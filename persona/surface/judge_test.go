package surface

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
)

func TestExcess(t *testing.T) {
	t.Parallel()
	c, o := scene("", all(surfaced(contract.SurfaceRule{MaxTokens: 2, Machine: true}), says("progress", "12345678", "123456789")))
	o.Deliverable.Commentary.Says = []string{"short", "1234567890123"}
	c.Voice = contract.VoiceNeutral
	_, v := Judge(c, o)
	want := []Excess{{"says[1].text", 3, 2}, {"deliverable.says[1]", 4, 2}}
	if d := cmp.Diff(want, v.Excess); d != "" || v.Failure != "" {
		t.Errorf("failure %q (-want +got):\n%s", v.Failure, d)
	}
	c, o = scene(contract.Validation, surfaced(contract.SurfaceRule{MaxTokens: 4}))
	o.Deliverable.Findings.Artifact = strings.Repeat("a/", 40)
	o.Deliverable.Findings.Findings[0].Claim = strings.Repeat("é", 9)
	if _, v = Judge(c, o); !cmp.Equal([]Excess{{"deliverable.findings[0].claim", 5, 4}}, v.Excess) {
		t.Errorf("a machine field counts, or a person's does not: %+v", v.Excess)
	}
	o.Deliverable.Findings.Findings[0].Claim = "🦦 " + strings.Repeat("a", 16)
	c.Voice = contract.VoiceStrict
	if _, v = Judge(c, o); v.Excess != nil {
		t.Errorf("measured before it was cleaned: %+v", v.Excess)
	}
}

func TestTurn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		says change
		want string
	}{
		{"nothing said", nothing, "done"},
		{"unmarked", says("progress", "reading"), "done"},
		{"unmarked question last", says("question", "which?"), "yielding"},
		{"unmarked question first", all(says("question", "which?"), says("progress", "reading")), "done"},
		{"the last marker", all(says("progress", "a"), marked("holding"), says("progress", "b"), marked("yielding")), "yielding"},
		{"a marker before an unmarked say", all(says("progress", "a"), marked("holding"), says("progress", "b")), "holding"},
	} {
		c, o := scene("", all(assistant, tt.says))
		if _, v := Judge(c, o); v.Turn != tt.want || v.Failure != "" {
			t.Errorf("%s: got %q, failure %q, want %q", tt.name, v.Turn, v.Failure, tt.want)
		}
		c.Engagement = contract.Agent
		if _, v := Judge(c, o); v.Turn != "" {
			t.Errorf("%s: an agent has a turn: %q", tt.name, v.Turn)
		}
	}
}

func TestAgentQuestions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		mode contract.Mode
		says change
		want string
	}{
		{"exploration asks", contract.Exploration, says("question", "which?"), ""},
		{"exploration yields", contract.Exploration, all(says("question", "which?"), marked("yielding")), "clarifying-question"},
		{"planning asks", contract.Planning, says("question", "which?"), "clarifying-question"},
		{"a role without a mode asks", "", says("question", "which?"), "clarifying-question"},
		{"execution reverts with a question", contract.Execution, says("reversion", "which?"), ""},
		{"execution wonders aloud", contract.Execution, says("progress", "which?"), ""},
		{"a case of its own", contract.Execution, says("Question", "which?"), "unknown-kind"},
		{"a marker of its own", contract.Execution, all(says("progress", "a"), marked("over")), "unknown-kind"},
	} {
		if _, v := Judge(scene(tt.mode, tt.says)); v.Failure != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, v.Failure, tt.want)
		}
	}
}

func TestDeliverableAsked(t *testing.T) {
	t.Parallel()
	prose := says("progress", "all of it in prose")
	structured := surfaced(contract.SurfaceRule{Structured: true, Narrative: true})
	general := func(c *contract.Contract, _ *Output) { c.Deliverable = "" }
	empty := func(_ *contract.Contract, o *Output) { o.Deliverable.Findings = nil }
	for _, tt := range []struct {
		name   string
		mode   contract.Mode
		change change
		want   string
	}{
		{"prose alone", contract.Validation, all(withoutDeliverable, prose), "no-deliverable"},
		{"prose alone on a narrative surface", contract.Planning, all(withoutDeliverable, prose, surfaced(contract.SurfaceRule{Narrative: true})), "no-deliverable"},
		{"commentary as prose", "", all(withoutDeliverable, prose, surfaced(contract.SurfaceRule{Narrative: true})), ""},
		{"commentary as prose where it is not read", "", all(withoutDeliverable, prose), "no-deliverable"},
		{"commentary as prose on a structured surface", "", all(withoutDeliverable, prose, structured), "no-deliverable"},
		{"no commentary at all", "", all(withoutDeliverable, surfaced(contract.SurfaceRule{Narrative: true})), "no-deliverable"},
		{"general owes nothing", "", all(withoutDeliverable, general), ""},
		{"general on a structured surface", "", all(withoutDeliverable, general, structured), "no-deliverable"},
		{"general with any on a structured surface", contract.Planning, all(general, structured), ""},
		{"an assistant goes on", contract.Planning, all(withoutDeliverable, assistant, prose, marked("holding")), ""},
		{"an assistant is done", contract.Planning, all(withoutDeliverable, assistant, prose, marked("done")), "no-deliverable"},
		{"an assistant drafts", contract.Validation, all(empty, assistant, prose, marked("yielding")), ""},
		{"a schema and nothing in it", contract.Validation, empty, "incomplete-deliverable"},
	} {
		if _, v := Judge(scene(tt.mode, tt.change)); v.Failure != tt.want {
			t.Errorf("%s: got %q (%s), want %q", tt.name, v.Failure, v.Detail, tt.want)
		}
	}
}

// All failures are listed, the table's first is the verdict's, and Detail says
// what of each; a field that cleaning left empty is missing.
func TestAllFailures(t *testing.T) {
	t.Parallel()
	c, o := scene(contract.Planning, says("shout", "a"))
	o.Deliverable.Plan.Artifact, o.Deliverable.Plan.WouldInvalidate = "🦦", nil
	_, v := Judge(c, o)
	failed, _ := found(v)
	if d := cmp.Diff([]string{"unknown-kind", "incomplete-deliverable"}, failed); d != "" || v.Failure != "unknown-kind" {
		t.Errorf("failure %q (-want +got):\n%s", v.Failure, d)
	}
	for _, want := range []string{`says[0] has kind "shout" in planning; `, "artifact, would_invalidate"} {
		if !strings.Contains(v.Detail, want) {
			t.Errorf("detail %q does not say %q", v.Detail, want)
		}
	}
	if !strings.Contains(v.Failures[0].Way, "assertion") {
		t.Errorf("got %+v", v)
	}
}

func TestKindsAreDelivers(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, k := range deliver.Kinds() {
		known[k] = true
	}
	for _, m := range []contract.Mode{contract.Exploration, contract.Planning, contract.Execution, contract.Validation, contract.Resolution, ""} {
		for _, k := range Kinds(contract.Contract{Mode: m}) {
			if !known[k] {
				t.Errorf("%s has kind %q, which no say may have", m, k)
			}
		}
	}
}

func FuzzJudge(f *testing.F) {
	f.Add("execution", "agent", "persona", "question", "done 🦦?\n\n🌊", "yielding", "odd.plan.1", 3)
	f.Add("", "assistant", "", "", "\xff", "", "odd.commentary.1", 0)
	f.Add("resolution", "agent", "strict", "reversion", "a? b?", "done", "nonsense", 1)
	f.Fuzz(func(t *testing.T, mode, engagement, voice, kind, text, marker, schema string, limit int) {
		c := contract.Contract{
			Mode: contract.Mode(mode), Engagement: contract.Engagement(engagement), Voice: contract.Voice(voice), Persona: keeper(), Deliverable: schema,
			Surface: contract.SurfaceRule{MaxTokens: limit, MaxEmissions: limit, Structured: limit%2 == 0},
		}
		d := whole(c.Mode)
		d.Schema = schema
		for _, x := range d.Texts() {
			*x.S = text
		}
		in := Output{Says: []deliver.Say{{Kind: kind, Text: text, Marker: marker}}, Deliverable: d}
		out, v := Judge(c, in)
		again, w := Judge(c, out)
		if diff := cmp.Diff(out, again); diff != "" || len(w.Changes) > 0 {
			t.Fatalf("judged again it changes: %v\n%s", w.Changes, diff)
		}
		if (v.Failure == "") != (len(v.Failures) == 0) || utf8.ValidString(text) != utf8.ValidString(out.Says[0].Text) {
			t.Fatalf("verdict %+v on %q", v, out.Says[0].Text)
		}
	})
}

package deliver

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const plan = `{
  "schema": "odd.plan.1",
  "artifact": "knowledge/terms/slack-water.md",
  "assumptions": [
    "the almanac is this year's"
  ],
  "scope_in": [
    "the term"
  ],
  "scope_out": [],
  "deferred": [],
  "would_invalidate": [
    "a new almanac"
  ]
}
`

func TestDecode(t *testing.T) {
	t.Parallel()
	d, err := Decode(SchemaPlan, []byte(plan))
	if err != nil {
		t.Fatal(err)
	}
	want := Deliverable{Schema: SchemaPlan, Plan: &Plan{
		Artifact: "knowledge/terms/slack-water.md", Assumptions: []string{"the almanac is this year's"},
		ScopeIn: []string{"the term"}, ScopeOut: []string{}, Deferred: []string{}, WouldInvalidate: []string{"a new almanac"},
	}}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
	if got := string(Encode(d)); got != plan {
		t.Errorf("Encode = %s", got)
	}
	if m := d.Missing(); len(m) > 0 {
		t.Errorf("Missing = %v", m)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, schema, text, want string }{
		{"truncated", "", "{\n\"schema\": \"odd.plan.1\",\n\"deferred\": [", "line 3: not one JSON object: unexpected end of JSON input"},
		{"two", "", `{"schema":"odd.plan.1"} {}`, "line 1: not one JSON object: invalid character '{' after top-level value"},
		{"list", "", `[]`, "line 1: not a JSON object"},
		{"utf8", "", "{\"schema\":\"\xff\"}", "line 1: not one JSON object: not UTF-8"},
		{"other", SchemaPlan, `{"schema":"odd.claims.1"}`, `line 1: schema: "odd.claims.1", want "odd.plan.1"`},
		{"none", "", `{"artifact":"x"}`, "no schema"},
		{"unknown schema", "", `{"schema":"odd.plan.2"}`, `unknown schema "odd.plan.2"`},
		{"twice", "", "{\"schema\":\"odd.plan.1\",\n\"deferred\":[],\n\"deferred\":[]}", "line 3: deferred: the key stands twice"},
		{"schema twice", "", `{"schema":"odd.plan.1","schema":"odd.claims.1"}`, "schema: the key stands twice"},
		{"case", "", `{"schema":"odd.plan.1","Scope-In":[]}`, `unknown key "Scope-In"; did you mean "scope_in"?`},
		{"unknown", "", `{"schema":"odd.plan.1","verdict":"pass"}`, `unknown key "verdict"; the keys are artifact, assumptions`},
		{"number", "", `{"schema":"odd.plan.1","artifact":7}`, "artifact: not a text"},
		{"scalar", "", `{"schema":"odd.plan.1","deferred":"none"}`, "deferred: not a list"},
		{"null", "", `{"schema":"odd.plan.1","deferred":null}`, "deferred: not a list"},
		{"empty item", "", `{"schema":"odd.plan.1","deferred":["x"," "]}`, "deferred[1]: not a text, or an empty one"},
		{"control", "", `{"schema":"odd.plan.1","artifact":"\u001b[2J"}`, "artifact: the control character U+001B"},
		{"control item", "", `{"schema":"odd.plan.1","steps":["a\r"]}`, "steps[0]: the control character U+000D"},
		{"deep item", "", `{"schema":"odd.plan.1","deferred":[["x"]]}`, "deferred[0]: not a text"},
		{"enum", "", `{"schema":"odd.findings.1","findings":[{"classification":"critical"}]}`, `findings[0].classification: "critical" is none of blocker, finding, caveat`},
		{"word", "", `{"schema":"odd.findings.1","findings":[{"disposition":"wontfix"}]}`, "none of fix, pivot, accept"},
		{"confidence", "", `{"schema":"odd.synthesis.1","entries":[{"confidence":"sure"}]}`, "none of low, medium, high"},
		{"id twice", "", "{\"schema\":\"odd.findings.1\",\"findings\":[{\"id\":\"F1\"},\n{\"id\":\"F1\"}]}", "line 2: findings[1].id: the id F1 stands twice"},
		{"bad id", "", `{"schema":"odd.findings.1","findings":[{"id":"a b"}]}`, `"a b" is no id`},
		{"answered twice", "", `{"schema":"odd.remediation.1","remedies":[{"finding":"F1"},{"finding":"F1"}]}`, "remedies[1].finding: the finding F1 is answered twice"},
		{"nested key", "", `{"schema":"odd.findings.1","findings":[{"severity":"x"}]}`, `findings[0].severity: unknown key "severity"`},
		{"not an object", "", `{"schema":"odd.findings.1","findings":["x"]}`, "findings[0]: not an object"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := Decode(c.schema, []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Decode = %v, want %s", err, c.want)
			}
		})
	}
}

func TestDecodeListsEveryProblem(t *testing.T) {
	t.Parallel()
	_, err := Decode("", []byte("{\"schema\":\"odd.plan.1\",\n\"artifact\":1,\n\"x\":2,\n\"steps\":3}"))
	if ps, ok := err.(Problems); !ok || len(ps) != 3 || ps[2].Line != 4 {
		t.Errorf("err = %v", err)
	}
}

func TestDecodeNamesFindings(t *testing.T) {
	t.Parallel()
	d, err := Decode("", []byte(`{"schema":"odd.findings.1","findings":[{},{"id":"F1"},{}]}`))
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, f := range d.Findings.Findings {
		got += f.ID + " "
	}
	if got != "F2 F1 F3 " {
		t.Errorf("ids = %s", got)
	}
}

// An item in which there is nothing to read is none.
func TestBlankItems(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{"": true, " \t\n": true, "\u200b\u2060": true, "\u202e": true, "\u2800": true, "\ufe0f\u0301": true,
		"-": false, "é": false, "e\u0301": false, "北": false, "🦦": false, "0": false} {
		if got := Blank(s); got != want {
			t.Errorf("Blank(%q) is %v", s, got)
		}
	}
	if _, err := Decode(SchemaCommentary, []byte(`{"schema":"odd.commentary.1","says":["\u200b\u2060"]}`)); err == nil {
		t.Error("an item that nobody can see was taken for one")
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{`{"schema":"odd.synthesis.1"}`, "possibilities tensions unknowns frames"},
		{`{"schema":"odd.synthesis.1","possibilities":["a"],"tensions":[],"unknowns":[],"frames":[]}`, ""},
		{`{"schema":"odd.synthesis.1","possibilities":[],"tensions":[],"unknowns":[],"frames":[],"entries":[{"observation":"o"}]}`,
			"possibilities entries[0].context entries[0].implication entries[0].confidence entries[0].open_questions"},
		{`{"schema":"odd.plan.1"}`, "artifact assumptions scope_in scope_out deferred would_invalidate"},
		{`{"schema":"odd.plan.1","artifact":"x","assumptions":[],"scope_in":["a"],"scope_out":[],"deferred":[],"would_invalidate":[]}`, "assumptions would_invalidate"},
		{`{"schema":"odd.claims.1"}`, "artifact does does_not scope"},
		{`{"schema":"odd.claims.1","artifact":"x","does":["a"],"does_not":[],"scope":" "}`, "scope"},
		{`{"schema":"odd.claims.1","artifact":"\u200b","does":["a"],"does_not":[],"scope":"\u00a0\u2060\u0301\u3164\u2800\ufe0f"}`, "artifact scope"},
		{`{"schema":"odd.findings.1","artifact":"x"}`, "findings"},
		{`{"schema":"odd.findings.1","artifact":"x","findings":[]}`, ""},
		{`{"schema":"odd.findings.1","findings":[{}]}`, "artifact findings[0].location findings[0].claim findings[0].evidence findings[0].classification findings[0].disposition"},
		{`{"schema":"odd.remediation.1","artifact":"x","remedies":[]}`, "remedies"},
		{`{"schema":"odd.remediation.1","artifact":"x","remedies":[{"finding":"F1","why":"no"},{"finding":"F2","changed":["x"]},{"finding":"F3","changed":[]}]}`, "remedies[2].changed"},
		{`{"schema":"odd.commentary.1"}`, "says"},
	} {
		d, err := Decode("", []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(d.Missing(), " "); got != c.want {
			t.Errorf("%s\n misses %s\n want   %s", c.text, got, c.want)
		}
		for _, key := range d.Missing() {
			if Ask(d.Schema, key) == "" {
				t.Errorf("%s: nothing asks for %s", d.Schema, key)
			}
		}
	}
	if got := (Deliverable{}).Missing(); len(got) != 1 || got[0] != "schema" {
		t.Errorf("no schema misses %v", got)
	}
	if Ask(SchemaPlan, "nothing") != "" || Ask(SchemaPlan, "artifact.x") != "" {
		t.Error("Ask knows a key that is not there")
	}
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		findings string
		want     Verdict
	}{
		{"", Pass},
		{"finding/fix caveat/accept", Pass},
		{"blocker/fix finding/pivot", Fail},
		{"finding/pivot blocker/pivot caveat/accept", Fail},
		{"blocker/accept", NeedsHumanReview},
		{"finding/pivot", NeedsHumanReview},
		{"finding/", NeedsHumanReview},
		{"/fix", NeedsHumanReview},
		{"blocker/", Fail},
	} {
		var fs []Finding
		for _, f := range strings.Fields(c.findings) {
			k, disposition, _ := strings.Cut(f, "/")
			fs = append(fs, Finding{Classification: Classification(k), Disposition: Disposition(disposition)})
		}
		if s := Summarize(fs); s.Verdict != c.want || s.Total != len(fs) {
			t.Errorf("%q = %+v, want %s", c.findings, s, c.want)
		}
	}
	s := Summarize([]Finding{{Classification: Blocker, Disposition: Fix}, {Classification: Defect, Disposition: Fix}, {}})
	if s.ByClassification[Blocker] != 1 || s.ByDisposition[Fix] != 2 || s.ByDisposition[Accept] != 0 || s.Unrated != 1 {
		t.Errorf("counts = %+v", s)
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	d, err := Decode("", []byte(`{"schema":"odd.findings.1","artifact":"a","findings":[{"location":"l","claim":"c","evidence":"e","disposition":"fix"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, x := range d.Texts() {
		got += fmt.Sprintf("%s %v %s\n", x.At, x.Machine, *x.S)
		if !x.Machine {
			*x.S = "clean"
		}
	}
	want := "artifact true a\nfindings[0].id true F1\nfindings[0].location true l\nfindings[0].claim false c\nfindings[0].evidence false e\nfindings[0].disposition true fix\n"
	if got != want {
		t.Errorf("got\n%s", got)
	}
	if f := d.Findings.Findings[0]; f.Claim != "clean" || f.Location != "l" {
		t.Errorf("written through: %+v", f)
	}
}

func TestSayCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		say Say
		ok  bool
	}{
		{Say{"question", "Who?", ""}, true},
		{Say{"progress", "Half.", "holding"}, true},
		{Say{"musing", "Hm.", ""}, false},
		{Say{"question", "Who?", "waiting"}, false},
		{Say{"question", " ", ""}, false},
	} {
		if err := c.say.Check(); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.say, err)
		}
	}
}

// drawn fills the members with anything Decode would take.
func drawn(t *rapid.T, ms []member) {
	word := rapid.StringMatching(`[ \x60~"\\<>&\n\t]{0,3}[a-zäß🦦\x60#:-]{1,6}[ \n]{0,2}`)
	for _, m := range ms {
		switch {
		case len(m.enum) > 0:
			*m.text = rapid.SampledFrom(append([]string{""}, m.enum...)).Draw(t, m.key)
		case m.key == "id", m.key == "finding":
		case m.text != nil:
			*m.text = rapid.OneOf(word, rapid.Just("")).Draw(t, m.key)
		case !rapid.Bool().Draw(t, m.key+" is there"):
		case m.list != nil:
			*m.list = rapid.SliceOfN(word, 0, 3).Draw(t, m.key)
		default:
			m.objs.reset(rapid.IntRange(0, 3).Draw(t, m.key))
			for i := range m.objs.count() {
				drawn(t, m.objs.at(i))
			}
		}
	}
}

func TestEncodeDecode(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := Deliverable{Schema: rapid.SampledFrom(Schemas()).Draw(t, "schema")}
		drawn(t, d.schemaMembers())
		if d.Findings != nil {
			d.Findings.addIDs(map[string]bool{})
		}
		b := Encode(d)
		got, err := Decode(d.Schema, b)
		if err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		if diff := cmp.Diff(d, got); diff != "" {
			t.Fatalf("%s\n%s", diff, b)
		}
		c := d.Clone()
		for _, x := range c.Texts() {
			*x.S = "changed"
		}
		if diff := cmp.Diff(d, got); diff != "" {
			t.Fatalf("the clone shares: %s", diff)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(plan))
	f.Add([]byte(`{"schema":"odd.findings.1","findings":[{"id":"F1"},{}]}`))
	f.Add([]byte(`{"schema":"odd.remediation.1","remedies":[{"finding":"\ud800","changed":["` + "```" + `"]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Decode("", b)
		if err != nil {
			if ps, ok := err.(Problems); !ok || len(ps) == 0 {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		again, err := Decode(d.Schema, Encode(d))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d, again); diff != "" {
			t.Fatal(diff)
		}
		for _, l := range strings.Split(string(Encode(d)), "\n") {
			if strings.HasPrefix(strings.TrimSpace(l), "`") {
				t.Fatalf("a line begins with a backtick: %q", l)
			}
		}
		d.Missing()
	})
}

package handoff

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
)

// atom parses a handoff file at a fixed path.
func atom(t testing.TB, text string) *okf.Atom {
	t.Helper()
	a, err := okf.Parse("handoffs/h.md", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &a
}

const written = `---
type: handoff
title: Ferry times
from: planning
to: execution
artifact: knowledge/terms/slack-water.md
deferred: []
journal: journal/2026-03-02-ann.tsv
---

# Ferry times

A word before.

## Assumptions

These hold:

- the almanac is
  this year's
- the *ferry* sails

### On Sundays

1. not at all

## SCOPE  in

The term and its sources.

Nothing else.

<!-- ## Steps
- hidden -->

## Scope out

None.

## Would-invalidate:

* a new almanac

~~~
## Steps
- code
~~~
`

func TestReadSections(t *testing.T) {
	t.Parallel()
	h, err := Read(atom(t, written))
	if err != nil {
		t.Fatal(err)
	}
	want := deliver.Deliverable{Schema: deliver.SchemaPlan, Plan: &deliver.Plan{
		Artifact:        "knowledge/terms/slack-water.md",
		Assumptions:     []string{"the almanac is this year's", "the *ferry* sails", "not at all"},
		ScopeIn:         []string{"The term and its sources.", "Nothing else."},
		ScopeOut:        []string{},
		Deferred:        []string{},
		WouldInvalidate: []string{"a new almanac"},
	}}
	if diff := cmp.Diff(want, h.Deliverable); diff != "" {
		t.Error(diff)
	}
	if len(h.Missing) > 0 || h.Journal != "journal/2026-03-02-ann.tsv" || h.From != contract.Planning || h.ID != "handoffs/h" {
		t.Errorf("h = %+v", h.Handoff)
	}
}

func TestReadMissing(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("deferred: []\n", "deferred:\n", "* a new almanac", "<!-- what would undo it -->").Replace(written)
	h, err := Read(atom(t, text))
	if err != nil || strings.Join(h.Missing, " ") != "deferred would_invalidate" {
		t.Errorf("Missing = %v, %v", h.Missing, err)
	}
}

const findings = `---
type: handoff
from: validation
to: resolution
artifact: a.md
---

## Findings

- for people

` + "````json" + `
{"schema": "odd.findings.1", "findings": [
  {"location": "a.md:3", "claim": "c", "evidence": "e", "classification": "blocker", "disposition": "fix"}
]}
` + "````" + `
`

func TestReadBlock(t *testing.T) {
	t.Parallel()
	h, err := Read(atom(t, findings))
	if err != nil || len(h.Missing) > 0 {
		t.Fatal(err, h.Missing)
	}
	want := []deliver.Finding{{ID: "F1", Location: "a.md:3", Claim: "c", Evidence: "e", Classification: deliver.Blocker, Disposition: deliver.Fix}}
	if diff := cmp.Diff(want, h.Deliverable.Findings.Findings); diff != "" || h.Deliverable.Findings.Artifact != "a.md" {
		t.Error(diff, h.Deliverable.Findings.Artifact)
	}
	if diff := cmp.Diff(map[string]deliver.Disposition{"F1": deliver.Fix}, h.Findings); diff != "" {
		t.Errorf("what a resolver is bound by: %s", diff)
	}
}

func TestReadNoFindings(t *testing.T) {
	t.Parallel()
	text := "---\ntype: handoff\nfrom: validation\nto: resolution\nartifact: a.md\n---\n\n## Findings\n\n"
	h, err := Read(atom(t, text+"None.\n"))
	if err != nil || len(h.Missing) > 0 || h.Deliverable.Findings.Findings == nil {
		t.Errorf("%v %v", err, h.Missing)
	}
	h, err = Read(atom(t, text+"- one at a.md:3\n"))
	if err != nil || strings.Join(h.Missing, " ") != "findings" {
		t.Errorf("prose for findings: %v %v", err, h.Missing)
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, from, old, new, want string }{
		{"no mode", written, "from: planning", "from: Planning", `handoffs/h.md:4: from "Planning" is no mode; write planning`},
		{"absent", written, "to: execution\n", "", `to "" is no mode`},
		{"no transition", written, "to: execution", "to: validation", "handoffs/h.md:5: planning → validation is no transition; a handoff is one of exploration → planning"},
		{"backwards", written, "from: planning\nto: execution", "from: execution\nto: planning", "odd agent handoff revert"},
		{"type", written, "type: handoff", "type: note", `type "note", not handoff`},
		{"nested", written, "deferred: []", "deferred: [[x]]", "handoffs/h.md:7: deferred[0]: not a text"},
		{"mapping", written, "deferred: []", "deferred: {a: b}", "handoffs/h.md:7: deferred: not a list"},
		{"two places", written, "deferred: []", "scope_in: [other]", "scope_in says something else than on line 7; keep one of the two"},
		{"key", findings, `"claim"`, `"Claim"`, `handoffs/h.md:14: findings[0].Claim: unknown key "Claim"; did you mean "claim"?`},
		{"enum", findings, `"blocker"`, `"big"`, `handoffs/h.md:14: findings[0].classification: "big" is none of`},
		{"schema", findings, "odd.findings.1", "odd.plan.1", `schema: "odd.plan.1", want "odd.findings.1"`},
		{"open", findings, "]}\n````", "]}", "handoffs/h.md:12: the json block is not closed"},
		{"two blocks", findings, "## Findings", "```json\n{\"schema\":\"odd.findings.1\"}\n```", "a second deliverable, the first is on line 8"},
		{"artifact", findings, `"findings": [`, `"artifact": "b.md", "findings": [`, "artifact says something else than on line 5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(c.from, c.old, c.new, 1)
			if _, err := Read(atom(t, text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Read = %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestReadLax(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("deferred: []", "deferred: 7\nsteps: [1, true, 2.5]\noverride: run-1").Replace(written)
	h, err := Read(atom(t, text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1", "true", "2.5"}, h.Deliverable.Plan.Steps); diff != "" || h.Deliverable.Plan.Deferred[0] != "7" || h.Tainted != "run-1" {
		t.Error(diff, h.Deliverable.Plan.Deferred, h.Tainted)
	}
}

// nasty is text that would like to be YAML, a fence, a heading or a comment.
func nasty() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{
		"a", "ü🦦", "```", "```json\n", "\n", "\n---\n", "# ", "\n## Assumptions\n", "- x", ": ", " #", "<!--", "-->", "'", `"`, `\`, "[", "]", "{", "&", "*", "|", ">", "%", "@",
		"\t", "null", "true", "7", "2026-03-02", "\u200b", "\u202e", "\u2028", "\ufeff", "~", ",", "odd.plan.1", "none", "=", "!", "?",
	}), 1, 6), func(parts []string) string { return "w" + strings.Join(parts, "") })
}

func drawList(t *rapid.T, name string) []string {
	if !rapid.Bool().Draw(t, name+" is there") {
		return nil
	}
	return rapid.SliceOfN(rapid.OneOf(nasty(), rapid.SampledFrom([]string{"none", "null", "yes", "---", "- a", "```", "# x", "0x1", ":"})), 0, 3).Draw(t, name)
}

func drawText(t *rapid.T, name string) string {
	return rapid.OneOf(nasty(), rapid.Just("")).Draw(t, name)
}

// drawDeliverable makes any deliverable that Decode would take, of a schema that is handed over.
func drawDeliverable(t *rapid.T, schema string) deliver.Deliverable {
	d := deliver.Deliverable{Schema: schema}
	list := func(name string) []string { return drawList(t, name) }
	text := func(name string) string { return drawText(t, name) }
	several := func(name string, each func(i int)) {
		for i := range rapid.IntRange(0, 3).Draw(t, name) {
			each(i)
		}
	}
	switch schema {
	case deliver.SchemaSynthesis:
		s := &deliver.Synthesis{Possibilities: list("p"), Tensions: list("t"), Unknowns: list("u"), Frames: list("f"), Rejected: list("r")}
		several("entries", func(int) {
			s.Entries = append(s.Entries, deliver.Entry{Observation: text("o"), Context: text("c"), Implication: text("i"), Confidence: "low", OpenQuestions: list("q")})
		})
		d.Synthesis = s
	case deliver.SchemaPlan:
		d.Plan = &deliver.Plan{Artifact: text("a"), Assumptions: list("as"), ScopeIn: list("in"), ScopeOut: list("out"), Deferred: list("d"), WouldInvalidate: list("w"), Steps: list("s")}
	case deliver.SchemaClaims:
		d.Claims = &deliver.Claims{Artifact: text("a"), Does: list("d"), DoesNot: list("n"), Scope: text("s"), Evidence: list("e")}
	case deliver.SchemaFindings:
		d.Findings = &deliver.Findings{Artifact: text("a")}
		several("findings", func(i int) {
			d.Findings.Findings = append(d.Findings.Findings, deliver.Finding{ID: "X" + string(rune('0'+i)), Location: text("l"), Claim: text("c"), Evidence: text("e"), Disposition: deliver.Pivot, Suggestion: text("s")})
		})
	case deliver.SchemaRemediation:
		d.Remediation = &deliver.Remediation{Artifact: text("a")}
		several("remedies", func(i int) {
			d.Remediation.Remedies = append(d.Remediation.Remedies, deliver.Remedy{Finding: "X" + string(rune('0'+i)), Changed: list("c"), Why: text("w")})
		})
	}
	return d
}

func TestReadOfMake(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tr := rapid.SampledFrom(contract.Transitions()).Draw(t, "transition")
		d := drawDeliverable(t, tr.Schema)
		m := Meta{From: tr.From, To: tr.To, Slug: "h", Title: drawText(t, "title"), Persona: drawText(t, "persona"), Run: rapid.SampledFrom([]string{"", "run-01J"}).Draw(t, "run"),
			By: "human:ann@example.org", At: "2026-03-02T09:00:00Z", Journal: drawText(t, "journal"), Derives: drawList(t, "derives"), Tainted: drawText(t, "taint"),
			Disagreements: drawList(t, "disagreements"), Said: []Said{{"assumptions", drawText(t, "said"), []string{"a"}, 2}}}
		name, b, err := Make(m, d)
		if err != nil {
			t.Fatal(err)
		}
		a, err := okf.Parse(name, b)
		if err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		h, err := Read(&a)
		if err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		if diff := cmp.Diff(d, h.Deliverable); diff != "" {
			t.Fatalf("%s\n%s", diff, b)
		}
		got := Meta{From: h.From, To: h.To, Persona: h.Persona, Run: h.Run, By: a.Generated.By, At: a.Generated.At, Journal: h.Journal, Derives: h.Derives, Tainted: h.Tainted, Disagreements: h.Disagreements}
		want := m
		want.Slug, want.Title, want.Said = "", "", nil
		if len(want.Derives) == 0 {
			want.Derives = nil
		}
		if len(want.Disagreements) == 0 {
			want.Disagreements = nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s\n%s", diff, b)
		}
		if (a.Confidence() == okf.Inferred) != (m.Run != "") {
			t.Fatalf("confidence %s of run %q", a.Confidence(), m.Run)
		}
	})
}

func TestMake(t *testing.T) {
	t.Parallel()
	d := deliver.Deliverable{Schema: deliver.SchemaFindings, Findings: &deliver.Findings{Artifact: "knowledge/a.md", Findings: []deliver.Finding{
		{ID: "F1", Location: "knowledge/a.md:3", Claim: "two *hours*", Evidence: "three", Classification: deliver.Blocker, Disposition: deliver.Fix}}}}
	m := Meta{From: contract.Validation, To: contract.Resolution, Slug: "Ferry Times!", Run: "run-01JABC", By: "odd/devel", At: "2026-03-02T09:00:00Z", Tainted: "run-00"}
	name, b, err := Make(m, d)
	if err != nil {
		t.Fatal(err)
	}
	want := `---
type: handoff
title: knowledge/a.md, validation to resolution
tags: [override-produced]
confidence: inferred
generated: {by: odd/devel, at: 2026-03-02T09:00:00Z}
from: validation
to: resolution
artifact: knowledge/a.md
run: run-01JABC
override: run-00
---

# knowledge/a.md, validation to resolution

What validation hands over to resolution, to be read alone. The block at the end is what counts; the list above it says the same for people.

## Findings: fail

1 finding: 1 blocker, 0 finding, 0 caveat; 1 fix, 0 pivot, 0 accept

artifact: knowledge/a.md
findings:
- F1
  - location: knowledge/a.md:3
  - claim: two \*hours\*
  - evidence: three
  - classification: blocker
  - disposition: fix

` + "```json" + `
{
  "schema": "odd.findings.1",
  "artifact": "knowledge/a.md",
  "findings": [
    {
      "id": "F1",
      "location": "knowledge/a.md:3",
      "claim": "two *hours*",
      "evidence": "three",
      "classification": "blocker",
      "disposition": "fix"
    }
  ]
}
` + "```\n"
	if diff := cmp.Diff(want, string(b)); diff != "" || name != "handoffs/run-01jabc-ferry-times.md" {
		t.Error(name, diff)
	}
	if m.Run, m.Slug = "", ""; m.Path() != "handoffs/2026-03-02-validation-to-resolution.md" {
		t.Error(m.Path())
	}
}

func TestMakeRefuses(t *testing.T) {
	t.Parallel()
	d := deliver.Deliverable{Schema: deliver.SchemaPlan, Plan: &deliver.Plan{}}
	if _, _, err := Make(Meta{From: contract.Planning, To: contract.Validation}, d); err == nil || !strings.Contains(err.Error(), "is no transition") {
		t.Error(err)
	}
	if _, _, err := Make(Meta{From: contract.Execution, To: contract.Validation}, d); err == nil || !strings.Contains(err.Error(), "hands over odd.claims.1, not odd.plan.1") {
		t.Error(err)
	}
}

// TestTransitions walks the whole square of modes.
func TestTransitions(t *testing.T) {
	t.Parallel()
	got := ""
	for _, from := range append(contract.ModeNames(), "") {
		for _, to := range append(contract.ModeNames(), "") {
			if tr, ok := Find(from, to); ok {
				got += tr.String() + " " + tr.Schema + "\n"
			}
		}
		if tr, ok := After(from); ok != (from != "") || ok && tr.From != from {
			t.Errorf("After(%s) = %v", from, tr)
		}
	}
	want := "exploration → planning odd.synthesis.1\nplanning → execution odd.plan.1\nexecution → validation odd.claims.1\nvalidation → resolution odd.findings.1\nresolution → validation odd.remediation.1\n"
	if got != want {
		t.Errorf("got\n%s", got)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(written))
	f.Add([]byte(findings))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := okf.Parse("handoffs/h.md", b)
		if err != nil {
			return
		}
		h, err := Read(&a)
		if err != nil {
			return
		}
		_, _, err = Make(Meta{From: h.From, To: h.To, By: "human:ann", At: "2026-03-02T09:00:00Z"}, h.Deliverable)
		if err != nil {
			t.Fatal(err)
		}
	})
}

package handoff

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
)

// source is a handoff of a session on a.md.
func source(id string, from contract.Mode, d deliver.Deliverable) Handoff {
	t, _ := After(from)
	h := Handoff{Deliverable: d}
	h.Handoff = contract.Handoff{ID: id, From: from, To: t.To, Artifact: "a.md", Missing: d.Missing()}
	return h
}

func reviewed(id string, fs ...deliver.Finding) Handoff {
	return source(id, contract.Validation, deliver.Deliverable{Schema: deliver.SchemaFindings, Findings: &deliver.Findings{Artifact: "a.md", Findings: fs}})
}

func finding(id, location, claim, weight string) deliver.Finding {
	k, d, _ := strings.Cut(weight, "/")
	return deliver.Finding{ID: id, Location: location, Claim: claim, Evidence: claim + " as seen", Classification: deliver.Classification(k), Disposition: deliver.Disposition(d)}
}

func TestMergeFindings(t *testing.T) {
	t.Parallel()
	a := reviewed("a", finding("F1", "a.md:9", "Two hours.", "caveat/accept"), finding("F2", "a.md:3", "No source", "finding/fix"))
	b := reviewed("b", finding("F1", "a.md:3", "no  source.", "finding/fix"), finding("F2", "a.md:9", "two hours", "blocker/fix"), finding("F3", "a.md:1", "title", "caveat/pivot"))
	c := reviewed("c", finding("F1", "a.md:3", "wrong source", "finding/fix"))
	m, d, err := Merge([]Handoff{c, a, b})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, f := range d.Findings.Findings {
		got += fmt.Sprintf("%s %s %q %s/%s %q\n", f.ID, f.Location, f.Claim, f.Classification, f.Disposition, f.Evidence)
	}
	want := `F1 a.md:9 "Two hours." blocker/fix "a (caveat/accept): Two hours. as seen\nb (blocker/fix): two hours as seen"
F2 a.md:3 "No source" finding/fix "a: No source as seen\nb: no  source. as seen"
F3 a.md:3 "wrong source" finding/fix "wrong source as seen"
F4 a.md:1 "title" caveat/pivot "title as seen"
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a.md:9: blocker/fix (b F2) | caveat/accept (a F1)"}, m.Disagreements); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, m.Derives); diff != "" || m.Artifact != "a.md" || !m.Inferred {
		t.Error(diff, m)
	}
	if !slices.ContainsFunc(m.Said, func(s Said) bool {
		return s.Text == "a.md:3: No source" && strings.Join(s.By, " ") == "a b" && s.Of == 3
	}) {
		t.Errorf("said = %v", m.Said)
	}
	m.At, m.By = "2026-03-02T09:00:00Z", "human:ann"
	name, text, err := Make(m, d)
	if err != nil {
		t.Fatal(err)
	}
	read, err := okf.Parse(name, text)
	if err != nil {
		t.Fatal(err)
	}
	h, err := Read(&read)
	if err != nil || len(h.Missing) > 0 || len(h.Disagreements) != 1 || read.Confidence() != okf.Inferred {
		t.Errorf("%v %+v\n%s", err, h, text)
	}
	if !strings.Contains(string(text), "## Where the sources disagree\n\n- a.md:9: blocker/fix (b F2) \\| caveat/accept (a F1)\n") || !strings.Contains(string(text), "(2 of 3: a, b)") {
		t.Errorf("%s", text)
	}
}

// TestMergeLosesNothing draws reviews, and looks for each text in what they became.
func TestMergeLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var list []Handoff
		var texts []string
		for i := range rapid.IntRange(2, 4).Draw(t, "sources") {
			var fs []deliver.Finding
			for j := range rapid.IntRange(0, 4).Draw(t, "findings") {
				place := rapid.SampledFrom([]string{"a.md:1", "a.md:2"}).Draw(t, "location")
				claim := rapid.SampledFrom([]string{"x", "X.", "y"}).Draw(t, "claim")
				weight := rapid.SampledFrom([]string{"blocker/fix", "caveat/accept", "/"}).Draw(t, "weight")
				f := finding(fmt.Sprintf("F%d", j+1), place, claim, weight)
				f.Evidence = fmt.Sprintf("seen by %d as %d", i, j)
				fs, texts = append(fs, f), append(texts, f.Evidence)
			}
			list = append(list, reviewed(string(rune('a'+i)), fs...))
		}
		m, d, err := Merge(list)
		if err != nil {
			t.Fatal(err)
		}
		all := string(deliver.Encode(d))
		for _, s := range texts {
			if !strings.Contains(all, s) {
				t.Fatalf("%q is lost in %s", s, all)
			}
		}
		slices.Reverse(list)
		again, other, err := Merge(list)
		if diff := cmp.Diff([]any{m, d, nil}, []any{again, other, err}); diff != "" {
			t.Fatalf("the order matters: %s", diff)
		}
	})
}

func TestMergeConflictsWorstFirst(t *testing.T) {
	t.Parallel()
	a := reviewed("a", finding("F1", "a.md:1", "x", "caveat/accept"), finding("F2", "a.md:2", "y", "blocker/accept"))
	b := reviewed("b", finding("F1", "a.md:1", "z", "finding/fix"), finding("F2", "a.md:2", "y", "blocker/fix"))
	m, _, err := Merge([]Handoff{a, b})
	want := []string{"a.md:2: blocker/fix (b F2) | blocker/accept (a F2)", "a.md:1: finding/fix (b F1) | caveat/accept (a F1)"}
	if diff := cmp.Diff(want, m.Disagreements); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func planned(id string, p deliver.Plan) Handoff {
	p.Artifact = "a.md"
	return source(id, contract.Planning, deliver.Deliverable{Schema: deliver.SchemaPlan, Plan: &p})
}

func TestMergePlans(t *testing.T) {
	t.Parallel()
	a := planned("a", deliver.Plan{Assumptions: []string{"x", "y"}, ScopeIn: []string{"The tides."}, ScopeOut: []string{}, Deferred: []string{}, WouldInvalidate: []string{"w"}})
	b := planned("b", deliver.Plan{Assumptions: []string{"Y.", "z"}, ScopeIn: []string{"moons"}, ScopeOut: []string{"the tides"}, WouldInvalidate: []string{"w"}})
	b.Tainted = "run-1"
	m, d, err := Merge([]Handoff{b, a})
	if err != nil {
		t.Fatal(err)
	}
	want := &deliver.Plan{Artifact: "a.md", Assumptions: []string{"x", "y", "z"}, ScopeIn: []string{"The tides.", "moons"}, ScopeOut: []string{"the tides"}, Deferred: []string{}, WouldInvalidate: []string{"w"}}
	if diff := cmp.Diff(want, d.Plan); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{`"The tides." is scope_in for a and scope_out for b`, "b says nothing of deferred"}, m.Disagreements); diff != "" || m.Tainted != "run-1" {
		t.Error(diff, m.Tainted)
	}
	if diff := cmp.Diff(Said{"assumptions", "y", []string{"a", "b"}, 2}, m.Said[1]); diff != "" {
		t.Error(diff)
	}
}

func TestMergeClaims(t *testing.T) {
	t.Parallel()
	claimed := func(id, scope string) Handoff {
		return source(id, contract.Execution, deliver.Deliverable{Schema: deliver.SchemaClaims, Claims: &deliver.Claims{Artifact: "a.md", Does: []string{"d"}, DoesNot: []string{}, Scope: scope}})
	}
	m, d, err := Merge([]Handoff{claimed("a", "all"), claimed("b", "half"), claimed("c", "all")})
	if err != nil || d.Claims.Scope != "a, c: all\nb: half" || d.Claims.Artifact != "a.md" {
		t.Error(err, d.Claims)
	}
	if diff := cmp.Diff([]string{`scope: "all" (a, c) | "half" (b)`}, m.Disagreements); diff != "" {
		t.Error(diff)
	}
}

func TestMergeRemedies(t *testing.T) {
	t.Parallel()
	remedied := func(id string, rs ...deliver.Remedy) Handoff {
		return source(id, contract.Resolution, deliver.Deliverable{Schema: deliver.SchemaRemediation, Remediation: &deliver.Remediation{Artifact: "a.md", Remedies: rs}})
	}
	m, d, err := Merge([]Handoff{
		remedied("a", deliver.Remedy{Finding: "F1", Changed: []string{"a.md"}}, deliver.Remedy{Finding: "F2", Why: "no"}),
		remedied("b", deliver.Remedy{Finding: "F1", Why: "fine as it is"}),
	})
	want := []deliver.Remedy{{Finding: "F1", Changed: []string{"a.md"}, Why: "fine as it is"}, {Finding: "F2", Why: "no"}}
	if diff := cmp.Diff(want, d.Remediation.Remedies); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if diff := cmp.Diff([]string{"F1: changed (a) | left as it is (b)", "F2: answered by a alone"}, m.Disagreements); diff != "" {
		t.Error(diff)
	}
}

func TestMergeSyntheses(t *testing.T) {
	t.Parallel()
	explored := func(id string, s deliver.Synthesis) Handoff {
		return source(id, contract.Exploration, deliver.Deliverable{Schema: deliver.SchemaSynthesis, Synthesis: &s})
	}
	m, d, err := Merge([]Handoff{
		explored("a", deliver.Synthesis{Possibilities: []string{"row"}, Rejected: []string{"fly"}, Entries: []deliver.Entry{{Observation: "o"}}}),
		explored("b", deliver.Synthesis{Possibilities: []string{"fly"}, Tensions: []string{}}),
	})
	if err != nil || len(d.Synthesis.Possibilities) != 2 || len(d.Synthesis.Entries) != 1 || d.Synthesis.Tensions == nil {
		t.Error(err, d.Synthesis)
	}
	if !slices.Contains(m.Disagreements, `"fly" is possibilities for b and rejected for a`) {
		t.Error(m.Disagreements)
	}
}

func TestMergeRefuses(t *testing.T) {
	t.Parallel()
	other := planned("b", deliver.Plan{})
	other.Artifact = "b.md"
	for _, c := range []struct {
		list []Handoff
		want string
	}{
		{nil, "a merge takes two handoffs or more"},
		{[]Handoff{planned("a", deliver.Plan{})}, "a merge takes two handoffs or more"},
		{[]Handoff{planned("a", deliver.Plan{}), planned("a", deliver.Plan{})}, "a stands twice"},
		{[]Handoff{planned("a", deliver.Plan{}), other}, `a is about "a.md", b about "b.md"; a merge joins outputs on one artifact`},
		{[]Handoff{other, reviewed("a")}, "a is validation → resolution, b is planning → execution; a merge joins outputs of one role\n" +
			`a is about "a.md", b about "b.md"; a merge joins outputs on one artifact`},
	} {
		_, _, err := Merge(c.list)
		if r, ok := err.(interface{ Refused() string }); !ok || r.Refused() != "merge" || err.Error() != c.want {
			t.Errorf("Merge = %v\nwant %s", err, c.want)
		}
	}
}

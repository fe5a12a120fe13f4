package handoff

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
)

const oid = "0123456789abcdef0123456789abcdef01234567"

// world is a repository with two files of ten lines, one commit and one atom.
func world() World {
	files := map[string]int{"a/b.md": 10, "main.go": 10, "a": -1, "journal/j.tsv": 2}
	return World{
		Path: func(p string) bool { _, ok := files[p]; return ok },
		Lines: func(p string) int {
			return files[p]
		},
		Commit: func(s string) bool { return strings.HasPrefix(oid, s) },
		Ref: func(s string) error {
			if s == "slack-water" || strings.HasPrefix(s, "other://") {
				return nil
			}
			return errors.New("no such atom")
		},
		Tells: func(_ string, h Handoff) bool { return h.ID == "handoffs/h" },
		Source: func(ref string) (Handoff, bool) {
			return Handoff{Deliverable: deliver.Deliverable{Findings: &deliver.Findings{Findings: []deliver.Finding{{ID: "F1"}, {ID: "F2"}}}}}, ref == "slack-water"
		},
	}
}

// claims is a complete handoff with one more line in its frontmatter and one in its body.
func claims(front, body string) string {
	return "---\ntype: handoff\nfrom: execution\nto: validation\nartifact: a/b.md\njournal: journal/j.tsv\ndoes: [x]\ndoes_not: []\nscope: all\n" + front + "\n---\n\n" + body + "\n"
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"fine", claims("evidence: [a/b.md:10, "+oid+", go test passes, other://x/y, slack-water, 'a/b.md:2-4']", "See commit 0123456 and `main.go:3`, blob "+strings.Repeat("f", 40)+"."), ""},
		{"commit", claims("", "Done in commit deadbeef."), "13: text: deadbeef: no such commit"},
		{"full", claims("evidence: ["+strings.Repeat("a", 40)+"]", ""), "10: evidence: " + strings.Repeat("a", 40) + ": no such commit"},
		{"range", claims("", "Built 0123456..feedbeef0 of it."), "13: text: feedbeef0: no such commit"},
		{"escaped", claims(`limits: x`, ""), ""},
		{"in a list", claims(`steps: "commit badc0ffee"`, ""), ""},
		{"does", strings.Replace(claims("", ""), "[x]", `["as commit\nbadc0ffee has it"]`, 1), "7: text: badc0ffee: no such commit"},
		{"path", claims("evidence: [a/c.md]", ""), "10: evidence: a/c.md: no such file or id"},
		{"line", claims("evidence: ['a/b.md:11']", ""), "10: evidence: a/b.md:11: the file ends on line 10"},
		{"prose line", claims("", "As a/b.md:7-12 says."), "13: text: a/b.md:7-12: the file ends on line 10"},
		{"prose path", claims("", "As a/x.md:7 says, see https://h.org/a/x.go:80 and localhost.dev:80."), "13: text: a/x.md:7: no such file"},
		{"reversed", claims("evidence: ['a/b.md:7-3']", ""), "10: evidence: a/b.md:7-3: no range of lines"},
		{"zero", claims("evidence: ['a/b.md:0']", ""), "10: evidence: a/b.md:0: no range of lines"},
		{"huge", claims("evidence: ['a/b.md:99999999999999999999']", ""), "10: evidence: a/b.md:99999999999999999999: no range of lines"},
		{"folder", claims("evidence: ['a:3']", ""), "10: evidence: a:3: nothing with lines"},
		{"uri", claims("derives_from: [own://x]", ""), "10: derives_from: own://x: no such atom"},
		{"artifact", strings.Replace(claims("", ""), "a/b.md", "a/gone.md", 1), "5: artifact: a/gone.md: no such file or id"},
		{"artifact commits", strings.Replace(claims("", ""), "a/b.md", "0123456..abcdef1", 1), "5: artifact: abcdef1: no such commit"},
		{"journal", strings.Replace(claims("", ""), "j.tsv", "k.tsv", 1), "6: journal: journal/k.tsv: no such file"},
		{"no journal", strings.Replace(claims("", ""), "journal: journal/j.tsv\n", "", 1), "2: no journal"},
		{"missing", strings.Replace(claims("", ""), "does_not: []\n", "", 1), "4: no does_not"},
		{"twice", claims("evidence: [a/c.md]", "a/c.md:1 and a/c.md"), "10: evidence: a/c.md: no such file or id|13: text: a/c.md:1: no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := checked(t, c.text, world()); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func checked(t *testing.T, text string, w World) string {
	t.Helper()
	h, err := Read(atom(t, text))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range Check(h, w) {
		out = append(out, fmt.Sprintf("%d: %s", p.Line, p.Message))
	}
	return strings.Join(out, "|")
}

// Only its own run's journal, or a person's, tells of a handoff.
func TestVouches(t *testing.T) {
	t.Parallel()
	const own, other = "run-01M80AMR7FRN7Z7VVNCM3WZEVG", "run-01m80amrc7wvgrdejx041n3h2w"
	for journal, want := range map[string]bool{
		"journal/2026-03-02-ann.tsv": true, "journal/2026-03-02-run-01m80amr7frn7z7vvncm3wzevg.tsv": true, "journal/2026-03-02-running.tsv": true,
		"journal/2026-03-02-" + other + ".tsv": false, "knowledge/journal/2026-03-02-" + strings.ToUpper(other) + ".tsv": false, other + ".tsv": false,
	} {
		h := Handoff{Run: own}
		h.Journal = journal
		if got := h.Vouches(); got != want {
			t.Errorf("%s vouches: %v", journal, got)
		}
	}
}

func TestCheckTells(t *testing.T) {
	t.Parallel()
	w := world()
	w.Tells = func(string, Handoff) bool { return false }
	if got := checked(t, claims("", ""), w); got != "6: journal/j.tsv has no entry that names handoffs/h.md" {
		t.Error(got)
	}
	if got := checked(t, claims("evidence: [a/c.md, deadbeef1]", "commit badc0ffee"), World{}); got != "" {
		t.Errorf("an empty world finds %s", got)
	}
}

func TestCheckPlanAhead(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("knowledge/terms/slack-water.md", "knowledge/terms/new.md", "journal/2026-03-02-ann.tsv", "journal/j.tsv").Replace(written)
	if got := checked(t, text, world()); got != "" {
		t.Errorf("a plan for what is not there yet: %s", got)
	}
}

func TestCheckRemediation(t *testing.T) {
	t.Parallel()
	text := "---\ntype: handoff\nfrom: resolution\nto: validation\nartifact: a/b.md\njournal: journal/j.tsv\nderives_from: [slack-water]\nremedies:\n" +
		"  - {finding: F1, changed: ['a/b.md: two hours', main.go]}\n  - {finding: \"F9\", changed: [a/x.md], why: more}\n---\n"
	want := "7: finding F2 of slack-water has no remedy|10: changed: a/x.md: no such file or id|10: a remedy for F9, which is no finding of what this derives from"
	if got := checked(t, text, world()); got != want {
		t.Errorf("got %s", got)
	}
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	var atoms []okf.Atom
	for _, text := range []string{written, strings.Replace(written, "to: execution", "to: validation", 1), "---\ntype: note\n---\n"} {
		a, err := okf.Parse(fmt.Sprintf("handoffs/%d.md", len(atoms)), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		atoms = append(atoms, a)
	}
	g := okf.NewGraph(atoms)
	if ps := Unreadable(g); len(ps) != 1 || ps[0].Path != "handoffs/1.md" || ps[0].Code != "odd-handoff" {
		t.Error(ps)
	}
	if hs := All(g); len(hs) != 1 || hs[0].Path != "handoffs/0.md" {
		t.Error(hs)
	}
}

func TestEntry(t *testing.T) {
	t.Parallel()
	h, err := Read(atom(t, written))
	if err != nil {
		t.Fatal(err)
	}
	h.Deliverable.Plan.Deferred = []string{"tides", "moons"}
	title, content := Entry(h, "knowledge/handoffs/h.md", "2026-03-02T09:00:00Z")
	if title != "planning hands over to execution: knowledge/terms/slack-water.md" {
		t.Error(title)
	}
	want := "planning → execution: knowledge/handoffs/h.md hands over knowledge/terms/slack-water.md at 2026-03-02T09:00:00Z. " +
		"Obligations met: assumptions 3, scope_in 2, scope_out none, deferred 2, would_invalidate 1. Carried forward (deferred): tides; moons. " +
		"Unblocked; next is a builder in a fresh session, which reads the handoff alone."
	if diff := cmp.Diff(want, content); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct {
		content, file string
		want          bool
	}{
		{content, "knowledge/handoffs/h.md", true},
		{content, "handoffs/h.md", true},
		{content, "offs/h.md", false},
		{"execution → planning: handoffs/h.md", "handoffs/h.md", false},
		{"planning → execution: see handoffs/h.md.", "handoffs/h.md", true},
		{"planning → execution: see handoffs/h.md2", "handoffs/h.md", false},
	} {
		if got := Tells(c.content, "planning", "execution", c.file); got != c.want {
			t.Errorf("Tells(%q, %s) = %v", c.content, c.file, got)
		}
	}
	h.Missing = []string{"deferred"}
	if _, content := Entry(h, "x", "y"); !strings.Contains(content, "Missing: deferred.") || !strings.Contains(content, "Blocked by what is missing") {
		t.Error(content)
	}
}

func TestEntryFindings(t *testing.T) {
	t.Parallel()
	h, err := Read(atom(t, strings.Replace(findings, `"blocker", "disposition": "fix"`, `"caveat", "disposition": "accept"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if _, content := Entry(h, "h.md", "now"); !strings.Contains(content, "verdict pass") || !strings.Contains(content, "nothing is left to resolve") {
		t.Error(content)
	}
}

func TestInsufficient(t *testing.T) {
	t.Parallel()
	h := Handoff{Handoff: contract.Handoff{ID: "handoffs/h", Path: "handoffs/h.md", Blob: strings.Repeat("a", 40), From: contract.Planning, To: contract.Execution, Artifact: "a b.md", Missing: []string{"deferred"}}, Derives: []string{"handoffs/s"}}
	s := Insufficient(h, []string{"what a tide is"})
	got := s.Type + "\n" + strings.Join(s.Missing, "; ") + "\n"
	for _, w := range s.Ways {
		got += w.Command + "\n"
	}
	want := `handoff_insufficient
deferred; what a tide is
odd agent run --contract-role planner --artifact 'a b.md' --handoff handoffs/s
odd agent handoff clarify handoffs/h KEY SENTENCE
odd agent run --contract-role builder --artifact 'a b.md' --task TASK --handoff handoffs/h --override planning,execution --reason REASON --risk RISK
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	_, content := s.Entry("knowledge/handoffs/h.md")
	if !strings.HasPrefix(content, "INSUFFICIENT: planning → execution: knowledge/handoffs/h.md ("+h.Blob+") cannot be worked from. Missing: deferred; what a tide is.") {
		t.Error(content)
	}
	short := []Short{{contract.Planning, contract.Execution, "knowledge/handoffs/h.md", h.Blob}}
	if got := FellShort([]byte("H\tHandoff\t\t\t\t\tTitle\t" + content + "\nO\t\t\t\t\t\tT\tnoted: " + content + "\n")); !slices.Equal(got, short) {
		t.Errorf("%v, want %v", got, short)
	}
}

func TestClarify(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ key, sentence, want string }{
		{"assumptions", "no  fog", "- the *ferry* sails\n\n### On Sundays\n\n1. not at all\n- no fog\n\n## SCOPE  in"},
		{"deferred", "tides", "deferred: [tides]\n"},
		{"steps", "- [ ] one", "steps: ['- [ ] one']\n"},
		{"artifact", "x", "artifact: \"knowledge/terms/slack-water.md\\nx\"\n"},
		{"scope_out", "x", `handoffs/h.md:36: scope_out says "None."; change it by hand`},
		{"scope", "x", `handoffs/h.md: no key "scope"; the keys are artifact, assumptions`},
		{"deferred", " ", "handoffs/h.md: nothing to add"},
	} {
		h, err := Read(atom(t, written))
		if err != nil {
			t.Fatal(err)
		}
		b, err := Clarify(h, c.key, c.sentence)
		got := string(b)
		if err != nil {
			got = err.Error()
		} else if _, err := Read(atom(t, got)); err != nil {
			t.Error(err)
		}
		if !strings.Contains(strings.ReplaceAll(got, "steps: [\"- [ ] one\"]", "steps: ['- [ ] one']"), c.want) {
			t.Errorf("%s: %s\nwant %s", c.key, got, c.want)
		}
	}
}

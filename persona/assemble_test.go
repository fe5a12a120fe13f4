package persona

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/okf"
)

func TestSectionByTypeThenEdge(t *testing.T) {
	t.Parallel()
	tests := []struct {
		typ  string
		edge okf.EdgeKind
		want Section
	}{
		{"policy", okf.RelatesTo, Guardrails},
		{" Policy ", okf.Uses, Guardrails},
		{"constraint", okf.Uses, Guardrails},
		{"concept", okf.Produces, Terms},
		{"gadget", okf.Uses, Systems},
		{"gadget", okf.GovernedBy, Guardrails},
		{"gadget", okf.Produces, Artifacts},
		{"gadget", okf.DecidedBy, Decisions},
		{"gadget", okf.RelatesTo, Other},
	}
	for _, tt := range tests {
		if got := sectionFor(&okf.Atom{Type: tt.typ}, tt.edge); got != tt.want {
			t.Errorf("%s by %s is in %s, want %s", tt.typ, tt.edge, got, tt.want)
		}
	}
}

// TestSecondStepStops holds the table of the package comment: what a process
// leads to, and what it does not.
func TestSecondStepStops(t *testing.T) {
	t.Parallel()
	more := map[string]string{
		"processes/hub.md":      "---\ntype: process\nid: hub\nowner: editor\nuses: [tool, other-process]\ngoverned_by: rule\nproduces: thing\nrelates_to: [far-term, far-system]\nstages: step\n---\nx\n",
		"x/tool.md":             "---\ntype: gadget\nid: tool\nuses: beyond\n---\n",
		"x/rule.md":             "---\ntype: principle\nid: rule\n---\n",
		"x/thing.md":            "---\ntype: artifact\nid: thing\n---\n",
		"x/far-term.md":         "---\ntype: term\nid: far-term\n---\n",
		"x/far-system.md":       "---\ntype: system\nid: far-system\n---\n",
		"x/beyond.md":           "---\ntype: system\nid: beyond\n---\n",
		"processes/other.md":    "---\ntype: process\nid: other-process\n---\n",
		"processes/step.md":     "---\ntype: process\nid: step\n---\n",
		"processes/incoming.md": "---\ntype: artifact\nid: incoming\nrelates_to: hub\n---\n",
	}
	p := compile(t, desk(t, more), "editor")
	var got []string
	for _, it := range p.Items {
		if strings.HasPrefix(it.Path, "x/") || strings.HasPrefix(it.Path, "processes/") {
			got = append(got, it.ID)
		}
	}
	slices.Sort(got)
	want := []string{"correct-article", "far-system", "hub", "incoming", "publish-article", "rule", "thing", "tool"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestGapsNameAnOwnerlessProcess(t *testing.T) {
	t.Parallel()
	more := map[string]string{
		"processes/loose.md":  "---\ntype: process\nid: loose\nrelates_to: editor\ngoverned_by: style\n---\nx\n",
		"processes/theirs.md": "---\ntype: process\nid: theirs\nrelates_to: editor\nowner: chief\n---\n",
	}
	gaps := compile(t, desk(t, more), "editor").Gaps
	if !slices.Contains(gaps, "processes/loose.md: has no owner; add owner: editor") {
		t.Errorf("the gaps do not name the process without an owner: %q", gaps)
	}
	if slices.ContainsFunc(gaps, func(g string) bool { return strings.HasPrefix(g, "processes/theirs.md") }) {
		t.Errorf("the gaps name holes of another role's process: %q", gaps)
	}
}

func TestCompileCountsBrokenFiles(t *testing.T) {
	t.Parallel()
	fs := fstest.MapFS{"systems/gone-system.md": {Data: []byte("---\ntype: [\n---\n")}}
	for name, text := range files(t, "testdata/desk.txtar") {
		fs[name] = &fstest.MapFile{Data: []byte(text)}
	}
	g, _, err := okf.Load(fs)
	if err != nil {
		t.Fatal(err)
	}
	p := compile(t, g, "editor")
	if p.Unloadable != 1 || p.Unresolved != 0 {
		t.Errorf("%d unloadable, %d unresolved; want 1, 0", p.Unloadable, p.Unresolved)
	}
	if !slices.ContainsFunc(p.Gaps, func(g string) bool { return strings.Contains(g, "gone-system: the file does not parse; run odd check") }) {
		t.Errorf("the gaps do not name the file that does not parse: %q", p.Gaps)
	}
}

func TestCodeSpan(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"a": "`a`", "a`b": "`` a`b ``", "a\n``b": "``` a ``b ```"} {
		if got := codeSpan(in); got != want {
			t.Errorf("code(%q) = %s, want %s", in, got, want)
		}
	}
}

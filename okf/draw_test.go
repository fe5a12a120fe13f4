package okf

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSubgraph(t *testing.T) {
	t.Parallel()
	g := town(t)
	tests := []struct {
		name    string
		view    View
		atoms   string
		edges   int
		omitted int
	}{
		{"all", View{}, "alone chief cms editor manual press print publish style", 9, 0},
		{"around", View{Focus: "editor", Depth: 1}, "chief editor publish", 3, 0},
		{"two steps", View{Focus: "editor", Depth: 2}, "chief cms editor publish style", 5, 0},
		{"no end", View{Focus: "editor", Depth: -1}, "chief cms editor manual press print publish style", 9, 0},
		{"itself", View{Focus: "editor"}, "editor", 0, 0},
		{"kinds", View{Focus: "style", Depth: 2, Kinds: []EdgeKind{GovernedBy}}, "print publish style", 2, 0},
		{"kinds of all", View{Kinds: []EdgeKind{Link}}, "alone chief cms editor manual press print publish style", 1, 0},
		{"nearest stay", View{Focus: "editor", Depth: 2, Limit: 2}, "editor publish", 2, 3},
		{"busiest stay", View{Limit: 3}, "print publish style", 4, 6},
		{"limit not reached", View{Limit: 9}, "alone chief cms editor manual press print publish style", 9, 0},
		{"nobody", View{Focus: "nobody", Depth: 1}, "", 0, 0},
	}
	for _, tt := range tests {
		d := g.Subgraph(tt.view)
		var ids []string
		for _, a := range d.Atoms {
			ids = append(ids, string(a.ID))
		}
		if got := strings.Join(ids, " "); got != tt.atoms || len(d.Edges) != tt.edges || d.OmittedAtoms != tt.omitted {
			t.Errorf("%s: %s, %d edges, %d left out; want %s, %d, %d", tt.name, got, len(d.Edges), d.OmittedAtoms, tt.atoms, tt.edges, tt.omitted)
		}
	}
}

func TestDrawings(t *testing.T) {
	t.Parallel()
	g := graph(t, map[string]string{
		"a.md": "type: role\ntitle: 'The \"A\" <b> #1 `x`; end \\'\nreports_to: b",
		"b.md": "type: BigQuery Table\ntitle: " + strings.Repeat("word ", 30) + "\n\n[a](a.md) [c](c.md)",
		"c.md": "type: x\ntitle: \"two\\nlines \\u202egnp\"",
	})
	d := g.Subgraph(View{Focus: "a", Depth: -1})
	wantMermaid := `flowchart LR
  n0(["The #quot;A#quot; #60;b#62; #35;1 #96;x#96;; end #92;"])
  n1["word word word word word word word word word word word word…"]
  n2["two lines gnp"]
  n0 -->|reports_to| n1
  n1 -.-> n2
  style n0 stroke-width:4px
`
	if d := cmp.Diff(wantMermaid, string(d.Mermaid())); d != "" {
		t.Error(d)
	}
	wantDOT := `digraph odd {
  rankdir=LR;
  node [shape=box, style=rounded];
  "a" [label="The \"A\" <b> #1 ` + "`x`" + `; end \\\nrole", penwidth=3];
  "b" [label="word word word word word word word word word word word word…\nBigQuery Table"];
  "c" [label="two lines gnp\nx"];
  "a" -> "b" [label="reports_to"];
  "b" -> "c" [style=dashed];
}
`
	if d := cmp.Diff(wantDOT, string(d.DOT())); d != "" {
		t.Error(d)
	}
}

func TestMermaidText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain": "plain", "%%{init: {}}%%": "#37;#37;{init: {}}#37;#37;", "1. one": "1#46; one", "12) x": "12#41; x", "1.5": "1.5", "- a": "#45; a",
		"2026": "2026", "posts_answers": "posts_answers", "_a_ *b*": "#95;a#95; #42;b#42;", "$$x$$": "#36;#36;x#36;#36;", "漢字 ↔": "漢字 ↔", "": "",
	} {
		if got := MermaidText(in); got != want {
			t.Errorf("MermaidText(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestDrawingJSON(t *testing.T) {
	t.Parallel()
	b, err := town(t).Subgraph(View{Focus: "chief", Depth: 1}).JSON()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Version, Focus string
		Nodes          []map[string]any
		Edges          []map[string]any
	}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if got.Version != "0.2" || got.Focus != "chief" || len(got.Nodes) != 2 || got.Nodes[1]["path"] != "editor.md" {
		t.Errorf("%s", b)
	}
	want := map[string]any{"source": "editor", "target": "chief", "kind": "reports_to", "line": 3.0}
	if d := cmp.Diff([]map[string]any{want}, got.Edges); d != "" {
		t.Error(d)
	}
	if b, err := NewGraph(nil).Subgraph(View{}).JSON(); err != nil || !bytes.Contains(b, []byte(`"nodes": [],`)) {
		t.Errorf("nothing is %s, %v", b, err)
	}
}

func TestDotID(t *testing.T) {
	t.Parallel()
	seen := map[string]ID{}
	for _, id := range []ID{`a`, `a\`, `a\\`, `a"`, `a\"`, "a\nb", `a\nb`, "a b"} {
		got := quoteDotID(id)
		if other, ok := seen[got]; ok {
			t.Errorf("%q and %q are both %s", id, other, got)
		}
		seen[got] = id
		inner := strings.NewReplacer(`\\`, "", `\"`, "").Replace(got[1 : len(got)-1])
		if strings.Contains(inner, `"`) || strings.HasSuffix(inner, `\`) {
			t.Errorf("%q is %s, which does not end where it should", id, got)
		}
	}
}

// A whole big bundle stays a picture that mermaid draws, and says what is not in it.
func TestMermaidFits(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 150 {
		var to []string
		for k := range 6 {
			to = append(to, fmt.Sprintf("n%03d", (i+k+1)%150))
		}
		files[fmt.Sprintf("n%03d.md", i)] = fmt.Sprintf("type: x\nuses: [%s]\nrelates_to: [%s]", strings.Join(to[:3], ", "), strings.Join(to[3:], ", "))
	}
	d := graph(t, files).Subgraph(View{Limit: 100}).FitMermaid()
	if len(d.Atoms) != 100 || len(d.Edges) != 500 || d.OmittedAtoms != 50 || d.OmittedEdges == 0 {
		t.Fatalf("%d atoms, %d edges, left out %d and %d", len(d.Atoms), len(d.Edges), d.OmittedAtoms, d.OmittedEdges)
	}
	uses := 0
	for _, e := range d.Edges {
		if e.Kind == Uses {
			uses++
		}
	}
	if uses < 288 {
		t.Errorf("%d uses stay; relates_to goes first", uses)
	}
	if got := string(d.Mermaid()); !strings.Contains(got, "\n  %% left out: 50 of 150 atoms, ") || strings.Count(got, "-->") != 500 {
		t.Errorf("%.200s", got)
	}
}

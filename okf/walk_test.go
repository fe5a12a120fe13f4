package okf

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// town is a small graph with two ways around:
//
//	editor ←owner publish →uses cms ←link manual
//	          publish →governed_by style ←governed_by print →uses press
//	editor →reports_to chief;  style ↔ print by two kinds
func town(t *testing.T) *Graph {
	t.Helper()
	return graph(t, map[string]string{
		"editor.md":  "type: role\nreports_to: chief",
		"chief.md":   "type: role",
		"publish.md": "type: process\nowner: editor\nuses: cms\ngoverned_by: style\nrelates_to: publish",
		"print.md":   "type: process\ngoverned_by: style\nuses: press\n\nSee\n\n* the [press](press.md)",
		"style.md":   "type: policy\nrelates_to: print",
		"cms.md":     "type: system",
		"press.md":   "type: system",
		"manual.md":  "type: term\n\nThe  [CMS](cms.md) in short.",
		"alone.md":   "type: term",
	})
}

func showSteps(ss []Step) []string {
	var out []string
	for _, s := range ss {
		out = append(out, fmt.Sprintf("%d %s: %s", s.Depth, s.ID, strings.Join(showHops(s.Path), ", ")))
	}
	return out
}

func TestRelated(t *testing.T) {
	t.Parallel()
	g := town(t)
	want := []string{"print -uses-> press :4", "print -governed_by-> style :3", "style -relates_to-> print :3"}
	if d := cmp.Diff(want, showHops(g.Related("print"))); d != "" {
		t.Error(d)
	}
	want = []string{"print -governed_by-> style :3", "publish -governed_by-> style :5"}
	if d := cmp.Diff(want, showHops(g.Related("style", GovernedBy))); d != "" {
		t.Error(d)
	}
	g = graph(t, map[string]string{
		"a.md": "type: process\nowner: b\n\n[c](c.md)", "b.md": "type: role\n\nOwns [a](a.md).", "c.md": "type: term\n\n[a](a.md)",
	})
	want = []string{"a -owner-> b :3", "a -link-> c :6", "c -link-> a :5"}
	if d := cmp.Diff(want, showHops(g.Related("a"))); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"a -link-> c :6", "b -link-> a :5", "c -link-> a :5"}, showHops(g.Related("a", Link))); d != "" {
		t.Error(d)
	}
	for _, id := range []ID{"alone", "nobody"} {
		if got := g.Related(id); got != nil {
			t.Errorf("%s: %v", id, got)
		}
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	g := town(t)
	tests := []struct {
		name     string
		from     ID
		depth    int
		directed bool
		kinds    []EdgeKind
		want     []string
	}{
		{"one step", "editor", 1, false, nil, []string{
			"1 publish: publish -owner-> editor :3", "1 chief: editor -reports_to-> chief :3",
		}},
		{"two steps", "editor", 2, false, nil, []string{
			"1 publish: publish -owner-> editor :3", "1 chief: editor -reports_to-> chief :3",
			"2 cms: publish -owner-> editor :3, publish -uses-> cms :4",
			"2 style: publish -owner-> editor :3, publish -governed_by-> style :5",
		}},
		{"directed", "publish", -1, true, nil, []string{
			"1 editor: publish -owner-> editor :3", "1 cms: publish -uses-> cms :4", "1 style: publish -governed_by-> style :5",
			"2 chief: publish -owner-> editor :3, editor -reports_to-> chief :3",
			"2 print: publish -governed_by-> style :5, style -relates_to-> print :3",
			"3 press: publish -governed_by-> style :5, style -relates_to-> print :3, print -uses-> press :4",
		}},
		{"some kinds", "editor", -1, false, []EdgeKind{Owner, GovernedBy}, []string{
			"1 publish: publish -owner-> editor :3",
			"2 style: publish -owner-> editor :3, publish -governed_by-> style :5",
			"3 print: publish -owner-> editor :3, publish -governed_by-> style :5, print -governed_by-> style :3",
		}},
		{"no steps", "editor", 0, false, nil, nil},
		{"nobody", "nobody", 1, false, nil, nil},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, showSteps(g.Expand(tt.from, tt.depth, tt.directed, tt.kinds...))); d != "" {
			t.Errorf("%s: -want +got\n%s", tt.name, d)
		}
	}
}

func TestWhy(t *testing.T) {
	t.Parallel()
	g := town(t)
	tests := []struct {
		from, to ID
		kinds    []EdgeKind
		want     []string
	}{
		{"chief", "manual", nil, []string{
			"editor -reports_to-> chief :3", "publish -owner-> editor :3", "publish -uses-> cms :4", "manual -link-> cms :5",
		}},
		{"publish", "print", nil, []string{"publish -governed_by-> style :5", "print -governed_by-> style :3"}},
		{"publish", "print", []EdgeKind{RelatesTo}, nil},
		{"publish", "publish", nil, nil},
		{"publish", "alone", nil, nil},
		{"publish", "nobody", nil, nil},
		{"nobody", "publish", nil, nil},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, showHops(g.Why(tt.from, tt.to, tt.kinds...))); d != "" {
			t.Errorf("%s to %s: -want +got\n%s", tt.from, tt.to, d)
		}
	}
}

func TestBacklinks(t *testing.T) {
	t.Parallel()
	got := town(t).Backlinks("cms")
	want := []Backlink{
		{Hop{"publish", "cms", Uses, 4}, "publish.md", "uses: cms"},
		{Hop{"manual", "cms", Link, 5}, "manual.md", "The  [CMS](cms.md) in short."},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A walk over any graph reaches each atom once, nearest first, over edges that
// are there, and Why agrees with it about how near.
func TestWalkProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := anyGraph(t)
		start := g.Atoms()[0].ID
		steps := g.Expand(start, -1, false)
		seen := map[ID]bool{start: true}
		last := 1
		for _, s := range steps {
			if seen[s.ID] || s.Depth < last || s.Depth != len(s.Path) {
				t.Fatalf("step %+v after depth %d, seen %t", s, last, seen[s.ID])
			}
			seen[s.ID], last = true, s.Depth
			at := start
			for _, h := range s.Path {
				if !slices.Contains(g.Out(h.From), h) {
					t.Fatalf("%v is no edge", h)
				}
				if h.From != at && h.To != at {
					t.Fatalf("%v does not go on from %s", s.Path, at)
				}
				at = map[bool]ID{true: h.To, false: h.From}[h.From == at]
			}
			if why := g.Why(start, s.ID); len(why) != s.Depth {
				t.Fatalf("Why %s is %v, want %d hops", s.ID, why, s.Depth)
			}
		}
		for _, a := range g.Atoms() {
			if !seen[a.ID] && g.Why(start, a.ID) != nil {
				t.Fatalf("%s is joined and was not reached", a.ID)
			}
		}
	})
}

// anyGraph is up to twelve atoms with typed edges among them.
func anyGraph(t *rapid.T) *Graph {
	n := rapid.IntRange(1, 12).Draw(t, "atoms")
	atoms := make([]Atom, n)
	for i := range atoms {
		atoms[i] = Atom{Path: fmt.Sprintf("a%d.md", i), ID: ID(fmt.Sprintf("a%d", i))}
		for _, k := range rapid.SliceOfN(rapid.SampledFrom(EdgeKinds()), 0, 3).Draw(t, "kinds") {
			to := rapid.IntRange(0, n-1).Draw(t, "to")
			atoms[i].Edges = append(atoms[i].Edges, Edge{Kind: k, Target: fmt.Sprintf("a%d", to), Line: 2})
		}
	}
	return NewGraph(atoms)
}

// In and Out tell the same edges.
func TestInIsOutBackwards(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := anyGraph(t)
		var out, in []string
		for _, a := range g.Atoms() {
			out = append(out, showHops(g.Out(a.ID))...)
			in = append(in, showHops(g.In(a.ID))...)
		}
		slices.Sort(out)
		slices.Sort(in)
		if d := cmp.Diff(out, in); d != "" {
			t.Fatal(d)
		}
		if len(slices.Compact(out)) != len(in) {
			t.Fatal("an edge is told twice")
		}
	})
}

package okf

import "testing"

func TestLookup(t *testing.T) {
	t.Parallel()
	a, err := Parse("systems/big/cms.md", []byte("---\ntype: system\nid: the-cms\nuri: acme://cms\n---\n"))
	if err != nil {
		t.Fatal(err)
	}
	g := NewGraph([]Atom{a})
	tests := []struct {
		name string
		got  *Atom
		want bool
	}{
		{"an id", g.ByID("the-cms"), true},
		{"a path is no id", g.ByID("systems/big/cms"), false},
		{"a path", g.ByPath("systems/big/cms.md"), true},
		{"a path without its end", g.ByPath("systems/big/cms"), false},
		{"an edge by id", g.Target("the-cms", "policies/x.md"), true},
		{"an edge by path", g.Target("/systems/big/cms.md", "policies/x.md"), true},
		{"an edge by uri", g.Target("acme://cms", "policies/x.md"), true},
		{"an edge from where it stands", g.Target("../systems/big/cms.md", "policies/x.md"), true},
		{"an edge by stem", g.Target("cms", "policies/x.md"), true},
		{"an edge to nothing", g.Target("cmd", "policies/x.md"), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if (tt.got != nil) != tt.want {
				t.Errorf("found %v, want %v", tt.got != nil, tt.want)
			}
		})
	}
}

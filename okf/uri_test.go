package okf

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitList(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "a": "a", "a, b": "a|b", " a ,, b ,": "a|b",
		"DRAFT v3 (2026-04-24, pre-Vodka-cut), b": "DRAFT v3 (2026-04-24, pre-Vodka-cut)|b",
		"a (b, (c, d), e), f":                     "a (b, (c, d), e)|f", "a), b": "a)|b", "(a, b": "(a, b",
	} {
		if got := strings.Join(SplitList(in), "|"); got != want {
			t.Errorf("SplitList(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	g := graph(t, map[string]string{
		"v1.md":      "type: canon\nuri: klappy://rule",
		"v2.md":      "type: canon\nuri: klappy://rule/2\nsupersedes: klappy://rule\nsuperseded_by: v3.md",
		"v3.md":      "type: canon\nuri: klappy://rule/3",
		"next.md":    "type: canon\nstatus: draft\nsupersedes: v3",
		"split.md":   "type: canon\nsuperseded_by: [right, left]",
		"left.md":    "type: canon",
		"right.md":   "type: canon",
		"ring/a.md":  "type: canon\nid: ring-a\nsupersedes: ring-b",
		"ring/b.md":  "type: canon\nid: ring-b\nsupersedes: ring-a",
		"myself.md":  "type: canon\nsupersedes: myself",
		"before.md":  "type: canon\nsuperseded_by: ring-a",
		"other/x.md": "type: canon",
		"third/x.md": "type: canon",
	})
	tests := []struct {
		ref, atom, force string
		err              error
	}{
		{"klappy://rule", "v1", "v3", nil},
		{"klappy://rule#part", "v1", "v3", nil},
		{"v2.md", "v2", "v3", nil},
		{"v3", "v3", "v3", nil},
		{"split", "split", "left right", nil},
		{"myself", "myself", "myself", nil},
		{"ring-a", "ring-a", "", ErrCircular},
		{"before", "before", "", ErrCircular},
		{"klappy://gone", "", "", ErrNotFound},
		{"odd://rule", "", "", ErrExternal},
		{"x", "", "", ErrAmbiguous},
	}
	for _, tt := range tests {
		r, err := g.Resolve(tt.ref)
		var atom string
		var force []string
		if r.Atom != nil {
			atom = string(r.Atom.ID)
		}
		for _, a := range r.InForce {
			force = append(force, string(a.ID))
		}
		if got := strings.Join(force, " "); !errors.Is(err, tt.err) || atom != tt.atom || got != tt.force {
			t.Errorf("Resolve(%q) = %s, %s, %v; want %s, %s, %v", tt.ref, atom, got, err, tt.atom, tt.force, tt.err)
		}
	}
	if _, err := g.Resolve("before"); err == nil || !strings.Contains(err.Error(), "ring-a → ring-b → ring-a") {
		t.Errorf("the circle is not named: %v", err)
	}
}

func TestReferencesAreLinks(t *testing.T) {
	t.Parallel()
	g := graph(t, map[string]string{
		"canon/a.md": "type: canon\nuri: klappy://a\nderives_from: \"canon/b.md, ./c.md, klappy://a, klappy://gone, odd://x, canon/none.md, DRAFT v3 (2026-04-24, cut)\"\ncomplements: ['klappy://{name}', b]\nsupersedes: old one",
		"canon/b.md": "type: canon\nsources: [{resource: a.md}, {resource: https://example.org/c.md}, {resource: /canon/c.md}]",
		"canon/c.md": "type: canon",
	})
	// They are links of the graph, and what is missing among them is no dead end.
	if d := cmp.Diff([]string{"canon/a -link-> canon/b :4", "canon/a -link-> canon/c :4"}, showHops(g.Out("canon/a"))); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"canon/b -link-> canon/a :3", "canon/b -link-> canon/c :3"}, showHops(g.Out("canon/b"))); d != "" {
		t.Error(d)
	}
	if got := g.Dangling("canon/a"); got != nil {
		t.Errorf("dangling: %v", got)
	}
}

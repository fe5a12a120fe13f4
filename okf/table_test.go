package okf

import (
	"fmt"
	"testing"
	"testing/fstest"
)

// clash is the i-th of many names with one hash: a checksum is the same where one
// piece of text takes the place of another with its checksum.
func clash(t *testing.T, i int) string {
	t.Helper()
	a, b := "aiyifwg", "dlpjrry"
	if hashText(a) != hashText(b) {
		t.Fatal("no clash")
	}
	name := ""
	for bit := range 7 {
		name += [2]string{a, b}[i>>bit&1]
	}
	return name
}

// Names that were made to collide are told apart.
func TestNamesThatCollide(t *testing.T) {
	t.Parallel()
	const many = 1 << 7
	f := fstest.MapFS{}
	for i := range many {
		name := clash(t, i)
		f[name+".md"] = &fstest.MapFile{Data: fmt.Appendf(nil, "---\ntype: term\nuri: okf://x.example/%s\n---\n[](%s.md)\n", name, clash(t, (i+1)%many))}
	}
	twin := clash(t, 7)
	f["~.md"] = &fstest.MapFile{Data: fmt.Appendf(nil, "---\ntype: term\nid: %s\n---\n", twin)}
	loaded, ps, err := Load(f)
	if err != nil || len(ps) != 2 || ps[0].Code != codeDuplicateID {
		t.Fatal(ps, err)
	}
	decoded, _, err := Decode(Encode(loaded, ps), f)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range []*Graph{loaded, decoded} {
		if g.Len() != many {
			t.Errorf("%d atoms, want %d", g.Len(), many)
		}
		for i := range many {
			name := clash(t, i)
			for k, full := range map[nameKind]string{byID: name, byFile: name, byStem: name, byURI: "okf://x.example/" + name} {
				if _, ok := g.findFirst(k, full, func(j int32) bool { return g.pathOf(j) == name+".md" }); !ok {
					t.Fatalf("kind %d, name %d is not found", k, i)
				}
			}
			if to := g.Out(ID(name)); len(to) != 1 || to[0].To != ID(clash(t, (i+1)%many)) {
				t.Fatalf("%d leads to %v", i, to)
			}
			if r, ok := g.rowOfPath(name + ".md"); !ok || g.hasDuplicate(r) != (name == twin) {
				t.Fatalf("row %d, %t", r, ok)
			}
		}
	}
}

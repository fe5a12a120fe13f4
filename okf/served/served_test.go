package served

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/okf"
)

func company(t *testing.T) *okf.Graph {
	t.Helper()
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	g, ps, err := okf.Load(fstest.MapFS{
		"editor.md":  file("---\ntype: role\nid: editor\ntitle: \"Edi\u200btor\"\nconfidence: verified\nsources: [{resource: docs/a.md}]\n---\nWrites tides.\n"),
		"publish.md": file("---\ntype: process\nid: publish\ntitle: Publish\nconfidence: verified\nverified: [{by: \"human:ann@example.org\"}]\nowner: editor\nuses: cms\n---\nTides too.\n"),
		"cms.md":     file("---\ntype: system\nid: cms\ntitle: CMS\n---\n"),
	})
	if err != nil || len(ps) > 0 {
		t.Fatal(err, ps)
	}
	return g
}

// Verified is told only where a person verified, and with where it is from.
func TestFactsCarryTrust(t *testing.T) {
	t.Parallel()
	g := company(t)
	f := FactOf(g.ByID("editor"))
	want := Fact{ID: "editor", Path: "editor.md", Type: "role", Title: "Editor", Confidence: "asserted", Tier: okf.Unverified, Blob: g.ByID("editor").Blob, Sources: []okf.Source{{Resource: "docs/a.md"}}}
	if d := cmp.Diff(want, f); d != "" || f.Blob == "" {
		t.Error(d)
	}
	if f := FactOf(g.ByID("publish")); f.Confidence != "verified" || f.Tier != okf.HumanReviewed {
		t.Errorf("publish: %+v", f)
	}
	if w := WholeOf(g, g.ByID("editor")); w.Claimed != "verified" || w.Body != "Writes tides.\n" || len(w.In) != 1 || w.Out == nil {
		t.Errorf("whole: %+v", w)
	}
}

func TestWays(t *testing.T) {
	t.Parallel()
	g := company(t)
	if found, total := Search(g, "tides", "", 1); total != 2 || len(found) != 1 {
		t.Errorf("search: %d of %d", len(found), total)
	}
	if found, total := Search(g, "tides", "Process", 0); total != 1 || found[0].ID != "publish" {
		t.Errorf("search by type: %v", found)
	}
	if es := Related(g, "publish", okf.Owner); len(es) != 1 || es[0].Direction != "out" || es[0].Atom.ID != "editor" {
		t.Errorf("related: %+v", es)
	}
	if es := Related(g, "editor"); len(es) != 1 || es[0].Direction != "in" {
		t.Errorf("related: %+v", es)
	}
	if s := Expand(g, "editor", 0, false); len(s) != 2 || s[1].Atom.ID != "cms" || s[1].Depth != 2 {
		t.Errorf("expand: %+v", s)
	}
	if s := Expand(g, "editor", 0, true); len(s) != 0 {
		t.Errorf("expand directed: %+v", s)
	}
	w := Why(g, "editor", "cms")
	if len(w) != 2 || w[0].Near.ID != "editor" || w[0].Far.ID != "publish" || w[1].Near.ID != "publish" || w[1].Far.ID != "cms" {
		t.Errorf("why: %+v", w)
	}
	if w := Why(g, "editor", "editor"); w != nil {
		t.Errorf("why of one: %+v", w)
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	ks, err := Kinds([]string{"owner", "governed-by", " link"})
	if d := cmp.Diff([]okf.EdgeKind{okf.Owner, okf.GovernedBy, okf.Link}, ks); d != "" || err != nil {
		t.Error(d, err)
	}
	for _, bad := range []string{"owns", "", "friend"} {
		if _, err := Kinds([]string{bad}); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

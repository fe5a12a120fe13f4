package reconcile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/okf"
)

func TestMergeUpdateIsMinimal(t *testing.T) {
	t.Parallel()
	in := emit(t, "---\ntype: system\nid: cms\nuses: [tape, disk]\nowner_note: new\nsources: [{id: s1, resource: docs/cms.md, last_modified: \"2026-11-01T00:00:00Z\"}, {resource: docs/b.md}]\n---\n")
	in.Base = okf.BlobID([]byte(cms))
	it := one(t, graph(t, "systems/cms.md", cms), in, agent())
	if it.Effect != Updated {
		t.Fatalf("%s %s, want updated", it.Effect, it.Reason)
	}
	got := string(it.Bytes)
	if !strings.Contains(got, "title: CMS # by hand\n") || !strings.HasSuffix(got, "\nKeeps articles.\n") {
		t.Errorf("an untouched line changed:\n%s", got)
	}
	a := atom(t, "systems/cms.md", got)
	var edges []string
	for _, e := range a.Edges {
		edges = append(edges, fmt.Sprint(e.Kind, " ", e.Target))
	}
	if d := cmp.Diff([]string{"uses disk", "uses tape"}, edges); d != "" {
		t.Errorf("edges are united: %s", d)
	}
	want := []okf.Source{{ID: "s1", Resource: "docs/cms.md"}, {Resource: "docs/b.md"}}
	if d := cmp.Diff(want, a.Sources); d != "" {
		t.Errorf("sources are united: %s", d)
	}
}

// TestMergeSourceText: what a source says of the text that was read stays with the file
// and lines that it was read from; another version of that file is no update.
func TestMergeSourceText(t *testing.T) {
	t.Parallel()
	prior := strings.Replace(cms, "resource: docs/cms.md", "resource: docs/cms.md, title: line 3, blob: aa, text: 'sha256:bb'", 1)
	for source, want := range map[string]string{
		"{id: s1, resource: docs/cms.md, title: line 3, blob: cc, text: 'sha256:bb'}":                                                               "",
		"{id: s1, resource: docs/cms.md, title: line 3, blob: cc, text: 'sha256:dd'}":                                                               "{id: s1, resource: docs/cms.md, title: line 3, blob: cc, text: sha256:dd}",
		"{id: s1, resource: docs/new.md, blob: cc, text: 'sha256:bb'}":                                                                              "{id: s1, resource: docs/new.md, title: line 3, blob: cc, text: sha256:bb}",
		"{id: s1, resource: docs/cms.md, title: line 3, usage_count: 3, usage_window: 30d, last_modified: 2026-03-02, blob: aa, text: 'sha256:bb'}": "",
		"{id: s1, resource: docs/cms.md, title: line 5}":                                                                                            "{id: s1, resource: docs/cms.md, title: line 5}",
	} {
		in := emit(t, "---\ntype: system\nid: cms\nsources: ["+source+"]\n---\n")
		in.Base = okf.BlobID([]byte(prior))
		it := one(t, graph(t, "systems/cms.md", prior), in, agent())
		if (it.Effect == Updated) != (want != "") || !strings.Contains(string(it.Bytes), want) {
			t.Errorf("%s: %s, want %q:\n%s", source, it.Effect, want, it.Bytes)
		}
	}
}

func TestMergeKeepsCRLF(t *testing.T) {
	t.Parallel()
	prior := strings.ReplaceAll(cms, "\n", "\r\n")
	in := emit(t, strings.Replace(cms, "Keeps articles.", "Holds articles.\n\nAnd more.", 1))
	in.Base = okf.BlobID([]byte(prior))
	got := string(one(t, graph(t, "systems/cms.md", prior), in, agent()).Bytes)
	if strings.Contains(strings.ReplaceAll(got, "\r\n", ""), "\n") || !strings.Contains(got, "Holds articles.\r\n\r\nAnd more.\r\n") {
		t.Errorf("line endings are mixed:\n%q", got)
	}
}

func TestMergeMirrorsGrownEdges(t *testing.T) {
	t.Parallel()
	disk := []string{"systems/disk.md", "---\ntype: system\nid: disk\n---\n", "systems/tape.md", "---\ntype: system\nid: tape\ntitle: Tape\n---\n"}
	prior := strings.Replace(cms, "Keeps articles.\n", "On [disk](disk.md).\n\n# Related\n\n* [Old](/gone.md)\n", 1)
	in := emit(t, "---\ntype: system\nid: cms\nuses: tape\n---\n")
	in.Base = okf.BlobID([]byte(prior))
	g := graph(t, append(disk, "systems/cms.md", prior)...)
	got := string(one(t, g, in, agent()).Bytes)
	if want := "On [disk](disk.md).\n\n# Related\n\n* [Old](/gone.md)\n* [Tape](tape.md)\n"; !strings.HasSuffix(got, want) {
		t.Errorf("body ends wrong, want %q:\n%s", want, got)
	}
	in.Base = ""
	again := one(t, graph(t, append(disk, "systems/cms.md", got)...), in, agent())
	if again.Effect != Unchanged {
		t.Errorf("a second run is %s: %s", again.Effect, again.Reason)
	}
}

// TestMergeReplacedEdgesLeaveNoLink: where a person's edges replace others, the list below
// the text has no link to what is gone.
func TestMergeReplacedEdgesLeaveNoLink(t *testing.T) {
	t.Parallel()
	files := []string{"systems/disk.md", "---\ntype: system\nid: disk\ntitle: Disk\n---\n", "systems/tape.md", "---\ntype: system\nid: tape\ntitle: Tape\n---\n"}
	prior := cms + "\n# Related\n\n* [Disk](disk.md)\n"
	in := emit(t, "---\ntype: system\nid: cms\nuses: tape\n---\n")
	in.Base, in.ReplaceEdges = okf.BlobID([]byte(prior)), true
	o := agent()
	o.Person = true
	it := one(t, graph(t, append(files, "systems/cms.md", prior)...), in, o)
	if got := string(it.Bytes); it.Effect != Updated || strings.Contains(got, "disk.md") || !strings.Contains(got, "* [Tape](tape.md)") {
		t.Errorf("%s\n%s", it.Effect, got)
	}
}

func TestMergeUnitesEverySpelling(t *testing.T) {
	t.Parallel()
	disk := "---\ntype: system\nid: disk\n---\n"
	for _, spelling := range []string{"disk", "/systems/disk.md", "systems/disk", "./disk.md", "../systems/disk.md"} {
		in := emit(t, "---\ntype: system\nid: cms\nuses: "+spelling+"\n---\n")
		if it := one(t, graph(t, "systems/cms.md", cms, "systems/disk.md", disk), in, agent()); it.Effect != Unchanged {
			t.Errorf("%s beside disk is %s:\n%s", spelling, it.Effect, it.Bytes)
		}
	}
}

func TestMergeTags(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, prior, next string
		want              []string // nil: unchanged
	}{
		{"another order is no change", "[a, b]", "[b, a]", nil},
		{"no key is no change", "[a]", "", nil},
		{"a number is its digits", "[2024]", `["2024"]`, nil},
		{"the set replaces", "[a, b]", "[b, c]", []string{"b", "c"}},
		{"approvals stay", `["approved-by:ann", a]`, "[c]", []string{"approved-by:ann", "c"}},
		{"an override's tag stays", `[override-produced, a]`, "[c]", []string{"override-produced", "c"}},
		{"and is no change alone", `[override-produced]`, "[]", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			prior := "---\ntype: term\nid: x\nconfidence: inferred\ntags: " + tt.prior + "\n---\n"
			next := "---\ntype: term\nid: x\n---\n"
			if tt.next != "" {
				next = "---\ntype: term\nid: x\ntags: " + tt.next + "\n---\n"
			}
			in := emit(t, next)
			in.Base = okf.BlobID([]byte(prior))
			it := one(t, graph(t, "terms/x.md", prior), in, agent())
			if tt.want == nil {
				if it.Effect != Unchanged {
					t.Errorf("%s:\n%s", it.Effect, it.Bytes)
				}
				return
			}
			a := atom(t, it.Path, string(it.Bytes))
			if d := cmp.Diff(tt.want, a.Tags); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestMergeLeavesWhatItCannotEdit(t *testing.T) {
	t.Parallel()
	prior := "---\n{type: term, id: x, confidence: inferred}\n---\nOld.\n"
	in := emit(t, "---\ntype: term\nid: x\n---\nNew.\n")
	in.Base = okf.BlobID([]byte(prior))
	if it := one(t, graph(t, "terms/x.md", prior), in, agent()); it.Effect != Conflict || !strings.HasPrefix(it.Reason, "the file cannot be edited: ") {
		t.Errorf("%s %q, want a conflict", it.Effect, it.Reason)
	}
}

func TestMergeKeepsAHandWrittenRung(t *testing.T) {
	t.Parallel()
	prior := "---\ntype: system\nid: cms\n---\nBy hand.\n"
	in := emit(t, "---\ntype: system\nid: cms\nconfidence: asserted\ndescription: x\n---\n")
	in.Base = okf.BlobID([]byte(prior))
	o := agent()
	o.Cap = okf.Asserted
	it := one(t, graph(t, "systems/cms.md", prior), in, o)
	a := atom(t, it.Path, string(it.Bytes))
	if it.Effect != Updated || a.Confidence() != okf.Asserted {
		t.Errorf("%s as %s, want updated and still asserted", it.Effect, a.Confidence())
	}
	prior = "---\ntype: system\nid: cms\ngenerated: {by: odd/0.1.0}\n---\nBy a machine.\n"
	in.Base = okf.BlobID([]byte(prior))
	if it = one(t, graph(t, "systems/cms.md", prior), in, agent()); it.Effect != Updated || strings.Contains(string(it.Bytes), "confidence") {
		t.Errorf("a machine's atom without a rung is %s:\n%s", it.Effect, it.Bytes)
	}
}

// TestMergeDrifted: an update drops the sources whose text is gone, and an agent deprecates
// an atom only when all of them are.
func TestMergeDrifted(t *testing.T) {
	t.Parallel()
	prior := strings.Replace(cms, "sources:\n", "sources:\n  - {id: s0, resource: docs/old.md, title: line 1, text: 'sha256:aa'}\n", 1)
	dead, elsewhere := okf.Drift{Lost: true, Gone: true}, okf.Drift{Gone: true, Files: []string{"docs/b.md"}}
	at := func(i int, d okf.Drift) okf.Drift { d.Source = i; return d }
	const again, over = "sources: [{id: s1, resource: docs/cms.md}]\n", "status: deprecated\n"
	for _, c := range []struct {
		name, keys string
		drift      []okf.Drift
		want       Effect
		sources    string
		status     string
	}{
		{"nothing drifted", again, nil, Unchanged, "s0 s1", ""},
		{"one is gone", again, []okf.Drift{at(0, dead)}, Updated, "s1", ""},
		{"one stands elsewhere", again, []okf.Drift{at(0, elsewhere)}, Unchanged, "s0 s1", ""},
		{"one stands where another source is", "sources: [{id: s2, resource: docs/b.md, text: 'sha256:aa'}]\n", []okf.Drift{at(0, elsewhere)}, Updated, "s1 s2", ""},
		{"the agent names it", "sources: [{id: s0, resource: docs/new.md}]\n", []okf.Drift{at(0, dead)}, Updated, "s0 s1", ""},
		{"none would be left", again, []okf.Drift{at(0, dead), at(1, dead)}, Updated, "s1", ""},
		{"deprecated without a cause", over, nil, Unchanged, "s0 s1", ""},
		{"deprecated while one stands", over, []okf.Drift{at(0, dead)}, Unchanged, "s0 s1", ""},
		{"deprecated while one stands elsewhere", over, []okf.Drift{at(0, dead), at(1, elsewhere)}, Unchanged, "s0 s1", ""},
		{"deprecated", over, []okf.Drift{at(0, dead), at(1, dead)}, Updated, "s0 s1", "deprecated"},
	} {
		in := emit(t, "---\ntype: system\nid: cms\n"+c.keys+"---\n")
		in.Base = okf.BlobID([]byte(prior))
		o := agent()
		o.Drifted = func(*okf.Atom) []okf.Drift { return c.drift }
		it := one(t, graph(t, "systems/cms.md", prior), in, o)
		b := it.Bytes
		if it.Effect == Unchanged {
			b = []byte(prior)
		}
		a, ids := atom(t, "systems/cms.md", string(b)), []string{}
		for _, s := range a.Sources {
			ids = append(ids, s.ID)
		}
		if got := strings.Join(ids, " "); it.Effect != c.want || got != c.sources || a.Status != c.status {
			t.Errorf("%s: %s, sources %s, status %q; want %s, %s, %q", c.name, it.Effect, got, a.Status, c.want, c.sources, c.status)
		}
	}
}

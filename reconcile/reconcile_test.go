package reconcile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/okf"
)

var now = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// agent are the terms of an ordinary session.
func agent() Options { return Options{Cap: okf.Inferred, By: "odd/0.1.0", Now: now} }

func atom(t testing.TB, path, text string) okf.Atom {
	t.Helper()
	a, err := okf.Parse(path, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// graph makes a bundle of path, text pairs.
func graph(t testing.TB, pairs ...string) *okf.Graph {
	t.Helper()
	var atoms []okf.Atom
	for i := 0; i+1 < len(pairs); i += 2 {
		atoms = append(atoms, atom(t, pairs[i], pairs[i+1]))
	}
	return okf.NewGraph(atoms)
}

// emit makes an incoming atom as a text substrate does.
func emit(t testing.TB, text string) Incoming {
	t.Helper()
	return Incoming{Atom: atom(t, "emission", text), At: "emission:3"}
}

func one(t testing.TB, g *okf.Graph, in Incoming, o Options) Item {
	t.Helper()
	items, err := Merge(g, []Incoming{in}, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(items) != 1 {
		t.Fatalf("%d items, want 1: %+v", len(items), items)
	}
	return items[0]
}

const cms = "---\ntype: system\nid: cms\ntitle: CMS # by hand\nconfidence: inferred\nuses: disk\n" +
	"sources:\n  - {id: s1, resource: docs/cms.md}\ngenerated: {by: odd/0.1.0, at: 2026-01-01T00:00:00Z}\n---\n\nKeeps articles.\n"

func TestMergeEffects(t *testing.T) {
	t.Parallel()
	with := func(old, now string) string { return strings.Replace(cms, old, now, 1) }
	base := okf.BlobID([]byte(cms))
	tests := []struct {
		name   string
		prior  string
		text   string
		base   string
		effect Effect
		reason string
	}{
		{"no prior", "", cms, "", Added, ""},
		{"another type", with("type: system", "type: term"), cms, "", Conflict, "it has type term, and the agent wrote type system"},
		{"the same again, without a base", cms, cms, "", Unchanged, ""},
		{"only the clock moved", cms, with("2026-01-01", "2026-09-09"), base, Unchanged, ""},
		{"fewer keys are no change", cms, "---\ntype: system\nid: cms\n---\n", base, Unchanged, ""},
		{"another order of keys", cms, "---\nid: cms\nuses: [disk]\ntitle: CMS\ntype: system\n---\nKeeps articles.  \n\n", "", Unchanged, ""},
		{"a change against the current blob", cms, with("Keeps", "Holds"), base, Updated, ""},
		{"a change against no blob", cms, with("Keeps", "Holds"), "", Conflict, "the file is there already, and the agent proposed it as new (no base=BLOB); what is there stays"},
		{"a change against an older blob", cms, with("Keeps", "Holds"), "abc", Conflict, "it changed since the agent read it (blob abc)"},
		{"an update of nothing", "", cms, "abc", Conflict, "it changes blob abc of an atom that does not exist"},
		{"deprecated", with("title", "status: deprecated\ntitle"), with("Keeps", "Holds"), "*", Guarded, "deprecated"},
		{"superseded", with("title", "superseded_by: cms-2\ntitle"), with("Keeps", "Holds"), "*", Guarded, "superseded by cms-2"},
		{"below the prior's rank", with("inferred", "asserted"), with("Keeps", "Holds"), "*", Guarded, "its confidence is asserted, and the agent's is only inferred"},
		{"by hand, without a rung", "---\ntype: system\nid: cms\n---\nBy hand.\n", cms, "*", Guarded, "its confidence is asserted, and the agent's is only inferred"},
		{"verified by a person", with("confidence: inferred", `verified: {by: "human:ann"}`), with("Keeps", "Holds"), "*", Guarded, "a person verified it"},
		{"verified, and no base", with("confidence: inferred", `verified: {by: "human:ann"}`), with("Keeps", "Holds"), "", Guarded, "a person verified it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := graph(t)
			if tt.prior != "" {
				g = graph(t, "systems/cms.md", tt.prior)
			}
			in := emit(t, tt.text)
			if in.Base = tt.base; in.Base == "*" {
				in.Base = okf.BlobID([]byte(tt.prior))
			}
			it := one(t, g, in, agent())
			if it.Effect != tt.effect || it.Reason != tt.reason || it.Effect.Lands() != (tt.effect == Added || tt.effect == Updated) {
				t.Errorf("%s %q, want %s %q, which lands or not", it.Effect, it.Reason, tt.effect, tt.reason)
			}
			if it.Path != "systems/cms.md" || it.ID != "cms" {
				t.Errorf("%s at %s, want cms at systems/cms.md", it.ID, it.Path)
			}
			if (it.Bytes == nil) != (it.Effect == Unchanged || tt.name == "another type") {
				t.Errorf("%s has %d bytes", it.Effect, len(it.Bytes))
			}
		})
	}
}

func TestMergeAddedPrints(t *testing.T) {
	t.Parallel()
	g := graph(t, "systems/disk.md", "---\ntype: system\nid: disk\ntitle: The [big] disk\n---\n")
	in := emit(t, "---\ntype: system\nid: cms\ntitle: CMS\nconfidence: verified\nverified: [{by: \"human:ann\"}]\nuri: klappy://x\nuses: [disk, gone]\ntags: [a, \"approved-by:ann\"]\n---\nKeeps articles.\n\n\n")
	got := string(one(t, g, in, agent()).Bytes)
	a := atom(t, "systems/cms.md", got)
	if a.Confidence() != okf.Inferred || len(a.Verified) > 0 || a.Status != "draft" || a.URI != "" || a.Generated.By != "odd/0.1.0" || a.Generated.At != "2026-11-21T09:00:00Z" {
		t.Errorf("an agent's atom says too much:\n%s", got)
	}
	if d := cmp.Diff([]string{"a"}, a.Tags); d != "" {
		t.Error(d)
	}
	if want := "Keeps articles.\n\n# Related\n\n* [The \\[big\\] disk](disk.md)\n"; !strings.HasSuffix(got, want) {
		t.Errorf("body does not end in %q:\n%s", want, got)
	}
}

func TestBadPath(t *testing.T) {
	t.Parallel()
	for p, bad := range map[string]bool{
		"": false, "terms/a.md": false, "a.md": false, "emission": false,
		"/a.md": true, "a/../b.md": true, "../a.md": true, "./a.md": true, "a//b.md": true, "a/.git/b.md": true, ".odd/x.md": true,
		`a\b.md`: true, "a\x00.md": true, "index.md": true, "terms/Log.md": true,
	} {
		if got := badPath(p) != ""; got != bad {
			t.Errorf("badPath(%q) = %q", p, badPath(p))
		}
	}
}

func TestMergeDuplicates(t *testing.T) {
	t.Parallel()
	g := graph(t,
		"terms/byline.md", "---\ntype: term\nid: byline\ntitle: \"The  Byl\u0131ne \u00c9\"\n---\n",
		"tables/orders.md", "---\ntype: table\n---\n",
		"terms/hull.md", "---\ntype: term\nid: body\n---\n",
		"terms/Rig.md", "---\ntype: term\nid: gear\n---\n",
		"terms/pole.md", "---\ntype: term\nid: parts/mast\n---\n",
	)
	tests := []struct {
		name, text string
		effect     Effect
		other      okf.ID
	}{
		{"one title in another case and form", "---\ntype: Term\nid: by-line\ntitle: \"the byl\u0131ne e\u0301\"\n---\n", Duplicate, "byline"},
		{"one title, another type", "---\ntype: role\nid: by-line\ntitle: \"The  Byl\u0131ne \u00c9\"\n---\n", Added, ""},
		{"a type prefix", "---\ntype: term\nid: term-byline\n---\n", Duplicate, "byline"},
		{"a folder prefix", "---\ntype: table\nid: orders\n---\n", Duplicate, "tables/orders"},
		{"a name that is taken by a stem", "---\ntype: term\nid: orders\n---\n", Conflict, "tables/orders"},
		{"a name that is taken by a file", "---\ntype: role\nid: hull\n---\n", Conflict, "body"},
		{"a file in another case", "---\ntype: term\nid: rig\n---\n", Conflict, "gear"},
		{"a name that is taken by the end of an id", "---\ntype: role\nid: mast\n---\n", Conflict, "parts/mast"},
		{"the folder id itself", "---\ntype: table\nid: tables/orders\n---\n", Unchanged, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			it := one(t, g, emit(t, tt.text), agent())
			if it.Effect != tt.effect || it.Other != tt.other {
				t.Errorf("%s of %q (%s), want %s of %q", it.Effect, it.Other, it.Reason, tt.effect, tt.other)
			}
		})
	}
}

func TestMergeDuplicateWithinTheEmission(t *testing.T) {
	t.Parallel()
	in := []Incoming{
		emit(t, "---\ntype: term\nid: b\ntitle: One thing\n---\n"),
		emit(t, "---\ntype: term\nid: a\ntitle: one Thing\n---\n"),
	}
	items, err := Merge(graph(t), in, agent())
	if err != nil {
		t.Fatal(err)
	}
	if items[0].ID != "a" || items[0].Effect != Added || items[1].Effect != Duplicate || items[1].Other != "a" {
		t.Errorf("%+v, want a added and b its duplicate", items)
	}
}

// TestMergeDuplicateOfANewTitle: a title that the same emission changes is the one that
// counts, and the old one is free again.
func TestMergeDuplicateOfANewTitle(t *testing.T) {
	t.Parallel()
	prior := "---\ntype: term\nid: old\ntitle: Old\nconfidence: inferred\n---\n"
	for title, want := range map[string]Effect{"New": Duplicate, "Old": Added} {
		retitled := emit(t, strings.Replace(prior, "title: Old", "title: New", 1))
		retitled.Base = okf.BlobID([]byte(prior))
		items, err := Merge(graph(t, "terms/old.md", prior), []Incoming{retitled, emit(t, "---\ntype: term\nid: other\ntitle: "+title+"\n---\n")}, agent())
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(items, func(it Item) bool { return it.ID == "other" })
		if items[i].Effect != want {
			t.Errorf("%s: %s of %q, want %s", title, items[i].Effect, items[i].Other, want)
		}
	}
}

func TestMergeWhatIsAPersons(t *testing.T) {
	t.Parallel()
	task := "---\ntype: task\nid: t-1\ntitle: Old\nstate: ready\nconfidence: inferred\n---\n"
	kind := "---\ntype: term\nid: kind\nconfidence: inferred\ntags: [encoding-type]\n---\n"
	g := graph(t, "terms/kind.md", kind, "tasks/t-1.md", task, "governance/note.md", "---\ntype: term\nid: note\nconfidence: inferred\n---\nx\n")
	tests := []struct{ name, text, base string }{
		{"canon", "---\ntype: canon\nid: c\n---\n", ""},
		{"canon in disguise", "---\ntype: \" CaNon\u200b \"\nid: c\n---\n", ""},
		{"principle", "---\ntype: principle\nid: c\n---\n", ""},
		{"profile", "---\ntype: persona\nid: c\n---\n", ""},
		{"handoff", "---\ntype: handoff\nid: c\n---\n", ""},
		{"a type of journal entry", "---\ntype: term\nid: c\ntags: [\"Encoding\u200b-type \"]\n---\n", ""},
		{"a type of journal entry that exists", "---\ntype: term\nid: kind\n---\nmine\n", okf.BlobID([]byte(kind))},
		{"a task that exists", strings.Replace(task, "Old", "New", 1), okf.BlobID([]byte(task))},
		{"what governs", "---\ntype: term\nid: note\n---\nmine\n", "*"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := emit(t, tt.text)
			in.Base = tt.base
			if it := one(t, g, in, agent()); it.Effect != Guarded || it.Reason == "" {
				t.Errorf("%s %q, want guarded with a reason", it.Effect, it.Reason)
			}
		})
	}
}

func TestMergeAgentTask(t *testing.T) {
	t.Parallel()
	in := emit(t, "---\ntype: task\nid: t-2\ntitle: New\nstate: ready\ncommands: [[rm, -rf, /]]\nbudget_usd: 100\nclaimed_by: me\nresult: {run: x}\nattempts: 0\ntags: [\"Approved-By: me\", docs]\n---\n")
	it := one(t, graph(t), in, agent())
	a := atom(t, it.Path, string(it.Bytes))
	if it.Path != "tasks/t-2.md" || a.Text("state") != "backlog" {
		t.Errorf("%s in %s, want tasks/t-2.md in backlog", it.Path, a.Text("state"))
	}
	for _, key := range []string{"commands", "budget_usd", "claimed_by", "result", "attempts", "verified"} {
		if _, ok := a.Field(key); ok {
			t.Errorf("an agent's task has %s:\n%s", key, it.Bytes)
		}
	}
	if d := cmp.Diff([]string{"docs"}, a.Tags); d != "" {
		t.Error(d)
	}
}

func TestMergeMalformed(t *testing.T) {
	t.Parallel()
	good := "---\ntype: term\nid: good\n---\n"
	big := "---\ntype: term\nid: big\n---\n" + strings.Repeat("x", maxBytes)
	tests := []struct {
		name string
		in   func(t *testing.T) Incoming
		want string
	}{
		{"an id that is a reserved file", func(t *testing.T) Incoming { return emit(t, "---\ntype: term\nid: log\n---\n") }, "reserved"},
		{"an id that is no slug", func(t *testing.T) Incoming { return emit(t, "---\ntype: term\nid: Not.A_Slug\n---\n") }, "may have only a-z, 0-9 and -"},
		{"a reserved file", func(t *testing.T) Incoming {
			return Incoming{Atom: atom(t, "terms/index.md", good), At: "emission:3"}
		}, "reserved"},
		{"a path out of the bundle", func(t *testing.T) Incoming {
			return Incoming{Atom: atom(t, "terms/../../x.md", good), At: "emission:3"}
		}, "leads out of the bundle"},
		{"a path that is another atom's", func(t *testing.T) Incoming {
			return Incoming{Atom: atom(t, "terms/old.md", "---\ntype: term\nid: new\n---\n"), At: "emission:3"}
		}, "belongs to old, not to new"},
		{"a hidden folder", func(t *testing.T) Incoming {
			return Incoming{Atom: atom(t, ".git/x.md", good), At: "emission:3"}
		}, "hidden folder"},
		{"an edge out of the bundle", func(t *testing.T) Incoming { return emit(t, "---\ntype: term\nid: e\nrelates_to: ../../x\n---\n") }, "leads out of the bundle"},
		{"a type without a letter", func(t *testing.T) Incoming { return emit(t, "---\ntype: \"../\"\nid: e\n---\n") }, "no letter"},
		{"owns", func(t *testing.T) Incoming { return emit(t, "---\ntype: role\nid: e\nowns: x\n---\n") }, "set owner on the process"},
		{"a key twice once its hidden characters are gone", func(t *testing.T) Incoming {
			return emit(t, "---\ntype: term\nid: e\nowner_note: a\n\"owner_\u200Bnote\": b\n---\n")
		}, "repeated"},
		{"a key twice deep inside", func(t *testing.T) Incoming {
			return emit(t, "---\ntype: term\nid: e\nmeta: [[{a: {b: 1, \"b\\u200B\": 2}}]]\n---\n")
		}, "repeated"},
		{"a type nobody sees", func(t *testing.T) Incoming { return emit(t, "---\ntype: \"\\u200B\"\nid: e\n---\n") }, "has no type"},
		{"a confidence that is none", func(t *testing.T) Incoming { return emit(t, "---\ntype: term\nid: e\nconfidence: sure\n---\n") }, "unknown confidence"},
		{"the good one as another type", func(t *testing.T) Incoming { return emit(t, "---\ntype: role\nid: good\n---\n") }, "delivered twice"},
		{"too big", func(t *testing.T) Incoming { return emit(t, big) }, "at most 262144"},
		{"the good one twice", func(t *testing.T) Incoming { return emit(t, good) }, "delivered twice"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := graph(t, "terms/old.md", "---\ntype: term\nid: old\n---\n")
			items, err := Merge(g, []Incoming{emit(t, good), tt.in(t)}, agent())
			var m *Malformed
			if !errors.As(err, &m) || items != nil {
				t.Fatalf("%v, %v; want malformed and no items", items, err)
			}
			if !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "emission:3: ") {
				t.Errorf("error %q, want emission:3 and %q", err, tt.want)
			}
		})
	}
}

// TestMergeOnePath: an atom without an id is the one that is in its file, and a new atom and
// one that is there cannot have one path in one emission.
func TestMergeOnePath(t *testing.T) {
	t.Parallel()
	prior := "---\ntype: term\nid: gear\nconfidence: inferred\n---\nOld.\n"
	g := graph(t, "terms/Rig.md", prior)
	nameless := func(path string) Incoming {
		return Incoming{Atom: atom(t, path, "---\ntype: term\n---\nNew.\n"), Base: okf.BlobID([]byte(prior))}
	}
	if it := one(t, g, nameless("terms/Rig.md"), agent()); it.ID != "gear" || it.Effect != Updated {
		t.Errorf("%s of %s, want gear", it.Effect, it.ID)
	}
	added := nameless("elsewhere/fin.md")
	added.Base = ""
	if it := one(t, g, added, agent()); it.ID != "fin" || it.Path != "terms/fin.md" || it.Effect != Added {
		t.Errorf("%s of %s at %s, want fin in the folder of its type", it.Effect, it.ID, it.Path)
	}
	_, err := Merge(g, []Incoming{emit(t, "---\ntype: term\nid: rig\n---\n"), nameless("terms/Rig.md")}, agent())
	if err == nil || err.Error() != "emission:3: rig and gear (at terms/Rig.md) have the same path terms/rig.md; change one of the ids" {
		t.Error(err)
	}
	added.Atom = atom(t, "x.md", "---\ntype: term\nid: Not.A_Slug\n---\n")
	if _, err = Merge(g, []Incoming{added}, agent()); err == nil || !strings.HasPrefix(err.Error(), "x.md:1: ") {
		t.Errorf("an atom that came from no emission: %v", err)
	}
}

func TestMergeListsEveryMalformed(t *testing.T) {
	t.Parallel()
	o := agent()
	o.MaxAtoms = 1
	_, err := Merge(graph(t), []Incoming{emit(t, "---\ntype: term\nid: a\nrelates_to: ../../x\n---\n"), emit(t, "---\ntype: term\nid: B\n---\n")}, o)
	var m *Malformed
	if !errors.As(err, &m) || len(m.Problems) < 3 {
		t.Errorf("%v, want the limit and both ids", err)
	}
	if _, err := Merge(graph(t), []Incoming{emit(t, "---\ntype: term\nid: a\n---\n")}, o); err != nil {
		t.Errorf("as many as may be: %v", err)
	}
}

func TestMergeNeverLandsOnAnUnreadFile(t *testing.T) {
	t.Parallel()
	g, _, err := okf.Load(fstest.MapFS{"systems/cms.md": {Data: []byte("---\ntype: [\n---\n")}})
	if err != nil {
		t.Fatal(err)
	}
	if it := one(t, g, emit(t, cms), agent()); it.Effect != Conflict || !strings.Contains(it.Reason, "cannot be read") {
		t.Errorf("%s %q, want conflict with a file that does not parse", it.Effect, it.Reason)
	}
}

// TestMergeSupersededByAnother: what another atom says it replaces is not changed any
// more; what merely names the atom leaves it in force.
func TestMergeSupersededByAnother(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]Effect{"supersedes": Guarded, "uses": Updated} {
		g := graph(t, "systems/cms.md", cms, "systems/cms-2.md", "---\ntype: system\nid: cms-2\n"+key+": [cms]\n---\n")
		in := emit(t, strings.Replace(cms, "Keeps", "Holds", 1))
		in.Base = okf.BlobID([]byte(cms))
		if it := one(t, g, in, agent()); it.Effect != want || (want == Guarded) != (it.Reason == "superseded by cms-2") {
			t.Errorf("%s: %s %q, want %s", key, it.Effect, it.Reason, want)
		}
	}
}

func TestMergePerson(t *testing.T) {
	t.Parallel()
	prior := "---\ntype: canon\nid: rule\nuses: [a, b]\nverified: {by: \"human:ann\"}\nconfidence: verified\n---\n\nOld.\n"
	in := emit(t, "---\ntype: canon\nid: rule\nuses: [b]\n---\n\nNew.\n")
	in.ReplaceEdges = true
	it := one(t, graph(t, "canon/rule.md", prior), in, Options{Person: true, Now: now})
	a := atom(t, it.Path, string(it.Bytes))
	if it.Effect != Updated || len(a.Edges) != 1 || !strings.Contains(string(a.Body()), "New.") || a.Confidence() != okf.Verified {
		t.Errorf("%s:\n%s", it.Effect, it.Bytes)
	}
	in.ReplaceEdges, in.Base = false, "stale"
	if it := one(t, graph(t, "canon/rule.md", prior), in, Options{Person: true, Now: now}); it.Effect != Conflict {
		t.Errorf("a stale base is %s for a person, want conflict", it.Effect)
	}
}

func TestCapNeverExceeds(t *testing.T) {
	t.Parallel()
	for _, limit := range []okf.Confidence{okf.Unset, okf.Inferred, okf.Asserted, okf.Verified} {
		for _, word := range []string{"", "inferred", "asserted", "verified"} {
			o := agent()
			o.Cap = limit
			a, err := Cap(atom(t, "x.md", "---\ntype: term\nid: x\nconfidence: \""+word+"\"\nverified: [{by: \"human:a\"}]\n---\n"), o)
			if err != nil {
				t.Fatal(err)
			}
			if got, most := a.Confidence(), min(max(limit, okf.Inferred), okf.Asserted); got > most || a.Tier() != okf.Unverified {
				t.Errorf("cap %s of %q is %s, %s", limit, word, got, a.Tier())
			}
		}
	}
}

func TestCapStripsHiddenText(t *testing.T) {
	t.Parallel()
	a, err := Cap(atom(t, "x.md", "---\ntype: term\nid: x\ntitle: \"a\\u202Eb\\U000E0041\"\n\"ver\\u200Bified\": [{by: \"human:a\"}]\nmeta: {\"k\\u200B\": [\"v\\uFEFF\"]}\n---\nbo\u2060dy\tx\n"), agent())
	if err != nil {
		t.Fatal(err)
	}
	if got := string(a.Bytes()); got != okf.Visible(got) || a.Title != "ab" || len(a.Verified) > 0 || !strings.Contains(got, "body\tx") {
		t.Errorf("hidden text is left:\n%q", got)
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"term": "terms", "process": "processes", "policy": "policies", "capability": "capabilities", "Canon": "canon", "constraint": "canon",
		"BigQuery Table": "bigquery-tables", "essay": "essays", "size 0": "size-0s", "box": "boxes", "y": "ys", "gateway": "gateways", "../..": "", "": "",
	} {
		if got := folderOf(in); got != want {
			t.Errorf("folder(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	g := graph(t, "systems/cms.md", cms)
	in := emit(t, strings.Replace(cms, "Keeps", "Holds", 1))
	in.Base = okf.BlobID([]byte(cms))
	got := string(Diff(g, one(t, g, in, agent())))
	if !strings.Contains(got, "--- a/systems/cms.md\n+++ b/systems/cms.md\n") || !strings.Contains(got, "\n-Keeps articles.\n+Holds articles.\n") {
		t.Errorf("diff:\n%s", got)
	}
	if d := Diff(g, Item{Path: "systems/cms.md"}); d != nil {
		t.Errorf("an item without bytes has the diff %q", d)
	}
}

// What a person declined does not come again from the same text, whether it is new or an
// update; nothing else is kept out by that, and nothing links to it.
func TestMergeDeclined(t *testing.T) {
	t.Parallel()
	from := func(id, hash, more string) Incoming {
		return emit(t, "---\ntype: term\nid: "+id+"\nsources:\n  - {id: s1, resource: docs/a.md, title: line 3, text: 'sha256:"+hash+"'}\n"+more+"---\n\nA "+id+".\n")
	}
	g := graph(t, "terms/keel.md", "---\ntype: term\nid: keel\nconfidence: inferred\n---\n\nOld.\n")
	keel := from("keel", "11", "")
	keel.Base = g.ByID("keel").Blob
	no := map[okf.ID]string{"keel": okf.Grounds(&keel.Atom), "skeg": okf.Grounds(&keel.Atom)}
	o := agent()
	o.Declined = func(id okf.ID, grounds string) string {
		if no[id] == grounds {
			return "declined by human:ann"
		}
		return ""
	}
	items, err := Merge(g, []Incoming{keel, from("skeg", "11", ""), from("mast", "11", "related: [skeg]\n")}, o)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, it := range items {
		got = append(got, fmt.Sprint(it.ID, " ", it.Effect, " ", it.Reason))
		if it.ID == "mast" && strings.Contains(string(it.Bytes), "skeg.md") {
			t.Errorf("mast links to what is not there:\n%s", it.Bytes)
		}
	}
	if d := cmp.Diff([]string{"keel declined declined by human:ann", "mast added ", "skeg declined declined by human:ann"}, got); d != "" {
		t.Error(d)
	}
	if it := one(t, g, from("skeg", "12", ""), o); it.Effect != Added {
		t.Errorf("from another text: %s", it.Effect)
	}
	o.Person = true
	if it := one(t, g, from("skeg", "11", ""), o); it.Effect != Added {
		t.Errorf("by a person: %s", it.Effect)
	}
}

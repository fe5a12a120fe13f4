package extract

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/session"
)

const glossaryText = "# Glossary\n\nSkeg\n: A small fin under the stern.\n\nRack\n: The red rack by the door.\n"

// after is the request over the same files with a bundle that holds atoms.
func after(t *testing.T, r session.Request, atoms ...okf.Atom) session.Request {
	t.Helper()
	r.Graph = okf.NewGraph(atoms)
	return r
}

func parsed(t *testing.T, path, text string) okf.Atom {
	t.Helper()
	a, err := okf.Parse(path, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestSecondRunSaysNothing(t *testing.T) {
	t.Parallel()
	r := request("docs/a.md", glossaryText)
	var atoms []okf.Atom
	for _, a := range drive(t, r).Atoms {
		atoms = append(atoms, a.Atom)
	}
	r = after(t, r, atoms...)
	r.By, r.Now = "odd/0.2.0", noon.AddDate(1, 0, 0)
	e := drive(t, r)
	if len(e.Atoms) > 0 || !strings.Contains(e.Notes[0].Content, "nothing new: 2.") {
		t.Errorf("got %q, %q", spoken(e), e.Notes[0].Content)
	}
}

func TestChangedSourceIsAnUpdate(t *testing.T) {
	t.Parallel()
	first := drive(t, request("docs/a.md", glossaryText)).Atoms
	r := after(t, request("docs/a.md", strings.Replace(glossaryText, "small", "tiny", 1)), first[0].Atom, first[1].Atom)
	e := drive(t, r)
	if len(e.Atoms) != 1 {
		t.Fatalf("got %q", spoken(e))
	}
	a := e.Atoms[0]
	prior := first[1].Atom
	if a.Base != prior.Blob || a.Atom.ID != prior.ID || a.Atom.Path != prior.Path || a.Atom.Description != "A tiny fin under the stern." {
		t.Errorf("got base %q id %q path %q: %s", a.Base, a.Atom.ID, a.Atom.Path, a.Atom.Description)
	}
}

// TestMovedLinesAreNoUpdate: an atom says the same when its text stands on other lines of
// its file; one whose file has another name is updated, and its source keeps its id.
func TestMovedLinesAreNoUpdate(t *testing.T) {
	t.Parallel()
	first := drive(t, request("docs/a.md", glossaryText)).Atoms
	moved := strings.Replace(glossaryText, "\n", "\n\nWords of the yard.\n", 1)
	if e := drive(t, after(t, request("docs/a.md", moved), first[0].Atom, first[1].Atom)); len(e.Atoms) > 0 {
		t.Errorf("got %q", spoken(e))
	}
	e := drive(t, after(t, request("docs/b.md", moved), first[0].Atom, first[1].Atom))
	if len(e.Atoms) != 2 {
		t.Fatalf("got %q", spoken(e))
	}
	for _, a := range e.Atoms {
		if want := (okf.Source{ID: "docs-a", Resource: "docs/b.md", Title: a.Atom.Sources[0].Title}); len(a.Atom.Sources) != 1 || a.Atom.Sources[0] != want {
			t.Errorf("%s: %+v", a.Atom.ID, a.Atom.Sources)
		}
	}
	both := drive(t, after(t, request("docs/a.md", glossaryText, "docs/b.md", moved), first[0].Atom, first[1].Atom)).Atoms
	if len(both) != 2 || len(both[0].Atom.Sources) != 2 || both[0].Atom.Sources[1].ID != "docs-b" {
		t.Errorf("a file that is still there lost its source: %+v", both)
	}
}

// TestPersonsWordsStay: what a person edited in an atom is not proposed back while the text
// that it cites is the same, under another name of the file too.
func TestPersonsWordsStay(t *testing.T) {
	t.Parallel()
	a := drive(t, request("docs/a.md", glossaryText)).Atoms[1].Atom
	edited := parsed(t, a.Path, strings.ReplaceAll(string(a.Bytes()), "A small fin", "A fin, small,"))
	for path, text := range map[string]string{"docs/a.md": glossaryText, "docs/b.md": "Words.\n\n" + glossaryText} {
		var got []okf.Atom
		for _, e := range drive(t, after(t, request(path, text), edited)).Atoms {
			if e.Atom.ID == edited.ID {
				got = append(got, e.Atom)
			}
		}
		if path == "docs/a.md" {
			if len(got) > 0 {
				t.Errorf("proposed back: %s", got[0].Bytes())
			}
			continue
		}
		if len(got) != 1 || got[0].Description != edited.Description || !strings.Contains(string(got[0].Body()), "> Skeg: A fin, small, under") || !strings.Contains(string(got[0].Body()), "](../../docs/b.md#L5-L6)") || strings.Contains(string(got[0].Bytes()), "docs/a.md") {
			t.Errorf("%d atoms: %s", len(got), got[0].Bytes())
		}
	}
	e := drive(t, after(t, request("docs/a.md", strings.Replace(glossaryText, "small", "tiny", 1)), edited))
	if !strings.Contains(strings.Join(spoken(e), "\n"), "A tiny fin") {
		t.Errorf("another text is not proposed: %q", spoken(e))
	}
}

func TestKnownAtoms(t *testing.T) {
	t.Parallel()
	const more = "generated: {by: acme/2, at: 2026-01-01T00:00:00Z}\n"
	tests := []struct {
		name, prior string
		want        string // keys of the update, "" for none
	}{
		{"a person's", "type: term\nid: skeg\ntitle: Skeg\n", ""},
		{"asserted", "type: term\nid: skeg\ntitle: Skeg\nconfidence: asserted\n" + more, ""},
		{"verified", "type: term\nid: skeg\ntitle: Skeg\nconfidence: inferred\nverified: [{by: human:ann, at: 2026-01-01T00:00:00Z}]\n" + more, ""},
		{"another kind of that name", "type: artifact\nid: skeg\ntitle: Skeg\n" + more, ""},
		{"under another id", "type: term\nid: fin\ntitle: Skegs\n", ""},
		{"another agent's", "type: term\nid: skeg\ntitle: Skeg\ndescription: Its own.\n" + more, "type id title confidence sources generated"},
		{"another agent's with the source", "type: term\nid: skeg\ntitle: Skeg\nsources: [{id: x, resource: docs/a.md}]\n" + more, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			prior := parsed(t, "terms/x.md", "---\n"+tt.prior+"---\n\nIts own text.\n")
			e := drive(t, after(t, request("docs/a.md", glossaryText), prior))
			got := ""
			for _, a := range e.Atoms {
				if a.Atom.Title == "Rack" {
					continue
				}
				for _, f := range a.Atom.Fields {
					got += " " + f.Key
				}
				if a.Base != prior.Blob || a.Atom.ID != prior.ID {
					t.Errorf("got base %q, id %q", a.Base, a.Atom.ID)
				}
			}
			if got = strings.TrimSpace(got); got != tt.want {
				t.Errorf("got an update of %q, want %q", got, tt.want)
			}
		})
	}
}

func TestOpeningIsOpen(t *testing.T) {
	t.Parallel()
	prior := parsed(t, "processes/open-the-jetty.md", "---\ntype: process\ntitle: Open the jetty\n---\n")
	e := drive(t, after(t, request("a.md", "# Opening the jetty\n\n1. Read the forecast.\n2. Put out the flag.\n"), prior))
	if len(e.Atoms) > 0 {
		t.Errorf("got %q beside %q", spoken(e), prior.Title)
	}
}

func TestEdgesToWhatIsThere(t *testing.T) {
	t.Parallel()
	prior := parsed(t, "roles/guide.md", "---\ntype: role\nid: guide\ntitle: Guide\n---\n")
	dns := parsed(t, "terms/dns.md", "---\ntype: term\nid: dns\ntitle: DNS\n---\n")
	plan := parsed(t, "terms/float-plan.md", "---\ntype: term\nid: float-plan\ntitle: Float plan\n---\n")
	for text, want := range map[string]string{
		"The Guide who paddles last of all.":              "guide",
		"One of the Guides who paddle.":                   "guide",
		"DNS of the last boat.":                           "dns",
		"What the float plan has below.":                  "float-plan",
		"The guide who paddles last of all.":              "", // any guide
		"A dns, one of many more.":                        "",
		"A chapter of the Guide Book of ours.":            "", // part of another name
		"The Float Plan Committee has this one of three.": "",
		"The boat of us all. Guides bring it home.":       "",
	} {
		e := drive(t, after(t, request("a.md", "# Glossary\n\nSweep\n: "+text+"\n"), prior, dns, plan))
		got := ""
		for _, edge := range e.Atoms[0].Atom.Edges {
			got += edge.Target
		}
		if got != want {
			t.Errorf("%q links to %q, want %q", text, got, want)
		}
	}
}

func TestInputs(t *testing.T) {
	t.Parallel()
	all := []string{
		"README.md", "x", "LICENSE.md", "x", "legal/eula.md", "x", "docs/a.md", "x", "docs/b.txt", "x", "docs/deep/c.markdown", "x", "docs/.hidden/d.md", "x",
		"docs/security.md", "x", "docs/SECURITY.md", "x", "node_modules/e/e.md", "x", "knowledge/terms/f.md", "x",
		"docs/latin.md", "caf\xe9", "docs/zero.md", "a\x00b", "docs/big.md", strings.Repeat("x", maxFile+1),
	}
	tests := []struct {
		name    string
		inputs  []string
		want    []string
		skipped []string
	}{
		{"all", []string{"."}, []string{"README.md", "docs/SECURITY.md", "docs/a.md", "docs/deep/c.markdown", "docs/security.md"},
			[]string{"LICENSE.md", "docs/.hidden", "docs/b.txt", "legal/eula.md", "node_modules", "docs/big.md", "docs/latin.md", "docs/zero.md"}},
		{"all but a folder", []string{"docs/", "!docs/deep/**", "!docs/[bls]*", "!docs/*zero*"}, []string{"docs/SECURITY.md", "docs/a.md"}, []string{"docs/.hidden"}},
		{"an exclusion of nothing", []string{"docs/a.md", "!docs/none/**"}, []string{"docs/a.md"}, []string{"!docs/none/**"}},
		{"a file by name is read whatever it is", []string{"docs/b.txt", "./LICENSE.md"}, []string{"LICENSE.md", "docs/b.txt"}, nil},
		{"and told once", []string{"docs/", "docs/b.txt", "docs/.hidden", "**/*.txt", "docs/deep/*"},
			[]string{"docs/.hidden/d.md", "docs/SECURITY.md", "docs/a.md", "docs/b.txt", "docs/deep/c.markdown", "docs/security.md"}, []string{"**/*.txt", "docs/big.md", "docs/latin.md", "docs/zero.md"}},
		{"the bundle when it is named", []string{"knowledge/"}, []string{"knowledge/terms/f.md"}, nil},
		{"one level", []string{"docs/[ac]*.md"}, []string{"docs/a.md"}, nil},
		{"any level", []string{"**/*.markdown", "docs/a.md"}, []string{"docs/a.md", "docs/deep/c.markdown"}, nil},
		{"what is not there", []string{"gone.md", "gone/*.md", "../x.md", "/etc", "https://x.example/a.md", "a[.md", ""},
			nil, []string{"gone.md", "gone/*.md", "../x.md", "/etc", "https://x.example/a.md", "a[.md", ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files, skips, err := readInputs(t.Context(), request(all...).Files, tt.inputs, "knowledge")
			var got, skipped []string
			for _, f := range files {
				got = append(got, f.path)
			}
			for _, s := range skips {
				skipped = append(skipped, s.path)
				if s.why == "" {
					t.Errorf("%s is skipped without a reason", s.path)
				}
			}
			if d := cmp.Diff(tt.want, got); err != nil || d != "" {
				t.Errorf("files (-want +got), %v:\n%s", err, d)
			}
			if d := cmp.Diff(tt.skipped, skipped); d != "" {
				t.Errorf("skipped (-want +got):\n%s", d)
			}
		})
	}
}

// TestKeptDescription: what a person wrote as the description of an atom that had none stays with the text.
func TestKeptDescription(t *testing.T) {
	t.Parallel()
	r := request("SECURITY.md", "# Security\n\n## Reports\n\nReporters must not:\n\n- Publish it.\n- Sell it.\n")
	prior := drive(t, r).Atoms[0].Atom
	if prior.Description != "" {
		t.Fatalf("described as %q", prior.Description)
	}
	mine := okf.Field{Key: "description", Value: "Nothing is told to others."}
	person, err := okf.New(prior.Path, append(slices.Clone(prior.Fields), mine), string(prior.Body()))
	if err != nil {
		t.Fatal(err)
	}
	if got := keepFields(person, prior.Fields); !slices.ContainsFunc(got, func(f okf.Field) bool { return f.Key == mine.Key && f.Value == mine.Value }) {
		t.Errorf("got %v", got)
	}
}

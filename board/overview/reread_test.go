package overview

import (
	"slices"
	"testing"
	"testing/fstest"

	"github.com/odd-cli/odd/okf"
)

// TestRereadEntries: for an atom whose text is nowhere any more, the documents with an entry of
// its title are read again, and not those that only mention it.
func TestRereadEntries(t *testing.T) {
	a, err := okf.Parse("roles/tc.md", []byte("---\ntype: role\nid: tc\ntitle: TC\nconfidence: inferred\nsources:\n  - id: s\n    resource: docs/gone.md\n    title: lines 1-2\n    blob: c0a19556af174e413af00554068213c42d9936cb\n    text: sha256:dbbc9944a2a7d3d4/8c73\n---\n\n> It decides.[^s]\n\n[^s]: [docs/gone.md, lines 1-2](../../docs/gone.md)\n"))
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"docs/heading.md": "# About\n\n## TC\n\nIt decides.\n", "docs/list.md": "- **TC**: it decides\n", "docs/row.md": "| TC | decides |\n", "docs/link.md": "* [TC](tc.md)\n",
		"docs/mention.md": "# About\n\nAsk the TC first.\nTC members vote.\n", "docs/word.md": "## TCP\n\nA protocol.\n", "docs/code.go": "// TC\n", "knowledge/terms/a.md": "# TC\n", ".github/tc.md": "# TC\n",
	} {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	m := Memory{Root: "knowledge", Files: files, Graph: okf.NewGraph([]okf.Atom{a})}
	ids, docs := m.Reread()
	if want := []string{"docs/gone.md", "docs/heading.md", "docs/link.md", "docs/list.md", "docs/row.md"}; !slices.Equal(docs, want) || !slices.Equal(ids, []string{"tc"}) {
		t.Errorf("Reread() = %q, %q; want tc and %q", ids, docs, want)
	}
}

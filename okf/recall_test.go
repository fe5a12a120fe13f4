package okf_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/odd-cli/odd/okf"
)

// TestRecall: of the atoms that answer the questions of testdata/recall.txt about odd's own bundle, search finds at
// least 45 % among its first ten. It found 52 % when the questions were written, and 50 % without links.
func TestRecall(t *testing.T) {
	t.Parallel()
	g, _, err := okf.Load(os.DirFS("../knowledge"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile("testdata/recall.txt")
	if err != nil {
		t.Fatal(err)
	}
	sum, n := 0.0, 0
	for line := range strings.Lines(string(b)) {
		question, answers, ok := strings.Cut(strings.TrimSpace(line), " | ")
		if !ok {
			continue
		}
		want, hits := strings.Fields(answers), 0
		for _, id := range want {
			if g.ByID(okf.ID(id)) == nil {
				t.Errorf("recall.txt: %q: the bundle has no atom %s", question, id)
			}
		}
		for _, h := range g.Search(question, 10) {
			if slices.Contains(want, string(h.ID)) {
				hits++
			}
		}
		sum, n = sum+float64(hits)/float64(len(want)), n+1
	}
	if recall := sum / float64(n); recall < 0.45 || n < 40 {
		t.Errorf("recall among the first ten is %.3f over %d questions", recall, n)
	}
}

// TestSearchFollowsLinks: of equal hits the one that the best hit is linked with comes first, and what has no word of
// the query is no hit.
func TestSearchFollowsLinks(t *testing.T) {
	t.Parallel()
	g, problems, err := okf.Load(fstest.MapFS{
		"best.md":  {Data: []byte("---\ntype: term\ntitle: Tide tables\n---\nTide tables. See [z](z.md) and [other](other.md).\n")},
		"a.md":     {Data: []byte("---\ntype: term\ntitle: A\n---\nOn tides.\n")},
		"z.md":     {Data: []byte("---\ntype: term\ntitle: Z\n---\nOn tides.\n")},
		"other.md": {Data: []byte("---\ntype: term\ntitle: Other\n---\nOn boats.\n")},
	})
	if err != nil {
		t.Fatal(err, problems)
	}
	var got []string
	for _, h := range g.Search("tide tides tables", 0) {
		got = append(got, string(h.ID))
	}
	if want := []string{"best", "z", "a"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

package canon

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	doc := func(uri string, more ...string) string {
		return "---\nuri: " + uri + "\n" + strings.Join(more, "\n") + "\n---\n# One, two\n"
	}
	l := library(t, files("canon/one.md\n"+doc("acme://one", "id: first"), "canon/two.md\n"+doc("acme://short", "superseded_by: canon/three"),
		"canon/three.md\n"+doc("acme://three"), "canon/four.md\n"+doc("acme://four", "supersedes: acme://three", "status: draft"),
		"canon/c1.md\n"+doc("acme://c1", "superseded_by: acme://c2"), "canon/c2.md\n"+doc("acme://c2", "superseded_by: acme://c1"),
		"canon/README.md\n"+doc("acme://top"), "lost.md\n"+doc("acme://lost", "superseded_by: acme://nowhere"), "data/x.csv\na,b", "hash.md\n"+doc("acme://with#hash")))
	for ref, want := range map[string]string{
		"acme://one":                           "FOUND canon/one.md index",
		" acme://one ":                         "FOUND canon/one.md index",
		"acme://one#one-two":                   "FOUND canon/one.md index anchor",
		"acme://with#hash":                     "FOUND hash.md index",
		"acme://canon/one":                     "FOUND canon/one.md index path",
		"acme://one.md":                        "FOUND canon/one.md index stem",
		"acme://canon":                         "FOUND canon/README.md index path directory",
		"canon/":                               "FOUND canon/README.md index path directory",
		"acme://canon/one.md":                  "FOUND canon/one.md index stem file",
		"/canon/one.md":                        "FOUND canon/one.md index stem file",
		"data/x.csv":                           "FOUND data/x.csv index path directory directory file",
		"first":                                "FOUND canon/one.md index path directory directory file id",
		"two":                                  "FOUND canon/three.md index path directory directory file id superseded-by",
		"acme://short":                         "FOUND canon/three.md index superseded-by",
		"acme://three":                         "FOUND canon/three.md index",
		"acme://lost":                          "NOT_FOUND  index superseded-by",
		"acme://gone":                          "NOT_FOUND  index path directory directory file",
		"other://one":                          "EXTERNAL  index authority",
		"acme://c1":                            "CIRCULAR_SUPERSESSION  index superseded-by superseded-by",
		"":                                     "INVALID_INPUT ",
		"acme://":                              "INVALID_INPUT ",
		"acme://../x":                          "INVALID_INPUT ",
		"acme://a/%2e%2E/x":                    "INVALID_INPUT ",
		"other://a/../x":                       "INVALID_INPUT ",
		"../../etc/passwd":                     "INVALID_INPUT ",
		"canon/../lost.md":                     "INVALID_INPUT ",
		`acme://a\..\x`:                        "INVALID_INPUT ",
		"acme://a\x00b":                        "INVALID_INPUT ",
		"acme://" + strings.Repeat("a/", 3000): "NOT_FOUND  index path directory directory file",
	} {
		tr := l.Resolve(ref)
		got := string(tr.Outcome) + " " + strings.Join(tr.InForce, ",")
		if len(tr.InForce) == 0 && tr.Outcome == Found {
			got += tr.Path
		}
		for _, s := range tr.Steps {
			got += " " + s.Try
		}
		if got != want {
			t.Errorf("%q: got %q, want %q (%s)", ref, got, want, tr.Message)
		}
	}
}

// A folder of a repository is the canon, and its documents refer to what lies
// beside it.
func TestResolveBeside(t *testing.T) {
	t.Parallel()
	l, err := Read(files("docs/guide.md\n# Guide", "know/canon/a.md\n"+with("tags: [x]", "tags: [x]\nderives_from: docs/guide.md, know/canon/b.md, canon/b.md, docs/gone.md")+"[g](../../docs/guide.md) [o](../../../x.md)\n",
		"know/canon/b.md\n"+with("acme://a", "acme://b")), "know", nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"canon/a.md:10 error dead-reference"}, said(l.Check())); diff != "" {
		t.Error(diff)
	}
	if got := l.Resolve("docs/guide.md").Path; got != "/docs/guide.md" {
		t.Error(got)
	}
}

// Many documents that supersede each other in a lattice have more ways through
// than can be walked one by one.
func TestResolveLattice(t *testing.T) {
	t.Parallel()
	var texts []string
	name := func(row, col int) string { return "r" + strings.Repeat("i", row) + string(rune('a'+col)) }
	for row := range 40 {
		for col := range 2 {
			next := "\nsuperseded_by: [acme://" + name(row+1, 0) + ", acme://" + name(row+1, 1) + "]"
			if row == 39 {
				next = ""
			}
			texts = append(texts, name(row, col)+".md\n---\nuri: acme://"+name(row, col)+next+"\n---\n")
		}
	}
	l := library(t, files(texts...))
	if got := l.Resolve("acme://" + name(0, 0)).InForce; len(got) != 2 {
		t.Error(got)
	}
}

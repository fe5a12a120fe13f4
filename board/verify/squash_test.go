package verify

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/journal/repo"
)

// A squash is one finding, and hides neither what it did to old lines nor a record that odd did not write.
func TestSquashHidesNothingElse(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	s.anchored = true
	s.add("t1", "")
	s.result(s.claim("t1"), 1_000, terms("keel"))
	base := s.tip()
	s.add("t2", "")
	w := s.claim("t2")
	s.result(w, 1_000, terms("stem"))
	whole, old, own := s.tip(), s.findFile("ledger", "001"), s.findFile("ledger", "002")
	const squash = "14 ledger/2026-03/R2.jsonl:4 this commit squashes commits by odd, such as the run of t2, so nobody can prove any more who claimed and approved what"
	for _, c := range []struct {
		name, file, was, is string
		want                []string
	}{
		{name: "as it was", want: []string{squash}},
		{"an old line", old, "editor", "author", []string{"14 ledger/2026-03/R1.jsonl:1 is append-only, and old lines of it were changed", squash}},
		{"a record of its own", own, "editor", "author", nil},
		{"a gate besides", gatesFile, "", "{}\n", []string{"8 governance/gates.jsonl:1 governance/ was changed without a gate: the commit has no trailer Odd-Gate", squash}},
	} {
		all, err := s.r.Diff(s.Context(), base, whole)
		if err != nil {
			t.Fatal(err)
		}
		d := draft{who: annMail, parents: []repo.OID{base}, ch: repo.Changes{}, message: "squash"}
		for _, ch := range all {
			d.ch[ch.Path] = s.at(whole, ch.Path)
		}
		switch {
		case c.was == "" && c.file != "":
			d.ch[c.file] = []byte(c.is)
		case c.file != "":
			replaceIn(s, &d, c.file, c.was, c.is)
		}
		got := listFindings(Report{Findings: rules.Fold(s.check(base, s.make("squash", "", d)).Findings)})
		if c.want == nil && len(got) > 3 && !slices.Contains(got, squash) {
			continue
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

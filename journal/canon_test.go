package journal

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// article is a document of a type, with the criteria rows given.
func article(identity string, criteria ...string) Document {
	body := "# A type\n\n## Type Identity\n\n" + identity + "\n\n## Field Schema\n\n| Field | Recommended |\n|---|---|\n| type | yes |\n| title | yes |\n| body | yes |\n| For whom | no |\n\n" +
		"## Trigger Words (Fallback Classification)\n\n```\nprayed, pray for\n```\n\n## Quality Criteria\n\n| Criterion | Check | Gap |\n|---|---|---|\n" + strings.Join(criteria, "\n") + "\n"
	return Document{Name: "p.md", Body: []byte(body), Line: 8}
}

const upright = "| Field | Value |\n|---|---|\n| Letter | `P` |\n| Name | Request |"

func TestRegistryOfAddsAType(t *testing.T) {
	t.Parallel()
	r, wrong := RegistryOf([]Document{article(upright, "| Substance | Body is ≥3 words | Say more |", "| Kind | The body is kind | Be kind |")})
	got, ok := r.Find("P")
	if !ok || wrong != nil {
		t.Fatal(r.Letters(), wrong)
	}
	want := Type{Letter: "P", Name: "Request", Fields: []string{"title", "body", "for_whom"}}
	criteria := got.Criteria
	got.Criteria = nil
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if len(criteria) != 2 || !criteria[0].Scored() || criteria[1].Scored() {
		t.Errorf("%+v", criteria)
	}
	q := r.Score(Entry{Type: "P", Content: "one two three"})
	if q.Score != 1 || q.Max != 1 || q.Criteria[1].Reason != "not mechanical, not scored: The body is kind" {
		t.Errorf("%+v", q)
	}
	if d := cmp.Diff("D O L C H E O-open T P", r.Letters()); d != "" {
		t.Error(d)
	}
}

func TestRegistryOfRefinesAType(t *testing.T) {
	t.Parallel()
	lying := "| Letter | Name | Facet |\n|---|---|---|\n| D | Decision | closed |"
	r, wrong := RegistryOf([]Document{article(lying,
		"| Substance | Body is ≥2 words | Say more |",
		"| Constraints | Body or rationale mentions what this decision binds | What does it bind? |",
		"| Beauty | It is beautiful | |")})
	if wrong != nil {
		t.Fatal(wrong)
	}
	q := r.Score(Entry{Type: "D", Content: "must be"})
	if q.Score != 2 || q.Max != 2 {
		t.Errorf("the standard rule of a criterion's name goes on deciding: %+v", q)
	}
	d, _ := r.Find("D")
	if !slices.Contains(d.Fields, "for_whom") || len(r) != len(Standard()) {
		t.Errorf("%v", d.Fields)
	}
	if l, _ := r.Find("L"); len(l.Criteria) != 4 {
		t.Error("another type changed")
	}
}

func TestRegistryOfLocatesWhatIsWrong(t *testing.T) {
	t.Parallel()
	body := func(s string) Document { return Document{Name: "p.md", Body: []byte(s), Line: 5} }
	for _, c := range []struct {
		name string
		docs []Document
		want []string
	}{
		{"no identity", []Document{body("# Nothing\n")}, []string{"p.md:5: tagged encoding-type and has no section Type Identity; add its table of Letter and Name"}},
		{"an identity in a code block", []Document{body("```\n## Type Identity\n```\n")}, []string{"p.md:5: tagged encoding-type and has no section Type Identity; add its table of Letter and Name"}},
		{"no letter", []Document{body("## Type Identity\n")}, []string{`p.md:5: letter ""; want one capital, like P`}},
		{"two letters", []Document{article("| Field | Value |\n|---|---|\n| Letter | PQ |\n| Name | X |")}, []string{`p.md:14: letter "PQ"; want one capital, like P`}},
		{"no name", []Document{article("| Field | Value |\n|---|---|\n| Letter | P |")}, []string{"p.md:14: type P has no name; add the row Name"}},
		{"a facet of two words", []Document{article(upright + "\n| Facet | very open |")}, []string{`p.md:14: facet "very open"; want one word in lower case`}},
		{"twice", []Document{article(upright), article(upright)}, []string{"p.md:8: type P is declared by p.md already; one document a type"}},
		{"a field that is no name", []Document{body("## Type Identity\n" + upright + "\n## Field Schema\n| Field |\n|---|\n| é |\n| closes |\n| a |\n| a |\n")},
			[]string{`p.md:13: field "é"; want a name in lower case that is not odd's own`, `p.md:14: field "closes"; want a name in lower case that is not odd's own`, "p.md:16: field a is there twice"}},
		{"a criterion without a check", []Document{article(upright, "| Substance | |")}, []string{"p.md:36: a criterion needs a name and a check"}},
		{"a criterion of no field", []Document{article(upright, "| Mood | mood is non-empty | |")}, []string{`p.md:36: criterion Mood asks for "mood", which is no field of P`}},
		{"no regular expression", []Document{article(upright, "| Form | title matches `(` | |")}, []string{`p.md:36: criterion Form: "(" is no regular expression`}},
	} {
		_, wrong := RegistryOf(c.docs)
		var got []string
		for _, l := range wrong {
			got = append(got, l.Error())
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func TestFormOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		check     string
		met, miss string // bodies; met "" means: no rule
	}{
		{"Body is ≥2 words", "a b", "a"},
		{"body has at least 2 words.", "a b", "a"},
		{"Body column is non-empty and ≥2 words", "a b", "a"},
		{"`body` is non-empty", "a", ""},
		{"Body contains one of must, must not or never", "You MUST go", "You mustard go"},
		{"Body does not contain interpretation words (better, worse)", "good", "Better!"},
		{"Body contains none of better, worse", "good", "worse, then"},
		{"Body matches `P\\d+`", "P12", "P12x"},
		{"Body column is non-empty and matches `P\\d+`", "P12", "x P12"},
		{"Body is one of local, general", "Local", "not local"},
		{"`body` references ≥2 distinct artifacts/claims", "a, b", "a, a"},
		{"Body is ≥5 words and kind", "", ""},
		{"Body mentions what this decision constrains or binds", "", ""},
		{"Body is non-empty OR body says unblocked", "", ""},
		{"Body is ≥10 words describing the conflict", "", ""},
		{"", "", ""},
	} {
		rule, err := parseCheck(c.check)
		if err != nil || (rule == nil) != (c.met == "") {
			t.Errorf("%q: %v, %v", c.check, rule, err)
			continue
		}
		if rule == nil {
			continue
		}
		if m := rule.whyMissed(Entry{Content: c.met}); m != "" {
			t.Errorf("%q: %q missed: %s", c.check, c.met, m)
		}
		if m := rule.whyMissed(Entry{Content: c.miss}); m == "" {
			t.Errorf("%q: %q met", c.check, c.miss)
		}
	}
}

func TestSuggest(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{"d": "D", "decision": "D", "Learnings": "L", "[O-open]": "O-open", "open": "O-open", "o-OPEN": "O-open", "Oopen": "O-open", "tens": "T", "desicion": "D", "Constrant": "C", "hand-off": "H", "X": "", "": "", "principle": "", "handle": ""} {
		if got := Standard().Suggest(id); got != want {
			t.Errorf("%q: %q, want %q", id, got, want)
		}
	}
}

func FuzzRegistryOf(f *testing.F) {
	f.Add(article(upright, "| A | Body is ≥3 words | x |", "| B | title matches `(a|b)` | |").Body, "some text")
	f.Add([]byte("## Type Identity\n| Letter | Name |\n|-|-|\n| D \\| | x |\n~~~\n## Quality Criteria\n"), "")
	f.Fuzz(func(t *testing.T, b []byte, text string) {
		r, wrong := RegistryOf([]Document{{Name: "d.md", Body: b, Line: 3}})
		lines := 3 + strings.Count(string(b), "\n")
		for _, l := range wrong {
			if l.Line < 3 || l.Line > lines || l.Text == "" {
				t.Fatalf("%v of %d lines", l, lines)
			}
		}
		if len(r) < len(Standard()) {
			t.Fatal("a standard type is gone")
		}
		seen := map[string]bool{}
		for _, typ := range r {
			if seen[typ.ID()] {
				t.Fatalf("%s twice", typ.ID())
			}
			seen[typ.ID()] = true
			q := r.Score(Entry{Type: typ.Letter, Facet: typ.Facet, Title: text, Content: text})
			if q.Score > q.Max || len(q.Criteria) != len(typ.Criteria) {
				t.Fatal(fmt.Sprint(q))
			}
		}
	})
}

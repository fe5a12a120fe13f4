package lint

import (
	"fmt"
	"strings"
	"testing"
)

// mends are what Mend did, as one line.
func mends(did []Mended) string {
	var out []string
	for _, m := range did {
		out = append(out, fmt.Sprintf("%s %+q %q %d", m.Path, m.From, m.To, m.Count))
	}
	return strings.Join(out, "; ")
}

func TestMend(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, before, in, want, did string }{
		{"a.go", "", "package a\n\nvar s =\u00a0\u201cx\u201d // \u2014 \u201cy\u201d\n", "package a\n\nvar s = \"x\" // \u2014 \u201cy\u201d\n", `a.go "\u00a0" " " 1; a.go "\u201c" "\"" 1; a.go "\u201d" "\"" 1`},
		{"a.go", "", "package a\nvar n = 3 \u2212 2 \u2212 1\nvar s = \"\u2212\"\n", "package a\nvar n = 3 - 2 - 1\nvar s = \"\u2212\"\n", `a.go "\u2212" "-" 2`},
		{"a.go", "", "package a\n\nvar m\u200bn = 1\n", "package a\n\nvar mn = 1\n", `a.go "\u200b" "" 1`},
		{"a.md", "", "---\nmax\u2011turns: 3 \u2013 5\n---\nmax\u2011turns: prose\n", "---\nmax-turns: 3 \u2013 5\n---\nmax\u2011turns: prose\n", `a.md "max\u2011turns" "max-turns" 1`},
		{"a.md", "", "---\nid: neap\u2011tide\n---\n", "---\nid: neap-tide\n---\n", `a.md "neap\u2011tide" "neap-tide" 1`},
		{"a.json", "", "{\"max\u2011turns\": \"a\u2011b\"}", "{\"max-turns\": \"a\u2011b\"}", `a.json "max\u2011turns" "max-turns" 1`},
		{"a.toml", "", "max\u2011turns = 1\n", "max-turns = 1\n", `a.toml "max\u2011turns" "max-turns" 1`},
		{"a.yml", "", "- a\u2010b: 1\n- a\u2010b: 2\n", "- a-b: 1\n- a-b: 2\n", `a.yml "a\u2010b" "a-b" 2`},
		{"a.yml", "", "a\u2010b: a\u2010b\n", "a-b: a\u2010b\n", `a.yml "a\u2010b" "a-b" 1`},
		{"a.yml", "a\u2010b: 1\n", "a\u2010b: 1\nc\u2010d: 1\n", "a\u2010b: 1\nc-d: 1\n", `a.yml "c\u2010d" "c-d" 1`},
	} {
		got, did := MendNames([]File{{Path: c.path, Before: []byte(c.before), After: []byte(c.in)}})
		if string(got[0].After) != c.want || mends(did) != c.did {
			t.Errorf("Mend(%s, %+q) = %+q, %s; want %+q, %s", c.path, c.in, got[0].After, mends(did), c.want, c.did)
		}
	}
}

// What is not safe to mend stays as it is, and what was wrong with it is said.
func TestMendLeaves(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, in, found string }{
		{"a.go", "package a\n\nvar p\u0430ss = 1\n", "name_confusable"},
		{"a.go", "package a\n\nvar p\u0430ss = 3 \u2212 2\n", "name_confusable name_punctuation"},
		{"a.go", "package a\nvar s = \u201cx\n", "name_punctuation"},
		{"a.go", "package a\nvar s = 1 \u2212 2 \u2603\n", "name_punctuation"},
		{"a.go", "package a\nvar n = 1 \u2212 2 // \u202e\n", "name_punctuation text_direction"},
		{"a.yml", "max\u2011turns: 1\nmax-turns: 2\n", "name_punctuation"},
		{"a.yml", "max\u2011turns\u0430: 1\n", "name_confusable"},
		{"a.yml", "a\u2010b: 1\np\u0430ss: 2\n", "name_punctuation name_confusable"},
		{"a.yml", "\u2022x: 1\n", "name_punctuation"},
		{"a.yml", "\u2013 x: 1\n", "name_punctuation"},
		{"a.yml", "\"a\x01b\": 1\n", "name_control"},
		{"docs/a\u2011b.md", "a\n", "name_punctuation"},
		{"a.yml", "a: \u201cx\u201d \u2011\n# a\u2011b\n", ""},
		{"a.txt", "max\u2011turns: 1\n", ""},
	} {
		in := []File{{Path: c.path, After: []byte(c.in)}}
		got, did := MendNames(in)
		if string(got[0].After) != c.in || len(did) > 0 {
			t.Errorf("Mend(%+q, %+q) = %+q, %s; want it left alone", c.path, c.in, got[0].After, mends(did))
		}
		if found := codes(checkNames(got)); found != c.found {
			t.Errorf("Names(%+q, %+q) = %s, want %s", c.path, c.in, found, c.found)
		}
	}
}

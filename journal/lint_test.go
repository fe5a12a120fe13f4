package journal

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func lint(t *testing.T, name string, b []byte) []string {
	t.Helper()
	problems, err := Standard().Lint(name, b)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range problems {
		kind := ""
		if p.Warning {
			kind = "warning: "
		}
		out = append(out, fmt.Sprintf("%d: %s%s", p.Line, kind, p.Message))
	}
	return out
}

func TestFitTitle(t *testing.T) {
	for title, want := range map[string][2]string{
		"a b c d e f g h i j k l":   {"a b c d e f g h i j k l", "x"},
		"a b c d e f g h i j k l m": {"a b c d e f g h i j k l…", "a b c d e f g h i j k l m. x"},
	} {
		if short, content := FitTitle(title, "x"); short != want[0] || content != want[1] {
			t.Errorf("%s: %q, %q", title, short, content)
		}
	}
}

func TestLint(t *testing.T) {
	t.Parallel()
	const file = "journal/2026-03-02-ann.tsv"
	good := "E|Encode|||||Kept|All of it."
	for _, c := range []struct {
		name, file string
		b          []byte
		want       []string
	}{
		{"good", file, tsv(head, good), nil},
		{"a run's", "journal/2026-03-02-01JNXK.tsv", tsv(head, good), nil},
		{"what Path makes of a name", Path(time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), "élise"), tsv(head, good), nil},
		{"no date", "journal/ann.tsv", tsv(head, good), []string{`1: file name "ann.tsv"; want YYYY-MM-DD-slug.tsv`}},
		{"no such day", "journal/2026-02-30-ann.tsv", tsv(head, good), []string{`1: file name "2026-02-30-ann.tsv": there is no 2026-02-30`}},
		{"no slug", "journal/2026-03-02.tsv", tsv(head, good), []string{`1: file name "2026-03-02.tsv"; want YYYY-MM-DD-slug.tsv`}},
		{"another ending", "journal/2026-03-02-ann.csv", tsv(head, good), []string{`1: file name "2026-03-02-ann.csv"; want YYYY-MM-DD-slug.tsv`}},
		{"no header", file, tsv("E|Captured|This."), []string{"1: no header; odd reads the rows, and adds none to this file"}},
		{"a header in capitals", file, tsv(strings.ToUpper(head), good), []string{"1: warning: the header is not spelled type, typeName, facet …"}},
		{"a header with CRLF", file, []byte(strings.ReplaceAll(string(tsv(head, good)), "\n", "\r\n")), []string{"1: CRLF line ends; save the file with LF"}},
		{"a long title", file, tsv(head, "E|Encode|||||a b c d e f g h i j k l m|x"), []string{"2: warning: the title has 13 words, want at most 12"}},
		{"twelve words", file, tsv(head, "E|Encode|||||a b c d e f g h i j k l|x"), nil},
		{"moderate", file, tsv(head, "D|Decision||3|5|moderate|x|y"), []string{`2: warning: quality 3 of 5 is adequate, not "moderate"`}},
		{"high", file, tsv(head, "D|Decision||5|5|high|x|y"), []string{`2: warning: quality 5 of 5 is strong, not "high"`}},
		{"four of five is not strong", file, tsv(head, "D|Decision||4|5|strong|x|y"), []string{`2: warning: quality 4 of 5 is adequate, not "strong"`}},
		{"asserted without fields", file, tsv(head, "D|Decision||5|5|strong|x|y"), nil},
		{"asserted with fields", file, []byte(strings.ReplaceAll(head, "|", "\t") + "\nD\tDecision\t\t5\t5\tstrong\tx\ty | rationale: because it is\n"),
			[]string{"2: warning: quality 5 of 5, and the row has 1 of 5"}},
		{"no priority", file, tsv(head, "O|Open||||| Whose is it?|y"), []string{"2: warning: no priority; P1 is next"}},
		{"a priority in words", file, []byte(strings.ReplaceAll(head, "|", "\t") + "\nO\tOpen\topen\t\t\t\tx\ty | priority: soon\n"), []string{`2: priority "soon" is not like P1 or P2.1`}},
		{"a letter too many in a field", file, []byte(strings.ReplaceAll(head, "|", "\t") + "\nC\tConstraint\t\t\t\t\tx\ty | origin: the dolcheo+h set\n"),
			[]string{`2: "dolcheo+h": the letter is in the name already; write dolcheo`}},
		{"empty", file, nil, nil},
	} {
		if d := cmp.Diff(c.want, lint(t, c.file, c.b)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		e    Entry
		want string
	}{
		{"good", Entry{Type: "D", Title: "x", Content: "y", More: []Field{{"rationale", "z"}, {"closes", "w"}}}, ""},
		{"all at once", Entry{Type: "O", Facet: "open", Title: "x", More: []Field{{"kind", "drift"}}},
			"Open has no kind; it has priority, owner\nOpen needs a priority, like P1 or P2.1\nthe title or the content is empty"},
		{"a priority in words", Entry{Type: "O", Facet: "open", Title: "x", Content: "y", More: []Field{{"priority", "soon"}}}, `Open needs a priority, like P1 or P2.1, and "soon" is none`},
		{"no such type", Entry{Type: "P", Title: "x", Content: "y"}, `unknown type "P"; known are D O L C H E O-open T`},
		{"no such facet", Entry{Type: "D", Facet: "open", Title: "x", Content: "y"}, `unknown type "D-open"; known are D O L C H E O-open T`},
		{"a type without fields", Entry{Type: "E", Title: "x", Content: "y", More: []Field{{"owner", "z"}}}, "Encode has no owner; it has no fields"},
		{"another kind", Entry{Type: "T", Title: "x", Content: "y", More: []Field{{"kind", "quarrel"}}}, `kind "quarrel"; want tradeoff, contradiction, drift`},
		{"no such verifiability", Entry{Type: "O", Title: "x", Content: "y", More: []Field{{"verifiability", "sure"}}}, `verifiability "sure"; want verified, reported, inferred`},
	} {
		got := ""
		if err := Standard().Check(c.e); err != nil {
			got = err.Error()
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func TestMisspelt(t *testing.T) {
	t.Parallel()
	for _, e := range []Entry{{Type: "DOLCHEO+H"}, {Title: "DOLCHEO+H"}, {Content: "the DOLCHEOT+T set"}, {More: []Field{{"origin", "Dolcheo+h"}}}} {
		var refused interface{ Refused() string }
		if err := Misspelt(e); !errors.As(err, &refused) || refused.Refused() != "misspelt" {
			t.Errorf("%v: %v", e, err)
		}
	}
	if err := Misspelt(Entry{Title: "DOLCHEO+H", Content: "DOLCHEO+H again"}); strings.Count(err.Error(), "\n") != 0 {
		t.Errorf("said twice: %v", err)
	}
	for _, s := range []string{"DOLCHEO", "DOLCHEOT", "OLDC+H", "DOLCHEO + Handoff", "DOLCHEO+"} {
		if err := Misspelt(Entry{Title: s}); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
}

package journal

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestDecompose(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		content, text string
		fields        []Field
	}{
		{"A line is written once.", "A line is written once.", nil},
		{"Once. | rationale: it diffs well | alternatives: SQLite", "Once.", []Field{{"rationale", "it diffs well"}, {"alternatives", "SQLite"}}},
		{"cat x | grep y: z | sort", "cat x | grep y: z | sort", nil},
		{"| a | b |", "| a | b |", nil},
		{"Once. | mood: glad", "Once. | mood: glad", nil},
		{`Once. \| rationale: no field`, "Once. | rationale: no field", nil},
		{`Once. \\| rationale: no field`, `Once. \| rationale: no field`, nil},
		{"Once. | closes: journal/a.tsv#2", "Once.", []Field{{"closes", "journal/a.tsv#2"}}},
		{" | rationale: alone", "", []Field{{"rationale", "alone"}}},
		{"Once.| rationale: no space", "Once.| rationale: no space", nil},
		{"Once. | rationale:", "Once.", []Field{{"rationale", ""}}},
	} {
		text, fields := Standard().decompose(c.content)
		if d := cmp.Diff(c.fields, fields); text != c.text || d != "" {
			t.Errorf("%q: %q %s", c.content, text, d)
		}
	}
}

// What stands behind a text is read back as it was written, whatever bars the
// text and the values have themselves.
func TestFieldsSurviveTheirRow(t *testing.T) {
	t.Parallel()
	piece := rapid.OneOf(rapid.String(), rapid.StringMatching(`(x|\\| |\||rationale|mood|:|\t|\x01){0,12}`))
	rapid.Check(t, func(t *rapid.T) {
		e := Entry{Type: "D", Title: "x", Content: piece.Draw(t, "content")}
		for _, name := range []string{"rationale", "alternatives", "closes"} {
			if v := piece.Draw(t, name); strings.TrimSpace(cleanCell(v)) != "" {
				e.More = append(e.More, Field{name, v})
			}
		}
		b, err := Append(nil, e)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := Parse(b)
		if err != nil || len(got) != 1 {
			t.Fatal(got, err)
		}
		want := []Field(nil)
		for _, f := range e.More {
			want = append(want, Field{f.Name, strings.TrimSpace(cleanCell(f.Value))})
		}
		if d := cmp.Diff(want, got[0].More); d != "" || got[0].Content != cleanCell(e.Content) {
			t.Fatalf("%q: %q %s", b, got[0].Content, d)
		}
	})
}

package journal

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// best are entries that meet every criterion of their type.
func best() []Entry {
	body := func(s string) string { return s + " One two three four five six seven eight nine." }
	return []Entry{
		{Type: "D", Title: "Keep it", Content: body("Every record must be one line."), More: []Field{{"rationale", "it diffs well"}, {"alternatives", "SQLite"}, {"reversibility", "two-way"}}},
		{Type: "O", Title: "Boats left late", Content: body("At 9 the boats left."), More: []Field{{"source", "the log"}}},
		{Type: "L", Title: "Tides win", Content: body("Beginners stay dry because the water is slack."), More: []Field{{"evidence", "log"}, {"applicability", "local"}}},
		{Type: "C", Title: "Never alone", Content: body("A beginner must not sail alone."), More: []Field{{"origin", "the accident"}, {"scope", "permanent"}}},
		{Type: "H", Title: "Over to the desk", Content: body("Next: check the prices."), More: []Field{{"blocked_by", "the tide"}, {"owner", "desk"}}},
		{Type: "O", Facet: "open", Title: "Who owns the glossary?", Content: body("It closes when somebody is named."), More: []Field{{"priority", "P1.2"}, {"owner", "ann"}}},
		{Type: "T", Title: "Canon and code", Content: body("The rule forbids it, but the code does it."),
			More: []Field{{"between", "canon/a.md@0123456789ab, journal/2026-03-02-ann.tsv#2"}, {"kind", "drift"}, {"status", "open, closes when the code follows"}}},
	}
}

func TestScoreOfTheBest(t *testing.T) {
	t.Parallel()
	for _, e := range best() {
		q := Standard().Score(e)
		typ, _ := Standard().find(e.Type, e.Facet)
		if q.Max != len(typ.Criteria) || q.Score != q.Max || q.Level != "strong" || q.Status != "recorded" {
			t.Errorf("%s: %+v", typ.ID(), q)
		}
	}
}

// Every criterion is missed alone, for the reason said.
func TestScoreMisses(t *testing.T) {
	t.Parallel()
	field := func(name, value string) func(*Entry) {
		return func(e *Entry) {
			for i, f := range e.More {
				if f.Name == name {
					e.More[i].Value = value
				}
			}
		}
	}
	body := func(s string) func(*Entry) { return func(e *Entry) { e.Content = s } }
	const long = "one two three four five six seven eight nine ten eleven"
	for _, c := range []struct {
		id, criterion, reason string
		spoil                 func(*Entry)
	}{
		{"D", "Substance", "body has 4 of 10 words", body("Every line must fit.")},
		{"D", "Rationale", "rationale has 2 of 3 words", field("rationale", "diffs well")},
		{"D", "Rationale", "no rationale", field("rationale", " ")},
		{"D", "Alternatives", "no alternatives", field("alternatives", "")},
		{"D", "Reversibility", "no reversibility", field("reversibility", "")},
		{"D", "Constraints", "body or rationale has none of: must, never, always", body(long)},
		{"O", "Substance", "body has 2 of 10 words", body("At 9.")},
		{"O", "Specificity", "body has no number", body("The boats left and " + long)},
		{"O", "Source", "no source", field("source", "")},
		{"O", "Separation", `body says "implies"`, body("At 9 the boats left, which implies " + long)},
		{"L", "Evidence", "no evidence", field("evidence", "")},
		{"L", "Mechanism", "body has none of: because", body(long)},
		{"L", "Applicability", "no applicability", field("applicability", "")},
		{"C", "Clarity", "body has none of: must", body("A beginner should not. " + long)},
		{"C", "Origin", "no origin", field("origin", "")},
		{"C", "Scope", "no scope", field("scope", "")},
		{"H", "Actionability", "body has none of: next", body(long)},
		{"H", "Blocker clarity", "no blocked_by", field("blocked_by", "")},
		{"H", "Ownership", "no owner", field("owner", "")},
		{"O-open", "Priority assigned", `priority "soon" does not match`, field("priority", "soon")},
		{"O-open", "Priority assigned", "no priority", field("priority", "")},
		{"O-open", "Closure path", "body has none of: closes", body(long)},
		{"O-open", "Specificity", "title has 1 of 3 words", func(e *Entry) { e.Title = "Glossary" }},
		{"O-open", "Owner clarity", "no owner", field("owner", "")},
		{"T", "Two poles named", "between names 1 of 2", field("between", "a.md, a.md")},
		{"T", "Each pole sourced", `between: "the talk" is a label`, field("between", "a.md, the talk")},
		{"T", "Genuine opposition", "body has none of: but", body("Rule and code. " + long)},
		{"T", "Closure path", `status "open" is neither`, field("status", "open")},
		{"T", "Closure path", "no status", field("status", "")},
	} {
		for _, e := range best() {
			if e.ID() != c.id {
				continue
			}
			c.spoil(&e)
			q := Standard().Score(e)
			var missed []string
			for _, v := range q.Criteria {
				if !v.Met {
					missed = append(missed, v.Name+": "+v.Reason)
				}
			}
			if len(missed) != 1 || !strings.HasPrefix(missed[0], c.criterion+": "+c.reason) || q.Score != q.Max-1 {
				t.Errorf("%s %s: missed %q", c.id, c.criterion, missed)
			}
		}
	}
}

// The other ways to meet a criterion.
func TestScoreMeets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		e    Entry
	}{
		{"Blocker clarity", Entry{Type: "H", Content: "Unblocked."}},
		{"Owner clarity", Entry{Type: "O", Facet: "open", Content: "Nobody holds it."}},
		{"Specificity", Entry{Type: "O", Content: "It was Ann."}},
		{"Specificity", Entry{Type: "O", Content: "See docs/tide."}},
		{"Specificity", Entry{Type: "O", Content: "It said `no`."}},
		{"Closure path", Entry{Type: "T", More: []Field{{"status", "resolved:journal/a.tsv#3"}}}},
		{"Each pole sourced", Entry{Type: "T", More: []Field{{"between", "klappy://canon/modes, parse.go, D0004#why"}}}},
		{"Substance", Entry{Type: "D", Content: `one\ntwo three\nfour five six seven eight nine ten`}},
	} {
		met := false
		for _, v := range Standard().Score(c.e).Criteria {
			met = met || v.Name == c.name && v.Met
		}
		if !met {
			t.Errorf("%s %v: missed", c.name, c.e)
		}
	}
}

// A decision of many words and nothing else is no strong one.
func TestWordsAloneAreNotQuality(t *testing.T) {
	t.Parallel()
	q := Standard().Score(Entry{Type: "D", Title: "x", Content: strings.Repeat("word ", 200)})
	if q.Score != 1 || q.Level != "insufficient" || q.Status != "draft" {
		t.Errorf("%+v", q)
	}
}

func TestScoreWithoutCriteria(t *testing.T) {
	t.Parallel()
	e := Entry{Type: "E", Title: "x", Score: "5", Max: "5", Level: "strong"}
	q := Standard().Score(e)
	e.Mark(q)
	if d := cmp.Diff(Entry{Type: "E", Title: "x"}, e); d != "" || q.Status != "recorded" || q.String() != "not scored, recorded" {
		t.Error(q, d)
	}
}

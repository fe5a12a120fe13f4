package journal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	decisionLine = `{"id":"dec-20260129-0001","timestamp":"2026-01-29T14:30:00Z","title":"Keep JSON lines","status":"accepted","decision":"One line a record.","context":"","options_considered":["SQLite","CSV"],"rationale":"It diffs well.","consequences":[],"evidence":[],"links":[],"supersedes":null,"superseded_by":null,"candidate_promotion":false}`
	learningLine = `{"id":"learn-20260129-0001","timestamp":"2026-01-29T14:30:00Z","summary":"Ask the tide","trigger":"friction","impact":"Boats ran aground.","confidence":0.9,"sources":["log"],"evidence":[{"type":"log","ref":"3"}],"candidate_targets":[],"proposed_escalation":"none"}`
)

func TestReadLines(t *testing.T) {
	t.Parallel()
	got, problems, err := ReadLines([]byte(decisionLine + "\n\n" + learningLine + "\r\n"))
	if err != nil || problems != nil {
		t.Fatal(problems, err)
	}
	want := []Entry{
		{Type: "D", TypeName: "Decision", Title: "Keep JSON lines", Content: "One line a record. (candidate_promotion: false; status: accepted)", Line: 1, More: []Field{
			{"rationale", "It diffs well."}, {"alternatives", "SQLite; CSV"}, {"id", "dec-20260129-0001"}, {"ts", "2026-01-29T14:30:00Z"}}},
		{Type: "L", TypeName: "Learning", Title: "Ask the tide", Content: "Boats ran aground. (proposed_escalation: none; sources: log; trigger: friction)", Line: 3, More: []Field{
			{"evidence", "ref 3, type log"}, {"id", "learn-20260129-0001"}, {"ts", "2026-01-29T14:30:00Z"}, {"confidence", "0.9"}}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	b, err := Standard().Convert(got)
	if err != nil {
		t.Fatal(err)
	}
	again, bad, err := Parse(b)
	for i := range again {
		again[i].Line = want[i].Line
	}
	if d := cmp.Diff(want, again); d != "" || bad != nil || err != nil {
		t.Error(d, bad, err)
	}
	if day, ok := FirstDay(got); !ok || day.Format("2006-01-02") != "2026-01-29" {
		t.Error(day, ok)
	}
}

func TestReadLinesLocatesDrift(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file string
		entries    int
		want       []string
	}{
		{"missing keys", strings.Replace(learningLine, `"id":"learn-20260129-0001","timestamp":"2026-01-29T14:30:00Z",`, "", 1), 1, []string{"1: no id, timestamp"}},
		{"more keys", strings.Replace(learningLine, `{`, `{"mood":1,"also":2,`, 1), 1, []string{"1: also, mood: no key of a learning ledger"}},
		{"another set of keys", `{"learning":"Ask","detail":"First."}`, 1,
			[]string{"1: no id, timestamp, summary, trigger, impact, confidence, sources, evidence, candidate_targets, proposed_escalation", "1: detail, learning: no key of a learning ledger"}},
		{"an id of another form", strings.Replace(learningLine, "learn-20260129-0001", "learn-1", 1), 1, []string{`1: id "learn-1"; want learn-YYYYMMDD-NNNN`}},
		{"an id twice", decisionLine + "\n" + decisionLine, 2, []string{"2: id dec-20260129-0001 is that of line 1 too"}},
		{"an id that is a number", strings.Replace(decisionLine, `"dec-20260129-0001"`, "7", 1), 1, []string{`1: id "7"; want dec-YYYYMMDD-NNNN`}},
		{"a time of another form", strings.Replace(decisionLine, "T14:30:00Z", "", 1), 1, []string{`1: timestamp "2026-01-29"; want one like 2026-03-02T09:00:00Z`}},
		{"no object", "[]\nnull\n{\n" + decisionLine, 1, []string{
			"1: not one JSON object: json: cannot unmarshal array", "2: not one JSON object: null", "3: not one JSON object: unexpected end of JSON input"}},
		{"two objects", decisionLine + " " + learningLine, 0, []string{"1: not one JSON object: invalid character"}},
		{"nothing to make a title of", `{"id":"learn-20260129-0001"}`, 0, []string{"1: no timestamp", "1: no title and no summary; the line is left out"}},
		{"nothing", "\n\n", 0, nil},
	} {
		entries, problems, err := ReadLines([]byte(c.file))
		var got []string
		for _, p := range problems {
			got = append(got, fmt.Sprintf("%d: %s", p.Line, p.Message))
		}
		ok := err == nil && len(entries) == c.entries && len(got) == len(c.want)
		for i := range c.want {
			ok = ok && i < len(got) && strings.HasPrefix(got[i], c.want[i])
		}
		if !ok {
			t.Errorf("%s: %d entries, %v\n%s", c.name, len(entries), err, cmp.Diff(c.want, got))
		}
	}
	if _, _, err := ReadLines([]byte("{}\n\xff")); err == nil || !strings.HasPrefix(err.Error(), "line 2: not UTF-8") {
		t.Error(err)
	}
}

func TestConvertRefuses(t *testing.T) {
	t.Parallel()
	if _, err := Standard().Convert(nil); err == nil {
		t.Error("converted nothing")
	}
	if _, err := Standard().Convert([]Entry{{Type: "D", Line: 7}}); err == nil || !strings.HasPrefix(err.Error(), "line 7: ") {
		t.Error(err)
	}
	if _, ok := FirstDay([]Entry{{More: []Field{{"ts", "soon"}}}}); ok {
		t.Error("a day of no time")
	}
}

// What is read can be written, and what is written can be read.
func FuzzReadLines(f *testing.F) {
	f.Add([]byte(decisionLine + "\n" + learningLine))
	f.Add([]byte("\xef\xbb\xbf{\"summary\":\"\\t\\u0000 | id: 3\",\"x\":{\"y\":[1,null,\"\\n\"]}}\n[1]"))
	f.Fuzz(func(t *testing.T, b []byte) {
		entries, problems, err := ReadLines(b)
		lines := 1 + strings.Count(string(b), "\n")
		for _, p := range problems {
			if err != nil || p.Line < 1 || p.Line > lines {
				t.Fatal(p, err)
			}
		}
		for _, e := range entries {
			if strings.TrimSpace(cleanCell(e.Title)) == "" {
				return // a title of control characters alone is refused by Append
			}
		}
		if len(entries) == 0 {
			return
		}
		out, err := Standard().Convert(entries)
		if err != nil {
			t.Fatal(err)
		}
		again, bad, err := Parse(out)
		if err != nil || len(again) != len(entries) {
			t.Fatal(bad, err)
		}
		for i, e := range again {
			if e.Title != cleanCell(entries[i].Title) || e.Get("id") != strings.TrimSpace(cleanCell(entries[i].Get("id"))) {
				t.Fatalf("%+v became %+v", entries[i], e)
			}
		}
	})
}

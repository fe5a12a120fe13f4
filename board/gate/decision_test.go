package gate

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const firstDecision = `{"id":"D-0001","ts":"2026-07-01T09:00:00Z","decision":"one glossary","rationale":["two drifted apart"],"tradeoffs":"slower","confidence":"med","by":"human:ann@example.org","act":"G-0001"}` + "\n"

func TestReadDecisions(t *testing.T) {
	t.Parallel()
	second := strings.NewReplacer("D-0001", "D-0002", `"by"`, `"supersedes":"D-0001","by"`).Replace(firstDecision)
	third := strings.NewReplacer("D-0001", "D-0003").Replace(firstDecision)
	ds, err := ReadDecisions([]byte(firstDecision + second + third))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range InForce(ds) {
		got = append(got, d.ID)
	}
	if diff := cmp.Diff([]string{"D-0002", "D-0003"}, got); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"unknown key", `"act"`, `"gate":"x","act"`, `unknown field "gate"`},
		{"id out of order", "D-0001", "D-0002", "want D-0001"},
		{"no moment", `"ts":"2026-07-01T09:00:00Z",`, "", "not as odd writes it"},
		{"empty", "one glossary", "", "no decision"},
		{"no rationale", `["two drifted apart"]`, `[]`, "one to three"},
		{"four rationales", `["two drifted apart"]`, `["a","b","c","d"]`, "one to three"},
		{"no tradeoffs", "slower", " ", "no tradeoffs"},
		{"confidence", `"med"`, `"medium"`, `unknown confidence "medium"`},
		{"agent", "human:", "agent:", "not a person"},
		{"no gate", "G-0001", "", "no gate row"},
		{"supersedes nothing", `"by"`, `"supersedes":"D-0007","by"`, "no decision in force"},
		{"supersedes itself", `"by"`, `"supersedes":"D-0001","by"`, "no decision in force"},
	} {
		line := strings.Replace(firstDecision, c.old, c.new, 1)
		if _, err := ReadDecisions([]byte(line)); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "line 1: ") {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestDecisionDue(t *testing.T) {
	t.Parallel()
	done := func(task string) bool { return task == "tasks/ship" }
	for _, c := range []struct {
		revisit []string
		want    string
	}{
		{nil, ""},
		{[]string{"when the tide tables change"}, ""},
		{[]string{"2026-07-02"}, ""},
		{[]string{"2026-07-01"}, "since 2026-07-01"},
		{[]string{"2026-07-01T09:00:00Z"}, "since 2026-07-01T09:00:00Z"},
		{[]string{"2026-07-01T09:00:01Z"}, ""},
		{[]string{"2027-01-01", "task tasks/tidy done", "task tasks/ship done"}, "task tasks/ship done"},
	} {
		if got := (Decision{Revisit: c.revisit}).Due(nine.In(time.FixedZone("", 3600)), done); got != c.want {
			t.Errorf("%q: %q, want %q", c.revisit, got, c.want)
		}
	}
}

func FuzzReadDecisions(f *testing.F) {
	f.Add([]byte(firstDecision))
	f.Fuzz(func(t *testing.T, text []byte) {
		ds, err := ReadDecisions(text)
		if err != nil {
			return
		}
		var out []byte
		for _, d := range ds {
			out = append(out, must(printLine(d))...)
		}
		again, err := ReadDecisions(out)
		if diff := cmp.Diff(ds, again); err != nil || diff != "" {
			t.Fatal(err, diff)
		}
	})
}

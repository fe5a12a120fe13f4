package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/sessiontest"
	"github.com/odd-cli/odd/persona/session/toolbox"
)

var update = flag.Bool("update", false, "write the golden")

// fake is a model that gives its replies in turn, the last again and again.
type fake struct {
	replies []Reply
	err     error
	hangs   bool
	got     []Exchange
}

func (f *fake) Answer(ctx context.Context, x Exchange) (Reply, error) {
	f.got = append(f.got, x)
	if f.hangs {
		<-ctx.Done()
		return Reply{}, ctx.Err()
	}
	if f.err != nil {
		return Reply{}, f.err
	}
	return f.replies[min(len(f.got), len(f.replies))-1], nil
}

// loops is a substrate of this package alone.
type loops struct {
	m *fake
	o Options
}

func (l loops) Run(ctx context.Context, r session.Request) (session.Emission, error) {
	l.o.Model = cmp.Or(l.o.Model, "fake")
	return Run(ctx, "fake", l.m, toolbox.Options{}, r, l.o)
}

func TestSubstrate(t *testing.T) {
	t.Parallel()
	sessiontest.Table(t, func(_ *testing.T, s sessiontest.Script) session.Substrate {
		r := says(s.Says)
		r.Cost, r.CostKnown = s.Cost, s.Cost >= 0
		return loops{m: &fake{replies: []Reply{r}, hangs: s.Hangs}}
	})
}

func says(text string) Reply {
	return Reply{Message: Message{Text: text}, Stop: StopEnd, Model: "acme-1"}
}

// calls is a reply of calls: a name and its arguments, in turn.
func calls(words ...string) Reply {
	r := Reply{Stop: StopTools, Model: "acme-1"}
	for i := 0; i < len(words); i += 2 {
		r.Message.Calls = append(r.Message.Calls, ToolCall{ID: fmt.Sprintf("c%d", i/2), Name: words[i], Args: json.RawMessage(words[i+1])})
	}
	return r
}

func counted(r Reply, in, out int64) Reply {
	r.Tokens = session.Tokens{Input: in, Output: out}
	return r
}

var done = []string{"finish", `{"outcome":"completed"}`}

func hold(t *testing.T, m *fake, r session.Request, o Options) session.Emission {
	t.Helper()
	r.Files, r.Brief = fstest.MapFS{"a.txt": {Data: []byte(strings.Repeat("the tide is high\n", 100))}}, []byte("# Brief\n")
	e, err := session.Run(t.Context(), loops{m, o}, r)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Before the last round a session is told that it is, and one that only looks though
// a change is asked for, that it has seen enough: after five rounds, and five more.
func TestHurry(t *testing.T) {
	t.Parallel()
	look := func(n int) Reply {
		return calls("read_file", fmt.Sprintf(`{"path":"a.txt","first":%d,"last":%d}`, n, n))
	}
	var looks []Reply
	for n := range 12 {
		looks = append(looks, look(n+1))
	}
	mixed := slices.Clone(looks)
	mixed[3] = calls("say", `{"kind":"progress","text":"half"}`)
	for _, c := range []struct {
		name       string
		replies    []Reply
		most       int
		complexity string
		want       map[int]string // by round that was answered
	}{
		{"the last", looks[:2], 3, "", map[int]string{2: "the next round is the last one"}},
		{"only looking", looks, 20, "trivial", map[int]string{5: "for 5 rounds you only looked", 10: "for 10 rounds you only looked"}},
		{"not asked for a change", looks, 20, "", nil},
		{"not enough yet", looks, 20, "architectural", nil},
		{"something between", mixed, 20, "trivial", map[int]string{9: "for 5 rounds you only looked"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := &fake{replies: append(slices.Clone(c.replies), calls(done...))}
			if e := hold(t, m, session.Request{MaxTurns: c.most, Complexity: c.complexity}, Options{}); e.Usage.Turns != len(c.replies)+1 {
				t.Fatalf("%+v", e)
			}
			for round, x := range m.got[1:] {
				got := x.Messages[len(x.Messages)-1].Text
				if want := c.want[round+1]; want == "" && got != "" || !strings.Contains(got, want) {
					t.Errorf("after round %d: %q, want %q", round+1, got, want)
				}
			}
		})
	}
}

// TestConversation follows one from its brief to its outcome.
func TestConversation(t *testing.T) {
	t.Parallel()
	m := &fake{replies: []Reply{
		calls("read_file", `{"path":"a.txt","last":1}`, "read_file", `{"path":`, "bash", `{}`),
		says("I am done."),
		calls(done...),
	}}
	m.replies[0].Message.Native = json.RawMessage(`{"own":"form"}`)
	e := hold(t, m, session.Request{}, Options{})
	if e.Outcome != session.Completed || e.Usage.Turns != 3 || len(e.Calls) != 4 || !e.Seen || e.Exploration == nil {
		t.Fatalf("%+v", e)
	}
	if x := m.got[1]; len(x.Messages) != 3 || string(x.Messages[1].Native) != `{"own":"form"}` || len(x.Messages[2].Results) != 3 {
		t.Fatalf("%+v", x.Messages)
	}
	for i, failed := range []bool{false, true, true} {
		if r := m.got[1].Messages[2].Results[i]; r.Failed != failed || r.ID != fmt.Sprintf("c%d", i) {
			t.Errorf("result %d: %+v", i, r)
		}
	}
	last := m.got[2].Messages
	if text := last[len(last)-1].Text; !strings.Contains(text, "declared no outcome") {
		t.Errorf("it was not reminded: %q", text)
	}
}

// TestEnds are the ways a conversation ends without an outcome of its own.
func TestEnds(t *testing.T) {
	t.Parallel()
	octave := "```octave\n===X===\n===END===\n```\n"
	for name, c := range map[string]struct {
		m       fake
		r       session.Request
		o       Options
		failure string
		class   session.Class
		asked   int
	}{
		"silent twice":       {fake{replies: []Reply{says("hm")}}, session.Request{}, Options{}, session.Silent, "", 2},
		"a proof":            {fake{replies: []Reply{says(octave)}}, session.Request{}, Options{}, session.Silent, "", 1},
		"rounds":             {fake{replies: []Reply{calls("list_dir", `{}`), calls("read_file", `{"path":"a.txt"}`)}}, session.Request{MaxTurns: 2}, Options{}, session.TurnLimit, "", 2},
		"rounds by default":  {fake{replies: alternate(40)}, session.Request{}, Options{}, session.TurnLimit, "", DefaultRounds},
		"the same again":     {fake{replies: []Reply{calls("list_dir", `{}`)}}, session.Request{}, Options{}, toolbox.Degenerate, "", 5},
		"a fault":            {fake{err: &Fault{Class: session.RateLimited, Detail: "slow down"}}, session.Request{}, Options{}, session.Transport, session.RateLimited, 1},
		"too dear to begin":  {fake{replies: []Reply{calls(done...)}}, session.Request{MaxCost: 10}, Options{Model: "acme-1", Prices: acme}, session.OverBudget, "", 0},
		"too dear to go on":  {fake{replies: []Reply{counted(calls("list_dir", `{}`), 1000, 500), calls(done...)}}, session.Request{MaxCost: 15_000}, Options{Model: "acme-1", Prices: acme, MaxTokens: 500}, session.OverBudget, "", 1},
		"nobody counts":      {fake{replies: alternate(40)}, session.Request{MaxCost: 100_000, MaxTurns: 40}, Options{Model: "acme-1", Prices: acme, MaxTokens: 1000}, session.OverBudget, "", 4},
		"a flood of calls":   {fake{replies: []Reply{calls(slices.Repeat(done, mostCalls+1)...)}}, session.Request{}, Options{}, session.Malformed, "", 1},
		"free is never dear": {fake{replies: []Reply{calls(done...)}}, session.Request{MaxCost: 1}, Options{Model: "acme-1", Prices: acme, Free: true}, "", "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := hold(t, &c.m, c.r, c.o)
			if e.Failure != c.failure || e.Class != c.class || len(c.m.got) != c.asked {
				t.Errorf("%q (%s) of class %q after %d; want %q of %q after %d", e.Failure, e.Detail, e.Class, len(c.m.got), c.failure, c.class, c.asked)
			}
		})
	}
}

// alternate are replies of which no two in a row are the same.
func alternate(n int) (out []Reply) {
	for i := range n {
		out = append(out, calls("read_file", fmt.Sprintf(`{"path":"a.txt","first":%d}`, i+1)))
	}
	return out
}

// acme costs 3 and 15 dollars for a million tokens.
var acme = map[string]Price{"acme": {Input: 3_000_000, Output: 15_000_000, CacheRead: 300_000, CacheWrite: 3_750_000}}

// TestCost is exact to the micro-dollar, rounded up.
func TestCost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		r     Reply
		o     Options
		cost  int64
		known bool
	}{
		"each kind":          {Reply{Model: "acme-1:free-tide", Tokens: session.Tokens{Input: 1001, Output: 10, CacheRead: 7, CacheWrite: 3}}, Options{Prices: acme}, 3003 + 150 + 14, true}, // 2.1 + 11.25 is 13.35
		"no price":           {Reply{Model: "other", Tokens: session.Tokens{Input: 1}}, Options{Prices: acme}, 0, false},
		"of who was asked":   {Reply{Model: "renamed", Tokens: session.Tokens{Input: 1}}, Options{Prices: acme, Model: "acme"}, 3, true},
		"nobody counted":     {Reply{Model: "acme"}, Options{Prices: acme}, 0, false},
		"told":               {Reply{Model: "acme", Cost: 7, CostKnown: true}, Options{Prices: acme}, 7, true},
		"told beyond all":    {Reply{Model: "acme", Cost: 1<<63 - 1, CostKnown: true}, Options{Prices: acme}, mostCost, true},
		"told below nothing": {Reply{Model: "x", Cost: -7, CostKnown: true}, Options{}, 0, false},
		"free":               {Reply{Model: "x"}, Options{Free: true}, 0, true},
		"below nothing":      {Reply{Model: "acme", Tokens: session.Tokens{Input: -5, Output: 1}}, Options{Prices: acme}, 15, true},
	} {
		talk := &talk{o: c.o}
		if cost, known := talk.answerCost(c.r, clampTokens(c.r.Tokens)); cost != c.cost || known != c.known {
			t.Errorf("%s: %d, %v; want %d, %v", name, cost, known, c.cost, c.known)
		}
	}
}

// TestFullRound answers every call of one answer, and makes those there is room for.
func TestFullRound(t *testing.T) {
	t.Parallel()
	m := &fake{replies: []Reply{calls(slices.Repeat([]string{"read_file", `{"path":"a.txt"}`, "list_dir", `{}`}, 100)...), calls(done...)}}
	e := hold(t, m, session.Request{}, Options{ContextBytes: 20_000})
	back := m.got[1].Messages[2]
	if size := messageBytes(back); len(back.Results) != 200 || size > 50_000 || len(e.Calls) < 5 || len(e.Calls) > 20 || !strings.Contains(back.Results[199].Text, "no_room") {
		t.Errorf("%d results of %d bytes, %d calls", len(back.Results), size, len(e.Calls))
	}
	if e.Outcome != session.Completed {
		t.Errorf("%+v", e)
	}
}

// TestCompact makes a long conversation shorter, always in the same way.
func TestCompact(t *testing.T) {
	t.Parallel()
	replies := alternate(12)
	replies = append(replies, calls("delete_file", `{"path":"a.txt"}`, "list_dir", `{}`), calls(done...))
	var last []Exchange
	for range 2 {
		m := &fake{replies: replies}
		if e := hold(t, m, session.Request{MaxTurns: 20}, Options{System: "s", ContextBytes: 24_000}); e.Outcome != session.Completed || len(e.Calls) != 15 {
			t.Fatalf("%s %q: %s, %d calls", e.Outcome, e.Failure, e.Detail, len(e.Calls))
		}
		last = append(last, m.got[len(m.got)-1])
	}
	x := last[0].Messages
	if x[0].Role != User || x[1].Role != Assistant || len(x) > 15 || x[0].Text != last[1].Messages[0].Text {
		t.Fatalf("%d messages, the first\n%s", len(x), x[0].Text)
	}
	for i, m := range x {
		if want := []Role{User, Assistant}[i%2]; m.Role != want {
			t.Errorf("message %d is the %s's", i, m.Role)
		}
	}
	golden := filepath.Join("testdata", "compact.md")
	if *update {
		if err := os.WriteFile(golden, []byte(x[0].Text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || x[0].Text != string(want) {
		t.Errorf("%v; got\n%s\nwant\n%s", err, x[0].Text, want)
	}
}

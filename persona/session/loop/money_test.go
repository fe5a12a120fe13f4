package loop

import (
	"errors"
	"slices"
	"testing"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/toolbox"
)

// sized is a conversation of which the last answer told 1000 tokens.
func sized(t *testing.T, o Options) *talk {
	t.Helper()
	box, err := toolbox.New(t.Context(), toolbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	o.MaxTokens = 100
	talk := newTalk(nil, box, session.Request{Brief: []byte("# Brief\n")}, o)
	talk.known, talk.sized = 1000, talk.questionBytes()
	return talk
}

// TestDearest is the price of the model that answered, or else of the one asked, with a
// question that the cache may have to take in.
func TestDearest(t *testing.T) {
	t.Parallel()
	prices := map[string]Price{"acme": acme["acme"], "big": {Input: 9_000_000, Output: 1_000_000}}
	for _, c := range []struct {
		asked, answered string
		free            bool
		want            int64
	}{
		{"acme", "", false, 3750 + 1500}, {"acme", "acme-2", false, 3750 + 1500}, {"acme", "big", false, 9000 + 100}, {"acme", "renamed", false, 3750 + 1500},
		{"other", "big-1", false, 9000 + 100}, {"other", "", false, 0}, {"acme", "acme", true, 0},
	} {
		talk := sized(t, Options{Model: c.asked, Prices: prices, Free: c.free})
		talk.usage.Model = c.answered
		if got := talk.worstCaseCost(); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	talk := sized(t, Options{})
	size := talk.questionBytes()
	for _, c := range []struct {
		known int64
		sized int
		want  int64
	}{{0, size, tokensOf(size)}, {1000, size, 1000}, {1000, size - 3, 1001}, {1000, size + 3, tokensOf(size)}} {
		if talk.known, talk.sized = c.known, c.sized; talk.estimateTokens() != c.want {
			t.Errorf("%+v: %d tokens", c, talk.estimateTokens())
		}
	}
}

// TestLeave begins no turn that could cost a micro-dollar more than is left.
func TestLeave(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		most, spent int64
		ok          bool
	}{{0, 1 << 40, true}, {5250, 0, true}, {5249, 0, false}, {6250, 1000, true}, {6250, 1001, false}} {
		talk := sized(t, Options{Model: "acme", Prices: acme})
		talk.r.MaxCost, talk.usage.Cost = c.most, c.spent
		if e, ok := talk.checkLimits(t.Context()); ok != c.ok || !ok && e.Failure != session.OverBudget {
			t.Errorf("%+v: %v %q", c, ok, e.Failure)
		}
	}
}

// TestOwed: what broke off may have cost the most there is, unless it was turned down
// or costs nothing.
func TestOwed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		free bool
		owes bool
	}{
		{&Fault{Charged: true}, false, true}, {&Fault{}, false, false}, {errors.New("broken"), false, true},
		{&Fault{Charged: true}, true, false}, {errors.New("broken"), true, false},
	} {
		talk := sized(t, Options{Free: c.free})
		if talk.chargeWorstCase(c.err, 7); talk.usage.CostKnown == c.owes || (talk.usage.Cost == 7) != c.owes {
			t.Errorf("%+v: %+v", c, talk.usage)
		}
	}
	e := hold(t, &fake{err: &Fault{Class: session.TransientTransport, Charged: true}}, session.Request{}, Options{Model: "acme-1", Prices: acme})
	if e.Failure != session.Transport || e.Usage.CostKnown || e.Usage.Cost < DefaultMaxTokens*15 {
		t.Errorf("%q: %+v", e.Failure, e.Usage)
	}
}

// TestLastWords: a refusal is an outcome, a turn of a dialogue is whole without one, and
// what cannot be read is told once.
func TestLastWords(t *testing.T) {
	t.Parallel()
	const bad, yields, ends = "```json\n{\n```\n", "```json\n{\"schema\": \"odd.say.1\", \"says\": [{\"kind\": \"question\", \"text\": \"When?\", \"marker\": \"yielding\"}]}\n```\n",
		"```json\n{\"schema\": \"odd.say.1\", \"says\": [{\"kind\": \"progress\", \"text\": \"Read.\", \"marker\": \"done\"}]}\n```\n"
	refused := says("No.")
	refused.Stop = StopRefusal
	for name, c := range map[string]struct {
		replies []Reply
		outcome session.Outcome
		failure string
		asked   int
	}{
		"refused":       {[]Reply{refused}, session.Refused, "", 1},
		"mended":        {[]Reply{says(bad), calls(done...)}, session.Completed, "", 2},
		"never mended":  {[]Reply{says(bad), says(bad)}, session.Failed, session.Malformed, 2},
		"asks":          {[]Reply{says(yields)}, session.Failed, session.Silent, 1},
		"said its last": {[]Reply{says(ends), calls(done...)}, session.Completed, "", 2},
	} {
		m := &fake{replies: c.replies}
		if e := hold(t, m, session.Request{}, Options{}); e.Outcome != c.outcome || e.Failure != c.failure || len(m.got) != c.asked {
			t.Errorf("%s: %s %q after %d", name, e.Outcome, e.Failure, len(m.got))
		}
	}
}

// TestProgress tells the calls of a round before they are made.
func TestProgress(t *testing.T) {
	t.Parallel()
	var told []string
	hold(t, &fake{replies: []Reply{calls("list_dir", `{"path":"docs"}`), calls(done...)}}, session.Request{Progress: func(s string) { told = append(told, s) }}, Options{})
	if !slices.Equal(told, []string{"round 1: list_dir docs", "round 2: finish"}) {
		t.Errorf("%q", told)
	}
}

package failover

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/odd-cli/odd/persona/session"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func after(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

func TestPenalty(t *testing.T) {
	t.Parallel()
	for class, want := range map[session.Class][5]int{
		session.RateLimited: {15, 30, 60, 120, 120}, session.TimedOut: {45, 90, 180, 300, 300}, session.ServerError: {60, 120, 240, 480, 600},
		session.ConnectionError: {120, 240, 480, 900, 900}, session.TransientTransport: {5, 10, 20, 30, 30}, session.Permanent: {900, 900, 900, 900, 900},
		session.Content: {}, session.ContextOverflow: {}, "": {}, "no such class": {},
	} {
		for i, s := range want {
			if got := penaltyFor(class, i+1); got != time.Duration(s)*time.Second {
				t.Errorf("%s, %d in a row: %v, want %ds", class, i+1, got, s)
			}
		}
	}
	if got := penaltyFor(session.RateLimited, 1<<40); got != 2*time.Minute {
		t.Errorf("very often: %v", got)
	}
}

// story are the tries of a, b and c in a short form: seconds, substrate, class or "ok".
type step struct {
	at    int
	name  string
	class session.Class
}

const ok = session.Class("ok")

func tries(steps []step) []Try {
	var out []Try
	for _, s := range steps {
		t := Judge(s.name, "failed", session.Transport, s.class, after(s.at))
		if s.class == ok {
			t = Judge(s.name, "completed", "", "", after(s.at))
		}
		out = append(out, t)
	}
	return out
}

func TestStates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		steps []step
		now   int
		state State
		use   string
	}{
		"nothing happened":            {nil, 0, Ready, "ab"},
		"one failure":                 {[]step{{0, "a", session.RateLimited}}, 14, Active, "b"},
		"its time is up":              {[]step{{0, "a", session.RateLimited}}, 15, Active, "ab"},
		"a probe fails":               {[]step{{0, "a", session.RateLimited}, {20, "a", session.RateLimited}}, 49, Active, "b"},
		"a probe is good":             {[]step{{0, "a", session.RateLimited}, {20, "a", ok}}, 20, Degraded, "ab"},
		"three are, too soon":         {[]step{{0, "a", session.RateLimited}, {20, "a", ok}, {30, "a", ok}, {64, "a", ok}}, 64, Degraded, "ab"},
		"three are":                   {[]step{{0, "a", session.RateLimited}, {20, "a", ok}, {30, "a", ok}, {65, "a", ok}}, 65, Ready, "ab"},
		"a degraded one fails":        {[]step{{0, "a", session.RateLimited}, {20, "a", ok}, {30, "a", session.ServerError}}, 149, Active, "b"},
		"ready, the count begins new": {[]step{{0, "a", session.RateLimited}, {20, "a", ok}, {30, "a", ok}, {65, "a", ok}, {70, "a", session.RateLimited}}, 85, Active, "ab"},
		"the fallback is broken":      {[]step{{0, "a", session.ServerError}, {0, "b", session.Permanent}}, 59, Queue, ""},
		"then the primary is probed":  {[]step{{0, "a", session.ServerError}, {0, "b", session.Permanent}}, 60, Active, "a"},
		"the fallback alone is":       {[]step{{0, "b", session.Permanent}}, 1, Ready, "a"},
		"content":                     {[]step{{0, "a", session.Content}}, 0, Ready, "ab"},
		"a context too small":         {[]step{{0, "a", session.ContextOverflow}}, 0, Ready, "ab"},
		"good before its time is up":  {[]step{{0, "a", session.RateLimited}, {5, "a", ok}}, 6, Degraded, "ab"},
		"another substrate's":         {[]step{{0, "z", session.Permanent}}, 0, Ready, "ab"},
		"the future":                  {[]step{{9, "a", session.Permanent}}, 8, Ready, "ab"},
	} {
		h := Check([]string{"a", "b"}, tries(c.steps), after(c.now))
		use := ""
		for _, u := range h.Use {
			use += u
		}
		if h.State != c.state || use != c.use || (h.State == Queue) == h.Next.IsZero() || (h.State == Ready) != (h.Why() == "") {
			t.Errorf("%s: %s, use %q, next %v, %q; want %s, use %q", name, h.State, use, h.Next, h.Why(), c.state, c.use)
		}
	}
	if h := Check([]string{"a"}, tries([]step{{0, "a", session.Permanent}}), noon); h.State != Ready {
		t.Errorf("a chain of one: %s", h.State)
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for failure, good := range map[string]bool{
		"": true, "stuck": true, session.Malformed: true, session.Silent: true, session.BadExit: true,
		session.Timeout: false, session.Cancelled: false, session.TurnRefused: false, session.OverBudget: false, session.Transport: false,
	} {
		if got := Judge("a", "failed", failure, "", noon); got.Good != good || got.Class != "" {
			t.Errorf("%q: %+v, want good %v and no class", failure, got, good)
		}
	}
}

// A session that did not end says nothing for its substrate, and good ones count only
// after a failure.
func TestNothingIsClaimed(t *testing.T) {
	t.Parallel()
	if got := Judge("a", "", "", "", noon); got.Good {
		t.Errorf("%+v", got)
	}
	if got := Judge("a", "failed", session.Malformed, session.RateLimited, noon); got.Class != "" || !got.Good {
		t.Errorf("a class without a transport that failed: %+v", got)
	}
	stopped := append(tries([]step{{0, "a", session.RateLimited}}), Judge("a", "failed", session.Timeout, "", after(20)))
	if h := Check([]string{"a", "b"}, stopped, after(20)); h.State != Active {
		t.Errorf("a session that ran out of its own time: %+v", h)
	}
	if h := Check([]string{"a", "b"}, tries([]step{{0, "a", ok}, {1, "a", ok}}), after(2)); h.Chain[0].Good != 0 || h.State != Ready {
		t.Errorf("%+v", h)
	}
}

// What a queue waits for is the first probe of all, and a person is told who works.
func TestWhy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		steps []step
		now   int
		next  int // seconds, -1 for none
		why   string
	}{
		{[]step{{0, "a", session.ServerError}, {0, "b", session.RateLimited}}, 1, 15,
			"a failed 1 times in a row, last server_error, and is left alone until 2026-03-02T12:01:00Z; b failed 1 times in a row, last rate_limited, and is left alone until 2026-03-02T12:00:15Z"},
		{[]step{{0, "a", session.RateLimited}, {0, "b", session.ServerError}}, 1, 15,
			"a failed 1 times in a row, last rate_limited, and is left alone until 2026-03-02T12:00:15Z; b failed 1 times in a row, last server_error, and is left alone until 2026-03-02T12:01:00Z"},
		{[]step{{0, "a", session.RateLimited}}, 1, -1, "a failed 1 times in a row, last rate_limited, and is left alone until 2026-03-02T12:00:15Z; b works"},
		{[]step{{0, "a", session.RateLimited}}, 15, -1, "a failed 1 times in a row, last rate_limited; the next task probes it"},
		{[]step{{0, "a", session.RateLimited}, {15, "a", ok}}, 16, -1, "a works again, 1 good of 3 since its last rate_limited"},
	} {
		h := Check([]string{"a", "b"}, tries(c.steps), after(c.now))
		if h.Why() != c.why || h.Next.IsZero() != (c.next < 0) || c.next >= 0 && !h.Next.Equal(after(c.next)) {
			t.Errorf("next %v, %q; want %q", h.Next, h.Why(), c.why)
		}
	}
}

// Nothing is claimed exactly where nothing may be tried, and then something may be when
// the next probe is due.
func TestQueueEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var steps []step
		for range rapid.IntRange(0, 12).Draw(t, "n") {
			steps = append(steps, step{
				rapid.IntRange(0, 300).Draw(t, "at"), rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "who"),
				rapid.SampledFrom([]session.Class{ok, session.Permanent, session.RateLimited, session.Content}).Draw(t, "class"),
			})
		}
		slices.SortStableFunc(steps, func(a, b step) int { return a.at - b.at })
		now := after(rapid.IntRange(300, 2000).Draw(t, "now")) // with nothing of the future, which would be news at the next probe
		h := Check([]string{"a", "b", "c"}, tries(steps), now)
		if (h.State == Queue) != (len(h.Use) == 0) {
			t.Fatalf("%+v", h)
		}
		if h.State == Queue && Check([]string{"a", "b", "c"}, tries(steps), h.Next).State == Queue {
			t.Fatal("nothing may be tried when the next probe is due")
		}
	})
}

package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/policy"
)

// TestLadderLets finds what stands beside a rule that refuses, and is let through.
func TestLadderLets(t *testing.T) {
	t.Parallel()
	finish := []string{"finish", `{"outcome":"completed"}`}
	ran := append([]string{"run", `{"argv":["go","test"]}`}, finish...)
	asks := func(complexity string, before ...session.Call) func(*Options) {
		return func(o *Options) { o.Request.Complexity, o.Request.Explored = complexity, before }
	}
	for what, c := range map[string]struct {
		code   string // of the last call, "" where it is done
		change func(*Options)
		calls  []string
	}{
		"reading takes no permit":              {"", func(o *Options) { o.Request.Allow = nil }, []string{"list_dir", `{}`}},
		"reading under a contract that reads":  {"", func(o *Options) { builder(&o.Request); o.Request.Contract.Mutates = false }, []string{"list_dir", `{}`}},
		"a builder writes":                     {"", func(o *Options) { builder(&o.Request) }, []string{"write_file", `{"path":"new.txt","text":"x"}`}},
		"as much as a file may be":             {"", func(o *Options) { o.Limits.FileBytes = 10 }, []string{"write_file", `{"path":"new.txt","text":"hello, you"}`}},
		"an atom of more than a file may be":   {"too_large", func(o *Options) { o.Limits.FileBytes = 10 }, []string{"emit_atom", `{"text":"hello, hello"}`}},
		"a file that is not there":             {"missing", nil, []string{"read_file", `{"path":"nope.txt"}`}},
		"nothing changed, nothing explored":    {"", asks("simple"), finish},
		"a program ran where nobody judges it": {"", asks(""), ran},
		"a program ran where changes are":      {"exploration_insufficient", asks("simple"), ran},
		"an earlier write that was denied":     {"", asks("", session.Call{Tool: "write_file", Status: session.CallDenied}), finish},
		"an earlier read":                      {"", asks("", session.Call{Tool: "read_file", Status: session.CallOK}), finish},
		"two equal calls":                      {"", nil, []string{"list_dir", `{}`, "list_dir", `{}`}},
	} {
		b, _ := open(t, c.change)
		var a Answer
		for i := 0; i < len(c.calls); i += 2 {
			a = b.Call(t.Context(), 1, c.calls[i], json.RawMessage(c.calls[i+1]))
		}
		if a.Code != c.code || a.Failed != (c.code != "") {
			t.Errorf("%s: [%s] %s", what, a.Code, a.Text)
		}
	}
}

// TestRateIsByTheMinute: what was asked a whole minute ago no longer counts.
func TestRateIsByTheMinute(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	b, _ := open(t, func(o *Options) {
		o.Limits.Fetches, o.Limits.Timeout, o.Now = 1, 1, func() time.Time { return now }
	})
	for _, c := range []struct {
		wait time.Duration
		code string
	}{{0, "timeout"}, {time.Minute - 1, "rate_limited"}, {1, "timeout"}} {
		now = now.Add(c.wait)
		if a := b.Call(t.Context(), 1, "web_fetch", json.RawMessage(`{"url":"https://docs.example/`+now.String()+`"}`)); a.Code != c.code {
			t.Errorf("after %v: [%s] %s, want %s", c.wait, a.Code, a.Text, c.code)
		}
	}
}

// TestOffers: a tool is there where the session has something for it.
func TestOffers(t *testing.T) {
	t.Parallel()
	const granted = "read_file list_dir write_file edit_file delete_file git_log git_diff git_blame search get related expand run run_tests web_fetch ask_human"
	for _, c := range []struct {
		change func(*Options)
		gone   string
	}{
		{nil, ""},
		{func(o *Options) { o.Commands = nil }, "run"},
		{func(o *Options) { o.Checks = nil }, "run_tests"},
		{func(o *Options) { o.Runner = nil }, "run run_tests"},
		{func(o *Options) { o.Hosts = nil }, "web_fetch"},
		{func(o *Options) { o.Request.History = nil }, "git_log git_diff git_blame"},
		{func(o *Options) { o.Request.Graph = nil }, "search get related expand"},
		{func(o *Options) { o.Request.Desk = nil }, "write_file edit_file delete_file run run_tests"},
		{func(o *Options) { o.Request.Ask = nil }, "ask_human"},
		{func(o *Options) { builder(&o.Request); o.Request.Contract.Tools = nil }, granted},
	} {
		b, _ := open(t, c.change)
		have := b.toolNames()
		for _, name := range strings.Fields(granted + " finish") {
			if gone := slices.Contains(strings.Fields(c.gone), name); slices.Contains(have, name) == gone {
				t.Errorf("without %q: %s is there: %v", c.gone, name, !gone)
			}
		}
	}
}

// TestFinish: every word of an outcome arrives, and nothing is taken after it, by a
// tool or as text.
func TestFinish(t *testing.T) {
	t.Parallel()
	b, _ := open(t, nil)
	does(t, b, "finish", `{"outcome":"failed","failure":"no-tide","detail":"The sea stood still."}`)
	if e, _ := b.Emission(session.Usage{}); e.Outcome != session.Failed || e.Failure != "no-tide" || e.Detail != "The sea stood still." {
		t.Errorf("%+v", e)
	}
	const atom = "```atom\n---\ntype: term\nid: ebb\ntitle: Ebb\n---\n\nThe sea, falling.\n```\n"
	if a := b.Text(atom); !a.Failed || a.Code != "bad_emission" || !strings.Contains(a.Text, "has declared its outcome") {
		t.Errorf("%+v", a)
	}
	b, _ = open(t, nil)
	does(t, b, "finish", `{"outcome":"handoff_insufficient","missing":["the tide table"]}`)
	if e, _ := b.Emission(session.Usage{}); e.Outcome != session.HandoffInsufficient || len(e.Missing) != 1 {
		t.Errorf("%+v", e)
	}
}

// TestTextGoesByTheRules: what a tool may not hand over, a fenced block may not.
func TestTextGoesByTheRules(t *testing.T) {
	t.Parallel()
	b, _ := open(t, func(o *Options) { o.Request.Complexity = "simple" })
	a := b.Text("```change\n{\"schema_version\":\"2b.1\",\"candidates\":[]}\n```\n")
	if e, _ := b.Emission(session.Usage{}); a.Code != "exploration_insufficient" || !a.Failed || e.Change != nil {
		t.Errorf("%+v, %+v", a, e.Change)
	}
}

// TestEnded: who ended a call is told apart, the session before the call's own time.
func TestEnded(t *testing.T) {
	t.Parallel()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	on := t.Context()
	for _, c := range []struct {
		ctx, in      context.Context
		err          error
		status, code string
	}{
		{over, over, nil, session.CallOK, ""},
		{over, over, failWith("x", "x"), session.CallCancelled, "cancelled"},
		{on, over, failWith("x", "x"), session.CallTimeout, "timeout"},
		{on, on, &policy.Refusal{Code: "lapsed"}, session.CallDenied, "lapsed"},
		{on, on, failWith("gone", "x"), session.CallFailed, "gone"},
		{on, on, coded{}, session.CallFailed, "server_lost"},
		{on, on, context.DeadlineExceeded, session.CallTimeout, "timeout"},
		{on, on, errors.New("x"), session.CallFailed, "failed"},
	} {
		if status, code := explainEnd(c.ctx, c.in, c.err); status != c.status || code != c.code {
			t.Errorf("%v: %s %q, want %s %q", c.err, status, code, c.status, c.code)
		}
	}
}

type coded struct{}

func (coded) Error() string { return "lost" }
func (coded) Code() string  { return "server_lost" }

// TestSessionEndsMidCall: a call that the session's end cut short says so; without a
// clock of its own a box takes the request's time.
func TestSessionEndsMidCall(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	b, _ := open(t, func(o *Options) {
		o.Now = nil
		o.Extra[0].Run = func(context.Context, json.RawMessage) (string, error) {
			cancel()
			return "", errors.New("broken pipe")
		}
	})
	a := b.Call(ctx, 1, "mcp_sea_level", json.RawMessage(`{}`))
	if !a.Failed || a.Code != "cancelled" || !strings.Contains(a.Text, "the session ended first") || strings.Contains(a.Text, "pipe") {
		t.Errorf("%+v", a)
	}
}

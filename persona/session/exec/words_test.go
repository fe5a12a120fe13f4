package exec

import (
	"encoding/json"
	"testing"

	"github.com/odd-cli/odd/persona/session"
)

// A program's words are read from the surest to the vaguest: a status first, then
// what will not mend by itself.
func TestClassOf(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]session.Class{
		"API Error: 529 Overloaded":                       session.ServerError,
		"API Error: 401 rate limit":                       session.Permanent,
		"API Error: 400 Prompt is too long":               session.ContextOverflow,
		"API Error: 5290":                                 session.TransientTransport,
		"the context window is full, invalid API key":     session.ContextOverflow,
		"Invalid API key · Please run /login":             session.Permanent,
		"Credit balance is too low: rate limit":           session.Permanent,
		"error: unknown option '--acp'":                   session.Permanent,
		"Claude usage limit reached|1700000000":           session.RateLimited,
		"You've hit your limit":                           session.RateLimited,
		"connect ECONNREFUSED 127.0.0.1:1: request timed": session.ConnectionError,
		"Request timed out.":                              session.TimedOut,
		"Overloaded":                                      session.ServerError,
		"it went wrong":                                   session.TransientTransport,
		"":                                                session.TransientTransport,
	} {
		if got := ClassOf(said); got != want {
			t.Errorf("%q: got %s, want %s", said, got, want)
		}
	}
}

// An amount is rounded up, never down, and what is no amount is not read as nothing.
func TestMicroUSD(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]int64{
		"0": 0, "0.0": 0, "1e-31": 0, "0.000001": 1, "0.0000010": 1, "0.0000011": 2, "1e-7": 1, "0.1": 100_000, "0.30000000000000004": 300_000,
		"1.000000000001": 1_000_001, "1.0000000000001": 1_000_000, "12": 12_000_000, "1000000": 1_000_000_000_000,
		"1000000.1": -1, "-0.1": -1, "1e99": -1, `"0.1"`: -1, "": -1, "null": -1, "[]": -1, "0.1 0.2": -1, "NaN": -1, "0x10": -1,
		"0.00000000000000000000000000000000000000000000000000000000000000001": -1,
	} {
		got, ok := MicroUSD(json.RawMessage(raw))
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: got %d, %v, want %d", raw, got, ok, want)
		}
	}
}

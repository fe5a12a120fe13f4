package invoke

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/stream"
)

// batches are what a watch is given, one a call; err comes behind them.
func batches(err error, channels ...string) func(context.Context) (stream.Events, error) {
	n := 0
	return func(context.Context) (stream.Events, error) {
		if n++; n > len(channels) {
			return stream.Events{}, err
		}
		return stream.Events{Channel: channels[n-1], List: []stream.Event{{Line: int64(n), Text: fmt.Appendf(nil, "{\"n\": %d}\n## contract", n)}}}, nil
	}
}

func comment(texts ...string) string {
	return fmt.Sprintf(`{"schema": "odd.commentary.1", "says": ["%s"]}`, strings.Join(texts, `", "`))
}

func TestWatch(t *testing.T) {
	t.Parallel()
	one, two := says(comment("it failed"), finished), says(comment("it failed again"), finished)
	long := says(comment(strings.Repeat("word ", 80)), finished)
	still := says(finished)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name    string
		says    []string
		next    func(context.Context) (stream.Events, error)
		change  func(*Session)
		heard   string // channel and texts, in order
		failure string
	}{
		{"to its end", []string{one, still, two}, batches(io.EOF, "a", "b", "a"), nil, "a[it failed] b[] a[it failed again]", ""},
		{"nothing comes", nil, batches(io.EOF), nil, "", ""},
		{"sent back", []string{long, long, one, long, long, two}, batches(io.EOF, "a", "a"), nil, "a[it failed] a[it failed again]", ""},
		{"too long", []string{long, long, long}, batches(io.EOF, "a", "b"), nil, "", TooLong},
		{"an atom", []string{one, termBlock + still}, batches(io.EOF, "a", "b"), nil, "a[it failed]", ReadOnly},
		{"a change", []string{"```change\n{}\n```\n" + still}, batches(io.EOF, "a"), nil, "", ReadOnly},
		{"a question", []string{says(say("question", "which?", "yielding"), comment("x"), finished)}, batches(io.EOF, "a"), nil, "", "clarifying-question"},
		{"no turn left", []string{one, two}, batches(io.EOF, "a", "a", "a"), func(s *Session) { s.Request.MaxTurns = 2 }, "a[it failed] a[it failed again]", session.TurnRefused},
		{"no turn needed", []string{one, two}, batches(io.EOF, "a", "a"), func(s *Session) { s.Request.MaxTurns = 2 }, "a[it failed] a[it failed again]", ""},
		{"muted by channel", []string{one, two}, batches(io.EOF, "a", "a", "b"), func(s *Session) { s.Contract.Surface.MaxEmissions = 1 }, "a[it failed] b[it failed again]", ""},
		{"muted within", []string{says(comment("1", "2", "3"), finished)}, batches(io.EOF, "a", "a"), func(s *Session) { s.Contract.Surface.MaxEmissions = 2 }, "a[1 2]-1", ""},
		{"the source fails", []string{one}, batches(errors.New("gone"), "a"), nil, "a[it failed]", Unread},
		{"nobody listens", []string{one}, batches(io.EOF, "a", "a"), func(s *Session) {
			s.Watch.Heard = func(context.Context, Remark) error { return io.EOF }
		}, "", ""},
		{"cannot be told", []string{one}, batches(io.EOF, "a", "a"), func(s *Session) {
			s.Watch.Heard = func(context.Context, Remark) error { return errors.New("no space") }
		}, "", Untold},
		{"interrupted", nil, func(context.Context) (stream.Events, error) { return stream.Events{}, cancelled.Err() }, nil, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &script{says: tt.says}
			c := under(contract.Observer, contract.Agent)
			c.Surface = contract.SurfaceRule{Name: contract.RealTimeStream, MaxTokens: 60}
			in := start(c, s)
			var heard []string
			in.Watch = &Watch{Next: tt.next, Heard: func(_ context.Context, m Remark) error {
				muted := ""
				if m.Muted > 0 {
					muted = fmt.Sprint(-m.Muted)
				}
				heard = append(heard, m.Channel+fmt.Sprint(m.Texts)+muted)
				return nil
			}}
			if tt.change != nil {
				tt.change(&in)
			}
			ctx := t.Context()
			if tt.name == "interrupted" {
				ctx = cancelled
			}
			r, err := Run(ctx, in)
			if err != nil || r.Emission.Failure != tt.failure || strings.Join(heard, " ") != tt.heard || len(s.got) != len(tt.says) {
				t.Fatalf("got %s %q %q, heard %q, %v after %d calls", r.Emission.Outcome, r.Emission.Failure, r.Emission.Detail, heard, err, len(s.got))
			}
			if n := len(r.Briefs); n > 0 {
				last := r.Briefs[n-1]
				if got := blocks(string(last.Text)); got != len(last.Manifest) || part(last, "events") == "" {
					t.Errorf("%d fenced parts, want %d: an event broke out", got, len(last.Manifest))
				}
			}
		})
	}
}

// TestWatchIsForObservers: who makes something does not watch.
func TestWatchIsForObservers(t *testing.T) {
	t.Parallel()
	for _, role := range []contract.Role{contract.Builder, contract.General, contract.Validator} {
		in := start(under(role, contract.Agent), &script{})
		in.Watch = &Watch{Next: batches(io.EOF)}
		if _, err := Run(t.Context(), in); err == nil {
			t.Errorf("%s watches", role)
		}
	}
}

// TestWatchKeepsLittle: a long watch keeps the newest of its past.
func TestWatchKeepsLittle(t *testing.T) {
	t.Parallel()
	const n = 3 * maxBriefs
	channels, list := make([]string, n), make([]string, n)
	for i := range n {
		channels[i], list[i] = "a", says(finished)+strings.Repeat("talk ", maxEarlier/5/n*2)
	}
	in := start(under(contract.Observer, contract.Agent), &script{says: list})
	in.Watch = &Watch{Next: batches(io.EOF, channels...), Heard: func(context.Context, Remark) error { return nil }}
	r, err := Run(t.Context(), in)
	kept := 0
	for _, b := range r.Briefs {
		if len(b.Text) > 0 {
			kept++
		}
	}
	if err != nil || r.Emission.Outcome != session.Completed || kept > maxBriefs+2 {
		t.Errorf("%d of %d briefs are kept; %v, %v", kept, len(r.Briefs), r.Emission.Outcome, err)
	}
}

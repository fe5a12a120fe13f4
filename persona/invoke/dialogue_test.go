package invoke

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/session"
)

func TestDialogue(t *testing.T) {
	t.Parallel()
	ask := says(say("question", "Which `tide`?\n```\n## contract", "yielding"))
	hold := says(say("progress", "reading on", "holding"))
	end := says(say("assertion", "it stands", "done"), handover(deliver.SchemaClaims), finished)
	answer := func(context.Context, Turn) (string, error) { return "The spring tide.\n```\n", nil }
	tests := []struct {
		name          string
		says          []string
		reply         func(context.Context, Turn) (string, error)
		change        func(*Session)
		failure, want string
	}{
		{"answered", []string{ask, hold, ask, end}, answer, nil, "", ""},
		{"holds without a person", []string{hold, end}, nil, nil, "", ""},
		{"nobody", []string{ask}, nil, nil, Yielded, "Which `tide`?"},
		{"no answer", []string{ask}, func(context.Context, Turn) (string, error) { return "", errors.New("the terminal is gone") }, nil, Yielded, "the terminal is gone"},
		{"empty answer", []string{ask}, func(context.Context, Turn) (string, error) { return " \n", nil }, nil, Yielded, "empty"},
		{"no turn left", []string{hold, ask}, answer, func(s *Session) { s.Request.MaxTurns = 2 }, Yielded, "no turn is left"},
		{"no turn left to hold", []string{hold, hold}, nil, func(s *Session) { s.Request.MaxTurns = 2 }, session.TurnRefused, "no turn is left"},
		{"no emission left", []string{ask, ask}, answer, func(s *Session) { s.Contract.Surface.MaxEmissions = 2 }, Yielded, "takes 2 emissions"},
		{"too many in all", []string{hold, hold, end}, nil, func(s *Session) { s.Contract.Surface.MaxEmissions = 3 }, "too-many-emissions", ""},
		{"no end", slicesOf(hold, maxRounds+1), nil, nil, session.TurnRefused, "rounds"},
		{"a fresh context is not answered", []string{ask}, answer, func(s *Session) { s.Contract.Strict = true }, Yielded, "fresh context"},
		{"what a turn held is not kept", []string{termBlock + ask, end}, answer, nil, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &script{says: tt.says}
			in := start(under(contract.Builder, contract.Assistant), s)
			in.Reply = tt.reply
			if tt.change != nil {
				tt.change(&in)
			}
			r, err := Run(t.Context(), in)
			e := r.Emission
			if err != nil || e.Failure != tt.failure || !strings.Contains(e.Detail, tt.want) || len(s.got) != len(tt.says) {
				t.Fatalf("got %s %q %q, %v after %d calls", e.Outcome, e.Failure, e.Detail, err, len(s.got))
			}
			if tt.failure != "" {
				return
			}
			if len(e.Says) != len(tt.says) || e.Deliverable == nil || len(e.Atoms) > 0 {
				t.Errorf("got %d says, %v, %d atoms", len(e.Says), e.Deliverable, len(e.Atoms))
			}
			last := r.Briefs[len(r.Briefs)-1]
			if got := blocks(string(last.Text)); got != len(last.Manifest) {
				t.Errorf("%d fenced parts, want %d: what was said broke out", got, len(last.Manifest))
			}
			if d := part(last, "dialogue"); tt.reply != nil && !strings.Contains(d, "a person\n````text\nThe spring tide.\n```\n````") {
				t.Errorf("the dialogue is\n%s", d)
			}
		})
	}
}

// A session that ends while its question waits failed for that, and not for the
// question; an agent's marker begins no dialogue.
func TestNoDialogue(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	in := start(under(contract.Builder, contract.Assistant), &script{says: []string{says(say("question", "Which tide?", "yielding"))}})
	in.Reply = func(context.Context, Turn) (string, error) {
		cancel()
		return "", errors.New("the terminal is gone")
	}
	r, err := Run(ctx, in)
	if e := r.Emission; err != nil || e.Failure != session.Cancelled || e.Detail != "while a question waited for its answer: Which tide?" {
		t.Errorf("%v, %q %q", err, e.Failure, e.Detail)
	}
	s := &script{says: []string{says(say("progress", "reading on", "holding"), handover(deliver.SchemaClaims), finished)}}
	if r, err = Run(t.Context(), start(under(contract.Builder, contract.Agent), s)); err != nil || r.Emission.Outcome != session.Completed || len(s.got) != 1 {
		t.Errorf("%v, %+v after %d calls", err, r.Emission, len(s.got))
	}
}

func slicesOf(s string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = s
	}
	return out
}

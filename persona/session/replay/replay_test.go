package replay

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/persona/session"
)

const recording = "Said.\n\n```atom\n---\ntype: term\nid: embargo\ntitle: Embargo\n---\n\nNews that waits.\n```\n" +
	"```json\n{\"schema\": \"odd.usage.1\", \"turns\": 2, \"cost_micro_usd\": 40, \"model\": \"m\"}\n```\n" +
	"```json\n{\"schema\": \"odd.finish.1\", \"outcome\": \"completed\"}\n```\n"

func files(text string) fs.FS {
	return fstest.MapFS{"sessions/one.md": {Data: []byte(text)}}
}

func TestReplay(t *testing.T) {
	t.Parallel()
	asked := 0
	r := session.Request{Turn: func() error { asked++; return nil }}
	e, err := Substrate{files(recording), "sessions/one.md"}.Run(t.Context(), r)
	if err != nil || e.Outcome != session.Completed || len(e.Atoms) != 1 {
		t.Fatalf("got %s with %d atoms, %v", e.Outcome, len(e.Atoms), err)
	}
	if d := cmp.Diff(session.Usage{Turns: 2, Cost: 40, CostKnown: true, Model: "m"}, e.Usage); d != "" {
		t.Errorf("usage (-want +got):\n%s", d)
	}
	if asked != 2 {
		t.Errorf("asked for %d turns, want 2", asked)
	}
	if string(e.Raw) != recording {
		t.Errorf("Raw is %q", e.Raw)
	}
}

func TestReplayFailures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		r          session.Request
		want       string
	}{
		{"malformed", "```atom\n```\n", session.Request{}, session.Malformed},
		{"silent", "nothing\n", session.Request{}, session.Silent},
		{"second turn refused", recording, session.Request{MaxTurns: 1}, session.TurnRefused},
		{"budget", recording, session.Request{Turn: func() error { return errors.New("stop") }}, session.TurnRefused},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e, err := session.Run(t.Context(), Substrate{files(tt.text), "sessions/one.md"}, tt.r)
			if err != nil || e.Outcome != session.Failed || e.Failure != tt.want || len(e.Atoms) > 0 {
				t.Errorf("got %s %q with %d atoms, %v; want failed %q", e.Outcome, e.Failure, len(e.Atoms), err, tt.want)
			}
		})
	}
}

func TestReplayCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e, err := Substrate{files(recording), "sessions/one.md"}.Run(ctx, session.Request{})
	if err != nil || e.Failure != session.Cancelled {
		t.Errorf("got %q %v, want %q", e.Failure, err, session.Cancelled)
	}
}

func TestReplayFaults(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"", ".", "../one.md", "/one.md", "sessions/two.md"} {
		_, err := Substrate{files(recording), file}.Run(t.Context(), session.Request{})
		if err == nil || !strings.HasPrefix(err.Error(), "substrate replay: ") {
			t.Errorf("%q: got %v, want an error that names the substrate", file, err)
		}
	}
}

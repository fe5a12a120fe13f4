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
	r := session.Request{Turn: func(session.Usage) error { asked++; return nil }}
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
		{"second turn refused", recording, session.Request{MaxTurns: 1}, session.TurnLimit},
		{"budget", recording, session.Request{Turn: func(session.Usage) error { return errors.New("stop") }}, session.TurnRefused},
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

func TestReplayFolder(t *testing.T) {
	t.Parallel()
	finish := "```json\n{\"schema\": \"odd.finish.1\", \"outcome\": \"refused\", \"detail\": \"%\"}\n```\n"
	said := fstest.MapFS{}
	for _, name := range []string{"slack-water.md", "explorer.md", "explorer.2.md", "explorer-2.md", "validator.md", "validator-after-resolution.md", "general.md"} {
		said["story/"+name] = &fstest.MapFile{Data: []byte(strings.Replace(finish, "%", name, 1))}
	}
	tests := []struct {
		r    session.Request
		want string // "" for none
	}{
		{session.Request{}, "general.md"},
		{session.Request{Task: "tasks/slack-water", Role: "builder"}, "slack-water.md"},
		{session.Request{Task: "run-1", Role: "explorer", Try: 1}, "explorer.md"},
		{session.Request{Role: "explorer", Member: 1}, "explorer.md"},
		{session.Request{Role: "explorer", Member: 2}, "explorer.2.md"},
		{session.Request{Role: "explorer", Try: 2}, "explorer-2.md"},
		{session.Request{Role: "validator", After: "execution"}, "validator.md"},
		{session.Request{Role: "validator", After: "resolution"}, "validator-after-resolution.md"},
		{session.Request{Role: "validator", Try: 2}, ""},
		{session.Request{Role: "planner"}, ""},
		{session.Request{Task: "../../x", Role: "planner"}, ""},
	}
	for _, tt := range tests {
		e, err := Substrate{said, "story"}.Run(t.Context(), tt.r)
		if e.Detail != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%+v: got %q, %v; want %q", tt.r, e.Detail, err, tt.want)
		}
		if err != nil && !strings.Contains(err.Error(), "story holds none of ") {
			t.Errorf("%v does not say what was looked for", err)
		}
	}
}

package pipeline

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestARunAtWorkIsSeen(t *testing.T) {
	t.Parallel()
	s := newSim()
	var live []byte
	steps := straightToWaiting()
	generate := steps[Generate]
	steps[Generate] = func(ctx context.Context, o Op) (Out, error) {
		live = Live(s.records(t), []Thought{{At: s.now, Op: o.ID, Phase: Generate, Text: "the secret is out"}, {Op: "op-other", Text: "no"}}, "reading a secret", func(s string) string { return strings.ReplaceAll(s, "secret", "…") })
		return generate(ctx, o)
	}
	s.run(t, Limits{}, steps)
	beats := Beats(live)
	want := []Beat{{Run: "run-1", Op: "op-01", Task: "tasks/tidy", Phase: Generate, Began: dawn, At: dawn, Until: dawn.Add(3 * time.Minute), Tries: 1, Doing: "reading a …"}}
	if d := cmp.Diff(want, beats); d != "" {
		t.Fatal(d)
	}
	if b := beats[0]; !b.Alive(dawn) || b.Alive(b.Until) {
		t.Error("a beat is alive until its deadline")
	}
	if text := string(live); strings.Contains(text, "secret") || strings.Contains(text, "no\"") || !strings.Contains(text, `"thought":"the … is out"`) {
		t.Error(text)
	}
	for _, b := range Beats(Live(s.records(t), nil, "", nil)) {
		if b.Alive(dawn) {
			t.Errorf("what waits for a person is at work: %+v", b)
		}
	}
}

func FuzzBeats(f *testing.F) {
	f.Add([]byte(`{"at":"2026-03-02T09:00:00.000Z","op":"op-1","run":"run-1","phase":"plan","v":1}` + "\n{}\n\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, beat := range Beats(b) {
			if beat.Op == "" || beat.Run == "" {
				t.Errorf("%+v", beat)
			}
		}
	})
}

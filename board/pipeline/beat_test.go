package pipeline

import (
	"context"
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
		live = o.Live()
		return generate(ctx, o)
	}
	s.run(t, Limits{Session: 3 * time.Minute}, steps)
	beats := Beats(live)
	want := []Beat{{Run: "run-1", Op: "op-01", Task: "tasks/tidy", Phase: Generate, Began: dawn, At: dawn, Until: dawn.Add(3 * time.Minute)}}
	if d := cmp.Diff(want, beats); d != "" {
		t.Fatal(d)
	}
	if b := beats[0]; !b.Alive(dawn) || b.Alive(b.Until) {
		t.Error("a beat is alive until its deadline")
	}
	story, _ := s.story(t)
	if b := Beats(story.Op().Live()); len(b) != 1 || b[0].Alive(dawn) {
		t.Errorf("what waits for a person is at work: %+v", b)
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

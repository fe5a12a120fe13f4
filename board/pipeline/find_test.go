package pipeline

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/odd-cli/odd/journal/event"
)

// waits is the op that straight leaves waiting.
func waits(t *testing.T) (Story, *sim) {
	t.Helper()
	s := newSim()
	if _, err := Run(t.Context(), s.world("run-1"), Limits{}, straightToWaiting(), began(t, s.now)); err != nil {
		t.Fatal(err)
	}
	stories, problems := ReadOps(s.records(t))
	if len(problems) > 0 || len(stories) != 1 || stories[0].Op().Phase != Waiting {
		t.Fatal(stories, problems)
	}
	return stories[0], s
}

func TestFindTakesWhatIsUnique(t *testing.T) {
	t.Parallel()
	var all []Story
	for _, id := range []string{"op-01JAAA7", "op-01JAAB8", "op-01KAAA9"} {
		o, err := Begin(id, "t", "run-1", time.Now(), Limits{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, Story{Told: []Told{{Op: o}}, Sound: true})
	}
	for name, want := range map[string]string{
		"op-01JAAA7": "op-01JAAA7", "01jaaa": "op-01JAAA7", "op-01jaab": "op-01JAAB8", "01K": "op-01KAAA9", "aaa9": "op-01KAAA9",
		"op-01J": "it fits several changes: op-01JAAA7, op-01JAAB8", "op-": "there is no change with this id", "": "there is no change with this id", "zz": "odd op list --all",
	} {
		s, err := Find(all, name)
		switch {
		case err != nil && !strings.Contains(err.Error(), want):
			t.Errorf("%q: %v, want %s", name, err, want)
		case err == nil && s.Op().ID != want:
			t.Errorf("%q: %s, want %s", name, s.Op().ID, want)
		}
	}
}

func TestTellReadsEveryLedger(t *testing.T) {
	t.Parallel()
	s, sim := waits(t)
	o := s.Op()
	end, err := End(o, o.ID, sim.now, Rejected, "no")
	if err != nil {
		t.Fatal(err)
	}
	own := end.Record()
	own.Seq = 1
	f := fstest.MapFS{"ledger/2026-03/other.jsonl": {Data: []byte(`{"kind":"refused","run":"other","seq":1,"ts":"2026-03-02T09:00:00Z","v":1}` + "\n")}}
	for name, records := range map[string][]event.Record{event.Path("run-1", sim.now): sim.records(t), event.Path(o.ID, sim.now): {own}} {
		var b []byte
		for i, r := range records {
			r.Seq = i + 1
			if b, err = event.Append(b, r); err != nil {
				t.Fatal(err)
			}
		}
		f[name] = &fstest.MapFile{Data: b}
	}
	stories, problems, err := Tell(f)
	if err != nil || len(problems) > 0 || len(stories) != 1 || stories[0].Op().Reason != Rejected || !stories[0].Sound {
		t.Error(stories, problems, err)
	}
	if _, ok := WaitingFor(stories, o.Task, o.Moved[0].New); ok {
		t.Error("what was rejected waits")
	}
}

func TestAnApprovalIsOfWhatWasJudged(t *testing.T) {
	t.Parallel()
	s, _ := waits(t)
	o := s.Op()
	if _, ok := WaitingFor([]Story{s}, o.Task, o.Moved[0].New); !ok {
		t.Error("what waits is not found")
	}
	if _, ok := WaitingFor([]Story{s}, o.Task, "p2"); ok {
		t.Error("another commit is taken for it")
	}
	is := []string{o.Moved[0].New, strings.TrimPrefix(o.Moved[0].Ref, "refs/heads/"), o.Fact(FactBase), o.ID, o.Fact(FactTier)}
	for i, word := range []string{"", "commit", "branch", "base", "op", "tier"} {
		a := append([]string(nil), is...)
		if i > 0 {
			a[i-1] = "other"
		}
		got := o.Unbound(a[0], a[1], a[2], a[3], a[4])
		if i == 0 && got != nil || i > 0 && (len(got) != 1 || !strings.HasPrefix(got[0], "its "+word+" is other")) {
			t.Errorf("another %q: %q", word, got)
		}
	}
}

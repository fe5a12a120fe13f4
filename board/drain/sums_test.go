package drain

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/session"
)

// fresh looks at the board as a drain that begins.
func (w *world) fresh() *snapshot {
	w.t.Helper()
	tip, err := w.repo.Ref("refs/heads/main")
	if err != nil {
		w.t.Fatal(err)
	}
	s, err := look(context.Background(), w.repo, tip, nil, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// What a ledger file comes to is kept by its blob: a drain reads a file that another
// drain has summed no more, believes no sum of other bytes, and nothing that is not
// whole.
func TestSumsAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, "a", "b", "c")
	w.o.MaxTasks = 1
	w.must()
	kept := string(w.repo.Cached(sumsName))
	sums := readSums([]byte(kept))
	if len(sums) != 1 {
		t.Fatalf("%d sums are kept, want that of the run's ledger:\n%s", len(sums), kept)
	}
	known := w.fresh()
	if known.read != 0 || len(known.sums) != 1 {
		t.Errorf("%d of %d ledger files were read, whose sum is kept", known.read, len(known.sums))
	}
	for name, text := range map[string]string{
		"damaged":    strings.Replace(kept, `"Team"`, `"team"`, 1),
		"torn":       kept[:len(kept)-2],
		"of nothing": "",
		"no object":  checkOf([]byte("[]")) + "\n[]",
	} {
		if err := w.repo.Keep(sumsName, []byte(text)); err != nil {
			t.Fatal(err)
		}
		s := w.fresh()
		if d := cmp.Diff(known.spend, s.spend); s.read != 1 || d != "" {
			t.Errorf("%s: %d files were read\n%s", name, s.read, d)
		}
	}

	for blob, sum := range sums { // as it would be if those bytes came to more
		sum.Team = map[string]map[string]int64{"2026-03": {"": 1_000_000}}
		text, err := json.Marshal(map[repo.OID]event.FileSum{blob: sum})
		if err == nil {
			err = w.repo.Keep(sumsName, fmt.Appendf(nil, "%s\n%s", checkOf(text), text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.drain(context.Background()); code(err) != "budget" {
		t.Errorf("with a kept sum at the hard stop: %v", err)
	}
	w.commit(repo.Changes{"knowledge/pause.toml": nil}, "resume")
	w.commit(repo.Changes{"knowledge/ledger/2026-03/run-01KJPWD6M0E8497ANGJ5R0NA01.jsonl": []byte("{\n")}, "a ledger that is torn")
	if _, err := w.drain(context.Background()); code(err) != "ledger" {
		t.Errorf("with a ledger that is torn: %v", err)
	}
}

// A change that waits for too long is expired also where its run's ledger was summed
// by another drain, and what is read of it is the whole story.
func TestKeptSumsKnowTheOps(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, forDocs, "b")
	w.answer = func(context.Context, session.Request) (session.Emission, error) { return delivers(1, "# A\n"), nil }
	w.o.MaxTasks, w.o.Task = 1, "a"
	if r := w.must(); r.Tasks[0].State != board.Review {
		t.Fatalf("%+v", r)
	}
	want, _ := w.ops()
	s := w.fresh()
	for name, about := range map[string]func(id, task string) bool{
		"its task": func(_, task string) bool { return task == "a" },
		"its id":   func(id, _ string) bool { return id == want[0].Op().ID },
	} {
		got, err := s.stories(about)
		if err != nil || len(got) != 1 || len(want) != 1 || fmt.Sprintf("%+v", got[0]) != fmt.Sprintf("%+v", want[0]) {
			t.Errorf("%s: %v\n%+v\nwant\n%+v", name, err, got, want)
		}
	}
	if got, err := s.stories(func(_, task string) bool { return task == "b" }); len(got) != 0 || err != nil {
		t.Errorf("of a task without a change: %+v, %v", got, err)
	}
	if s.read != 0 {
		t.Errorf("%d ledger files were summed again", s.read)
	}

	w.now = want[0].Op().Clocks.Phase.Add(time.Minute)
	w.o.Task = "b"
	w.answer = func(context.Context, session.Request) (session.Emission, error) { return says(term("tide")), nil }
	w.must()
	if after, _ := w.ops(); after[0].Op().Phase != pipeline.Expired {
		t.Errorf("after its time the op is in %s", after[0].Op().Phase)
	}
}

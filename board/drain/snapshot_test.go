package drain

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/pipeline"
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
	s, err := readSnapshot(w.repo, tip, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// What the ledger comes to is kept: another drain believes what one has read, and a
// ledger that is torn stops it.
func TestTheStateIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, "a", "b", "c")
	w.o.MaxTasks = 1
	w.must()
	names := w.repo.CachedNames("state-")
	if kept := w.repo.Cached(strings.Join(names, "")); !strings.Contains(string(kept), `"2026-03"`) {
		t.Errorf("kept is %q", kept)
	}
	w.commit(repo.Changes{"knowledge/ledger/2026-03/run-01KJPWD6M0E8497ANGJ5R0NA01.jsonl": []byte("{\n")}, "a ledger that is torn")
	if _, err := w.drain(context.Background()); code(err) != "ledger" {
		t.Errorf("with a ledger that is torn: %v", err)
	}
}

// A document that is tagged so adds a type of journal entry, unless it no longer holds.
func TestEntryTypesOfTheBoard(t *testing.T) {
	t.Parallel()
	const page = "---\ntype: term\nid: request\ntags: [encoding-type]\n%s---\n# Request\n\n## Type Identity\n\n| Field | Value |\n|---|---|\n| Letter | P |\n| Name | Request |\n\n" +
		"## Field Schema\n\n| Field | Recommended | Description |\n|---|---|---|\n| type | yes | Always `P` |\n| title | yes | Short |\n| body | yes | What is asked |\n\n" +
		"## Quality Criteria\n\n| Criterion | Check | Gap message if missing |\n|---|---|---|\n| Substance | Body is \u226510 words | \"Say more\" |\n"
	for status, want := range map[string]bool{"": true, "status: draft\n": true, "status: deprecated\n": false, "status: superseded\n": false} {
		w := newWorld(t, paid, "a")
		w.commit(repo.Changes{"knowledge/terms/request.md": fmt.Appendf(nil, page, status)}, "a type of entry")
		if _, got := w.fresh().entryTypes().Find("P"); got != want {
			t.Errorf("%q: known is %v, want %v", status, got, want)
		}
	}
}

// A change that waits for too long is expired also where another drain kept what
// the ledger comes to, and what is read of it is the whole story.
func TestAnotherDrainExpires(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, forDocs, "b")
	w.answer = func(context.Context, session.Request) (session.Emission, error) { return delivers(1, "# A\n"), nil }
	w.o.MaxTasks, w.o.Task = 1, "a"
	if r := w.must(); r.Tasks[0].State != board.Review {
		t.Fatalf("%+v", r)
	}
	want, _ := w.ops()
	s := w.fresh()
	proposal := want[0].Op().Moved[0].New
	got, ok, err := s.state.Waiting("a", proposal)
	if err != nil || !ok || len(want) != 1 || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want[0]) {
		t.Errorf("%v\n%+v\nwant\n%+v", err, got, want)
	}
	for _, of := range [][2]string{{"b", proposal}, {"a", "p2"}} {
		if _, ok, err := s.state.Waiting(of[0], of[1]); ok || err != nil {
			t.Errorf("%s with %s: %v, %v", of[0], of[1], ok, err)
		}
	}

	w.now = want[0].Op().Until.Add(time.Minute)
	w.o.Task = "b"
	w.answer = func(context.Context, session.Request) (session.Emission, error) { return says(term("tide")), nil }
	w.must()
	if after, _ := w.ops(); after[0].Op().Phase != pipeline.Expired {
		t.Errorf("after its time the op is in %s", after[0].Op().Phase)
	}
	if got := w.task("a"); !strings.Contains(got, "state: backlog") || !strings.Contains(got, want[0].Op().ID+" was not approved in time") {
		t.Error(got)
	}
}

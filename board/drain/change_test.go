package drain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/session"
)

// delivers is a session that costs so much and delivers a file of docs.
func delivers(cost int64, text string) session.Emission {
	e := says()
	e.Usage = session.Usage{Turns: 1, Cost: cost, CostKnown: true}
	e.Change = &session.Change{Line: 1, Text: fmt.Appendf(nil, `{"schema_version": "2b.1", "candidates": [{"candidate_id": "c", "rationale": "r", "file_path": "docs/a.md", "full_content": %q}]}`, text)}
	return e
}

// ops are the ops that the board's ledgers tell of, and all their records.
func (w *world) ops() ([]pipeline.Story, []event.Record) {
	w.t.Helper()
	tip, err := w.repo.Ref("refs/heads/main")
	if err != nil {
		w.t.Fatal(err)
	}
	files, err := w.repo.Tree(tip)
	if err != nil {
		w.t.Fatal(err)
	}
	bundle, err := fs.Sub(files, "knowledge")
	if err != nil {
		w.t.Fatal(err)
	}
	var all []event.Record
	runs, err := state.Of(bundle, nil).RunFiles("", nil)
	for f := range runs {
		err = errors.Join(err, f.Err)
		all = append(all, f.Records...)
	}
	stories, wrong := pipeline.ReadOps(all)
	if err != nil || len(wrong) > 0 {
		w.t.Fatal(err, wrong)
	}
	return stories, all
}

// branches are the review branches there are.
func (w *world) branches() int {
	w.t.Helper()
	refs, err := w.repo.Refs("refs/heads/odd/review/")
	if err != nil {
		w.t.Fatal(err)
	}
	return len(refs)
}

const forDocs = "a paths: [docs/**]"

// Whatever becomes of a change, its op has one ending, or waits with its branch.
func TestOneOpOneEnding(t *testing.T) {
	t.Parallel()
	broken := "# A\n\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"
	for _, c := range []struct {
		name   string
		answer func(*world, context.CancelFunc) session.Emission
		end    pipeline.Phase
		reason pipeline.Reason
		state  board.State // of the task's outcome, "" for lost
		says   string
	}{
		{"it waits", func(*world, context.CancelFunc) session.Emission { return delivers(1, "# A\n") }, pipeline.Waiting, "", board.Review, ""},
		{"its task is changed under it", func(w *world, _ context.CancelFunc) session.Emission {
			w.commit(repo.Changes{"knowledge/tasks/a.md": []byte(strings.Replace(w.task("a"), "title: a", "title: b", 1))}, "a person's")
			return delivers(1, "# A\n")
		}, pipeline.Cancelled, pipeline.Abandoned, "", "result discarded"},
		{"the file is changed under it", func(w *world, _ context.CancelFunc) session.Emission {
			w.commit(repo.Changes{"docs/a.md": []byte("# Mine\n")}, "a person's")
			return delivers(1, "# A\n")
		}, pipeline.Cancelled, pipeline.StaleBase, board.Blocked, "docs/a.md changed"},
		{"a person stops it", func(_ *world, stop context.CancelFunc) session.Emission {
			stop()
			return delivers(1, "# A\n")
		}, pipeline.Cancelled, pipeline.Interrupted, board.Blocked, "interrupted"},
		{"its session gives up", func(*world, context.CancelFunc) session.Emission { return session.Fail("stuck", "no maps") }, pipeline.FailedPermanent, pipeline.StepFailed, board.Blocked, "stuck"},
		{"its session takes too long", func(*world, context.CancelFunc) session.Emission { return session.Fail(session.Timeout, "") }, pipeline.FailedPermanent, pipeline.SessionTimeout, board.Blocked, "session_timeout: the session had 20m0s"},
		{"its claim ends", func(w *world, _ context.CancelFunc) session.Emission {
			w.now = w.now.Add(time.Hour)
			return session.Fail(session.Timeout, "")
		}, pipeline.Expired, pipeline.LeaseExpired, board.Blocked, "lease_expired: the claim on the task ended at 2026"},
		{"its transport breaks", func(*world, context.CancelFunc) session.Emission { return session.Fail(session.Transport, "HTTP 500") }, pipeline.FailedPermanent, pipeline.TransportFailed, board.Blocked, "HTTP 500"},
		{"an atom of it is refused", func(*world, context.CancelFunc) session.Emission {
			e := delivers(1, "# A\n")
			e.Atoms = []session.Atom{term("x"), term("x")}
			return e
		}, pipeline.Blocked, pipeline.RuleRefused, board.Blocked, "emission refused"},
		{"it never comes right", func(*world, context.CancelFunc) session.Emission { return delivers(1, broken) }, pipeline.FailedPermanent, pipeline.RepairStopped, board.Blocked, "conflict_marker"},
		{"it proposes an emergency", func(*world, context.CancelFunc) session.Emission {
			e := delivers(1, "# A\n")
			e.Proposals = []session.Proposal{{Severity: "emergency", Gate: "emergency", Reason: "the sea"}}
			return e
		}, pipeline.Cancelled, pipeline.Abandoned, board.Blocked, "emergency: the sea"},
		{"the money is gone", func(*world, context.CancelFunc) session.Emission { return delivers(100_000, broken) }, pipeline.FailedPermanent, pipeline.CostCapExceeded, board.Blocked, "no money is left"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, paid, forDocs)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			w.answer = func(context.Context, session.Request) (session.Emission, error) { return c.answer(w, stop), nil }
			w.o.Run = "run-01KJ0000000000000000000001"
			r, _ := Run(ctx, w.repo, w.o) // an emergency and a stop are errors of the drain
			if len(r.Tasks) != 1 || r.Tasks[0].State != c.state || !strings.Contains(r.Tasks[0].Reason, c.says) {
				t.Errorf("%+v, want %s: %s", r.Tasks, c.state, c.says)
			}
			stories, _ := w.ops()
			if len(stories) != 1 || stories[0].Op().Phase != c.end || stories[0].Op().Reason != c.reason {
				t.Errorf("%d ops, the first in %s for %s; want %s for %s", len(stories), stories[0].Op().Phase, stories[0].Op().Reason, c.end, c.reason)
			}
			if want := map[bool]int{true: 1}[c.end == pipeline.Waiting]; w.branches() != want {
				t.Errorf("%d review branches, want %d", w.branches(), want)
			}
		})
	}
}

// Every session of an op is a record, and all of them fit the one reservation.
func TestSessionsShareOneReservation(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, forDocs)
	n := 0
	w.answer = func(_ context.Context, r session.Request) (session.Emission, error) {
		if n++; n == 1 {
			e := delivers(60_000, "")
			e.Change.Text = []byte(`{"schema_version": "2b.1"}`)
			return e, nil
		}
		if r.MaxCost != 40_000 || r.Try != 2 || !strings.Contains(string(r.Brief), "candidate_count") {
			t.Errorf("the second session may cost %d, is try %d", r.MaxCost, r.Try)
		}
		return delivers(30_000, "# A\n"), nil
	}
	if o := w.must().Tasks[0]; o.State != board.Review || o.Cost != 90_000 {
		t.Errorf("%+v", o)
	}
	var costs []int64
	stories, all := w.ops()
	for _, r := range all {
		if r.Kind == event.Session {
			costs = append(costs, r.Cost)
		}
	}
	if fmt.Sprint(costs) != "[60000 30000]" || stories[0].Op().Spent != 90_000 {
		t.Errorf("sessions cost %v, the op %d", costs, stories[0].Op().Spent)
	}
}

// A session that does not begin is no record, and takes nothing of the one before it along.
func TestASessionThatDoesNotBeginIsNotRecorded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		toml  string
		lost  int // which session finds no agent
		costs string
		total budget.MicroUSD
	}{
		"the second of the work": {"", 2, "[1000 20000]", 21_000},
		"that of the plan":       {"[pipeline]\nplan = \"always\"\n", 1, "[1000 20000 20000]", 41_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLegs(t, c.toml, forDocs)
			l.does["first"] = breaks(session.ServerError, 1_000)
			l.does["second"] = func(session.Request) session.Emission {
				e := delivers(20_000, "")
				e.Change.Text = []byte(`{"schema_version": "2b.1"}`)
				return e
			}
			begun, pick := 0, l.o.Substrate
			l.o.Substrate = func(cfg config.Config, files fs.FS) (session.Substrate, error) {
				lost := begun == c.lost-1
				if lost || cfg.Session.Substrate == "third" {
					begun++
				}
				if lost {
					return nil, errors.New("it is gone")
				}
				return pick(cfg, files)
			}
			o := l.must().Tasks[0]
			var costs []int64
			_, all := l.ops()
			for _, r := range all {
				if r.Kind == event.Session {
					costs = append(costs, r.Cost)
				}
			}
			if fmt.Sprint(costs) != c.costs || o.State != board.Blocked || o.Cost != c.total {
				t.Errorf("sessions cost %v, want %s: %+v", costs, c.costs, o)
			}
		})
	}
}

// A candidate that cannot be used does not take the place of the one that failed its checks: that
// is the one to repair.
func TestRepairIsOfTheCandidateThatFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid+"[pipeline]\nvalidate = [[\"grep\", \"-q\", \"good\", \"docs/a.md\"]]\n", forDocs)
	w.commit(repo.Changes{"docs/a.md": []byte("# A\n")}, "the docs")
	n, said := 0, ""
	w.o.Progress = func(s string) { said += s + "\n" }
	w.answer = func(_ context.Context, r session.Request) (session.Emission, error) {
		if n++; n == 1 {
			e := delivers(1, "")
			e.Change.Text = []byte(`{"schema_version": "2b.1", "candidates": [
{"candidate_id": "bad", "rationale": "r", "file_path": "docs/a.md", "full_content": "bad\n"},
{"candidate_id": "misplaced", "rationale": "r", "file_path": "docs/a.md/b.md", "full_content": "good\n"}]}`)
			return e, nil
		}
		if b := string(r.Brief); !strings.Contains(b, "\n- docs/a.md\n") || strings.Contains(b, "docs/a.md/b.md") {
			t.Errorf("the repair is asked for other files:\n%s", b)
		}
		return delivers(1, "good\n"), nil
	}
	if o := w.must().Tasks[0]; n != 2 || o.State != board.Review {
		t.Errorf("%d sessions: %+v", n, o)
	}
	// As it came, once more where the repair looks for a flake, and as it was mended.
	if got := strings.Count(said, ": checking: "); got != 3 {
		t.Errorf("%d checks:\n%s", got, said)
	}
}

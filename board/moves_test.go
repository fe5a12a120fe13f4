package board

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
)

var nine = time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)

// The whole square: every state to every state by every mover, against the
// table of the package comment written down once more.
func TestCanWalksTheWholeSquare(t *testing.T) {
	t.Parallel()
	want := map[Move]bool{
		{Backlog, Ready, Person}: true, {Blocked, Ready, Person}: true, {Blocked, Backlog, Person}: true,
		{InProgress, Blocked, Person}: true,
		{Review, Done, Person}:        true, {Review, Backlog, Person}: true, {Review, Ready, Person}: true,
		{Ready, InProgress, Claimer}:  true,
		{InProgress, Review, Session}: true, {InProgress, Blocked, Session}: true,
		{InProgress, Ready, Sweeper}: true, {InProgress, Blocked, Sweeper}: true,
		{Review, Backlog, Expirer}: true,
	}
	for _, by := range []Mover{Person, Claimer, Session, Sweeper, Expirer} {
		for _, from := range States() {
			for _, to := range append(States(), "", "archived") {
				err := Can(by, from, to)
				if got := err == nil; got != want[Move{from, to, by}] {
					t.Errorf("%s moves %s → %s: %v", by, from, to, err)
				}
				var refused *MoveError
				if err != nil && !errors.As(err, &refused) {
					t.Errorf("%T is not a *MoveError", err)
				}
				if by == Person && (CanHuman(from, to) == nil) != (err == nil) {
					t.Errorf("CanHuman(%s, %s) differs from Can", from, to)
				}
				if to == Done && by != Person && err == nil {
					t.Errorf("%s reached done", by)
				}
			}
		}
	}
	if len(moves) != len(want) {
		t.Errorf("%d moves, want %d", len(moves), len(want))
	}
}

func TestMoveErrorNamesTheWayOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want string
	}{
		{CanHuman(Ready, Done), "the task is ready, and this needs a task that is review"},
		{CanHuman(InProgress, Ready), "the task is in_progress, and this needs a task that is backlog or blocked or review"},
		{CanHuman(Done, Ready), "the task is done, and done tasks stay as they are; file a new one with odd task add"},
		{CanHuman(Ready, InProgress), "the task is ready, and a person cannot make it in_progress"},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("got %v, want %s", c.err, c.want)
		}
	}
}

// No value an agent can hold says done, or anything but review and blocked.
func TestVerdictCannotSayDone(t *testing.T) {
	t.Parallel()
	for v := range 256 {
		switch got := Verdict(v).targetState(); {
		case v == int(ToReview) && got == Review, v == int(ToBlocked) && got == Blocked:
		case got != "":
			t.Errorf("verdict %d says %s", v, got)
		}
	}
}

const tidy = `---
type: task
id: tidy
title: "Tidy up"   # by hand
state: ready # soon
priority: p1
role: editor
x-note: 'kept'
---

# Tidy up
`

// task parses a task file.
func task(t testing.TB, file string) Task {
	t.Helper()
	a, err := okf.Parse("tasks/tidy.md", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(&a)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// untouched checks that every line of before whose key is not in keys is in after.
func untouched(t *testing.T, before, after string, keys ...string) {
	t.Helper()
	for line := range strings.Lines(before) {
		key, _, _ := strings.Cut(line, ":")
		changed := false
		for _, k := range keys {
			changed = changed || key == k
		}
		if !changed && !strings.Contains(after, line) {
			t.Errorf("lost %q in\n%s", line, after)
		}
	}
}

func TestClaimFinishReview(t *testing.T) {
	t.Parallel()
	b, err := Claim(task(t, tidy), "run-1", nine.Add(30*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	untouched(t, tidy, string(b), "state")
	claimed := task(t, string(b))
	if claimed.State != InProgress || claimed.ClaimedBy != "run-1" || claimed.Attempts != 1 || !claimed.LeaseExpires.Equal(nine.Add(30*time.Minute)) {
		t.Errorf("claimed: %+v", claimed)
	}
	if b, err = Finish(claimed, "run-1", ToReview, Result{Branch: "odd/review/tidy.1", Commit: "abc"}); err != nil {
		t.Fatal(err)
	}
	untouched(t, tidy, string(b), "state")
	got := task(t, string(b))
	if d := cmp.Diff(Result{Run: "run-1", Branch: "odd/review/tidy.1", Commit: "abc"}, got.Result); d != "" || got.State != Review || got.ClaimedBy != "" || !got.LeaseExpires.IsZero() || got.Attempts != 1 {
		t.Errorf("finished: %+v %s", got, d)
	}
}

func TestFinishBlockedAndAgain(t *testing.T) {
	t.Parallel()
	claim := func(file []byte) Task {
		b, err := Claim(task(t, string(file)), "run-1", nine)
		if err != nil {
			t.Fatal(err)
		}
		return task(t, string(b))
	}
	b, err := Finish(claim([]byte(tidy)), "run-1", ToBlocked, Result{Reason: "persona below floor:\n  - process: \u202eno \"owner\""})
	if err != nil {
		t.Fatal(err)
	}
	got := task(t, string(b))
	if want := "persona below floor:\n  - process: no \"owner\""; got.State != Blocked || got.BlockedReason != want || got.Result != (Result{}) {
		t.Errorf("blocked: %+v", got)
	}
	// The next attempt succeeds: the old reason goes, the attempts stay.
	again := bytes.Replace(b, []byte("state: blocked"), []byte("state: ready"), 1)
	if b, err = Finish(claim(again), "run-1", ToReview, Result{Branch: "b", Commit: "c"}); err != nil {
		t.Fatal(err)
	}
	if got = task(t, string(b)); got.BlockedReason != "" || got.Attempts != 2 || got.Result.Commit != "c" {
		t.Errorf("second attempt: %+v", got)
	}
}

// An emergency takes the task from its run: the run's verdict is lost.
func TestHalt(t *testing.T) {
	t.Parallel()
	b, err := Claim(task(t, tidy), "run-1", nine.Add(30*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if b, err = Halt(task(t, string(b)), "emergency G-0004: the wrong glossary"); err != nil {
		t.Fatal(err)
	}
	untouched(t, tidy, string(b), "state")
	halted := task(t, string(b))
	if halted.State != Blocked || halted.ClaimedBy != "" || !halted.LeaseExpires.IsZero() || halted.BlockedReason != "emergency G-0004: the wrong glossary" {
		t.Errorf("halted: %+v", halted)
	}
	if _, err := Finish(halted, "run-1", ToReview, Result{}); err == nil {
		t.Error("the run finished a task that was taken from it")
	}
}

func TestFinishAlwaysGivesAReason(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{"": "no reason given", " \u200b ": "no reason given", strings.Repeat("é", 5000): strings.Repeat("é", 1000) + "…"} {
		claimed := task(t, strings.Replace(tidy, "state: ready # soon", "state: in_progress\nclaimed_by: run-1\nlease_expires: 2026-07-01T09:00:00Z", 1))
		b, err := Finish(claimed, "run-1", ToBlocked, Result{Reason: reason})
		if err != nil {
			t.Fatal(err)
		}
		if got := task(t, string(b)).BlockedReason; got != want {
			t.Errorf("reason %.20q became %.40q (%d bytes)", reason, got, len(got))
		}
	}
}

func TestMovesRefuse(t *testing.T) {
	t.Parallel()
	in := func(s State) Task {
		return Task{Row: Row{ID: "tidy", State: s, ClaimedBy: "run-1", LeaseExpires: nine}, Attempts: 1}
	}
	claim := func(t Task) error { _, err := Claim(t, "run-1", nine); return err }
	finish := func(t Task, run string, v Verdict) error { _, err := Finish(t, run, v, Result{}); return err }
	sweep := func(t Task, now time.Time) error { _, _, err := Sweep(t, now, 3); return err }
	manual := in(InProgress)
	manual.LeaseExpires = time.Time{}
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"claim a task in backlog", claim(in(Backlog)), "tidy: the task is backlog, and this needs a task that is ready"},
		{"claim a claimed task", claim(in(InProgress)), "tidy: the task is in_progress, and this needs a task that is ready"},
		{"claim a done task", claim(in(Done)), "tidy: the task is done"},
		{"finish a ready task", finish(in(Ready), "run-1", ToReview), "tidy: the task is ready, and this needs a task that is in_progress"},
		{"finish another run's task", finish(in(InProgress), "run-2", ToReview), `tidy: the task now belongs to "run-1", not to "run-2"`},
		{"finish without a verdict", finish(in(InProgress), "run-1", 0), "a session cannot make it"},
		{"finish with an invented verdict", finish(in(InProgress), "run-1", 3), "a session cannot make it"},
		{"sweep a live lease", sweep(in(InProgress), nine.Add(-time.Second)), "tidy: its claim holds until 2026-07-01T09:00:00Z"},
		{"sweep a person's own work", sweep(manual, nine), "it is in_progress without a claim"},
		{"sweep a task in review", sweep(in(Review), nine), "the task is review, and this needs a task that is in_progress"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, c.err, c.want)
		}
	}
}

func TestSweep(t *testing.T) {
	t.Parallel()
	file := strings.Replace(tidy, "state: ready # soon", "state: in_progress\nclaimed_by: run-0\nlease_expires: 2026-07-01T09:00:00Z\nattempts: 2", 1)
	for max, want := range map[int]State{3: Ready, 2: Blocked, 1: Blocked} {
		b, to, err := Sweep(task(t, file), nine, max) // now = expiry is expired
		if err != nil || to != want {
			t.Fatalf("max %d: %s, %v, want %s", max, to, err, want)
		}
		got := task(t, string(b))
		if got.State != want || got.ClaimedBy != "" || !got.LeaseExpires.IsZero() || got.Attempts != 2 {
			t.Errorf("max %d: %+v", max, got)
		}
		if want == Blocked && !strings.Contains(got.BlockedReason, "run-0 ended without a result; attempt 2") {
			t.Errorf("reason %q", got.BlockedReason)
		}
		untouched(t, tidy, string(b), "state")
	}
}

// The kind of a task says which role works it, and the keys that name one win.
func TestContracted(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string][2]contract.Role{ // without and with a handoff
		"research": {contract.Explorer, contract.Explorer}, "question": {contract.Explorer, contract.Explorer},
		"option": {contract.General, contract.Planner}, "audit": {contract.Validator, contract.Validator}, "measure": {contract.Validator, contract.Validator},
		"fix": {contract.General, contract.Resolver}, "implement": {contract.General, contract.Builder}, "extract": {contract.General, contract.Builder},
	} {
		task := Task{Row: Row{Kind: kind}}
		if got := task.Contracted(nil); got != want[0] {
			t.Errorf("%s: %s, want %s", kind, got, want[0])
		}
		task.Handoffs = []string{"h"}
		if got := task.Contracted(nil); got != want[1] {
			t.Errorf("%s with a handoff: %s, want %s", kind, got, want[1])
		}
		if got := task.Contracted(map[string]contract.Role{kind: contract.Observer}); got != contract.Observer {
			t.Errorf("%s: odd.toml does not win: %s", kind, got)
		}
		task.ContractRole = contract.General
		if got := task.Contracted(map[string]contract.Role{kind: contract.Observer}); got != contract.General {
			t.Errorf("%s: the task does not win: %s", kind, got)
		}
	}
}

func TestExpireGoesBackWithItsReason(t *testing.T) {
	t.Parallel()
	src := "---\ntype: task\ntitle: T # keep\nstate: review\nresult: {run: run-1, branch: odd/review/t.1, commit: abc}\n---\n"
	a, err := okf.Parse("tasks/t.md", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	task, err := Parse(&a)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Expire(task, "nobody decided")
	want := "---\ntype: task\ntitle: T # keep\nstate: backlog\nblocked_reason: nobody decided\n---\n"
	if err != nil || string(b) != want {
		t.Errorf("%v\n%s", err, cmp.Diff(want, string(b)))
	}
	task.State = Ready
	if _, err := Expire(task, "x"); err == nil {
		t.Error("a ready task expired")
	}
}

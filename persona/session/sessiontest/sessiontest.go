// Package sessiontest tests what every substrate must do, whatever it talks to:
//
//   - stop at the turn limit, and call Request.Turn before each turn;
//   - end at once when time is up or the work is cancelled;
//   - go on in the conversation that it named, if it is asked to try again;
//   - name the failure if it cannot read an answer;
//   - leave a cost that nobody reported unknown;
//   - return the outcome that the agent declared.
//
// A substrate passes it with a Maker of its own test:
//
//	func TestSubstrate(t *testing.T) { sessiontest.Table(t, maker) }
package sessiontest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/persona/session"
)

// Script is what the agent behind a substrate does in a case.
type Script struct {
	Says  string // the last thing it says: a text emission as package session reads it, without odd.usage.1
	Hangs bool   // it never answers
	Cost  int64  // micro-USD that the session tells it cost; negative: nobody tells
}

// Maker makes a substrate whose agent does what the script says: a recording, a
// program, a server. It may skip a case that the substrate cannot have.
type Maker func(t *testing.T, s Script) session.Substrate

// finishEmission is an emission that declares an outcome, and more of the object.
func finishEmission(outcome, more string) string {
	return "Done.\n\n```json\n{\"schema\": \"odd.finish.1\", \"outcome\": \"" + outcome + "\"" + more + "}\n```\n"
}

// patience is how long a case lets an agent hang before it ends it.
const patience = 50 * time.Millisecond

// outcomeCases are the cases that differ in what is said and what it comes to.
func outcomeCases() []struct {
	name, says, failure string
	outcome             session.Outcome
} {
	return []struct {
		name, says, failure string
		outcome             session.Outcome
	}{
		{"completed", finishEmission("completed", ""), "", session.Completed},
		{"refused", finishEmission("refused", ""), "", session.Refused},
		{"failed by its own word", finishEmission("failed", `, "failure": "no tide"`), "no tide", session.Failed},
		{"insufficient", finishEmission("handoff_insufficient", `, "missing": ["the hour"]`), "", session.HandoffInsufficient},
		{"silent", "I think I am done.\n", session.Silent, session.Failed},
		{"malformed", "```json\n{\"schema\": \"odd.finish.1\"\n```\n", session.Malformed, session.Failed},
		{"two outcomes", finishEmission("completed", "") + finishEmission("refused", ""), session.Malformed, session.Failed},
	}
}

// Table runs every case, each with a substrate of its own.
func Table(t *testing.T, of Maker) {
	t.Helper()
	for _, c := range outcomeCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := run(t, t.Context(), of(t, Script{Says: c.says}), session.Request{})
			if e.Outcome != c.outcome || e.Failure != c.failure || e.Usage.Turns < 1 {
				t.Errorf("%s %q after %d turns (%s); want %s %q", e.Outcome, e.Failure, e.Usage.Turns, e.Detail, c.outcome, c.failure)
			}
			if (e.Outcome == session.HandoffInsufficient) != (len(e.Missing) > 0) {
				t.Errorf("missing %q", e.Missing)
			}
		})
	}
	t.Run("cost", func(t *testing.T) { t.Parallel(); checkCosts(t, of) })
	t.Run("turns", func(t *testing.T) { t.Parallel(); checkTurns(t, of) })
	t.Run("ends", func(t *testing.T) { t.Parallel(); checkEnds(t, of) })
	t.Run("resume", func(t *testing.T) { t.Parallel(); checkResume(t, of) })
}

// run runs a session as odd does.
func run(t *testing.T, ctx context.Context, s session.Substrate, r session.Request) session.Emission {
	t.Helper()
	r.Run, r.Task, r.Brief = "run-1", "tasks/tide", []byte("# Brief\n")
	e, err := session.Run(ctx, s, r)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func checkCosts(t *testing.T, of Maker) {
	e := run(t, t.Context(), of(t, Script{Says: finishEmission("completed", ""), Cost: 12_345}), session.Request{})
	if !e.Usage.CostKnown || e.Usage.Cost != 12_345 {
		t.Errorf("told 12345, got %+v", e.Usage)
	}
	e = run(t, t.Context(), of(t, Script{Says: finishEmission("completed", ""), Cost: -1}), session.Request{})
	if e.Usage.CostKnown {
		t.Errorf("nobody told it, got %+v", e.Usage)
	}
}

// checkTurns holds a substrate to the leave it asks for.
func checkTurns(t *testing.T, of Maker) {
	asked := 0
	e := run(t, t.Context(), of(t, Script{Says: finishEmission("completed", "")}), session.Request{Turn: func(u session.Usage) error {
		if asked == 0 && (u.Turns != 0 || u.Cost != 0) {
			t.Errorf("before the first turn it cost %+v", u)
		}
		asked++
		return nil
	}})
	if asked != e.Usage.Turns || asked == 0 {
		t.Errorf("asked %d times for %d turns", asked, e.Usage.Turns)
	}
	e = run(t, t.Context(), of(t, Script{Says: finishEmission("completed", "")}), session.Request{Turn: func(session.Usage) error { return errors.New("the board was paused") }})
	if e.Failure != session.TurnRefused || !strings.Contains(e.Detail, "paused") || e.Outcome != session.Failed {
		t.Errorf("%s %q: %s", e.Outcome, e.Failure, e.Detail)
	}
	if e.Usage.Turns > 0 {
		t.Errorf("%d turns were taken that nobody allowed", e.Usage.Turns)
	}
}

// checkResume takes a session one try further: in the conversation it named, where it
// has any, and from its brief alone where it has none. What a conversation cost
// before is not told again.
func checkResume(t *testing.T, of Maker) {
	s := of(t, Script{Says: finishEmission("completed", ""), Cost: 12_345})
	first := run(t, t.Context(), s, session.Request{Try: 1})
	again := run(t, t.Context(), s, session.Request{Try: 2, Thread: first.Thread})
	if again.Outcome != session.Completed || again.Thread != first.Thread {
		t.Errorf("%s %q (%s) in %q; want completed in %q", again.Outcome, again.Failure, again.Detail, again.Thread, first.Thread)
	}
	if !again.Usage.CostKnown || again.Usage.Cost != 12_345 || again.Usage.Turns != first.Usage.Turns {
		t.Errorf("cost %+v, and %+v before", again.Usage, first.Usage)
	}
	if first.Thread != "" {
		return
	}
	if e := run(t, t.Context(), s, session.Request{Try: 2, Thread: "another's"}); e.Outcome != session.Completed {
		t.Errorf("with a thread of another substrate: %s %q: %s", e.Outcome, e.Failure, e.Detail)
	}
}

// checkEnds holds a substrate to the end of its time, and to being called off.
func checkEnds(t *testing.T, of Maker) {
	e := run(t, t.Context(), of(t, Script{Hangs: true}), session.Request{Timeout: patience})
	if e.Failure != session.Timeout || e.Outcome != session.Failed {
		t.Errorf("out of time: %s %q: %s", e.Outcome, e.Failure, e.Detail)
	}
	over, done := context.WithTimeout(t.Context(), patience)
	defer done()
	ctx, off := context.WithCancel(t.Context())
	defer off()
	context.AfterFunc(over, off)
	e = run(t, ctx, of(t, Script{Hangs: true}), session.Request{})
	if e.Failure != session.Cancelled || e.Usage.CostKnown && e.Usage.Cost > 0 {
		t.Errorf("called off: %s %q: %+v", e.Outcome, e.Failure, e.Usage)
	}
}

package board

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/okf"
)

// Mover is who may make a move on the board.
type Mover string

// The movers.
const (
	Person  Mover = "person"  // through board/review or task ready, at a terminal
	Claimer Mover = "claim"   // drain, taking a ready task
	Session Mover = "session" // drain, for the run whose claim it is
	Sweeper Mover = "sweep"   // drain, once a claim's lease has expired
	Expirer Mover = "expiry"  // drain, once nobody decided about a change in time
)

// Move is one step that a task may take.
type Move struct {
	From, To State
	By       Mover
}

// moves is every step there is.
var moves = []Move{
	{Backlog, Ready, Person},
	{Blocked, Ready, Person},
	{Blocked, Backlog, Person},
	{InProgress, Blocked, Person}, // an emergency gate
	{Ready, InProgress, Claimer},
	{InProgress, Review, Session},
	{InProgress, Blocked, Session},
	{InProgress, Ready, Sweeper},
	{InProgress, Blocked, Sweeper},
	{Review, Done, Person},    // approve
	{Review, Backlog, Person}, // reject
	{Review, Ready, Person},   // reject --retry
	{Review, Backlog, Expirer},
}

// MoveError is a step that the board does not allow.
type MoveError struct{ Move }

// Error says where the task is and where it would have to be:
// "the task is ready, and this needs a task that is review".
func (e *MoveError) Error() string {
	if e.From == Done {
		return "the task is done, and done tasks stay as they are; file a new one with odd task add"
	}
	var from []string
	for _, m := range moves {
		if m.To == e.To && m.By == e.By {
			from = append(from, string(m.From))
		}
	}
	if len(from) == 0 {
		return fmt.Sprintf("the task is %s, and a %s cannot make it %s", e.From, e.By, e.To)
	}
	return fmt.Sprintf("the task is %s, and this needs a task that is %s", e.From, strings.Join(from, " or "))
}

// Held says which run works on t, and until when.
func (t *Row) Held() string {
	if t.ClaimedBy == "" || t.LeaseExpires.IsZero() {
		return "the task is in progress"
	}
	return fmt.Sprintf("%s is working on it until %s at the latest", t.ClaimedBy, t.LeaseExpires.Format(time.RFC3339))
}

// NoProposal says why t, which is not in review, has nothing to review, and what to do.
func (t *Row) NoProposal() string {
	switch t.State {
	case Done:
		return fmt.Sprintf("already done, nothing waits for review; odd log %s shows what happened", t.ID)
	case Ready:
		return "there is no proposal yet; odd drain --task " + string(t.ID) + " has an agent make one"
	case InProgress:
		return "there is no proposal yet: " + t.Held() + "; odd status shows it"
	case Blocked:
		return fmt.Sprintf("there is no proposal: the task is blocked; odd task show %s says why, and odd task ready %[1]s makes it ready again", t.ID)
	}
	return fmt.Sprintf("there is no proposal yet: the task is in %s; run odd task ready %s, then odd drain", t.State, t.ID)
}

// Can reports whether by may move a task from one state to another: nil, or a *MoveError.
func Can(by Mover, from, to State) error {
	m := Move{from, to, by}
	if slices.Contains(moves, m) {
		return nil
	}
	return &MoveError{m}
}

// CanHuman is Can for a person. It answers only whether the move exists; board/review makes
// sure that a person makes it.
func CanHuman(from, to State) error { return Can(Person, from, to) }

// Claim returns the file of t as claimed by run: in_progress, with claimed_by, lease_expires
// and one more attempt. t must be ready.
func Claim(t Task, run string, expires time.Time) ([]byte, error) {
	if err := Can(Claimer, t.State, InProgress); err != nil {
		return nil, fmt.Errorf("%s: %w", t.ID, err)
	}
	return editTask(t,
		okf.Set{Key: "state", Value: string(InProgress)},
		okf.Set{Key: "claimed_by", Value: run},
		okf.Set{Key: "lease_expires", Value: expires.UTC().Format(time.RFC3339)},
		okf.Set{Key: "attempts", Value: t.Attempts + 1},
	)
}

// Finish returns the file of t, claimed by run, with its verdict. It removes claimed_by and
// lease_expires, and writes result or blocked_reason. It removes the other of the two, which
// is about an earlier attempt.
func Finish(t Task, run string, v Verdict, result Result) ([]byte, error) {
	to := v.targetState()
	if err := Can(Session, t.State, to); err != nil {
		return nil, fmt.Errorf("%s: %w", t.ID, err)
	}
	if t.ClaimedBy != run {
		return nil, fmt.Errorf("%s: the task now belongs to %q, not to %q; this result is discarded", t.ID, t.ClaimedBy, run)
	}
	sets := releaseEdits(to)
	if v == ToBlocked {
		return editTask(t, append(sets, blockEdit(result.Reason), okf.Set{Key: "result"})...)
	}
	made := map[string]any{"run": run, "branch": result.Branch, "commit": result.Commit}
	return editTask(t, append(sets, okf.Set{Key: "blocked_reason"}, okf.Set{Key: "result", Value: made})...)
}

// Sweep returns the file of t whose lease expired: ready again, or blocked after
// maxAttempts. It refuses a task whose lease has not expired, and one that no run holds.
func Sweep(t Task, now time.Time, maxAttempts int) ([]byte, State, error) {
	to := Ready
	if t.Attempts >= maxAttempts {
		to = Blocked
	}
	if err := Can(Sweeper, t.State, to); err != nil {
		return nil, "", fmt.Errorf("%s: %w", t.ID, err)
	}
	if t.LeaseExpires.IsZero() {
		return nil, "", fmt.Errorf("%s: it is in_progress without a claim, so a person set that; only a person moves it on", t.ID)
	}
	if !t.Expired(now) {
		return nil, "", fmt.Errorf("%s: its claim holds until %s", t.ID, t.LeaseExpires.Format(time.RFC3339))
	}
	sets := releaseEdits(to)
	if to == Blocked {
		sets = append(sets, blockEdit(fmt.Sprintf("%s ended without a result; attempt %d of %d", t.ClaimedBy, t.Attempts, maxAttempts)))
	}
	b, err := editTask(t, sets...)
	return b, to, err
}

// Halt returns the file of t, which a run holds, after an emergency: blocked, with the
// reason. The run's own verdict is lost then. Only a person's act calls it (board/review).
func Halt(t Task, reason string) ([]byte, error) {
	if err := Can(Person, t.State, Blocked); err != nil {
		return nil, fmt.Errorf("%s: %w", t.ID, err)
	}
	return editTask(t, append(releaseEdits(Blocked), blockEdit(reason), okf.Set{Key: "result"})...)
}

// Expire returns the file of t after its review time ran out: in backlog, with the reason,
// so only a person makes it ready again.
func Expire(t Task, reason string) ([]byte, error) {
	if err := Can(Expirer, t.State, Backlog); err != nil {
		return nil, fmt.Errorf("%s: %w", t.ID, err)
	}
	return editTask(t, okf.Set{Key: "state", Value: string(Backlog)}, blockEdit(reason), okf.Set{Key: "result"})
}

func releaseEdits(to State) []okf.Set {
	return []okf.Set{{Key: "state", Value: string(to)}, {Key: "claimed_by"}, {Key: "lease_expires"}}
}

// reasonCap is how many bytes a reason may have, because it is in the frontmatter and in the
// next brief.
const reasonCap = 2000

// blockEdit returns the edit that writes blocked_reason. The text may come from an agent, so
// invisible characters are removed.
func blockEdit(reason string) okf.Set {
	reason = strings.TrimSpace(okf.Visible(okf.Legible(reason)))
	if reason == "" {
		reason = "no reason given"
	}
	return okf.Set{Key: "blocked_reason", Value: okf.Clip(reason, reasonCap)}
}

// editTask applies the edits to the file of t. It skips removals of keys that are not there.
func editTask(t Task, sets ...okf.Set) ([]byte, error) {
	sets = slices.DeleteFunc(sets, func(s okf.Set) bool {
		_, there := t.Atom.Field(s.Key)
		return s.Value == nil && !there
	})
	b, err := okf.Edit(t.Atom.Bytes(), sets...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Path, err)
	}
	return b, nil
}

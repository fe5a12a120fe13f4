package review

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/okf"
)

// Verify says which of a proposal's atoms an approval marks as verified.
type Verify struct {
	All    bool
	Except []okf.ID // with All: all but these, which the task records
	Only   []okf.ID // without All: these
}

// Marks reports whether v marks the atom of that id.
func (v Verify) Marks(id okf.ID) bool {
	return v.All && !slices.Contains(v.Except, id) || slices.Contains(v.Only, id)
}

// Files are repository paths with their bytes.
type Files map[string][]byte

// Approve returns the files of an approval by h at now: the task as done, and the atoms that
// v marks as verified. atoms are the proposal's atoms as merged, by repository path;
// taskFile is the task's path.
func Approve(t board.Task, taskFile string, atoms Files, v Verify, h Human, now time.Time) (Files, error) {
	if h == (Human{}) {
		return nil, refuse("not-a-person", "approve %s: no person confirmed it", t.ID)
	}
	b, err := markDone(t, h, now, v)
	if err != nil {
		return nil, err
	}
	out := Files{taskFile: b}
	root := strings.TrimSuffix(taskFile, t.Path) // an atom's default id is its path below the bundle
	for path, src := range atoms {
		a, err := okf.Parse(strings.TrimPrefix(path, root), src)
		if err != nil {
			return nil, err
		}
		if !v.Marks(a.ID) {
			continue
		}
		if out[path], err = okf.Verify(&a, newStamp(h, now)); err != nil {
			return nil, err
		}
	}
	return out, v.Known(t, taskFile, atoms)
}

// Known refuses an id in v that is no atom of the proposal. Callers ask it before they ask
// the person.
func (v Verify) Known(t board.Task, taskFile string, atoms Files) error {
	root := strings.TrimSuffix(taskFile, t.Path)
	var has []string
	for path, src := range atoms {
		a, err := okf.Parse(strings.TrimPrefix(path, root), src)
		if err != nil {
			return err
		}
		has = append(has, string(a.ID))
	}
	slices.Sort(has)
	for flag, ids := range map[string][]okf.ID{"--except": v.Except, "--verify-atom": v.Only} {
		for _, id := range ids {
			if !slices.Contains(has, string(id)) {
				return refuse("state", "approve %s: %s %s is not an atom of the proposal; its atoms are %s", t.ID, flag, id, cmp.Or(strings.Join(has, ", "), "none"))
			}
		}
	}
	return nil
}

// markDone returns the task's file with state done, the person's verified entry and the
// approval's tags.
func markDone(t board.Task, h Human, now time.Time, v Verify) ([]byte, error) {
	if err := board.CanHuman(t.State, board.Done); err != nil {
		return nil, refuse("state", "approve %s: %v", t.ID, err)
	}
	sets := []okf.Set{
		{Key: "state", Value: string(board.Done)},
		{Key: "tags", Value: setApprovalTags(t.Atom.Tags, h, now)},
		{Key: "verified", Value: append(slices.Clone(t.Atom.Verified), newStamp(h, now))},
	}
	if len(v.Except) > 0 {
		ids := make([]string, len(v.Except))
		for i, id := range v.Except {
			ids[i] = string(id)
		}
		sets = append(sets, okf.Set{Key: "excepted", Value: ids})
	}
	return okf.Edit(t.Atom.Bytes(), sets...)
}

func setApprovalTags(have []string, h Human, now time.Time) []string {
	out := slices.DeleteFunc(slices.Clone(have), func(s string) bool {
		return strings.HasPrefix(s, "approved-by:") || strings.HasPrefix(s, "approved-on:")
	})
	return append(out, "approved-by:"+h.person.Email, "approved-on:"+now.UTC().Format(time.DateOnly))
}

func newStamp(h Human, now time.Time) okf.Stamp {
	return okf.Stamp{By: h.By(), At: now.UTC().Format(time.RFC3339)}
}

// Reject returns the task's file after a rejection: in backlog, or with retry in ready, with
// the reason added to its rejections.
func Reject(t board.Task, reason string, retry bool, h Human, now time.Time) ([]byte, error) {
	if h == (Human{}) {
		return nil, refuse("not-a-person", "reject %s: no person confirmed it", t.ID)
	}
	if err := Rejectable(t); err != nil {
		return nil, err
	}
	reason = okf.OneLine(okf.Legible(reason))
	if reason == "" {
		return nil, refuse("state", "reject %s: the reason is empty; run odd reject %[1]s --reason \"why\"", t.ID)
	}
	to := board.Backlog
	if retry {
		to = board.Ready
	}
	s := newStamp(h, now)
	all := make([]map[string]string, 0, len(t.Rejected)+1)
	for _, r := range append(slices.Clone(t.Rejected), board.Rejection{By: s.By, At: s.At, Reason: reason}) {
		all = append(all, map[string]string{"by": r.By, "at": r.At, "reason": r.Reason})
	}
	return okf.Edit(t.Atom.Bytes(), okf.Set{Key: "state", Value: string(to)}, okf.Set{Key: "rejected", Value: all}, okf.Set{Key: "result"})
}

// Endorse returns the task's file with h's endorsement of its proposal. The task stays in
// review until enough people have approved.
func Endorse(t board.Task, h Human, now time.Time) ([]byte, error) {
	if h == (Human{}) {
		return nil, refuse("not-a-person", "approve %s: no person confirmed it", t.ID)
	}
	if err := board.CanHuman(t.State, board.Done); err != nil {
		return nil, refuse("state", "approve %s: %v", t.ID, err)
	}
	s := newStamp(h, now)
	all := make([]map[string]string, 0, len(t.Endorsed)+1)
	for _, e := range append(slices.Clone(t.Endorsed), board.Endorsement{By: s.By, At: s.At, Proposal: t.Result.Commit}) {
		all = append(all, map[string]string{"by": e.By, "at": e.At, "proposal": e.Proposal})
	}
	return okf.Edit(t.Atom.Bytes(), okf.Set{Key: "endorsed", Value: all})
}

// Rejectable refuses a task that does not wait for a person.
func Rejectable(t board.Task) error {
	if t.State != board.Review {
		return refuse("state", "reject %s: %s", t.ID, t.NoProposal())
	}
	return board.CanHuman(t.State, board.Backlog)
}

// Ready returns the task's file in state ready, from backlog or blocked. It keeps
// blocked_reason until the next claim.
func Ready(t board.Task, h Human) ([]byte, error) {
	if h == (Human{}) {
		return nil, refuse("not-a-person", "task ready %s: no person confirmed it", t.ID)
	}
	if err := Readyable(t); err != nil {
		return nil, err
	}
	return okf.Edit(t.Atom.Bytes(), okf.Set{Key: "state", Value: string(board.Ready)})
}

// Readyable refuses a task that cannot be made ready.
func Readyable(t board.Task) error {
	if t.State == board.Review {
		return refuse("state", "task ready %s: its proposal waits for your review; odd reject %[1]s --retry --reason \"why\" puts it back to ready", t.ID)
	}
	switch err := board.CanHuman(t.State, board.Ready); {
	case err == nil:
		return nil
	case t.State == board.Ready:
		return refuse("state", "task ready %s: it is ready already; odd drain --task %[1]s works on it", t.ID)
	case t.State == board.InProgress:
		return refuse("state", "task ready %s: %s; if it was killed in another clone, odd drain frees the task after that time", t.ID, t.Held())
	default:
		return refuse("state", "task ready %s: %v", t.ID, err)
	}
}

// Halt returns the task's file after an emergency: taken from the run that holds it, and
// blocked for that reason.
func Halt(t board.Task, reason string, h Human) ([]byte, error) {
	if h == (Human{}) {
		return nil, refuse("not-a-person", "%s: no person confirmed the emergency", t.ID)
	}
	return board.Halt(t, reason)
}

// Synced returns the task's file as done because of an approval that the target branch
// already has. by and at are the approval's author and time, left is what it leaves out.
func Synced(t board.Task, approval, by string, at time.Time, left []board.Decline) ([]byte, error) {
	if approval == "" || !strings.HasPrefix(by, "human:") {
		return nil, fmt.Errorf("%s: there is no approval, so the task cannot be set to done", t.ID)
	}
	h := Human{Person{Email: strings.TrimPrefix(by, "human:")}}
	b, err := markDone(t, h, at, Verify{})
	if err != nil {
		return nil, err
	}
	return Decline(b, t, left, h, at)
}

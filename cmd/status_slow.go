package cmd

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/board/gate"
)

// slowStatus is where the slow loop stands, as odd status tells it.
type slowStatus struct {
	Lease     leaseJSON             `json:"lease"`
	Proposals map[gate.Severity]int `json:"open_proposals,omitempty"`
	Next      string                `json:"next,omitempty"` // the next human act
}

// slowStatus is the slow loop for the screen of odd status.
func (v *view) slowStatus(loop drain.SlowLoop, paused bool) slowStatus {
	s := slowStatus{Lease: v.lease(loop)}
	open := loop.Buffer.Open()
	for _, p := range open {
		if s.Proposals == nil {
			s.Proposals = map[gate.Severity]int{}
		}
		s.Proposals[p.Severity]++
	}
	s.Next = v.nextAct(s.Lease, loop, paused)
	return s
}

// nextAct is what a person does next, the first of: lift a pause, answer an
// emergency, mend the lease, commit to a draft, answer what is high, review,
// put work on the board. Drains are a machine's, so one that may run is no act.
func (v *view) nextAct(l leaseJSON, loop drain.SlowLoop, paused bool) string {
	return cmp.Or(nextOfLoop(l, loop, paused), v.nextOfBoard())
}

func nextOfLoop(l leaseJSON, loop drain.SlowLoop, paused bool) string {
	open := loop.Buffer.Open()
	switch {
	case paused:
		return "odd drain resume, when what it waits for is done"
	case loop.Facts.OpenEmergency != "":
		return "odd gate emergency --because " + loop.Facts.OpenEmergency + ", or odd gate proposals reject it"
	case l.Required && !l.Verdict.Valid:
		return l.Verdict.Way
	case l.Required && l.State == gate.Draft:
		return "odd gate commitment begins the work; until then only exploration is drained"
	case l.State == gate.Draft:
		return "odd gate commitment begins the work under " + l.ID
	case len(open) > 0 && (open[0].Severity == gate.High || l.Required):
		return fmt.Sprintf("odd gate proposals list; the gravest is %s: %s", open[0].ID, open[0].Reason)
	}
	return ""
}

func (v *view) nextOfBoard() string {
	waiting := map[board.State]int{}
	for _, t := range v.rows() {
		waiting[t.State]++
	}
	switch {
	case waiting[board.Review] > 0:
		return "odd review, then odd approve or odd reject"
	case waiting[board.Ready] == 0 && waiting[board.Blocked] > 0:
		return "odd task list --state blocked says why; odd task ready tries again"
	case waiting[board.Ready] == 0 && waiting[board.Backlog] > 0:
		return "odd task ready puts a task of the backlog on the board"
	}
	return ""
}

// lines are the slow loop's part of the one screen: with leases off and none
// drafted one quiet line.
func (s slowStatus) lines(line func(key, format string, args ...any)) {
	l := s.Lease
	switch {
	case !l.Required && l.State == gate.None && !l.unreadable:
		line("lease", "off; odd gate framing drafts one")
	default:
		line("stance", "%s", l.Stance)
		line("lease", "%s%s", l.name(), l.left())
	}
	var counts []string
	for _, sev := range gate.Severities() {
		if n := s.Proposals[sev]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, sev))
		}
	}
	if len(counts) > 0 {
		line("proposals", "%s", strings.Join(counts, ", ")+" open")
	}
	if s.Next != "" {
		line("next", "%s", s.Next)
	}
}

// left is what remains of a valid lease, or why it is none.
func (l leaseJSON) left() string {
	switch {
	case l.Verdict.Valid && l.Budget > 0:
		return fmt.Sprintf("; %s, %s, %s", howLong(l.Verdict.Remaining)+" left", count(l.Verdict.Tasks, "task"), l.money())
	case l.Verdict.Valid:
		return fmt.Sprintf("; %s, %s left", howLong(l.Verdict.Remaining), count(l.Verdict.Tasks, "task"))
	case l.Required && l.Verdict.Code != string(gate.None):
		return fmt.Sprintf("; not valid, %s: %s", l.Verdict.Code, l.Verdict.Text)
	}
	return ""
}

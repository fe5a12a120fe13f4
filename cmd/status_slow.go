package cmd

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/okf"
)

// slowStatus is where the slow loop stands, as odd status tells it.
type slowStatus struct {
	Lease     leaseJSON             `json:"lease"`
	Proposals map[gate.Severity]int `json:"open_proposals,omitempty"`
	Next      string                `json:"next,omitempty"` // the next human act
}

// slowStatus returns the slow loop as odd status prints it; ofBoard is what nextOfBoard returned.
func (v *view) slowStatus(loop drain.SlowLoop, paused bool, ofBoard string) slowStatus {
	s := slowStatus{Lease: v.readLease(loop)}
	if l := s.Lease; !l.Required && l.State == gate.None && !l.unreadable {
		s.Lease.Verdict = gate.Verdict{} // tasks run without a lease
	}
	open := loop.Buffer.Open()
	for _, p := range open {
		if s.Proposals == nil {
			s.Proposals = map[gate.Severity]int{}
		}
		s.Proposals[p.Severity]++
	}
	s.Next = cmp.Or(nextOfLoop(s.Lease, loop, paused), ofBoard)
	return s
}

// nextAct returns what a person does next, the first of: lift a pause, answer an
// emergency, mend the lease, commit to a draft, answer what is high, review,
// drain, put work on the board.
func (v *view) nextAct(l leaseJSON, loop drain.SlowLoop, paused bool) string {
	return cmp.Or(nextOfLoop(l, loop, paused), v.nextOfBoard())
}

func nextOfLoop(l leaseJSON, loop drain.SlowLoop, paused bool) string {
	open := loop.Buffer.Open()
	switch {
	case paused:
		return "odd drain resume lets tasks run again"
	case loop.Facts.OpenEmergency != "":
		return fmt.Sprintf("an emergency is reported: odd gate proposals reject %[1]s --reason \"WHY\" if it is none; else odd gate emergency --because %[1]s (odd help gate emergency shows what else it asks for)", loop.Facts.OpenEmergency)
	case l.Required && !l.Verdict.Valid:
		return l.Verdict.Way
	case l.Required && l.State == gate.Draft:
		return "odd gate commitment activates the lease; until then only research tasks run"
	case l.State == gate.Draft:
		return "odd gate commitment activates the lease " + l.ID
	case len(open) > 0 && (open[0].Severity == gate.High || l.Required):
		return fmt.Sprintf("odd gate proposals show %s: %s", open[0].ID, open[0].Reason)
	}
	return ""
}

// nextOfBoard returns the command for the first task that waits for a person, or for odd drain.
func (v *view) nextOfBoard() string {
	waits := map[board.State][]*board.Row{}
	for _, t := range v.taskRows() {
		waits[t.State] = append(waits[t.State], t)
	}
	first := func(s board.State) okf.ID { return board.Order(waits[s], board.IndexOf(v.taskRows()))[0].ID }
	switch {
	case len(waits[board.Review]) > 0:
		return fmt.Sprintf("odd review %[1]s shows the proposal; then odd approve %[1]s, or odd reject %[1]s --reason \"WHY\"", first(board.Review))
	case len(waits[board.Ready]) > 0:
		return "odd drain works on the ready tasks"
	case len(waits[board.Blocked]) > 0:
		return fmt.Sprintf("odd task show %[1]s says why it is blocked; mend that and commit, then odd task ready %[1]s and odd drain", first(board.Blocked))
	case len(waits[board.Backlog]) > 0:
		return fmt.Sprintf("odd task ready %s marks it ready, so that odd drain works on it", first(board.Backlog))
	}
	return ""
}

// addLines writes the slow loop's part of odd status: with leases off and none
// drafted one quiet line.
func (s slowStatus) addLines(line func(key, format string, args ...any)) {
	l := s.Lease
	switch {
	case !l.Required && l.State == gate.None && !l.unreadable:
		line("lease", "off: tasks run without one, which is fine; odd help gate says what it is for")
	default:
		line("stance", "%s", l.stanceLine())
		line("lease", "%s%s", l.nameLine(), l.describeLeft())
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

// describeLeft returns what remains of a valid lease, or why it is none.
func (l leaseJSON) describeLeft() string {
	switch {
	case l.Verdict.Valid && l.Budget > 0:
		return fmt.Sprintf("; %s, %s, %s", howLong(l.Verdict.Remaining)+" left", countNoun(l.Verdict.Tasks, "task"), l.moneyLine())
	case l.Verdict.Valid:
		return fmt.Sprintf("; %s, %s left", howLong(l.Verdict.Remaining), countNoun(l.Verdict.Tasks, "task"))
	case l.Required && l.Verdict.Code != string(gate.None):
		return fmt.Sprintf("; no task runs: %s [%s]", l.Verdict.Text, l.Verdict.Code)
	}
	return ""
}

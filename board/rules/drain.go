package rules

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/contract"
)

var drainRule = Rule{Row{
	N: 4, Name: "One drain", Unit: "board commits",
	Promise:  "One drain runs at a time, and it claims one thing at a time, each once.",
	Reads:    "the claims and results of every run, in their order along the board's line; the sweeps between them",
	Compares: "A run claims one thing at a time. A task is claimed once, on one line of history. A run writes nothing after another run has claimed, unless that run took its claim back and nothing of it lands. Sessions that only read, and that no task asks for, may run beside others. A machine's merge brings in no claim of another line that no person took in, and no rules of the board for claims made beside them.",
	Attested: "that two clones without a common remote did not run odd drain at the same time; that there was no run which wrote nothing; where [board] target is another branch, which lines it has if the clone lacks it",
	Remedy:   "find the second odd drain that ran at the same time and stop it; odd task show TASK shows what the first one left",
	Broken:   "Two drains worked on the board at the same time.",
}, judgeOneDrain, false}

// judgeOneDrain sees two drains at the same time only where a run goes on after another has claimed: a killed run
// leaves its claim open, and the next run may begin.
func judgeOneDrain(j *judge) {
	if j.Kind == Merge {
		j.checkMachineMerge()
		return
	}
	if j.Kind != Board {
		return
	}
	j.checkClaims()
	j.checkOvertaken()
}

// checkClaims checks the act's claims: no other claim is open beside one, and each is made once.
func (j *judge) checkClaims() {
	for _, l := range j.Lines {
		if !l.Record.Opens() {
			continue
		}
		j.checked++
		if why := checkEngagement(l.Record); why != "" {
			j.addFinding(l.Path, l.N, "%s", why)
		}
		if len(l.Holds) > 0 {
			j.addFinding(l.Path, l.N, "%s claims %s while it holds %s", j.Run, l.Record.Task, strings.Join(l.Holds, ", "))
		}
		j.checkClaimedOnce(l)
	}
}

// checkEngagement returns why a run may not engage instead of claim. Engaged sessions run beside others, so they have
// no task and a role that changes no file.
func checkEngagement(r event.Record) string {
	b := boundSession{said: true, role: contract.Role(r.Claim().ContractRole), mode: contract.Mode(r.Claim().Mode), override: r.Claim().Override}
	row, known := b.findRole()
	switch {
	case r.Kind != event.Engage:
		return ""
	case r.Task != r.Run:
		return fmt.Sprintf("%s engages %s; a task is claimed", r.Run, r.Task)
	case known && row.Mutates || b.override != nil && b.workedIn(contract.Execution, contract.Resolution):
		return fmt.Sprintf("%s engages %s, which may change files; it claims", r.Run, b.sessionName())
	}
	return ""
}

// checkOvertaken reports a run that goes on after another run has claimed.
func (j *judge) checkOvertaken() {
	for _, f := range j.Files {
		if LedgerRun(f.Rel) != j.Run || f.Old == "" && !f.Returned || f.New == "" {
			continue
		}
		j.checked++
		if j.isEngagedOnly() {
			return
		}
		by := j.findOvertakingClaim(f.Rel)
		if by.OID == "" {
			return
		}
		if j.isTakenForDead() {
			return
		}
		j.addFinding(f.Path, j.firstLine(f.Path), "%s goes on after %s claimed in %s; two drains ran at once", j.Run, Trailer(by, "Odd-Run"), ShortID(string(by.OID)))
	}
}

// isEngagedOnly reports an act of a run that engaged and never claimed. It may run beside others.
func (j *judge) isEngagedOnly() bool {
	claims := j.countWorkClaims(j.OID, j.Run)
	if claims > 0 {
		return false
	}
	all := j.ReadLedger(j.OID, j.Run)
	return slices.ContainsFunc(all, func(r event.Record) bool { return r.Kind == event.Engage })
}

// checkMachineMerge reports a machine's merge that brings in claims of another line. Only a person may merge what two
// drains did beside each other.
func (j *judge) checkMachineMerge() {
	if j.IsAncestor(j.Parents[0], j.Parents[1]) {
		return // no line beside the other
	}
	for path, run := range j.ledgersChanged(0) {
		j.checked++
		if !j.addsClaim(j.Commit, run) {
			continue
		}
		if !j.isTakenByHand(j.Parents[1], run) {
			j.addFinding(path, 1, "a machine merges what %s claimed on another line; two drains ran at once", run)
		}
	}
	j.checkRulesMoved()
}

// ledgersChanged yields the ledgers that differ from one parent, by path, with their runs.
func (j *judge) ledgersChanged(parent int) iter.Seq2[string, string] {
	return func(yield func(path, run string) bool) {
		for _, ch := range j.Sides[parent] {
			rel, in := strings.CutPrefix(ch.Path, j.Root)
			if run := LedgerRun(rel); in && run != "" && ch.New != "" && !yield(ch.Path, run) {
				return
			}
		}
	}
}

// isTakenByHand reports that a person's merge brought a run's claim into the line that ends in at.
func (j *judge) isTakenByHand(at repo.OID, run string) bool {
	for {
		c := j.ReadCommit(at)
		if len(c.Parents) == 0 {
			return false
		}
		if j.addsClaim(c, run) {
			return len(c.Parents) > 1 && !j.IsMachine(c)
		}
		at = c.Parents[0]
	}
}

// checkRulesMoved reports a machine's merge that puts changed rules of the board under claims made without them. odd
// sync merges the target branch like that, so what the target branch has is allowed.
func (j *judge) checkRulesMoved() {
	if j.Law.Target != "" && j.Law.Target != j.Law.Branch {
		if j.IsOnTarget(j.Law, j.Parents[1]) {
			return
		}
	}
	rules := slices.IndexFunc(j.Sides[0], func(ch repo.Change) bool {
		rel, _ := strings.CutPrefix(ch.Path, j.Root)
		return ch.Path == "odd.toml" || rel == "pause.toml" || strings.HasPrefix(rel, "governance/")
	})
	if rules < 0 {
		return
	}
	for path, run := range j.ledgersChanged(1) {
		if j.countWorkClaims(j.OID, run) > j.countWorkClaims(j.Parents[1], run) {
			j.addFinding(path, 1, "a machine merges %s under what %s claimed without it; two drains ran at once", j.Sides[0][rules].Path, run)
		}
	}
}

// checkClaimedOnce reports a second claim of a task by its run, before this one or on a line beside it. Of two such
// lines, whoever merges them could choose the one that allows more.
func (j *judge) checkClaimedOnce(l Line) {
	if l.Again {
		j.addFinding(l.Path, l.N, "%s claims %s a second time; a run claims a task once", j.Run, l.Record.Task)
		return
	}
	c := j.FindSameClaim(j.Commit, j.Run, l.Record.Task)
	if c != "" {
		j.addFinding(l.Path, l.N, "%s claims %s here and, on a line beside this one, in %s; a run claims a task once", j.Run, l.Record.Task, ShortID(string(c)))
	}
}

// findOvertakingClaim returns a claim of another run between this act and the run's last write to its ledger rel, along
// first parents; the zero Commit for none.
func (j *judge) findOvertakingClaim(rel string) repo.Commit {
	at := j.Parents[0]
	for {
		c := j.ReadCommit(at)
		if len(c.Parents) == 0 {
			return repo.Commit{}
		}
		if j.FindInBundle(c.Parents[0], rel) != j.FindInBundle(at, rel) {
			return repo.Commit{}
		}
		if other := Trailer(c, "Odd-Run"); other != "" && other != j.Run && len(c.Parents) == 1 && !isDecision(c) {
			if j.addsClaim(c, other) {
				return c
			}
		}
		at = c.Parents[0]
	}
}

// isDecision reports a commit in which a person approves or rejects.
func isDecision(c repo.Commit) bool {
	return len(c.Trailer("Odd-Approved-By"))+len(c.Trailer("Odd-Rejected-By")) > 0
}

// addsClaim reports a commit that adds a claim to a run's ledger. A refresh claims nothing, because nothing runs.
func (j *judge) addsClaim(c repo.Commit, run string) bool {
	now := j.countWorkClaims(c.OID, run)
	if now == 0 {
		return false
	}
	return now > j.countWorkClaims(c.Parents[0], run)
}

// countWorkClaims returns how many claims a run's ledger has in a commit, without refreshes.
func (j *judge) countWorkClaims(at repo.OID, run string) (n int) {
	for _, r := range j.ReadLedger(at, run) {
		if r.Kind == event.Claim && r.Claim().RefreshOf == "" {
			n++
		}
	}
	return n
}

// isTakenForDead reports an act that only closes claims which another run has taken back. Its drain was slow, and
// nothing of it lands.
func (j *judge) isTakenForDead() bool {
	var since time.Time
	for _, l := range j.Lines {
		if l.Record.Kind == event.Claim || l.Record.Kind == event.Outcome && l.Record.Outcome().Verdict == string(board.Review) {
			return false
		}
		if l.Claim != nil {
			since = l.Claim.TS
		}
	}
	swept, err := j.ReadState(j.Parents[0]).Swept(j.Run, since)
	j.Must(IgnoreDamaged(err))
	return swept || err != nil // nobody knows what a damaged ledger recorded
}

// firstLine returns the first line that the act adds to a ledger.
func (j *judge) firstLine(name string) int {
	for _, l := range j.Lines {
		if l.Path == name {
			return l.N
		}
	}
	return 1
}

// ListOthers returns the tasks of open claims but one.
func ListOthers(tasks map[string]*Claim, but string) []string {
	var out []string
	for _, name := range SortedKeys(tasks) {
		if name != but {
			out = append(out, name)
		}
	}
	return out
}

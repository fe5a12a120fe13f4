package rules

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
)

// boundSession is what a session's record says about the contract that bound it.
type boundSession struct {
	run, task string
	said      bool // the record names a contract
	role      contract.Role
	mode      contract.Mode
	handoffs  [][2]string // path and blob of each it was given
	override  *event.Override
	schema    string // of what it delivered, "" for nothing
	handoff   string // the path it handed over at, "" for none
}

func readSession(r event.Record) boundSession {
	d := r.Session()
	b := boundSession{run: r.Run, task: r.Task, schema: d.Deliverable, handoff: d.Handoff}
	if c := d.Contract; c != nil {
		b.said, b.role, b.mode, b.override = true, contract.Role(c.Role), contract.Mode(c.Mode), c.Override
		for _, h := range c.Handoffs {
			b.handoffs = append(b.handoffs, [2]string{h.Path, h.Blob})
		}
	}
	return b
}

// nonEmpty returns the texts of a list that are not blank.
func nonEmpty(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return strings.TrimSpace(s) == "" })
}

// findRole returns the session's row in the table of roles. A role that a profile composed gets the row of its mode. ok
// is false if no row applies: such a session is as free as role general.
func (b boundSession) findRole() (row contract.RoleRow, ok bool) {
	for _, r := range contract.Roles() {
		if r.Role == b.role {
			return r, true
		}
	}
	for _, r := range contract.Roles() {
		if b.mode != "" && r.Mode == b.mode {
			r.Role, r.Schema = b.role, ""
			return r, true
		}
	}
	return contract.RoleRow{Role: b.role, Mutates: true}, false
}

// workedModes returns the modes that the session worked in: its own, or those of its override.
func (b boundSession) workedModes() []contract.Mode {
	if b.override == nil {
		return []contract.Mode{b.mode}
	}
	var out []contract.Mode
	for _, m := range nonEmpty(b.override.Modes) {
		out = append(out, contract.Mode(m))
	}
	return out
}

func (b boundSession) workedIn(modes ...contract.Mode) bool {
	return slices.ContainsFunc(b.workedModes(), func(m contract.Mode) bool { return slices.Contains(modes, m) })
}

// isCollapsed reports a transition between two modes of the session's override.
func (b boundSession) isCollapsed(p contract.Pair) bool {
	return b.override != nil && slices.Contains(b.workedModes(), p.From) && slices.Contains(b.workedModes(), p.To)
}

// canMutate reports whether the session could change an artifact. A role without a row may, unless it delivers
// findings.
func (b boundSession) canMutate() bool {
	row, known := b.findRole()
	return row.Mutates && (known || b.schema != deliver.SchemaFindings) || b.override != nil && b.workedIn(contract.Execution, contract.Resolution)
}

func (b boundSession) sessionName() string {
	if !b.said {
		return "a session without a contract"
	}
	return "a session of the " + cmp.Or(string(b.role), "role of no name")
}

// findClaimSessions returns the sessions that a claim's outcome rests on. The claim of a refresh rests on the sessions
// of the run that it judges again.
func (j *judge) findClaimSessions(c *Claim) []boundSession {
	var out []boundSession
	for _, r := range c.Sessions {
		out = append(out, readSession(r))
	}
	of := c.Claim().RefreshOf
	if of == "" {
		return out
	}
	before := func(string) iter.Seq[repo.OID] { return slices.Values(j.Parents[:1]) }
	more := j.findSessions(of, c.Task, map[string]bool{}, before)
	return append(out, more...)
}

// findRunSessions returns the sessions that a run's proposal for a task rests on.
func (j *judge) findRunSessions(run, task string) []boundSession {
	return j.findSessions(run, task, map[string]bool{}, j.LedgerCommits)
}

// findSessions returns a run's sessions for a task, as the first of the commits that has any records them. A run that
// judged another run's result again has that run's sessions.
func (j *judge) findSessions(run, task string, seen map[string]bool, commits func(run string) iter.Seq[repo.OID]) []boundSession {
	if seen[run] {
		return nil
	}
	seen[run] = true
	of := ""
	for at := range commits(run) {
		records := j.ReadLedger(at, run)
		var out []boundSession
		for _, r := range records {
			switch {
			case r.Task != task:
			case r.Kind == event.Session:
				out = append(out, readSession(r))
			case r.Kind == event.Claim:
				of = cmp.Or(r.Claim().RefreshOf, of)
			}
		}
		if len(out) > 0 {
			return out
		}
		if of != "" {
			break
		}
	}
	if of == "" {
		return nil
	}
	return j.findSessions(of, task, seen, commits)
}

// readClaimedTask returns a task as its run claimed it, with the odd.toml in force then. ok is false if this clone
// lacks the claim, or the claim is of no task.
func (j *judge) readClaimedTask(run, task string) (t board.Task, law *config.Config, ok bool) {
	c, ok := j.FindClaim(j.Commit, run, task)
	if !ok || len(c.Parents) == 0 {
		return t, law, false
	}
	law = j.LawAt(c.Parents[0])
	for _, ch := range j.Diff(c.Parents[0], c.OID) {
		rel, in := strings.CutPrefix(ch.Path, law.Root+"/")
		if !in || !strings.HasSuffix(rel, ".md") {
			continue
		}
		a := j.ReadAtom(ch.New, ch.NewMode, rel)
		if !IsTask(a) || string(a.ID) != task {
			continue
		}
		t, err := board.Parse(a)
		return t, law, err == nil // invariant 3 reports an unreadable task
	}
	return t, law, false
}

// findTerms returns the odd.toml that a run's claim of a task was made under, and the commit of that claim. If this
// clone lacks the claim it returns the act's odd.toml and "".
func (j *judge) findTerms(run, task string) (law *config.Config, claim repo.OID) {
	c, ok := j.FindClaim(j.Commit, run, task)
	if !ok || len(c.Parents) == 0 {
		return j.Law, ""
	}
	return j.LawAt(c.Parents[0]), c.OID
}

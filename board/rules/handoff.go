package rules

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/handoff"
)

var handoffRule = Rule{Row{
	N: 11, Name: "Encoded handoffs", Unit: "sessions and handoffs",
	Promise:  "No session goes from one mode to another without its handoff and its journal entry.",
	Reads:    "handoffs/*.md and journal/*.tsv at the claim and in the result commit; the paths and blobs a session record names",
	Compares: "A session that works on a handoff names one that its claim's commit has with that blob. The handoff is of a transition that the role reads, is complete, and has a journal entry. A run's own handoff comes with its session and a journal entry, in the session's mode. What an override produced, and what was made from that, is tagged. An override begins in the journal with its claim, and ends there with its outcome or when its claim is taken back.",
	Attested: "that what a handoff says is good enough to work from",
	Remedy:   "send the result back with odd reject TASK, and write the handoff and its journal entry first",
	Broken:   "A session ran without the handoff or the journal entry that it needs.",
}, judgeTransitions, false}

func judgeTransitions(j *judge) {
	j.checkLines(func(l Line) string {
		switch l.Record.Kind {
		case event.Session:
			j.checked++
			return j.checkReceived(readSession(l.Record))
		case event.Claim, event.Engage, event.Outcome, event.Abandoned:
			return j.checkJournaled(l)
		}
		return ""
	})
	switch j.Kind {
	case Board:
		j.checkHandedOver()
		return
	case Proposal:
		j.checkTaintTags()
		return
	}
}

// checkReceived returns what is wrong with the handoffs that a session received. Each must be in the commit of the
// claim.
func (j *judge) checkReceived(b boundSession) string {
	row, _ := b.findRole()
	if row.Needs && len(b.handoffs) == 0 && !slices.ContainsFunc(row.Reads, b.isCollapsed) {
		return fmt.Sprintf("%s without a handoff", b.sessionName())
	}
	for _, named := range b.handoffs {
		h, ok := j.readGivenHandoff(b, named)
		if !ok {
			return fmt.Sprintf("%s names handoff %s as blob %s, which the commit of its claim does not hold", b.sessionName(), cmp.Or(named[0], "nothing"), cmp.Or(ShortID(named[1]), "none"))
		}
		if why := j.checkReceivedHandoff(b, row, h); why != "" {
			return why
		}
	}
	return ""
}

// checkReceivedHandoff returns what is wrong with one received handoff. A role without a mode may read any. An override
// allows the transitions between its modes, but never a missing journal entry.
func (j *judge) checkReceivedHandoff(b boundSession, row contract.RoleRow, h storedHandoff) string {
	p := contract.Pair{From: h.From, To: h.To}
	switch {
	case h.fault != nil:
		return fmt.Sprintf("%s began from %s, which is no handoff: %v", b.sessionName(), h.path, h.fault)
	case b.mode == "":
		return ""
	case !slices.Contains(row.Reads, p) && !b.isCollapsed(p) && b.mode != contract.Validation: // invariant 10 checks a validator's
		return fmt.Sprintf("%s began from %s, which is %s → %s", b.sessionName(), h.path, h.From, h.To)
	case len(h.Missing) > 0 && !b.isCollapsed(p):
		return fmt.Sprintf("%s began from %s, which lacks %s", b.sessionName(), h.path, strings.Join(h.Missing, ", "))
	}
	told := j.readEntries(h.at, h.Journal, 0)
	if slices.ContainsFunc(told, h.isJournaledBy) {
		return ""
	}
	return fmt.Sprintf("%s began from %s, of which no journal entry tells", b.sessionName(), h.path)
}

// readEntries returns the entries of a journal file in a commit after its first lines.
func (j *judge) readEntries(at repo.OID, name string, after int) []journal.Entry {
	law := j.LawAt(at)
	if name == "" {
		return nil
	}
	blob, mode := j.Find(at, path.Join(law.Root, strings.TrimPrefix(name, law.Root+"/")))
	all, _, _ := journal.Parse(j.ReadFile(blob, mode)) // an unreadable journal has no entries
	return slices.DeleteFunc(all, func(e journal.Entry) bool { return e.Line <= after })
}

func (j *judge) addedEntries(name string) []journal.Entry {
	before := j.readEntries(j.Parents[0], name, 0)
	last := 0
	for _, e := range before {
		last = max(last, e.Line)
	}
	return j.readEntries(j.OID, name, last)
}

// isOwnJournal reports the name of a run's journal file, with or without a day before it.
func isOwnJournal(run, name string) bool {
	own := strings.ToLower(run) + ".tsv"
	return name == own || strings.HasSuffix(name, "-"+own)
}

// checkJournaled reports an override without a journal entry where its claim begins it, or where an outcome or a sweep
// ends it.
func (j *judge) checkJournaled(l Line) string {
	r, c := l.Record, l.Claim
	if r.Opens() {
		c = &Claim{Record: r}
	}
	if r.Kind == event.Abandoned {
		for _, old := range j.ReadLedger(j.Parents[0], r.DeadRun) {
			if old.Opens() && old.Task == r.Task {
				c = &Claim{Record: old}
			}
		}
	}
	if c == nil {
		return ""
	}
	o := c.Claim().Override
	if o == nil {
		return ""
	}
	j.checked++
	modes := strings.Join(nonEmpty(o.Modes), ", ")
	title := map[event.Kind]string{event.Outcome: "override ended: " + modes, event.Abandoned: "override ended: " + r.DeadRun}[r.Kind]
	if r.Opens() {
		title = "override: " + modes + " collapsed"
	}
	for _, f := range j.Files {
		if dir, name := path.Split(f.Rel); dir != "journal/" || !isOwnJournal(j.Run, name) {
			continue
		}
		told := j.addedEntries(f.Rel)
		if slices.ContainsFunc(told, func(e journal.Entry) bool { return e.Title == title }) {
			return ""
		}
	}
	if r.Opens() {
		return fmt.Sprintf("an override of %s, whose start no journal entry of the claim tells", cmp.Or(modes, "nothing"))
	}
	return fmt.Sprintf("the end of an override of %s, of which no journal entry tells", cmp.Or(modes, "nothing"))
}

// checkHandedOver checks the handoffs that a board commit adds. Invariant 2 checks that it adds only its run's own and
// changes none.
func (j *judge) checkHandedOver() {
	for _, f := range j.Files {
		if dir, _ := path.Split(f.Rel); dir != "handoffs/" || f.Old != "" || f.Is == nil {
			continue
		}
		j.checked++
		why := j.checkHandoff(f)
		if why != "" {
			j.addFinding(f.Path, 1, "%s", why)
		}
	}
	for _, l := range j.Lines {
		name := l.Record.Session().Handoff
		if l.Record.Kind == event.Session && name != "" && !slices.ContainsFunc(j.Files, func(f *File) bool { return f.Path == name && f.Old == "" }) {
			j.addFinding(l.Path, l.N, "a session that handed over %s, which its commit does not add", name)
		}
	}
}

// checkHandoff returns what is wrong with an added handoff. It must be from a session of the commit and in its mode,
// whole, recorded in the journal, and tagged as tainted if its sources are.
func (j *judge) checkHandoff(f *File) string {
	i := slices.IndexFunc(j.Lines, func(l Line) bool {
		return l.Record.Kind == event.Session && l.Record.Session().Handoff == f.Path
	})
	if i < 0 {
		return j.checkPackedHandoff(f)
	}
	b := readSession(j.Lines[i].Record)
	h := storedHandoff{path: f.Rel, at: j.OID}
	h.decode(f.Is, f.Fault)
	switch {
	case h.fault != nil:
		return fmt.Sprintf("a run hands over what is no handoff: %v", h.fault)
	case h.From != b.mode:
		return fmt.Sprintf("a handoff from %s by %s in %s", h.From, b.sessionName(), cmp.Or(string(b.mode), "no mode"))
	case len(h.Missing) > 0:
		return "a handoff that lacks " + strings.Join(h.Missing, ", ")
	}
	if why := j.checkJournaledHere(h); why != "" {
		return why
	}
	if h.Tainted != "" {
		return ""
	}
	why := j.whyTainted(b)
	if why != "" {
		why = "a handoff made " + why + ", and not tagged so"
	}
	return why
}

// checkPackedHandoff returns what is wrong with a handoff that no session handed over. Only a claim may bring one: for
// the validator that it starts.
func (j *judge) checkPackedHandoff(f *File) string {
	i := slices.IndexFunc(j.Lines, func(l Line) bool {
		return l.Record.Opens() && l.Record.Claim().Handoff == f.Path
	})
	if i < 0 {
		return "a handoff that no session of the commit handed over"
	}
	h := storedHandoff{path: f.Rel, at: j.OID}
	h.decode(f.Is, f.Fault)
	role := j.Lines[i].Record.Claim().ContractRole
	switch {
	case h.fault != nil:
		return fmt.Sprintf("a claim brings what is no handoff: %v", h.fault)
	case role != string(contract.Validator) || h.To != contract.Validation:
		return fmt.Sprintf("a claim of a session as %s that brings a handoff %s → %s", cmp.Or(role, "nobody"), h.From, h.To)
	case len(h.Missing) > 0:
		return "a handoff that lacks " + strings.Join(h.Missing, ", ")
	}
	return j.checkJournaledHere(h)
}

// checkJournaledHere returns why the commit's own journal entries do not record the handoff.
func (j *judge) checkJournaledHere(h storedHandoff) string {
	_, name := path.Split(h.Journal)
	if !isOwnJournal(j.Run, name) {
		return fmt.Sprintf("a handoff told of in %s, which is not its run's journal", cmp.Or(h.Journal, "no journal"))
	}
	told := j.addedEntries(h.Journal)
	if !slices.ContainsFunc(told, h.isJournaledBy) {
		return fmt.Sprintf("a handoff %s → %s, of which no journal entry of its commit tells", h.From, h.To)
	}
	return ""
}

// checkTaintTags reports atoms of a proposal that an override tainted and that are not tagged so.
func (j *judge) checkTaintTags() {
	all := j.findRunSessions(j.Run, j.Task)
	why := ""
	for _, b := range all {
		if why == "" {
			why = j.whyTainted(b)
		}
	}
	for _, f := range j.Files {
		if why == "" || f.Is == nil {
			continue
		}
		j.checked++
		if !slices.Contains(f.Is.Tags, handoff.TaintTag) {
			j.addFinding(f.Path, max(1, f.Is.Line("tags")), "an atom made %s, and not tagged %s", why, handoff.TaintTag)
		}
	}
}

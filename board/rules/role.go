package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
)

var roleRule = Rule{Row{
	N: 10, Name: "Role separation", Unit: "records",
	Promise:  "Sessions that detect do not change files, and sessions that change files do not certify.",
	Reads:    "the contract in every session record: role, mode, handoffs, override; the claim, the task and odd.toml at the claim; the outcome and its paths",
	Compares: "The role is that of the claim or the task, and the mode is the role's. An outcome proposes files only after a session that may change any. Findings come only from a validator. No session judges what a session of the same run and task made. A validator's handoff is from execution or resolution. An override joins exactly the modes that its claim declares.",
	Attested: "that the session was given nothing but its brief; what a role that a profile composed may do; that a session without a contract, for a task that names no role, is from before contracts existed; that a person asked for a claim that names another role than its task",
	Remedy:   "send the result back with odd reject TASK, and have another session judge it",
	Broken:   "A session did what its role may not, such as judge its own work.",
}, judgeSeparation, false}

func judgeSeparation(j *judge) {
	j.checkLines(func(l Line) string {
		switch l.Record.Kind {
		case event.Session:
			j.checked++
			return j.checkContract(l)
		case event.Outcome:
			j.checked++
			return j.checkMayChange(l)
		}
		return ""
	})
}

// checkContract returns what is wrong with the contract of one session.
func (j *judge) checkContract(l Line) string {
	b := readSession(l.Record)
	if why := j.checkAskedRole(b, l.Claim); why != "" || !b.said {
		return why
	}
	row, known := b.findRole()
	switch {
	case !known && b.mode != "":
		return fmt.Sprintf("%s in %s, which is no mode", b.sessionName(), b.mode)
	case known && row.Mode != b.mode:
		return fmt.Sprintf("%s in %s; its mode is %s", b.sessionName(), cmp.Or(string(b.mode), "no mode"), cmp.Or(string(row.Mode), "none"))
	}
	if why := checkOverride(b, l.Claim); why != "" {
		return why
	}
	if why := checkDelivery(b, row); known && why != "" {
		return why
	}
	for _, r := range l.Before {
		if why := checkModesApart(readSession(r), b); why != "" {
			return why
		}
	}
	if b.mode != contract.Validation || b.override != nil {
		return ""
	}
	return j.checkJudgedWork(b)
}

// checkAskedRole returns why a session has another role than its claim or task asks for. Records from before contracts
// name no role; they are checked only if the task or odd.toml names one.
func (j *judge) checkAskedRole(b boundSession, c *Claim) string {
	var want contract.Role
	if c != nil {
		want = contract.Role(c.Claim().ContractRole)
	}
	of := "claim"
	if want == "" {
		t, law, ok := j.readClaimedTask(b.run, b.task)
		if !ok {
			return ""
		}
		of, want = "task", t.Contracted(law.Contract.Roles)
		if !b.said && t.ContractRole == "" && law.Contract.Roles[t.Kind] == "" {
			return ""
		}
	}
	if b.role == want || !b.said && want == contract.General {
		return ""
	}
	return fmt.Sprintf("%s; its %s asks for the role %s", b.sessionName(), of, want)
}

// checkOverride returns what is wrong with an override. It must be the one that the claim declares, collapse at least
// two modes with the session's among them, and give a reason and a risk.
func checkOverride(b boundSession, c *Claim) string {
	var declared *event.Override
	if c != nil {
		declared = c.Claim().Override
	}
	modes, has := b.workedModes(), formatModes(b.override)
	unknown := slices.IndexFunc(modes, func(m contract.Mode) bool { return !slices.Contains(contract.ModeNames(), m) })
	switch {
	case b.override == nil && declared == nil:
		return ""
	case b.override == nil:
		return "an override that its claim declares and its session does not"
	case declared == nil:
		return "an override that its claim does not declare"
	case formatModes(declared) != has:
		return fmt.Sprintf("an override of %s; its claim declares one of %s", has, formatModes(declared))
	case unknown >= 0:
		return fmt.Sprintf("an override of %s, which is no mode", modes[unknown])
	case len(modes) < 2:
		return "an override that collapses no modes"
	case b.role == contract.Observer, b.mode != "" && !slices.Contains(modes, b.mode):
		return fmt.Sprintf("an override of %s for %s", has, b.sessionName())
	case strings.TrimSpace(b.override.Reason) == "":
		return "an override without a reason"
	case len(nonEmpty(b.override.Risks)) == 0:
		return "an override that acknowledges no risk"
	}
	return ""
}

// formatModes returns the modes of an override in a form that can be compared.
func formatModes(o *event.Override) string {
	if o == nil {
		return "nothing"
	}
	modes := nonEmpty(o.Modes)
	for i, m := range modes {
		modes[i] = strings.ToLower(strings.TrimSpace(m))
	}
	slices.Sort(modes)
	return cmp.Or(strings.Join(slices.Compact(modes), ", "), "nothing")
}

// checkDelivery returns why a session may not deliver what it does. A role from a profile delivers what the profile
// says, but findings only in mode validation.
func checkDelivery(b boundSession, row contract.RoleRow) string {
	switch {
	case b.schema == "" || b.schema == row.Schema:
		return ""
	case b.schema == deliver.SchemaFindings && !b.workedIn(contract.Validation):
		return fmt.Sprintf("%s delivers findings; who makes does not certify", b.sessionName())
	case row.Schema == "" || b.override != nil:
		return ""
	}
	return fmt.Sprintf("%s delivers %s; its own is %s", b.sessionName(), b.schema, row.Schema)
}

// checkModesApart returns why two sessions of one run and task may not have the modes they have: one made and the other
// validated, and no common override allows that.
func checkModesApart(a, b boundSession) string {
	if a.override != nil && b.override != nil && formatModes(a.override) == formatModes(b.override) {
		return ""
	}
	for _, p := range [][2]boundSession{{a, b}, {b, a}} {
		if p[0].workedIn(contract.Execution, contract.Resolution) && p[1].workedIn(contract.Validation) {
			return fmt.Sprintf("%s after %s for the same task; who makes does not certify", b.sessionName(), a.sessionName())
		}
	}
	return ""
}

// checkJudgedWork returns why a validator may not judge from its handoffs: they must come from a mode that makes
// something.
func (j *judge) checkJudgedWork(b boundSession) string {
	for _, named := range b.handoffs {
		h, ok := j.readGivenHandoff(b, named)
		if ok && h.fault == nil && h.From != contract.Execution && h.From != contract.Resolution {
			return fmt.Sprintf("%s judges by %s, which is from %s; only what was made is validated", b.sessionName(), h.path, h.From)
		}
	}
	return ""
}

// checkMayChange returns why an outcome may not propose files: no session of its claim may change any.
func (j *judge) checkMayChange(l Line) string {
	n := len(PathsOf(&l.Record))
	if n == 0 || l.Claim == nil {
		return "" // nothing changed; invariant 5 reports a missing claim
	}
	all := j.findClaimSessions(l.Claim)
	if slices.ContainsFunc(all, boundSession.canMutate) {
		return ""
	}
	what := "proposes " + describeFiles(n)
	if len(all) == 0 {
		return what + ", and no session made it"
	}
	return fmt.Sprintf("%s after %s, which changes nothing", what, all[len(all)-1].sessionName())
}

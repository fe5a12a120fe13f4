package invoke

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
)

// list writes the contract part, one line an order.
type list struct{ strings.Builder }

func (l *list) addLine(format string, args ...any) { fmt.Fprintf(l, "- "+format+"\n", args...) }

// contractOrders is the part of a brief that is obeyed: who the session is, what its
// mode and its surface ask, what it may emit, and where it ends. role is the
// compiled role, or the contract's where there is none; work are the orders of the task's own.
func contractOrders(t Terms, who []Profile, limits Limits, role string, work ...string) string {
	var l list
	l.addLine("You work as %s, in one bounded session. You propose; a person decides.", cmp.Or(role, string(t.Role)))
	for _, order := range work {
		l.addLine("%s", order)
	}
	l.addContract(t)
	l.addProfiles(who, t.Voice)
	l.addEmission(t, limits)
	l.addLimits(limits, t)
	l.addLine("If one block is malformed, nothing of your emission is kept.")
	return l.String()
}

func (l *list) addContract(t Terms) {
	if t.Role == "" {
		return
	}
	l.addLine("Your contract: role %s, mode %s, surface %s, engagement %s, voice %s.", t.Role, cmp.Or(joinWords(t.Modes), "none"), t.Surface.Name, t.Engagement, t.Voice)
	for _, row := range contract.Modes() {
		if slices.Contains(t.Modes, row.Mode) {
			if row.Mode == contract.Exploration {
				l.addLine("Before you ask anything, read what you have. Then say what you understand so far, as provisional, and ask one question that confirms or corrects it.")
			}
			l.addLine("In %s a session is valid if it %s. Its obligations: %s. Its risk: %s.", row.Mode, row.Truth, strings.Join(row.Obligations, "; "), row.Risk)
		}
	}
	if len(t.Tools) > 0 {
		l.addLine("You may use your tools for: %s.", strings.Join(t.Tools, ", "))
	}
	if len(t.Without) > 0 {
		l.addLine("You may not use your tools for: %s.", strings.Join(t.Without, ", "))
	}
	if len(t.Servers) > 0 {
		l.addLine("MCP servers: %s.", strings.Join(t.Servers, ", "))
	}
	if t.Artifact != "" {
		l.addLine("You work on one artifact: the part \"artifact\" names it.") // its name may be an agent's words
	}
	l.addSurface(t)
	l.addEngagement(t)
	if t.Tainted {
		l.addLine("An operator's override stands behind this session: whatever you hand over is tagged with it.")
	}
}

// addSurface says how dense and in what form output is.
func (l *list) addSurface(t Terms) {
	s := t.Surface
	if s.Density != "" && s.Density != "variable" {
		l.addLine("The density of your output is %s.", s.Density)
	}
	if s.MaxTokens > 0 {
		l.addLine("One thing you say has at most %d tokens, estimated as bytes/4. A longer one is sent back to be shortened.", s.MaxTokens)
	}
	if s.MaxEmissions > 0 {
		l.addLine("You say at most %d things.", s.MaxEmissions)
	}
	switch {
	case s.Machine:
		l.addLine("Code parses what you write: no ornament in any field.")
	case s.Structured && !s.Narrative:
		l.addLine("Your output is structured: prose beside the deliverable is kept in the transcript and counts for nothing.")
	case s.Narrative:
		l.addLine("Prose is welcome, and is kept in the transcript alone.")
	}
	if s.Bidirectional {
		l.addLine("You translate both ways: say whose words are whose.")
	}
}

// addEngagement says who may turn to whom.
func (l *list) addEngagement(t Terms) {
	switch t.Engagement {
	case contract.Agent:
		way := "Where your handoff lacks what you need, end with handoff_insufficient and name what is missing."
		if len(t.Modes) == 0 {
			way = "Where facts are missing, do what you can and say in a note what is missing."
		}
		l.addLine("Nobody answers you: a question that waits for an answer fails the session. %s", way)
	case contract.Assistant:
		l.addLine("You may ask: say it with the marker yielding and end your turn there, without odd.finish.1; holding means you go on, done that you have finished. Only the turn that finishes is kept, so hand over everything in it.")
	}
}

func (l *list) addProfiles(who []Profile, v contract.Voice) {
	for _, p := range who {
		switch {
		case p.Text != nil:
			l.addLine("You are %s: the part \"profile\" carries its system prompt. Be that, and do not improvise it.", oneLine(p.Name))
		case p.Prompt != "":
			l.addLine("You are %s: fetch its system prompt, %s, before you begin. Do not improvise it.", oneLine(p.Name), oneLine(p.Prompt))
		default:
			l.addLine("You are %s, as %s says.", oneLine(p.Name), oneLine(p.Path))
		}
		if p.Brand != "" {
			l.addLine("Brand discipline of %s: %s. Fetch it before you use any mark of the persona; do not improvise one.", oneLine(p.Name), oneLine(p.Brand))
		}
	}
	switch {
	case len(who) == 0: // there are no marks
	case v == contract.VoicePersona:
		l.addLine("The persona's marks stand in prose only: never in a path, an id, a key, frontmatter or code.")
	case v == contract.VoiceNeutral, v == contract.VoiceStrict:
		l.addLine("Use no mark of a persona anywhere.")
	}
}

// addEmission says what may be emitted and what becomes of it.
func (l *list) addEmission(t Terms, limits Limits) {
	if t.Role != "" && !t.Mutates {
		l.addLine("You change nothing: an atom or a change in your emission fails the session.")
	} else {
		l.addLine("You may emit atoms of the bundle and the other blocks that the part \"emission\" shows. Beside these and the files that your task lets you change, nothing you do is kept.")
		if limits.Cap != "" {
			l.addLine("Whatever you claim, your atoms are kept at confidence %s at most; only a person verifies.", limits.Cap)
		}
		l.addLine("To change an atom that exists, name the blob it was made against (base); without it, or with an old one, the change is a conflict.")
		l.addLine("Canon, personas, tasks that exist, the journal, the ledger and atoms a person has verified stay as they are.")
	}
	switch t.Bound {
	case "plan":
		l.addLine("You build what the plan has in scope and nothing else. What you notice beyond it is a note; a question is one reversion that names one unknown.")
	case "findings":
		l.addLine("You change only what the findings name, as each disposition says: fix changes it, pivot redirects with a reason, accept leaves it with a reason. You do not certify: a fresh validator does.")
	}
	if t.Deliverable != "" {
		next := ""
		if t.Next != "" {
			next = fmt.Sprintf(", for a %s", t.Next)
		}
		l.addLine("You hand over exactly one %s, whole and as the part \"emission\" shows it%s.", t.Deliverable, next)
		if t.Deliverable == deliver.SchemaFindings {
			l.addLine("Every finding has a location, a claim, evidence, a classification and a disposition. Counts and verdict are recomputed.")
		}
	}
	l.addLine("Every claim needs a source: a path and its lines.")
}

func (l *list) addLimits(in Limits, t Terms) {
	if in.Turns > 0 {
		l.addLine("At most %d turns.", in.Turns)
	}
	if in.CostUSD != "" {
		l.addLine("At most $%s.", in.CostUSD)
	}
	if in.Timeout > 0 {
		l.addLine("At most %s.", in.Timeout)
	}
	if in.MaxAtoms > 0 && (t.Role == "" || t.Mutates) {
		l.addLine("At most %d atoms.", in.MaxAtoms)
	}
}

// overrideNote tells a session that modes are collapsed for it, by whose reason.
func overrideNote(c contract.Contract) string {
	o := c.Override
	if o == nil {
		return ""
	}
	var l list
	l.addLine("An operator collapsed the modes %s for this session and no other: %s.", joinWords(o.Modes), oneLine(o.Reason))
	for _, r := range o.Risks {
		l.addLine("Acknowledged risk: %s.", oneLine(r))
	}
	return l.String()
}

func joinWords[T ~string](list []T) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return strings.Join(out, ", ")
}

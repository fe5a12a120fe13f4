package contract

import (
	"slices"
	"strings"
	"unicode"
)

// applyOverride applies an operator's declaration that this one session combines modes. It
// waives the gates between these modes and nothing else: not the journal, the profile's
// list of roles, or the surface. Everything the session makes is tainted, and its context
// does not count as fresh.
func (r *resolver) applyOverride() {
	o := r.call.Override
	if o == nil {
		return
	}
	modes := r.readModes(o.Modes)
	reason := strings.Join(strings.Fields(o.Reason), " ")
	if why := Vague(reason); why != "" {
		r.refuse("override-vague", `say what happens and by when: "production incident; a working patch is needed within thirty minutes"`, "the reason for the override %s", why)
	}
	var risks []string
	for _, risk := range o.Risks {
		if risk = strings.Join(strings.Fields(risk), " "); !Riskless(risk) && !slices.Contains(risks, risk) {
			risks = append(risks, risk)
		}
	}
	slices.Sort(risks)
	if len(risks) == 0 {
		r.refuse("override-no-risks", "name what is accepted: the validator shares the builder's context", "the override acknowledges no risk")
	}
	r.out.Override = &Override{Modes: modes, Reason: reason, Risks: risks}
	r.out.Modes = modes
	r.addTaint("override of " + joinPlus(modes) + ": " + strings.ReplaceAll(reason, ";", ","))
	r.dropPromises()
}

// readModes reads the modes of an override, in the order of the table.
func (r *resolver) readModes(asked []Mode) []Mode {
	given := map[Mode]bool{}
	for _, word := range asked {
		m, err := parseMode(string(word))
		if err != nil {
			r.add(unknownRefusal(err)) // m is "", which no row has
		}
		given[m] = true
	}
	var modes []Mode
	for _, row := range Modes() {
		if given[row.Mode] {
			modes = append(modes, row.Mode)
		}
	}
	switch {
	case len(modes) < 2:
		r.refuse("override-modes", "name the modes it collapses: execution and validation", "an override of %s collapses nothing", countModes(len(modes)))
	case r.out.Role == Observer:
		r.refuse("override-role", "take general, or a role of one of the modes", "an observer never changes anything; no override widens it")
	case r.out.Mode != "" && !slices.Contains(modes, r.out.Mode):
		r.refuse("override-modes", "name "+string(r.out.Mode)+" too, or take a role of one of them", "the override collapses %s, and %s works in %s", joinPlus(modes), r.out.Role, r.out.Mode)
	}
	return modes
}

func countModes(n int) string {
	if n == 0 {
		return "no mode"
	}
	return "one mode"
}

// dropPromises drops what a session with combined modes cannot promise: a fresh context,
// and a bound whose document it writes itself.
func (r *resolver) dropPromises() {
	if r.out.Strict || r.out.Freshness != FreshNone {
		r.out.Strict, r.out.Freshness = false, FreshNone
		r.addNote("override: no fresh context is claimed")
	}
	if r.row.Bound != "" && slices.ContainsFunc(r.row.Reads, r.isCollapsed) {
		r.out.Bound = ""
		r.addNote("override: what it may change is bounded by no %s", r.row.Bound)
	}
}

// Riskless reports a risk that names nothing anybody could accept: it is empty, or says
// that there is none.
func Riskless(risk string) bool {
	switch strings.Join(splitWords(risk), " ") {
	case "", "no", "none", "nothing", "nil", "null", "n a", "na", "no risk", "no risks", "risk", "risks", "some risk", "low risk", "tbd", "unknown", "ok", "yes":
		return true
	}
	return false
}

// Vague explains why a reason could not be audited later; "" if it could. Canon's rule is
// that "in a hurry" alone is not enough. A reason needs four words, and three of them must
// remain without phrases of haste and filler.
func Vague(reason string) string {
	clean := " " + strings.Join(splitWords(reason), " ") + " "
	all := len(strings.Fields(clean))
	for _, phrase := range hastyPhrases() {
		for strings.Contains(clean, " "+phrase+" ") {
			clean = strings.ReplaceAll(clean, " "+phrase+" ", " ")
		}
	}
	left := len(strings.Fields(clean))
	switch {
	case all == 0:
		return "is empty"
	case left == 0:
		return "says only that there is haste"
	case all < 4:
		return "is shorter than four words"
	case left < 3:
		return "says little but that there is haste"
	}
	return ""
}

func splitWords(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

// hastyPhrases lists phrases that express haste and filler words, the longer ones first.
func hastyPhrases() []string {
	return []string{
		"as soon as possible", "as fast as possible", "as quickly as possible", "in a hurry", "in a rush", "in a bit of a hurry", "just this once", "out of time",
		"no time", "not enough time", "little time", "save time", "short on time", "time pressure", "right now", "right away", "asap", "urgent", "urgently", "urgency",
		"quick", "quickly", "quicker", "fast", "faster", "hurry", "rush", "rushed", "deadline", "convenience", "convenient", "easier", "important", "emergency", "critical",
		"because", "since", "we", "i", "it", "its", "it s", "this", "that", "is", "are", "am", "be", "was", "m", "re", "the", "a", "an", "to", "of", "for", "and", "in", "on", "so",
		"very", "really", "just", "now", "today", "please", "need", "needs", "needed", "must", "have", "has", "want", "done", "do", "get", "there", "too", "some", "more",
	}
}

package anchor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Tensions makes the tensions of an express session from the rules of its role,
// as many as the strictness asks for. The same constitution gives the same ones:
//
//	CONSTRAINT  what may never pass, then what the role may stop, then what it
//	            must never do, as a name of up to three words; the last with
//	            "@" and its line
//	CTX         the line of the rule in the constitution
//	STATE       "clean", because a session is bound only to a committed constitution
//	TRIGGER     to stop and ask whom the role escalates to, else a person
//
// They do not show that an agent thought about anything, so GeneratedBy is
// "server". Under deep each has a line of its own. A constitution with too few
// rules is ConstPoor.
func Tensions(c Constitution, s Strictness) (out []Tension, ps []Problem) {
	need, seen := s.Least(), map[string]bool{}
	add := func(rules []Rule, withLine bool) {
		for _, r := range rules {
			t := Tension{N: len(out) + 1, Constraint: ruleName(r.Text), Path: c.Path, Start: r.Line, End: r.Line, State: "clean",
				Trigger: askWhom(c), GeneratedBy: "server"}
			if r.Line == 0 {
				t.Start, t.End = 1, c.Lines
			}
			if withLine && r.Line > 0 {
				t.Constraint += "@" + strconv.Itoa(r.Line)
			}
			taken := s == Deep && slices.ContainsFunc(out, func(o Tension) bool { return o.Start == t.Start && o.End == t.End })
			if len(out) < need && t.End <= c.Lines && !taken && !isGeneric(ruleName(r.Text)) && !seen[t.Constraint] {
				seen[t.Constraint] = true
				out = append(out, t)
			}
		}
	}
	add(c.Gates, false)
	add(c.Blocking, false)
	add(c.MustNever, true)
	if len(out) < need {
		return nil, []Problem{{Code: ConstPoor, At: c.Path, Found: strconv.Itoa(len(out)), Want: strconv.Itoa(need),
			Text: fmt.Sprintf("express makes %d tensions out of gates, blocking and must_never, and %s yields %d; bind with mode full, or write more of them there", need, c.Role, len(out))}}
	}
	return out, nil
}

// ruleName returns a rule as a name: a single word as it is, else its first three
// words that carry meaning, in upper case and joined by "_".
func ruleName(text string) string {
	joining := strings.Fields("a an and any are as at be by for from has have in is it its of on or that the their this to with you your")
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	words = slices.DeleteFunc(words, func(w string) bool { return slices.Contains(joining, w) })
	if strings.Contains(text, " ") {
		words = words[:min(len(words), 3)]
	}
	return strings.ToUpper(strings.Join(words, "_"))
}

// maxTrigger is how many bytes of a trigger are kept.
const maxTrigger = 160

// askWhom returns the trigger of the tensions of a role, without the signs that
// mean something in a tension.
func askWhom(c Constitution) string {
	whom := oneLine(strings.NewReplacer("[", "(", "]", ")", "⇌", "/", "→", ">", "<->", "/", "->", ">").Replace(c.Escalation))
	if whom == "" {
		whom = "a person"
	}
	text := "stop and ask " + whom
	if len(text) > maxTrigger {
		text = strings.ToValidUTF8(text[:maxTrigger], "") + "…"
	}
	return text
}

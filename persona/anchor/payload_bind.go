package anchor

import (
	"slices"
	"strings"
)

// readCognition reads COGNITION::LOGOS with ARCHETYPES::[…], or both in one as
// COGNITION::LOGOS::ATLAS⊕HERMES.
func (s *payloadSection) readCognition() (cognition string, archetypes []string) {
	cognition, inline, _ := strings.Cut(s.readText("COGNITION"), "::")
	add := func(text string) {
		for _, name := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("⊕+,", r) }) {
			if name = archetypeName(name); name != "" && !slices.Contains(archetypes, name) {
				archetypes = append(archetypes, name)
			}
		}
	}
	add(inline)
	if e := s.findEntry("ARCHETYPES", "ARCHETYPE"); e != nil {
		add(e.Value.Text)
		for _, i := range e.Value.Items {
			add(i.Value.Text)
		}
	}
	return strings.ToUpper(strings.TrimSpace(cognition)), archetypes
}

// archetypeName returns a name without its qualifier: ATLAS for ATLAS<foundation>.
func archetypeName(s string) string {
	if i := strings.IndexAny(s, "<[("); i > 0 {
		s = s[:i]
	}
	return strings.ToUpper(strings.Trim(s, " \t[]"))
}

// roleName returns the form in which roles are compared: implementation-lead for
// IMPLEMENTATION_LEAD.
func roleName(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "-") }

// authorityForm is what AUTHORITY looks like.
const authorityForm = "RESPONSIBLE[what you answer for], or DELEGATED[token::task] under a session that is bound"

func (s *payloadSection) readAuthority() Authority {
	text := s.readText("AUTHORITY")
	if text == "" {
		return Authority{} // the judge says that it is missing
	}
	verb, rest := text, ""
	if i := strings.IndexAny(text, "[<"); i >= 0 {
		verb, rest = strings.TrimSpace(text[:i]), text[i:]
		if inner, ok := strings.CutSuffix(rest, ">"); ok && rest[0] == '<' {
			rest = "[" + inner[1:] + "]"
		}
	}
	bad := func(what string) Authority {
		e := s.findEntry("AUTHORITY")
		s.fail(Problem{Code: BindAuthority, At: "BIND.AUTHORITY", Line: e.Line, Text: what, Found: truncate(text), Want: authorityForm})
		return Authority{}
	}
	if verb != "RESPONSIBLE" && verb != "DELEGATED" {
		return bad("the authority is neither RESPONSIBLE nor DELEGATED")
	}
	if rest == "" || groupEnd(rest) != len(rest) {
		return bad("the authority has no scope in brackets")
	}
	scope := strings.TrimSpace(rest[1 : len(rest)-1])
	if scope == "" {
		return bad("the brackets of the authority are empty")
	}
	if verb == "RESPONSIBLE" {
		return Authority{Scope: scope}
	}
	parent, task, _ := strings.Cut(scope, "::")
	return Authority{Delegated: true, Parent: strings.TrimSpace(parent), Scope: strings.TrimSpace(task)}
}

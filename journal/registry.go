package journal

import (
	"regexp"
	"strings"
)

// Type is one type of entry.
type Type struct {
	Letter, Facet string   // the identity
	Name          string   // typeName
	Fields        []string // of shape B, behind the letter; the facet is not one of them
}

// ID is the type as people write it: the letter, and the facet behind a "-".
func (t Type) ID() string {
	if t.Facet == "" {
		return t.Letter
	}
	return t.Letter + "-" + t.Facet
}

// Registry lists the types of entry a knowledge base knows.
type Registry []Type

// Standard are the types of DOLCHEO and Tension, with the fields its governing
// canon gives their headerless rows.
func Standard() Registry {
	return Registry{
		{"D", "", "Decision", []string{"title", "body", "rationale", "alternatives", "reversibility"}},
		{"O", "", "Observation", []string{"title", "body", "source", "verifiability"}},
		{"L", "", "Learning", []string{"title", "body", "evidence", "applicability"}},
		{"C", "", "Constraint", []string{"title", "body", "origin", "scope"}},
		{"H", "", "Handoff", []string{"title", "body", "blocked_by", "owner"}},
		{"E", "", "Encode", []string{"title", "body"}},
		{"O", "open", "Open", []string{"priority", "title", "body"}},
		{"T", "", "Tension", []string{"title", "body", "between", "kind", "status"}},
	}
}

// TypeName is the name of a standard type, "" for a letter that is none of them.
func TypeName(letter, facet string) string {
	t, _ := Standard().find(letter, facet)
	return t.Name
}

// find looks up a type. A facet that makes no type of its own ("correction") is
// only a word on the letter's.
func (r Registry) find(letter, facet string) (Type, bool) {
	for _, want := range []string{facet, ""} {
		for _, t := range r {
			if t.Letter == letter && t.Facet == want {
				return t, true
			}
		}
	}
	return Type{}, false
}

// named looks a type up by its name, in any case.
func (r Registry) named(name string) (Type, bool) {
	for _, t := range r {
		if strings.EqualFold(t.Name, name) {
			return t, true
		}
	}
	return Type{}, false
}

// Letters lists the types for a message: "D O L C H E O-open T".
func (r Registry) Letters() string {
	out := make([]string, len(r))
	for i, t := range r {
		out[i] = t.ID()
	}
	return strings.Join(out, " ")
}

// Level is what the governed formula calls a score out of max: strong for all
// of it, adequate from three fifths, weak from two, insufficient below.
func Level(score, max int) string {
	switch {
	case score >= max:
		return "strong"
	case 5*score >= 3*max:
		return "adequate"
	case 5*score >= 2*max:
		return "weak"
	}
	return "insufficient"
}

// inline is a type as it is tagged in prose: [D], O-open, O-open P2.1.
var inline = regexp.MustCompile(`^\[?([^\s\[\]-]+)(?:-(\w+))?(?:\s+(P\d+(?:\.\d+)*))?\]?$`)

// priority is the band of an open question: P1 is next, P1.2 the second of those.
var priority = regexp.MustCompile(`^P\d+(\.\d+)*$`)

// normalise brings the spellings of a type in the wild to (letter, facet): an
// O named "Open" or "Observation (Open)" is an open one, and a tag is its parts.
func (e *Entry) normalise(r Registry) {
	e.Type, e.TypeName, e.Facet = strings.TrimSpace(e.Type), strings.TrimSpace(e.TypeName), strings.TrimSpace(e.Facet)
	if m := inline.FindStringSubmatch(e.Type); m != nil {
		e.Type = m[1]
		if e.Facet == "" {
			e.Facet = m[2]
		}
		if m[3] != "" {
			e.More = append(e.More, Field{"priority", m[3]})
		}
	}
	if e.Facet == "" && e.Type == "O" && (strings.EqualFold(e.TypeName, "Open") || strings.EqualFold(e.TypeName, "Observation (Open)")) {
		e.Facet = "open"
	}
	if t, ok := r.find(e.Type, e.Facet); ok && e.TypeName == "" {
		e.TypeName = t.Name
	}
}

package journal

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/agnivade/levenshtein"
)

// Type is one type of entry.
type Type struct {
	Letter, Facet string   // the identity
	Name          string   // typeName
	Fields        []string // of shape B, after the letter and without the facet
	Extra         []string // fields that only shape A has, behind its content
	Criteria      []Criterion
}

// ID returns the type as people write it: the letter, and the facet after a "-".
func (t Type) ID() string {
	if t.Facet == "" {
		return t.Letter
	}
	return t.Letter + "-" + t.Facet
}

// Own returns the fields other than title and body, in their order in a row.
func (t Type) Own() []string {
	own := func(name string) bool { return name == "title" || name == "body" }
	return slices.DeleteFunc(slices.Concat(t.Fields, t.Extra), own)
}

// Registry lists the types of entry a knowledge base knows.
type Registry []Type

// Standard returns the DOLCHEO types and Tension, with the fields and quality criteria of their canon.
func Standard() Registry {
	return Registry{
		{Letter: "D", Name: "Decision", Fields: []string{"title", "body", "rationale", "alternatives", "reversibility"}, Criteria: decisionCriteria()},
		{Letter: "O", Name: "Observation", Fields: []string{"title", "body", "source", "verifiability"}, Criteria: observationCriteria()},
		{Letter: "L", Name: "Learning", Fields: []string{"title", "body", "evidence", "applicability"}, Criteria: learningCriteria()},
		{Letter: "C", Name: "Constraint", Fields: []string{"title", "body", "origin", "scope"}, Criteria: constraintCriteria()},
		{Letter: "H", Name: "Handoff", Fields: []string{"title", "body", "blocked_by", "owner"}, Criteria: handoffCriteria()},
		{Letter: "E", Name: "Encode", Fields: []string{"title", "body"}},
		{Letter: "O", Facet: "open", Name: "Open", Fields: []string{"priority", "title", "body"}, Extra: []string{"owner"}, Criteria: openCriteria()},
		{Letter: "T", Name: "Tension", Fields: []string{"title", "body", "between", "kind", "status"}, Criteria: tensionCriteria()},
	}
}

// TypeName returns the name of a standard type, "" for any other letter.
func TypeName(letter, facet string) string {
	t, _ := Standard().find(letter, facet)
	return t.Name
}

// find looks up a type. A facet that is not part of a type ("correction") is ignored.
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

// Find looks up a type by its ID.
func (r Registry) Find(id string) (Type, bool) {
	for _, t := range r {
		if t.ID() == id {
			return t, true
		}
	}
	return Type{}, false
}

// Known returns an error unless the registry has the entry's type, in any spelling.
func (r Registry) Known(e Entry) error {
	e.normalise(r)
	if _, ok := r.find(e.Type, e.Facet); ok {
		return nil
	}
	return fmt.Errorf("unknown type %q; known are %s", Type{Letter: e.Type, Facet: e.Facet}.ID(), r.Letters())
}

// Suggest returns the ID that a mistyped one most likely means, "" if none is close. It accepts the type's name,
// misspelt or cut short, its ID in another case or as a tag, and its facet alone.
func (r Registry) Suggest(id string) string {
	id = strings.Trim(id, "[]() ")
	for _, t := range r {
		for _, name := range []string{t.Name, t.Name + "s", t.ID(), t.Facet, t.Letter + t.Facet, t.Letter + " " + t.Facet} {
			if name != "" && strings.EqualFold(name, id) {
				return t.ID()
			}
		}
	}
	best, least := "", 1+len(id)/3
	for _, t := range r {
		name := strings.ToLower(t.Name)
		if d := levenshtein.ComputeDistance(strings.ToLower(id), name); d < least {
			best, least = t.ID(), d
		}
		if len(id) >= 3 && strings.HasPrefix(name, strings.ToLower(id)) {
			return t.ID()
		}
	}
	return best
}

// hasField reports whether an entry may have a field: one of some type, or "closes".
func (r Registry) hasField(name string) bool {
	return name == closes || slices.ContainsFunc(r, func(t Type) bool { return slices.Contains(t.Own(), name) })
}

// Letters lists the types for a message: "D O L C H E O-open T".
func (r Registry) Letters() string {
	out := make([]string, len(r))
	for i, t := range r {
		out[i] = t.ID()
	}
	return strings.Join(out, " ")
}

// typeTag matches a type as a tag in prose: [D], O-open, O-open P2.1.
var typeTag = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\[?([^\s\[\]-]+)(?:-(\w+))?(?:\s+(P\d+(?:\.\d+)*))?\]?$`)
})

// priority matches the priority of an open question: P1 is next, P1.2 the second of those.
var priority = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^P\d+(\.\d+)*$`) })

// normalise turns the spellings of a type into (letter, facet): an O named "Open" or "Observation (Open)" is an
// open question, and a tag is split into its parts.
func (e *Entry) normalise(r Registry) {
	e.Type, e.TypeName, e.Facet = strings.TrimSpace(e.Type), strings.TrimSpace(e.TypeName), strings.TrimSpace(e.Facet)
	if m := typeTag().FindStringSubmatch(e.Type); m != nil {
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

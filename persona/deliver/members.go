package deliver

import (
	"fmt"
	"strings"
	"unicode"
)

// need is how much of a member the minimum content asks for.
type need uint8

const (
	optional need = iota
	said          // a list that is there; an empty one says "none"
	filled        // a text or a list with something in it
)

// member is one key of an object: exactly one of text, list and objs is set.
// Decode, Encode, Missing and Texts all walk the same table of them.
type member struct {
	key     string
	text    *string
	list    *[]string
	objs    *objects
	enum    []string // the words a text may be, nil for any
	machine bool     // parsed by code: a path, an id, an enum
	need    need
	why     string // what is asked for, in words
	twice   string // of an id, which stands once: what is said where it stands again
}

// objects is a list of objects of one type, behind its type.
type objects struct {
	present func() bool
	count   func() int
	at      func(i int) []member
	reset   func(n int)
}

func objectsOf[T any](p *[]T, members func(*T) []member) *objects {
	return &objects{
		present: func() bool { return *p != nil },
		count:   func() int { return len(*p) },
		at:      func(i int) []member { return members(&(*p)[i]) },
		reset:   func(n int) { *p = make([]T, n) },
	}
}

// members is the table of the deliverable's schema; an unknown schema has none.
func (d *Deliverable) members() []member {
	if b := d.body(); b != nil {
		return b.members()
	}
	return nil
}

// member finds a key of the schema.
func (d *Deliverable) member(key string) (member, bool) {
	for _, m := range d.members() {
		if m.key == key {
			return m, true
		}
	}
	return member{}, false
}

// body is what the schema names, made when it is not there; nil for an unknown one.
func (d *Deliverable) body() interface{ members() []member } {
	switch d.Schema {
	case SchemaSynthesis:
		return made(&d.Synthesis)
	case SchemaPlan:
		return made(&d.Plan)
	case SchemaClaims:
		return made(&d.Claims)
	case SchemaFindings:
		return made(&d.Findings)
	case SchemaRemediation:
		return made(&d.Remediation)
	case SchemaCommentary:
		return made(&d.Commentary)
	}
	return nil
}

func made[T any](p **T) *T {
	if *p == nil {
		*p = new(T)
	}
	return *p
}

func (s *Synthesis) members() []member {
	return []member{
		{key: "possibilities", list: &s.Possibilities, need: filled, why: "what could be done; at least one"},
		{key: "tensions", list: &s.Tensions, need: said, why: "what pulls against what; [] for none"},
		{key: "unknowns", list: &s.Unknowns, need: said, why: "what nobody knows yet; [] for none"},
		{key: "frames", list: &s.Frames, need: said, why: "competing ways to see it; [] for none"},
		{key: "rejected", list: &s.Rejected},
		{key: "entries", objs: objectsOf(&s.Entries, (*Entry).members)},
	}
}

func (e *Entry) members() []member {
	return []member{
		{key: "observation", text: &e.Observation, need: filled, why: "what was seen"},
		{key: "context", text: &e.Context, need: filled, why: "where and under what conditions"},
		{key: "implication", text: &e.Implication, need: filled, why: "what it may mean"},
		{key: "confidence", text: &e.Confidence, enum: []string{"low", "medium", "high"}, machine: true, need: filled, why: "low, medium or high"},
		{key: "open_questions", list: &e.OpenQuestions, need: said, why: "what stays open; [] for none"},
	}
}

func (p *Plan) members() []member {
	return []member{
		{key: "artifact", text: &p.Artifact, machine: true, need: filled, why: "what is to be built: a path, id or uri"},
		{key: "assumptions", list: &p.Assumptions, need: filled, why: "what is taken for granted; at least one"},
		{key: "scope_in", list: &p.ScopeIn, need: filled, why: "what is to be done; at least one"},
		{key: "scope_out", list: &p.ScopeOut, need: said, why: "what is not to be done; [] for none"},
		{key: "deferred", list: &p.Deferred, need: said, why: "what is put off; [] for none"},
		{key: "would_invalidate", list: &p.WouldInvalidate, need: filled, why: "what would undo the plan; at least one"},
		{key: "steps", list: &p.Steps},
	}
}

func (c *Claims) members() []member {
	return []member{
		{key: "artifact", text: &c.Artifact, machine: true, need: filled, why: "what was built: a path, id or uri"},
		{key: "does", list: &c.Does, need: filled, why: "what it does; at least one"},
		{key: "does_not", list: &c.DoesNot, need: said, why: "what it does not do; [] for nothing to name"},
		{key: "scope", text: &c.Scope, need: filled, why: "the scope it was built against"},
		{key: "evidence", list: &c.Evidence, machine: true},
	}
}

func (f *Findings) members() []member {
	return []member{
		{key: "artifact", text: &f.Artifact, machine: true, need: filled, why: "what was reviewed: a path, id or uri"},
		{key: "findings", objs: objectsOf(&f.Findings, (*Finding).members), need: said, why: "what was found; [] for nothing"},
	}
}

func (f *Finding) members() []member {
	return []member{
		{key: "id", text: &f.ID, machine: true, twice: "the id %s stands twice"},
		{key: "location", text: &f.Location, machine: true, need: filled, why: "path, path:line or path:line-line"},
		{key: "claim", text: &f.Claim, need: filled, why: "what is said to hold"},
		{key: "evidence", text: &f.Evidence, need: filled, why: "what was seen instead"},
		{key: "classification", text: (*string)(&f.Classification), enum: Classifications(), machine: true, need: filled, why: "blocker, finding or caveat"},
		{key: "disposition", text: (*string)(&f.Disposition), enum: Dispositions(), machine: true, need: filled, why: "fix, pivot or accept"},
		{key: "suggestion", text: &f.Suggestion},
	}
}

func (r *Remediation) members() []member {
	return []member{
		{key: "artifact", text: &r.Artifact, machine: true, need: filled, why: "the revised artifact: a path, id or uri"},
		{key: "remedies", objs: objectsOf(&r.Remedies, (*Remedy).members), need: filled, why: "what became of each finding; at least one"},
	}
}

func (r *Remedy) members() []member {
	answer := filled // what was changed, or why nothing was
	if !Blank(r.Why) {
		answer = optional
	}
	return []member{
		{key: "finding", text: &r.Finding, machine: true, need: filled, why: "the id of the finding it answers", twice: "the finding %s is answered twice"},
		{key: "changed", list: &r.Changed, machine: true, need: answer, why: "what was changed, or why: the reason for no change"},
		{key: "why", text: &r.Why},
	}
}

func (c *Commentary) members() []member {
	return []member{{key: "says", list: &c.Says, need: filled, why: "what was noticed; at least one"}}
}

// Missing lists the minimum content that is not there, by key, in the order of
// the schema: "assumptions", "findings[1].evidence". It is empty for a complete
// deliverable; one of no known schema misses its schema.
func (d Deliverable) Missing() []string {
	ms := d.members()
	if ms == nil {
		return []string{"schema"}
	}
	return missing("", ms)
}

func missing(prefix string, ms []member) []string {
	var out []string
	for _, m := range ms {
		if m.lacks() {
			out = append(out, prefix+m.key)
		}
		if m.objs == nil {
			continue
		}
		for i := range m.objs.count() {
			out = append(out, missing(fmt.Sprintf("%s%s[%d].", prefix, m.key, i), m.objs.at(i))...)
		}
	}
	return out
}

// lacks reports whether the member falls short of what it needs.
func (m member) lacks() bool {
	switch {
	case m.need == optional:
		return false
	case m.text != nil:
		return Blank(*m.text)
	case m.objs != nil:
		return !m.objs.present() || m.need == filled && m.objs.count() == 0
	case m.need == said:
		return *m.list == nil
	}
	for _, s := range *m.list {
		if !Blank(s) {
			return false
		}
	}
	return true
}

// Blank reports a text in which there is nothing to read: spaces, marks on
// nothing, and characters that nobody can see.
func Blank(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsSpace(r) && !unicode.In(r, unicode.C, unicode.Mn, unicode.Me) && !strings.ContainsRune("\u115f\u1160\u2800\u3164\uffa0", r)
	})
}

// Ask says in words what a key that Missing named asks for, "" for a key that
// the schema does not have.
func Ask(schema, key string) string {
	d := Deliverable{Schema: schema}
	ms := d.members()
	for {
		head, rest, deeper := strings.Cut(key, ".")
		name, _, _ := strings.Cut(head, "[")
		var next []member
		for _, m := range ms {
			if m.key != name {
				continue
			}
			if !deeper {
				return m.why
			}
			if m.objs != nil {
				m.objs.reset(1)
				next = m.objs.at(0)
			}
		}
		if next == nil {
			return ""
		}
		key, ms = rest, next
	}
}

// Keys lists the keys of a schema in their order, without "schema".
func Keys(schema string) []string {
	d := Deliverable{Schema: schema}
	var out []string
	for _, m := range d.members() {
		out = append(out, m.key)
	}
	return out
}

// Shape is what the value of a key may be.
type Shape uint8

// The shapes.
const (
	NoKey   Shape = iota // the schema has no such key
	Word                 // a text
	List                 // a list of texts
	Objects              // a list of objects
)

// ShapeOf is the shape of a schema's key.
func ShapeOf(schema, key string) Shape {
	d := Deliverable{Schema: schema}
	m, ok := d.member(key)
	switch {
	case !ok:
		return NoKey
	case m.text != nil:
		return Word
	case m.list != nil:
		return List
	}
	return Objects
}

// Text is one text of a deliverable. At is its place, "findings[0].claim".
type Text struct {
	At      string
	Machine bool
	S       *string
}

// Texts lists every text of d, in the order of its keys: empty ones are left
// out. Writing through S changes d.
func (d *Deliverable) Texts() []Text { return texts("", d.members()) }

func texts(prefix string, ms []member) []Text {
	var out []Text
	for _, m := range ms {
		at := prefix + m.key
		switch {
		case m.text != nil && *m.text != "":
			out = append(out, Text{at, m.machine, m.text})
		case m.list != nil:
			for i := range *m.list {
				out = append(out, Text{fmt.Sprintf("%s[%d]", at, i), m.machine, &(*m.list)[i]})
			}
		case m.objs != nil:
			for i := range m.objs.count() {
				out = append(out, texts(fmt.Sprintf("%s[%d].", at, i), m.objs.at(i))...)
			}
		}
	}
	return out
}

// Artifact is what the deliverable is about, "" where its schema has none.
func (d Deliverable) Artifact() string {
	text, _, _ := d.Get("artifact")
	return text
}

// Clone is a copy of d that shares nothing with it.
func (d Deliverable) Clone() Deliverable {
	out := Deliverable{Schema: d.Schema}
	copyMembers(out.members(), d.members())
	return out
}

func copyMembers(to, from []member) {
	for i, m := range from {
		switch {
		case m.text != nil:
			*to[i].text = *m.text
		case m.list != nil:
			if *m.list != nil {
				*to[i].list = append([]string{}, *m.list...)
			}
		case m.objs.present():
			to[i].objs.reset(m.objs.count())
			for j := range m.objs.count() {
				copyMembers(to[i].objs.at(j), m.objs.at(j))
			}
		}
	}
}

package deliver

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// member is one key of an object, as the tags of its field say: exactly one of
// text, list and objs is set.
type member struct {
	key     string
	text    *string
	list    *[]string
	objs    objects
	enum    []string // the words a text may be, none for any
	machine bool     // parsed by code: a path, an id, an enum
	need    string   // "said", "filled" or nothing
	why     string   // what is asked for, in words
	twice   string   // of an id, which stands once: what is said where it stands again
}

// objects is a list of objects of one type, by its address.
type objects struct{ reflect.Value }

func (o objects) isThere() bool     { return o.IsValid() && !o.Elem().IsNil() }
func (o objects) count() int        { return o.Elem().Len() }
func (o objects) at(i int) []member { return membersOf(o.Elem().Index(i)) }
func (o objects) reset(n int)       { o.Elem().Set(reflect.MakeSlice(o.Type().Elem(), n, n)) }

// membersOf are the members of a struct, through which it can be changed.
func membersOf(v reflect.Value) []member {
	ms := make([]member, v.NumField())
	for i := range ms {
		tag, at := v.Type().Field(i).Tag, v.Field(i).Addr()
		m := &ms[i]
		m.key, _, _ = strings.Cut(tag.Get("json"), ",")
		m.enum, m.machine, m.need, m.why, m.twice = strings.Fields(tag.Get("enum")), tag.Get("machine") != "", tag.Get("need"), tag.Get("why"), tag.Get("twice")
		switch list, ok := at.Interface().(*[]string); {
		case ok:
			m.list = list
		case v.Field(i).Kind() == reflect.String:
			m.text = at.Convert(reflect.TypeFor[*string]()).Interface().(*string)
		default:
			m.objs = objects{at}
		}
	}
	if r, ok := v.Addr().Interface().(*Remedy); ok && !Blank(r.Why) {
		ms[1].need = "" // a reason for no change stands for the change
	}
	return ms
}

// schemaMembers are those of the deliverable's schema; an unknown schema has none.
func (d *Deliverable) schemaMembers() []member {
	if b := d.schemaBody(); b != nil {
		return membersOf(reflect.ValueOf(b).Elem())
	}
	return nil
}

func (d *Deliverable) findMember(key string) (member, bool) {
	for _, m := range d.schemaMembers() {
		if m.key == key {
			return m, true
		}
	}
	return member{}, false
}

// schemaBody is what the schema names, made when it is not there; nil for an unknown one.
func (d *Deliverable) schemaBody() any {
	switch d.Schema {
	case SchemaSynthesis:
		return orNew(&d.Synthesis)
	case SchemaPlan:
		return orNew(&d.Plan)
	case SchemaClaims:
		return orNew(&d.Claims)
	case SchemaFindings:
		return orNew(&d.Findings)
	case SchemaRemediation:
		return orNew(&d.Remediation)
	case SchemaCommentary:
		return orNew(&d.Commentary)
	}
	return nil
}

func orNew[T any](p **T) *T {
	if *p == nil {
		*p = new(T)
	}
	return *p
}

// Missing lists the minimum content that is not there, by key, in the order of
// the schema: "assumptions", "findings[1].evidence". It is empty for a complete
// deliverable; one of no known schema misses its schema.
func (d Deliverable) Missing() []string {
	ms := d.schemaMembers()
	if ms == nil {
		return []string{"schema"}
	}
	return findMissing("", ms)
}

func findMissing(prefix string, ms []member) []string {
	var out []string
	for _, m := range ms {
		if m.isLacking() {
			out = append(out, prefix+m.key)
		}
		if !m.objs.IsValid() {
			continue
		}
		for i := range m.objs.count() {
			out = append(out, findMissing(fmt.Sprintf("%s%s[%d].", prefix, m.key, i), m.objs.at(i))...)
		}
	}
	return out
}

// isLacking reports whether the member falls short of what it needs.
func (m member) isLacking() bool {
	switch {
	case m.need == "":
		return false
	case m.text != nil:
		return Blank(*m.text)
	case m.objs.IsValid():
		return !m.objs.isThere() || m.need == "filled" && m.objs.count() == 0
	case m.need == "said":
		return *m.list == nil
	}
	return !slices.ContainsFunc(*m.list, func(s string) bool { return !Blank(s) })
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
	return askFor(d.schemaMembers(), key)
}

func askFor(ms []member, key string) string {
	head, rest, deeper := strings.Cut(key, ".")
	name, _, _ := strings.Cut(head, "[")
	for _, m := range ms {
		switch {
		case m.key != name:
		case !deeper:
			return m.why
		case m.objs.IsValid():
			m.objs.reset(1)
			return askFor(m.objs.at(0), rest)
		}
	}
	return ""
}

// Keys lists the keys of a schema in their order, without "schema".
func Keys(schema string) []string {
	d := Deliverable{Schema: schema}
	var out []string
	for _, m := range d.schemaMembers() {
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
	m, ok := d.findMember(key)
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
func (d *Deliverable) Texts() []Text { return listTexts("", d.schemaMembers()) }

func listTexts(prefix string, ms []member) []Text {
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
		case m.objs.IsValid():
			for i := range m.objs.count() {
				out = append(out, listTexts(fmt.Sprintf("%s[%d].", at, i), m.objs.at(i))...)
			}
		}
	}
	return out
}

// Outline is d as lists for a reader, by key, each text on one line as line makes it: a list
// that is written empty says none, one that is not there is left out, and an object stands
// under its first text.
func (d Deliverable) Outline(line func(string) string) string {
	var b strings.Builder
	writeOutline(&b, "", line, d.schemaMembers())
	return b.String()
}

func writeOutline(b *strings.Builder, mark string, line func(string) string, ms []member) {
	for _, m := range ms {
		name := mark + strings.ReplaceAll(m.key, "_", " ")
		switch {
		case m.text != nil && *m.text != "":
			fmt.Fprintf(b, "%s: %s\n", name, line(*m.text))
		case m.list != nil && *m.list != nil && len(*m.list) == 0, m.objs.isThere() && m.objs.count() == 0:
			fmt.Fprintf(b, "%s: none\n", name)
		case m.list != nil && *m.list != nil && mark != "":
			fmt.Fprintf(b, "%s: %s\n", name, line(strings.Join(*m.list, "; ")))
		case m.list != nil && *m.list != nil:
			fmt.Fprintf(b, "%s:\n", name)
			for _, s := range *m.list {
				fmt.Fprintf(b, "- %s\n", line(s))
			}
		case m.objs.isThere():
			fmt.Fprintf(b, "%s:\n", name)
			for i := range m.objs.count() {
				of := m.objs.at(i)
				fmt.Fprintf(b, "- %s\n", line(cmp.Or(*of[0].text, "unnamed")))
				writeOutline(b, "  - ", line, of[1:])
			}
		}
	}
}

// Artifact is what the deliverable is about, "" where its schema has none.
func (d Deliverable) Artifact() string {
	text, _, _ := d.Get("artifact")
	return text
}

// Clone is a copy of d that shares nothing with it.
func (d Deliverable) Clone() Deliverable {
	out := Deliverable{Schema: d.Schema}
	copyMembers(out.schemaMembers(), d.schemaMembers())
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
		case m.objs.isThere():
			to[i].objs.reset(m.objs.count())
			for j := range m.objs.count() {
				copyMembers(to[i].objs.at(j), m.objs.at(j))
			}
		}
	}
}

// Get returns the text or the list of texts at a key, and whether it is there:
// a text that is not empty, a list that is written, even an empty one.
func (d Deliverable) Get(key string) (text string, list []string, there bool) {
	m, ok := d.findMember(key)
	switch {
	case !ok:
		return "", nil, false
	case m.text != nil:
		return *m.text, nil, *m.text != ""
	case m.list != nil:
		return "", *m.list, *m.list != nil
	}
	return "", nil, m.objs.isThere()
}

// String is the counts in one line: "3 findings: 1 blocker, 2 finding, 0 caveat;
// 1 fix, 1 pivot, 1 accept".
func (s Summary) String() string {
	unit := "findings"
	if s.Total == 1 {
		unit = "finding"
	}
	out := fmt.Sprintf("%d %s: %d blocker, %d finding, %d caveat; %d fix, %d pivot, %d accept", s.Total, unit,
		s.ByClassification[Blocker], s.ByClassification[Defect], s.ByClassification[Caveat],
		s.ByDisposition[Fix], s.ByDisposition[Pivot], s.ByDisposition[Accept])
	if s.Unrated > 0 {
		out += fmt.Sprintf("; %d unrated", s.Unrated)
	}
	return out
}

// Set sets the text or the list of texts at a key of the schema, and leaves
// other keys alone. A nil list is one that is absent.
func (d *Deliverable) Set(key, text string, list []string) {
	switch m, _ := d.findMember(key); {
	case m.text != nil:
		*m.text = text
	case m.list != nil:
		*m.list = list
	}
}

package okf

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// canonType is the type of a document of canon that names none.
const canonType = "canon"

// canonKey is one key of a canon document, and its words where its vocabulary is
// closed.
type canonKey struct {
	name  string
	words []string
}

// canonKeys are the eight keys that every canon document has, in the order they
// are written.
func canonKeys() []canonKey {
	return []canonKey{
		{name: "uri"},
		{name: "title"},
		{"audience", strings.Fields("canon docs public odd operators apocrypha")},
		{"exposure", strings.Fields("nav public draft hidden internal")},
		{"tier", strings.Fields("1 2 3 4")},
		{"voice", strings.Fields("first_person neutral direct narrative conversational authoritative")},
		{"stability", strings.Fields("stable semi_stable evolving draft experimental")},
		{name: "tags"},
	}
}

// CanonKeyNames lists the required keys of a canon document.
func CanonKeyNames() []string {
	var out []string
	for _, k := range canonKeys() {
		out = append(out, k.name)
	}
	return out
}

// canonByKeys reports front matter that only canon has: a uri, or an audience and
// a stability. Canon in the wild has no type; odd reads such a document as one of
// type canon.
func (a *Atom) canonByKeys() bool {
	said := func(key string) bool { return strings.TrimSpace(a.Text(key)) != "" }
	return said("uri") || said("audience") && said("stability")
}

// CanonFault is a key of a canon document that is missing or wrong. Its problem
// has no path and no hint; Found is the value, or the name of a missing key.
type CanonFault struct {
	Problem
	Found string
}

// CanonFaults holds a document to the keys of canon: the eight that are required,
// the vocabulary of some, the types of others, and the form of dates, epochs and
// relations. A key that canon does not know is never reported.
func CanonFaults(a *Atom) []CanonFault {
	f := faults{a: a}
	for _, k := range canonKeys() {
		v, ok := a.Field(k.name)
		if !ok || saysNothing(v.Value) {
			f.add(codeCanonMissing, a.Line(k.name), k.name, "canon document without %s", k.name)
			continue
		}
		f.checkRequired(k, v)
	}
	f.optional()
	if v, ok := a.Field("public"); ok && v.Value == false && a.Text("exposure") == "public" {
		f.add(codeCanonContrary, v.Line, "public", "public: false and exposure: public; change one of them")
	}
	return f.found
}

// faults collects what is wrong with the keys of a.
type faults struct {
	a     *Atom
	found []CanonFault
}

func (f *faults) add(code string, line int, found, format string, args ...any) {
	sev := Error
	if code == codeCanonEnum {
		sev = Warn
	}
	f.found = append(f.found, CanonFault{Problem{Code: code, Severity: sev, Line: line, Message: fmt.Sprintf(format, args...)}, found})
}

// checkRequired checks the type of a required key, and then its word. A tier is an
// integer, and true is none.
func (f *faults) checkRequired(k canonKey, v Field) {
	want, ok := "text", is[string](v.Value)
	switch k.name {
	case "tier":
		want, ok = "an integer", is[int](v.Value)
	case "tags":
		want, ok = "a list of words", is[[]any](v.Value) && scalars(v.Value)
	}
	switch {
	case !ok:
		f.mismatch(v, want)
	case k.words != nil:
		f.word(v, k.words)
	case k.name == "uri" && Authority(text(v.Value)) == "":
		f.add(codeCanonType, v.Line, text(v.Value), "uri %v has no scheme; write it as AUTHORITY://NAME", v.Value)
	}
}

func (f *faults) word(v Field, words []string) {
	if !slices.Contains(words, text(v.Value)) {
		f.add(codeCanonEnum, v.Line, text(v.Value), "%s %v is not in the vocabulary; use one of %s", v.Key, v.Value, strings.Join(words, ", "))
	}
}

// optional checks the keys that a document may have.
func (f *faults) optional() {
	epoch := regexp.MustCompile(`^E[0-9]{4}(\.[0-9]+)*$`)
	for _, v := range f.a.Fields {
		if v.Value == nil {
			continue
		}
		switch v.Key {
		case "public", "archived", "start_here", "fallback":
			f.holds(is[bool](v.Value), v, "true or false")
		case "order":
			f.holds(is[int](v.Value), v, "an integer")
		case "status": // canon's own words, and those of OKF
			f.word(v, strings.Fields("active proposed draft final stable superseded archived deprecated"))
		case "date":
			f.holds(isDay(text(v.Value)), v, "a date such as 2026-01-31")
		case "epoch":
			f.holds(epoch.MatchString(text(v.Value)), v, "an epoch such as E0008.5")
		case "derives_from", "complements", string(Supersedes), string(SupersededBy):
			f.holds(is[string](v.Value) || scalars(v.Value), v, "a uri, a path, or a list of them")
		}
	}
}

func (f *faults) holds(ok bool, v Field, want string) {
	if !ok {
		f.mismatch(v, want)
	}
}

func (f *faults) mismatch(v Field, want string) {
	if s, ok := v.Value.(string); ok {
		f.add(codeCanonType, v.Line, s, "%s is the text %q; it must be %s", v.Key, s, want)
		return
	}
	f.add(codeCanonType, v.Line, fmt.Sprint(v.Value), "%s is %v; it must be %s", v.Key, v.Value, want)
}

// isDay reports a day that exists, or a moment.
func isDay(s string) bool {
	if _, err := time.Parse(time.DateOnly, s); err == nil {
		return true
	}
	_, err := time.Parse(time.RFC3339, s)
	return err == nil
}

func is[T any](v any) bool {
	_, ok := v.(T)
	return ok
}

// saysNothing reports an empty value.
func saysNothing(v any) bool {
	s, isText := v.(string)
	return len(items(v)) == 0 || isText && strings.TrimSpace(s) == ""
}

// scalars reports a list without lists, mappings and gaps in it.
func scalars(v any) bool {
	list, ok := v.([]any)
	return ok && !slices.ContainsFunc(list, func(e any) bool { return e == nil || is[[]any](e) || is[map[string]any](e) })
}

// canon checks the keys of canon documents. One of a type, but without a uri, does
// not claim to be canon that others cite, and is left alone.
func (c *checker) canon() {
	if _, typed := c.a.Field("type"); !typed {
		c.add(Warn, codeType, 1, "add the line \"type: canon\"", "no type; odd reads the document as canon, because it has the keys of canon")
	} else if c.a.URI == "" || !governs(c.a.Type) {
		return
	}
	for _, f := range CanonFaults(c.a) {
		c.add(f.Severity, f.Code, f.Line, "", "%s", f.Message)
	}
}

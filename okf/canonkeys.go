package okf

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// canonType is the type of a canon document that names none.
const canonType = "canon"

// canonKey is one key of a canon document, with its allowed words if the list is closed.
type canonKey struct {
	name  string
	words []string
}

// canonKeys returns the eight keys that every canon document must have, in the order of a
// canonical file.
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

// hasCanonKeys reports front matter that only canon has: a uri, or an audience and a
// stability. Canon written for other tools has no type; odd reads such a document as type
// canon.
func (a *Atom) hasCanonKeys() bool {
	said := func(key string) bool { return strings.TrimSpace(a.Text(key)) != "" }
	return said("uri") || said("audience") && said("stability")
}

// CanonFault is a key of a canon document that is missing or wrong. Its problem has no path
// and no hint. Found is the value, or the name of a missing key.
type CanonFault struct {
	Problem
	Found string
}

// CanonFaults checks the keys of a canon document: the eight required ones, the allowed
// words of some, the types of others, and the form of dates, epochs and relations. It never
// reports a key that canon does not know.
func CanonFaults(a *Atom) []CanonFault {
	f := canonChecker{a: a}
	for _, k := range canonKeys() {
		v, ok := a.Field(k.name)
		if !ok || isEmptyValue(v.Value) {
			f.add(codeCanonMissing, a.Line(k.name), k.name, "canon document without %s", k.name)
			continue
		}
		f.checkRequired(k, v)
	}
	f.checkOptional()
	if v, ok := a.Field("public"); ok && v.Value == false && a.Text("exposure") == "public" {
		f.add(codeCanonContrary, v.Line, "public", "public: false and exposure: public; change one of them")
	}
	return f.found
}

// canonChecker collects what is wrong with the keys of a.
type canonChecker struct {
	a     *Atom
	found []CanonFault
}

func (f *canonChecker) add(code string, line int, found, format string, args ...any) {
	sev := Error
	if code == codeCanonEnum {
		sev = Warn
	}
	f.found = append(f.found, CanonFault{Problem{Code: code, Severity: sev, Line: line, Message: fmt.Sprintf(format, args...)}, found})
}

// checkRequired checks the type of a required key, and then its word. A tier must be an
// integer; true is none.
func (f *canonChecker) checkRequired(k canonKey, v Field) {
	want, ok := "text", hasType[string](v.Value)
	switch k.name {
	case "tier":
		want, ok = "an integer", hasType[int](v.Value)
	case "tags":
		want, ok = "a list of words", hasType[[]any](v.Value) && isScalarList(v.Value)
	}
	switch {
	case !ok:
		f.reportMismatch(v, want)
	case k.words != nil:
		f.checkWord(v, k.words)
	case k.name == "uri" && Authority(valueText(v.Value)) == "":
		f.add(codeCanonType, v.Line, valueText(v.Value), "uri %v has no scheme; write it as AUTHORITY://NAME", v.Value)
	}
}

func (f *canonChecker) checkWord(v Field, words []string) {
	if !slices.Contains(words, valueText(v.Value)) {
		f.add(codeCanonEnum, v.Line, valueText(v.Value), "%s %v is not in the vocabulary; use one of %s", v.Key, v.Value, strings.Join(words, ", "))
	}
}

// checkOptional checks the keys that a document may have.
func (f *canonChecker) checkOptional() {
	epoch := regexp.MustCompile(`^E[0-9]{4}(\.[0-9]+)*$`)
	for _, v := range f.a.Fields {
		if v.Value == nil {
			continue
		}
		switch v.Key {
		case "public", "archived", "start_here", "fallback":
			f.require(hasType[bool](v.Value), v, "true or false")
		case "order":
			f.require(hasType[int](v.Value), v, "an integer")
		case "status": // canon's own words, and those of OKF
			f.checkWord(v, strings.Fields("active proposed draft final stable superseded archived deprecated"))
		case "date":
			f.require(isDay(valueText(v.Value)), v, "a date such as 2026-01-31")
		case "epoch":
			f.require(epoch.MatchString(valueText(v.Value)), v, "an epoch such as E0008.5")
		case "derives_from", "complements", string(Supersedes), string(SupersededBy):
			f.require(hasType[string](v.Value) || isScalarList(v.Value), v, "a uri, a path, or a list of them")
		}
	}
}

func (f *canonChecker) require(ok bool, v Field, want string) {
	if !ok {
		f.reportMismatch(v, want)
	}
}

func (f *canonChecker) reportMismatch(v Field, want string) {
	if s, ok := v.Value.(string); ok {
		f.add(codeCanonType, v.Line, s, "%s is the text %q; it must be %s", v.Key, s, want)
		return
	}
	f.add(codeCanonType, v.Line, fmt.Sprint(v.Value), "%s is %v; it must be %s", v.Key, v.Value, want)
}

// isDay reports whether s is a date that exists, or a time in RFC 3339.
func isDay(s string) bool {
	if _, err := time.Parse(time.DateOnly, s); err == nil {
		return true
	}
	_, err := time.Parse(time.RFC3339, s)
	return err == nil
}

func hasType[T any](v any) bool {
	_, ok := v.(T)
	return ok
}

// isEmptyValue reports a value that is nil, an empty list or blank text.
func isEmptyValue(v any) bool {
	s, isText := v.(string)
	return len(listItems(v)) == 0 || isText && strings.TrimSpace(s) == ""
}

// isScalarList reports a list that holds no list, mapping or empty item.
func isScalarList(v any) bool {
	list, ok := v.([]any)
	return ok && !slices.ContainsFunc(list, func(e any) bool { return e == nil || hasType[[]any](e) || hasType[map[string]any](e) })
}

// checkCanon checks the keys of canon documents. A document with a type but without a uri
// does not claim to be canon that others cite, and is not checked.
func (c *checker) checkCanon() {
	if _, typed := c.a.Field("type"); !typed {
		c.add(Warn, codeType, 1, "add the line \"type: canon\"", "no type; odd reads the document as canon, because it has the keys of canon")
	} else if c.a.URI == "" || !isCanonType(c.a.Type) {
		return
	}
	for _, f := range CanonFaults(c.a) {
		c.add(f.Severity, f.Code, f.Line, "", "%s", f.Message)
	}
}

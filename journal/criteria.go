package journal

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Criterion is one point of a type's quality.
type Criterion struct {
	Name  string // short: Substance, Rationale
	Check string // what is asked, in words
	Gap   string // what to tell a writer who missed it
	rule  rule   // nil: no mechanical form
}

// Scored reports whether the criterion is mechanical, and so counts.
func (c Criterion) Scored() bool { return c.rule != nil }

// rule decides a criterion from the entry alone. missed is why it is not met, "" when it is.
type rule interface{ whyMissed(e Entry) string }

// atLeast asks for n words in a field.
type atLeast struct {
	field string
	n     int
}

func (a atLeast) whyMissed(e Entry) string {
	switch n := len(words(e.Get(a.field))); {
	case n >= a.n:
		return ""
	case n == 0:
		return "no " + a.field
	default:
		return fmt.Sprintf("%s has %d of %d words", a.field, n, a.n)
	}
}

// oneOf asks for at least one of some words or phrases in one of the fields.
type oneOf struct {
	fields []string
	any    []string
}

func (o oneOf) whyMissed(e Entry) string {
	for _, f := range o.fields {
		if has(e.Get(f), o.any) != "" {
			return ""
		}
	}
	some := strings.Join(o.any[:min(6, len(o.any))], ", ")
	if len(o.any) > 6 {
		some += " …"
	}
	return fmt.Sprintf("%s has none of: %s", strings.Join(o.fields, " or "), some)
}

// noneOf forbids words in a field.
type noneOf struct {
	field string
	words []string
}

func (n noneOf) whyMissed(e Entry) string {
	if w := has(e.Get(n.field), n.words); w != "" {
		return fmt.Sprintf("%s says %q", n.field, w)
	}
	return ""
}

// matches asks a field to match.
type matches struct {
	field string
	re    *regexp.Regexp
}

func (m matches) whyMissed(e Entry) string {
	v := e.Get(m.field)
	switch {
	case m.re.MatchString(v):
		return ""
	case strings.TrimSpace(v) == "":
		return "no " + m.field
	}
	return fmt.Sprintf("%s %q does not match %s", m.field, v, m.re)
}

// refs asks for n different references in a field.
type refs struct {
	field string
	n     int
}

func (r refs) whyMissed(e Entry) string {
	if n := len(e.list(r.field)); n < r.n {
		return fmt.Sprintf("%s names %d of %d", r.field, n, r.n)
	}
	return ""
}

// either is met when one of its rules is, and else missed for the reason of the first.
type either []rule

func (a either) whyMissed(e Entry) string {
	first := ""
	for i, r := range a {
		m := r.whyMissed(e)
		if m == "" {
			return ""
		}
		if i == 0 {
			first = m
		}
	}
	return first
}

// test is a rule that is a function.
type test func(e Entry) string

func (t test) whyMissed(e Entry) string { return t(e) }

// has is the first of the words or phrases that stands in s as such, in any case.
func has(s string, any []string) string {
	s = " " + plain(s) + " "
	for _, w := range any {
		if strings.Contains(s, " "+plain(w)+" ") {
			return w
		}
	}
	return ""
}

// plain is s in lower case, with one space for whatever stands between words.
func plain(s string) string {
	between := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '’' }
	s = strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(s), `\n`, " "), "’", "'")
	return strings.Join(strings.FieldsFunc(s, between), " ")
}

// concrete asks a body for a number, a name or a thing that can be pointed at:
// a digit, a quotation, a path or a word in capitals that begins no sentence.
func concrete(e Entry) string {
	if strings.ContainsFunc(e.Content, unicode.IsDigit) || strings.ContainsAny(e.Content, "`\"“") {
		return ""
	}
	start := true
	for _, w := range words(e.Content) {
		first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(w, unicode.IsPunct))
		if !start && unicode.IsUpper(first) && w != "I" {
			return ""
		}
		if strings.ContainsAny(strings.Trim(w, ".,;:!?"), "/_.") {
			return ""
		}
		start = strings.ContainsAny(w[len(w)-1:], ".!?:")
	}
	return "body has no number, name or other concrete detail"
}

// checkPoles asks every pole of a tension to be a reference and not a mere label.
func checkPoles(e Entry) string {
	poles := e.list("between")
	if len(poles) == 0 {
		return "no between"
	}
	i := slices.IndexFunc(poles, func(p string) bool { return !strings.ContainsAny(p, "/#@") && !fileName().MatchString(p) })
	if i < 0 {
		return ""
	}
	return fmt.Sprintf("between: %q is a label, not a path, a uri or an entry", poles[i])
}

var fileName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\.[a-z]{1,5}(:\d+)?$`) })

// closure asks a tension's status to be settled, or to say what would settle it.
func closure(e Entry) string {
	s := e.Get("status")
	rest, open := strings.CutPrefix(strings.ToLower(s), "open")
	ref, resolved := strings.CutPrefix(strings.ToLower(s), "resolved")
	switch {
	case resolved && strings.Trim(ref, " :") != "", open && len(words(strings.Trim(rest, " -–—:;,"))) >= 2:
		return ""
	case s == "":
		return "no status"
	}
	return fmt.Sprintf("status %q is neither resolved:REF nor open with what would close it", s)
}

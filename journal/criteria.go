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

// Criterion is one quality criterion of a type.
type Criterion struct {
	Name  string // short: Substance, Rationale
	Check string // the requirement, in words
	Gap   string // what to tell a writer who missed it
	rule  rule   // nil if odd cannot decide it
}

// Scored reports whether odd can decide the criterion, so that it counts.
func (c Criterion) Scored() bool { return c.rule != nil }

// rule decides a criterion from the entry alone. whyMissed returns why it is not met, "" if it is.
type rule interface{ whyMissed(e Entry) string }

// atLeast requires n words in a field.
type atLeast struct {
	field string
	n     int
}

func (a atLeast) whyMissed(e Entry) string {
	switch n := len(splitWords(e.Get(a.field))); {
	case n >= a.n:
		return ""
	case n == 0:
		return "no " + a.field
	default:
		return fmt.Sprintf("%s has %d of %d words", a.field, n, a.n)
	}
}

// oneOf requires at least one of some words or phrases in one of the fields.
type oneOf struct {
	fields []string
	any    []string
}

func (o oneOf) whyMissed(e Entry) string {
	for _, f := range o.fields {
		if findPhrase(e.Get(f), o.any) != "" {
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
	if w := findPhrase(e.Get(n.field), n.words); w != "" {
		return fmt.Sprintf("%s says %q", n.field, w)
	}
	return ""
}

// matches requires a field to match an expression.
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

// refs requires n different references in a field.
type refs struct {
	field string
	n     int
}

func (r refs) whyMissed(e Entry) string {
	if n := len(e.listItems(r.field)); n < r.n {
		return fmt.Sprintf("%s names %d of %d", r.field, n, r.n)
	}
	return ""
}

// anyRule is met if one of its rules is; otherwise it returns the reason of the first.
type anyRule []rule

func (a anyRule) whyMissed(e Entry) string {
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

type funcRule func(e Entry) string

func (t funcRule) whyMissed(e Entry) string { return t(e) }

// findPhrase returns the first of the words or phrases that occurs in s as whole words, in any case.
func findPhrase(s string, any []string) string {
	s = " " + normaliseText(s) + " "
	for _, w := range any {
		if strings.Contains(s, " "+normaliseText(w)+" ") {
			return w
		}
	}
	return ""
}

// normaliseText returns s in lower case with one space between words and no punctuation.
func normaliseText(s string) string {
	between := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '’' }
	s = strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(s), `\n`, " "), "’", "'")
	return strings.Join(strings.FieldsFunc(s, between), " ")
}

// checkConcrete requires a concrete detail in a body: a digit, a quotation, a path, or a capitalised word that does
// not begin a sentence.
func checkConcrete(e Entry) string {
	if strings.ContainsFunc(e.Content, unicode.IsDigit) || strings.ContainsAny(e.Content, "`\"“") {
		return ""
	}
	start := true
	for _, w := range splitWords(e.Content) {
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

// checkPoles requires every pole of a tension to be a reference, not a mere label.
func checkPoles(e Entry) string {
	poles := e.listItems("between")
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

// checkClosure requires a tension's status to be resolved, or to say what would resolve it.
func checkClosure(e Entry) string {
	s := e.Get("status")
	rest, open := strings.CutPrefix(strings.ToLower(s), "open")
	ref, resolved := strings.CutPrefix(strings.ToLower(s), "resolved")
	switch {
	case resolved && strings.Trim(ref, " :") != "", open && len(splitWords(strings.Trim(rest, " -–—:;,"))) >= 2:
		return ""
	case s == "":
		return "no status"
	}
	return fmt.Sprintf("status %q is neither resolved:REF nor open with what would close it", s)
}

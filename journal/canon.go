package journal

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Document is a document of canon that is tagged "encoding-type": it adds a
// type of entry to a knowledge base, or refines one.
type Document struct {
	Name string // what messages call it
	Body []byte // the markdown below the frontmatter
	Line int    // of the file, on which Body begins
}

// Located is a problem of a document of canon.
type Located struct {
	File string
	Line int
	Text string
}

// Error is "file:line: what".
func (l Located) Error() string { return fmt.Sprintf("%s:%d: %s", l.File, l.Line, l.Text) }

// RegistryOf is the standard registry with the types that documents declare, in the order of the documents. A document
// has up to four sections, and all but the first may be missing:
//
//	Type Identity     a table with the rows Letter (one capital) and Name, and Facet where the letter is shared
//	Field Schema      a table whose first column names the fields in order
//	Trigger Words     a block of code with words and commas, or a table
//	Quality Criteria  a table: criterion, check, what to say to who missed it
//
// A letter and facet that exist are refined: sections the document has stand in place of what was, those it has not
// stay. A check counts where it is of a form odd can decide (see formOf). Where it is not, but a standard criterion of
// that type has its name, that one's rule goes on deciding; else it is listed and never scored.
//
// A document that says nothing usable is left out, and every problem is returned; the registry is good without them.
func RegistryOf(docs []Document) (Registry, []Located) {
	r := Standard()
	var all []Located
	source := map[string]string{}
	for _, d := range docs {
		p := canonParser{doc: d}
		t, ok := p.read()
		if other, twice := source[t.ID()]; ok && twice {
			p.bad(d.Line, "type %s is declared by %s already; one document a type", t.ID(), other)
			ok = false
		}
		if ok {
			r = p.merge(r, t)
			source[t.ID()] = d.Name
		}
		all = append(all, p.problems...)
	}
	return r, all
}

// canonParser reads one document.
type canonParser struct {
	doc      Document
	problems []Located
}

func (p *canonParser) bad(line int, format string, args ...any) {
	p.problems = append(p.problems, Located{p.doc.Name, line, fmt.Sprintf(format, args...)})
}

func (p *canonParser) read() (Type, bool) {
	first := max(p.doc.Line, 1)
	var t Type
	seen := map[string]section{}
	for _, s := range sections(mdLines(string(p.doc.Body), first)) {
		for _, name := range []string{"type identity", "field schema", "trigger words", "quality criteria"} {
			if _, twice := seen[name]; !twice && strings.HasPrefix(strings.ToLower(s.title), name) {
				seen[name] = s
			}
		}
	}
	id, ok := seen["type identity"]
	if !ok {
		p.bad(first, "tagged encoding-type and has no section Type Identity; add its table of Letter and Name")
		return t, false
	}
	if t, ok = p.identity(id); !ok {
		return t, false
	}
	t.Source = p.doc.Name
	t.Fields = p.fields(seen["field schema"])
	t.Triggers = triggers(seen["trigger words"])
	t.Criteria = p.criteria(seen["quality criteria"], t)
	return t, true
}

// identity reads the table of Letter, Name and Facet, which may stand upright or lie.
func (p *canonParser) identity(s section) (Type, bool) {
	head, rows := table(s.lines)
	if len(rows) > 0 && slices.ContainsFunc(head.cells, func(c string) bool { return strings.EqualFold(bare(c), "letter") }) {
		for i, c := range head.cells {
			rows = append(rows, tableRow{rows[0].n, []string{c, at(rows[0].cells, i)}})
		}
	}
	var t Type
	line := s.line
	for _, r := range rows {
		value := bare(at(r.cells, 1))
		switch strings.ToLower(bare(r.cells[0])) {
		case "letter":
			t.Letter, line = value, r.n
		case "name":
			t.Name = value
		case "facet":
			t.Facet = strings.ToLower(value)
		}
	}
	if t.Facet == "closed" {
		t.Facet = ""
	}
	letter, size := utf8.DecodeRuneInString(t.Letter)
	switch {
	case size != len(t.Letter) || !unicode.IsUpper(letter):
		p.bad(line, "letter %q; want one capital, like P", t.Letter)
	case t.Name == "" || strings.ContainsFunc(t.Name, unicode.IsControl):
		p.bad(line, "type %s has no name; add the row Name", t.Letter)
	case t.Facet != "" && !fieldName().MatchString(t.Facet):
		p.bad(line, "facet %q; want one word in lower case", t.Facet)
	default:
		return t, true
	}
	return t, false
}

var fieldName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_]*$`) })

// fields reads the first column of a schema. What is no name of a field is a problem.
func (p *canonParser) fields(s section) []string {
	var out []string
	_, rows := table(s.lines)
	for _, r := range rows {
		name := nameOf(r.cells[0])
		switch {
		case name == "type" || name == "facet":
		case !fieldName().MatchString(name) || name == closes:
			p.bad(r.n, "field %q; want a name in lower case that is not odd's own", bare(r.cells[0]))
		case slices.Contains(out, name):
			p.bad(r.n, "field %s is there twice", name)
		default:
			out = append(out, name)
		}
	}
	return out
}

// nameOf is a field's name as rows have it: "Blocked by" is blocked_by.
func nameOf(s string) string {
	return strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(bare(s)))
}

func triggers(s section) []string {
	var text []string
	for _, l := range s.lines {
		if l.code && fenceMark(l.text) == "" {
			text = append(text, strings.Split(l.text, ",")...)
		}
	}
	if text == nil {
		_, rows := table(s.lines)
		for _, r := range rows {
			text = append(text, strings.Split(r.cells[0], ",")...)
		}
	}
	var out []string
	for _, w := range text {
		if w = bare(w); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// criteria reads the table. A check of a field that t does not have is a problem, and is not scored.
func (p *canonParser) criteria(s section, t Type) []Criterion {
	fields := append([]string{"title", "body"}, t.Fields...)
	if was, ok := Standard().Find(t.ID()); ok {
		fields = slices.Concat(fields, was.Fields, was.Extra)
	}
	var out []Criterion
	_, rows := table(s.lines)
	for _, r := range rows {
		c := Criterion{Name: bare(r.cells[0]), Check: at(r.cells, 1), Gap: bare(at(r.cells, 2))}
		if c.Name == "" || c.Check == "" {
			p.bad(r.n, "a criterion needs a name and a check")
			continue
		}
		var err error
		if c.rule, err = formOf(c.Check); err != nil {
			p.bad(r.n, "criterion %s: %v", c.Name, err)
		}
		if f := asks(c.rule); f != "" && !slices.Contains(fields, f) {
			p.bad(r.n, "criterion %s asks for %q, which is no field of %s", c.Name, f, t.ID())
			c.rule = nil
		}
		out = append(out, c)
	}
	return out
}

// asks is the field that a rule made by formOf reads.
func asks(r rule) string {
	switch r := r.(type) {
	case atLeast:
		return r.field
	case oneOf:
		return r.fields[0]
	case noneOf:
		return r.field
	case matches:
		return r.field
	case refs:
		return r.field
	}
	return ""
}

// merge puts t into r: in place of the type of its identity, or behind the others.
func (p *canonParser) merge(r Registry, t Type) Registry {
	i := slices.IndexFunc(r, func(o Type) bool { return o.Letter == t.Letter && o.Facet == t.Facet })
	if i < 0 {
		if t.Fields == nil {
			t.Fields = []string{"title", "body"}
		}
		return append(r, t)
	}
	was := r[i]
	if t.Fields == nil {
		t.Fields = was.Fields
	}
	t.Extra = slices.DeleteFunc(slices.Clone(was.Extra), func(f string) bool { return slices.Contains(t.Fields, f) })
	if t.Triggers == nil {
		t.Triggers = was.Triggers
	}
	if t.Criteria == nil {
		t.Criteria = was.Criteria
	}
	for i, c := range t.Criteria {
		j := slices.IndexFunc(was.Criteria, func(o Criterion) bool { return strings.EqualFold(o.Name, c.Name) })
		if c.rule == nil && j >= 0 {
			t.Criteria[i].rule = was.Criteria[j].rule
		}
	}
	r[i] = t
	return r
}

// at is the i-th cell, "" where a row is shorter.
func at(cells []string, i int) string {
	if i < len(cells) {
		return cells[i]
	}
	return ""
}

// The forms of a check that odd decides. They are matched whole: "body is ≥10
// words and kind" is not the first of them.
var (
	formWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("(?i)^`?([a-z][a-z0-9_ -]*?)`?(?: column| field)? (?:is non-empty and |is |has |contains )?(?:≥ ?|>= ?|at least )([0-9]{1,3}) words$")
	})
	formFilled = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("(?i)^`?([a-z][a-z0-9_ -]*?)`?(?: column| field)? is (?:non-empty|nonempty|not empty|present)$")
	})
	formOneOf = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("(?i)^`?([a-z][a-z0-9_ -]*?)`?(?: column| field)? (contains|has|is) (?:at least )?(?:one|any) of:? (.+)$")
	})
	formNoneOf = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("(?i)^`?([a-z][a-z0-9_ -]*?)`?(?: column| field)? (?:contains|has) none of:? (.+)$")
	})
	formLacks = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^([a-z][a-z0-9_ -]*?)(?: column| field)? does not contain [a-z ]*\(([^()]+)\)$`)
	})
	formMatches = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("(?i)^`?([a-z][a-z0-9_ -]*?)`?(?: column| field)? (?:is non-empty and )?matches `([^`]+)`$")
	})
	formRefs = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("(?i)^`?([a-z][a-z0-9_ -]*?)`?(?: column| field)? (?:references|names|lists) (?:≥ ?|>= ?|at least )([0-9]{1,2})(?: distinct)?(?: [a-z/]+)?$")
	})
)

// formOf is the rule a check spells, nil when it is of none of these forms:
// "X is ≥N words", "X is non-empty" (also "and ≥N words"), "X contains one of a, b", "X is one of a, b",
// "X contains none of a, b", "X does not contain … (a, b)", "X matches `regexp`",
// "X references ≥N". The error is for a form that cannot be meant.
func formOf(check string) (rule, error) {
	check = strings.TrimSuffix(strings.TrimSpace(check), ".")
	if m := formWords().FindStringSubmatch(check); m != nil {
		n, err := strconv.Atoi(m[2])
		return atLeast{nameOf(m[1]), n}, err
	}
	if m := formFilled().FindStringSubmatch(check); m != nil {
		return atLeast{nameOf(m[1]), 1}, nil
	}
	if m := formOneOf().FindStringSubmatch(check); m != nil {
		field, any := nameOf(m[1]), wordList(m[3])
		if strings.EqualFold(m[2], "is") {
			return matches{field, exactly(any)}, nil
		}
		return oneOf{[]string{field}, any}, nil
	}
	for _, re := range []*regexp.Regexp{formNoneOf(), formLacks()} {
		if m := re.FindStringSubmatch(check); m != nil {
			return noneOf{nameOf(m[1]), wordList(m[2])}, nil
		}
	}
	if m := formMatches().FindStringSubmatch(check); m != nil {
		re, err := regexp.Compile(`^(?:` + m[2] + `)$`)
		if err != nil {
			return nil, fmt.Errorf("%q is no regular expression", m[2])
		}
		return matches{nameOf(m[1]), re}, nil
	}
	if m := formRefs().FindStringSubmatch(check); m != nil {
		n, err := strconv.Atoi(m[2])
		return refs{nameOf(m[1]), n}, err
	}
	return nil, nil
}

// exactly matches one of some words and nothing more, in any case.
func exactly(words []string) *regexp.Regexp {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = regexp.QuoteMeta(w)
	}
	return regexp.MustCompile(`(?i)^(?:` + strings.Join(quoted, "|") + `)$`)
}

// wordList are the items of "a, b or c".
func wordList(s string) []string {
	var out []string
	s = strings.NewReplacer(" or ", ",", " and ", ",").Replace(strings.Trim(s, "()"))
	for w := range strings.SplitSeq(s, ",") {
		if w = bare(w); w != "" {
			out = append(out, w)
		}
	}
	return out
}

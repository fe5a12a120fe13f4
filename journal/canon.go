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

// Document is a canon document with the tag "encoding-type": it adds a type of entry to a knowledge base, or
// refines one.
type Document struct {
	Name string // what messages call it
	Body []byte // the markdown below the frontmatter
	Line int    // the line of the file on which Body begins
}

// Located is a problem with its file and line.
type Located struct {
	File string
	Line int
	Text string
}

// Error returns "file:line: what".
func (l Located) Error() string { return fmt.Sprintf("%s:%d: %s", l.File, l.Line, l.Text) }

// RegistryOf returns the standard registry with the types that documents declare, in the order of the documents. A
// document has up to four sections; only the first is required:
//
//	Type Identity     a table with the rows Letter (one capital) and Name, and Facet if types share the letter
//	Field Schema      a table whose first column names the fields in order
//	Trigger Words     a block of code with words and commas, or a table
//	Quality Criteria  a table: criterion, check, what to tell a writer who missed it
//
// If the letter and facet exist already, the document refines that type: its sections replace the old ones, and
// missing sections stay. A check counts if odd can decide its form (see parseCheck). If not, a standard criterion
// of that type with the same name decides instead; without one the check is listed but never scored.
//
// A document without a usable type is left out. Every problem is returned, and the registry can be used in any
// case.
func RegistryOf(docs []Document) (Registry, []Located) {
	r := Standard()
	var all []Located
	source := map[string]string{}
	for _, d := range docs {
		p := canonParser{doc: d}
		t, ok := p.parse()
		if other, twice := source[t.ID()]; ok && twice {
			p.addProblem(d.Line, "type %s is declared by %s already; one document a type", t.ID(), other)
			ok = false
		}
		if ok {
			r = p.mergeType(r, t)
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

func (p *canonParser) addProblem(line int, format string, args ...any) {
	p.problems = append(p.problems, Located{p.doc.Name, line, fmt.Sprintf(format, args...)})
}

func (p *canonParser) parse() (Type, bool) {
	first := max(p.doc.Line, 1)
	var t Type
	seen := map[string]section{}
	for _, s := range splitSections(splitLines(string(p.doc.Body), first)) {
		for _, name := range []string{"type identity", "field schema", "trigger words", "quality criteria"} {
			if _, twice := seen[name]; !twice && strings.HasPrefix(strings.ToLower(s.title), name) {
				seen[name] = s
			}
		}
	}
	id, ok := seen["type identity"]
	if !ok {
		p.addProblem(first, "tagged encoding-type and has no section Type Identity; add its table of Letter and Name")
		return t, false
	}
	if t, ok = p.parseIdentity(id); !ok {
		return t, false
	}
	t.Fields = p.parseFields(seen["field schema"])
	t.Criteria = p.parseCriteria(seen["quality criteria"], t)
	return t, true
}

// parseIdentity reads the table of Letter, Name and Facet, as rows or as columns.
func (p *canonParser) parseIdentity(s section) (Type, bool) {
	head, rows := parseTable(s.lines)
	if len(rows) > 0 && slices.ContainsFunc(head.cells, func(c string) bool { return strings.EqualFold(stripMarkup(c), "letter") }) {
		for i, c := range head.cells {
			rows = append(rows, tableRow{rows[0].n, []string{c, cellAt(rows[0].cells, i)}})
		}
	}
	var t Type
	line := s.line
	for _, r := range rows {
		value := stripMarkup(cellAt(r.cells, 1))
		switch strings.ToLower(stripMarkup(r.cells[0])) {
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
		p.addProblem(line, "letter %q; want one capital, like P", t.Letter)
	case t.Name == "" || strings.ContainsFunc(t.Name, unicode.IsControl):
		p.addProblem(line, "type %s has no name; add the row Name", t.Letter)
	case t.Facet != "" && !fieldName().MatchString(t.Facet):
		p.addProblem(line, "facet %q; want one word in lower case", t.Facet)
	default:
		return t, true
	}
	return t, false
}

var fieldName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_]*$`) })

// parseFields reads the first column of a schema. A cell that cannot name a field is a problem.
func (p *canonParser) parseFields(s section) []string {
	var out []string
	_, rows := parseTable(s.lines)
	for _, r := range rows {
		name := parseFieldName(r.cells[0])
		switch {
		case name == "type" || name == "facet":
		case !fieldName().MatchString(name) || name == closes:
			p.addProblem(r.n, "field %q; want a name in lower case that is not odd's own", stripMarkup(r.cells[0]))
		case slices.Contains(out, name):
			p.addProblem(r.n, "field %s is there twice", name)
		default:
			out = append(out, name)
		}
	}
	return out
}

// parseFieldName returns a field's name as rows have it: blocked_by for "Blocked by".
func parseFieldName(s string) string {
	return strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(stripMarkup(s)))
}

// parseCriteria reads the table. A check of a field that t does not have is a problem and is not scored.
func (p *canonParser) parseCriteria(s section, t Type) []Criterion {
	fields := append([]string{"title", "body"}, t.Fields...)
	if was, ok := Standard().Find(t.ID()); ok {
		fields = slices.Concat(fields, was.Fields, was.Extra)
	}
	var out []Criterion
	_, rows := parseTable(s.lines)
	for _, r := range rows {
		c := Criterion{Name: stripMarkup(r.cells[0]), Check: cellAt(r.cells, 1), Gap: stripMarkup(cellAt(r.cells, 2))}
		if c.Name == "" || c.Check == "" {
			p.addProblem(r.n, "a criterion needs a name and a check")
			continue
		}
		var err error
		if c.rule, err = parseCheck(c.Check); err != nil {
			p.addProblem(r.n, "criterion %s: %v", c.Name, err)
		}
		if f := ruleField(c.rule); f != "" && !slices.Contains(fields, f) {
			p.addProblem(r.n, "criterion %s asks for %q, which is no field of %s", c.Name, f, t.ID())
			c.rule = nil
		}
		out = append(out, c)
	}
	return out
}

// ruleField returns the field that a rule from parseCheck reads.
func ruleField(r rule) string {
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

// mergeType puts t into r: in place of the type with its identity, or at the end.
func (p *canonParser) mergeType(r Registry, t Type) Registry {
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

// cellAt returns the i-th cell, "" if the row is shorter.
func cellAt(cells []string, i int) string {
	if i < len(cells) {
		return cells[i]
	}
	return ""
}

// The forms of a check that odd can decide. They match the whole check: "body is ≥10 words
// and kind" is not the first of them.
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

// parseCheck returns the rule that a check spells, nil if it has none of these forms: "X is ≥N words", "X is
// non-empty" (also "and ≥N words"), "X contains one of a, b", "X is one of a, b", "X contains none of a, b", "X
// does not contain … (a, b)", "X matches `regexp`", "X references ≥N". The error is for a form with an invalid
// number or expression.
func parseCheck(check string) (rule, error) {
	check = strings.TrimSuffix(strings.TrimSpace(check), ".")
	if m := formWords().FindStringSubmatch(check); m != nil {
		n, err := strconv.Atoi(m[2])
		return atLeast{parseFieldName(m[1]), n}, err
	}
	if m := formFilled().FindStringSubmatch(check); m != nil {
		return atLeast{parseFieldName(m[1]), 1}, nil
	}
	if m := formOneOf().FindStringSubmatch(check); m != nil {
		field, any := parseFieldName(m[1]), splitWordList(m[3])
		if strings.EqualFold(m[2], "is") {
			return matches{field, matchExactly(any)}, nil
		}
		return oneOf{[]string{field}, any}, nil
	}
	for _, re := range []*regexp.Regexp{formNoneOf(), formLacks()} {
		if m := re.FindStringSubmatch(check); m != nil {
			return noneOf{parseFieldName(m[1]), splitWordList(m[2])}, nil
		}
	}
	if m := formMatches().FindStringSubmatch(check); m != nil {
		re, err := regexp.Compile(`^(?:` + m[2] + `)$`)
		if err != nil {
			return nil, fmt.Errorf("%q is no regular expression", m[2])
		}
		return matches{parseFieldName(m[1]), re}, nil
	}
	if m := formRefs().FindStringSubmatch(check); m != nil {
		n, err := strconv.Atoi(m[2])
		return refs{parseFieldName(m[1]), n}, err
	}
	return nil, nil
}

// matchExactly returns an expression for exactly one of some words, in any case.
func matchExactly(words []string) *regexp.Regexp {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = regexp.QuoteMeta(w)
	}
	return regexp.MustCompile(`(?i)^(?:` + strings.Join(quoted, "|") + `)$`)
}

// splitWordList returns the items of "a, b or c".
func splitWordList(s string) []string {
	var out []string
	s = strings.NewReplacer(" or ", ",", " and ", ",").Replace(strings.Trim(s, "()"))
	for w := range strings.SplitSeq(s, ",") {
		if w = stripMarkup(w); w != "" {
			out = append(out, w)
		}
	}
	return out
}

package deliver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Problem is one defect of a deliverable's text. Line is 1-based; At is the
// place inside the object, "findings[0].claim", "" for the object itself.
type Problem struct {
	Line    int
	At      string
	Message string
}

// Error is "line N: at: message".
func (p Problem) Error() string {
	if p.At == "" {
		return fmt.Sprintf("line %d: %s", p.Line, p.Message)
	}
	return fmt.Sprintf("line %d: %s: %s", p.Line, p.At, p.Message)
}

// Problems is what Decode returns: every defect, in the order of the text.
type Problems []Problem

// Error is one line a problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Decode reads a deliverable strictly: one JSON object, its schema the one
// wanted (any of Schemas when schema is ""), no unknown key, no key twice or in
// another case, texts and lists of texts where they belong, and no item without
// a text. Findings without an id are given the first free one of F1, F2, …; an
// id twice is a problem, and so is a finding that two remedies answer. What is
// missing is no error here. The error is Problems.
func Decode(schema string, text []byte) (Deliverable, error) {
	r := reader{text: text}
	root, ok := r.parse()
	if !ok {
		return Deliverable{}, r.problems
	}
	d := Deliverable{Schema: r.schema(root, schema)}
	if d.Schema == "" {
		return Deliverable{}, r.problems
	}
	r.object(root, "", d.members(), true)
	r.ids(root, &d)
	if len(r.problems) > 0 {
		slices.SortStableFunc(r.problems, func(a, b Problem) int { return a.Line - b.Line })
		return Deliverable{}, r.problems
	}
	return d, nil
}

// node is a JSON value with its place.
type node struct {
	kind  byte // '{', '[', '"' or 'x' for anything else
	end   int64
	text  string
	keys  []node // of an object, as long as items
	items []node
}

type reader struct {
	text     []byte
	problems Problems
}

func (r *reader) problem(n node, at, format string, args ...any) {
	end := min(max(int(n.end), 0), len(r.text))
	r.problems = append(r.problems, Problem{1 + bytes.Count(r.text[:end], []byte("\n")), at, fmt.Sprintf(format, args...)})
}

// parse reads the text as one JSON object with the places of its parts.
func (r *reader) parse() (node, bool) {
	if !utf8.Valid(r.text) {
		r.problem(node{}, "", "not UTF-8")
		return node{}, false
	}
	if err := json.Unmarshal(r.text, new(json.RawMessage)); err != nil {
		at := node{end: int64(len(bytes.TrimSpace(r.text)))}
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at.end = syntax.Offset - 1
		}
		r.problem(at, "", "not one JSON object: %v", err)
		return node{}, false
	}
	d := json.NewDecoder(bytes.NewReader(r.text))
	n := read(d)
	if n.kind != '{' {
		r.problem(n, "", "not a JSON object")
		return node{}, false
	}
	return n, true
}

// read takes the next value of a text that is known to be valid.
func read(d *json.Decoder) node {
	t, err := d.Token()
	n := node{kind: 'x', end: d.InputOffset()}
	if err != nil {
		return n
	}
	switch t := t.(type) {
	case string:
		n.kind, n.text = '"', t
	case json.Delim:
		n.kind = byte(t)
		for d.More() {
			if t == '{' {
				n.keys = append(n.keys, read(d))
			}
			n.items = append(n.items, read(d))
		}
		_, _ = d.Token() // its end
	}
	return n
}

// schema is the object's own schema when it is one that is wanted, else "".
func (r *reader) schema(root node, want string) string {
	for i, k := range root.keys {
		if k.text != "schema" {
			continue
		}
		got := root.items[i]
		switch {
		case want != "" && got.text != want:
			r.problem(got, "schema", "%q, want %q", got.text, want)
		case !slices.Contains(Schemas(), got.text):
			r.problem(got, "schema", "unknown schema %q; the schemas are %s", got.text, strings.Join(Schemas(), ", "))
		default:
			return got.text
		}
		return ""
	}
	r.problem(root, "", "no schema; the schemas are %s", strings.Join(Schemas(), ", "))
	return ""
}

// object fills the members from the keys of n.
func (r *reader) object(n node, prefix string, ms []member, top bool) {
	seen := map[string]bool{}
	for i, k := range n.keys {
		at := prefix + k.text
		if seen[k.text] {
			r.problem(k, at, "the key stands twice")
			continue
		}
		seen[k.text] = true
		if top && k.text == "schema" {
			continue
		}
		m := slices.IndexFunc(ms, func(m member) bool { return m.key == k.text })
		if m < 0 {
			r.unknown(k, prefix, ms)
			continue
		}
		r.value(n.items[i], at, ms[m])
	}
}

// unknown reports a key that the object does not have, and the one it may mean.
func (r *reader) unknown(k node, prefix string, ms []member) {
	keys := make([]string, len(ms))
	for i, m := range ms {
		keys[i] = m.key
		if strings.EqualFold(strings.NewReplacer("-", "_", " ", "_").Replace(k.text), m.key) {
			r.problem(k, prefix+k.text, "unknown key %q; did you mean %q?", k.text, m.key)
			return
		}
	}
	r.problem(k, prefix+k.text, "unknown key %q; the keys are %s", k.text, strings.Join(keys, ", "))
}

func (r *reader) value(v node, at string, m member) {
	switch {
	case m.text != nil:
		r.word(v, at, m)
	case v.kind != '[':
		r.problem(v, at, "not a list")
	case m.list != nil:
		*m.list = make([]string, 0, len(v.items))
		for i, item := range v.items {
			place := fmt.Sprintf("%s[%d]", at, i)
			if item.kind != '"' || Blank(item.text) {
				r.problem(item, place, "not a text, or an empty one")
				continue
			}
			r.printable(item, place)
			*m.list = append(*m.list, item.text)
		}
	default:
		m.objs.reset(len(v.items))
		for i, item := range v.items {
			place := fmt.Sprintf("%s[%d]", at, i)
			if item.kind != '{' {
				r.problem(item, place, "not an object")
				continue
			}
			r.object(item, place+".", m.objs.at(i), false)
		}
	}
}

func (r *reader) word(v node, at string, m member) {
	switch {
	case v.kind != '"':
		r.problem(v, at, "not a text")
	case m.enum != nil && !slices.Contains(m.enum, v.text):
		r.problem(v, at, "%q is none of %s", v.text, strings.Join(m.enum, ", "))
	default:
		r.printable(v, at)
		*m.text = v.text
	}
}

// printable refuses control characters, which no text means and a terminal obeys.
func (r *reader) printable(v node, at string) {
	for _, c := range v.text {
		if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			r.problem(v, at, "the control character %U", c)
			return
		}
	}
}

// id is what a finding may be called.
var id = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })

// ids names the findings that have no name, and refuses what two of a kind share.
func (r *reader) ids(root node, d *Deliverable) {
	taken := map[string]bool{}
	take := func(at, name, twice string) {
		switch {
		case name == "":
		case !id().MatchString(name):
			r.problem(root.part(at), at, "%q is no id: letters, digits, '.', '_' and '-'", name)
		case taken[name]:
			r.problem(root.part(at), at, twice, name)
		}
		taken[name] = true
	}
	if d.Findings != nil {
		for i, f := range d.Findings.Findings {
			take(fmt.Sprintf("findings[%d].id", i), f.ID, "the id %s stands twice")
		}
		d.Findings.name(taken)
	}
	if d.Remediation != nil {
		for i, m := range d.Remediation.Remedies {
			take(fmt.Sprintf("remedies[%d].finding", i), m.Finding, "the finding %s is answered twice")
		}
	}
}

// part is the node at a place such as "findings[0].id"; the object itself where
// there is none.
func (n node) part(at string) node {
	var key, sub string
	var i int
	at = strings.NewReplacer("[", " ", "].", " ").Replace(at)
	if _, err := fmt.Sscan(at, &key, &i, &sub); err != nil {
		return n
	}
	return n.member(key).item(i).member(sub)
}

func (n node) member(key string) node {
	for i, k := range n.keys {
		if k.text == key {
			return n.items[i]
		}
	}
	return n
}

func (n node) item(i int) node {
	if i < len(n.items) {
		return n.items[i]
	}
	return n
}

// name gives each finding without an id the first free one.
func (f *Findings) name(taken map[string]bool) {
	next := 1
	for i := range f.Findings {
		for f.Findings[i].ID == "" {
			if name := fmt.Sprintf("F%d", next); !taken[name] {
				f.Findings[i].ID = name
			}
			next++
		}
	}
}

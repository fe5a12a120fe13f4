package deliver

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/odd-cli/odd/persona/jsontree"
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
	r := reader{text: text, ids: map[string]bool{}}
	root, ok := r.parseObject()
	if !ok {
		return Deliverable{}, r.problems
	}
	d := Deliverable{Schema: r.readSchema(root, schema)}
	if d.Schema == "" {
		return Deliverable{}, r.problems
	}
	r.readObject(root, "", d.schemaMembers(), true)
	if d.Findings != nil {
		d.Findings.addIDs(r.ids)
	}
	if len(r.problems) > 0 {
		slices.SortStableFunc(r.problems, func(a, b Problem) int { return a.Line - b.Line })
		return Deliverable{}, r.problems
	}
	return d, nil
}

type reader struct {
	text     []byte
	problems Problems
	ids      map[string]bool // of the findings
}

func (r *reader) addProblem(n jsontree.Node, at, format string, args ...any) {
	r.problemAt(n.To, at, format, args...)
}

func (r *reader) problemAt(offset int, at, format string, args ...any) {
	r.problems = append(r.problems, Problem{1 + bytes.Count(r.text[:offset], []byte("\n")), at, fmt.Sprintf(format, args...)})
}

// parseObject reads the text as one JSON object with the places of its parts.
func (r *reader) parseObject() (jsontree.Node, bool) {
	n, err := jsontree.Parse(r.text)
	var no *jsontree.SyntaxError
	switch {
	case errors.As(err, &no):
		r.problemAt(no.Offset, "", "not one JSON object: %v", err)
	case n.Kind != '{':
		r.addProblem(n, "", "not a JSON object")
	default:
		return n, true
	}
	return n, false
}

// readSchema returns the object's own schema when it is one that is wanted, else "".
func (r *reader) readSchema(root jsontree.Node, want string) string {
	got, ok := root.Get("schema")
	switch {
	case !ok:
		r.addProblem(root, "", "no schema; the schemas are %s", strings.Join(Schemas(), ", "))
	case want != "" && got.Text != want:
		r.addProblem(got, "schema", "%q, want %q", got.Text, want)
	case !slices.Contains(Schemas(), got.Text):
		r.addProblem(got, "schema", "unknown schema %q; the schemas are %s", got.Text, strings.Join(Schemas(), ", "))
	default:
		return got.Text
	}
	return ""
}

// readObject fills the members from the keys of n.
func (r *reader) readObject(n jsontree.Node, prefix string, ms []member, top bool) {
	seen := map[string]bool{}
	for _, k := range n.Members {
		at := prefix + k.Name
		m := slices.IndexFunc(ms, func(m member) bool { return m.key == k.Name })
		switch {
		case seen[k.Name]:
			r.problemAt(k.From, at, "the key stands twice")
		case top && k.Name == "schema":
		case m < 0:
			r.addUnknownKey(k, prefix, ms)
		default:
			r.readValue(k.Value, at, ms[m])
		}
		seen[k.Name] = true
	}
}

// addUnknownKey reports a key that the object does not have, and the one it may mean.
func (r *reader) addUnknownKey(k jsontree.Member, prefix string, ms []member) {
	keys := make([]string, len(ms))
	hint := ""
	for i, m := range ms {
		keys[i] = m.key
		if strings.EqualFold(strings.NewReplacer("-", "_", " ", "_").Replace(k.Name), m.key) {
			hint = fmt.Sprintf("did you mean %q?", m.key)
		}
	}
	r.problemAt(k.From, prefix+k.Name, "unknown key %q; %s", k.Name, cmp.Or(hint, "the keys are "+strings.Join(keys, ", ")))
}

func (r *reader) readValue(v jsontree.Node, at string, m member) {
	switch {
	case m.text != nil:
		r.readWord(v, at, m)
	case v.Kind != '[':
		r.addProblem(v, at, "not a list")
	case m.list != nil:
		*m.list = make([]string, 0, len(v.Members))
		for i, e := range v.Members {
			place := fmt.Sprintf("%s[%d]", at, i)
			if e.Value.Kind != '"' || Blank(e.Value.Text) {
				r.addProblem(e.Value, place, "not a text, or an empty one")
				continue
			}
			r.checkPrintable(e.Value, place)
			*m.list = append(*m.list, e.Value.Text)
		}
	default:
		m.objs.reset(len(v.Members))
		for i, e := range v.Members {
			place := fmt.Sprintf("%s[%d]", at, i)
			if e.Value.Kind != '{' {
				r.addProblem(e.Value, place, "not an object")
				continue
			}
			r.readObject(e.Value, place+".", m.objs.at(i), false)
		}
	}
}

func (r *reader) readWord(v jsontree.Node, at string, m member) {
	switch {
	case v.Kind != '"':
		r.addProblem(v, at, "not a text")
	case len(m.enum) > 0 && !slices.Contains(m.enum, v.Text):
		r.addProblem(v, at, "%q is none of %s", v.Text, strings.Join(m.enum, ", "))
	case m.twice != "" && v.Text != "" && !id().MatchString(v.Text):
		r.addProblem(v, at, "%q is no id: letters, digits, '.', '_' and '-'", v.Text)
	case m.twice != "" && v.Text != "" && r.ids[v.Text]:
		r.addProblem(v, at, m.twice, v.Text)
	default:
		r.ids[v.Text] = r.ids[v.Text] || m.twice != ""
		r.checkPrintable(v, at)
		*m.text = v.Text
	}
}

// checkPrintable refuses control characters, which no text means and a terminal obeys.
func (r *reader) checkPrintable(v jsontree.Node, at string) {
	for _, c := range v.Text {
		if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			r.addProblem(v, at, "the control character %U", c)
			return
		}
	}
}

// id is what a finding may be called.
var id = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })

// addIDs gives each finding without an id the first free one.
func (f *Findings) addIDs(taken map[string]bool) {
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

// Encode prints d as canonical JSON: the schema first, then the keys in the
// order of their schema, indented by two, with a final newline. Absent lists
// and empty texts are left out. Decode reads it back as d, provided that d has
// no defect Decode would refuse. No line of it begins with a backtick, so that
// it may stand in any fence.
func Encode(d Deliverable) []byte {
	head, body := formatJSON(d.Schema), []byte("{}")
	if b := d.schemaBody(); b != nil {
		body = formatJSON(b)
	}
	text := `{"schema":` + string(head)
	if len(body) > len("{}") {
		text += ","
	}
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(text+string(body[1:])), "", "  "); err != nil {
		panic("unreachable: " + err.Error())
	}
	out.WriteByte('\n')
	return out.Bytes()
}

// formatJSON returns v as JSON, HTML left alone.
func formatJSON(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("unreachable: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// MarshalJSON is Encode's object, so that a deliverable inside another document
// reads like one on its own.
func (d Deliverable) MarshalJSON() ([]byte, error) { return Encode(d), nil }

// UnmarshalJSON is Decode of any schema.
func (d *Deliverable) UnmarshalJSON(b []byte) error {
	got, err := Decode("", b)
	if err == nil {
		*d = got
	}
	return err
}

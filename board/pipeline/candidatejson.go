package pipeline

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/persona/jsontree"
)

// value is a JSON value that knows its place.
type value struct {
	jsontree.Node
	src  []byte
	path string // "candidates[0].file_path"
}

// readJSON reads one JSON object of at most limit bytes. It has no key twice: what two
// readers could read differently is not read.
func readJSON(b []byte, limit int) (value, error) {
	if len(b) > limit {
		return value{}, Unusable{{"too_large", "", fmt.Sprintf("%d bytes, and at most %d are allowed", len(b), limit), "deliver less at once"}}
	}
	n, err := jsontree.Parse(b)
	if no := (*jsontree.SyntaxError)(nil); errors.As(err, &no) {
		return value{}, Unusable{{"json", lineOf(b, no.Offset), no.Text, "deliver one whole JSON object, in UTF-8, and nothing else"}}
	}
	v := value{n, b, ""}
	if n.Kind != '{' {
		return value{}, Unusable{{"not_an_object", v.at(), "is not a JSON object", "write an object with schema_version"}}
	}
	if m, twice := n.Twice(); twice {
		return value{}, Unusable{{"json", lineOf(b, m.From), fmt.Sprintf("the key %q appears twice", m.Name), "write it once"}}
	}
	return v, nil
}

// readSchema reads an object of one schema.
func readSchema(b []byte, limit int, schema string, u *Unusable) (*form, error) {
	top, err := readJSON(b, limit)
	if err != nil {
		return nil, err
	}
	f := &form{v: top, u: u}
	if v := f.text("schema_version", true, maxName); len(*u) == 0 && v != schema {
		f.say("unknown_version", top.at(), fmt.Sprintf("%q is not a known schema", v), "write "+schema)
	}
	return f, u.orNil()
}

func lineOf(src []byte, at int) string {
	return fmt.Sprintf("line %d", 1+bytes.Count(src[:at], []byte("\n")))
}

// at is where the value stands: "line 3, candidates[0].file_path".
func (v value) at() string { return strings.TrimSuffix(lineOf(v.src, v.From)+", "+v.path, ", ") }

// raw are the value's bytes.
func (v value) raw() string { return string(v.src[v.From:v.To]) }

func (v value) member(name string) (value, bool) {
	n, ok := v.Get(name)
	return value{n, v.src, strings.TrimPrefix(v.path+"."+name, ".")}, ok
}

// entries are the values of a list, or of an object.
func (v value) entries() []value {
	out := make([]value, len(v.Members))
	for i, m := range v.Members {
		path := fmt.Sprintf("%s[%d]", v.path, i)
		if v.Kind == '{' {
			path = strings.TrimPrefix(v.path+"."+m.Name, ".")
		}
		out[i] = value{m.Value, v.src, path}
	}
	return out
}

// form reads members of one object and remembers what is wrong, in the order of
// what it is asked for.
type form struct {
	v     value
	known []string
	u     *Unusable
}

func (f *form) say(code, at, text, fix string) { *f.u = append(*f.u, Fault{code, at, text, fix}) }

// get finds a member; its absence is a fault where it is needed.
func (f *form) get(name string, needed bool) (value, bool) {
	f.known = append(f.known, name)
	m, ok := f.v.member(name)
	if !ok && needed {
		f.say("missing_"+name, f.v.at(), "has no "+name, "add it")
	}
	return m, ok
}

// text is a member of at most limit bytes. One that is needed is not blank.
func (f *form) text(name string, needed bool, limit int) string {
	m, ok := f.get(name, needed)
	if ok {
		f.checkText(m, needed, limit)
	}
	return m.Text
}

func (f *form) checkText(m value, needed bool, limit int) bool {
	switch {
	case m.Kind != '"':
		f.say("wrong_type", m.at(), "is not a string", "write a string")
	case len(m.Text) > limit:
		f.say("too_long", m.at(), fmt.Sprintf("has %d bytes, and at most %d are allowed", len(m.Text), limit), "shorten it")
	case needed && strings.TrimSpace(m.Text) == "":
		f.say("empty", m.at(), "is empty", "write a text, or leave it out")
	default:
		return true
	}
	return false
}

// oneOf is a member that is one of a few words.
func (f *form) oneOf(name string, words ...string) string {
	m, ok := f.get(name, true)
	if ok && !slices.Contains(words, m.Text) {
		f.say("wrong_word", m.at(), "is not one of "+strings.Join(words, ", "), "choose one of them")
	}
	return m.Text
}

// list is a member that is a list of at most limit values.
func (f *form) list(name string, needed bool, limit int) []value {
	m, ok := f.get(name, needed)
	switch {
	case !ok:
		return nil
	case m.Kind != '[':
		f.say("wrong_type", m.at(), "is not a list", "write a list")
		return nil
	case len(m.Members) > limit:
		f.say("too_many_"+name, m.at(), fmt.Sprintf("%d entries, and at most %d are allowed", len(m.Members), limit), "deliver the best ones; nothing is cut for you")
	}
	return m.entries()
}

// texts is a member that is a list of strings, each of at most size bytes.
func (f *form) texts(name string, needed bool, limit, size int) []string {
	var out []string
	for _, m := range f.list(name, needed, limit) {
		if f.checkText(m, true, size) {
			out = append(out, m.Text)
		}
	}
	return out
}

// rest names every member that nothing asked for.
func (f *form) rest(code string) {
	for i, m := range f.v.entries() {
		if name := f.v.Members[i].Name; !slices.Contains(f.known, name) {
			f.say(code, m.at(), fmt.Sprintf("%q is not a key of this schema", name), "leave it out; the keys are "+strings.Join(f.known, ", "))
		}
	}
}

// isObject says that a value in a list is none.
func (f *form) isObject(v value) bool {
	if v.Kind != '{' {
		f.say("wrong_type", v.at(), "is not an object", "write an object")
		return false
	}
	return true
}

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
		return value{}, Unusable{{"not_an_object", v.place(), "is not a JSON object", "write an object with schema_version"}}
	}
	if m, twice := n.Twice(); twice {
		return value{}, Unusable{{"json", lineOf(b, m.From), fmt.Sprintf("the key %q appears twice", m.Name), "write it once"}}
	}
	return v, nil
}

func readSchema(b []byte, limit int, schema string, u *Unusable) (*form, error) {
	top, err := readJSON(b, limit)
	if err != nil {
		return nil, err
	}
	f := &form{v: top, u: u}
	if v := f.readText("schema_version", true, maxName); len(*u) == 0 && v != schema {
		f.addFault("unknown_version", top.place(), fmt.Sprintf("%q is not a known schema", v), "write "+schema)
	}
	return f, u.errorOrNil()
}

func lineOf(src []byte, at int) string {
	return fmt.Sprintf("line %d", 1+bytes.Count(src[:at], []byte("\n")))
}

// place is where the value stands: "line 3, candidates[0].file_path".
func (v value) place() string { return strings.TrimSuffix(lineOf(v.src, v.From)+", "+v.path, ", ") }

func (v value) rawText() string { return string(v.src[v.From:v.To]) }

func (v value) findMember(name string) (value, bool) {
	n, ok := v.Get(name)
	return value{n, v.src, strings.TrimPrefix(v.path+"."+name, ".")}, ok
}

// members are the values of a list, or of an object.
func (v value) members() []value {
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

func (f *form) addFault(code, at, text, fix string) { *f.u = append(*f.u, Fault{code, at, text, fix}) }

func (f *form) findMember(name string, needed bool) (value, bool) {
	f.known = append(f.known, name)
	m, ok := f.v.findMember(name)
	if !ok && needed {
		f.addFault("missing_"+name, f.v.place(), "has no "+name, "add it")
	}
	return m, ok
}

// readText is a member of at most limit bytes. One that is needed is not blank.
func (f *form) readText(name string, needed bool, limit int) string {
	m, ok := f.findMember(name, needed)
	if ok {
		f.checkText(m, needed, limit)
	}
	return m.Text
}

func (f *form) checkText(m value, needed bool, limit int) bool {
	switch {
	case m.Kind != '"':
		f.addFault("wrong_type", m.place(), "is not a string", "write a string")
	case len(m.Text) > limit:
		f.addFault("too_long", m.place(), fmt.Sprintf("has %d bytes, and at most %d are allowed", len(m.Text), limit), "shorten it")
	case needed && strings.TrimSpace(m.Text) == "":
		f.addFault("empty", m.place(), "is empty", "write a text, or leave it out")
	default:
		return true
	}
	return false
}

// readWord is a member that is one of a few words.
func (f *form) readWord(name string, words ...string) string {
	m, ok := f.findMember(name, true)
	if ok && !slices.Contains(words, m.Text) {
		f.addFault("wrong_word", m.place(), "is not one of "+strings.Join(words, ", "), "choose one of them")
	}
	return m.Text
}

// readList is a member that is a list of at most limit values.
func (f *form) readList(name string, needed bool, limit int) []value {
	m, ok := f.findMember(name, needed)
	switch {
	case !ok:
		return nil
	case m.Kind != '[':
		f.addFault("wrong_type", m.place(), "is not a list", "write a list")
		return nil
	case len(m.Members) > limit:
		f.addFault("too_many_"+name, m.place(), fmt.Sprintf("%d entries, and at most %d are allowed", len(m.Members), limit), "deliver the best ones; nothing is cut for you")
	}
	return m.members()
}

// readTexts is a member that is a list of strings, each of at most size bytes.
func (f *form) readTexts(name string, needed bool, limit, size int) []string {
	var out []string
	for _, m := range f.readList(name, needed, limit) {
		if f.checkText(m, true, size) {
			out = append(out, m.Text)
		}
	}
	return out
}

// refuseOthers names every member that nothing asked for.
func (f *form) refuseOthers(code string) {
	for i, m := range f.v.members() {
		if name := f.v.Members[i].Name; !slices.Contains(f.known, name) {
			f.addFault(code, m.place(), fmt.Sprintf("%q is not a key of this schema", name), "leave it out; the keys are "+strings.Join(f.known, ", "))
		}
	}
}

// checkObject says that a value in a list is none.
func (f *form) checkObject(v value) bool {
	if v.Kind != '{' {
		f.addFault("wrong_type", v.place(), "is not an object", "write an object")
		return false
	}
	return true
}

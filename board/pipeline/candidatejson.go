package pipeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// value is a JSON value that knows its place. Objects keep the order of their
// members, and none twice: what two readers could read differently is not read.
type value struct {
	at      string // "line 3, candidates[0].file_path"
	of      any    // string, bool, nil, json.Number, []value or object
	members []member
}

type member struct {
	name string
	value
}

type object struct{}

// reading is one document being read.
type reading struct {
	src   []byte
	dec   *json.Decoder
	depth int
}

// readJSON reads one JSON object of at most limit bytes and depth levels.
func readJSON(b []byte, limit, depth int) (value, error) {
	if len(b) > limit {
		return value{}, Unusable{{"too_large", "", fmt.Sprintf("%d bytes, and at most %d are allowed", len(b), limit), "deliver less at once"}}
	}
	if !utf8.Valid(b) {
		return value{}, Unusable{{"json", "", "is not UTF-8", "write JSON in UTF-8"}}
	}
	r := &reading{src: b, dec: json.NewDecoder(bytes.NewReader(b)), depth: depth}
	r.dec.UseNumber()
	v, err := r.value("", 0)
	if err == nil {
		if _, more := r.dec.Token(); !errors.Is(more, io.EOF) {
			err = Fault{"json", r.line(), "there is text after the JSON object", "deliver one JSON object and nothing else"}
		}
	}
	if _, ok := v.of.(object); err == nil && !ok {
		err = Fault{"not_an_object", v.at, "is not a JSON object", "write an object with schema_version"}
	}
	var f Fault
	switch {
	case err == nil:
		return v, nil
	case !errors.As(err, &f):
		text := strings.TrimPrefix(err.Error(), "json: ")
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			text = "the JSON is cut off"
		}
		f = Fault{"json", r.line(), text, "deliver one whole JSON object"}
	}
	return value{}, Unusable{f}
}

// line is where the reading stands.
func (r *reading) line() string {
	at := min(int(r.dec.InputOffset()), len(r.src))
	for at < len(r.src) && strings.IndexByte(" \t\r\n,:", r.src[at]) >= 0 {
		at++
	}
	return fmt.Sprintf("line %d", 1+bytes.Count(r.src[:at], []byte("\n")))
}

// value reads the next value, which stands at path.
func (r *reading) value(path string, depth int) (value, error) {
	v := value{at: strings.TrimSuffix(r.line()+", "+path, ", ")}
	if depth > r.depth {
		return v, Fault{"too_deep", v.at, fmt.Sprintf("more than %d levels", r.depth), "write what the schema asks for"}
	}
	t, err := r.dec.Token()
	if err != nil {
		return v, err
	}
	switch t {
	case json.Delim('['):
		list := []value{}
		for r.dec.More() {
			e, err := r.value(fmt.Sprintf("%s[%d]", path, len(list)), depth+1)
			if err != nil {
				return v, err
			}
			list = append(list, e)
		}
		v.of = list
	case json.Delim('{'):
		v.of = object{}
		if err := r.members(&v, path, depth); err != nil {
			return v, err
		}
	default:
		v.of = t
		return v, nil
	}
	_, err = r.dec.Token() // the bracket that closes
	return v, err
}

func (r *reading) members(v *value, path string, depth int) error {
	for r.dec.More() {
		at := r.line()
		t, err := r.dec.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		if _, twice := v.member(name); twice {
			return Fault{"json", at, fmt.Sprintf("the key %q appears twice", name), "write it once"}
		}
		e, err := r.value(strings.TrimPrefix(path+"."+name, "."), depth+1)
		if err != nil {
			return err
		}
		v.members = append(v.members, member{name, e})
	}
	return nil
}

func (v value) member(name string) (value, bool) {
	i := slices.IndexFunc(v.members, func(m member) bool { return m.name == name })
	if i < 0 {
		return value{}, false
	}
	return v.members[i].value, true
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
		f.say("missing_"+name, f.v.at, "has no "+name, "add it")
	}
	return m, ok
}

// text is a member of at most limit bytes. One that is needed is not blank.
func (f *form) text(name string, needed bool, limit int) string {
	m, ok := f.get(name, needed)
	s, isText := m.of.(string)
	switch {
	case !ok:
	case !isText:
		f.say("wrong_type", m.at, "is not a string", "write a string")
	case len(s) > limit:
		f.say("too_long", m.at, fmt.Sprintf("has %d bytes, and at most %d are allowed", len(s), limit), "shorten it")
	case needed && strings.TrimSpace(s) == "":
		f.say("empty", m.at, "is empty", "write a text")
	}
	return s
}

// oneOf is a member that is one of a few words.
func (f *form) oneOf(name string, words ...string) string {
	m, ok := f.get(name, true)
	s, _ := m.of.(string)
	if ok && !slices.Contains(words, s) {
		f.say("wrong_word", m.at, "is not one of "+strings.Join(words, ", "), "choose one of them")
	}
	return s
}

// list is a member that is a list of at most limit values.
func (f *form) list(name string, needed bool, limit int) []value {
	m, ok := f.get(name, needed)
	l, isList := m.of.([]value)
	switch {
	case !ok:
	case !isList:
		f.say("wrong_type", m.at, "is not a list", "write a list")
	case len(l) > limit:
		f.say("too_many_"+name, m.at, fmt.Sprintf("%d entries, and at most %d are allowed", len(l), limit), "deliver the best ones; nothing is cut for you")
	}
	return l
}

// texts is a member that is a list of strings, each of at most size bytes.
func (f *form) texts(name string, needed bool, limit, size int) []string {
	var out []string
	for _, m := range f.list(name, needed, limit) {
		s, isText := m.of.(string)
		switch {
		case !isText:
			f.say("wrong_type", m.at, "is not a string", "write a string")
		case len(s) > size:
			f.say("too_long", m.at, fmt.Sprintf("has %d bytes, and at most %d are allowed", len(s), size), "shorten it")
		case strings.TrimSpace(s) == "":
			f.say("empty", m.at, "is empty", "leave it out")
		default:
			out = append(out, s)
		}
	}
	return out
}

// rest names every member that nothing asked for.
func (f *form) rest(code string) {
	for _, m := range f.v.members {
		if !slices.Contains(f.known, m.name) {
			f.say(code, m.at, fmt.Sprintf("%q is not a key of this schema", m.name), "leave it out; the keys are "+strings.Join(f.known, ", "))
		}
	}
}

// isObject says that a value in a list is none.
func (f *form) isObject(v value) bool {
	if _, ok := v.of.(object); !ok {
		f.say("wrong_type", v.at, "is not an object", "write an object")
		return false
	}
	return true
}

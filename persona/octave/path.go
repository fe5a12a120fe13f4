package octave

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/odd-cli/odd/okf"
)

// Ambiguous is a path that several values answer to.
type Ambiguous struct {
	Path  string
	Lines []int // where they are
}

func (a *Ambiguous) Error() string {
	at := strings.Trim(strings.ReplaceAll(fmt.Sprint(a.Lines), " ", ", "), "[]")
	return fmt.Sprintf("%s is ambiguous: it stands on lines %s; rename or delete all but one", a.Path, at)
}

// Refused returns the reason code.
func (a *Ambiguous) Refused() string { return "octave-ambiguous" }

// step is one part of a path.
type step struct {
	key   string
	index int // of an element; -1 for a key
}

// stepForm is a part of a path: a key, in double quotes or not, or an index.
var stepForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\.?)(?:("(?:[^"\\\n]|\\.)*")|([^."\[/]+)|\[(\d{1,9})\])`)
})

// parsePath reads KEY{.KEY|[N]}; a key in double quotes may hold anything.
func parsePath(path string) (out []step, err error) {
	for rest := path; rest != "" || out == nil; {
		m := stepForm().FindStringSubmatch(rest)
		isKey := m != nil && m[4] == ""
		if m == nil || !isKey && out == nil || (m[1] == ".") != (isKey && out != nil) {
			return nil, fmt.Errorf("%q is not a path; write it as META.VERSION or LIST[0]", path)
		}
		s := step{key: m[3], index: -1}
		switch {
		case !isKey:
			s.index, _ = strconv.Atoi(m[4])
		case m[2] != "":
			s.key, _ = unquote(m[2][1 : len(m[2])-1])
		}
		out, rest = append(out, s), rest[len(m[0]):]
	}
	return out, nil
}

// Get looks a value up by path: META.VERSION, BIND.ARCHETYPES[0],
// UX."Self-Guiding". A section answers to its name and to its mark, §1. A block, section or list is a Value
// with Items. The error is an *Ambiguous where several answer, and names the
// nearest where none does.
func (d *Doc) Get(path string) (Value, error) {
	if d.err != nil {
		return Value{}, *d.err
	}
	all, err := parsePath(path)
	if err != nil {
		return Value{}, err
	}
	in, v := d.top(), Value{}
	for i, s := range all {
		var found []*Entry
		if s.index >= 0 {
			if v.Kind != List {
				return v, fmt.Errorf("%s: %s has no elements: it is not a list", d.name, formatPath(all[:i]))
			}
			in = slices.DeleteFunc(slices.Clone(in), func(e *Entry) bool { return e.Kind == Comment })
			if s.index >= len(in) {
				return v, fmt.Errorf("%s: no %s: the list has %d elements, counted from 0", d.name, formatPath(all[:i+1]), len(in))
			}
			found = in[s.index : s.index+1]
		} else if found = entriesNamed(in, s.key); len(found) == 0 {
			return v, d.notFound(all[:i], in, s.key)
		}
		if len(found) > 1 {
			return v, d.ambiguous(formatPath(all[:i+1]), found)
		}
		if v, _ = found[0].Holds(); v.Kind == Nested {
			v.Raw = d.src[v.from:v.to]
		}
		in = v.Items
	}
	return v, nil
}

// top returns the entries a path begins in: those of the envelopes, or of a body
// without one.
func (d *Doc) top() (in []*Entry) {
	bare := true
	for _, e := range d.Entries {
		if e.Kind == Envelope {
			bare, in = false, append(in, e.Entries...)
		}
	}
	if bare {
		return d.Entries
	}
	return in
}

// entriesNamed finds the entries that answer to a key.
func entriesNamed(in []*Entry, key string) (found []*Entry) {
	for _, e := range in {
		switch {
		case e.Kind != Pair && e.Kind != Block && e.Kind != Section:
		case e.Key == key, e.Kind == Section && "§"+e.Mark == key:
			found = append(found, e)
		}
	}
	return found
}

func (d *Doc) ambiguous(path string, found []*Entry) error {
	a := &Ambiguous{Path: d.name + ": " + path}
	for _, e := range found {
		line, _ := d.Pos(e)
		a.Lines = append(a.Lines, line)
	}
	return a
}

// notFound names what is there.
func (d *Doc) notFound(before []step, in []*Entry, key string) error {
	var keys []string
	for _, e := range in {
		if e.Key != "" && !slices.Contains(keys, e.Key) {
			keys = append(keys, e.Key)
		}
		if len(keys) == 50 {
			break
		}
	}
	path := formatPath(append(slices.Clone(before), step{key, -1}))
	if k := okf.Nearest(key, keys); k != "" {
		return fmt.Errorf("%s: no %s; did you mean %s?", d.name, path, formatPath(append(slices.Clone(before), step{k, -1})))
	}
	if len(keys) == 0 {
		return fmt.Errorf("%s: no %s: there is no key in that place", d.name, path)
	}
	return fmt.Errorf("%s: no %s; there is %s", d.name, path, strings.Join(keys[:min(len(keys), 8)], ", "))
}

// formatPath writes a path as Get reads it.
func formatPath(all []step) string {
	var b strings.Builder
	for i, s := range all {
		switch {
		case s.index >= 0:
			fmt.Fprintf(&b, "[%d]", s.index)
			continue
		case i > 0:
			b.WriteByte('.')
		}
		if strings.ContainsAny(s.key, `.[/"`) || s.key == "" {
			b.WriteString(Quote(s.key))
		} else {
			b.WriteString(s.key)
		}
	}
	return b.String()
}

package octave

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// Ambiguous is a path that several values answer to.
type Ambiguous struct {
	Path  string
	Lines []int // where they are
}

func (a *Ambiguous) Error() string {
	at := strings.Trim(strings.ReplaceAll(fmt.Sprint(a.Lines), " ", ", "), "[]")
	return fmt.Sprintf("%s is ambiguous: it stands on lines %s; rename or delete all but one, or put the envelope before it, as NAME/KEY", a.Path, at)
}

// Refused is the reason code.
func (a *Ambiguous) Refused() string { return "octave-ambiguous" }

// step is one part of a path.
type step struct {
	key   string
	index int // of an element, where key is empty and it is not negative
}

// steps takes a path apart: [ENVELOPE/]KEY{.KEY|[N]}; a key in double quotes may
// hold anything.
func steps(path string) (envelope string, out []step, err error) {
	bad := func(what string) (string, []step, error) {
		return "", nil, fmt.Errorf("%q is not a path: %s; write it as META.VERSION or LIST[0]", path, what)
	}
	rest := path
	for first := true; rest != "" || first; first = false {
		if inner, ok := strings.CutPrefix(rest, "["); ok && !first {
			number, after, ok := strings.Cut(inner, "]")
			n, err := strconv.Atoi(number)
			if !ok || err != nil || n < 0 {
				return bad("an index is a number from 0 in brackets")
			}
			out, rest = append(out, step{index: n}), after
			continue
		}
		if !first {
			if rest[0] != '.' {
				return bad(fmt.Sprintf("it goes on with %q", rest))
			}
			rest = rest[1:]
		}
		key, after, ok := cutKey(rest)
		if !ok {
			return bad("a key is missing")
		}
		if after, ok := strings.CutPrefix(after, "/"); ok && first && envelope == "" {
			envelope, rest = key, after
			if key, after, ok = cutKey(rest); !ok {
				return bad("a key is missing")
			}
			out, rest = append(out, step{key, -1}), after
			continue
		}
		out, rest = append(out, step{key, -1}), after
	}
	return envelope, out, nil
}

func cutKey(s string) (key, rest string, ok bool) {
	if strings.HasPrefix(s, `"`) {
		p := parser{src: s}
		end, ok := p.quote(0)
		if !ok {
			return "", "", false
		}
		key, _ = unquote(s[1 : end-1])
		return key, s[end:], true
	}
	n := strings.IndexAny(s, `.[/"`)
	if n < 0 {
		n = len(s)
	}
	return s[:n], s[n:], n > 0
}

// Get looks a value up by path: META.VERSION, BIND.ARCHETYPES[0],
// UX."Self-Guiding", and with several envelopes NAME/META.VERSION. A section
// answers to its name and to its mark, §1. A block, section or list is a Value
// with Items. The error is an *Ambiguous where several answer, and names the
// nearest where none does.
func (d *Doc) Get(path string) (Value, error) {
	if d.err != nil {
		return Value{}, *d.err
	}
	envelope, all, err := steps(path)
	if err != nil {
		return Value{}, err
	}
	in, v := d.top(envelope), Value{}
	for i, s := range all {
		var found []*Entry
		if s.index >= 0 {
			if v.Kind != List {
				return v, fmt.Errorf("%s: %s has no elements: it is not a list", d.name, spell(envelope, all[:i]))
			}
			in = slices.DeleteFunc(slices.Clone(in), func(e *Entry) bool { return e.Kind == Comment })
			if s.index >= len(in) {
				return v, fmt.Errorf("%s: no %s: the list has %d elements, counted from 0", d.name, spell(envelope, all[:i+1]), len(in))
			}
			found = in[s.index : s.index+1]
		} else if found = pick(in, s.key); len(found) == 0 {
			return v, d.missing(envelope, all[:i], in, s.key)
		}
		if len(found) > 1 {
			return v, d.several(spell(envelope, all[:i+1]), found)
		}
		if v, _ = found[0].Holds(); v.Kind == Nested {
			v.Raw = d.src[v.from:v.to]
		}
		in = v.Items
	}
	return v, nil
}

// top is what a path begins in.
func (d *Doc) top(envelope string) (in []*Entry) {
	bare := true
	for _, e := range d.Entries {
		if e.Kind != Envelope {
			continue
		}
		bare = false
		if envelope == "" || e.Key == envelope {
			in = append(in, e.Entries...)
		}
	}
	if bare && envelope == "" {
		return d.Entries
	}
	return in
}

// pick finds the entries that answer to a key.
func pick(in []*Entry, key string) (found []*Entry) {
	for _, e := range in {
		switch {
		case e.Kind != Pair && e.Kind != Block && e.Kind != Section:
		case e.Key == key, e.Kind == Section && "§"+e.Mark == key:
			found = append(found, e)
		}
	}
	return found
}

func (d *Doc) several(path string, found []*Entry) error {
	a := &Ambiguous{Path: d.name + ": " + path}
	for _, e := range found {
		line, _ := d.Pos(e)
		a.Lines = append(a.Lines, line)
	}
	return a
}

// missing names what is there.
func (d *Doc) missing(envelope string, before []step, in []*Entry, key string) error {
	var keys []string
	for _, e := range in {
		if e.Key != "" && !slices.Contains(keys, e.Key) {
			keys = append(keys, e.Key)
		}
		if len(keys) == 50 {
			break
		}
	}
	path := spell(envelope, append(slices.Clone(before), step{key, -1}))
	if k := okf.Nearest(key, keys); k != "" {
		return fmt.Errorf("%s: no %s; did you mean %s?", d.name, path, spell(envelope, append(slices.Clone(before), step{k, -1})))
	}
	if len(keys) == 0 {
		return fmt.Errorf("%s: no %s: there is no key in that place", d.name, path)
	}
	return fmt.Errorf("%s: no %s; there is %s", d.name, path, strings.Join(keys[:min(len(keys), 8)], ", "))
}

// spell writes a path as Get reads it.
func spell(envelope string, all []step) string {
	var b strings.Builder
	if envelope != "" {
		b.WriteString(envelope + "/")
	}
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

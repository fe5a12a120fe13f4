package anchor

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// atomKeys are what a role atom may say: as keys of its frontmatter, each a text
// or a list of texts, and as headings of its body. Its role is its id, its
// mission its description.
func atomKeys() []string {
	return []string{sayCognition, sayArchetypes, sayAlways, sayNever, sayGates, sayBlocking, sayEscalation, sayPaths, sayBlocked, sayGateCommand}
}

// FromAtom reads a role atom of the bundle at root, a path of the work tree:
//
//	---
//	type: role
//	id: reviewer
//	escalation: maintainer
//	must_never: [approve what they proposed]
//	---
//	## Must always
//	- follow the sources of an atom to the lines it names
//
// A heading of any level is read in any case, in singular or plural, up to the
// next heading: its list, each element with what is indented below it, or
// without a list each paragraph. What both places say is added up. A value that
// is no text, and a glob that is none, are problems with their lines.
func FromAtom(a *okf.Atom, root string) (Constitution, []Problem) {
	c := newCharter(path.Join(root, a.Path))
	if a.Type != "role" {
		c.fail(1, "the atom %s is a %s; a constitution is a role", a.ID, a.Type)
		return Constitution{}, c.problems
	}
	if a.Bytes() == nil {
		c.fail(0, "the file changed while it was read; run it again")
		return Constitution{}, c.problems
	}
	c.say(sayRole, Rule{path.Base(string(a.ID)), a.Line("id")})
	c.say(sayMission, Rule{a.Description, a.Line("description")})
	for _, f := range a.Fields {
		if key := c.key(f.Key, f.Line); key != "" {
			f.Key = key
			c.field(a, f)
		}
	}
	c.body(a)
	return c.constitution(a.Bytes())
}

// field reads one key of the frontmatter.
func (c *charter) field(a *okf.Atom, f okf.Field) {
	items, ok := f.Value.([]any)
	if !ok {
		items = []any{f.Value}
	}
	at := itemLines(a.Bytes(), f.Line, len(items))
	for i, v := range items {
		switch v := v.(type) {
		case string:
			c.say(f.Key, Rule{v, at[i]})
		case nil, map[string]any, []any:
			c.fail(at[i], "%s: the value is no text; write a text or a list of texts, in quotes where it holds a colon", f.Key)
		default:
			c.say(f.Key, Rule{fmt.Sprint(v), at[i]})
		}
	}
}

// itemLines are the lines of the n elements of a list whose key is at line: one
// each where every element begins with a dash on a line of its own, else line.
func itemLines(b []byte, line, n int) []int {
	var at []int
	lines := bytes.Split(b, []byte("\n"))
	for i := line; i < len(lines); i++ { // lines[line] is the one after the key
		text := bytes.TrimLeft(lines[i], " ")
		if bytes.HasPrefix(text, []byte("- ")) {
			at = append(at, i+1)
		} else if len(text) == len(lines[i]) && len(bytes.TrimSpace(text)) > 0 {
			break
		}
	}
	if len(at) != n {
		at = slices.Repeat([]int{line}, n)
	}
	return at
}

// key is the one that a name or a heading at line stands for, "" for none.
func (c *charter) key(text string, line int) string {
	name := strings.ToLower(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" _-\t:.", r) }), "_"))
	for _, key := range atomKeys() {
		if name == key || name+"s" == key || name == key+"s" {
			return key
		}
	}
	if near := nearly(name); near != "" {
		c.fail(line, "%q is no key; did you mean %s?", text, near)
	}
	return ""
}

// body reads what stands below the headings that are keys: the elements of the
// lists, or where there is no list the paragraphs. Comments and fenced text are
// passed over.
func (c *charter) body(a *okf.Atom) {
	heads := a.Headings()
	slices.SortFunc(heads, func(x, y okf.Heading) int { return x.Line - y.Line })
	lines := strings.Split(string(a.Body()), "\n")
	for i, h := range heads {
		key, end := c.key(h.Text, h.Line), a.BodyLine+len(lines)
		if key == "" {
			continue
		}
		if i+1 < len(heads) {
			end = heads[i+1].Line
		}
		var r bodyReader
		for n := h.Line + 1; n < end; n++ {
			r.line(strings.TrimRight(lines[n-a.BodyLine], " \t\r"), n)
		}
		if r.listed {
			c.say(key, r.items...)
		} else {
			c.say(key, r.paragraphs...)
		}
	}
}

// bodyReader reads lines of markdown as list elements and as paragraphs.
type bodyReader struct {
	items, paragraphs []Rule
	listed, open      bool // there was a list; the last line may go on
	fence             string
	comment           bool
	indent            int // of the list's marks
}

func (r *bodyReader) line(text string, n int) {
	trimmed := strings.TrimLeft(text, " \t")
	if r.isSkipped(trimmed) {
		return
	}
	if trimmed == "" {
		r.open = false
		return
	}
	if underline := strings.Trim(trimmed, "=-"); underline == "" {
		return // of a heading, or a rule
	}
	indent := len(text) - len(trimmed)
	body, mark := bullet(trimmed)
	switch {
	case mark && (!r.listed || indent <= r.indent+1):
		r.listed, r.indent = true, indent
		r.items = append(r.items, Rule{body, n})
	case mark:
		r.join(&r.items, body, n)
	case r.listed && (r.open || indent > r.indent):
		r.join(&r.items, trimmed, n)
	case r.listed:
		// a paragraph behind a list explains it
	case r.open:
		r.join(&r.paragraphs, trimmed, n)
	default:
		r.paragraphs = append(r.paragraphs, Rule{trimmed, n})
	}
	r.open = true
}

// join adds a line to the last rule.
func (r *bodyReader) join(to *[]Rule, text string, n int) {
	if len(*to) == 0 {
		*to = append(*to, Rule{text, n})
		return
	}
	last := &(*to)[len(*to)-1]
	last.Text += " " + text
}

// isSkipped reports fenced text and comments.
func (r *bodyReader) isSkipped(text string) bool {
	if r.fence != "" {
		if strings.HasPrefix(text, r.fence) && strings.Trim(text, r.fence[:1]) == "" {
			r.fence = ""
		}
		return true
	}
	if r.comment || strings.HasPrefix(text, "<!--") {
		r.comment = !strings.Contains(text, "-->")
		return true
	}
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(text, mark) {
			r.fence = text[:len(text)-len(strings.TrimLeft(text, mark[:1]))]
			return true
		}
	}
	return false
}

// bullet cuts the mark off the element of a list: -, *, +, 1. or 1), and a box.
func bullet(s string) (text string, ok bool) {
	rest := strings.TrimLeft(s, "0123456789")
	switch {
	case len(rest) < len(s) && len(s)-len(rest) <= 9 && rest != "" && strings.ContainsRune(".)", rune(rest[0])):
	case len(rest) == len(s) && strings.ContainsRune("-*+", rune(s[0])):
	default:
		return s, false
	}
	if len(rest) < 2 || rest[1] != ' ' && rest[1] != '\t' {
		return s, false
	}
	text = strings.TrimSpace(rest[1:])
	for _, box := range []string{"[ ] ", "[x] ", "[X] "} {
		text = strings.TrimPrefix(text, box)
	}
	return text, true
}

package anchor

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// atomKeys returns what a role atom may say: as keys of its frontmatter, each a text
// or a list of texts, and as headings of its body. Its role is its id.
func atomKeys() []string {
	return []string{sayCognition, sayArchetypes, sayAlways, sayNever, sayGates, sayBlocking, sayEscalation, sayPaths, sayBlocked, sayGateCommand}
}

// readRoleAtom reads a role atom of the bundle at root, a path of the work tree:
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
func readRoleAtom(a *okf.Atom, root string) (Constitution, []Problem) {
	c := newConstitutionDraft(path.Join(root, a.Path))
	if a.Type != "role" {
		c.addProblem(1, "the atom %s is a %s; a constitution is a role", a.ID, a.Type)
		return Constitution{}, c.problems
	}
	if a.Bytes() == nil {
		c.addProblem(0, "the file changed while it was read; run it again")
		return Constitution{}, c.problems
	}
	c.addRules(sayRole, Rule{path.Base(string(a.ID)), a.Line("id")})
	for _, f := range a.Fields {
		if key := c.matchKey(f.Key, f.Line); key != "" {
			f.Key = key
			c.readField(a, f)
		}
	}
	c.readBody(a)
	return c.build(a.Bytes())
}

// readField reads one key of the frontmatter.
func (c *constitutionDraft) readField(a *okf.Atom, f okf.Field) {
	items, ok := f.Value.([]any)
	if !ok {
		items = []any{f.Value}
	}
	at := elementLines(a.Bytes(), f.Line, len(items))
	for i, v := range items {
		switch v := v.(type) {
		case string:
			c.addRules(f.Key, Rule{v, at[i]})
		case nil, map[string]any, []any:
			c.addProblem(at[i], "%s: the value is no text; write a text or a list of texts, in quotes where it holds a colon", f.Key)
		default:
			c.addRules(f.Key, Rule{fmt.Sprint(v), at[i]})
		}
	}
}

// elementLines returns the line of each of the n elements of a list whose key is at
// line. If the elements are not on lines of their own, each is at line.
func elementLines(b []byte, line, n int) []int {
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

// matchKey returns the key that a name or a heading means, "" for none. A near miss is
// a problem at line.
func (c *constitutionDraft) matchKey(text string, line int) string {
	name := strings.ToLower(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" _-\t:.", r) }), "_"))
	for _, key := range atomKeys() {
		if name == key || name+"s" == key || name == key+"s" {
			return key
		}
	}
	if near := nearestKey(name); near != "" {
		c.addProblem(line, "%q is no key; did you mean %s?", text, near)
	}
	return ""
}

// readBody reads what stands below the headings that are keys: the elements of the
// lists, or where there is no list the paragraphs.
func (c *constitutionDraft) readBody(a *okf.Atom) {
	for _, s := range a.Sections() {
		key, found := c.matchKey(s.Text, s.Line), s.Items
		if found == nil {
			found = s.Paragraphs
		}
		for _, p := range found {
			for _, box := range []string{"[ ] ", "[x] ", "[X] "} {
				p.Text = strings.TrimPrefix(p.Text, box)
			}
			if key != "" {
				c.addRules(key, Rule(p))
			}
		}
	}
}

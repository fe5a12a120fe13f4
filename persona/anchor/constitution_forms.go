package anchor

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/octave"
)

// octaveKeys returns the keys of an agent file by what they say. They are looked for
// in every section and block, since agent files of different years nest them
// differently, and in META only where nothing else says them.
func octaveKeys() map[string]string {
	return map[string]string{
		"ROLE": sayRole, "COGNITION": sayCognition, "ARCHETYPE": sayArchetypes, "ARCHETYPES": sayArchetypes,
		"MUST_ALWAYS": sayAlways, "MUST_NEVER": sayNever, "GATES": sayGates,
		"AUTHORITY_BLOCKING": sayBlocking,
		"ESCALATION_TARGET":  sayEscalation, "PATHS": sayPaths,
		"BLOCKED_PATH": sayBlocked, "BLOCKED_PATHS": sayBlocked, "GATE_COMMAND": sayGateCommand, "GATE_COMMANDS": sayGateCommand,
	}
}

// octaveReader walks an agent file.
type octaveReader struct {
	*constitutionDraft
	keys   map[string]string
	handed []Rule // ESCALATION, which counts where there is no ESCALATION_TARGET
}

// readAgentFile reads an agent file: an envelope with ROLE, and what else a
// constitution may say, in any section. It is read leniently; what leaves the
// structure in doubt, and what is said in a form that cannot be understood, is a
// problem with its line, and then there is no constitution.
func readAgentFile(path string, b []byte) (Constitution, []Problem) {
	r := &octaveReader{constitutionDraft: newConstitutionDraft(path), keys: octaveKeys()}
	entries, bad := octave.Parse(b)
	for _, n := range bad {
		r.addProblem(n.Line, "%s; %s", n.Message, n.Hint)
	}
	if len(r.problems) > 0 {
		return Constitution{}, r.problems
	}
	r.walk(entries, "", false)
	for _, name := range []string{sayRole, sayCognition} {
		if len(r.said[name]) == 0 {
			r.said[name] = r.said["META."+name]
		}
	}
	if len(r.said[sayEscalation]) == 0 {
		r.addRules(sayEscalation, r.handed...)
	}
	return r.build(b)
}

// walk reads what is nested in parent. Lists are not gone into: what stands in
// one belongs to its key.
func (r *octaveReader) walk(entries []*octave.Entry, parent string, meta bool) {
	for _, e := range entries {
		name := r.nameEntry(e, parent)
		switch {
		case e.Kind == octave.Envelope || e.Kind == octave.Section:
			r.walk(e.Items, e.Key, false)
		case meta && name != "":
			r.addRules("META."+name, listRules(e)...)
		case e.Key == "ESCALATION":
			r.handed = append(r.handed, escalationTargets(listRules(e))...)
		case name != "":
			r.readValue(name, e)
		case e.Kind == octave.Block, e.Key == "AUTHORITY":
			r.walk(e.Items, e.Key, e.Key == "META")
		}
	}
}

// nameEntry returns what the key of an entry says, "" for what a constitution does not.
func (r *octaveReader) nameEntry(e *octave.Entry, parent string) string {
	name := r.keys[e.Key]
	if e.Key == "BLOCKING" && parent == "AUTHORITY" {
		return sayBlocking
	}
	if near := nearestKey(strings.ToLower(e.Key)); name == "" && near != "" {
		r.addProblem(e.Line, "%s is no key; did you mean %s?", e.Key, strings.ToUpper(near))
	}
	return name
}

func (r *octaveReader) readValue(name string, e *octave.Entry) {
	switch name {
	case sayGates:
		r.readGates(e)
	case sayArchetypes:
		for _, it := range listRules(e) {
			head, _, _ := strings.Cut(it.Text, "::") // THEMIS::{justice}
			for _, part := range strings.FieldsFunc(head, func(c rune) bool { return c == '⊕' || c == '+' }) {
				r.addRules(name, Rule{part, it.Line})
			}
		}
	case sayCognition:
		head, _, _ := strings.Cut(valueText(e), "::") // LOGOS::ATLAS⊕HERMES
		r.addRules(name, Rule{head, e.Line})
	default:
		r.addRules(name, listRules(e)...)
	}
}

// listRules returns the rules in a value: the elements of a list or block, the parts
// of a word joined by ⊕, the lines of a fence, or the text.
func listRules(e *octave.Entry) (out []Rule) {
	switch e.Kind {
	case octave.List, octave.Block:
		for _, it := range e.Items {
			if t := entryText(it); t != "" {
				out = append(out, Rule{t, it.Line})
			}
		}
	case octave.Word:
		for part := range strings.SplitSeq(e.Text, "⊕") {
			out = append(out, Rule{part, e.Line})
		}
	case octave.Fence, octave.Triple:
		at := e.Line
		if e.Kind == octave.Fence {
			at += 2 // the key's line and the fence's
		}
		for n, part := range strings.Split(strings.TrimSuffix(e.Text, "\n"), "\n") {
			out = append(out, Rule{strings.TrimLeft(strings.TrimSpace(part), "-*• "), at + n})
		}
	default:
		out = append(out, Rule{e.Text, e.Line})
	}
	return out
}

// entryText returns an entry as one line of text, "" for an empty one.
func entryText(e *octave.Entry) string {
	switch {
	case e.Kind == octave.Loose:
		return strings.TrimLeft(strings.TrimSpace(e.Text), "-*• ")
	case e.Key == "":
		return valueText(e)
	}
	return e.Key + "::" + valueText(e)
}

func valueText(e *octave.Entry) string {
	if e.Kind > octave.List {
		return e.Text
	}
	var parts []string
	for _, it := range e.Items {
		if t := entryText(it); t != "" {
			parts = append(parts, t)
		}
	}
	return strings.Join(parts, ", ")
}

// readGates reads GATES in its forms: [NEVER<A,B>, ALWAYS<C>], NEVER[A] ALWAYS[B],
// pairs of these names, and bare elements, which name what may never pass.
func (r *octaveReader) readGates(gates *octave.Entry) {
	if gates.Kind > octave.List {
		r.readGateText(gates.Text, gates.Line)
		return
	}
	for _, e := range gates.Items {
		switch name, isGate := gateNames()[e.Key]; {
		case isGate:
			r.addRules(name, listRules(e)...)
		case e.Key != "":
			r.addRules(sayGates, Rule{entryText(e), e.Line})
		default:
			r.readGateText(entryText(e), e.Line)
		}
	}
}

// gateForm is NEVER<A,B> or ALWAYS[C] in a text of GATES; the bracket may be
// missing at its end.
var gateForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(NEVER|ALWAYS)[<\[]([^>\]]*)([>\]]?)`) })

// readGateText reads one text of GATES. Brackets that do not close are a problem.
func (r *octaveReader) readGateText(text string, line int) {
	found := gateForm().FindAllStringSubmatch(text, -1)
	for _, m := range found {
		if m[3] == "" {
			r.addProblem(line, "GATES: %q does not close; write GATES::[NEVER<A,B>,ALWAYS<C>]", text)
			return
		}
		for part := range strings.SplitSeq(m[2], ",") {
			r.addRules(gateNames()[m[1]], Rule{part, line})
		}
	}
	if found == nil {
		for part := range strings.SplitSeq(text, "⊕") {
			r.addRules(sayGates, Rule{part, line})
		}
	}
}

func gateNames() map[string]string { return map[string]string{"NEVER": sayGates, "ALWAYS": sayAlways} }

// escalationTargets keeps what follows the arrow in rules like "conflicts of a gate → HUMAN".
func escalationTargets(rules []Rule) []Rule {
	for i, r := range rules {
		for _, arrow := range []string{"→", "->"} {
			if n := strings.LastIndex(r.Text, arrow); n >= 0 {
				rules[i].Text = r.Text[n+len(arrow):]
				break
			}
		}
	}
	return rules
}

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

package handoff

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
)

// Code is the code of all problems with a handoff that cannot be read.
const Code = "odd-handoff"

// Read reads a handoff atom. Missing minimum content is in Missing and is no error. A from
// and to that are no transition, and a value of the wrong form, are errors. The error is
// Problems; what could be read is returned too.
func Read(a *okf.Atom) (Handoff, error) {
	h := Handoff{
		Handoff: contract.Handoff{ID: string(a.ID), Path: a.Path, Blob: a.Blob, From: contract.Mode(a.Text("from")), To: contract.Mode(a.Text("to")),
			Artifact: a.Text("artifact"), Journal: a.Text("journal"), Tainted: overrideBehind(a)},
		Title: a.Title, Persona: a.Text("persona"), Run: a.Text("run"),
		Derives: a.List("derives_from"), Disagreements: a.List("disagreements"), Atom: a,
	}
	r := reader{a: a, values: map[string]value{}}
	if a.Type != Type {
		r.addProblem(a.Line("type"), fmt.Sprintf("type %q, not %s", a.Type, Type), "name a handoff")
		return h, r.problems
	}
	t, ok := r.readTransition(h.From, h.To)
	if !ok {
		return h, r.problems
	}
	h.Deliverable = r.readDeliverable(t.Schema)
	if h.Artifact == "" {
		h.Artifact = h.Deliverable.Artifact()
	}
	h.Missing = h.Deliverable.Missing()
	h.Findings = dispositionsOf(h.Deliverable)
	if len(r.problems) > 0 {
		return h, r.problems
	}
	return h, nil
}

// dispositionsOf returns the dispositions of a validator's findings, which bind a resolver;
// nil for another deliverable.
func dispositionsOf(d deliver.Deliverable) map[string]deliver.Disposition {
	if d.Findings == nil {
		return nil
	}
	bound := map[string]deliver.Disposition{}
	for _, f := range d.Findings.Findings {
		bound[f.ID] = f.Disposition
	}
	return bound
}

// overrideBehind names the override that an atom was made under; "" for none.
func overrideBehind(a *okf.Atom) string {
	if o := a.Text("override"); o != "" || !slices.Contains(a.Tags, TaintTag) {
		return o
	}
	return "an override it does not name"
}

// value is the value of one key, and its line.
type value struct {
	line int
	raw  json.RawMessage
}

type reader struct {
	a        *okf.Atom
	problems Problems
	values   map[string]value
}

func (r *reader) addProblem(line int, message, hint string) {
	r.problems = append(r.problems, okf.Problem{Code: Code, Severity: okf.Error, Path: r.a.Path, Line: line, Message: message, Hint: hint})
}

// readTransition refuses unknown modes, and pairs of modes that are no transition.
func (r *reader) readTransition(from, to contract.Mode) (contract.Transition, bool) {
	known := true
	for _, m := range []struct {
		key  string
		mode contract.Mode
	}{{"from", from}, {"to", to}} {
		if slices.Contains(contract.ModeNames(), m.mode) {
			continue
		}
		known = false
		hint := "the modes are exploration, planning, execution, validation, resolution"
		if near, err := contract.Named(string(m.mode), contract.ModeNames()); err == nil {
			hint = "write " + string(near)
		}
		r.addProblem(r.a.Line(m.key), fmt.Sprintf("%s %q is no mode", m.key, m.mode), hint)
	}
	t, ok := Find(from, to)
	if known && !ok {
		r.addProblem(r.a.Line("to"), fmt.Sprintf("%s → %s is no transition", from, to),
			"a handoff is one of "+transitionList()+"; going back and leaving out are odd agent handoff revert and odd agent handoff skip")
	}
	return t, ok
}

// readDeliverable collects the keys of the schema from the front matter, the sections of
// the body and its json block, and decodes them as one object.
func (r *reader) readDeliverable(schema string) deliver.Deliverable {
	keys := deliver.Keys(schema)
	for _, key := range keys {
		if f, ok := r.a.Field(key); ok && f.Value != nil {
			r.setValue(key, f.Line, coerceValue(f.Value, deliver.ShapeOf(schema, key)))
		}
	}
	found := readSections(r.a, keys)
	for _, key := range keys {
		if s, ok := found[key]; ok {
			r.readSection(schema, key, s)
		}
	}
	r.readBlock(schema)
	return r.decode(schema, keys)
}

// setValue sets a value, and refuses one that differs from an earlier one.
func (r *reader) setValue(key string, line int, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		r.addProblem(line, key+": "+err.Error(), "")
		return
	}
	old, ok := r.values[key]
	if ok && !bytes.Equal(old.raw, raw) {
		r.addProblem(line, fmt.Sprintf("%s says something else than on line %d", key, old.line), "keep one of the two")
		return
	}
	if !ok {
		r.values[key] = value{line, raw}
	}
}

// coerceValue converts a value of front matter to the shape where YAML is laxer than JSON:
// a scalar for a list of one, numbers and booleans for texts.
func coerceValue(v any, s deliver.Shape) any {
	list, isList := v.([]any)
	switch {
	case s == deliver.Word:
		return coerceText(v)
	case s == deliver.List && isList:
		out := make([]any, len(list))
		for i := range list {
			out[i] = coerceText(list[i])
		}
		return out
	case s == deliver.List:
		if _, isMap := v.(map[string]any); !isMap {
			return []any{coerceText(v)}
		}
	}
	return v
}

func coerceText(v any) any {
	switch v.(type) {
	case bool, int, float64:
		return fmt.Sprint(v)
	}
	return v
}

// readSection takes the list below a heading. Objects are not read from prose, except that
// there are none: the list above a json block is only for people.
func (r *reader) readSection(schema, key string, s section) {
	switch shape := deliver.ShapeOf(schema, key); {
	case len(s.items) == 0:
	case shape == deliver.Word:
		r.setValue(key, s.line, strings.Join(s.items, "\n"))
	case saysNone(s.items):
		r.setValue(key, s.line, []string{})
	case shape == deliver.List:
		r.setValue(key, s.line, s.items)
	}
}

// readBlock takes the keys of the only json block with a deliverable's schema. A json block
// of another kind is an example and is ignored.
func (r *reader) readBlock(schema string) {
	first := 0
	for _, b := range r.a.CodeBlocks() {
		kind, _, _ := strings.Cut(b.Info, " ")
		if kind != "json" || !slices.ContainsFunc(deliver.Schemas(), func(s string) bool { return strings.Contains(b.Text, `"`+s+`"`) }) {
			continue
		}
		switch {
		case b.Open:
			r.addProblem(b.Line, "the json block is not closed", "end it with a line of as many backticks")
		case first > 0:
			r.addProblem(b.Line, fmt.Sprintf("a second deliverable, the first is on line %d", first), "keep one")
		default:
			first = b.Line
			r.readObject(schema, b)
		}
	}
}

func (r *reader) readObject(schema string, b okf.CodeBlock) {
	d, err := deliver.Decode(schema, []byte(b.Text))
	if ps, ok := errors.AsType[deliver.Problems](err); ok {
		for _, p := range ps {
			text := p.Message
			if p.At != "" {
				text = p.At + ": " + text
			}
			r.addProblem(b.Line+p.Line, text, "")
		}
		return
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(deliver.Encode(d), &keys); err != nil {
		panic("unreachable: " + err.Error())
	}
	for _, key := range deliver.Keys(schema) {
		if raw, ok := keys[key]; ok {
			r.setValue(key, b.Line, raw)
		}
	}
}

// decode decodes the collected values; its problems have the lines of their keys.
func (r *reader) decode(schema string, keys []string) deliver.Deliverable {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"schema":%q`, schema)
	for _, key := range keys {
		if v, ok := r.values[key]; ok {
			fmt.Fprintf(&b, ",%q:%s", key, v.raw)
		}
	}
	b.WriteByte('}')
	d, err := deliver.Decode(schema, b.Bytes())
	if ps, ok := errors.AsType[deliver.Problems](err); ok {
		for _, p := range ps {
			key := p.At[:len(p.At)-len(strings.TrimLeft(p.At, "abcdefghijklmnopqrstuvwxyz_"))]
			r.addProblem(r.values[key].line, p.At+": "+p.Message, "")
		}
		return deliver.Deliverable{Schema: schema}
	}
	return d
}

package handoff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/deliver"
)

// Clarify returns the handoff's file with one more sentence at key, which is a text or a
// list of its schema; a session sees nothing else of a handoff. Existing text stays, and so
// does every other byte. A list in the body grows there. One that says "none" must be
// changed by hand, because a clarification cannot take anything back.
func Clarify(h Handoff, key, sentence string) ([]byte, error) {
	schema := h.Deliverable.Schema
	shape := deliver.ShapeOf(schema, key)
	sentence = strings.Join(strings.Fields(okf.Visible(sentence)), " ")
	switch {
	case sentence == "":
		return nil, fmt.Errorf("%s: nothing to add", h.Path)
	case shape == deliver.NoKey:
		return nil, fmt.Errorf("%s: no key %q; the keys are %s", h.Path, key, strings.Join(deliver.Keys(schema), ", "))
	case shape == deliver.Objects:
		return nil, fmt.Errorf("%s: %s is a list of objects; hand over a new one that derives from this", h.Path, key)
	}
	s, headed := readSections(h.Atom, []string{key})[key]
	_, front := h.Atom.Field(key)
	if headed && len(s.items) > 0 && !front {
		return addToBody(h, key, s, sentence)
	}
	if shape == deliver.Word {
		return okf.Edit(h.Atom.Bytes(), okf.Set{Key: key, Value: strings.TrimSpace(h.Atom.Text(key) + "\n" + sentence)})
	}
	return okf.Edit(h.Atom.Bytes(), okf.Set{Key: key, Value: append(h.Atom.List(key), sentence)})
}

// addToBody adds the sentence as a list item after the section's last line.
func addToBody(h Handoff, key string, s section, sentence string) ([]byte, error) {
	if saysNone(s.items) {
		return nil, fmt.Errorf("%s:%d: %s says %q; change it by hand", h.Path, s.line, key, s.items[0])
	}
	all := strings.SplitAfter(string(h.Atom.Bytes()), "\n")
	at := len(all)
	if s.end > 0 {
		at = s.end - 1 // lines before the next heading
	}
	for at > s.line && strings.TrimSpace(all[at-1]) == "" {
		at--
	}
	item := "- " + escapeLine(sentence) + "\n"
	if !strings.HasSuffix(all[at-1], "\n") {
		item = "\n" + item
	}
	return []byte(strings.Join(slices.Insert(all, at, item), "")), nil
}

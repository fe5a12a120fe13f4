package handoff

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/deliver"
)

// section is the list below one heading.
type section struct {
	line  int // of the heading
	end   int // of the heading that ends it; 0 for the end of the file
	items []string
}

// comment is an HTML comment within a text. Comments of several lines are no text to okf.
var comment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<!--.*?(?:-->|$)`) })

// readSections returns the lists below headings by key: "## Scope in" is scope_in. Each
// list item and each paragraph is one; a paragraph that ends in a colon is only an
// introduction. A second heading of one key adds to the first.
func readSections(a *okf.Atom, keys []string) map[string]section {
	out := map[string]section{}
	all := a.Sections()
	for i, h := range all {
		key := keyOf(h.Text)
		if h.Level == 1 || !slices.Contains(keys, key) { // the first level is the title's
			continue
		}
		s, again := out[key]
		if !again {
			s.line = h.Line
		}
		var found []okf.Passage
		for n, below := range all[i:] {
			if n > 0 && below.Level <= h.Level {
				if !again {
					s.end = below.Line
				}
				break
			}
			found = slices.Concat(found, below.Items, below.Paragraphs)
		}
		slices.SortStableFunc(found, func(a, b okf.Passage) int { return a.Line - b.Line })
		for _, p := range found {
			text := strings.TrimSpace(comment().ReplaceAllString(p.Text, ""))
			if text != "" && !(len(found) > 1 && strings.HasSuffix(text, ":")) {
				s.items = append(s.items, text)
			}
		}
		out[key] = s
	}
	return out
}

// keyOf returns a heading as a key: lower case, with "_" between words.
func keyOf(heading string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(heading), func(r rune) bool { return strings.ContainsRune(" \t_-:", r) }), "_")
}

// saysNone reports whether the only item says that there is nothing.
func saysNone(items []string) bool {
	if len(items) != 1 {
		return false
	}
	return slices.Contains([]string{"none", "nothing", "n/a", "[]"}, strings.ToLower(strings.Trim(items[0], " .*_`()")))
}

// Clarify returns the handoff's file with one more sentence at key, which is a text or a
// list of its schema; a session sees nothing else of a handoff. Existing text stays, and so
// does every other byte. A list in the body grows there. One that says "none" must be
// changed by hand, because a clarification cannot take anything back.
func Clarify(h Handoff, key, sentence string) ([]byte, error) {
	schema := h.Deliverable.Schema
	shape := deliver.ShapeOf(schema, key)
	sentence = okf.OneLine(sentence)
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

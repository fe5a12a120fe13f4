package okf

import (
	"fmt"
	"slices"
	"strings"
)

// misspelling is a key or type that odd does not know, and the known one that it resembles.
type misspelling struct {
	code, word, meant string
	path              string
	line              int
}

// checkSpelling notes misspellings in the type and the keys of the atom. Types and keys are
// open lists: a word that resembles no known one is legal.
func (c *checker) checkSpelling() {
	a, keys := c.a, keyOrder()
	if !isKnownType(a.Type) {
		c.noteMisspelling(codeTypeWord, a.Type, a.Line("type"))
	}
	for i := range a.Fields {
		f := &a.Fields[i]
		c.keys[f.Key]++
		if _, ok := keys[f.Key]; !ok {
			c.noteMisspelling(codeKey, f.Key, f.Line)
		}
	}
}

// noteMisspelling records a word that resembles a known one. A key in an atom that also has
// the known key is no misspelling.
func (c *checker) noteMisspelling(code, word string, line int) {
	asked := [2]string{c.a.Type, word}
	if code == codeTypeWord {
		asked[0] = ""
	}
	meant, ok := c.meant[asked]
	if !ok {
		names := knownKeys(c.a.Type)
		if code == codeTypeWord {
			names = slices.Concat(workTypes(), canonTypes(), []string{"persona", "handoff"})
		}
		meant = nearestKnown(word, names)
		c.meant[asked] = meant
	}
	if meant == "" {
		return
	}
	if _, both := c.a.Field(meant); both && code == codeKey {
		return
	}
	c.slipped = append(c.slipped, misspelling{code, word, meant, c.a.Path, line})
}

// reportMisspellings reports the words that were noted. A word is legal if at least three
// atoms use it, and at least as many as use the known word. A type that differs only in
// case or separators is reported anyway if the bundle has typed edges, because odd reads
// such types.
func (c *checker) reportMisspellings() {
	if len(c.slipped) == 0 {
		return
	}
	types := map[string]int{}
	for _, typ := range c.types {
		types[typ]++
	}
	for _, s := range c.slipped {
		what, times, read := "key", c.keys, false
		if s.code == codeTypeWord {
			what, times, read = "type", types, c.typed && foldWord(s.word) == s.meant
		}
		if n := times[s.word]; n >= 3 && n >= times[s.meant] && !read {
			continue
		}
		c.addAt(s.path, Warn, s.code, s.line, fmt.Sprintf("did you mean %q?", s.meant), "odd does not know the %s %q", what, s.word)
	}
}

// knownKeys lists the keys that odd reads in an atom of a type.
func knownKeys(typ string) []string {
	keys := []string{"timestamp", "derives_from", "complements"}
	for key := range keyOrder() {
		if typ == "task" || !slices.Contains(taskKeys(), key) {
			keys = append(keys, key)
		}
	}
	switch {
	case typ == "task":
		keys = append(keys, "contract_role", "persona", "surface", "engagement", "voice", "handoff", "artifact")
	case isCanonType(typ):
		for _, k := range canonKeys() {
			keys = append(keys, k.name)
		}
	}
	slices.Sort(keys)
	return keys
}

// nearestKnown returns the name that word is probably a misspelling of. It returns "" if
// word is one of names, or if it is too short or too different to tell.
func nearestKnown(word string, names []string) string {
	w := foldWord(word)
	near := Nearest(w, names)
	if near == word || near != w && near != w+"s" && (len(w) < 5 || !isAnagram(w, near) && 5*Distance(w, near) > len(w)) {
		return ""
	}
	return near
}

// foldWord returns a word in lower case with "_" between its parts.
func foldWord(word string) string {
	return strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(word)))
}

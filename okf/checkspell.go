package okf

import (
	"fmt"
	"slices"
	"strings"
)

// slip is a key or a type that odd does not know and that is nearly one it knows.
type slip struct {
	code, word, meant string
	path              string
	line              int
}

// spelling looks for slips in the type and the keys of the atom. The vocabulary
// of both is open: a word that is near none is not one.
func (c *checker) spelling() {
	a, keys := c.a, keyOrder()
	if !isKnownType(a.Type) {
		c.slip(codeTypeWord, a.Type, a.Line("type"))
	}
	for i := range a.Fields {
		f := &a.Fields[i]
		c.keys[f.Key]++
		if _, ok := keys[f.Key]; !ok {
			c.slip(codeKey, f.Key, f.Line)
		}
	}
}

// slip notes a word that is nearly a known one. A key beside the one that it is
// near to is somebody's own.
func (c *checker) slip(code, word string, line int) {
	asked := [2]string{c.a.Type, word}
	if code == codeTypeWord {
		asked[0] = ""
	}
	meant, ok := c.meant[asked]
	if !ok {
		names := keysOf(c.a.Type)
		if code == codeTypeWord {
			names = slices.Concat(workTypes(), canonTypes(), []string{"persona", "handoff"})
		}
		meant = misspelt(word, names)
		c.meant[asked] = meant
	}
	if meant == "" {
		return
	}
	if _, both := c.a.Field(meant); both && code == codeKey {
		return
	}
	c.slipped = append(c.slipped, slip{code, word, meant, c.a.Path, line})
}

// slips reports the slips. A word that at least three atoms have, and no fewer
// than have the one it is near to, is somebody's own and no slip; but a type in
// other letters is one wherever the bundle has typed edges, because odd reads it.
func (c *checker) slips() {
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

// keysOf are the keys that odd reads in an atom of a type.
func keysOf(typ string) []string {
	keys := []string{"timestamp", "derives_from", "complements"}
	for key := range keyOrder() {
		if typ == "task" || !slices.Contains(taskKeys(), key) {
			keys = append(keys, key)
		}
	}
	switch {
	case typ == "task":
		keys = append(keys, "contract_role", "persona", "surface", "engagement", "voice", "handoff", "artifact")
	case governs(typ):
		for _, k := range canonKeys() {
			keys = append(keys, k.name)
		}
	}
	slices.Sort(keys)
	return keys
}

// misspelt is the one of names that word is a slip of, "" where it is one of
// them, or may well be another word: one with few letters, or with too many
// others.
func misspelt(word string, names []string) string {
	w := foldWord(word)
	near := Nearest(w, names)
	if near == word || near != w && near != w+"s" && (len(w) < 5 || !isAnagram(w, near) && 5*Distance(w, near) > len(w)) {
		return ""
	}
	return near
}

// foldWord returns a word in lower case and with "_" between its parts.
func foldWord(word string) string {
	return strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(word)))
}

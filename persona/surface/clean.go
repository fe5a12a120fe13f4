package surface

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean takes the persona glyphs out of s and says which, in order.
func (g glyphs) clean(s string) (string, []string) {
	var taken []string
	for strings.ContainsFunc(s, func(r rune) bool { return g.first[r] }) {
		next, some := g.once(s)
		if some == nil {
			break
		}
		// What stood on both sides may be a glyph now.
		s, taken = next, append(taken, some...)
	}
	return s, taken
}

// once is one pass over the clusters of s. Glyphs that touch go as one, with
// the one space that set them apart.
func (g glyphs) once(s string) (string, []string) {
	parts := slices.Collect(clusters(s))
	out := make([]string, 0, len(parts))
	var taken []string
	for i := 0; i < len(parts); {
		if g.set(parts[i]) == "" {
			out = append(out, parts[i])
			i++
			continue
		}
		for ; i < len(parts) && g.set(parts[i]) != ""; i++ {
			taken = append(taken, parts[i])
		}
		left, right := "", ""
		if len(out) > 0 {
			left = out[len(out)-1]
		}
		if i < len(parts) {
			right = parts[i]
		}
		switch {
		case right == " " && opens(left):
			i++
		case left == " " && closes(right):
			out = out[:len(out)-1]
		}
	}
	return strings.Join(out, ""), taken
}

// opens reports whether a text that ends so needs no space after it.
func opens(left string) bool {
	r, n := utf8.DecodeLastRuneInString(left)
	return n == 0 || unicode.IsSpace(r) || unicode.In(r, unicode.Ps, unicode.Pi) || strings.ContainsRune("/\\@#*_~`\"'", r)
}

// closes reports whether a text that begins so needs no space before it.
func closes(right string) bool {
	r, n := utf8.DecodeRuneInString(right)
	return n == 0 || unicode.IsSpace(r) || unicode.In(r, unicode.Pe, unicode.Pf) || strings.ContainsRune(".,;:!?…", r)
}

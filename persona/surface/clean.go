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
		if !g.has(parts[i]) {
			rest, hid := g.unjoin(parts[i])
			if hid {
				taken = append(taken, parts[i])
			}
			if out = append(out, rest); rest == "" {
				out = out[:len(out)-1]
			}
			i++
			continue
		}
		for ; i < len(parts) && g.has(parts[i]); i++ {
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

// unjoin takes standard glyphs out of a cluster that they share with something
// else: joined to a picture that is nobody's, or carrying a letter's mark, a glyph
// is seen as well as alone. The rest stays, without the joiner.
func (g glyphs) unjoin(cluster string) (rest string, hid bool) {
	var out []rune
	after := false // what stood before was taken
	for _, r := range cluster {
		switch {
		case g.alone[r]:
			hid, after = true, true
			continue
		case after && (r == joiner && (len(out) == 0 || out[len(out)-1] == joiner) || r != joiner && decorates(r)):
			continue
		}
		out, after = append(out, r), false
	}
	if !hid {
		return cluster, false
	}
	return strings.TrimSuffix(string(out), string(joiner)), true
}

// joiner is U+200D, which makes one picture of two.
const joiner = '\u200d'

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

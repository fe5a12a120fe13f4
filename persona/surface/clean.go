package surface

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/odd-cli/odd/persona/contract"
)

// cleanText takes the persona glyphs out of s and says which, in order.
func (g glyphs) cleanText(s string) (string, []string) {
	var taken []string
	for strings.ContainsFunc(s, func(r rune) bool { return g.first[r] }) {
		next, some := g.cleanOnce(s)
		if some == nil {
			break
		}
		// What stood on both sides may be a glyph now.
		s, taken = next, append(taken, some...)
	}
	return s, taken
}

// cleanOnce is one pass over the clusters of s. Glyphs that touch go as one, with
// the one space that set them apart.
func (g glyphs) cleanOnce(s string) (string, []string) {
	parts := slices.Collect(walkClusters(s))
	out := make([]string, 0, len(parts))
	var taken []string
	for i := 0; i < len(parts); {
		if !g.hasCluster(parts[i]) {
			rest, hid := g.splitJoined(parts[i])
			if hid {
				taken = append(taken, parts[i])
			}
			if out = append(out, rest); rest == "" {
				out = out[:len(out)-1]
			}
			i++
			continue
		}
		for ; i < len(parts) && g.hasCluster(parts[i]); i++ {
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
		case right == " " && endsOpen(left):
			i++
		case left == " " && beginsClosed(right):
			out = out[:len(out)-1]
		}
	}
	return strings.Join(out, ""), taken
}

// splitJoined takes standard glyphs out of a cluster that they share with something
// else: joined to a picture that is nobody's, or carrying a letter's mark, a glyph
// is seen as well as alone. The rest stays, without the joiner.
func (g glyphs) splitJoined(cluster string) (rest string, hid bool) {
	var out []rune
	after := false // what stood before was taken
	for _, r := range cluster {
		switch {
		case g.alone[r]:
			hid, after = true, true
			continue
		case after && (r == joiner && (len(out) == 0 || out[len(out)-1] == joiner) || r != joiner && isDecoration(r)):
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

// endsOpen reports whether a text that ends so needs no space after it.
func endsOpen(left string) bool {
	r, n := utf8.DecodeLastRuneInString(left)
	return n == 0 || unicode.IsSpace(r) || unicode.In(r, unicode.Ps, unicode.Pi) || strings.ContainsRune("/\\@#*_~`\"'", r)
}

// beginsClosed reports whether a text that begins so needs no space before it.
func beginsClosed(right string) bool {
	r, n := utf8.DecodeRuneInString(right)
	return n == 0 || unicode.IsSpace(r) || unicode.In(r, unicode.Pe, unicode.Pf) || strings.ContainsRune(".,;:!?…", r)
}

// characterGlyphs are the standard glyphs that carry a persona's character (canon: the
// voices' brand guides): the signatures, the river's and the tower's.
func characterGlyphs() []string {
	return strings.Fields("🦦 🦅 🌊 🪨 🪵 🌿 🏞️ 🌀 🗼 🛫 🛬 📡")
}

// functionalGlyphs carry a state, and stay everywhere.
func functionalGlyphs() []string { return strings.Fields("✅ 🟢 ⚠️ 🔴 ⏳ 🟡") }

// glyphs are the persona's glyphs of one contract, each folded.
type glyphs struct {
	persona map[string]bool
	first   map[rune]bool // what a persona glyph begins with
	alone   map[rune]bool // a standard one, which is one character and never part of another picture
}

// glyphsOf lays the profiles' own glyphs over the standard ones. What is no
// picture is no glyph, so that a profile cannot take letters out of texts.
func glyphsOf(c contract.Contract) glyphs {
	g := glyphs{map[string]bool{}, map[rune]bool{}, map[rune]bool{}}
	for _, x := range characterGlyphs() {
		g.addGlyphs(x)
		r, _ := utf8.DecodeRuneInString(x)
		g.alone[r] = true
	}
	for _, p := range speakingProfiles(c) {
		for _, x := range p.Glyphs.Signature {
			g.addGlyphs(x)
		}
		for _, xs := range p.Glyphs.Palettes {
			for _, x := range xs {
				g.addGlyphs(x)
			}
		}
	}
	return g
}

func (g glyphs) addGlyphs(text string) {
	for x := range walkClusters(text) {
		if !isPicture(x) || isFunctional(x) {
			continue
		}
		g.persona[dropSelector(x)] = true
		r, _ := utf8.DecodeRuneInString(dropSelector(x))
		g.first[r] = true
	}
}

func isFunctional(cluster string) bool {
	return slices.ContainsFunc(functionalGlyphs(), func(x string) bool { return dropSelector(x) == dropSelector(cluster) })
}

func speakingProfiles(c contract.Contract) []*contract.Profile {
	var ps []*contract.Profile
	if c.Persona != nil {
		ps = append(ps, c.Persona)
	}
	for _, p := range c.Participants {
		if p != nil {
			ps = append(ps, p)
		}
	}
	return ps
}

// hasCluster reports whether a grapheme cluster is a persona's glyph, in whatever skin.
func (g glyphs) hasCluster(cluster string) bool {
	if isFunctional(cluster) {
		return false
	}
	if g.persona[dropSelector(cluster)] {
		return true
	}
	found := false
	for _, r := range cluster {
		if isDecoration(r) {
			continue
		}
		if found = g.persona[string(r)]; !found {
			return false
		}
	}
	return found
}

// dropSelector drops the selector that says how a glyph is drawn: both spellings occur.
func dropSelector(cluster string) string { return strings.ReplaceAll(cluster, "\ufe0f", "") }

// isDecoration reports whether r changes how a glyph looks and not what it is.
func isDecoration(r rune) bool {
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) || r >= 0x1F3FB && r <= 0x1F3FF
}

func walkClusters(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		state := -1
		for s != "" {
			var x string
			x, s, _, state = uniseg.FirstGraphemeClusterInString(s, state)
			if !yield(x) {
				return
			}
		}
	}
}

// pictures are the signs below U+1F000 that are drawn as pictures unasked.
var pictures = &unicode.RangeTable{R16: []unicode.Range16{
	{0x231A, 0x231B, 1}, {0x23E9, 0x23EC, 1}, {0x23F0, 0x23F3, 3}, {0x25FD, 0x25FE, 1}, {0x2614, 0x2615, 1},
	{0x2648, 0x2653, 1}, {0x267F, 0x2693, 20}, {0x26A1, 0x26AA, 9}, {0x26AB, 0x26BD, 18}, {0x26BE, 0x26C4, 6},
	{0x26C5, 0x26CE, 9}, {0x26D4, 0x26EA, 22}, {0x26F2, 0x26F3, 1}, {0x26F5, 0x26FA, 5}, {0x26FD, 0x2705, 8},
	{0x270A, 0x270B, 1}, {0x2728, 0x274C, 36}, {0x274E, 0x274E, 1}, {0x2753, 0x2755, 1}, {0x2757, 0x2757, 1},
	{0x2795, 0x2797, 1}, {0x27B0, 0x27BF, 15}, {0x2B1B, 0x2B1C, 1}, {0x2B50, 0x2B55, 5},
}}

func isPicture(cluster string) bool {
	r, n := utf8.DecodeRuneInString(cluster)
	return r >= 0x1F000 && r <= 0x1FAFF || unicode.Is(pictures, r) || n < len(cluster) && strings.ContainsAny(cluster, "\ufe0f\u20e3")
}

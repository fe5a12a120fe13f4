package secrets

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// view is a text as somebody reads it in the end: what JSON, a shell or a URL
// writes as an escape is the character it stands for, what colours a terminal is
// no text, and what nobody can see is left out. A credential that stands there is
// one, however the bytes between its letters and before it are written.
type view struct {
	text []byte
	at   []int // where in the bytes each of the text begins
}

// buildViews returns the ways to read b besides as it stands: with a blank where a terminal
// is told something, because what is before it is no part of a word, and with
// nothing there. Plain text has none, most texts with escapes have one.
func buildViews(b []byte) []view {
	if !mayHideText(string(b)) {
		return nil
	}
	apart, told := buildView(b, true)
	if !told {
		return []view{apart}
	}
	joined, _ := buildView(b, false)
	return []view{apart, joined}
}

// buildView returns one view of b; told reports that b tells a terminal something.
func buildView(b []byte, apart bool) (v view, told bool) {
	v = view{make([]byte, 0, len(b)), make([]int, 0, len(b))}
	for i := 0; i < len(b); {
		n, r := 1, rune(itself)
		if !isOrdinary(b[i]) {
			n, r = readUnit(b[i:])
		}
		switch {
		case r == itself:
			for k := i; k < i+n; k++ {
				v.text, v.at = append(v.text, b[k]), append(v.at, k)
			}
		case r == order && apart:
			v.text, v.at = append(v.text, ' '), append(v.at, i)
		case r >= 0:
			v.text, v.at = append(v.text, byte(r)), append(v.at, i)
		}
		told = told || r == order
		i += n
	}
	return v, told
}

// What unit says of bytes that stand for no character of ASCII.
const (
	itself  = -1 // they are read as they stand
	nothing = -2 // nobody sees them
	order   = -3 // they tell a terminal something
)

// readUnit returns how many bytes at the start of b are read as one, and as what.
func readUnit(b []byte) (n int, r rune) {
	switch c := b[0]; {
	case c == '\\' && len(b) > 1:
		return readEscape(b)
	case c == '%' && len(b) > 2 && isHexDigit(b[1]) && isHexDigit(b[2]):
		return 3, shownCharacter(hexCode(b, 1, 2))
	case c == 0x1b:
		return readSequence(b, 1)
	case c == '[' && isColourCode(string(b[1:min(len(b), maxColour)])):
		return readSequence(b, 0)
	case c == '\t' || c == '\n' || c >= ' ' && c < 0x7f:
		return 1, itself
	case c < utf8.RuneSelf:
		return 1, nothing
	}
	return readWide(b)
}

// readWide is readUnit for a character beyond ASCII.
func readWide(b []byte) (n int, r rune) {
	r, n = utf8.DecodeRune(b)
	switch {
	case r == 0x9b:
		return readSequence(b, n)
	case isInvisible(r):
		return n, nothing
	}
	return n, itself
}

func readEscape(b []byte) (n int, r rune) {
	switch b[1] {
	case 'n', 'r', 't', 'b', 'f', 'v', 'a':
		return 2, ' '
	case 'e':
		return readSequence(b, 2)
	case 'u', 'x', '0':
		digits := map[byte]int{'u': 4, 'x': 2, '0': 2}[b[1]]
		code := hexCode(b, 2, digits)
		if b[1] == '0' && code == 0x33 { // \033 in octal
			code = 0x1b
		} else if b[1] == '0' {
			break
		}
		switch {
		case code < 0:
			return 1, itself
		case code == 0x1b:
			return readSequence(b, 2+digits)
		}
		return 2 + digits, shownCharacter(code)
	}
	return 1, itself
}

// shownCharacter returns the character of a code: one of ASCII, a blank where there is room or a
// letter of another script, nothing where nobody sees it.
func shownCharacter(code rune) rune {
	switch {
	case code > ' ' && code < 0x7f:
		return code
	case code != ' ' && code != '\t' && code != '\n' && code != '\r' && (code < utf8.RuneSelf || isInvisible(code)):
		return nothing
	}
	return ' '
}

// maxSequence is the longest control sequence there is, in bytes.
const maxSequence = 64

// readSequence reads what follows the introducer of n bytes that a terminal acts on: a
// control sequence as a whole, of others the introducer alone.
func readSequence(b []byte, n int) (int, rune) {
	end := n
	if end < len(b) && b[end] == '[' {
		end++
	} else if b[0] != 0xc2 { // the one of two bytes holds its bracket
		return n, order
	}
	for end < len(b) && end < maxSequence && b[end] >= ' ' && b[end] <= '?' {
		end++
	}
	if end < len(b) && b[end] >= '@' && b[end] <= '~' {
		return end + 1, order
	}
	return n, order
}

// maxColour is the longest of what coloured looks at, in bytes, with its bracket.
const maxColour = 20

// isColourCode reports digits and an m, behind a bracket: what is left of a colour once
// the character before it, which nobody sees, was taken away.
func isColourCode(rest string) bool {
	rest = rest[:min(len(rest), maxColour-1)]
	at := strings.IndexFunc(rest, func(r rune) bool { return r != ';' && (r < '0' || r > '9') })
	return at > 0 && rest[at] == 'm'
}

// hexCode reads n hexadecimal digits at i; -1 where they are none.
func hexCode(b []byte, i, n int) rune {
	if len(b) < i+n {
		return -1
	}
	code, err := strconv.ParseUint(string(b[i:i+n]), 16, 32)
	if err != nil {
		return -1
	}
	return rune(code)
}

// isInvisible reports a character beyond ASCII that nobody sees and that takes no room.
// What most texts are written in is known at once.
func isInvisible(r rune) bool {
	switch {
	case r == 0xad, r >= 0x80 && r < 0xa0:
		return true
	case r >= 0xa0 && r < 0x300, r >= 0x370 && r < 0x590, r >= 0x2010 && r < 0x2028, r >= 0x2030 && r < 0x205f, r >= 0x2070 && r < 0x2e00,
		r >= 0x3000 && r < 0x3100, r >= 0x4e00 && r < 0xa000, r >= 0xac00 && r < 0xd7a4:
		return false
	}
	return IsUnseen(r) && !unicode.Is(unicode.Zs, r)
}

// IsUnseen reports whether a character cannot be told by looking: one that has
// no glyph, that changes the direction or the look of its neighbours, or a
// space other than the plain one. Control characters are told apart.
func IsUnseen(r rune) bool {
	switch {
	case unicode.IsControl(r), r == utf8.RuneError:
		return false
	case r == 0x34F, r == 0x115F, r == 0x1160, r == 0x17B4, r == 0x17B5, r == 0x3164, r == 0xFFA0:
		return true // fillers, which are letters and marks by their category
	case unicode.Is(unicode.Variation_Selector, r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
		return true
	}
	return !unicode.IsPrint(r)
}

// isOrdinary reports a byte that stands for itself whatever is behind it.
func isOrdinary(c byte) bool {
	return c >= ' ' && c < 0x7f && c != '\\' && c != '%' && c != '[' || c == '\n' || c == '\t'
}

// mayHideText reports a text that may have a view of its own.
func mayHideText(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; isOrdinary(c) {
			continue
		} else if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if isInvisible(r) {
				return true
			}
			i += n - 1
		} else if c < ' ' || c == 0x7f || mayEscape(c, s[i+1:]) {
			return true
		}
	}
	return false
}

// mayEscape reports a sign that, with what is behind it, may be an escape.
func mayEscape(c byte, rest string) bool {
	switch {
	case rest == "":
		return false
	case c == '\\':
		return strings.IndexByte("nrtbfvaeux0", rest[0]) >= 0
	case c == '%':
		return len(rest) > 1 && isHexDigit(rest[0]) && isHexDigit(rest[1])
	}
	return isColourCode(rest)
}

func isHexDigit(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// spot is where a credential stands in a text, b[lo:hi], and of which of shapes() it is.
type spot struct{ shape, lo, hi int }

// rounds is how often find looks at most. What is found in one way of reading parts
// the words of another, where there may be more then; nobody needs a third, but a
// text that is made for it shall not take the square of its time.
const rounds = 4

// findSecrets returns where credentials stand in b, in its order and apart from each other,
// read as it stands and in all of its views, until none is left. What stands for one
// that was taken out before is no text.
func findSecrets(b []byte) []spot {
	var out []spot
	text := maskRedactions(b)
	for range rounds {
		found := findOnce(text)
		if len(found) == 0 {
			break
		}
		if out = append(out, found...); &text[0] == &b[0] {
			text = slices.Clone(b)
		}
		for _, f := range found {
			markTaken(text[f.lo:f.hi])
		}
	}
	slices.SortFunc(out, func(a, b spot) int { return a.lo - b.lo })
	return mergeOverlaps(out)
}

// findOnce returns where credentials stand in b at one look, in no order.
func findOnce(b []byte) []spot {
	out := scanBytes(b)
	for _, v := range buildViews(b) {
		for _, f := range scanBytes(v.text) {
			last := v.at[f.hi-1]
			n, _ := readUnit(b[last:])
			out = append(out, spot{f.shape, v.at[f.lo], last + n})
		}
	}
	return out
}

// maskRedactions returns b with the marks of what was redacted before taken, as what is redacted
// now will be.
func maskRedactions(b []byte) []byte {
	var out []byte
	for i := 0; ; i++ {
		n := bytes.Index(b[i:], []byte(Mark))
		if n < 0 {
			break
		}
		i += n
		kind, _, closed := bytes.Cut(b[i+len(Mark):min(len(b), i+len(Mark)+maxKind)], []byte("]"))
		if !closed || !slices.ContainsFunc(shapes(), func(s shape) bool { return s.kind == string(kind) }) {
			continue
		}
		if out == nil {
			out = slices.Clone(b)
		}
		end := i + len(Mark) + len(kind) + len("]")
		markTaken(out[i:end])
		i = end - 1
	}
	if out == nil {
		return b
	}
	return out
}

// markTaken overwrites b, which is a credential that was found; its lines stay.
func markTaken(b []byte) {
	for i, c := range b {
		if c != '\n' {
			b[i] = taken
		}
	}
}

// mergeOverlaps makes one of those that overlap, of the most telling shape.
func mergeOverlaps(in []spot) []spot {
	var out []spot
	for _, f := range in {
		if n := len(out) - 1; n >= 0 && f.lo < out[n].hi {
			out[n].hi, out[n].shape = max(out[n].hi, f.hi), min(out[n].shape, f.shape)
			continue
		}
		out = append(out, f)
	}
	return out
}

// scanBytes returns where credentials stand in a text by its bytes alone. What one shape has
// taken is in brackets for the next.
func scanBytes(b []byte) []spot {
	low := lowerASCII(b)
	hits := findHints(low)
	if hits == nil {
		return nil
	}
	b = slices.Clone(b)
	var out []spot
	for i, s := range shapes() {
		hits := slices.DeleteFunc(hits[i], func(at int) bool { return b[at] == taken })
		for _, m := range s.findMatches(b, low, hits) {
			out = append(out, spot{i, m[0], m[1]})
			markTaken(b[m[0]:m[1]])
			markTaken(low[m[0]:m[1]])
		}
	}
	return out
}

// taken stands where a credential was: no value goes over it.
const taken = '{'

// Mark, a kind and "]" take the place of a credential.
const Mark = "[redacted:"

// maxKind is how many bytes a kind has at most, with the bracket behind it.
const maxKind = 32

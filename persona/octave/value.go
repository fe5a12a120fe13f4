package octave

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// mayEnd reports that a value may end at i: nothing follows on the line, or a
// comment does, or in a list a comma or bracket.
func (p *parser) mayEnd(inList bool) bool {
	i := p.pos
	for i < len(p.src) && isBlank(p.src[i]) {
		i++
		p.ops++
	}
	if p.isAtLineEnd(i) || i > p.pos && p.hasAt(i, "//") {
		return true
	}
	return inList && (p.src[i] == ',' || p.src[i] == ']')
}

// readValue reads what stands behind the colons of a pair, or an element of a
// list. It leaves pos behind the value, and for a word behind the blanks too.
func (p *parser) readValue(e *Entry, inList bool) {
	v := &e.Value
	v.from, v.to = p.pos, p.pos
	if p.mayEnd(inList) {
		return
	}
	p.skipBlanks()
	v.from = p.pos
	notes, whole := len(p.notes), true
	switch {
	case p.hasAt(p.pos, `"""`):
		p.readTriple(v)
	case p.src[p.pos] == '"':
		p.readQuoted(v)
	case p.src[p.pos] == '[':
		whole = p.readList(v)
	default:
		p.readWord(v, inList)
		return
	}
	if whole && !p.stop && !p.mayEnd(inList) {
		p.notes = p.notes[:notes] // it was the beginning of a word
		*v = Value{from: v.from}
		p.readWord(v, inList)
		return
	}
	v.to = p.pos
	v.Raw = p.src[v.from:v.to]
}

// readTriple reads text that may go over lines.
func (p *parser) readTriple(v *Value) {
	v.Kind = Triple
	body := p.pos + 3
	n := strings.Index(p.src[body:], `"""`)
	if n < 0 {
		p.ops += len(p.src) - body
		p.note(codeUnclosed, p.pos, `""" is opened here and not closed`)
		p.pos, p.stop = len(p.src), true
		return
	}
	p.ops += n
	v.Text = withLineFeeds(p.src[body : body+n])
	p.pos = body + n + 3
}

// readQuoted reads text in quotes, on one line.
func (p *parser) readQuoted(v *Value) {
	v.Kind = Quoted
	at := p.pos
	end, ok := p.quoteEnd(at)
	if !ok {
		p.note(codeUnclosed, at, `a " is opened here and not closed on its line`)
		p.pos = end
		return
	}
	var bad int
	if v.Text, bad = unquote(p.src[at+1 : end-1]); bad >= 0 {
		p.note(codeEscape, at+1+bad, "")
	}
	p.pos = end
}

// quoteEnd returns the end of the quoted text that begins at at, or of its line if
// the quotes are not closed.
func (p *parser) quoteEnd(at int) (end int, ok bool) {
	for i := at + 1; ; i++ {
		p.ops++
		switch {
		case p.isAtLineEnd(i):
			return i, false
		case p.src[i] == '"':
			return i + 1, true
		case p.src[i] == '\\' && !p.isAtLineEnd(i+1):
			i++
		}
	}
}

// readWord reads a bare value to where it ends: brackets in it hold together, quotes
// in it too. What strict wants in quotes is noted once of each kind.
func (p *parser) readWord(v *Value, inList bool) {
	w := wordReader{p: p, inList: inList, field: v.from, gap: -1}
	if p.src[v.from] == '[' || p.src[v.from] == '"' { // read as one already
		w.noteFault(p.src[v.from], v.from)
	}
	for w.skipToNext() && w.readNext() {
	}
	for _, open := range w.open {
		p.note(codeUnbalanced, open.from, "")
	}
	v.Kind = Word
	v.Raw = strings.TrimRight(p.src[v.from:p.pos], " \t")
	v.Text = withLineFeeds(v.Raw)
	v.to = v.from + len(v.Raw)
	w.checkWhole(v)
	v.faulty = len(w.faults) > 0
}

// wordReader is the state of reading one bare value.
type wordReader struct {
	p      *parser
	inList bool
	open   []opened // brackets
	field  int      // where the word of now begins
	gap    int      // where the blanks before pos begin; -1 if none
	faults []code
}

type opened struct {
	from  int
	close byte
}

func (w *wordReader) noteFault(c byte, at int) {
	kind := codeQuote
	switch c {
	case '`':
		kind = codeBacktick
	case '"', ' ':
		kind = codeWords
	case '-':
		kind = codeDate
	}
	if !slices.Contains(w.faults, kind) {
		w.faults = append(w.faults, kind)
		w.p.note(kind, at, "")
	}
}

// skipToNext reports whether the value goes on at pos, and passes blanks.
func (w *wordReader) skipToNext() bool {
	p := w.p
	w.gap = -1
	from := p.pos
	p.skipBlanks()
	if p.isAtLineEnd(p.pos) {
		return false
	}
	outer := len(w.open) == 0
	if p.pos > from && outer {
		if p.hasAt(p.pos, "//") {
			return false
		}
		w.gap = from
	}
	return !(outer && w.inList && (p.src[p.pos] == ',' || p.src[p.pos] == ']'))
}

// readNext passes one character, or what is in quotes; false ends the value in error.
func (w *wordReader) readNext() bool {
	p := w.p
	at, c := p.pos, p.src[p.pos]
	if w.gap >= 0 {
		if !joinsWords(p.src[w.field:w.gap], p.src[at:]) {
			w.noteFault(' ', at)
		}
		w.field = at
	}
	p.pos++
	p.ops++
	switch c {
	case '(', '{', '[':
		return w.openBracket(c, at)
	case ')', '}', ']':
		if n := len(w.open); n > 0 && w.open[n-1].close == c {
			w.open = w.open[:n-1]
			return true
		}
		p.note(codeUnbalanced, at, "")
	case ',':
		if len(w.open) == 0 {
			w.noteFault(c, at)
		}
	case '"', '`':
		return w.readLiteral(c, at)
	case '<':
		p.skipAnnotation()
	}
	return true
}

func (w *wordReader) openBracket(c byte, at int) bool {
	if c != '[' {
		w.noteFault(c, at)
	}
	if w.open = append(w.open, opened{at, map[byte]byte{'(': ')', '{': '}', '[': ']'}[c]}); len(w.open)+w.p.depth > MaxDepth {
		w.open = nil
		w.p.stopTooDeep(at)
		return false
	}
	return true
}

// readLiteral passes what is in quotes or back-ticks.
func (w *wordReader) readLiteral(c byte, at int) bool {
	p := w.p
	w.noteFault(c, at)
	end, ok := p.quoteEnd(at)
	if c == '`' {
		for end, ok = at+1, false; !p.isAtLineEnd(end) && !ok; end++ {
			ok = p.src[end] == '`'
			p.ops++
		}
	}
	p.pos = end
	if !ok {
		p.note(codeUnclosed, at, "a "+string(c)+" is opened here and not closed on its line")
	}
	return true
}

// skipAnnotation passes NAME<a,b> behind its <, so that the comma does not end an element.
func (p *parser) skipAnnotation() {
	for i := p.pos; i < len(p.src); i++ {
		p.ops++
		switch c := p.src[i]; {
		case c == '>':
			p.pos = i + 1
			return
		case c != ',' && c != '_' && c != '-' && c != '.' && (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9'):
			return
		}
	}
}

// checkWhole notes what can be said of a bare value only at its end.
func (w *wordReader) checkWhole(v *Value) {
	switch s := v.Raw; {
	case strings.HasSuffix(s, ":"), strings.HasPrefix(s, "==="), strings.Contains(s, "\n"):
		w.noteFault(':', v.from)
	case beginsWithDate(s):
		w.noteFault('-', v.from)
	}
}

// beginsWithDate reports text that begins as 2026-01-05 does.
func beginsWithDate(s string) bool {
	if len(s) < 10 {
		return false
	}
	for i, c := range []byte(s[:10]) {
		if digit := c >= '0' && c <= '9'; digit == (i == 4 || i == 7) || !digit && c != '-' {
			return false
		}
	}
	return true
}

// readPair makes a pair of an element that begins with a key and colons.
func (p *parser) readPair(e *Entry, k key) {
	behind := k.after
	for behind < len(p.src) && isBlank(p.src[behind]) {
		behind++
		p.ops++
	}
	n := 0
	switch {
	case p.hasAt(behind, "::"):
		n = 2
	case p.hasAt(k.after, ":") && (k.quoted || k.after+1 < len(p.src) && strings.IndexByte(" \t\"", p.src[k.after+1]) >= 0):
		n, behind = 1, k.after
	default:
		return
	}
	if n == 1 || behind > k.after {
		p.noteColons(k.after)
	}
	if !k.plain {
		p.note(codeKey, e.from, "")
	}
	e.Kind, e.Key, p.pos = Pair, k.name, behind+n
}

// noteColons notes what stands between a key and its value instead of two colons.
func (p *parser) noteColons(at int) {
	what := "one colon between a key and its value"
	if p.src[at] != ':' {
		what = "a space between a key and its colons"
	}
	p.note(codeColon, at, what)
}

// key is a name that colons may follow.
type key struct {
	name          string
	after         int  // where it ends
	plain, quoted bool // plain: strict accepts it
}

// readKey reads a key at at, in quotes or not; pos stays.
func (p *parser) readKey(at int) (key, bool) {
	if p.hasAt(at, `"`) && !p.hasAt(at, `"""`) {
		end, ok := p.quoteEnd(at)
		if !ok {
			return key{}, false
		}
		name, _ := unquote(p.src[at+1 : end-1])
		return key{name: name, after: end, quoted: true}, true
	}
	i := at
	for i < len(p.src) {
		r, n := utf8.DecodeRuneInString(p.src[i:])
		if !isKeyRune(r) {
			break
		}
		i += n
		p.ops += n
	}
	return key{name: p.src[at:i], after: i, plain: isPlainKey(p.src[at:i])}, i > at
}

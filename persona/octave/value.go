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
	for i < len(p.src) && blank(p.src[i]) {
		i++
		p.ops++
	}
	if p.over(i) || i > p.pos && p.has(i, "//") {
		return true
	}
	return inList && (p.src[i] == ',' || p.src[i] == ']')
}

// valueOf reads what stands behind the colons of a pair, or an element of a
// list. It leaves pos behind the value, and for a word behind the blanks too.
func (p *parser) valueOf(e *Entry, inList bool) {
	v := &e.Value
	v.from, v.to = p.pos, p.pos
	if p.mayEnd(inList) {
		return
	}
	p.skip()
	v.from = p.pos
	notes, whole := len(p.notes), true
	switch {
	case p.has(p.pos, `"""`):
		p.triple(v)
	case p.src[p.pos] == '"':
		p.readQuoted(v)
	case p.src[p.pos] == '[':
		whole = p.list(v)
	default:
		p.word(v, inList)
		return
	}
	if whole && !p.stop && !p.mayEnd(inList) {
		p.notes = p.notes[:notes] // it was the beginning of a word
		*v = Value{from: v.from}
		p.word(v, inList)
		return
	}
	v.to = p.pos
	v.Raw = p.src[v.from:v.to]
}

// triple reads text that may go over lines.
func (p *parser) triple(v *Value) {
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
	v.Text = unix(p.src[body : body+n])
	p.pos = body + n + 3
}

// readQuoted reads text in quotes, on one line.
func (p *parser) readQuoted(v *Value) {
	v.Kind = Quoted
	at := p.pos
	end, ok := p.quote(at)
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

// quote is where the text in quotes that begins at at ends, or its line does.
func (p *parser) quote(at int) (end int, ok bool) {
	for i := at + 1; ; i++ {
		p.ops++
		switch {
		case p.over(i):
			return i, false
		case p.src[i] == '"':
			return i + 1, true
		case p.src[i] == '\\' && !p.over(i+1):
			i++
		}
	}
}

// word reads a bare value to where it ends: brackets in it hold together, quotes
// in it too. What strict wants in quotes is noted once of each kind.
func (p *parser) word(v *Value, inList bool) {
	w := words{p: p, inList: inList, field: v.from, gap: -1}
	if p.src[v.from] == '[' || p.src[v.from] == '"' { // read as one already
		w.fault(p.src[v.from], v.from)
	}
	for w.more() && w.fits() {
	}
	for _, open := range w.open {
		p.note(codeUnbalanced, open.from, "")
	}
	v.Kind = Word
	v.Raw = strings.TrimRight(p.src[v.from:p.pos], " \t")
	v.Text = unix(v.Raw)
	v.to = v.from + len(v.Raw)
	w.whole(v)
	v.faulty = len(w.faults) > 0
}

// words is the state of reading one bare value.
type words struct {
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

func (w *words) fault(c byte, at int) {
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

// more reports whether the value goes on at pos, and passes blanks.
func (w *words) more() bool {
	p := w.p
	w.gap = -1
	from := p.pos
	p.skip()
	if p.over(p.pos) {
		return false
	}
	outer := len(w.open) == 0
	if p.pos > from && outer {
		if p.has(p.pos, "//") {
			return false
		}
		w.gap = from
	}
	return !(outer && w.inList && (p.src[p.pos] == ',' || p.src[p.pos] == ']'))
}

// fits passes one character, or what is in quotes; false ends the value in error.
func (w *words) fits() bool {
	p := w.p
	at, c := p.pos, p.src[p.pos]
	if w.gap >= 0 {
		if !joinsWords(p.src[w.field:w.gap], p.src[at:]) {
			w.fault(' ', at)
		}
		w.field = at
	}
	p.pos++
	p.ops++
	switch c {
	case '(', '{', '[':
		return w.bracket(c, at)
	case ')', '}', ']':
		if n := len(w.open); n > 0 && w.open[n-1].close == c {
			w.open = w.open[:n-1]
			return true
		}
		p.note(codeUnbalanced, at, "")
	case ',':
		if len(w.open) == 0 {
			w.fault(c, at)
		}
	case '"', '`':
		return w.literal(c, at)
	case '<':
		p.annotation()
	}
	return true
}

func (w *words) bracket(c byte, at int) bool {
	if c != '[' {
		w.fault(c, at)
	}
	if w.open = append(w.open, opened{at, map[byte]byte{'(': ')', '{': '}', '[': ']'}[c]}); len(w.open)+w.p.depth > MaxDepth {
		w.open = nil
		w.p.deep(at)
		return false
	}
	return true
}

// literal passes what is in quotes or back-ticks.
func (w *words) literal(c byte, at int) bool {
	p := w.p
	w.fault(c, at)
	end, ok := p.quote(at)
	if c == '`' {
		for end, ok = at+1, false; !p.over(end) && !ok; end++ {
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

// annotation passes NAME<a,b> behind its <, so that the comma does not end an element.
func (p *parser) annotation() {
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

// whole notes what can be said of a bare value only at its end.
func (w *words) whole(v *Value) {
	switch s := v.Raw; {
	case strings.HasSuffix(s, ":"), strings.HasPrefix(s, "==="), strings.Contains(s, "\n"):
		w.fault(':', v.from)
	case beginsWithDate(s):
		w.fault('-', v.from)
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
	for behind < len(p.src) && blank(p.src[behind]) {
		behind++
		p.ops++
	}
	n := 0
	switch {
	case p.has(behind, "::"):
		n = 2
	case p.has(k.after, ":") && (k.quoted || k.after+1 < len(p.src) && strings.IndexByte(" \t\"", p.src[k.after+1]) >= 0):
		n, behind = 1, k.after
	default:
		return
	}
	if n == 1 || behind > k.after {
		p.colons(k.after)
	}
	if !k.plain {
		p.note(codeKey, e.from, "")
	}
	e.Kind, e.Key, p.pos = Pair, k.name, behind+n
}

// colons notes what stands between a key and its value instead of two colons.
func (p *parser) colons(at int) {
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

// key reads a key at at, in quotes or not; pos stays.
func (p *parser) key(at int) (key, bool) {
	if p.has(at, `"`) && !p.has(at, `"""`) {
		end, ok := p.quote(at)
		if !ok {
			return key{}, false
		}
		name, _ := unquote(p.src[at+1 : end-1])
		return key{name: name, after: end, quoted: true}, true
	}
	i := at
	for i < len(p.src) {
		r, n := utf8.DecodeRuneInString(p.src[i:])
		if !keyRune(r) {
			break
		}
		i += n
		p.ops += n
	}
	return key{name: p.src[at:i], after: i, plain: plainKey(p.src[at:i])}, i > at
}

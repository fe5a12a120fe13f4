package octave

import (
	"slices"
	"strings"
)

// readList reads from [ to its ], or says that there is none and stays behind what
// was read, so that an envelope still ends where it says.
func (p *parser) readList(v *Value) (closed bool) {
	v.Kind = List
	at := p.pos
	p.pos++
	p.ops++
	if p.depth++; len(p.scopes)+p.depth > MaxDepth {
		p.stopTooDeep(at)
	}
	comma := true
	var last *Entry // on this line
	for !p.stop {
		before := p.pos
		lines := p.skipLines()
		space := p.pos - before
		if lines > 0 {
			last = nil
		}
		if p.pos >= len(p.src) || lines > 0 && p.isEnvelopeLine() {
			p.note(codeUnclosed, at, "a [ is opened here and not closed")
			p.pos -= space // the lines left are not the list's
			break
		}
		switch c := p.src[p.pos]; {
		case c == ']':
			p.pos++
			p.depth--
			return true
		case c == ',':
			if comma {
				p.note(codeComma, p.pos, "a comma without an element before it")
			}
			comma = true
			p.pos++
		case p.hasAt(p.pos, "//"):
			p.readListComment(v, last, lines)
		default:
			if !comma {
				p.note(codeComma, p.pos, "no comma before the element")
			}
			comma = false
			last = p.readElement(lines)
			v.Items = append(v.Items, last)
		}
	}
	p.depth--
	return false
}

// skipLines passes blanks and line ends, and counts these.
func (p *parser) skipLines() (n int) {
	for ; p.pos < len(p.src) && strings.IndexByte(" \t\r\n", p.src[p.pos]) >= 0; p.pos++ {
		p.ops++
		if p.src[p.pos] == '\n' {
			n++
		}
	}
	return n
}

// isEnvelopeLine reports an envelope's line at pos: what is open there was forgotten.
func (p *parser) isEnvelopeLine() bool {
	if p.src[p.pos] != '=' {
		return false
	}
	end, _ := p.lineEnd(p.pos)
	_, ok := envelopeMarker(p.src[p.pos:end])
	return ok
}

// readListComment keeps a comment in a list, with the element before it on its line or as
// an entry of its own.
func (p *parser) readListComment(v *Value, last *Entry, lines int) {
	end, _ := p.lineEnd(p.pos)
	text := strings.TrimRight(p.src[p.pos:end], " \t")
	if last != nil {
		last.Comment = text
	} else {
		v.Items = append(v.Items, &Entry{Kind: Comment, Text: text, from: p.pos, to: end, blank: lines > 1})
	}
	p.pos = end
}

// readElement reads one value, or a pair.
func (p *parser) readElement(lines int) *Entry {
	e := &Entry{Kind: Item, from: p.pos, blank: lines > 1}
	if k, ok := p.readKey(p.pos); ok {
		p.readPair(e, k)
	}
	p.readValue(e, true)
	if e.Kind == Pair && e.Value.Kind == Empty && !p.stop {
		p.note(codeEmpty, e.from, "")
	}
	if e.Kind == Pair && e.Value.Kind == List && slices.ContainsFunc(e.Value.Items, func(x *Entry) bool { return x.Kind == Pair }) {
		p.note(codeNested, e.from, "")
	}
	e.to = e.Value.to
	return e
}

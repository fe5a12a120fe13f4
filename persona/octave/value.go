package octave

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

const maxKey = 512 // bytes; what is longer is no key

// keyForm is a key, in quotes or not, and its colons.
var keyForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:"((?:[^"\\\n]|\\[^\n])*)"|([\p{L}\p{Nd}_.-]+))(?:[ \t]*::|:)`)
})

// readKey reads a key at at, and returns where its value begins. One colon stands for two
// before a blank, the end of the line or quotes, and behind quotes.
func (p *parser) readKey(at int) (key string, value int, ok bool) {
	m := keyForm().FindStringSubmatchIndex(p.src[at:min(at+maxKey, len(p.src))])
	if m == nil {
		return "", 0, false
	}
	value = at + m[1]
	if m[2] >= 0 {
		return unquote(p.src[at+m[2] : at+m[3]]), value, true
	}
	ok = p.hasAt(value-2, "::") || p.isAtLineEnd(value) || strings.IndexByte(" \t\"", p.src[value]) >= 0
	return p.src[at+m[4] : at+m[5]], value, ok
}

// readKeyed reads a pair or opens a block; what is neither stays loose.
func (p *parser) readKeyed(e *Entry, at, end, next, col int) {
	key, value, ok := p.readKey(at)
	if !ok {
		return
	}
	*e = Entry{Kind: Empty, Key: key, Line: e.Line}
	p.pos = value
	if p.mayEnd(false) && !p.hasAt(value-2, "::") {
		e.Kind, p.pos = Block, next
		p.openScope(e, col)
		return
	}
	p.readValue(e, false)
	_, p.pos = p.lineEnd(p.pos)
	if e.Kind == Empty {
		p.readBelow(e, next, col)
	}
}

// readBelow looks where the value of a key with none on its line may be: a fence on
// the next line, or a block that was opened with two colons.
func (p *parser) readBelow(e *Entry, next, col int) {
	for at, first := next, true; at < len(p.src); first = false {
		end, after := p.lineEnd(at)
		start, c := p.measureIndent(at, end)
		switch line := p.src[start:end]; {
		case first && fenceLength(line) > 0:
			e.Kind, e.Text = Fence, p.readFence(start)
		case line == "":
			at = after
			continue
		case c > col && envelopeName(line) == "":
			e.Kind = Block
			p.openScope(e, col)
		}
		return
	}
}

// readFence reads from an opening line, whose ticks begin at at, to behind the closing one.
func (p *parser) readFence(at int) string {
	end, body := p.lineEnd(at)
	ticks := strings.Repeat("`", fenceLength(p.src[at:end]))
	for from := body; from < len(p.src); {
		end, next := p.lineEnd(from)
		if strings.TrimSpace(p.src[from:end]) == ticks {
			p.pos = next
			return p.src[body:from]
		}
		from = next
	}
	p.fail(at, "the fence is not closed; a closing line has as many back-ticks and nothing else", "close it")
	return ""
}

// mayEnd reports that a value may end here: nothing follows on the line, or a
// comment does, or in a list a comma or bracket.
func (p *parser) mayEnd(inList bool) bool {
	i := p.skipBlanks(p.pos)
	if p.isAtLineEnd(i) || i > p.pos && p.hasAt(i, "//") {
		return true
	}
	return inList && (p.src[i] == ',' || p.src[i] == ']')
}

// readValue reads what stands behind the colons of a pair, or an element of a list.
func (p *parser) readValue(e *Entry, inList bool) {
	e.Kind = Empty
	if p.mayEnd(inList) {
		return
	}
	p.pos = p.skipBlanks(p.pos)
	at, told := p.pos, len(p.problems)
	switch {
	case p.hasAt(at, `"""`):
		p.readTriple(e)
	case p.src[at] == '"':
		p.readQuoted(e)
	case p.src[at] == '[':
		if !p.readList(e) {
			return
		}
		e.Text = p.src[at:p.pos]
	}
	if !p.mayEnd(inList) { // it is a word, or was the beginning of one
		p.problems, p.pos, e.Items = p.problems[:told], at, nil
		p.readWord(e, inList)
	}
}

// readTriple reads text that may go over lines.
func (p *parser) readTriple(e *Entry) {
	e.Kind = Triple
	text, _, ok := strings.Cut(p.src[p.pos+3:], `"""`)
	if !ok {
		p.fail(p.pos, `""" is opened here and not closed`, "close it")
		return
	}
	e.Text, p.pos = text, p.pos+len(text)+6
}

// readQuoted reads text in quotes, on one line.
func (p *parser) readQuoted(e *Entry) {
	at := p.pos
	if e.Kind, p.pos = Quoted, p.literalEnd('"'); p.pos > at+1 {
		e.Text = unquote(p.src[at+1 : p.pos-1])
	}
}

// literalEnd returns the end of what is in quotes or back-ticks at pos, or of its line
// if they are not closed.
func (p *parser) literalEnd(c byte) int {
	for i := p.pos + 1; ; i++ {
		switch {
		case p.isAtLineEnd(i):
			p.note(p.pos, "a "+string(c)+" is opened here and not closed on its line", "close it")
			return i
		case p.src[i] == c:
			return i + 1
		case c == '"' && p.src[i] == '\\' && !p.isAtLineEnd(i+1):
			i++
		}
	}
}

// annotationForm is NAME<a,b> from its < on: its comma does not end an element.
var annotationForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^<[\w,.-]*>`) })

// readWord reads a bare value to where it ends: what is in brackets or in quotes
// holds together.
func (p *parser) readWord(e *Entry, inList bool) {
	from := p.pos
	var open []int // brackets
	for {
		before := p.pos
		p.pos = p.skipBlanks(before)
		if p.isAtLineEnd(p.pos) || len(open) == 0 && p.pos > before && p.hasAt(p.pos, "//") {
			break
		}
		c := p.src[p.pos]
		if inList && len(open) == 0 && (c == ',' || c == ']') {
			break
		}
		switch c {
		case '(', '[', '{':
			open = append(open, p.pos)
		case ')', ']', '}':
			if n := len(open) - 1; n >= 0 && strings.Contains("()[]{}", p.src[open[n]:open[n]+1]+string(c)) {
				open = open[:n]
			} else {
				p.noteUnbalanced(p.pos)
			}
		case '"', '`':
			p.pos = p.literalEnd(c)
			continue
		case '<':
			p.pos += max(0, len(annotationForm().FindString(p.src[p.pos:]))-1)
		}
		p.pos++
	}
	for _, at := range open {
		p.noteUnbalanced(at)
	}
	e.Kind, e.Text = Word, strings.TrimRight(p.src[from:p.pos], " \t")
}

func (p *parser) noteUnbalanced(at int) {
	p.note(at, "a bracket without its other half", "put the value in double quotes")
}

// readList reads from [ to its ], or says that there is none and stays behind what
// was read, so that an envelope still ends where it says.
func (p *parser) readList(e *Entry) (closed bool) {
	e.Kind = List
	at := p.pos
	p.pos++
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		p.fail(at, "more than 32 lists, one in the other; what follows is not read", "make it flatter")
		return false
	}
	for {
		before := p.pos
		for p.pos < len(p.src) && strings.IndexByte(" \t\n,", p.src[p.pos]) >= 0 {
			p.pos++
		}
		switch {
		case p.pos >= len(p.src), strings.Contains(p.src[before:p.pos], "\n") && p.isEnvelopeLine():
			p.note(at, "a [ is opened here and not closed", "close it")
			p.pos = before // the lines left are not the list's
			return false
		case p.src[p.pos] == ']':
			p.pos++
			return true
		case p.hasAt(p.pos, "//"):
			p.pos, _ = p.lineEnd(p.pos)
		default:
			item := &Entry{Line: p.lineOf(p.pos)}
			if key, value, ok := p.readKey(p.pos); ok && (p.hasAt(value-2, "::") || !p.isAtLineEnd(value)) {
				item.Key, p.pos = key, value
			}
			p.readValue(item, true)
			e.Items = append(e.Items, item)
		}
	}
}

// isEnvelopeLine reports an envelope's line at pos: what is open there was forgotten.
func (p *parser) isEnvelopeLine() bool {
	end, _ := p.lineEnd(p.pos)
	return envelopeName(p.src[p.pos:end]) != ""
}

// Quote writes text in double quotes, with the escapes \" \\ \n \t. A character that
// no file may hold stays as it is, and Parse refuses what was written.
func Quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(text) + `"`
}

// unquote undoes the escapes of Quote, and keeps both characters of another.
func unquote(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n", `\t`, "\t").Replace(s)
}

// nameForm is what Plain leaves as it is, but for the words that mean something.
var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_](?:[\w.-]*[\w.])?$`) })

// Plain writes text as it is where it is a name ([A-Za-z_] and then letters, digits,
// _ . and -, not - at the end, none of true, false, null and vs), else as Quote does.
func Plain(text string) string {
	if !nameForm().MatchString(text) || slices.Contains([]string{"true", "false", "null", "vs"}, text) {
		return Quote(text)
	}
	return text
}

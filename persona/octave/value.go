package octave

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// readKeyed reads a pair or opens a block; what is neither stays loose.
func (p *parser) readKeyed(e *Entry, at, end, next, col int) {
	k, ok := p.readKey(at)
	if !ok {
		return
	}
	rest := p.src[k.after:end]
	behind := strings.TrimLeft(rest, " \t")
	switch body, one := strings.CutPrefix(rest, ":"); {
	case strings.HasPrefix(behind, "::"):
		p.pos = end - len(behind) + 2
	case !one:
		return
	case strings.TrimLeft(body, " \t") == "", isBlank(body[0]) && strings.HasPrefix(strings.TrimLeft(body, " \t"), "//"):
		e.Kind, e.Key, e.Text = Block, k.name, ""
		p.openScope(e, at, col)
		return
	case k.quoted, isBlank(body[0]), body[0] == '"':
		p.pos = k.after + 1
	default:
		return
	}
	e.Kind, e.Key, e.Text = Pair, k.name, ""
	p.readValue(e, false)
	if p.stop {
		return
	}
	_, p.pos = p.lineEnd(p.pos)
	if e.Value.Kind == Empty {
		p.readBelow(e, next, col)
	}
}

// readBelow looks where the value of a key with none on its line may be: a fence on
// the next line, or a block that was opened with two colons.
func (p *parser) readBelow(e *Entry, next, col int) {
	end, after := p.lineEnd(next)
	first, _ := p.measureIndent(next, end)
	if fenceLength(p.src[first:end]) > 0 {
		e.Value = p.readFence(first, end, after)
		return
	}
	for at := next; at < len(p.src); at = after {
		end, after = p.lineEnd(at)
		first, c := p.measureIndent(at, end)
		if first == end {
			continue
		}
		if c > col && envelopeName(p.src[first:end]) == "" {
			e.Kind, e.Value = Block, Value{}
			p.openScope(e, first, col)
		}
		return
	}
}

// readFence reads from an opening line, whose ticks begin at at, to the closing one.
func (p *parser) readFence(at, end, next int) Value {
	n, body := fenceLength(p.src[at:end]), next
	for from := body; from < len(p.src); from = next {
		end, next = p.lineEnd(from)
		line := strings.TrimSpace(p.src[from:end])
		m := len(line) - len(strings.TrimLeft(line, "`"))
		switch {
		case m == n && len(line) == n:
			p.pos = next
			return Value{Kind: Fence, Text: p.src[body:from]}
		case m > n:
			p.note(from, "a longer fence inside a fence", "make the outer fence the longer one")
		}
	}
	p.note(at, "the fence is not closed; a closing line has as many back-ticks and nothing else", "close it")
	p.pos, p.stop = len(p.src), true
	return Value{Kind: Fence}
}

// mayEnd reports that a value may end here: nothing follows on the line, or a
// comment does, or in a list a comma or bracket.
func (p *parser) mayEnd(inList bool) bool {
	i := p.pos
	for i < len(p.src) && isBlank(p.src[i]) {
		i++
	}
	if p.isAtLineEnd(i) || i > p.pos && p.hasAt(i, "//") {
		return true
	}
	return inList && (p.src[i] == ',' || p.src[i] == ']')
}

// readValue reads what stands behind the colons of a pair, or an element of a list.
func (p *parser) readValue(e *Entry, inList bool) {
	if p.mayEnd(inList) {
		return
	}
	p.skipBlanks()
	v, at, told, whole := &e.Value, p.pos, len(p.problems), true
	switch {
	case p.hasAt(at, `"""`):
		p.readTriple(v)
	case p.src[at] == '"':
		p.readQuoted(v)
	case p.src[at] == '[':
		whole = p.readList(v)
	default:
		p.readWord(v, inList)
		return
	}
	if whole && !p.stop && !p.mayEnd(inList) { // it was the beginning of a word
		p.problems, p.pos = p.problems[:told], at
		*v = Value{}
		p.readWord(v, inList)
		return
	}
	v.Raw = p.src[at:p.pos]
}

// readTriple reads text that may go over lines.
func (p *parser) readTriple(v *Value) {
	v.Kind = Triple
	text, _, ok := strings.Cut(p.src[p.pos+3:], `"""`)
	if !ok {
		p.note(p.pos, `""" is opened here and not closed`, "close it")
		p.pos, p.stop = len(p.src), true
		return
	}
	v.Text, p.pos = text, p.pos+len(text)+6
}

// readQuoted reads text in quotes, on one line.
func (p *parser) readQuoted(v *Value) {
	v.Kind = Quoted
	end, ok := p.quoteEnd(p.pos)
	if ok {
		v.Text = unquote(p.src[p.pos+1 : end-1])
	} else {
		p.note(p.pos, `a " is opened here and not closed on its line`, "close it")
	}
	p.pos = end
}

// quoteEnd returns the end of the quoted text that begins at at, or of its line if
// the quotes are not closed.
func (p *parser) quoteEnd(at int) (end int, ok bool) {
	for i := at + 1; ; i++ {
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

// readWord reads a bare value to where it ends: what is in brackets or in quotes
// holds together.
func (p *parser) readWord(v *Value, inList bool) {
	from := p.pos
	type bracket struct {
		at    int
		close byte
	}
	var open []bracket
word:
	for {
		before := p.pos
		p.skipBlanks()
		if p.isAtLineEnd(p.pos) || len(open) == 0 && p.pos > before && p.hasAt(p.pos, "//") {
			break
		}
		c := p.src[p.pos]
		if inList && len(open) == 0 && (c == ',' || c == ']') {
			break
		}
		switch i := strings.IndexByte("([{", c); {
		case i >= 0:
			if open = append(open, bracket{p.pos, ")]}"[i]}); len(open)+p.depth > MaxDepth {
				open = nil
				p.stopTooDeep(p.pos)
				break word
			}
		case c == ')', c == ']', c == '}':
			if n := len(open); n > 0 && open[n-1].close == c {
				open = open[:n-1]
			} else {
				p.noteUnbalanced(p.pos)
			}
		case c == '"', c == '`':
			p.pos = p.literalEnd(c)
			continue
		case c == '<':
			p.pos += p.annotationLength()
		}
		p.pos++
	}
	for _, b := range open {
		p.noteUnbalanced(b.at)
	}
	v.Kind, v.Raw = Word, strings.TrimRight(p.src[from:p.pos], " \t")
	v.Text = v.Raw
}

func (p *parser) noteUnbalanced(at int) {
	p.note(at, "a bracket without its other half", "put the value in double quotes")
}

// literalEnd returns the end of what is in quotes or back-ticks at pos.
func (p *parser) literalEnd(c byte) int {
	end, ok := p.pos+1, false
	if c == '"' {
		end, ok = p.quoteEnd(p.pos)
	}
	for ; c == '`' && !p.isAtLineEnd(end) && !ok; end++ {
		ok = p.src[end] == '`'
	}
	if !ok {
		p.note(p.pos, "a "+string(c)+" is opened here and not closed on its line", "close it")
	}
	return end
}

// annotationLength returns how much follows the < of NAME<a,b>, so that its comma does
// not end an element; 0 for another <.
func (p *parser) annotationLength() int {
	rest := p.src[p.pos+1:]
	n := strings.IndexFunc(rest, func(r rune) bool {
		return r != ',' && r != '_' && r != '-' && r != '.' && (r|0x20 < 'a' || r|0x20 > 'z') && (r < '0' || r > '9')
	})
	if n < 0 || rest[n] != '>' {
		return 0
	}
	return n + 1
}

// readList reads from [ to its ], or says that there is none and stays behind what
// was read, so that an envelope still ends where it says.
func (p *parser) readList(v *Value) (closed bool) {
	v.Kind = List
	at := p.pos
	p.pos++
	p.depth++
	defer func() { p.depth-- }()
	if len(p.scopes)+p.depth > MaxDepth {
		p.stopTooDeep(at)
	}
	for !p.stop {
		before, lines := p.pos, 0
		for ; p.pos < len(p.src) && strings.IndexByte(" \t\n", p.src[p.pos]) >= 0; p.pos++ {
			if p.src[p.pos] == '\n' {
				lines++
			}
		}
		switch {
		case p.pos >= len(p.src), lines > 0 && p.isEnvelopeLine():
			p.note(at, "a [ is opened here and not closed", "close it")
			p.pos = before // the lines left are not the list's
			return false
		case p.src[p.pos] == ']':
			p.pos++
			return true
		case p.src[p.pos] == ',':
			p.pos++
		case p.hasAt(p.pos, "//"):
			p.pos, _ = p.lineEnd(p.pos)
		default:
			v.Items = append(v.Items, p.readElement())
		}
	}
	return false
}

// isEnvelopeLine reports an envelope's line at pos: what is open there was forgotten.
func (p *parser) isEnvelopeLine() bool {
	if p.src[p.pos] != '=' {
		return false
	}
	end, _ := p.lineEnd(p.pos)
	return envelopeName(p.src[p.pos:end]) != ""
}

// readElement reads one value, or a pair.
func (p *parser) readElement() *Entry {
	e := &Entry{Kind: Item, Line: p.lineOf(p.pos)}
	if k, ok := p.readKey(p.pos); ok {
		behind := k.after
		for behind < len(p.src) && isBlank(p.src[behind]) {
			behind++
		}
		switch {
		case p.hasAt(behind, "::"):
			e.Kind, e.Key, p.pos = Pair, k.name, behind+2
		case p.hasAt(k.after, ":") && (k.quoted || k.after+1 < len(p.src) && strings.IndexByte(" \t\"", p.src[k.after+1]) >= 0):
			e.Kind, e.Key, p.pos = Pair, k.name, k.after+1
		}
	}
	p.readValue(e, true)
	return e
}

// key is a name that colons may follow.
type key struct {
	name   string
	after  int // where it ends
	quoted bool
}

// readKey reads a key at at, in quotes or not; pos stays.
func (p *parser) readKey(at int) (key, bool) {
	if p.hasAt(at, `"`) && !p.hasAt(at, `"""`) {
		end, ok := p.quoteEnd(at)
		if !ok {
			return key{}, false
		}
		return key{unquote(p.src[at+1 : end-1]), end, true}, true
	}
	i := at
	for i < len(p.src) {
		r, n := utf8.DecodeRuneInString(p.src[i:])
		if r != '_' && r != '-' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		i += n
	}
	return key{name: p.src[at:i], after: i}, i > at
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

// Plain writes text as it is where it is a name ([A-Za-z_] and then letters, digits,
// _ . and -, not - at the end, none of true, false, null and vs), else as Quote does.
func Plain(text string) string {
	name := strings.NewReplacer(".", "_", "-", "_").Replace(text)
	switch {
	case text == "true", text == "false", text == "null", text == "vs",
		!isPlainKey(name), !isPlainKey(text[:1]), strings.HasSuffix(text, "-"):
		return Quote(text)
	}
	return text
}

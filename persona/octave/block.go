package octave

import "strings"

// scope is an open envelope, block or section: what its entries are indented by.
type scope struct {
	entry   *Entry
	base    int // the column of the line that opened it; -2 outside of all
	indent  int // of its entries; -1 until the first
	section bool
}

// pending is a comment that waits for the next line to say which scope it is in.
type pending struct {
	entry *Entry
	col   int
}

func (p *parser) file() {
	if p.has(0, bom) {
		p.pos = len(bom)
	}
	p.frontmatter()
	if p.bare = !p.hasEnvelope(p.pos); p.bare {
		p.scopes = []scope{{entry: p.root, base: -2, indent: -1}}
	}
	for p.pos < len(p.src) && !p.stop {
		p.line()
	}
	if p.env != nil && !p.stop {
		p.note(codeEnd, p.env.from, "")
	}
	p.close()
}

// frontmatter passes the YAML block at the top.
func (p *parser) frontmatter() {
	at := p.pos
	end, next := p.eol(at)
	if strings.TrimRight(p.src[at:end], " \t") != "---" {
		return
	}
	for next < len(p.src) {
		from := next
		end, next = p.eol(from)
		if strings.TrimRight(p.src[from:end], " \t") == "---" {
			p.root.Entries = append(p.root.Entries, &Entry{Kind: Frontmatter, Text: unix(p.src[at:end]), from: at, to: end})
			p.opaque = append(p.opaque, span{at, end})
			p.pos = next
			return
		}
	}
	p.note(codeUnclosed, at, "the frontmatter has no closing ---")
	p.pos, p.stop = len(p.src), true
}

// hasEnvelope reports whether an envelope begins on any line, fences left out.
func (p *parser) hasEnvelope(at int) bool {
	for open := 0; at < len(p.src); {
		end, next := p.eol(at)
		first, _ := p.indent(at, end)
		line := p.src[first:end]
		name, ok := marker(line)
		n := ticks(line)
		switch {
		case open > 0:
			if n == open && strings.TrimRight(line[n:], " \t") == "" {
				open = 0
			}
		case ok && name != "END":
			return true
		default:
			open = n
		}
		at = next
	}
	return false
}

func (p *parser) line() {
	end, next := p.eol(p.pos)
	at, col := p.indent(p.pos, end)
	name, marked := marker(p.src[at:end])
	switch {
	case at == end:
		p.blank, p.pos = true, next
	case marked && (name != "END" || p.env != nil):
		p.mark(at, end, col, name)
		p.pos = next
	case p.has(at, "//"):
		p.pending = append(p.pending, pending{p.entry(Comment, at, end), col})
		p.pos = next
	case p.env == nil && !p.bare:
		p.outside(p.pos, end)
		p.pos = next
	default:
		p.item(at, end, next, col)
	}
}

// entry makes one whose text is the line from at to end.
func (p *parser) entry(k Kind, at, end int) *Entry {
	e := &Entry{Kind: k, from: at, to: end, blank: p.blank, Text: strings.TrimRight(p.src[at:end], " \t")}
	p.blank = false
	return e
}

// mark opens or closes an envelope.
func (p *parser) mark(at, end, col int, name string) {
	if col > 0 || !isEnvelopeName(name) || !p.has(at, "==="+name+"===") {
		p.note(codeName, at, "")
	}
	if name == "END" {
		env, was := p.env, p.blank
		p.close()
		env.endBlank, env.to = was, end
		p.env, p.blank = nil, false
		return
	}
	if p.env != nil {
		p.note(codeEnd, p.env.from, "")
	}
	p.close()
	p.bare = false
	if p.envelopes++; p.envelopes > 1 {
		p.note(codeSeveral, at, "")
	}
	p.begun = false
	p.env = p.entry(Envelope, at, end)
	p.env.Key, p.env.Text = name, ""
	p.root.Entries = append(p.root.Entries, p.env)
	p.scopes = []scope{{entry: p.env, base: -2, indent: -1}}
}

// outside keeps text before, between and behind envelopes.
func (p *parser) outside(at, end int) {
	p.close()
	if n := len(p.root.Entries); n > 0 && !p.blank {
		if last := p.root.Entries[n-1]; last.Kind == Loose {
			last.to, last.Text = end, p.src[last.from:end]
			return
		}
	}
	e := p.entry(Loose, at, end)
	p.note(codeOutside, at, "")
	p.root.Entries = append(p.root.Entries, e)
}

// close leaves every scope.
func (p *parser) close() {
	for len(p.scopes) > 0 {
		p.pop()
	}
	p.flush(p.root, func(int) bool { return true })
	p.env = nil
}

// pop leaves the innermost scope; comments that are indented as its entries stay in it.
func (p *parser) pop() {
	s := p.scopes[len(p.scopes)-1]
	p.scopes = p.scopes[:len(p.scopes)-1]
	p.flush(s.entry, func(col int) bool {
		if s.indent < 0 && s.section && col == s.base {
			s.entry.flat = true
		}
		return s.indent >= 0 && col >= s.indent || s.indent < 0 && (col > s.base || s.section && col == s.base)
	})
	if s.entry.Kind == Block && s.indent < 0 && !p.stop {
		p.note(codeEmpty, s.entry.from, "a block without entries")
	}
	if n := len(s.entry.Entries); n > 0 {
		s.entry.to = max(s.entry.to, s.entry.Entries[n-1].to)
	}
}

// flush puts the comments that wait, up to the first that does not belong, into an entry.
func (p *parser) flush(into *Entry, belongs func(col int) bool) {
	for len(p.pending) > 0 && belongs(p.pending[0].col) {
		into.Entries = append(into.Entries, p.pending[0].entry)
		p.pending = p.pending[1:]
	}
}

// enter finds the scope of a line at column col, leaving those it ends.
func (p *parser) enter(at, col int, section bool) *Entry {
	for {
		s := &p.scopes[len(p.scopes)-1]
		switch {
		case s.indent < 0 && col > s.base:
			if col != s.base+2 {
				p.note(codeIndent, at, "")
			}
			s.indent = col
		case s.indent < 0 && s.section && col == s.base && !section:
			s.indent, s.entry.flat = col, true
		case col == s.indent && !(section && s.entry.flat):
		case s.indent >= 0 && col > s.indent, len(p.scopes) == 1:
			p.note(codeColumn, at, "")
		default:
			p.pop()
			continue
		}
		p.flush(s.entry, func(int) bool { return true })
		return s.entry
	}
}

// item reads a line of an envelope, and the lines its value goes on for.
func (p *parser) item(at, end, next, col int) {
	e := p.entry(Loose, at, end)
	sect := p.section(e, at, end) || p.heading(e, at, end, col)
	into := p.enter(at, col, sect)
	into.Entries = append(into.Entries, e)
	p.pos = next
	switch {
	case sect:
		p.open(e, col)
	case ticks(p.src[at:end]) > 0:
		p.note(codeLoose, at, "a fence without a key")
		v := p.fence(at, end, next)
		e.Text, e.to = unix(p.src[at:v.to]), v.to
	case e.Text == "---" && into == p.env && !p.begun:
		e.Kind = Rule
	default:
		p.readKeyed(e, at, end, next, col)
	}
	if into == p.env && (e.Kind != Block || e.Key != "META") {
		p.begun = true
	}
}

func (p *parser) open(e *Entry, col int) {
	if len(p.scopes)+1 > MaxDepth {
		p.deep(e.from)
		return
	}
	p.scopes = append(p.scopes, scope{entry: e, base: col, indent: -1, section: e.Kind == Section})
}

// deep ends reading.
func (p *parser) deep(at int) {
	if !p.stop {
		p.note(codeDepth, at, "")
	}
	p.stop, p.pos = true, len(p.src)
}

// readKeyed reads a pair or opens a block; what is neither stays loose.
func (p *parser) readKeyed(e *Entry, at, end, next, col int) {
	k, ok := p.key(at)
	j := joint{}
	if ok {
		j = p.joint(k, end)
	}
	p.pos = next
	if j.colons == 0 {
		p.note(codeLoose, at, "")
		return
	}
	e.Key, e.Text = k.name, ""
	if !k.plain {
		p.note(codeKey, at, "")
	}
	if j.opens {
		e.Kind, e.Comment, e.to = Block, j.comment, j.at+1
		p.open(e, col)
		return
	}
	if j.colons == 1 || j.at > k.after {
		p.colons(k.after)
	}
	e.Kind, p.pos = Pair, j.at+j.colons
	p.pair(e, col)
}

// joint is what joins a key on a line of its own to what is behind it.
type joint struct {
	at, colons int
	opens      bool // a block: nothing is behind the colon but a comment
	comment    string
}

func (p *parser) joint(k key, end int) joint {
	rest := strings.TrimLeft(p.src[k.after:end], " \t")
	if strings.HasPrefix(rest, "::") {
		return joint{at: end - len(rest), colons: 2}
	}
	rest, ok := strings.CutPrefix(p.src[k.after:end], ":")
	body := strings.TrimLeft(rest, " \t")
	switch {
	case !ok:
	case body == "", strings.HasPrefix(body, "//") && len(body) < len(rest):
		return joint{at: k.after, colons: 1, opens: true, comment: strings.TrimRight(body, " \t")}
	case k.quoted, blank(rest[0]), rest[0] == '"':
		return joint{at: k.after, colons: 1}
	}
	return joint{}
}

// pair reads the value of a pair on a line of its own, and what follows it there.
func (p *parser) pair(e *Entry, col int) {
	p.valueOf(e, false)
	e.to = e.Value.to
	if p.stop {
		return
	}
	p.skip()
	end, next := p.eol(p.pos)
	if p.has(p.pos, "//") {
		e.Comment = strings.TrimRight(p.src[p.pos:end], " \t")
	}
	p.pos = next
	if e.Value.Kind == Empty {
		p.below(e, next, col)
	}
}

// below looks where the value of a key with none on its line may be: a fence on
// the next line, or a block that was opened with two colons.
func (p *parser) below(e *Entry, next, col int) {
	end, after := p.eol(next)
	first, _ := p.indent(next, end)
	if next < len(p.src) && ticks(p.src[first:end]) > 0 {
		e.Value = p.fence(first, end, after)
		e.to = e.Value.to
		return
	}
	for at := next; at < len(p.src); {
		end, after := p.eol(at)
		first, c := p.indent(at, end)
		if first == end {
			at = after
			continue
		}
		if _, marked := marker(p.src[first:end]); c > col && !marked {
			p.note(codeColon, e.Value.from, "a block is opened with two colons")
			e.Kind, e.Value = Block, Value{}
			p.open(e, col)
			return
		}
		break
	}
	p.note(codeEmpty, e.from, "")
}

// fence reads from an opening line, whose ticks begin at at, to the closing one.
func (p *parser) fence(at, end, next int) Value {
	n := ticks(p.src[at:end])
	v := Value{Kind: Fence, from: at, bodyFrom: next}
	for from := next; from < len(p.src); from = next {
		end, next = p.eol(from)
		first, _ := p.indent(from, end)
		line := p.src[first:end]
		m := len(line) - len(strings.TrimLeft(line, "`"))
		switch {
		case m == n && strings.TrimRight(line[m:], " \t") == "":
			v.bodyTo, v.to, p.pos = from, end, next
			v.Text, v.Raw = unix(p.src[v.bodyFrom:from]), p.src[at:end]
			p.opaque = append(p.opaque, span{at, end})
			return v
		case m > n:
			p.note(codeFence, first, "")
		}
	}
	p.note(codeUnclosed, at, "the fence is not closed; a closing line has as many back-ticks and nothing else")
	p.pos, p.stop = len(p.src), true
	v.bodyTo, v.to = len(p.src), len(p.src)
	return v
}

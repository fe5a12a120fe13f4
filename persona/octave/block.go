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

func (p *parser) readFile() {
	if p.hasAt(0, bom) {
		p.pos = len(bom)
	}
	p.readFrontmatter()
	if p.bare = !p.hasEnvelope(p.pos); p.bare {
		p.scopes = []scope{{entry: p.root, base: -2, indent: -1}}
	}
	for p.pos < len(p.src) && !p.stop {
		p.readLine()
	}
	if p.env != nil && !p.stop {
		p.note(codeEnd, p.env.from, "")
	}
	p.closeScopes()
}

// readFrontmatter passes the YAML block at the top.
func (p *parser) readFrontmatter() {
	at := p.pos
	end, next := p.lineEnd(at)
	if strings.TrimRight(p.src[at:end], " \t") != "---" {
		return
	}
	for next < len(p.src) {
		from := next
		end, next = p.lineEnd(from)
		if strings.TrimRight(p.src[from:end], " \t") == "---" {
			p.root.Entries = append(p.root.Entries, &Entry{Kind: Frontmatter, Text: withLineFeeds(p.src[at:end]), from: at, to: end})
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
		end, next := p.lineEnd(at)
		first, _ := p.measureIndent(at, end)
		line := p.src[first:end]
		name, ok := envelopeMarker(line)
		n := fenceLength(line)
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

func (p *parser) readLine() {
	end, next := p.lineEnd(p.pos)
	at, col := p.measureIndent(p.pos, end)
	name, marked := envelopeMarker(p.src[at:end])
	switch {
	case at == end:
		p.blank, p.pos = true, next
	case marked && (name != "END" || p.env != nil):
		p.readMarker(at, end, col, name)
		p.pos = next
	case p.hasAt(at, "//"):
		p.pending = append(p.pending, pending{p.newEntry(Comment, at, end), col})
		p.pos = next
	case p.env == nil && !p.bare:
		p.keepOutside(p.pos, end)
		p.pos = next
	default:
		p.readItem(at, end, next, col)
	}
}

// newEntry makes one whose text is the line from at to end.
func (p *parser) newEntry(k Kind, at, end int) *Entry {
	e := &Entry{Kind: k, from: at, to: end, blank: p.blank, Text: strings.TrimRight(p.src[at:end], " \t")}
	p.blank = false
	return e
}

// readMarker opens or closes an envelope.
func (p *parser) readMarker(at, end, col int, name string) {
	if col > 0 || !isEnvelopeName(name) || !p.hasAt(at, "==="+name+"===") {
		p.note(codeName, at, "")
	}
	if name == "END" {
		env, was := p.env, p.blank
		p.closeScopes()
		env.endBlank, env.to = was, end
		p.env, p.blank = nil, false
		return
	}
	if p.env != nil {
		p.note(codeEnd, p.env.from, "")
	}
	p.closeScopes()
	p.bare = false
	if p.envelopes++; p.envelopes > 1 {
		p.note(codeSeveral, at, "")
	}
	p.begun = false
	p.env = p.newEntry(Envelope, at, end)
	p.env.Key, p.env.Text = name, ""
	p.root.Entries = append(p.root.Entries, p.env)
	p.scopes = []scope{{entry: p.env, base: -2, indent: -1}}
}

// keepOutside keeps text before, between and behind envelopes.
func (p *parser) keepOutside(at, end int) {
	p.closeScopes()
	if n := len(p.root.Entries); n > 0 && !p.blank {
		if last := p.root.Entries[n-1]; last.Kind == Loose {
			last.to, last.Text = end, p.src[last.from:end]
			return
		}
	}
	e := p.newEntry(Loose, at, end)
	p.note(codeOutside, at, "")
	p.root.Entries = append(p.root.Entries, e)
}

// closeScopes leaves every scope.
func (p *parser) closeScopes() {
	for len(p.scopes) > 0 {
		p.leaveScope()
	}
	p.placeComments(p.root, func(int) bool { return true })
	p.env = nil
}

// leaveScope leaves the innermost scope; comments that are indented as its entries stay in it.
func (p *parser) leaveScope() {
	s := p.scopes[len(p.scopes)-1]
	p.scopes = p.scopes[:len(p.scopes)-1]
	p.placeComments(s.entry, func(col int) bool {
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

// placeComments puts the comments that wait, up to the first that does not belong, into an entry.
func (p *parser) placeComments(into *Entry, belongs func(col int) bool) {
	for len(p.pending) > 0 && belongs(p.pending[0].col) {
		into.Entries = append(into.Entries, p.pending[0].entry)
		p.pending = p.pending[1:]
	}
}

// findScope finds the scope of a line at column col, leaving those it ends.
func (p *parser) findScope(at, col int, section bool) *Entry {
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
			p.leaveScope()
			continue
		}
		p.placeComments(s.entry, func(int) bool { return true })
		return s.entry
	}
}

// readItem reads a line of an envelope, and the lines its value goes on for.
func (p *parser) readItem(at, end, next, col int) {
	e := p.newEntry(Loose, at, end)
	sect := p.readSection(e, at, end) || p.readHeading(e, at, end, col)
	into := p.findScope(at, col, sect)
	into.Entries = append(into.Entries, e)
	p.pos = next
	switch {
	case sect:
		p.openScope(e, col)
	case fenceLength(p.src[at:end]) > 0:
		p.note(codeLoose, at, "a fence without a key")
		v := p.readFence(at, end, next)
		e.Text, e.to = withLineFeeds(p.src[at:v.to]), v.to
	case e.Text == "---" && into == p.env && !p.begun:
		e.Kind = Rule
	default:
		p.readKeyed(e, at, end, next, col)
	}
	if into == p.env && (e.Kind != Block || e.Key != "META") {
		p.begun = true
	}
}

func (p *parser) openScope(e *Entry, col int) {
	if len(p.scopes)+1 > MaxDepth {
		p.stopTooDeep(e.from)
		return
	}
	p.scopes = append(p.scopes, scope{entry: e, base: col, indent: -1, section: e.Kind == Section})
}

// stopTooDeep ends reading.
func (p *parser) stopTooDeep(at int) {
	if !p.stop {
		p.note(codeDepth, at, "")
	}
	p.stop, p.pos = true, len(p.src)
}

// readKeyed reads a pair or opens a block; what is neither stays loose.
func (p *parser) readKeyed(e *Entry, at, end, next, col int) {
	k, ok := p.readKey(at)
	j := joint{}
	if ok {
		j = p.findJoint(k, end)
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
		p.openScope(e, col)
		return
	}
	if j.colons == 1 || j.at > k.after {
		p.noteColons(k.after)
	}
	e.Kind, p.pos = Pair, j.at+j.colons
	p.readPairValue(e, col)
}

// joint is what joins a key on a line of its own to what is behind it.
type joint struct {
	at, colons int
	opens      bool // a block: nothing is behind the colon but a comment
	comment    string
}

func (p *parser) findJoint(k key, end int) joint {
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
	case k.quoted, isBlank(rest[0]), rest[0] == '"':
		return joint{at: k.after, colons: 1}
	}
	return joint{}
}

// readPairValue reads the value of a pair on a line of its own, and what follows it there.
func (p *parser) readPairValue(e *Entry, col int) {
	p.readValue(e, false)
	e.to = e.Value.to
	if p.stop {
		return
	}
	p.skipBlanks()
	end, next := p.lineEnd(p.pos)
	if p.hasAt(p.pos, "//") {
		e.Comment = strings.TrimRight(p.src[p.pos:end], " \t")
	}
	p.pos = next
	if e.Value.Kind == Empty {
		p.readBelow(e, next, col)
	}
}

// readBelow looks where the value of a key with none on its line may be: a fence on
// the next line, or a block that was opened with two colons.
func (p *parser) readBelow(e *Entry, next, col int) {
	end, after := p.lineEnd(next)
	first, _ := p.measureIndent(next, end)
	if next < len(p.src) && fenceLength(p.src[first:end]) > 0 {
		e.Value = p.readFence(first, end, after)
		e.to = e.Value.to
		return
	}
	for at := next; at < len(p.src); {
		end, after := p.lineEnd(at)
		first, c := p.measureIndent(at, end)
		if first == end {
			at = after
			continue
		}
		if _, marked := envelopeMarker(p.src[first:end]); c > col && !marked {
			p.note(codeColon, e.Value.from, "a block is opened with two colons")
			e.Kind, e.Value = Block, Value{}
			p.openScope(e, col)
			return
		}
		break
	}
	p.note(codeEmpty, e.from, "")
}

// readFence reads from an opening line, whose ticks begin at at, to the closing one.
func (p *parser) readFence(at, end, next int) Value {
	n := fenceLength(p.src[at:end])
	v := Value{Kind: Fence, from: at, bodyFrom: next}
	for from := next; from < len(p.src); from = next {
		end, next = p.lineEnd(from)
		first, _ := p.measureIndent(from, end)
		line := p.src[first:end]
		m := len(line) - len(strings.TrimLeft(line, "`"))
		switch {
		case m == n && strings.TrimRight(line[m:], " \t") == "":
			v.bodyTo, v.to, p.pos = from, end, next
			v.Text, v.Raw = withLineFeeds(p.src[v.bodyFrom:from]), p.src[at:end]
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

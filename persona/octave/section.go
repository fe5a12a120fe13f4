package octave

import "strings"

// readSection reads §1::NAME or #1::NAME into e.
func (p *parser) readSection(e *Entry, at, end int) bool {
	line := p.src[at:end]
	rest, ok := strings.CutPrefix(line, "§")
	if !ok {
		if rest, ok = strings.CutPrefix(line, "#"); !ok {
			return false
		}
	}
	mark, rest, ok := strings.Cut(rest, "::")
	if !ok || !isSectionMark(mark) {
		return false
	}
	name, tail := cutSectionName(rest)
	comment := ""
	if i := strings.Index(tail, " //"); i >= 0 {
		tail, comment = tail[:i], strings.TrimRight(tail[i+1:], " \t")
	}
	tail = strings.TrimSpace(tail)
	bracketed := len(tail) > 1 && tail[0] == '[' && strings.IndexByte(tail, ']') == len(tail)-1
	if !isPlainKey(strings.ReplaceAll(name, "-", "_")) || tail != "" && !bracketed {
		return false
	}
	e.Kind, e.Mark, e.Key, e.Text, e.Comment = Section, mark, name, tail, comment
	return true
}

// cutSectionName cuts the name off the front of s: a plain key that may hold "-"
// behind its first byte.
func cutSectionName(s string) (name, tail string) {
	n := 0
	for n < len(s) && (isPlainKey("_"+s[n:n+1]) || n > 0 && s[n] == '-') {
		n++
	}
	return s[:n], s[n:]
}

// isSectionMark reports digits with at most one letter behind, or a plain key.
func isSectionMark(s string) bool {
	digits := strings.TrimLeft(s, "0123456789")
	return isPlainKey(s) || digits != s && (digits == "" || len(digits) == 1 && isPlainKey(digits) && digits != "_")
}

// readHeading reads a markdown heading of one word at the left into e.
func (p *parser) readHeading(e *Entry, at, end, col int) bool {
	name := strings.TrimLeft(p.src[at:end], "#")
	marks := end - at - len(name)
	if left := p.scopes[0].indent; marks == 0 || marks > 6 || left >= 0 && col != left || name == "" || name[0] != ' ' {
		return false
	}
	name = strings.TrimSpace(name)
	if !isPlainKey(name) {
		return false
	}
	p.note(codeHeading, at, "")
	e.Kind, e.Mark, e.Key, e.Text = Section, p.src[at:at+marks], name, ""
	return true
}

// checkDocument notes what can be seen only in the whole.
func (p *parser) checkDocument() {
	if p.stop {
		return
	}
	p.noteDuplicates(p.root.Entries)
	if p.envelopes == 0 {
		at := 0
		if len(p.root.Entries) > 0 {
			at = p.root.Entries[0].from
		}
		p.note(codeEnvelope, at, "")
	}
	for _, e := range p.root.Entries {
		switch e.Kind {
		case Envelope:
			p.checkMeta(e)
		case Loose:
			e.Text = withLineFeeds(e.Text)
		}
	}
	p.noteTabs()
}

// noteDuplicates notes keys that stand more than once in one place.
func (p *parser) noteDuplicates(in []*Entry) {
	seen := map[string]bool{}
	for _, e := range in {
		switch e.Kind {
		case Pair, Block, Section:
			if seen[e.Key] {
				p.note(codeDuplicate, e.from, "")
			}
			seen[e.Key] = true
		}
		p.noteDuplicates(e.Entries)
		p.noteDuplicates(e.Value.Items)
	}
}

// checkMeta notes what META lacks.
func (p *parser) checkMeta(env *Entry) {
	for _, e := range env.Entries {
		if e.Kind == Comment {
			continue
		}
		if e.Kind != Block || e.Key != "META" {
			break
		}
		for _, want := range []string{"TYPE", "VERSION"} {
			if len(entriesNamed(e.Entries, want)) == 0 {
				p.note(codeMeta, e.from, "META has no "+want)
			}
		}
		return
	}
	p.note(codeMeta, env.from, "the envelope does not begin with META")
}

// noteTabs notes each line with a tab once, fences left out.
func (p *parser) noteTabs() {
	p.ops += len(p.src)
	for at := 0; ; {
		n := strings.IndexByte(p.src[at:], '\t')
		if n < 0 {
			return
		}
		at += n
		for len(p.opaque) > 0 && p.opaque[0].to <= at {
			p.opaque = p.opaque[1:]
		}
		if len(p.opaque) > 0 && p.opaque[0].from <= at {
			at = p.opaque[0].to
			continue
		}
		p.note(codeTab, at, "")
		_, at = p.lineEnd(at)
	}
}

package octave

import "strings"

// section reads §1::NAME or #1::NAME into e.
func (p *parser) section(e *Entry, at, end int) bool {
	line := p.src[at:end]
	rest, ok := strings.CutPrefix(line, "§")
	if !ok {
		if rest, ok = strings.CutPrefix(line, "#"); !ok {
			return false
		}
	}
	mark, rest, ok := strings.Cut(rest, "::")
	if !ok || !sectionMark(mark) {
		return false
	}
	name, tail := sectionName(rest)
	comment := ""
	if i := strings.Index(tail, " //"); i >= 0 {
		tail, comment = tail[:i], strings.TrimRight(tail[i+1:], " \t")
	}
	tail = strings.TrimSpace(tail)
	bracketed := len(tail) > 1 && tail[0] == '[' && strings.IndexByte(tail, ']') == len(tail)-1
	if !plainKey(strings.ReplaceAll(name, "-", "_")) || tail != "" && !bracketed {
		return false
	}
	e.Kind, e.Mark, e.Key, e.Text, e.Comment = Section, mark, name, tail, comment
	return true
}

// sectionName cuts the name off the front of s: a plain key that may hold "-"
// behind its first byte.
func sectionName(s string) (name, tail string) {
	n := 0
	for n < len(s) && (plainKey("_"+s[n:n+1]) || n > 0 && s[n] == '-') {
		n++
	}
	return s[:n], s[n:]
}

// sectionMark reports digits with at most one letter behind, or a plain key.
func sectionMark(s string) bool {
	digits := strings.TrimLeft(s, "0123456789")
	return plainKey(s) || digits != s && (digits == "" || len(digits) == 1 && plainKey(digits) && digits != "_")
}

// heading reads a markdown heading of one word at the left into e.
func (p *parser) heading(e *Entry, at, end, col int) bool {
	name := strings.TrimLeft(p.src[at:end], "#")
	marks := end - at - len(name)
	if left := p.scopes[0].indent; marks == 0 || marks > 6 || left >= 0 && col != left || name == "" || name[0] != ' ' {
		return false
	}
	name = strings.TrimSpace(name)
	if !plainKey(name) {
		return false
	}
	p.note(codeHeading, at, "")
	e.Kind, e.Mark, e.Key, e.Text = Section, p.src[at:at+marks], name, ""
	return true
}

// review notes what can be seen only in the whole.
func (p *parser) review() {
	if p.stop {
		return
	}
	p.twice(p.root.Entries)
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
			p.meta(e)
		case Loose:
			e.Text = unix(e.Text)
		}
	}
	p.tabs()
}

// twice notes keys that stand more than once in one place.
func (p *parser) twice(in []*Entry) {
	seen := map[string]bool{}
	for _, e := range in {
		switch e.Kind {
		case Pair, Block, Section:
			if seen[e.Key] {
				p.note(codeDuplicate, e.from, "")
			}
			seen[e.Key] = true
		}
		p.twice(e.Entries)
		p.twice(e.Value.Items)
	}
}

// meta notes what META lacks.
func (p *parser) meta(env *Entry) {
	for _, e := range env.Entries {
		if e.Kind == Comment {
			continue
		}
		if e.Kind != Block || e.Key != "META" {
			break
		}
		for _, want := range []string{"TYPE", "VERSION"} {
			if len(pick(e.Entries, want)) == 0 {
				p.note(codeMeta, e.from, "META has no "+want)
			}
		}
		return
	}
	p.note(codeMeta, env.from, "the envelope does not begin with META")
}

// tabs notes each line with a tab once, fences left out.
func (p *parser) tabs() {
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
		_, at = p.eol(at)
	}
}

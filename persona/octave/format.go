package octave

import (
	"bytes"
	"strings"
)

// Format writes a document anew, canonically: two spaces a level, line feeds, no
// byte order mark, no blanks at the end of a line, at most one empty line in a
// row, the end of the envelope; pairs as KEY::value; a list on one line if it
// has at most two plain elements, else one element a line; a word in quotes where
// strict wants it, and else as it is, but that names joined by operators have
// those as → ⇌ ⊕ ⧺ ∧ ∨ without spaces. Nothing in quotes changes, and no key, no
// path, no number and no word with a dot. Comments, loose text and text outside
// of envelopes stay where they are, fences stay as they are.
//
// What is missing is not made up: META, keys, an envelope's name. A document
// whose structure is in doubt is returned as it was.
func Format(d *Doc) []byte {
	if d.err != nil {
		return d.Bytes()
	}
	w := &writer{}
	w.entries(d.Entries, 0)
	if out := w.Bytes(); !bytes.HasPrefix(out, []byte("---\n")) || d.Entries[0].Kind == Frontmatter {
		return out
	}
	return append([]byte("\n"), w.Bytes()...) // text that must not become frontmatter
}

type writer struct{ bytes.Buffer }

// line writes one line at a level of indentation.
func (w *writer) line(level int, parts ...string) {
	for range level {
		w.WriteString("  ")
	}
	for _, s := range parts {
		w.WriteString(s)
	}
	w.WriteByte('\n')
}

func (w *writer) entries(all []*Entry, level int) {
	for i, e := range all {
		if e.blank && i > 0 {
			w.WriteByte('\n')
		}
		w.entry(e, level)
	}
}

func (w *writer) entry(e *Entry, level int) {
	switch e.Kind {
	case Envelope:
		w.line(0, "===", e.Key, "===")
		w.entries(e.Entries, 0)
		if e.endBlank {
			w.WriteByte('\n')
		}
		w.line(0, "===END===")
	case Section:
		head := "§" + e.Mark + "::" + e.Key + e.Text
		if strings.HasPrefix(e.Mark, "#") {
			head = e.Mark + " " + e.Key
		}
		w.line(level, head, behind(e))
		if !e.flat {
			level++
		}
		w.entries(e.Entries, level)
	case Block:
		w.line(level, writtenKey(e.Key), ":", behind(e))
		w.entries(e.Entries, level+1)
	case Pair:
		w.pair(e, level)
	case Rule:
		w.line(level, "---")
	case Comment:
		w.line(level, remark(e.Text))
	default:
		w.loose(e, level)
	}
}

// loose writes text as it stands, its first line indented.
func (w *writer) loose(e *Entry, level int) {
	first, rest, more := strings.Cut(e.Text, "\n")
	fence := ticks(first) > 0 || e.Kind == Frontmatter
	w.line(level, strings.TrimRight(first, " \t"))
	for more {
		first, rest, more = strings.Cut(rest, "\n")
		if !fence {
			first = strings.TrimRight(first, " \t")
		}
		w.line(0, first)
	}
}

func (w *writer) pair(e *Entry, level int) {
	head := writtenKey(e.Key) + "::"
	if e.Value.Kind == Fence {
		w.line(level, head, behind(e))
		w.line(0, unix(e.Value.Raw))
		return
	}
	w.line(level, head, w.value(e.Value, level), behind(e))
}

// value is a value as it is written on its line; a list may go on on others.
func (w *writer) value(v Value, level int) string {
	switch v.Kind {
	case Word:
		return formatWord(v)
	case List:
		return w.list(v, level)
	case Triple:
		if !strings.ContainsAny(v.Text, "\t\r") {
			return `"""` + v.Text + `"""`
		}
	}
	return Quote(v.Text)
}

// formatWord returns a bare word, in quotes if strict wants it so.
func formatWord(v Value) string {
	if x, ok := expression(v.Text); ok {
		return x
	}
	if v.faulty || strings.Contains(v.Text, "\t") {
		return Quote(v.Text)
	}
	return v.Text
}

// list is a list on one line if it is short and plain.
func (w *writer) list(v Value, level int) string {
	var parts []string
	plain := len(v.Items) <= 2
	for _, e := range v.Items {
		text := w.element(e, level+1)
		parts = append(parts, text)
		if e.Kind != Item || e.Comment != "" || e.Value.Kind == List || e.Value.Kind == Word && strings.Contains(text, "<") || strings.Contains(text, "\n") {
			plain = false
		}
	}
	if plain {
		return "[" + strings.Join(parts, ",") + "]"
	}
	return w.tall(v, parts, level)
}

// element is one of a list without what follows it.
func (w *writer) element(e *Entry, level int) string {
	switch e.Kind {
	case Comment:
		return remark(e.Text)
	case Pair:
		return writtenKey(e.Key) + "::" + w.value(e.Value, level)
	}
	return w.value(e.Value, level)
}

// tall is a list with one element a line.
func (w *writer) tall(v Value, parts []string, level int) string {
	last := len(v.Items) - 1
	for last >= 0 && v.Items[last].Kind == Comment {
		last--
	}
	out := &writer{}
	out.line(0, "[")
	for i, e := range v.Items {
		if e.blank && i > 0 {
			out.WriteByte('\n')
		}
		comma := ""
		if i < last && e.Kind != Comment {
			comma = ","
		}
		out.line(level+1, parts[i], comma, behind(e))
	}
	out.WriteString(strings.Repeat("  ", level) + "]")
	return out.String()
}

// behind is a comment at the end of an entry's line.
func behind(e *Entry) string {
	if e.Comment == "" {
		return ""
	}
	return " " + remark(e.Comment)
}

func remark(s string) string { return strings.ReplaceAll(s, "\t", " ") }

func writtenKey(k string) string {
	if bareKey(k) {
		return k
	}
	return Quote(k)
}

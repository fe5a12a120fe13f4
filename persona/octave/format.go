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
	w.writeEntries(d.Entries, 0)
	if out := w.Bytes(); !bytes.HasPrefix(out, []byte("---\n")) || d.Entries[0].Kind == Frontmatter {
		return out
	}
	return append([]byte("\n"), w.Bytes()...) // text that must not become frontmatter
}

type writer struct{ bytes.Buffer }

// writeLine writes one line at a level of indentation.
func (w *writer) writeLine(level int, parts ...string) {
	for range level {
		w.WriteString("  ")
	}
	for _, s := range parts {
		w.WriteString(s)
	}
	w.WriteByte('\n')
}

func (w *writer) writeEntries(all []*Entry, level int) {
	for i, e := range all {
		if e.blank && i > 0 {
			w.WriteByte('\n')
		}
		w.writeEntry(e, level)
	}
}

func (w *writer) writeEntry(e *Entry, level int) {
	switch e.Kind {
	case Envelope:
		w.writeLine(0, "===", e.Key, "===")
		w.writeEntries(e.Entries, 0)
		if e.endBlank {
			w.WriteByte('\n')
		}
		w.writeLine(0, "===END===")
	case Section:
		head := "§" + e.Mark + "::" + e.Key + e.Text
		if strings.HasPrefix(e.Mark, "#") {
			head = e.Mark + " " + e.Key
		}
		w.writeLine(level, head, trailingComment(e))
		if !e.flat {
			level++
		}
		w.writeEntries(e.Entries, level)
	case Block:
		w.writeLine(level, formatKey(e.Key), ":", trailingComment(e))
		w.writeEntries(e.Entries, level+1)
	case Pair:
		w.writePair(e, level)
	case Rule:
		w.writeLine(level, "---")
	case Comment:
		w.writeLine(level, formatComment(e.Text))
	default:
		w.writeLoose(e, level)
	}
}

// writeLoose writes text as it stands, its first line indented.
func (w *writer) writeLoose(e *Entry, level int) {
	first, rest, more := strings.Cut(e.Text, "\n")
	fence := fenceLength(first) > 0 || e.Kind == Frontmatter
	w.writeLine(level, strings.TrimRight(first, " \t"))
	for more {
		first, rest, more = strings.Cut(rest, "\n")
		if !fence {
			first = strings.TrimRight(first, " \t")
		}
		w.writeLine(0, first)
	}
}

func (w *writer) writePair(e *Entry, level int) {
	head := formatKey(e.Key) + "::"
	if e.Value.Kind == Fence {
		w.writeLine(level, head, trailingComment(e))
		w.writeLine(0, withLineFeeds(e.Value.Raw))
		return
	}
	w.writeLine(level, head, w.formatValue(e.Value, level), trailingComment(e))
}

// formatValue formats a value; a list may take several lines.
func (w *writer) formatValue(v Value, level int) string {
	switch v.Kind {
	case Word:
		return formatWord(v)
	case List:
		return w.formatList(v, level)
	case Triple:
		if !strings.ContainsAny(v.Text, "\t\r") {
			return `"""` + v.Text + `"""`
		}
	}
	return Quote(v.Text)
}

// formatWord formats a bare word, in quotes if strict reading requires them.
func formatWord(v Value) string {
	if x, ok := formatExpression(v.Text); ok {
		return x
	}
	if v.faulty || strings.Contains(v.Text, "\t") {
		return Quote(v.Text)
	}
	return v.Text
}

// formatList formats a list, on one line if it is short and plain.
func (w *writer) formatList(v Value, level int) string {
	var parts []string
	plain := len(v.Items) <= 2
	for _, e := range v.Items {
		text := w.formatElement(e, level+1)
		parts = append(parts, text)
		if e.Kind != Item || e.Comment != "" || e.Value.Kind == List || e.Value.Kind == Word && strings.Contains(text, "<") || strings.Contains(text, "\n") {
			plain = false
		}
	}
	if plain {
		return "[" + strings.Join(parts, ",") + "]"
	}
	return w.formatTallList(v, parts, level)
}

// formatElement formats an element of a list, without its comma and comment.
func (w *writer) formatElement(e *Entry, level int) string {
	switch e.Kind {
	case Comment:
		return formatComment(e.Text)
	case Pair:
		return formatKey(e.Key) + "::" + w.formatValue(e.Value, level)
	}
	return w.formatValue(e.Value, level)
}

// formatTallList formats a list with one element a line.
func (w *writer) formatTallList(v Value, parts []string, level int) string {
	last := len(v.Items) - 1
	for last >= 0 && v.Items[last].Kind == Comment {
		last--
	}
	out := &writer{}
	out.writeLine(0, "[")
	for i, e := range v.Items {
		if e.blank && i > 0 {
			out.WriteByte('\n')
		}
		comma := ""
		if i < last && e.Kind != Comment {
			comma = ","
		}
		out.writeLine(level+1, parts[i], comma, trailingComment(e))
	}
	out.WriteString(strings.Repeat("  ", level) + "]")
	return out.String()
}

// trailingComment formats the comment at the end of an entry's line.
func trailingComment(e *Entry) string {
	if e.Comment == "" {
		return ""
	}
	return " " + formatComment(e.Comment)
}

func formatComment(s string) string { return strings.ReplaceAll(s, "\t", " ") }

func formatKey(k string) string {
	if isBareKey(k) {
		return k
	}
	return Quote(k)
}

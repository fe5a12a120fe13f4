package okf

import "strings"

// Visible returns s without the characters a reader cannot see but a model can
// read: control characters other than newline and tab, zero-width and soft
// characters, bidirectional overrides and isolates, interlinear marks, the tag
// block U+E0000–E007F and the variation selectors above U+E0100. CR LF becomes
// LF. Text without such characters is returned as it is.
func Visible(s string) string {
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if hidden(r) {
			return -1
		}
		return r
	}, s)
}

// hidden reports whether r has no place in text that is shown or served.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r < 0xa0: // C0, DEL, C1
		return true
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x180e: // soft hyphen, joiner, Arabic mark, Mongolian separator
		return true
	case r >= 0x200b && r <= 0x200f: // zero width and marks
		return true
	case r >= 0x2028 && r <= 0x202e: // separators, embeddings, overrides
		return true
	case r >= 0x2060 && r <= 0x206f: // word joiner, isolates, deprecated formats
		return true
	case r == 0xfeff, r >= 0xfff9 && r <= 0xfffb: // byte order mark, interlinear
		return true
	case r >= 0xe0000 && r <= 0xe007f, r >= 0xe0100 && r <= 0xe01ef: // tags, selectors
		return true
	}
	return false
}

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
	if ' ' <= r && r < 0x7f {
		return false
	}
	for _, span := range [...][2]rune{
		{0, 0x08}, {0x0b, 0x1f}, {0x7f, 0x9f}, // C0 but tab and newline, DEL, C1
		{0xad, 0xad}, {0x34f, 0x34f}, {0x61c, 0x61c}, {0x180e, 0x180e}, // soft hyphen, joiner, Arabic mark, vowel separator
		{0x200b, 0x200f}, {0x2028, 0x202e}, // zero width and marks; separators, embeddings, overrides
		{0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, // isolates, byte order mark, interlinear
		{0xe0000, 0xe007f}, {0xe0100, 0xe01ef}, // tags, selectors
	} {
		if span[0] <= r && r <= span[1] {
			return true
		}
	}
	return false
}

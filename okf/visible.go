package okf

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Visible returns s without the characters that a reader cannot see but a model can read.
// These are control characters other than newline and tab, zero-width and soft characters,
// bidirectional overrides and isolates, interlinear marks, the tag block U+E0000–E007F, and
// the variation selectors above U+E0100. CR LF becomes LF. Text without such characters is
// returned as it is.
func Visible(s string) string {
	if strings.IndexFunc(s, isHidden) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if isHidden(r) {
			return -1
		}
		return r
	}, s)
}

// OneLine returns the visible characters of s on one line.
func OneLine(s string) string { return strings.Join(strings.Fields(Visible(s)), " ") }

// Clip returns s, or where it is longer than n bytes as many whole characters as n bytes hold, and "…".
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// Legible returns s as UTF-8, with \xff for an invalid byte, so that the name of a file can
// be shown where only text is allowed.
func Legible(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		if _, n := utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, `\x%02x`, s[i])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isHidden reports whether r must not appear in text that is shown or served.
func isHidden(r rune) bool {
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

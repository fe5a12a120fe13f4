// Package layout fits text into the columns of a terminal: it breaks lines between words,
// cuts them, and aligns the cells of rows. A wide character takes two columns, and a mark on
// another or a colour takes none.
package layout

import (
	"strings"

	"github.com/rivo/uniseg"
)

// Fold breaks a line that is longer than width between words. The parts after the
// first are set in to where the text begins: behind the last column that leaves room
// for it, a little where none does.
func Fold(line string, width int) string {
	if Width(line) <= width {
		return line
	}
	if text := strings.TrimLeft(line, " "); len(line)-len(text) > max(8, 3*width/5) {
		return Fold("    "+text, width) // it is set in for a wider terminal
	}
	text, deep := column(line, width)
	below := wrap(line[text:], Width(line[:text]), deep, width)
	if strings.HasPrefix(below, "\n") {
		return strings.TrimRight(line[:text], " ") + below
	}
	return line[:text] + below
}

// wrap returns a text that begins in column at, broken between words, but not within a command,
// which a person copies. A word that no line has room for breaks between wide characters, which
// stand without blanks. What goes on below is set in, but less before a word that would not fit there.
func wrap(text string, at, in, width int) string {
	var out strings.Builder
	below := "\n" + strings.Repeat(" ", in)
	blanks := ""
	for i, word := range splitWords(text, width-in) {
		if i > 0 {
			blanks += " "
		}
		n := Width(word)
		for n > width-in {
			first := head(word, width-at-len(blanks), true)
			if first == "" {
				break
			}
			out.WriteString(blanks + first + below)
			at, blanks, word = in, "", word[len(first):]
			n = Width(word)
		}
		if n == 0 {
			continue
		}
		if little := min(in, 4); at+len(blanks)+n > width && n > width-in && n <= width-little {
			out.WriteString("\n" + strings.Repeat(" ", little))
			at, blanks = little, ""
		}
		if blanks != "" && at+len(blanks)+n > width {
			out.WriteString(below)
			at, blanks = in, ""
		}
		out.WriteString(blanks + word)
		at, blanks = at+len(blanks)+n, ""
	}
	return out.String()
}

// splitWords returns the words of a text; those of a command that has room in a line are one.
func splitWords(text string, room int) (out []string) {
	for words := strings.Split(text, " "); len(words) > 0; {
		n := commandLength(words)
		if Width(strings.Join(words[:n], " ")) > room {
			n = 1
		}
		out, words = append(out, strings.Join(words[:n], " ")), words[n:]
	}
	return out
}

// commandLength returns how many words are the command of odd or git that words begin with, 1 where
// they begin with none. After the names of the verbs, a word of small letters alone goes on
// with the sentence; where it is an argument, it is not recognized as one.
func commandLength(words []string) int {
	const verbs = 3 // as in odd agent handoff list
	if first := strings.TrimLeft(words[0], "`(\"'"); first != "odd" && first != "git" {
		return 1
	}
	n, quoted := 1, false
	for _, w := range words[1:] {
		if w == "" || n > verbs && !quoted && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz,;:.)") == "" {
			break
		}
		n++
		if strings.Count(w, `"`)%2 == 1 || strings.Count(w, "'")%2 == 1 {
			quoted = !quoted
		}
		if !quoted && strings.ContainsAny(w[len(w)-1:], ",;:.)`") {
			break
		}
	}
	return n
}

// head returns the longest head, in at most n columns, of an s that takes more; wide asks for one that
// ends between two wide characters.
func head(s string, n int, wide bool) string {
	end, at, before := 0, 0, 0
	for rest, state := s, -1; rest != ""; {
		here := len(s) - len(rest)
		var takes int
		_, rest, takes, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if !wide || before > 1 && takes > 1 {
			end = here
		}
		if at += takes; at > n {
			break
		}
		before = takes
	}
	return s[:end]
}

// Width returns how many columns of a terminal a text takes: two for a wide character,
// none for a mark on another and for what colours it.
func Width(s string) (n int) {
	if IsPlain(s) {
		return len(s)
	}
	for more := true; more; {
		var text string
		text, s, more = strings.Cut(s, "\x1b[")
		n += uniseg.StringWidth(text)
		if more {
			_, s, _ = strings.Cut(s, "m")
		}
	}
	return n
}

// column returns where the text of a line begins, in bytes, and how far the lines that go
// on with it are set in. Two blanks end a column.
func column(line string, width int) (text, in int) {
	bare := func(at int) int { return len(line) - len(strings.TrimLeft(line[at:], " ")) }
	lead := bare(0)
	text, in = lead, lead
	for at := lead; ; {
		gap := strings.Index(line[at:], "  ")
		if gap < 0 {
			return text, in
		}
		at = bare(at + gap)
		switch n := Width(line[:at]); {
		case 5*n <= 3*width:
			text, in = at, n
		case text == lead && n < width:
			return at, lead + 4
		default:
			return text, in
		}
	}
}

// Pad returns s with blanks behind it, until it takes n columns of a terminal.
func Pad(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-Width(s)))
}

// Clip returns s in at most n columns of a terminal, an ellipsis at the end where there
// was more.
func Clip(s string, n int) string {
	if Width(s) <= n {
		return s
	}
	return head(s, n-1, false) + "…"
}

// IsPlain reports a text of ASCII alone without control characters, as most are.
func IsPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

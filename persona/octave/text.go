package octave

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quote writes text in double quotes, with the escapes \" \\ \n \t. A character that
// no file may hold, a carriage return among them, stays as it is, and Parse refuses
// what was written.
func Quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(text) + `"`
}

// Plain writes text as it is where it is a name, else as Quote does.
func Plain(text string) string {
	if isName(text) {
		return text
	}
	return Quote(text)
}

// isName reports text that is a value without quotes: [A-Za-z_] and then letters,
// digits, _ . and -, not - at the end, none of true, false, null and vs.
func isName(s string) bool {
	switch s {
	case "", "true", "false", "null", "vs":
		return false
	}
	for _, c := range []byte(s) {
		if c != '.' && c != '-' && !isPlainKey("_"+string(rune(c))) {
			return false
		}
	}
	return isPlainKey(s[:1]) && s[len(s)-1] != '-'
}

// unquote undoes quote. bad is where an unknown escape is, -1 for nowhere; both
// its characters are kept.
func unquote(s string) (text string, bad int) {
	bad = -1
	if strings.IndexByte(s, '\\') < 0 {
		return s, bad
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case '"', '\\':
			b.WriteByte(s[i])
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		default:
			if bad < 0 {
				bad = i - 1
			}
			b.WriteString(s[i-1 : i+1])
		}
	}
	return b.String(), bad
}

// operators returns the forms of each operator, the canonical one last.
func operators() [][]string {
	return [][]string{
		{"<->", "⇌"}, {"->", "→"}, {"+", "⊕"}, {"~", "⧺"}, {"&", "∧"}, {"|", "∨"}, {"@", "@"},
	}
}

// matchOperator returns the operator that s begins with, in its canonical form.
func matchOperator(s string) (canonical string, length int) {
	for _, forms := range operators() {
		for _, f := range forms {
			if strings.HasPrefix(s, f) {
				return forms[len(forms)-1], len(f)
			}
		}
	}
	if rest, ok := strings.CutPrefix(s, "vs"); ok && (rest == "" || strings.IndexByte(" \t\r\n,]", rest[0]) >= 0) {
		return "⇌", 2
	}
	return "", 0
}

// joinsWords reports whether an operator joins a word to what follows after a blank.
func joinsWords(word, next string) bool {
	if _, n := matchOperator(next); n > 0 || word == "vs" {
		return true
	}
	for _, forms := range operators() {
		for _, f := range forms {
			if strings.HasSuffix(word, f) {
				return true
			}
		}
	}
	return false
}

// formatExpression writes names joined by operators canonically: LOBBY -> BOUND becomes
// LOBBY→BOUND. Anything else, so every path, number and dotted word, is not one.
func formatExpression(s string) (string, bool) {
	var b strings.Builder
	for joins := 0; ; joins++ {
		n := operandLength(s)
		if n == 0 || s[:n] == "vs" {
			return "", false
		}
		b.WriteString(s[:n])
		rest := strings.TrimLeft(s[n:], " \t")
		if rest == "" {
			return b.String(), joins > 0
		}
		op, m := matchOperator(rest)
		if m == 0 {
			return "", false
		}
		b.WriteString(op)
		s = strings.TrimLeft(rest[m:], " \t")
	}
}

// operandLength returns the length of the name that s begins with.
func operandLength(s string) (n int) {
	for n < len(s) && !strings.HasPrefix(s[n:], "->") {
		r, size := utf8.DecodeRuneInString(s[n:])
		inner := n > 0 && (r == '-' || unicode.IsDigit(r))
		if r != '_' && !unicode.IsLetter(r) && !inner {
			break
		}
		n += size
	}
	if n > 0 && s[n-1] == '-' {
		return 0
	}
	return n
}

// isSimple reports text that stands as a bare word without doubt: letters, digits
// and _ . / -.
func isSimple(s string) bool {
	if s == "" || s == "vs" || beginsWithDate(s) || strings.Contains(s, "//") {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return r != '_' && r != '.' && r != '/' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) < 0
}

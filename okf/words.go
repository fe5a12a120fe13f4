package okf

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// eachWord calls add with every search word of s, in order.
//
// A word is a run of letters and digits, in lower case, without accents and without an
// English plural, so that "Résumés" finds "resume". A name in camel case gives itself and
// its parts: VoteTypeId gives vote, type and id too. Scripts without spaces (Han, kana)
// give every pair of neighbours, which finds phrases without a dictionary.
func eachWord(s string, add func(string)) {
	for i := 0; i < len(s); {
		end, plain := wordEnd(s, i)
		switch {
		case end == i:
			_, n := utf8.DecodeRuneInString(s[i:])
			end += n
		case plain:
			add(stripPlural(s[i:end]))
		default:
			addRun(s[i:end], add)
		}
		i = end
	}
}

// wordEnd returns the end of the run of letters and digits that begins at i, and whether it
// has only lower-case ASCII letters and digits.
func wordEnd(s string, i int) (end int, plain bool) {
	plain = true
	for end = i; end < len(s); {
		switch c := s[end]; {
		case c-'a' <= 'z'-'a' || c-'0' <= '9'-'0':
			end++
		case c-'A' <= 'Z'-'A':
			plain = false
			end++
		case c < utf8.RuneSelf:
			return end, plain
		default:
			r, n := utf8.DecodeRuneInString(s[end:])
			if !isWordRune(r) {
				return end, plain
			}
			plain = false
			end += n
		}
	}
	return end, plain
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.N) && r != utf8.RuneError
}

// addRun adds the words of one run of letters and digits.
func addRun(s string, add func(string)) {
	ascii, camel := classifyRun(s)
	if !ascii {
		s = dropAccents(s)
		if unicode.In([]rune(s + " ")[0], unicode.Han, unicode.Hiragana, unicode.Katakana) {
			addPairs(s, add)
			return
		}
	}
	if camel {
		addCamelParts(s, add)
	}
	if !ascii {
		s = strings.ToUpper(s) // one letter may have two lower-case forms
	}
	if low := strings.ToLower(s); low != "" {
		add(stripPlural(low))
	}
}

// classifyRun reports whether s is ASCII, and whether it is in camel case.
func classifyRun(s string) (ascii, camel bool) {
	ascii = true
	for i := range len(s) {
		ascii = ascii && s[i] < utf8.RuneSelf
		camel = camel || i > 0 && s[i] >= 'A' && s[i] <= 'Z' && s[i-1] >= 'a' && s[i-1] <= 'z'
	}
	return ascii, camel
}

// dropAccents maps compatibility forms to one form and drops accents.
func dropAccents(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(s))
}

func addCamelParts(s string, add func(string)) {
	from := 0
	for i := 1; i <= len(s); i++ {
		if i == len(s) || s[i] >= 'A' && s[i] <= 'Z' && s[i-1] >= 'a' && s[i-1] <= 'z' {
			add(stripPlural(strings.ToLower(s[from:i])))
			from = i
		}
	}
}

func addPairs(s string, add func(string)) {
	rs := []rune(s)
	if len(rs) == 1 {
		add(s)
	}
	for i := 0; i+1 < len(rs); i++ {
		add(string(rs[i : i+2]))
	}
}

// stripPlural removes an English plural as far as spelling can tell: -ies becomes -y, -es
// becomes -e, -s is dropped. Words in -ss, -us, -is and words of three letters stay. This
// is the weakest rule that lets a title in the singular match a question in the plural, and
// it confuses words less often than a stemmer (Harman 1991, the S stemmer).
func stripPlural(w string) string {
	n := len(w)
	if n < 4 || w[n-1] != 's' {
		return w
	}
	switch {
	case w[n-2] == 's' || w[n-2] == 'u' || w[n-2] == 'i':
		return w
	case strings.HasSuffix(w, "ies") && w[n-4] != 'a' && w[n-4] != 'e' && n > 4:
		return w[:n-3] + "y"
	}
	return w[:n-1]
}

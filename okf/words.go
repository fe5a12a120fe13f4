package okf

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// words calls add with every search word of s, in order.
//
// A word is a run of letters and digits, in lower case, without accents, its
// English plural undone, so that "Résumés" finds "resume". A name in camel case is
// a word and so are its parts: VoteTypeId, vote, type, id. Scripts that write
// no spaces (Han, kana) give every pair of neighbours, which finds phrases
// without a dictionary.
func words(s string, add func(string)) {
	for i := 0; i < len(s); {
		end, plain := span(s, i)
		switch {
		case end == i:
			_, n := utf8.DecodeRuneInString(s[i:])
			end += n
		case plain:
			add(singular(s[i:end]))
		default:
			run(s[i:end], add)
		}
		i = end
	}
}

// span is where the run of letters and digits that begins at i ends, and whether
// small ASCII letters and digits are all it has.
func span(s string, i int) (end int, plain bool) {
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
			if !inWord(r) {
				return end, plain
			}
			plain = false
			end += n
		}
	}
	return end, plain
}

func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.N) && r != utf8.RuneError
}

// run gives the words of one run of letters and digits.
func run(s string, add func(string)) {
	ascii, camel := shape(s)
	if !ascii {
		s = fold(s)
		if unicode.In([]rune(s + " ")[0], unicode.Han, unicode.Hiragana, unicode.Katakana) {
			pairs(s, add)
			return
		}
	}
	if camel {
		parts(s, add)
	}
	if !ascii {
		s = strings.ToUpper(s) // one letter may have two small forms
	}
	if low := strings.ToLower(s); low != "" {
		add(singular(low))
	}
}

// shape reports whether s is ASCII, and whether it is in camel case.
func shape(s string) (ascii, camel bool) {
	ascii = true
	for i := range len(s) {
		ascii = ascii && s[i] < utf8.RuneSelf
		camel = camel || i > 0 && s[i] >= 'A' && s[i] <= 'Z' && s[i-1] >= 'a' && s[i-1] <= 'z'
	}
	return ascii, camel
}

// fold brings compatibility forms together and drops accents.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(s))
}

// parts gives the parts of a name in camel case.
func parts(s string, add func(string)) {
	from := 0
	for i := 1; i <= len(s); i++ {
		if i == len(s) || s[i] >= 'A' && s[i] <= 'Z' && s[i-1] >= 'a' && s[i-1] <= 'z' {
			add(singular(strings.ToLower(s[from:i])))
			from = i
		}
	}
}

func pairs(s string, add func(string)) {
	rs := []rune(s)
	if len(rs) == 1 {
		add(s)
	}
	for i := 0; i+1 < len(rs); i++ {
		add(string(rs[i : i+2]))
	}
}

// singular undoes an English plural as far as spelling alone can tell: -ies is
// -y, -es is -e, -s is nothing, and -ss, -us, -is and words of three letters
// stay. It is the weakest rule that lets a title in the singular answer a
// question in the plural, and it is wrong about meaning less often than a
// stemmer (Harman 1991, the S stemmer).
func singular(w string) string {
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

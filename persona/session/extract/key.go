package extract

import "strings"

// key is what two names must share to name one thing: their words without case,
// article and the last word's plural.
func key(title string) string {
	ws := words(withoutArticle(title))
	if n := len(ws); n > 0 {
		ws[n-1] = singular(strings.Trim(ws[n-1], ".'"))
	}
	return strings.Join(ws, " ")
}

// singular takes the plural off a word, roughly: it only has to do the same to
// the same word.
func singular(w string) string {
	switch {
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is"):
		return w[:len(w)-1]
	}
	return w
}

// keyOf is key for a kind. A process is also one under its "How to" and its
// -ing form: "Opening the jetty" is "Open the jetty".
func keyOf(kind, title string) string {
	k := key(title)
	if kind != process {
		return kind + " " + k
	}
	first, rest, _ := strings.Cut(k, " ")
	if stem, ok := stemGerund(first); ok {
		first = stem
	}
	return kind + " " + strings.TrimSuffix(first, "e") + " " + strings.TrimPrefix(strings.TrimPrefix(rest, "the "), "a ")
}

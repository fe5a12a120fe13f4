package lint

import (
	"slices"
	"strconv"
	"strings"
)

// wordsOf are the names in a text, and those that it calls; neither what stands in
// its strings, what is Go's own library, nor a variable that a call fills.
func wordsOf(text string, imports map[string]string) (words map[string]bool, calls []string) {
	words = map[string]bool{}
	qualifier, end := false, 0
	for _, at := range tokens().FindAllStringIndex(text, -1) {
		w := text[at[0]:at[1]]
		own := qualifier && at[0] == end+1 && text[end] == '.'
		from, imported := imports[w]
		first, _, _ := strings.Cut(from, "/")
		qualifier, end = imported && !strings.Contains(first, "."), at[1]
		if own || qualifier || literalToken(w) || at[0] > 0 && text[at[0]-1] == '&' || slices.Contains(common, w) {
			continue
		}
		words[w] = true
		if strings.HasPrefix(text[end:], "(") {
			calls = append(calls, w)
		}
	}
	return words, calls
}

func literalToken(w string) bool { return strings.ContainsRune("\"'`0123456789", rune(w[0])) }

// plainValue is a literal however it is written, or the name that it is.
func plainValue(w string) string {
	if s, err := strconv.Unquote(w); err == nil && literalToken(w) {
		return s
	}
	return strings.Trim(w, "'")
}

// listLiterals are the strings and numbers in a text.
func listLiterals(text string) (out []string) {
	for _, w := range tokens().FindAllString(text, -1) {
		if literalToken(w) {
			out = append(out, plainValue(w))
		}
	}
	return out
}

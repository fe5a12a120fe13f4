package handoff

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/odd-cli/odd/okf"
)

// section is the list below one heading.
type section struct {
	line  int // of the heading
	end   int // of the heading that ends it; 0 for the end of the file
	items []string
}

// comment is an HTML comment within a text. Comments of several lines are no text to okf.
var comment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<!--.*?(?:-->|$)`) })

// readSections returns the lists below headings by key: "## Scope in" is scope_in. Each
// list item and each paragraph is one; a paragraph that ends in a colon is only an
// introduction. A second heading of one key adds to the first.
func readSections(a *okf.Atom, keys []string) map[string]section {
	out := map[string]section{}
	all := a.Sections()
	for i, h := range all {
		key := keyOf(h.Text)
		if h.Level == 1 || !slices.Contains(keys, key) { // the first level is the title's
			continue
		}
		s, again := out[key]
		if !again {
			s.line = h.Line
		}
		var found []okf.Passage
		for n, below := range all[i:] {
			if n > 0 && below.Level <= h.Level {
				if !again {
					s.end = below.Line
				}
				break
			}
			found = slices.Concat(found, below.Items, below.Paragraphs)
		}
		slices.SortStableFunc(found, func(a, b okf.Passage) int { return a.Line - b.Line })
		for _, p := range found {
			text := strings.TrimSpace(comment().ReplaceAllString(p.Text, ""))
			if text != "" && !(len(found) > 1 && strings.HasSuffix(text, ":")) {
				s.items = append(s.items, text)
			}
		}
		out[key] = s
	}
	return out
}

// keyOf returns a heading as a key: lower case, with "_" between words.
func keyOf(heading string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(heading), func(r rune) bool { return strings.ContainsRune(" \t_-:", r) }), "_")
}

// saysNone reports whether the only item says that there is nothing.
func saysNone(items []string) bool {
	if len(items) != 1 {
		return false
	}
	return slices.Contains([]string{"none", "nothing", "n/a", "[]"}, strings.ToLower(strings.Trim(items[0], " .*_`()")))
}

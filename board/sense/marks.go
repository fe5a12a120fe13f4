package sense

import (
	"bytes"
	"regexp"
	"strings"
)

// mark is a word that a person leaves where something is still to be done, at the
// beginning of a comment. "#" begins headings too, so there a colon or a bracket follows.
var mark = regexp.MustCompile(`(?://+|/\*+|^\s*\*|--|;|<!--|%|#)\s*(FIXME|BUG|XXX|HACK|TODO)\b(\([^)]*\))?:?\s*(.*)`)

// heavy are the marks that say that something is wrong, and not only to be done.
var heavy = map[string]bool{"FIXME": true, "BUG": true, "XXX": true, "HACK": true}

// Marks are the marks in the lines of a file that an older version of it, nil for none,
// does not have. A line that only moved is no new one; a file that is not text has none.
func Marks(name string, before, after []byte) (out []Finding) {
	if bytes.IndexByte(after, 0) >= 0 {
		return nil
	}
	old := map[string]int{}
	for line := range strings.Lines(string(before)) {
		old[strings.TrimSpace(line)]++
	}
	n := 0
	for line := range strings.Lines(string(after)) {
		n++
		line = strings.TrimSpace(line)
		if old[line] > 0 {
			old[line]--
			continue
		}
		m := mark.FindStringSubmatch(line)
		if m == nil || strings.HasPrefix(m[0], "#") && !strings.Contains(m[0], m[1]+":") && m[2] == "" {
			continue
		}
		f := Finding{Sensor: "mark", Subject: name, Signature: strings.TrimSpace(m[1] + " " + m[3]), Message: line, Line: n}
		if heavy[m[1]] {
			f.Priority = "p2"
		}
		out = append(out, f)
	}
	return out
}

package sense

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// markWord is a word that a person leaves in a comment where something is still to be
// done, and the priority of that; "" is the sensor's.
type markWord struct{ word, priority string }

// markWords are in halves, so that whoever searches odd's own code for what is still to be
// done does not find this table.
func markWords() []markWord {
	return []markWord{{"FIX" + "ME", "p2"}, {"BUG", "p2"}, {"XX" + "X", "p2"}, {"HA" + "CK", "p2"}, {"TO" + "DO", ""}}
}

// MarkWords lists the words that findMarks looks for.
func MarkWords() (out []string) {
	for _, m := range markWords() {
		out = append(out, m.word)
	}
	return out
}

// mark is a word of markWords at the beginning of a comment, its owner in brackets, and
// what follows. "#" begins headings too, so there a colon or brackets follow.
var mark = regexp.MustCompile(`(?://+|/\*+|^\s*\*|--|;|<!--|%|#)\s*(` + strings.Join(MarkWords(), "|") + `)\b(\([^)]*\))?:?\s*(.*)`)

// foreignFolders hold other people's code, samples and what a build made.
var foreignFolders = regexp.MustCompile(`(?:^|/)(?:vendor|node_modules|third_party|testdata|dist)/`)

// findMarks are the marks in the lines of a file that an older version of it, nil for none,
// does not have. A line that only moved is no new one. A file that is not text has none,
// and one in a folder of other people's code or samples.
func findMarks(name string, before, after []byte) (out []Finding) {
	has := func(w markWord) bool { return bytes.Contains(after, []byte(w.word)) }
	if bytes.IndexByte(after, 0) >= 0 || foreignFolders.MatchString(name) || !slices.ContainsFunc(markWords(), has) {
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
		i := slices.IndexFunc(markWords(), func(w markWord) bool { return w.word == m[1] })
		out = append(out, Finding{Sensor: "mark", Subject: name, Signature: strings.TrimSpace(m[1] + " " + m[3]), Message: line, Line: n, Priority: markWords()[i].priority})
	}
	return out
}

package pipeline

import (
	"fmt"
	"strings"
)

// When what a change adds is a copy: of at least so many added lines, more than
// this part of all runs of three lines stands in one text of the base already.
const (
	copyLines = 3
	copyPct   = 70
)

// findCopies lists the files of a change whose added lines are mostly a copy. Blank
// lines and comments do not count. A file is not held against itself.
func findCopies(files []Edit, texts [][]byte) []string {
	var known []map[string]bool
	for _, t := range texts {
		known = append(known, lineTriples(codeLines(string(t))))
	}
	var out []string
	for _, f := range files {
		added := lineTriples(addedLines(f))
		if len(added) == 0 {
			continue
		}
		best := 0
		for _, text := range known {
			n := 0
			for r := range added {
				if text[r] {
					n++
				}
			}
			best = max(best, 100*n/len(added))
		}
		if best > copyPct {
			out = append(out, fmt.Sprintf("%s: %d %% of the added text is also in another file", f.Path, best))
		}
	}
	return out
}

// addedLines returns the lines that a file has more often than before.
func addedLines(f Edit) []string {
	had := map[string]int{}
	for _, l := range codeLines(string(f.Before)) {
		had[l]++
	}
	var out []string
	for _, l := range codeLines(string(f.After)) {
		if had[l] > 0 {
			had[l]--
			continue
		}
		out = append(out, l)
	}
	return out
}

// codeLines are the lines of a text that say something, without their indent.
func codeLines(s string) []string {
	var out []string
	for l := range strings.Lines(s) {
		l = strings.TrimSpace(l)
		if l == "" || strings.HasPrefix(l, "//") || strings.HasPrefix(l, "#") || strings.HasPrefix(l, "--") || strings.HasPrefix(l, "/*") || strings.HasPrefix(l, "* ") || l == "*/" {
			continue
		}
		out = append(out, l)
	}
	return out
}

// lineTriples are all runs of three lines.
func lineTriples(lines []string) map[string]bool {
	out := map[string]bool{}
	for i := 0; i+copyLines <= len(lines); i++ {
		out[strings.Join(lines[i:i+copyLines], "\n")] = true
	}
	return out
}

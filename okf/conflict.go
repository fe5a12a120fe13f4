package okf

import (
	"bytes"
	"slices"
)

// conflictMarks are the lines that git writes into a file that it could not merge, in this
// order.
var conflictMarks = [3][]byte{[]byte("<<<<<<< "), []byte("======="), []byte(">>>>>>> ")}

// Conflict returns a problem at the first conflict mark of a file that git could not merge;
// nil if there is none. The lines "<<<<<<< ", "=======" and ">>>>>>> " must follow in this
// order. Marks that begin within fenced code are examples and do not count, unless the
// fence is never closed.
func Conflict(b []byte) *Problem {
	if !bytes.Contains(b, conflictMarks[0]) {
		return nil
	}
	lines := slices.Collect(bytes.Lines(b))
	open := map[byte]int{} // the shortest run of each kind that nothing behind it closes
	for n := 0; n < len(lines); n++ {
		run := fenceOf(lines[n])
		if run != "" && (open[run[0]] == 0 || len(run) < open[run[0]]) {
			if end := findFenceEnd(lines, n, run); end > 0 {
				n = end
				continue
			}
			open[run[0]] = len(run)
		}
		if bytes.HasPrefix(lines[n], conflictMarks[0]) {
			if !hasOtherMarks(lines[n:]) {
				return nil // nor does one that begins behind it
			}
			return newProblem(n+1, codeConflict, "two versions that git could not merge", "keep what is right of each, delete the lines that begin <<<<<<<, ======= and >>>>>>>, then git add and git commit")
		}
	}
	return nil
}

// hasOtherMarks reports whether all marks follow, beginning with the first line.
func hasOtherMarks(lines [][]byte) bool {
	next := 0
	for _, l := range lines {
		if bytes.HasPrefix(l, conflictMarks[next]) {
			if next++; next == len(conflictMarks) {
				return true
			}
		}
	}
	return false
}

// findFenceEnd returns the line that closes the fence which open begins on line n; 0 if
// none does.
func findFenceEnd(lines [][]byte, n int, open string) int {
	for end := n + 1; end < len(lines); end++ {
		run := fenceOf(lines[end])
		if len(run) >= len(open) && run[0] == open[0] && len(bytes.Trim(lines[end], " \r\n"+run[:1])) == 0 {
			return end
		}
	}
	return 0
}

// fenceOf returns the run of three or more "`" or "~" that makes a line a fence; "" for
// other lines. Up to three spaces may stand before it.
func fenceOf(line []byte) string {
	text := bytes.TrimLeft(line, " ")
	if len(line)-len(text) > 3 {
		return ""
	}
	run := fenceRun(unsafeString(text))
	if run != "" && run[0] == '`' && bytes.IndexByte(text[len(run):], '`') >= 0 {
		return "" // a code span
	}
	return run
}

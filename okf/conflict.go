package okf

import (
	"bytes"
	"slices"
)

// marks are what git writes into a file that it could not merge, in this order.
var marks = [3][]byte{[]byte("<<<<<<< "), []byte("======="), []byte(">>>>>>> ")}

// Conflict finds what git leaves in a file that it could not merge: the lines
// "<<<<<<< ", "=======" and ">>>>>>> " in this order. The problem stands at the
// first of them; nil where they are not there. What begins within fenced code shows
// what such marks look like, and is none; a fence that nothing closes hides nothing.
func Conflict(b []byte) *Problem {
	if !bytes.Contains(b, marks[0]) {
		return nil
	}
	lines := slices.Collect(bytes.Lines(b))
	open := map[byte]int{} // the shortest run of each kind that nothing behind it closes
	for n := 0; n < len(lines); n++ {
		run := fenceOn(lines[n])
		if run != "" && (open[run[0]] == 0 || len(run) < open[run[0]]) {
			if end := fenceEnd(lines, n, run); end > 0 {
				n = end
				continue
			}
			open[run[0]] = len(run)
		}
		if bytes.HasPrefix(lines[n], marks[0]) {
			if !conflicts(lines[n:]) {
				return nil // nor does one that begins behind it
			}
			return bad(n+1, codeConflict, "two versions that git could not merge", "keep what is right of each, delete the lines that begin <<<<<<<, ======= and >>>>>>>, then git add and git commit")
		}
	}
	return nil
}

// conflicts reports the other two marks behind a first one.
func conflicts(lines [][]byte) bool {
	next := 0
	for _, l := range lines {
		if bytes.HasPrefix(l, marks[next]) {
			if next++; next == len(marks) {
				return true
			}
		}
	}
	return false
}

// fenceEnd is the line that closes the fence which a run opens on line n, 0 where
// nothing does.
func fenceEnd(lines [][]byte, n int, open string) int {
	for end := n + 1; end < len(lines); end++ {
		run := fenceOn(lines[end])
		if len(run) >= len(open) && run[0] == open[0] && len(bytes.Trim(lines[end], " \r\n"+run[:1])) == 0 {
			return end
		}
	}
	return 0
}

// fenceOn is the run that makes a line a fence: three spaces may stand before it.
func fenceOn(line []byte) string {
	text := bytes.TrimLeft(line, " ")
	if len(line)-len(text) > 3 {
		return ""
	}
	return fenceRun(string(text))
}

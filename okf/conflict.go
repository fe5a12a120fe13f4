package okf

import "bytes"

// Conflict finds what git leaves in a file that it could not merge: the lines
// "<<<<<<< ", "=======" and ">>>>>>> " in this order. The problem stands at the
// first of them; nil where they are not there.
func Conflict(b []byte) *Problem {
	line, next := 0, 0
	marks := [][]byte{[]byte("<<<<<<< "), []byte("======="), []byte(">>>>>>> ")}
	if !bytes.Contains(b, marks[0]) {
		return nil
	}
	n := 0
	for l := range bytes.Lines(b) {
		n++
		if !bytes.HasPrefix(l, marks[next]) {
			continue
		}
		if next == 0 {
			line = n
		}
		if next++; next == len(marks) {
			return bad(line, codeFrontmatter, "two versions that git could not merge", "keep what is right of each, delete the lines that begin <<<<<<<, ======= and >>>>>>>, then git add and git commit")
		}
	}
	return nil
}

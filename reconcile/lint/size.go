package lint

import (
	"bytes"
	"cmp"
	"fmt"
	"unicode/utf8"

	"github.com/odd-cli/odd/reconcile/policy"
)

// Limits bound what one change may be, so that a person can still read it. Zero
// is the default.
type Limits struct {
	Files      int // of a change; 50
	FileBytes  int // of one file as the change leaves it; 512 KiB
	TotalBytes int // of all files of a change; 2 MiB
	LineBytes  int // of a line the change writes; 4 KiB
}

// Filled is l with its defaults.
func (l Limits) Filled() Limits {
	return Limits{
		Files: cmp.Or(l.Files, 50), FileBytes: cmp.Or(l.FileBytes, 512<<10),
		TotalBytes: cmp.Or(l.TotalBytes, 2<<20), LineBytes: cmp.Or(l.LineBytes, 4<<10),
	}
}

// checkSize refuses a change that is too large to be read, and files that are not
// text: bytes that nobody can read, nobody can approve. A file that only goes
// away, or was beyond a bound before and has not grown, is no finding.
func checkSize(files []File, l Limits) []policy.Finding {
	l = l.Filled()
	var out []policy.Finding
	bad := func(code, path string, line int, format string, args ...any) {
		out = append(out, newFinding(code, policy.ByBytes, path, line, fmt.Sprintf(format, args...)))
	}
	if len(files) > l.Files {
		bad("size_files", "", 0, "the change writes %d files, more than the allowed %d", len(files), l.Files)
	}
	total := 0
	for _, f := range files {
		total += len(f.After)
		if len(f.After) > l.FileBytes && len(f.After) > len(f.Before) {
			bad("size_file", f.Path, 0, "has %d bytes, more than the allowed %d", len(f.After), l.FileBytes)
		}
		if line, ok := longLine(f, l.LineBytes); ok {
			bad("size_line", f.Path, line, "has a line of more than %d bytes", l.LineBytes)
		}
		if line, what := findUnreadable(f.After); what != "" {
			if _, was := findUnreadable(f.Before); was != what {
				bad("size_binary", f.Path, line, "is not a text file: it has %s", what)
			}
		}
	}
	if total > l.TotalBytes {
		bad("size_total", "", 0, "the change writes %d bytes, more than the allowed %d", total, l.TotalBytes)
	}
	return out
}

// longLine returns the first line over the limit that the file did not have.
func longLine(f File, limit int) (int, bool) {
	had := map[string]bool{}
	for _, l := range bytes.Split(f.Before, []byte("\n")) {
		if len(l) > limit {
			had[string(l)] = true
		}
	}
	for i, l := range bytes.Split(f.After, []byte("\n")) {
		if len(l) > limit && !had[string(l)] {
			return i + 1, true
		}
	}
	return 0, false
}

// findUnreadable returns the first thing in b that text does not hold, "" if it is
// all text: a byte that is not UTF-8, or a control character other than those of
// a line, which a terminal would obey.
func findUnreadable(b []byte) (line int, what string) {
	line = 1
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			return line, "bytes that are not UTF-8"
		case r == '\n':
			line++
		case r < ' ' && r != '\t' && r != '\r' && r != '\f' || r == 0x7f || r >= 0x80 && r < 0xa0:
			return line, "control characters"
		case r == 0xFEFF && i > 0:
			return line, "a byte order mark in the middle"
		}
		i += n
	}
	return 0, ""
}

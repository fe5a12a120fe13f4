package console

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// DiffText returns a diff as stdout takes it: as it is in a pipe, where it is data. On a
// terminal it has git's colours and short names of blobs, and every character of it that nobody can see, or that
// the terminal would obey, stands as a name: an agent wrote it.
func DiffText(env Env, diff string) string {
	if !env.Terminal {
		return diff
	}
	diff = fullIndex.ReplaceAllString(NameHidden(diff), "index $1..$2$3")
	if !env.hasColor() {
		return diff
	}
	var b strings.Builder
	head, hunk := false, false
	for line := range strings.Lines(diff) {
		text := strings.TrimSuffix(line, "\n")
		code := ""
		switch {
		case strings.HasPrefix(text, "@@ "):
			head, hunk = false, true
			lines, rest, _ := strings.Cut(text[3:], " @@")
			b.WriteString("\x1b[36m@@ " + lines + " @@\x1b[m" + rest + "\n")
			continue
		case head, strings.HasPrefix(text, "diff "):
			head, hunk, code = true, false, "1"
		case !hunk: // beside a diff
		case strings.HasPrefix(text, "+"):
			code = "32"
		case strings.HasPrefix(text, "-"):
			code = "31"
		}
		if code == "" || text == "" {
			b.WriteString(line)
			continue
		}
		b.WriteString("\x1b[" + code + "m" + text + "\x1b[m\n")
	}
	return b.String()
}

// fullIndex is the line of a diff's head that names the blobs.
var fullIndex = regexp.MustCompile(`(?m)^index ([0-9a-f]{10})[0-9a-f]{30,54}\.\.([0-9a-f]{10})[0-9a-f]{30,54}( \d+)?$`)

// NameHidden returns s with a name for every hidden character: ^[ for escape, <U+202E> for an override.
func NameHidden(s string) string {
	s = okf.Legible(s)
	if okf.Visible(s) == s {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case okf.Visible(string(r)) != "":
			b.WriteRune(r)
		case r < ' ':
			b.WriteString("^" + string('@'+r))
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

package pipeline

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// hunkHead is the line above a hunk.
var hunkHead = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(?: .*)?$`)
})

// patch is a unified diff being applied to the lines of one file.
type patch struct {
	old   []string // with their line ends
	done  int      // lines of old that are behind
	out   []string
	lines []string // of the diff
	n     int      // the next of them
}

// applyDiff applies a unified diff of one file. Every context line and every
// removed line is compared byte by byte at the place its hunk names; nothing is
// searched for. A nil result is a deleted file.
func applyDiff(path string, before []byte, diff string) ([]byte, *Fault) {
	p := &patch{old: slices.Collect(strings.Lines(string(before))), lines: strings.Split(strings.TrimSuffix(diff, "\n"), "\n")}
	gone, f := p.readHeaders(path, before == nil)
	if f != nil {
		return nil, f
	}
	hunks := 0
	for ; p.n < len(p.lines); hunks++ {
		if f := p.applyHunk(); f != nil {
			return nil, f
		}
	}
	if hunks == 0 {
		return nil, p.makeFault("diff_empty", "has no hunk", "write hunks that begin with @@ -a,b +c,d @@")
	}
	all := append(p.out, p.old[p.done:]...)
	for i, l := range all {
		if i+1 < len(all) && !strings.HasSuffix(l, "\n") {
			return nil, p.makeFault("diff_hunk", "a line in the middle of the file has no newline", "mark only the last line with \\ No newline at end of file")
		}
	}
	after := []byte(strings.Join(all, ""))
	if gone && len(after) > 0 {
		return nil, p.makeFault("diff_header", "deletes the file but keeps lines of it", "remove every line, or name the file behind +++")
	}
	if gone {
		return nil, nil
	}
	return append([]byte{}, after...), nil
}

func (p *patch) makeFault(code, text, fix string) *Fault {
	return &Fault{code, fmt.Sprintf("diff line %d", min(p.n+1, len(p.lines))), text, fix}
}

// readHeaders reads the lines above the first hunk, which must be about this file.
func (p *patch) readHeaders(path string, fresh bool) (gone bool, f *Fault) {
	for ; p.n < len(p.lines) && !strings.HasPrefix(p.lines[p.n], "@@"); p.n++ {
		l := p.lines[p.n]
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(l, "--- "), "+++ "), "\t")
		switch {
		case l == "--- /dev/null" && fresh:
		case l == "+++ /dev/null" && !fresh:
			gone = true
		case strings.HasPrefix(l, "--- ") && (name == path || name == "a/"+path), strings.HasPrefix(l, "+++ ") && (name == path || name == "b/"+path):
		case strings.HasPrefix(l, "diff --git ") && l == "diff --git a/"+path+" b/"+path, strings.HasPrefix(l, "index "):
		default:
			return gone, p.makeFault("diff_header", fmt.Sprintf("%q is not a header line of a diff of %q", beginningOf(l), path), "write --- a/PATH and +++ b/PATH of this one file")
		}
	}
	return gone, nil
}

func beginningOf(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}

func (p *patch) applyHunk() *Fault {
	m := hunkHead().FindStringSubmatch(p.lines[p.n])
	if m == nil {
		return p.makeFault("diff_hunk", fmt.Sprintf("%q does not begin a hunk", beginningOf(p.lines[p.n])), "begin hunks with @@ -a,b +c,d @@, and lines of them with a space, + or -")
	}
	from, olds, to, news := parseCount(m[1], 0), parseCount(m[2], 1), parseCount(m[3], 0), parseCount(m[4], 1)
	start := from - 1
	if olds == 0 {
		start = from // what is only added stands behind that line
	}
	if start < p.done || start+olds > len(p.old) {
		return p.makeFault("context_mismatch", fmt.Sprintf("the hunk changes the lines %d to %d, but the file has %d lines and the hunks before end at %d", from, from+olds-1, len(p.old), p.done), "make the diff again from the whole file, hunks in its order")
	}
	p.out = append(p.out, p.old[p.done:start]...)
	p.done = start
	at := len(p.out)
	if news == 0 {
		at--
	}
	if to-1 != at {
		return p.makeFault("diff_hunk", fmt.Sprintf("the hunk says that it starts at line %d, but it starts at %d", to, at+1), "count the lines of the hunks before it")
	}
	p.n++
	return p.applyHunkLines(olds, news)
}

// applyHunkLines applies the lines of one hunk, of which there are exactly so many.
func (p *patch) applyHunkLines(olds, news int) *Fault {
	for ; olds > 0 || news > 0; p.n++ {
		if p.n == len(p.lines) || p.lines[p.n] == "" {
			return p.makeFault("diff_hunk", fmt.Sprintf("the hunk is %d old and %d new lines too short; an empty line is written as one space", olds, news), "count its lines again")
		}
		kind, text := p.lines[p.n][0], p.lines[p.n][1:]
		if p.n+1 < len(p.lines) && strings.HasPrefix(p.lines[p.n+1], `\`) {
			p.n++
		} else {
			text += "\n"
		}
		if kind == ' ' || kind == '-' {
			if olds == 0 || p.old[p.done] != text {
				return p.describeMismatch(text, olds)
			}
			p.done++
			olds--
		}
		if kind == ' ' || kind == '+' {
			p.out = append(p.out, text)
			news--
		}
		if !strings.ContainsRune(" +-", rune(kind)) || news < 0 {
			return p.makeFault("diff_hunk", fmt.Sprintf("%q is not a line of a hunk", beginningOf(p.lines[p.n])), "begin lines with a space, + or -, as many as the hunk says")
		}
	}
	return nil
}

// describeMismatch says how a line differs from the file's.
func (p *patch) describeMismatch(text string, olds int) *Fault {
	if olds == 0 {
		return p.makeFault("diff_hunk", "the hunk has more old lines than it says", "count its lines again")
	}
	return p.makeFault("context_mismatch", fmt.Sprintf("line %d of the file is %q, the diff has %q", p.done+1, beginningOf(p.old[p.done]), beginningOf(text)), "make the diff again; context is compared byte by byte and never searched for")
}

func parseCount(s string, usual int) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return usual
	}
	return n
}

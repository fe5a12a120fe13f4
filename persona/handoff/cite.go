package handoff

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// citedPlace is a cited file and lines; 0 for no lines.
type citedPlace struct {
	path     string
	from, to int
}

var (
	located = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.+?):(\d+)(?:-(\d+))?$`) })
	isHex   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{7,40}$`) })
	hexes   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9a-f]{7,40})\.{2,3}([0-9a-f]{7,40})$`) })
	scheme  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://\S+$`) })
	uris    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s<>"')\]}]+`) })

	named = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("(?i)\\b(?:commits?|sha)[:\\s]+`?([0-9a-f]{7,40})\\b")
	})
	whole   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b[0-9a-f]{40}\b`) })
	ranges  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b([0-9a-f]{7,40})\.{2,3}([0-9a-f]{7,40})\b`) })
	object  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("(?i)\\b(?:blob|tree)s?[:\\s]+`?$") })
	inProse = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`[\pL\pN_.][\pL\pN_./@+-]*\.[A-Za-z][A-Za-z0-9]*:\d+(?:-\d+)?\b`)
	})
)

// placeOf parses "path:3-7".
func placeOf(s string) citedPlace {
	m := located().FindStringSubmatch(s)
	if m == nil {
		return citedPlace{path: s}
	}
	p := citedPlace{path: m[1]}
	p.from, p.to = parseNumber(m[2]), parseNumber(m[2])
	if m[3] != "" {
		p.to = parseNumber(m[3])
	}
	return p
}

// parseNumber parses digits; 0 for a number that does not fit an int.
func parseNumber(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// findCommits returns the commits that a text names: after the word commit or sha, as a
// range, or in full. A full id after the word blob or tree is no commit.
func findCommits(text string) []string {
	var out []string
	for _, m := range named().FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	for _, m := range ranges().FindAllStringSubmatch(text, -1) {
		out = append(out, m[1], m[2])
	}
	for _, at := range whole().FindAllStringIndex(text, -1) {
		if !object().MatchString(text[:at[0]]) {
			out = append(out, text[at[0]:at[1]])
		}
	}
	return out
}

// findPlaces returns the lines of files that a text names, such as "a/b.md:3", but no web
// addresses.
func findPlaces(text string) []string {
	return inProse().FindAllString(uris().ReplaceAllString(text, " "), -1)
}

// isReference reports whether s is one reference and not prose.
func isReference(s string) bool {
	return s != "" && !strings.ContainsAny(s, " \t\n") && (strings.ContainsAny(s, "/.:") || isHex().MatchString(s))
}

package journal

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// titleWords is how many words a title may have.
const titleWords = 12

// FitTitle returns a title as Lint wants it. The content then begins with a title that was longer.
func FitTitle(title, content string) (string, string) {
	words := splitWords(title)
	if len(words) <= titleWords {
		return title, content
	}
	return strings.Join(words[:titleWords], " ") + "…", title + ". " + content
}

// Lint is Parse with the conventions of journals. A wrong file name or header is an error. A title of more than
// twelve words is a warning, and so is a quality that is inconsistent or differs from the computed one. name is the
// file's path, of which the last part counts.
func (r Registry) Lint(name string, b []byte) ([]Problem, error) {
	entries, problems, err := r.Parse(b)
	if err != nil {
		return nil, err
	}
	if _, err := dateOf(name); err != nil {
		problems = append(problems, Problem{Line: 1, Message: err.Error()})
	}
	if all := splitRows(b); len(all) > 0 {
		if kind := shapeOf(b); kind != shapeA {
			problems = append(problems, Problem{Line: all[0].line, Message: "no header; odd reads the rows, and adds none to this file"})
		} else if got := strings.Join(all[0].cells, "\t") + "\n"; got != header {
			problems = append(problems, Problem{Line: all[0].line, Warning: true, Message: "the header is not spelled type, typeName, facet …"})
		}
	}
	for _, e := range entries {
		problems = append(problems, r.checkConventions(e)...)
	}
	slices.SortStableFunc(problems, func(a, b Problem) int { return a.Line - b.Line })
	return problems, nil
}

// fileNames matches YYYY-MM-DD-slug.tsv.
var fileNames = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})-[A-Za-z0-9._-]+\.tsv$`) })

// dateOf returns the date in a journal file's name. A name that is not YYYY-MM-DD-slug.tsv, or has an impossible
// date, is an error.
func dateOf(name string) (time.Time, error) {
	base := path.Base(name)
	m := fileNames().FindStringSubmatch(base)
	if m == nil {
		return time.Time{}, fmt.Errorf("file name %q; want YYYY-MM-DD-slug.tsv", base)
	}
	day, err := time.Parse(time.DateOnly, m[1])
	if err != nil {
		return time.Time{}, fmt.Errorf("file name %q: there is no %s", base, m[1])
	}
	return day, nil
}

func (r Registry) checkConventions(e Entry) []Problem {
	var out []Problem
	warn := func(format string, args ...any) {
		out = append(out, Problem{Line: e.Line, Warning: true, Message: fmt.Sprintf(format, args...)})
	}
	if n := len(splitWords(e.Title)); n > titleWords {
		warn("the title has %d words, want at most %d", n, titleWords)
	}
	if t, ok := r.find(e.Type, e.Facet); ok && slices.Contains(t.Fields, "priority") && e.Get("priority") == "" {
		warn("no priority; P1 is next")
	}
	score, errScore := strconv.Atoi(e.Score)
	most, errMost := strconv.Atoi(e.Max)
	if errScore != nil || errMost != nil || score > most || score < 0 {
		return out
	}
	if want := levelOf(score, most); e.Level != want {
		warn("quality %d of %d is %s, not %q", score, most, want, e.Level)
	}
	if q := r.Score(e); len(e.More) > 0 && q.Max > 0 && (q.Score != score || q.Max != most) {
		warn("quality %d of %d, and the row has %d of %d", score, most, q.Score, q.Max)
	}
	return out
}

// Check returns all reasons why odd would not write an entry, joined, or nil: a type that the registry does not
// have, a field of another type, an open question without a priority, and others.
func (r Registry) Check(e Entry) error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	t, ok := r.find(e.Type, e.Facet)
	if !ok || t.Facet != e.Facet {
		bad("unknown type %q; known are %s", Type{Letter: e.Type, Facet: e.Facet}.ID(), r.Letters())
	}
	own := t.Own()
	for _, f := range e.More {
		if ok && f.Name != closes && !slices.Contains(own, f.Name) {
			bad("%s has no %s; it has %s", t.Name, f.Name, cmp.Or(strings.Join(own, ", "), "no fields"))
		}
	}
	for _, name := range own {
		known, v := allowedValues()[name], e.Get(name)
		if known != nil && v != "" && !slices.Contains(known, v) {
			bad("%s %q; want %s", name, v, strings.Join(known, ", "))
		}
	}
	if p := e.Get("priority"); slices.Contains(own, "priority") && !priority().MatchString(p) {
		bad("%s needs a priority, like P1 or P2.1%s", t.Name, formatRejected(p))
	}
	if strings.TrimSpace(e.Title) == "" || strings.TrimSpace(e.Content) == "" {
		bad("the title or the content is empty")
	}
	return errors.Join(errs...)
}

func formatRejected(s string) string {
	if s == "" {
		return ""
	}
	return fmt.Sprintf(", and %q is none", s)
}

// allowedValues lists the values of fields that are not free text.
func allowedValues() map[string][]string {
	return map[string][]string{
		"verifiability": {"verified", "reported", "inferred"},
		"applicability": {"local", "general", "provisional"},
		"kind":          {"tradeoff", "contradiction", "drift"},
	}
}

// Misspelt refuses an entry that writes "DOLCHEO+H" or the like anywhere; nil if it does not.
func Misspelt(e Entry) error {
	if m := e.findMisspelt(); len(m) > 0 {
		return misspelling(strings.Join(m, "\n"))
	}
	return nil
}

type misspelling string

func (m misspelling) Error() string   { return string(m) }
func (m misspelling) Refused() string { return "misspelt" }

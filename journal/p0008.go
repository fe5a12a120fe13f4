package journal

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v4"
)

// Evidence tells whether a file stood in a commit, and how many lines it had.
// The error says what is not there, without the file's name.
type Evidence func(commit, file string) (lines int, err error)

// LintReview judges the ledger a fresh validator leaves of a review: a markdown document with the frontmatter keys
// reviewer, reviews and date, and these sections in this order, each once:
//
//	Decisions            the verdict, SAFE TO MERGE or NOT SAFE and nothing like it, and why
//	Observations closed  each with PASS or FAIL, and where that was seen: file:line
//	Learnings
//	Constraints          each "permanent" or a "v+1 revisit candidate"; silence is an error
//	Handoff
//	Opens                each with a number, so that others can name it
//
// A section may be empty or say "none"; one that is not there was forgotten. reviews names the commit that was read.
// Each place given as evidence is looked up in that commit through at; with at nil nothing is looked up.
func LintReview(doc []byte, at Evidence) []Problem {
	l := reviewLint{at: at, seen: map[string]lookedUp{}}
	body, first := l.frontmatter(string(doc))
	lines := mdLines(body, first)
	l.order(sections(lines))
	for _, ln := range mdLines(string(doc), 1) {
		if m := overspelt().FindString(ln.text); m != "" {
			l.bad(ln.n, "%q: the letter is in the name already; write %s", m, m[:strings.IndexByte(m, '+')])
		}
	}
	slices.SortStableFunc(l.problems, func(a, b Problem) int { return a.Line - b.Line })
	return l.problems
}

type reviewLint struct {
	at       Evidence
	commit   string
	seen     map[string]lookedUp
	problems []Problem
}

func (l *reviewLint) bad(line int, format string, args ...any) {
	l.problems = append(l.problems, Problem{Line: line, Message: fmt.Sprintf(format, args...)})
}

// commitID is an object id in a text: hexadecimal, and with a digit, so that no word is one.
var commitID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b[0-9a-f]{7,40}\b`) })

// frontmatter checks the block at the top, and returns the rest and its first line.
func (l *reviewLint) frontmatter(doc string) (body string, first int) {
	doc = strings.TrimPrefix(doc, string(bom))
	rest, ok := strings.CutPrefix(strings.ReplaceAll(doc, "\r\n", "\n"), "---\n")
	block, body, closed := strings.Cut(rest, "\n---\n")
	if !ok || !closed {
		l.bad(1, "no frontmatter; it names the reviewer, what it reviews, and the date")
		return doc, 1
	}
	keys, err := topKeys(block)
	if err != nil {
		l.bad(1, "the frontmatter is not YAML: %s", strings.ReplaceAll(err.Error(), "\n", " "))
		return body, 4 + strings.Count(block, "\n")
	}
	for _, key := range []string{"reviewer", "reviews", "date"} {
		if strings.TrimSpace(keys[key]) == "" {
			l.bad(1, "no %s in the frontmatter", key)
		}
	}
	if _, err := time.Parse(time.DateOnly, keys["date"]); err != nil && keys["date"] != "" {
		l.bad(1, "date %q; want YYYY-MM-DD", keys["date"])
	}
	reviews := keys["reviews"]
	for _, id := range commitID().FindAllString(reviews, -1) {
		if strings.ContainsAny(id, "0123456789") {
			l.commit = id
		}
	}
	if l.commit == "" && reviews != "" {
		l.bad(1, "reviews %q names no commit, so no evidence can be looked up; add its id", reviews)
	}
	return body, 4 + strings.Count(block, "\n")
}

// topKeys are the keys of a mapping whose values are one text each.
func topKeys(block string) (map[string]string, error) {
	var doc yaml.Node
	if err := yaml.Load([]byte(block), &doc); err != nil {
		return nil, err
	}
	keys := map[string]string{}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return keys, nil
	}
	all := doc.Content[0].Content
	for i := 0; i+1 < len(all); i += 2 {
		if v := all[i+1]; v.Kind == yaml.ScalarNode && v.Tag != "!!null" {
			keys[all[i].Value] = v.Value
		}
	}
	return keys, nil
}

// part is one section a review must have.
type part struct {
	name   string // as it is asked for
	prefix string // of the heading, in lower case
	check  func(*reviewLint, section)
}

func parts() []part {
	return []part{
		{"Decisions", "decision", (*reviewLint).verdict},
		{"Observations closed", "observation", (*reviewLint).observations},
		{"Learnings", "learning", nil},
		{"Constraints", "constraint", (*reviewLint).constraints},
		{"Handoff", "handoff", nil},
		{"Opens", "open", (*reviewLint).opens},
	}
}

// order finds the sections, checks each, and that they stand in order.
func (l *reviewLint) order(all []section) {
	last, before := 0, ""
	for _, want := range parts() {
		found := slices.DeleteFunc(slices.Clone(all), func(s section) bool {
			return s.level > 3 || !strings.HasPrefix(strings.ToLower(strings.Trim(s.title, "*_ ")), want.prefix)
		})
		if len(found) == 0 {
			l.bad(1, "no section %s; write it and say none, if there are none", want.name)
			continue
		}
		s := found[0]
		for _, again := range found[1:] {
			if again.level <= s.level {
				l.bad(again.line, "a second section %s; the first is on line %d", want.name, s.line)
			}
		}
		if s.line < last {
			l.bad(s.line, "%s stands before %s; the order is Decisions, Observations closed, Learnings, Constraints, Handoff, Opens", want.name, before)
		} else {
			last, before = s.line, want.name
		}
		if want.check != nil {
			want.check(l, s)
		}
	}
}

// A verdict is in capitals; anyVerdict is what was meant for one where none is.
var (
	verdicts = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(?:NOT SAFE(?: TO MERGE)?|(?:UN)?SAFE TO MERGE)\b`)
	})
	anyVerdict = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:not safe(?: to merge)?|(?:un)?safe to merge)\b`)
	})
)

// verdict asks for one of the two verdicts, in these letters, and a reason.
func (l *reviewLint) verdict(s section) {
	text := flat(s.lines)
	said := map[string]bool{}
	for _, v := range verdicts().FindAllString(text, -1) {
		said[v] = true
	}
	if v := anyVerdict().FindString(text); len(said) == 0 && v != "" {
		said[v] = true
	}
	if len(said) != 1 || !said["SAFE TO MERGE"] && !said["NOT SAFE"] {
		l.bad(s.line, "the verdict is exactly SAFE TO MERGE or NOT SAFE, and only one of them%s", quoteKeys(said))
	}
	why := 0
	for _, w := range words(verdicts().ReplaceAllString(text, "")) {
		if strings.ContainsFunc(w, func(r rune) bool { return r >= 'a' && r <= 'z' }) {
			why++
		}
	}
	if why < 5 {
		l.bad(s.line, "the verdict has no reason; say why in a sentence")
	}
}

func quoteKeys(m map[string]bool) string {
	if len(m) == 0 {
		return ", not nothing"
	}
	var out []string
	for k := range m {
		out = append(out, strconv.Quote(k))
	}
	slices.Sort(out)
	return ", not " + strings.Join(out, " and ")
}

var outcome = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(?:PASS|FAIL)\b`) })

func (l *reviewLint) observations(s section) {
	items := itemsOf(s.lines)
	if len(items) == 0 {
		l.bad(s.line, "no observation; every item that was checked is one")
	}
	for _, it := range items {
		text := flat(it)
		said := outcome().FindAllString(it[0].text, -1)
		if len(said) == 0 {
			said = outcome().FindAllString(text, -1)
		}
		slices.Sort(said)
		if len(slices.Compact(said)) != 1 {
			l.bad(it[0].n, "an observation says PASS or FAIL, and one of them only")
		}
		l.evidence(it)
	}
}

// The two ways places are written: docs/a.md:12-14, and `docs/a.md` lines 12–14.
var (
	placeColon = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`([A-Za-z0-9_./-]*[A-Za-z0-9_-]\.?[A-Za-z0-9_]+):([0-9]{1,7})(?:[-–]([0-9]{1,7}))?\b`)
	})
	placeLines = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("`([^`\\s]+)`,? lines? ([0-9]{1,7})(?: ?[-–] ?([0-9]{1,7}))?")
	})
)

// evidence asks for at least one place, and looks all of them up.
func (l *reviewLint) evidence(it []mdLine) {
	places := 0
	for _, ln := range it {
		for _, re := range []*regexp.Regexp{placeColon(), placeLines()} {
			for _, m := range re.FindAllStringSubmatch(ln.text, -1) {
				if !strings.ContainsAny(m[1], "./") && !l.wasThere(m[1]) {
					continue // 10:30 and note:2 are no files, Makefile:2 may be one
				}
				places++
				to, _ := strconv.Atoi(m[2])
				if end, err := strconv.Atoi(m[3]); err == nil {
					to = max(to, end)
				}
				l.lookUp(ln.n, m[1], to)
			}
		}
	}
	if places == 0 {
		l.bad(it[0].n, "an observation without evidence; name the place, as file:line")
	}
}

func (l *reviewLint) lookUp(line int, file string, to int) {
	if l.at == nil || l.commit == "" {
		return
	}
	switch f := l.file(file); {
	case f.err != nil:
		l.bad(line, "evidence %s: %v", file, f.err)
	case to < 1 || to > f.lines:
		l.bad(line, "evidence %s:%d: the file has %d lines in %s", file, to, f.lines, l.commit)
	}
}

// wasThere reports whether a file was in the commit.
func (l *reviewLint) wasThere(file string) bool {
	return l.at != nil && l.commit != "" && l.file(file).err == nil
}

// lookedUp is what was found of a file in the commit.
type lookedUp struct {
	lines int
	err   error
}

// file looks a file up once.
func (l *reviewLint) file(name string) lookedUp {
	f, known := l.seen[name]
	if !known {
		f.lines, f.err = l.at(l.commit, name)
		l.seen[name] = f
	}
	return f
}

var horizon = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\bpermanent\b|\bv\+1 revisit candidate\b`) })

func (l *reviewLint) constraints(s section) {
	for _, it := range itemsOf(s.lines) {
		said := map[string]bool{}
		for _, w := range horizon().FindAllString(flat(it), -1) {
			said[strings.ToLower(w)] = true
		}
		if len(said) != 1 {
			l.bad(it[0].n, `a constraint is "permanent" or a "v+1 revisit candidate", and says which`)
		}
	}
}

// number is how an open question begins: 1. or #1: or NIT-1:
var number = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^#?([A-Za-z]+-?)?([0-9]+)\s*[.):—–-]`) })

func (l *reviewLint) opens(s section) {
	first := map[string]int{}
	for _, it := range itemsOf(s.lines) {
		m := number().FindStringSubmatch(label(it[0].text))
		if m == nil {
			l.bad(it[0].n, "an open question without a number; others must be able to name it")
			continue
		}
		id := strings.ToUpper(m[1] + m[2])
		if other, twice := first[id]; twice {
			l.bad(it[0].n, "number %s is taken by line %d", id, other)
			continue
		}
		first[id] = it[0].n
	}
}

// tag is the type in front of an item, as in **[O-open P1] …
var tag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\[[^\]]*\]\s*`) })

// label is the first line of an item without the markup in front of it. A
// number of a list stays: it is the item's.
func label(text string) string {
	text = strings.TrimLeft(text, "#>*-+_ \t")
	if strings.HasPrefix(strings.TrimSpace(text), "[") {
		text = strings.TrimLeft(tag().ReplaceAllString(strings.TrimSpace(text), ""), "*_ ")
	}
	return text
}

// flat is the text of some lines without code blocks and emphasis, in one line.
func flat(lines []mdLine) string {
	var b strings.Builder
	for _, l := range lines {
		if !l.code {
			b.WriteString(strings.NewReplacer("*", "", "_", " ").Replace(l.text) + " ")
		}
	}
	return b.String()
}

// The ways the items of a section begin.
var (
	startHeading   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^#{3,6} `) })
	startBold      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\*\*`) })
	startItem      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[-*+]|\d{1,4}[.)]) `) })
	startParagraph = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\S`) })
)

var nothing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:[-*] *)?[_*(]*(?:none|nothing|n/a|-|–|—)\b?[^a-z]*$`)
})

// itemsOf splits a section into its items: the sub-headings it has, or the bold
// beginnings of paragraphs, or list items, or paragraphs. "None." is no item.
func itemsOf(lines []mdLine) [][]mdLine {
	var kept []mdLine
	for _, l := range lines {
		if t := strings.TrimSpace(l.text); t != "---" && !(nothing().MatchString(t) && !l.code) {
			kept = append(kept, l)
		}
	}
	for _, re := range []*regexp.Regexp{startHeading(), startBold(), startItem(), startParagraph()} {
		var out [][]mdLine
		blank := true
		for _, l := range kept {
			switch {
			case !l.code && re.MatchString(l.text) && (re != startParagraph() || blank):
				out = append(out, []mdLine{l})
			case len(out) > 0:
				out[len(out)-1] = append(out[len(out)-1], l)
			}
			blank = strings.TrimSpace(l.text) == ""
		}
		if out != nil {
			return out
		}
	}
	return nil
}

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

// Evidence returns how many lines a file had in a commit. The error says what is missing, without the file's name.
type Evidence func(commit, file string) (lines int, err error)

// LintReview checks the ledger of a review by an independent validator. It is a markdown document with the
// frontmatter keys reviewer, reviews and date, and these sections, once each and in this order:
//
//	Decisions            exactly SAFE TO MERGE or NOT SAFE, and why
//	Observations closed  each with PASS or FAIL, and its evidence: file:line
//	Learnings
//	Constraints          each "permanent" or a "v+1 revisit candidate"
//	Handoff
//	Opens                each with a number, so that others can name it
//
// A section may be empty or say "none", but must be there. reviews names the commit that was read. Each place given
// as evidence is looked up in that commit through at; if at is nil, nothing is looked up.
func LintReview(doc []byte, at Evidence) []Problem {
	l := reviewLint{at: at, seen: map[string]lookupResult{}}
	body, first := l.checkFrontmatter(string(doc))
	lines := splitLines(body, first)
	l.checkSections(splitSections(lines))
	for _, ln := range splitLines(string(doc), 1) {
		if m := misspeltSet().FindString(ln.text); m != "" {
			l.addProblem(ln.n, "%q: the letter is in the name already; write %s", m, m[:strings.IndexByte(m, '+')])
		}
	}
	slices.SortStableFunc(l.problems, func(a, b Problem) int { return a.Line - b.Line })
	return l.problems
}

type reviewLint struct {
	at       Evidence
	commit   string
	seen     map[string]lookupResult
	problems []Problem
}

func (l *reviewLint) addProblem(line int, format string, args ...any) {
	l.problems = append(l.problems, Problem{Line: line, Message: fmt.Sprintf(format, args...)})
}

// commitID matches a hexadecimal object id in a text; one without a digit is taken for a word.
var commitID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b[0-9a-f]{7,40}\b`) })

// checkFrontmatter checks the block at the top, and returns the rest and its first line.
func (l *reviewLint) checkFrontmatter(doc string) (body string, first int) {
	doc = strings.TrimPrefix(doc, string(bom))
	rest, ok := strings.CutPrefix(strings.ReplaceAll(doc, "\r\n", "\n"), "---\n")
	block, body, closed := strings.Cut(rest, "\n---\n")
	if !ok || !closed {
		l.addProblem(1, "no frontmatter; it names the reviewer, what it reviews, and the date")
		return doc, 1
	}
	keys, err := readTopKeys(block)
	if err != nil {
		l.addProblem(1, "the frontmatter is not YAML: %s", strings.ReplaceAll(err.Error(), "\n", " "))
		return body, 4 + strings.Count(block, "\n")
	}
	for _, key := range []string{"reviewer", "reviews", "date"} {
		if strings.TrimSpace(keys[key]) == "" {
			l.addProblem(1, "no %s in the frontmatter", key)
		}
	}
	if _, err := time.Parse(time.DateOnly, keys["date"]); err != nil && keys["date"] != "" {
		l.addProblem(1, "date %q; want YYYY-MM-DD", keys["date"])
	}
	reviews := keys["reviews"]
	for _, id := range commitID().FindAllString(reviews, -1) {
		if strings.ContainsAny(id, "0123456789") {
			l.commit = id
		}
	}
	if l.commit == "" && reviews != "" {
		l.addProblem(1, "reviews %q names no commit, so no evidence can be looked up; add its id", reviews)
	}
	return body, 4 + strings.Count(block, "\n")
}

// readTopKeys returns the keys of a mapping that have a single text as value.
func readTopKeys(block string) (map[string]string, error) {
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

// requiredSection is a section that a review must have.
type requiredSection struct {
	name   string // in messages
	prefix string // of the heading, in lower case
	check  func(*reviewLint, section)
}

func requiredSections() []requiredSection {
	return []requiredSection{
		{"Decisions", "decision", (*reviewLint).checkVerdict},
		{"Observations closed", "observation", (*reviewLint).checkObservations},
		{"Learnings", "learning", nil},
		{"Constraints", "constraint", (*reviewLint).checkConstraints},
		{"Handoff", "handoff", nil},
		{"Opens", "open", (*reviewLint).checkOpens},
	}
}

// checkSections finds the sections and checks each of them and their order.
func (l *reviewLint) checkSections(all []section) {
	last, before := 0, ""
	for _, want := range requiredSections() {
		found := slices.DeleteFunc(slices.Clone(all), func(s section) bool {
			return s.level > 3 || !strings.HasPrefix(strings.ToLower(strings.Trim(s.title, "*_ ")), want.prefix)
		})
		if len(found) == 0 {
			l.addProblem(1, "no section %s; write it and say none, if there are none", want.name)
			continue
		}
		s := found[0]
		for _, again := range found[1:] {
			if again.level <= s.level {
				l.addProblem(again.line, "a second section %s; the first is on line %d", want.name, s.line)
			}
		}
		if s.line < last {
			l.addProblem(s.line, "%s stands before %s; the order is Decisions, Observations closed, Learnings, Constraints, Handoff, Opens", want.name, before)
		} else {
			last, before = s.line, want.name
		}
		if want.check != nil {
			want.check(l, s)
		}
	}
}

// A verdict is in capitals; anyVerdict finds one in another spelling, for the message.
var (
	verdicts = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(?:NOT SAFE(?: TO MERGE)?|(?:UN)?SAFE TO MERGE)\b`)
	})
	anyVerdict = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:not safe(?: to merge)?|(?:un)?safe to merge)\b`)
	})
)

// checkVerdict requires exactly one of the two verdicts, in these letters, and a reason.
func (l *reviewLint) checkVerdict(s section) {
	text := flattenText(s.lines)
	said := map[string]bool{}
	for _, v := range verdicts().FindAllString(text, -1) {
		said[v] = true
	}
	if v := anyVerdict().FindString(text); len(said) == 0 && v != "" {
		said[v] = true
	}
	if len(said) != 1 || !said["SAFE TO MERGE"] && !said["NOT SAFE"] {
		l.addProblem(s.line, "the verdict is exactly SAFE TO MERGE or NOT SAFE, and only one of them%s", quoteKeys(said))
	}
	why := 0
	for _, w := range splitWords(verdicts().ReplaceAllString(text, "")) {
		if strings.ContainsFunc(w, func(r rune) bool { return r >= 'a' && r <= 'z' }) {
			why++
		}
	}
	if why < 5 {
		l.addProblem(s.line, "the verdict has no reason; say why in a sentence")
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

var passOrFail = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(?:PASS|FAIL)\b`) })

func (l *reviewLint) checkObservations(s section) {
	items := splitItems(s.lines)
	if len(items) == 0 {
		l.addProblem(s.line, "no observation; every item that was checked is one")
	}
	for _, it := range items {
		text := flattenText(it)
		said := passOrFail().FindAllString(it[0].text, -1)
		if len(said) == 0 {
			said = passOrFail().FindAllString(text, -1)
		}
		slices.Sort(said)
		if len(slices.Compact(said)) != 1 {
			l.addProblem(it[0].n, "an observation says PASS or FAIL, and one of them only")
		}
		l.checkEvidence(it)
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

// checkEvidence requires at least one place, and checks all of them.
func (l *reviewLint) checkEvidence(it []mdLine) {
	places := 0
	for _, ln := range it {
		for _, re := range []*regexp.Regexp{placeColon(), placeLines()} {
			for _, m := range re.FindAllStringSubmatch(ln.text, -1) {
				if !strings.ContainsAny(m[1], "./") && !l.fileExists(m[1]) {
					continue // 10:30 and note:2 are not files, Makefile:2 may be one
				}
				places++
				to, _ := strconv.Atoi(m[2])
				if end, err := strconv.Atoi(m[3]); err == nil {
					to = max(to, end)
				}
				l.checkPlace(ln.n, m[1], to)
			}
		}
	}
	if places == 0 {
		l.addProblem(it[0].n, "an observation without evidence; name the place, as file:line")
	}
}

func (l *reviewLint) checkPlace(line int, file string, to int) {
	if l.at == nil || l.commit == "" {
		return
	}
	switch f := l.lookUp(file); {
	case f.err != nil:
		l.addProblem(line, "evidence %s: %v", file, f.err)
	case to < 1 || to > f.lines:
		l.addProblem(line, "evidence %s:%d: the file has %d lines in %s", file, to, f.lines, l.commit)
	}
}

// fileExists reports whether a file was in the commit.
func (l *reviewLint) fileExists(file string) bool {
	return l.at != nil && l.commit != "" && l.lookUp(file).err == nil
}

// lookupResult is a file's line count in the commit, or why it has none.
type lookupResult struct {
	lines int
	err   error
}

// lookUp looks up each file once.
func (l *reviewLint) lookUp(name string) lookupResult {
	f, known := l.seen[name]
	if !known {
		f.lines, f.err = l.at(l.commit, name)
		l.seen[name] = f
	}
	return f
}

var constraintTerm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\bpermanent\b|\bv\+1 revisit candidate\b`) })

func (l *reviewLint) checkConstraints(s section) {
	for _, it := range splitItems(s.lines) {
		said := map[string]bool{}
		for _, w := range constraintTerm().FindAllString(flattenText(it), -1) {
			said[strings.ToLower(w)] = true
		}
		if len(said) != 1 {
			l.addProblem(it[0].n, `a constraint is "permanent" or a "v+1 revisit candidate", and says which`)
		}
	}
}

// openNumber matches how an open question begins: 1. or #1: or NIT-1:
var openNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^#?([A-Za-z]+-?)?([0-9]+)\s*[.):—–-]`) })

func (l *reviewLint) checkOpens(s section) {
	first := map[string]int{}
	for _, it := range splitItems(s.lines) {
		m := openNumber().FindStringSubmatch(itemLabel(it[0].text))
		if m == nil {
			l.addProblem(it[0].n, "an open question without a number; others must be able to name it")
			continue
		}
		id := strings.ToUpper(m[1] + m[2])
		if other, twice := first[id]; twice {
			l.addProblem(it[0].n, "number %s is taken by line %d", id, other)
			continue
		}
		first[id] = it[0].n
	}
}

// typePrefix matches the type in front of an item, as in **[O-open P1] …
var typePrefix = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\[[^\]]*\]\s*`) })

// itemLabel returns the first line of an item without the markup in front of it. It keeps the number of a list
// item.
func itemLabel(text string) string {
	text = strings.TrimLeft(text, "#>*-+_ \t")
	if strings.HasPrefix(strings.TrimSpace(text), "[") {
		text = strings.TrimLeft(typePrefix().ReplaceAllString(strings.TrimSpace(text), ""), "*_ ")
	}
	return text
}

// flattenText returns the text of some lines without code blocks and emphasis, in one line.
func flattenText(lines []mdLine) string {
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

var emptyItem = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:[-*] *)?[_*(]*(?:none|nothing|n/a|-|–|—)\b?[^a-z]*$`)
})

// splitItems splits a section into its items: its sub-headings, else paragraphs with a bold beginning, else list
// items, else paragraphs. "None." is not an item.
func splitItems(lines []mdLine) [][]mdLine {
	var kept []mdLine
	for _, l := range lines {
		if t := strings.TrimSpace(l.text); t != "---" && !(emptyItem().MatchString(t) && !l.code) {
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

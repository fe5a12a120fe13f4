package irongate

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// comparison holds what the tests of a change assert before and after it.
type comparison struct {
	was, now *suite
	twins    map[string]string          // what a test has become, by the key of what it was
	removed  map[string]map[string]bool // the names that the code of each folder declares no more, and of "" that no code does
	coded    bool                       // code outside of tests is changed too
}

var (
	tokens = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("[A-Za-z_]\\w*|\"(?:[^\"\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\n]|\\\\.)*'|`[^`]*`|\\d[\\w.]*")
	})
	qualified   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\w+\.[A-Z]\w*$`) })
	declaration = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:\s*(?:export\s+|async\s+|pub\s+|default\s+)*(?:def|class|function|fn)|func(?:\s*\([^)]*\))?|(?:export\s+)?(?:type|const|var|let))\s+(\w+)`)
	})
	exact = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`==|Eq|eq\(|Diff|InDelta|Is\(|As\(|toBe\(|toStrict|toMatchObject`)
	})
	empty = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:nil|true|false|0|"") == | == (?:nil|true|false|0|""|None|True|False|null)$`)
	})
)

// rank is how much a check says: 3 that something has one value, 1 that it has not,
// 2 for all else, as that there is no error.
func rank(c condition) int {
	switch {
	case c.negated && !strings.Contains(c.text, " || "):
		return 1
	case exact().MatchString(c.text) && !empty().MatchString(c.text):
		return 3
	}
	return 2
}

// common are words that say nothing of what a test is about.
var common = strings.Fields(`t b tb ts nil true false None True False null self this assert require expect if is in not and or return string int byte len`)

// wordsOf are the names in a text, without those in its strings.
func wordsOf(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range tokens().FindAllString(text, -1) {
		if !literalToken(w) && !slices.Contains(common, w) {
			out[w] = true
		}
	}
	return out
}

func literalToken(w string) bool { return strings.ContainsRune("\"'`0123456789", rune(w[0])) }

// valuesOf are the strings and numbers in a text, however they are written.
func valuesOf(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range tokens().FindAllString(text, -1) {
		if literalToken(w) {
			if s, err := strconv.Unquote(w); err == nil {
				w = s
			}
			out[strings.Trim(w, "'")] = true
		}
	}
	return out
}

// maxTwins is how many new tests may be what others were; more are too many to read.
const maxTwins = 500

// twins finds what each test and each function that asserts has become: that of
// the same name, or a new one that has most of its words.
func (s *suite) twins(now *suite) map[string]string {
	var come []string
	for key := range now.tests {
		if _, old := s.tests[key]; !old {
			come = append(come, key)
		}
	}
	slices.Sort(come)
	come = come[:min(len(come), maxTwins)]
	out := map[string]string{}
	for key, old := range s.tests {
		if _, still := now.tests[key]; still {
			out[key] = key
			continue
		}
		best := 0
		for _, k := range come {
			t := now.tests[k]
			if t.test != old.test || t.whole != old.whole {
				continue
			}
			all, lost := 0, 0
			for _, n := range old.tokens {
				all += n
			}
			for _, n := range old.tokens.lost(t.tokens) {
				lost += n
			}
			share, need := (all-lost)*100/max(all, 1), 50
			if t.name != old.name && path.Dir(t.path) != path.Dir(old.path) {
				need = 80
			}
			if share += btoi(t.name == old.name); share >= need && share > best {
				out[key], best = k, share
			}
		}
	}
	return out
}

// removed are the names that the code of each folder declared and does not have
// any more, its tests aside; those of "" are gone from all of them. A declaration
// that goes on under another name is not removed.
func (c *change) removed() map[string]map[string]bool {
	type folder struct {
		was, now map[string]string // its declarations, without their names
		words    map[string]bool   // all that it has after the change
	}
	all := map[string]folder{}
	for _, d := range slices.Concat(c.deltas, c.beside) {
		if d.test || slices.Contains(proseExts(), d.ext) {
			continue
		}
		for _, dir := range []string{d.dir, ""} {
			if all[dir].was == nil {
				all[dir] = folder{map[string]string{}, map[string]string{}, map[string]bool{}}
			}
			declarations(d.was, all[dir].was)
			declarations(d.now, all[dir].now)
			maps.Copy(all[dir].words, wordsOf(string(d.now.src)))
		}
	}
	out := map[string]map[string]bool{}
	for dir, f := range all {
		come := map[string]bool{}
		for w, rest := range f.now {
			come[rest] = come[rest] || f.was[w] == ""
		}
		out[dir] = map[string]bool{}
		for w, rest := range f.was {
			out[dir][w] = !f.words[w] && !come[rest]
		}
	}
	return out
}

// declarations adds the names that the lines of a side declare, each with its line
// less the name.
func declarations(s side, to map[string]string) {
	for _, l := range s.lines() {
		if m := declaration().FindStringSubmatch(l); m != nil {
			to[m[1]] = strings.Replace(l, m[1], "", 1)
		}
	}
}

// coded reports whether the change touches more than tests, prose and comments.
func (c *change) coded() bool {
	return slices.ContainsFunc(c.deltas, func(d *delta) bool {
		return !d.test && !slices.Contains(proseExts(), d.ext) && !slices.Contains(strings.Split(d.dir, "/"), "testdata") && d.was.code() != d.now.code()
	})
}

// code is a side without its comments of whole lines, and without spaces.
func (s side) code() string {
	var out strings.Builder
	for _, l := range s.lines() {
		if l = strings.Join(strings.Fields(l), ""); l != "" && !strings.HasPrefix(l, "//") && l[0] != '#' && l[0] != '*' && !strings.HasPrefix(l, "/*") {
			out.WriteString(l)
		}
	}
	return out.String()
}

// goes names something that the change removes, of the words of a test in a file.
func (j comparison) goes(file string, words map[string]bool) string {
	for _, w := range slices.Sorted(maps.Keys(words)) {
		if j.removed[path.Dir(file)][w] || j.removed[""][w] {
			return w
		}
	}
	return ""
}

// goneTests finds tests that are no more, or are not run any more.
func (j comparison) goneTests() []Finding {
	var out []Finding
	for _, key := range slices.Sorted(maps.Keys(j.was.tests)) {
		old := j.was.tests[key]
		t := j.now.tests[j.twins[key]]
		name := path.Base(old.name)
		_, whole := j.was.tests[old.path]
		switch {
		case !old.test:
		case j.twins[key] == "" && whole && !old.whole && j.twins[old.path] == "": // told of its file
		case j.twins[key] == "":
			if w := j.goes(old.path, wordsOf(old.body)); w != "" {
				out = append(out, found("expectation_changed", BySyntax, old.path, 0, fmt.Sprintf("the test %s is gone, and so is %s", name, w)))
				continue
			}
			out = append(out, found("test_removed", BySyntax, old.path, 0, "the test "+name+" is gone"))
		case t.skips > old.skips:
			out = append(out, found("test_skipped", BySyntax, t.path, t.line, "the test "+name+" is skipped"))
		case t.constraint != old.constraint && t.constraint != "":
			out = append(out, found("test_skipped", BySyntax, t.path, t.line, fmt.Sprintf("the test %s is compiled only with the build constraint %q", name, t.constraint)))
		}
		if j.twins[key] != "" && t.rows < old.rows {
			out = append(out, found("test_assertion_weakened", BySyntax, t.path, t.line, fmt.Sprintf("the test %s has %d cases and had %d", name, t.rows, old.rows)))
		}
	}
	return out
}

// called reports whether a test that is still there asked a function.
func (j comparison) called(f tested) bool {
	for key, t := range j.was.tests {
		if t.test && t.tokens[f.name] > 0 && j.twins[key] != "" {
			return true
		}
	}
	return false
}

// weakened finds the checks that are no more, and that nothing stands in for that
// says as much of the same things in the same test. Of what is made up for, a test
// is told of once.
func (j comparison) weakened() []Finding {
	gone, come := j.unmatched()
	here, cases := map[string][]check{}, counts[string]{} // what a test has gained
	for _, n := range come {
		here[n.in] = append(here[n.in], n)
	}
	for key, twin := range j.twins {
		cases[twin] += j.now.tests[twin].rows - j.was.tests[key].rows
	}
	var out []Finding
	told := map[string]int{} // the finding about a test, by its key
	for _, k := range gone {
		twin := j.twins[k.in]
		if old := j.was.tests[k.in]; twin == "" && (old.test || !j.called(old)) {
			continue // the test is told to be gone, or all that asked this function are
		}
		f := j.judge(k, here, twin, cases)
		if f.How = BySyntax; path.Ext(k.path) != ".go" {
			f.How = ByText
		}
		if at, again := told[k.in]; f.Severity == Soft && again {
			out[at].Text = strings.TrimSuffix(out[at].Text, " (and more)") + " (and more)"
			continue
		} else if f.Severity == Soft {
			told[k.in] = len(out)
		}
		out = append(out, f)
	}
	return out
}

// judge says what has become of a check that is gone.
func (j comparison) judge(k check, here map[string][]check, twin string, cases counts[string]) Finding {
	tell := func(code string, at place, format string, args ...any) Finding {
		return found(code, BySyntax, at.path, at.line, fmt.Sprintf(format, args...))
	}
	was, file := short80(k.String()), place{k.path, 0}
	switch n, ok := j.standIn(k, here, twin); {
	case ok && n.condition == k.inverse() && !j.coded:
		return tell("test_assertion_inverted", n.place, "the check is now %s, it was %s", short80(n.String()), was)
	case ok && !j.coded && j.swapped(k, n):
		return tell("test_assertion_weakened", n.place, "the check is now %s, it was %s, and the code is the same", short80(n.String()), was)
	case ok:
		return tell("expectation_changed", file, "a check is now %s, it was %s", short80(n.String()), was)
	case cases[twin] > 0 && strings.ContainsAny(k.text, "\"`0123456789") && !lost(k.text, valuesOf(j.now.tests[twin].body)):
		cases[twin]--
		return tell("expectation_changed", file, "the check %s is gone, and there are more cases", was)
	}
	if w := j.goes(k.path, k.words); w != "" {
		return tell("expectation_changed", file, "the check %s is gone, and so is %s", was, w)
	}
	return tell("test_assertion_weakened", file, "the check %s (line %d before the change) is gone", was, k.line)
}

// unmatched are the checks that are there on one side only, those that say most
// first. A check that went to another function of its folder is on both.
func (j comparison) unmatched() (gone, come []check) {
	type key struct {
		in string
		condition
	}
	left := j.was.checks
	come = j.now.checks
	for _, of := range []func(string, place) string{
		func(in string, _ place) string { return in },
		func(_ string, at place) string { return path.Dir(at.path) },
	} {
		there := counts[key]{}
		for _, n := range come {
			there[key{of(n.in, n.place), n.condition}]++
		}
		taken := counts[key]{}
		gone = nil
		for _, k := range left {
			in := of(k.in, k.place)
			if twin := j.twins[k.in]; in == k.in && twin != "" {
				in = twin
			}
			if at := (key{in, k.condition}); taken[at] < there[at] {
				taken[at]++
			} else {
				gone = append(gone, k)
			}
		}
		var rest []check
		for _, n := range come {
			if at := (key{of(n.in, n.place), n.condition}); taken[at] > 0 {
				taken[at]--
			} else {
				rest = append(rest, n)
			}
		}
		left, come = gone, rest
	}
	slices.SortStableFunc(gone, func(a, b check) int {
		return cmp.Or(b.rank-a.rank, strings.Compare(a.path+"\x00"+a.String(), b.path+"\x00"+b.String()))
	})
	return gone, come
}

// standIn takes the check of a test that is the opposite of one that is gone, or
// the one that says at least as much, and of most of the same things. A function
// that asserts may stand in for many.
func (j comparison) standIn(k check, here map[string][]check, twin string) (check, bool) {
	words := k.words
	if _, still := j.now.tests[path.Dir(k.path)+"/"+k.helper]; k.helper != "" && !still { // what it did may be written out
		words = wordsOf(k.helper + " " + j.was.tests[path.Dir(k.path)+"/"+k.helper].body)
	}
	best, most := -1, 0
	for i, n := range here[twin] {
		if n.condition == k.inverse() {
			best = i
			break
		}
		if j.strength(n) < k.rank {
			continue
		}
		shared := btoi(len(words) == 0) + btoi(n.helper != "")
		for w := range words {
			shared += btoi(n.words[w])
		}
		if shared > most {
			best, most = i, shared
		}
	}
	if best < 0 {
		return check{}, false
	}
	n := here[twin][best]
	if n.helper == "" {
		here[twin] = slices.Delete(here[twin], best, best+1)
	}
	return n, true
}

// strength is what a check says: of a function that is asked, what that says at most.
func (j comparison) strength(n check) int {
	in, most := path.Dir(n.path)+"/"+n.helper, 0
	if n.helper == "" {
		return n.rank
	}
	for _, k := range j.now.checks {
		if k.in == in {
			most = max(most, k.rank)
		}
	}
	return most
}

// swapped reports whether a check only expects another value: one that stood
// nowhere in the test, or what comes, in place of one that stands there no more.
func (j comparison) swapped(was, now check) bool {
	old, body := valuesOf(j.was.tests[was.in].body), valuesOf(j.now.tests[now.in].body)
	if now.helper != "" {
		maps.Copy(body, valuesOf(j.now.tests[path.Dir(now.path)+"/"+now.helper].body))
	}
	if !lost(was.text, body) {
		return false
	}
	for v := range valuesOf(now.text) {
		if !old[v] {
			return true
		}
	}
	l, r, _ := strings.Cut(was.text, " == ")
	nl, nr, _ := strings.Cut(now.text, " == ")
	for _, pair := range [][2]string{{l, r}, {r, l}} {
		if value, about := pair[0], pair[1]; value != "" && about != "" && literalToken(value) && lost(value, body) {
			return nl == about && !qualified().MatchString(nr) || nr == about && !qualified().MatchString(nl)
		}
	}
	return false
}

// lost reports whether a value of a text is not among others.
func lost(text string, among map[string]bool) bool {
	for v := range valuesOf(text) {
		if !among[v] {
			return true
		}
	}
	return false
}

package lint

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/odd-cli/odd/reconcile/policy"
)

// comparison holds what the tests of a change assert before and after it.
type comparison struct {
	was, now *suite
	twins    map[string]string      // what a test has become, by the key of what it was
	used     map[string]bool        // the names that tests still use
	removed  map[string]bool        // the names that code declares no more
	stands   map[string]bool        // the names that code declares still, or under another name now
	fewer    counts[string]         // the functions that code declares less often than it did
	coded    bool                   // more than what tests expect is changed
	asked    func() map[string]bool // see askedBeside
	leaves   func(dir, name string) bool
	come     []check         // checks that are new
	spare    map[*check]bool // those of them that stand for none that is gone yet
}

var (
	tokens       = lazy("[A-Za-z_]\\w*|\"(?:[^\"\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\n]|\\\\.)*'|`[^`]*`|\\d[\\w.]*")
	constantName = lazy(`\b\w+\.[A-Z]\w*(?:$|[^\w(])`)
	declaration  = lazy(`^(?:\s*(?:export\s+|async\s+|pub\s+|default\s+)*(?:def|class|function|fn)|func(?:\s*\([^)]*\))?|(?:export\s+)?(?:type|const|var|let))\s+(\w+)`)
)

// common are words that say nothing of what a test is about.
var common = strings.Fields(`t b tb ts nil true false None True False null self this assert require expect if is in not and or return func string int byte len cap make new append copy any error range del print`)

// maxTwins is how many new tests may be what others were; more are too many to read.
const maxTwins = 500

// findTwins finds what each test and each helper has become: that of the same name, or
// a new one that has most of its words.
func (s *suite) findTwins(now *suite) map[string]string {
	var come []string
	for _, key := range slices.Sorted(maps.Keys(now.tests)) {
		if _, old := s.tests[key]; !old && len(come) < maxTwins {
			come = append(come, key)
		}
	}
	out := map[string]string{}
	for key, old := range s.tests {
		if _, still := now.tests[key]; still {
			out[key] = key
			continue
		}
		best, all := 0, 0
		for _, n := range old.tokens {
			all += n
		}
		for _, k := range come {
			t := now.tests[k]
			if t.test != old.test {
				continue
			}
			lost := 0
			for _, n := range old.tokens.subtract(t.tokens) {
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

// keepReached takes out the checks of functions that no test reaches, and returns the names
// in tests and in the helpers that they call.
func (s *suite) keepReached() (used map[string]bool) {
	used = map[string]bool{}
	reached := map[string]bool{}
	for more := true; more; {
		more = false
		for key, t := range s.tests {
			if !reached[key] && (t.test || used[t.name[strings.LastIndexByte(t.name, '.')+1:]] || path.Ext(t.path) != ".go") {
				reached[key], more = true, true
				for w := range t.tokens {
					used[w] = true
				}
			}
		}
	}
	s.checks = slices.DeleteFunc(s.checks, func(k check) bool { return !reached[k.in] })
	for _, k := range s.checks {
		t := s.tests[k.in]
		t.strong += btoi(!k.weak)
		for _, v := range listLiterals(k.text) {
			t.checked[v]++
		}
		s.tests[k.in] = t
	}
	return used
}

// judgeTests compares each test with what it has become.
func (j comparison) judgeTests() []policy.Finding {
	gone, come := j.unmatchedChecks()
	j.come, j.spare = come, map[*check]bool{}
	for i, n := range come {
		j.spare[&come[i]] = !n.weak
	}
	var out []policy.Finding
	for _, key := range slices.Sorted(maps.Keys(j.was.tests)) {
		old, twin := j.was.tests[key], j.twins[key]
		t := j.now.tests[twin]
		tell := func(code string, at place, format string, args ...any) {
			f := newFinding(code, policy.BySyntax, at.path, at.line, fmt.Sprintf(format, args...))
			if path.Ext(at.path) != ".go" {
				f.How = policy.ByText
			}
			out = append(out, f)
		}
		switch {
		case twin == "" && !old.test: // a helper: what it asserted is told of its tests
		case twin == "":
			if code, text := j.judgeRemovedTest(old, checksOf(gone, key), len(gone), len(come)); code != "" {
				tell(code, place{old.path, 0}, "the test %s is gone%s", old.name, text)
			}
		case t.skips > old.skips:
			tell("test_skipped", t.place, "the test %s is skipped", old.name)
		case t.constraint != old.constraint && holdsUsually(t.constraint):
			tell("test_rewritten", t.place, "the test %s is compiled only with the build constraint %q", old.name, t.constraint)
		case t.constraint != old.constraint && t.constraint != "" && old.test:
			tell("test_skipped", t.place, "the test %s is compiled only with the build constraint %q", old.name, t.constraint)
		case t.ifs > old.ifs && old.test:
			tell("test_rewritten", t.place, "the test %s is skipped under a condition", old.name)
		}
		if twin == "" {
			continue
		}
		if code, text := j.judgeKeptTest(old, t, twin, checksOf(gone, key), checksOf(come, twin)); code != "" {
			tell(code, place{old.path, 0}, "in %s %s", old.name, text)
		}
	}
	return out
}

// checksOf are the checks of one function.
func checksOf(all []check, key string) []check {
	var out []check
	for _, k := range all {
		if k.in == key {
			out = append(out, k)
		}
	}
	return out
}

// judgeRemovedTest says what it means that a test is no more, where checks are its own. What it
// asserts of names that go with it is expected to go. Else nothing may be left without a test
// that stands, and where no code is changed, others must assert as much.
func (j comparison) judgeRemovedTest(old tested, checks []check, gone, come int) (code, text string) {
	if old.off {
		return "test_rewritten", "; it was skipped"
	}
	calls, named, called := old.calls, "", false
	drops := map[string]bool{}
	for _, w := range slices.Sorted(maps.Keys(old.tokens)) {
		if drops[w] = j.removed[w] || old.calls[w] && j.leaves(path.Dir(old.path), w); drops[w] {
			named, called = w, called || old.calls[w]
		}
	}
	if named != "" {
		calls = j.callsOf(checks, old, drops)
	}
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		ext := path.Ext(old.path)
		own := old.objects[name] == "" && (j.was.own[path.Dir(old.path)+" "+name] || j.was.own[ext+" "+name])
		if !own && (j.hasNoTest(name) || named == "" && ext != ".go" && j.isUnknownWithoutTest(old, name)) && !j.asked()[ext+" "+old.objects[name]+name] {
			return "test_removed", ", and no test calls " + name + " any more"
		}
	}
	switch {
	case called:
		return "", "" // the reviewer sees both go
	case named != "":
		return "expectation_changed", ", and so is " + named + ", which it names and does not call"
	case len(old.calls)+gone == 0:
		return "test_rewritten", "; it called nothing and checked nothing"
	case j.coded:
		return "test_rewritten", ", along with other code"
	case come >= gone:
		return "test_rewritten", "; other tests assert as much"
	}
	return "test_removed", ""
}

// callsOf are the names that the checks of a test ask, but for those of a dropped name; a check
// that asks nothing by name is of all that its test calls. What the code declares less often
// than it did may be what is dropped.
func (j comparison) callsOf(checks []check, in tested, drops map[string]bool) map[string]bool {
	out := map[string]bool{}
	for _, k := range checks {
		about := k.asks
		if len(about) == 0 {
			about = slices.Collect(maps.Keys(in.calls))
		}
		if slices.ContainsFunc(slices.Collect(maps.Keys(k.words)), func(w string) bool { return drops[w] }) {
			about = nil
		}
		for _, name := range about {
			out[name] = true
		}
	}
	maps.DeleteFunc(out, func(name string, _ bool) bool { return drops[name] || j.fewer[name] > 0 })
	return out
}

// askedBeside are the calls in tests of languages without a tree that the change leaves as they
// are, that are run and that assert something, with their object and the extension of their file.
func (c *change) askedBeside() map[string]bool {
	s, out, asserts := newSuite(), map[string]bool{}, map[string]bool{}
	for _, d := range c.beside {
		if d.test && d.ext != ".go" {
			s.readText(d, d.was)
		}
	}
	for _, k := range s.checks {
		asserts[k.in] = true
	}
	for key, t := range s.tests {
		for name := range t.calls {
			if t.test && t.skips+t.ifs == 0 && asserts[key] && t.objects[name] != "." {
				out[path.Ext(t.path)+" "+t.objects[name]+name] = true
			}
		}
	}
	return out
}

// hasNoTest reports a name that the code declares still, as far as the change shows, and
// that no test has any more.
func (j comparison) hasNoTest(name string) bool { return j.stands[name] && !j.used[name] }

// isUnknownWithoutTest reports a name that no test has any more and that the change neither
// removes nor declares: where there is no tree, its code may stand in any file. What a
// language has itself needs no test, unless the test file binds the name to something else.
func (j comparison) isUnknownWithoutTest(old tested, name string) bool {
	root, _, _ := strings.Cut(old.objects[name]+name, ".")
	imported, bound := j.was.bound[old.path][root]
	language := slices.Contains(ofLanguage(), name) || slices.Contains(scriptExts(), path.Ext(old.path)) && slices.Contains(scriptGlobals, name)
	return !j.used[name] && !j.removed[name] && (!language || imported || bound && root == name)
}

// ofLanguage are functions that Python, JavaScript and their usual runners of tests have.
var ofLanguage = sync.OnceValue(func() []string {
	return strings.Fields(`abs all any bool bytes bytearray callable chr dict dir enumerate filter float format frozenset getattr hasattr hash hex id input isinstance issubclass
		iter keys list map max min next object open ord pow print property range repr reversed round set setattr slice sorted staticmethod str sum super tuple type values vars zip
		append decode encode endswith extend find getvalue index items join lower lstrip replace rstrip split splitlines startswith strip upper
		BytesIO Decimal OrderedDict Path StringIO namedtuple partial patch sleep
		Array Boolean Date Error Map Number Object log Promise RegExp Set String Symbol require import function catch then
		concat endsWith every find findIndex flatMap forEach includes indexOf padStart push reduce shift some splice startsWith toLowerCase toString toUpperCase trim
		after afterAll afterEach before beforeAll beforeEach describe it test toBe toEqual toThrow toHaveBeenCalled toHaveBeenCalledWith toHaveLength toContain toMatch
		calledOnce calledWith callsArgWith equals include lengthOf match mockImplementation mockResolvedValue mockReturnValue rejectedWith returns returnsArg spyOn
		raises warns parametrize fixture skipif mark assertEqual assertTrue assertFalse assertRaises assertIn equal strictEqual deepEqual throws ok`)
})

// judgeKeptTest judges what a test that is still there asserts instead of what is gone. What
// goes along with a change of the code is for a person to judge, as long as the test
// still says what something is, and tests still ask what it asked. Where no code is
// changed, as many checks must stand for those that are gone, here or in another test.
func (j comparison) judgeKeptTest(old, t tested, twin string, gone, come []check) (code, text string) {
	fewer := old.test && t.rows < old.rows && len(come) <= len(gone)
	if fewer && !j.coded {
		return "test_assertion_weakened", fmt.Sprintf("there are %d cases and there were %d", t.rows, old.rows)
	}
	left, worth := 0, 0
	for _, n := range j.now.checks {
		if n.in == twin || old.line == 0 && n.path == t.path { // the checks of a file stand in tests now
			left += j.countWorth(n)
		}
	}
	for _, n := range come {
		worth += j.countWorth(n)
	}
	inverted := ""
	var lost []check // what only the checks of other tests may stand for
	for _, k := range gone {
		was := short80(k.String())
		if slices.ContainsFunc(come, func(n check) bool { return n.condition == k.inverse() }) {
			inverted = fmt.Sprintf("the check is now %s, it was %s", short80(k.inverse().String()), was)
			if !j.coded {
				return "test_assertion_inverted", inverted
			}
		}
		if n := j.findSwappedCheck(k, old, t, come); n != nil {
			return "test_assertion_weakened", fmt.Sprintf("the check is now %s, it was %s, and the code is the same", short80(n.String()), was)
		}
		if slices.ContainsFunc(k.asks, func(name string) bool { return j.hasNoTest(name) && !j.was.own[path.Dir(k.path)+" "+name] }) {
			return "test_assertion_weakened", fmt.Sprintf("the check %s (line %d before the change) is gone, and no test asks that any more", was, k.line)
		}
		if !k.weak && !j.mentionsRemoved(k) && (k.setup == "" || t.tokens[k.setup] > 0) {
			lost = append(lost, k)
		}
	}
	lost = lost[min(worth, len(lost)):]
	if t.items > old.items {
		lost = nil // made cases of a table
	}
	if !j.coded && worth > 0 && t.isRewrite(old) {
		lost = nil
	}
	if !j.coded || left == 0 {
		lost = slices.DeleteFunc(lost, func(k check) bool { return j.standsElsewhere(k, old, t) })
	}
	switch {
	case len(lost) > 0 && (!j.coded || left == 0):
		return "test_assertion_weakened", fmt.Sprintf("the check %s (line %d before the change) is gone", short80(lost[0].String()), lost[0].line)
	case len(lost) > 0 || fewer:
		return "test_rewritten", fmt.Sprintf("%d checks and %d cases are gone, along with other code", len(gone), max(old.rows-t.rows, 0))
	case inverted != "":
		return "expectation_changed", inverted + ", and other code is changed"
	case len(gone) > 0 && !j.coded:
		return "expectation_changed", fmt.Sprintf("%d checks were replaced, and the code is the same", len(gone))
	}
	return "", ""
}

// holdsValue reports a value that stands in a test, or in a longer text there.
func (t tested) holdsValue(v string) bool {
	if t.tokens[v] > 0 || len(v) < 4 {
		return t.tokens[v] > 0
	}
	for w := range t.tokens {
		if strings.Contains(w, v) {
			return true
		}
	}
	return false
}

// isRewrite reports a test that gets at what it asserts by other calls than most of those
// it made.
func (t tested) isRewrite(old tested) bool {
	kept, own := 0, 0
	for name := range t.calls {
		kept += btoi(old.calls[name])
		own += btoi(!old.calls[name])
	}
	return own > 0 && 2*kept < len(old.calls)
}

// standsElsewhere finds a new check in another test for one that is gone: its test calls
// what this one asks or, where it asks nothing by name, what its own test called and does not
// call any more.
func (j comparison) standsElsewhere(k check, old, t tested) bool {
	about := k.asks
	if len(about) == 0 {
		about = slices.DeleteFunc(slices.Collect(maps.Keys(old.calls)), func(name string) bool { return t.calls[name] })
	}
	for i, n := range j.come {
		in := j.now.tests[n.in]
		if j.spare[&j.come[i]] && in.place != t.place && slices.ContainsFunc(about, func(name string) bool { return in.calls[name] }) && j.findSwappedCheck(k, old, in, []check{n}) == nil {
			j.spare[&j.come[i]] = false
			return true
		}
	}
	return false
}

// mentionsRemoved reports a check of something that the change removes, or that its test made
// up for it.
func (j comparison) mentionsRemoved(k check) bool {
	for w := range k.words {
		if j.removed[w] || j.coded && !j.used[w] {
			return true
		}
	}
	return false
}

// many is how many checks a helper stands for that is taken out of tests and says what
// something is.
const many = 1 << 10

// countWorth is how many checks that say what something is one stands for: a helper whose
// code is at hand for all that it asserts.
func (j comparison) countWorth(n check) int {
	key := path.Dir(n.path) + "/" + n.helper
	t, known := j.now.tests[key]
	if n.helper == "" || !known {
		return btoi(!n.weak && !strings.Contains(n.helper, ".")) // what a method asserts is not known
	}
	if _, old := j.was.tests[key]; !old && t.strong > 0 {
		return many
	}
	return t.strong
}

// findSwappedCheck returns the check that asks the same and expects another value in place
// of one that stands nowhere in the test any more, where no code has changed. A constant may
// name a value, a helper may know it, and what a test puts in it may expect.
func (j comparison) findSwappedCheck(k check, old, t tested, come []check) *check {
	if j.coded || k.weak || !slices.ContainsFunc(listLiterals(k.text), func(v string) bool { return !t.holdsValue(v) && old.tokens[v] <= old.checked[v] }) {
		return nil
	}
	var other *check
	for i, n := range come {
		switch {
		case !sameSubject(n, k):
		case n.helper != "" || constantName().MatchString(n.text):
			return nil
		case other == nil:
			other = &come[i]
		}
	}
	return other
}

// sameSubject reports two checks that are about one thing: with one side of a comparison in
// common or, where they compare nothing, with the same names and all literals but one.
func sameSubject(a, b check) bool {
	l, r, both := strings.Cut(a.text, " == ")
	if x, y, also := strings.Cut(b.text, " == "); both && also {
		return slices.ContainsFunc([]string{l, r}, func(side string) bool {
			return side != "nil" && identifier().MatchString(side) && (side == x || side == y)
		})
	}
	return maps.Equal(a.words, b.words) && len(countOf(listLiterals(a.text)).subtract(countOf(listLiterals(b.text)))) <= 1
}

// unmatchedChecks returns the checks that are there on one side only. A check that went to
// another function of its folder is on both; where several tests become one, it has
// the checks of each.
func (j comparison) unmatchedChecks() (gone, come []check) {
	type key struct {
		in string
		condition
	}
	gone, come = j.was.checks, j.now.checks
	for _, of := range []func(check) string{
		func(k check) string { return k.in },
		func(k check) string { return path.Dir(k.path) },
	} {
		there, most := counts[key]{}, counts[key]{}
		for _, n := range come {
			there[key{of(n), n.condition}]++
		}
		taken := map[string]counts[key]{}
		gone = slices.DeleteFunc(slices.Clone(gone), func(k check) bool {
			in := of(k)
			if twin := j.twins[k.in]; in == k.in && twin != "" {
				in = twin
			}
			at := key{in, k.condition}
			if taken[of(k)] == nil {
				taken[of(k)] = counts[key]{}
			}
			taken[of(k)][at]++
			most[at] = max(most[at], min(taken[of(k)][at], there[at]))
			return taken[of(k)][at] <= there[at]
		})
		come = slices.DeleteFunc(slices.Clone(come), func(n check) bool {
			at := key{of(n), n.condition}
			most[at]--
			return most[at] >= 0
		})
	}
	return gone, come
}

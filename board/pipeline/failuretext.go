package pipeline

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"sync"
)

// diagnosis is what readOutput finds in the output of a check.
type diagnosis struct {
	sub    string          // what is wrong with the surroundings, one of the Env words
	places map[string]bool // that do not build: "FILE: what"
	syntax bool            // something does not parse or build, nobody says where
	tests  map[string]bool // that failed

	open     map[string]bool // tests of the package whose name comes behind them
	panicked string          // the line with which the package died
	talks    bool            // go test: tests may print what looks like a place
	built    bool            // within what the compiler says
}

// pattern matches an output that tells of the surroundings.
type pattern struct {
	sub string
	re  *regexp.Regexp
}

// surroundings are the patterns of faulty surroundings, the most specific first. Each asks
// for the words of an operating system or a tool, so that a test that only mentions them
// does not match.
var surroundings = sync.OnceValue(func() []pattern {
	return []pattern{
		{EnvInterpreter, regexp.MustCompile(`requires go >?=? ?[0-9.]+ \(running go|bad interpreter: |requires-python|Unsupported class file major version|requires a different Python: `)},
		{EnvModule, regexp.MustCompile(`(?:no required module provides package|cannot find module providing package|missing go\.sum entry for module providing package) ([^\s;:]+)|module lookup disabled by GOPROXY=off|ModuleNotFoundError: No module named|Cannot find module '[^.']|cannot query module due to -mod=vendor`)},
		{EnvCommand, regexp.MustCompile(`executable file not found in \$PATH|(?m:^\S*sh: (?:line )?(?:\d+: )?\S+: (?:command )?not found$)|(?m:^make(?:\[\d+\])?: \S+: No such file or directory$)|(?m:^env: .*: No such file or directory$)`)},
		{EnvPermission, regexp.MustCompile(`(?m)\b(?:open|openat|mkdir|mkdirat|fork/exec|unlink|unlinkat|remove|rename|chmod|chown|stat|lstat|read|write|create|listen \w+|symlink|link) \S+: (?:bind: )?permission denied$|\bbind: permission denied$|EACCES: permission denied|PermissionError: \[Errno 13\]`)},
		{EnvPort, regexp.MustCompile(`bind: address already in use|EADDRINUSE|OSError: \[Errno (?:98|48)\]`)},
		{EnvResource, regexp.MustCompile(`(?m)no space left on device|cannot allocate memory|: too many open files$|runtime: out of memory|^signal: killed|: signal: killed$`)},
		{EnvNetwork, regexp.MustCompile(`dial tcp[^\n]*(?:i/o timeout|no such host|connection refused|network is unreachable)|TLS handshake timeout|Temporary failure in name resolution`)},
	}
})

// lineShapes are the lines of tools that readOutput knows.
var lineShapes = sync.OnceValue(func() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		"place":   regexp.MustCompile(`^(?:vet: )?((?:[A-Za-z]:)?[^\s:]+\.(?:go|mod|work)):\d+(?::\d+)?: (.+)$`),
		"error":   regexp.MustCompile(`^((?:[A-Za-z]:)?[^\s:]+\.[A-Za-z]{1,5}):\d+(?::\d+)?: (?:fatal )?error: (.+)$`),
		"go test": regexp.MustCompile(`(?m)^(?:--- FAIL: |FAIL\t|ok  \t|PASS$)`),
		"fail":    regexp.MustCompile(`^\s*--- FAIL: (\S+) \([0-9.]+s\)$`),
		"pass":    regexp.MustCompile(`^\s*--- (?:PASS|SKIP): (\S+) \([0-9.]+s\)$`),
		"failed":  regexp.MustCompile(`^FAIL\t(\S+)(?:\s|$)`),
		"ok":      regexp.MustCompile(`^(?:ok  |\?   )\t(\S+)\t`),
		"hung":    regexp.MustCompile(`^\t\t(\S+) \([0-9.hms]+\)$`),
		"py":      regexp.MustCompile(`^(?:FAILED|ERROR) (\S+?::.+?|\S+\.py)(?: - .*)?$`),
		"pysum":   regexp.MustCompile(`\b(\d+) (passed|failed|errors?|skipped)\b`),
		"cycle":   regexp.MustCompile(`^\s+imports (\S+).*: import cycle not allowed`),
		"syntax":  regexp.MustCompile(`^\s*(?:E\s+)?(?:SyntaxError|IndentationError|TabError): |^error(?:\[E\d+\]|: )|: error TS\d+: |^go: errors parsing go\.mod`),
	}
})

// readOutput finds in an output what failed. own is the path of the module under test: a
// package that is missing from it is the fault of the change.
func readOutput(output []byte, own string) diagnosis {
	text := string(plainOutput(output))
	s := diagnosis{places: map[string]bool{}, tests: map[string]bool{}, open: map[string]bool{}}
	for _, p := range surroundings() {
		if m := p.re.FindAllStringSubmatch(text, -1); m != nil && !(p.sub == EnvModule && allOwn(m, own)) {
			s.sub = p.sub
			break
		}
	}
	s.talks = lineShapes()["go test"].MatchString(text)
	for line := range strings.Lines(text) {
		s.readLine(strings.TrimRight(line, "\r\n"))
	}
	s.closePackage("")
	return s
}

// allOwn reports that only packages of the module own are said to be missing.
func allOwn(matches [][]string, own string) bool {
	for _, m := range matches {
		if own == "" || len(m) < 2 || m[1] != own && !strings.HasPrefix(m[1], own+"/") {
			return false
		}
	}
	return true
}

func (s *diagnosis) readLine(line string) {
	is := func(shape string) string {
		m := lineShapes()[shape].FindStringSubmatch(line)
		if len(m) > 1 {
			return m[1]
		}
		return strings.Join(m, "")
	}
	switch {
	case strings.HasPrefix(line, "# "):
		s.built = true
	case strings.HasPrefix(line, "panic: "):
		s.panicked = line
	case is("fail") != "":
		s.open[is("fail")], s.built = true, false
	case is("failed") != "":
		s.closeFailedPackage(line, is("failed"))
	case is("ok") != "":
		s.closePackage(is("ok"))
	case is("py") != "":
		s.tests[clipID(is("py"))] = true
	case is("hung") != "" && strings.HasPrefix(s.panicked, "panic: test timed out"):
		s.open[is("hung")] = true
	case is("cycle") != "":
		s.places[clipID("import cycle through "+is("cycle"))] = true
	case is("syntax") != "":
		s.syntax = true
	case s.built || !s.talks:
		s.readPlace(line)
	}
}

// readPlace reads a compiler's line: any of Go's tools, and "error:" of others.
func (s *diagnosis) readPlace(line string) {
	for _, shape := range []string{"place", "error"} {
		if m := lineShapes()[shape].FindStringSubmatch(line); m != nil {
			s.places[clipID(m[1]+": "+m[2])] = true
			return
		}
	}
}

func (s *diagnosis) closeFailedPackage(line, pkg string) {
	built := !strings.HasSuffix(line, "[build failed]") && !strings.HasSuffix(line, "[setup failed]")
	switch {
	case !built:
		s.syntax = true
	case len(s.open) == 0 && s.panicked != "":
		s.tests[clipID(pkg+": "+s.panicked)] = true
	case len(s.open) == 0:
		s.tests[pkg] = true
	}
	s.closePackage(pkg)
}

// closePackage puts the package before the names of the tests that failed. It leaves out a
// test of which a subtest failed.
func (s *diagnosis) closePackage(pkg string) {
	whole := map[string]bool{} // tests of which a part is there
	for name := range s.open {
		for i := strings.LastIndexByte(name, '/'); i > 0 && !whole[name[:i]]; i = strings.LastIndexByte(name[:i], '/') {
			whole[name[:i]] = true
		}
	}
	for name := range s.open {
		if whole[name] {
			continue
		}
		if pkg != "" {
			name = pkg + "." + name
		}
		s.tests[clipID(name)] = true
	}
	clear(s.open)
	s.panicked, s.built = "", false
}

func clipID(s string) string { return clipText(s, maxID, nil) }

// testEvent is a line of go test -json.
type testEvent struct {
	Action, Output string
}

// plainOutput replaces the events of go test -json by the lines they carry.
func plainOutput(output []byte) []byte {
	if !bytes.Contains(output, []byte(`"Action":`)) {
		return output
	}
	var out bytes.Buffer
	for line := range bytes.Lines(output) {
		var e testEvent
		if json.Unmarshal(line, &e) != nil || e.Action == "" {
			out.Write(line)
			continue
		}
		out.WriteString(e.Output)
	}
	return out.Bytes()
}

// excerptOf returns the beginning of what an output says about the failure.
func excerptOf(output []byte) string {
	text := string(plainOutput(output))
	at := len(text)
	for _, mark := range []string{"--- FAIL", "panic: ", "\n# ", "FAILED ", "error", "Error"} {
		if i := strings.Index(text, mark); i >= 0 {
			at = min(at, i)
		}
	}
	if at == len(text) {
		at = 0
	}
	at = strings.LastIndexByte(text[:at], '\n') + 1
	text = text[at:]
	if len(text) > maxExcerpt {
		text = text[:maxExcerpt]
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// testCount is how many tests an output speaks of.
type testCount struct {
	ran, failed int
	known       bool
}

// tallyOutput counts the tests that an output tells of. Where it does not name those that
// passed, it counts packages that have tests.
func tallyOutput(output []byte) testCount {
	text := string(plainOutput(output))
	var tests, pkgs testCount
	passed := 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		shape := lineShapes()
		switch {
		case shape["pass"].MatchString(line):
			passed++
			tests.ran++
		case shape["fail"].MatchString(line):
			tests.ran++
			tests.failed++
		case shape["failed"].MatchString(line):
			pkgs.ran, pkgs.failed, pkgs.known = pkgs.ran+1, pkgs.failed+1, true
		case shape["ok"].MatchString(line):
			pkgs.known = true
			if !strings.HasSuffix(line, "[no test files]") && !strings.HasSuffix(line, "[no tests to run]") {
				pkgs.ran++
			}
		case strings.Contains(line, "no tests ran"):
			pkgs.known = true
		case strings.HasPrefix(line, "=") || strings.Contains(line, " in "):
			tallyPytest(line, &tests, &passed)
		}
	}
	if passed > 0 || tests.known {
		tests.known = true
		return tests
	}
	return pkgs
}

// tallyPytest reads the last line of pytest: "2 failed, 3 passed in 0.12s".
func tallyPytest(line string, t *testCount, passed *int) {
	for _, m := range lineShapes()["pysum"].FindAllStringSubmatch(line, -1) {
		n := 0
		for _, d := range m[1] {
			n = min(n*10+int(d-'0'), 1<<20)
		}
		if m[2] == "skipped" {
			continue
		}
		t.ran, t.known = t.ran+n, true
		*passed += n
		if m[2] != "passed" {
			t.failed += n
		}
	}
}

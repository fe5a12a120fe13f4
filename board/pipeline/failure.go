package pipeline

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/odd-cli/odd/reconcile/policy"
)

// Class is what kind of failure a check came to.
type Class string

// The classes, in the order in which they are looked for.
const (
	ClassEnv    Class = "env"    // the surroundings, not the change
	ClassSyntax Class = "syntax" // it does not parse, or does not build
	ClassTest   Class = "test"   // it does not do what it should
)

// What is wrong in the surroundings. The first ones persist; a second try may pass after
// the last two.
const (
	EnvModule      = "module"      // a dependency is not there
	EnvCommand     = "command"     // a program is not there
	EnvPermission  = "permission"  // something may not be read or written
	EnvPort        = "port"        // an address is taken
	EnvInterpreter = "interpreter" // the language's own version is another
	EnvRule        = "rule"        // a rule of the iron gate refuses, and would again
	EnvBroken      = "broken"      // odd itself went wrong
	EnvResource    = "resource"    // no memory, disk or file handles: may pass
	EnvNetwork     = "network"     // may pass
)

// Failure summarizes what failed.
type Failure struct {
	Class   Class
	Sub     string   // of env, one of the Env words
	IDs     []string // all that failed, sorted: tests, places in files, or checks
	Check   string   // the first check that failed this way
	Excerpt string   // of its output
	Steady  bool     // run again on the same bytes, it would fail the same, or take as long
}

// Caps of a failure.
const (
	maxIDs     = 5    // in a prompt and for people
	maxID      = 300  // bytes
	maxExcerpt = 1500 // bytes
	maxSaid    = 160  // of its first line
)

// Retryable reports whether trying again, changed or not, can help.
func (f Failure) Retryable() bool {
	return f.Class != ClassEnv || f.Sub == EnvResource || f.Sub == EnvNetwork
}

// signature names what failed: SHA-256, hex, of the ids joined with "|", a colon, and the class.
func (f Failure) signature() string {
	return hexSum([]byte(strings.Join(f.IDs, "|") + ":" + string(f.Class)))
}

// String is one line about it.
func (f Failure) String() string {
	s := string(f.Class)
	if f.Sub != "" {
		s += " (" + f.Sub + ")"
	}
	s += ": " + strings.Join(f.IDs[:min(maxIDs, len(f.IDs))], ", ")
	if n := len(f.IDs) - maxIDs; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return s
}

// patchSignature names a candidate by the paths, modes and contents of its files: SHA-256, hex.
func patchSignature(files []Edit) string {
	var b bytes.Buffer
	for _, f := range files {
		fmt.Fprintf(&b, "%d:%s%s%d:%s", len(f.Path), f.Path, f.NewMode, len(f.After), f.After)
	}
	return hexSum(b.Bytes())
}

func hexSum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// Failure returns why a report has not passed, or false where it has. Of several classes it
// is the first in their order, with the ids of all that failed in this way.
func (r Report) Failure() (Failure, bool) {
	if r.Passed() {
		return Failure{}, false
	}
	all := findingFailures(r.Findings)
	for _, ran := range r.Ran {
		if !ran.Passed() {
			all = append(all, ran.diagnoseRun())
		}
	}
	switch {
	case len(all) > 0:
		return mergeFailures(all), true
	case len(r.Breaches) > 0:
		return Failure{Class: ClassTest, Check: "The comparison with the files before the change", Steady: true, IDs: slices.Sorted(slices.Values(r.Breaches)), Excerpt: strings.Join(r.Breaches, "\n")}, true
	}
	return Failure{Class: ClassEnv, Sub: EnvBroken, IDs: []string{"the checks were not gone through"}}, true
}

// mergeFailures returns the worst failure, with the ids of all that are as bad.
func mergeFailures(all []Failure) Failure {
	worst := slices.MinFunc(all, func(a, b Failure) int { return a.rank() - b.rank() })
	var ids []string
	for _, f := range all {
		worst.Steady = worst.Steady || f.Steady
		if f.rank() == worst.rank() {
			ids = append(ids, f.IDs...)
		}
	}
	worst.IDs = sortIDs(ids)
	return worst
}

func sortIDs(ids []string) []string { return slices.Compact(slices.Sorted(slices.Values(ids))) }

// rank orders failures: those that would repeat, the surroundings, syntax, tests.
func (f Failure) rank() int {
	if !f.Retryable() {
		return 0
	}
	return 1 + slices.Index([]Class{ClassEnv, ClassSyntax, ClassTest}, f.Class)
}

// formalRules are about the form of a candidate: the agent can write it again.
var formalRules = []string{
	"parse_failed", "odd_mark", "placeholder_text", "ellipsis_line", "truncated_length", "truncated_end", "fence_wrapped",
	"conflict_marker", "file_without_content", "coverage_missing",
}

// weakenedRules are about tests that check less than before.
var weakenedRules = []string{
	"test_assertion_inverted", "test_assertion_weakened", "test_removed", "test_skipped", "test_main_bypass", "test_detected",
}

// mendableRules are about files and names that a change does not need, such as what a build
// left behind. The agent is asked once to leave them out.
var mendableRules = []string{"coverage_outside", "beyond_plan", "beyond_findings", "size_binary", "size_files", "size_file", "size_total", "name_confusable", "name_compatibility", "name_punctuation"}

// Mendable returns the hard findings if the agent can mend all of them by leaving something
// out, else none.
func Mendable(all []policy.Finding) (out []policy.Finding) {
	for _, f := range all {
		switch {
		case !isHard(f):
		case !slices.Contains(mendableRules, f.Code):
			return nil
		default:
			out = append(out, f)
		}
	}
	return out
}

// WeakensTests reports a code of the iron gate about tests that check less than before. The
// agent can mend that by leaving the tests as they are.
func WeakensTests(code string) bool { return slices.Contains(weakenedRules, code) }

func findingFailures(findings []policy.Finding) []Failure {
	var out []Failure
	for _, f := range findings {
		if !isHard(f) {
			continue
		}
		made := Failure{Class: ClassEnv, Sub: EnvRule, IDs: []string{strings.TrimSpace(f.Code + " " + f.Path)}, Check: f.Code, Excerpt: f.Error()}
		if slices.Contains(formalRules, f.Code) {
			made.Class, made.Sub = ClassSyntax, ""
		} else if WeakensTests(f.Code) {
			made.Class, made.Sub = ClassTest, ""
		}
		out = append(out, made)
	}
	return out
}

func sortedNames(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

// diagnoseRun returns why a check has not passed, the zero failure where it has.
func (r Ran) diagnoseRun() Failure {
	if r.Passed() {
		return Failure{}
	}
	f := Failure{Check: r.Check.Name, Excerpt: excerptOf(r.Output)}
	switch {
	case r.Fault == FaultStart:
		f.Class, f.Sub = ClassEnv, EnvCommand
	case r.Fault == FaultKilled:
		f.Class, f.Sub = ClassEnv, EnvResource
	case !r.Done && r.Fault == "":
		f.Class, f.Sub = ClassEnv, EnvBroken
	case r.Fault != "":
		f.Class, f.Steady, f.IDs = ClassTest, r.Fault == FaultTimeout, []string{r.Check.Name + ": " + r.Fault}
	default:
		f.Class, f.Sub, f.IDs = readOutput(r.Output, r.Check.Module)
	}
	if len(f.IDs) == 0 {
		f.IDs = []string{r.String()}
	}
	return f
}

// pattern compiles a regular expression when it is first used.
func pattern(s string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(s) })
}

// surroundings are the patterns of faulty surroundings, the most specific first. Each asks
// for the words of an operating system or a tool, so that a test that only mentions them
// does not match.
var surroundings = []struct {
	sub string
	re  func() *regexp.Regexp
}{
	{EnvInterpreter, pattern(`requires go >?=? ?[0-9.]+ \(running go|bad interpreter: |requires-python|Unsupported class file major version|requires a different Python: `)},
	{EnvModule, pattern(`(?:no required module provides package|cannot find module providing package|missing go\.sum entry for module providing package) ([^\s;:]+)|module lookup disabled by GOPROXY=off|ModuleNotFoundError: No module named|Cannot find module '[^.']|cannot query module due to -mod=vendor`)},
	{EnvCommand, pattern(`executable file not found in \$PATH|(?m:^\S*sh: (?:line )?(?:\d+: )?\S+: (?:command )?not found$)|(?m:^make(?:\[\d+\])?: \S+: No such file or directory$)|(?m:^env: .*: No such file or directory$)`)},
	{EnvPermission, pattern(`(?m)\b(?:open|openat|mkdir|mkdirat|fork/exec|unlink|unlinkat|remove|rename|chmod|chown|stat|lstat|read|write|create|listen \w+|symlink|link) \S+: (?:bind: )?permission denied$|\bbind: permission denied$|EACCES: permission denied|PermissionError: \[Errno 13\]`)},
	{EnvPort, pattern(`bind: address already in use|EADDRINUSE|OSError: \[Errno (?:98|48)\]`)},
	{EnvResource, pattern(`(?m)no space left on device|cannot allocate memory|: too many open files$|runtime: out of memory|^signal: killed|: signal: killed$`)},
	{EnvNetwork, pattern(`dial tcp[^\n]*(?:i/o timeout|no such host|connection refused|network is unreachable)|TLS handshake timeout|Temporary failure in name resolution`)},
}

// lineShapes are the lines of tools that readOutput knows.
var lineShapes = map[string]func() *regexp.Regexp{
	"place":  pattern(`^(?:vet: )?((?:[A-Za-z]:)?[^\s:]+\.(?:go|mod|work)):\d+(?::\d+)?: (.+)$`),
	"error":  pattern(`^((?:[A-Za-z]:)?[^\s:]+\.[A-Za-z]{1,5}):\d+(?::\d+)?: (?:fatal )?error: (.+)$`),
	"fail":   pattern(`^\s*--- FAIL: (\S+) \([0-9.]+s\)$`),
	"failed": pattern(`^FAIL\t(\S+)(?:\s|$)`),
	"py":     pattern(`^(?:FAILED|ERROR) (\S+?::.+?|\S+\.py)(?: - .*)?$`),
	"cycle":  pattern(`^\s+imports (\S+).*: import cycle not allowed`),
	"syntax": pattern(`^\s*(?:E\s+)?(?:SyntaxError|IndentationError|TabError): |^error(?:\[E\d+\]|: )|: error TS\d+: |^go: errors parsing go\.mod|^FAIL\t.*\[(?:build|setup) failed\]$`),
}

// Patterns of what an output tells of tests. The first is about go test as a whole; its
// tests may print what looks like a place.
var (
	goTestLine = pattern(`(?m)^(?:--- FAIL: |FAIL\t|ok  \t|PASS$)`)
	ranNone    = pattern(`(?m)^.*(?:\[no tests? (?:files|to run)\]$|no tests ran)`)
	ranSome    = pattern(`(?m)^\s*--- (?:PASS|SKIP|FAIL): |^FAIL\t|^ok  \t|\b[1-9]\d* (?:passed|failed|errors?)\b`)
	ranBadly   = pattern(`(?m)^\s*--- FAIL: \S+ \(|^FAIL\t|^(?:=.*)?\b[1-9]\d* failed\b.* in [0-9.]+s`)
)

// readOutput finds in an output what failed: the surroundings, as one of the Env words, what
// does not parse or build, or tests. own is the path of the module under test: a package that
// is missing from it is the fault of the change.
func readOutput(output []byte, own string) (c Class, sub string, ids []string) {
	text := string(plainOutput(output))
	for _, p := range surroundings {
		if m := p.re().FindAllStringSubmatch(text, -1); m != nil && !(p.sub == EnvModule && allOwn(m, own)) {
			return ClassEnv, p.sub, nil
		}
	}
	isGoTest, built, syntax := goTestLine().MatchString(text), false, false
	var places, tests, open []string // open are tests of the package whose name comes behind them
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		var m []string
		is := func(shape string) bool { m = lineShapes[shape]().FindStringSubmatch(line); return m != nil }
		switch {
		case strings.HasPrefix(line, "# "):
			built = true
		case is("fail"):
			open, built = append(open, m[1]), false
		case is("syntax"):
			syntax = true
		case is("failed"):
			for _, name := range open {
				tests = append(tests, clipID(m[1]+"."+name))
			}
			if len(open) == 0 {
				tests = append(tests, m[1])
			}
			open, built = nil, false
		case is("py"):
			tests = append(tests, clipID(m[1]))
		case is("cycle"):
			places = append(places, clipID("import cycle through "+m[1]))
		case (built || !isGoTest) && (is("place") || is("error")):
			places = append(places, clipID(m[1]+": "+m[2]))
		}
	}
	switch {
	case len(places) > 0:
		return ClassSyntax, "", sortIDs(places)
	case syntax:
		return ClassSyntax, "", nil
	}
	return ClassTest, "", sortIDs(append(tests, open...))
}

// allOwn reports that only packages of the module own are said to be missing.
func allOwn(matches [][]string, own string) bool {
	return own != "" && !slices.ContainsFunc(matches, func(m []string) bool { return m[1] != own && !strings.HasPrefix(m[1], own+"/") })
}

func clipID(s string) string { return clipText(s, maxID) }

// plainOutput replaces the events of go test -json by the lines they carry.
func plainOutput(output []byte) []byte {
	if !bytes.Contains(output, []byte(`"Action":`)) {
		return output
	}
	var out bytes.Buffer
	for line := range bytes.Lines(output) {
		var e struct{ Action, Output string }
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
	text = text[strings.LastIndexByte(text[:at], '\n')+1:]
	return strings.ToValidUTF8(text[:min(maxExcerpt, len(text))], "\uFFFD")
}

// Parsers are the commands that say whether a source of the language of a file's name
// parses: each reads it as its input. One that takes it is enough. Go and formats of
// data are not among them: [lint.Judge] reads those itself.
func Parsers(name string) [][]string {
	node := []string{"node", "--check", "-"}
	module := []string{"node", "--check", "--input-type=module", "-"}
	switch strings.ToLower(path.Ext(name)) {
	case ".py":
		return [][]string{{"python3", "-I", "-c", "import ast, sys; ast.parse(sys.stdin.buffer.read())"}}
	case ".cjs":
		return [][]string{node}
	case ".mjs":
		return [][]string{module}
	case ".js":
		return [][]string{module, node}
	}
	return nil
}

// Unreadable is a finding where output, what a parser printed, says that it read a
// source and that the source does not parse. What else it may say is nothing about the
// source: a program may be missing, or the machine be short of memory.
func Unreadable(name string, output []byte) (policy.Finding, bool) {
	said := syntaxError().FindSubmatch(output)
	if said == nil {
		return policy.Finding{}, false
	}
	line := 0
	if at := syntaxLine().FindSubmatch(output); at != nil {
		line, _ = strconv.Atoi(string(at[1]))
	}
	return policy.Finding{Code: "parse_failed", Severity: policy.Hard, How: policy.BySyntax, Path: name, Line: line,
		Text: "cannot be parsed: " + string(said[0]), Fix: "write the whole file so that it parses"}, true
}

var (
	syntaxError = pattern(`(?m)^(?:SyntaxError|IndentationError|TabError): [^\r\n]{1,300}`)
	syntaxLine  = pattern(`(?m)^(?:\[stdin\]:|  File "<unknown>", line )(\d{1,9})`)
)

// Markup reports JavaScript that holds elements of a page (JSX), which the parser of
// the language does not read.
func Markup(src []byte) bool {
	return bytes.Contains(src, []byte("</")) || bytes.Contains(src, []byte("/>"))
}

package pipeline

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
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

// The classes, in the order in which diagnose looks for them. Only a second run on the same
// bytes shows a flake, never an output.
const (
	ClassEnv    Class = "env"    // the surroundings, not the change
	ClassSyntax Class = "syntax" // it does not parse, or does not build
	ClassTest   Class = "test"   // it does not do what it should
	ClassFlake  Class = "flake"  // it failed, and on the same bytes did not
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
	maxAllIDs  = 1000 // in all
	maxID      = 300  // bytes
	maxExcerpt = 1500 // bytes
)

// Retryable reports whether trying again, changed or not, can help.
func (f Failure) Retryable() bool {
	return f.Class != ClassEnv || f.Sub == EnvResource || f.Sub == EnvNetwork
}

func (f Failure) firstIDs() []string { return firstOf(f.IDs, maxIDs) }

// signature names what failed whatever the order: SHA-256, hex, of the sorted ids
// joined with "|", a colon, and the class.
func (f Failure) signature() string {
	return hexSum([]byte(strings.Join(slices.Sorted(slices.Values(f.IDs)), "|") + ":" + string(f.Class)))
}

// String is one line about it.
func (f Failure) String() string {
	s := string(f.Class)
	if f.Sub != "" {
		s += " (" + f.Sub + ")"
	}
	s += ": " + strings.Join(f.firstIDs(), ", ")
	if n := len(f.IDs) - maxIDs; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return s
}

// patchSignature names a candidate by its bytes: SHA-256, hex, over the paths, modes and
// contents of its files in the order of their paths.
func patchSignature(files []Edit) string {
	var b bytes.Buffer
	for _, f := range sortedByPath(files) {
		fmt.Fprintf(&b, "%d:%s", len(f.Path), f.Path)
		if f.After == nil {
			b.WriteString("-")
			continue
		}
		fmt.Fprintf(&b, "%s%d:", f.NewMode, len(f.After))
		b.Write(f.After)
	}
	return hexSum(b.Bytes())
}

func sortedByPath(files []Edit) []Edit {
	return slices.SortedStableFunc(slices.Values(files), func(a, b Edit) int { return strings.Compare(a.Path, b.Path) })
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
	if len(r.Flaky) > 0 {
		return Failure{Class: ClassFlake, IDs: r.Flaky, Check: r.firstFailed().Check.Name, Excerpt: excerptOf(r.firstFailed().Output)}, true
	}
	all := findingFailures(r.Findings)
	for _, ran := range r.Ran {
		if !ran.Passed() {
			all = append(all, ran.diagnoseRun())
		}
	}
	if len(all) == 0 && len(r.Breaches) > 0 {
		ids := slices.Sorted(slices.Values(r.Breaches))
		return Failure{Class: ClassTest, Check: "The comparison with the files before the change", Steady: true, IDs: ids, Excerpt: strings.Join(ids, "\n")}, true
	}
	if len(all) == 0 {
		return Failure{Class: ClassEnv, Sub: EnvBroken, IDs: []string{"the checks were not gone through"}}, true
	}
	return mergeFailures(all), true
}

func (r Report) firstFailed() Ran {
	for _, ran := range r.Ran {
		if !ran.Passed() {
			return ran
		}
	}
	return Ran{}
}

// mergeFailures returns the worst failure, with the ids of all that are as bad.
func mergeFailures(all []Failure) Failure {
	worst := all[0]
	for _, f := range all[1:] {
		if f.rank() < worst.rank() {
			worst = f
		}
	}
	ids := map[string]bool{}
	for _, f := range all {
		if f.rank() == worst.rank() {
			for _, id := range f.IDs {
				ids[id] = true
			}
		}
	}
	worst.IDs = firstOf(sortedNames(ids), maxAllIDs)
	worst.Steady = slices.ContainsFunc(all, func(f Failure) bool { return f.Steady })
	return worst
}

// rank orders failures: those that would repeat, the surroundings, syntax, tests.
func (f Failure) rank() int {
	if !f.Retryable() {
		return 0
	}
	return 1 + slices.Index([]Class{ClassEnv, ClassSyntax, ClassTest, ClassFlake}, f.Class)
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

func (r Ran) diagnoseRun() Failure {
	if r.Passed() {
		return Failure{}
	}
	f := Failure{Check: r.Check.Name, Excerpt: excerptOf(r.Output)}
	said := readOutput(r.Output, r.Check.Module)
	switch {
	case r.Fault == FaultStart:
		f.Class, f.Sub = ClassEnv, EnvCommand
	case r.Fault == FaultKilled:
		f.Class, f.Sub = ClassEnv, EnvResource
	case r.Fault == FaultBroken, !r.Done && r.Fault == "":
		f.Class, f.Sub = ClassEnv, EnvBroken
	case r.Fault != "":
		f.Class, f.Steady, f.IDs = ClassTest, r.Fault == FaultTimeout, []string{r.Check.Name + ": " + r.Fault}
	case said.sub != "":
		f.Class, f.Sub = ClassEnv, said.sub
	case len(said.places) > 0:
		f.Class, f.IDs = ClassSyntax, sortedNames(said.places)
	case said.syntax:
		f.Class = ClassSyntax
	default:
		f.Class, f.IDs = ClassTest, sortedNames(said.tests)
	}
	if len(f.IDs) == 0 {
		f.IDs = []string{r.String()}
	}
	f.IDs = firstOf(f.IDs, maxAllIDs)
	return f
}

func firstOf(list []string, n int) []string { return list[:min(n, len(list))] }

func sortedNames(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

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
	syntaxError = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^(?:SyntaxError|IndentationError|TabError): [^\r\n]{1,300}`)
	})
	syntaxLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^(?:\[stdin\]:|  File "<unknown>", line )(\d{1,9})`)
	})
)

// Markup reports JavaScript that holds elements of a page (JSX), which the parser of
// the language does not read.
func Markup(src []byte) bool {
	return bytes.Contains(src, []byte("</")) || bytes.Contains(src, []byte("/>"))
}

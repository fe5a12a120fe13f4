package pipeline

import (
	"cmp"
	"fmt"
	"go/build"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/reconcile/policy"
)

// Check is one command that judges a tree. It says nothing about where it runs:
// always in a tree of its own, never in the user's.
type Check struct {
	Name    string // for people
	Argv    []string
	Dir     string // below the tree, with slashes; "" is its top
	Timeout time.Duration
	Tests   bool   // it is expected to run tests: none is a failure
	Last    bool   // it is run only where every check before it has passed
	Module  string // path of the Go module it judges, "" for none
}

// Project is the tree to check, and the settings that its checks depend on.
type Project struct {
	// Files is the tree to be checked, as it would land.
	Files fs.FS
	// Commands are the project's own, [pipeline] validate; Verify are those that
	// only what passed the others is held to, Accept the task's. All are a person's words.
	Commands, Verify, Accept [][]string
	// Graph is who imports whom with the change in it. Where it has problems, all of a
	// module is checked.
	Graph *Graph
	// Build is what go builds for where the commands run; nil when nobody knows, and
	// then every Go file counts.
	Build *build.Context
	// Timeout bounds one command; 0 is DefaultCheck.
	Timeout time.Duration
}

// DefaultCheck is how long one command may take without configuration.
const DefaultCheck = 5 * time.Minute

// Checks returns the checks of a change, in this order: go build, vet and test of the
// packages it can affect, where the tree has a go.mod and the project has no commands;
// the project's commands; the task's; [pipeline] verify. A command that the iron gate
// denies becomes a hard finding instead, and the change does not pass.
//
// A change may hold the programs that check it: its tests, a script, a Makefile. Where it
// edits one that the iron gate does not protect, a soft finding says so.
func Checks(files []Edit, p Project) ([]Check, []policy.Finding) {
	var checks []Check
	var findings []policy.Finding
	timeout := cmp.Or(p.Timeout, DefaultCheck)
	if len(p.Commands) == 0 && p.Graph != nil {
		checks, findings = goChecks(files, p, timeout)
	}
	tested := p.Graph != nil && p.Graph.hasFile(".", func(base string) bool {
		return isGoTest(base) || strings.HasSuffix(base, "_test.py") || strings.HasPrefix(base, "test_") && strings.HasSuffix(base, ".py")
	})
	for _, from := range []struct {
		argvs          [][]string
		expected, last bool
	}{{p.Commands, tested, false}, {p.Accept, true, false}, {p.Verify, tested, true}} {
		for _, argv := range from.argvs {
			if from.last && slices.ContainsFunc(p.Commands, func(run []string) bool { return slices.Equal(run, argv) }) {
				continue
			}
			c := Check{Name: clipText(strings.Join(argv, " "), 80), Argv: argv, Timeout: timeout, Tests: from.expected && runsTests(argv), Last: from.last}
			bad := checkDenied(c)
			findings = append(append(findings, bad...), checkEdited(c, files)...)
			if len(bad) == 0 {
				checks = append(checks, c)
			}
		}
	}
	return checks, findings
}

// checkDenied returns why a command may not run even where a person asks for it.
func checkDenied(c Check) []policy.Finding {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return []policy.Finding{{Code: "check_empty", Severity: policy.Hard, How: policy.ByText, Text: "a check has no program", Fix: `write it as a list, ["make", "test"]`}}
	}
	v := policy.JudgeArgv(c.Argv, policy.CommandPolicy{Allow: [][]string{c.Argv}})
	return slices.DeleteFunc(v.Findings, func(f policy.Finding) bool { return f.Severity != policy.Hard })
}

// checkEdited finds files of the change that its check runs.
func checkEdited(c Check, files []Edit) []policy.Finding {
	names := []string{}
	for _, argv := range policy.JudgeArgv(c.Argv, policy.CommandPolicy{}).Programs {
		for i, a := range argv {
			if i > 0 || strings.Contains(a, "/") {
				names = append(names, path.Clean(a))
			} else if a == "make" || a == "gmake" {
				names = append(names, "Makefile", "makefile", "GNUmakefile")
			}
		}
	}
	var out []policy.Finding
	for _, f := range files {
		if slices.Contains(names, f.Path) {
			out = append(out, policy.Finding{Code: "check_edited", Severity: policy.Soft, How: policy.ByBytes, Path: f.Path,
				Text: "the change edits files that the check " + c.Name + " runs", Fix: "review those first, because a change can weaken its own check"})
		}
	}
	return out
}

// runsTests reports go test and pytest.
func runsTests(argv []string) bool {
	words := slices.Clone(argv)
	if len(words) > 2 && strings.HasPrefix(path.Base(words[0]), "python") && words[1] == "-m" {
		words = words[2:]
	}
	if len(words) == 0 {
		return false
	}
	name := path.Base(words[0])
	return name == "pytest" || name == "go" && len(words) > 1 && words[1] == "test"
}

// Ran is a check that was run, or was to be. The zero Ran has not passed.
type Ran struct {
	Check   Check
	Done    bool   // it ended by itself, with Exit
	Exit    int    // 0 is well
	Fault   string // why it did not end by itself: one of the Fault words
	Detail  string // more of it, for people
	Output  []byte // both streams as they came, without secrets and cut in the middle
	Sandbox string // what the kernel held of it, in a few words
}

// Why a check did not end by itself.
const (
	FaultTimeout   = "timeout"
	FaultCancelled = "cancelled"
	FaultStart     = "not-started" // there is no such program, or it may not be run
	FaultKilled    = "killed"      // by a signal that is not odd's
)

// Passed reports that a check ended well, tells of no test that failed, and ran tests where
// it was expected to.
func (r Ran) Passed() bool {
	return r.Done && r.Exit == 0 && r.Fault == "" && (!r.Check.Tests || !r.noTests()) && !ranBadly().Match(plainOutput(r.Output))
}

// noTests reports an output that speaks of tests, and of none that ran.
func (r Ran) noTests() bool {
	text := plainOutput(r.Output)
	return ranNone().Match(text) && !ranSome().Match(ranNone().ReplaceAll(text, nil))
}

// String is one line about it.
func (r Ran) String() string {
	switch {
	case r.Fault == FaultTimeout && r.Check.Timeout > 0:
		return fmt.Sprintf("%s: %s: it was stopped after %s; raise [pipeline] check_timeout in odd.toml", r.Check.Name, r.Fault, r.Check.Timeout)
	case r.Fault != "":
		return strings.TrimSuffix(fmt.Sprintf("%s: %s %s", r.Check.Name, r.Fault, r.Detail), " ")
	case !r.Done:
		return r.Check.Name + ": not run"
	case r.Exit != 0:
		return fmt.Sprintf("%s: exit %d", r.Check.Name, r.Exit)
	case r.noTests() && r.Check.Tests:
		return r.Check.Name + ": failed, because it ran no test"
	case r.noTests():
		return r.Check.Name + ": passed (it has no tests)"
	case !r.Passed():
		return r.Check.Name + ": exit 0, but it tells of tests that failed"
	}
	return r.Check.Name + ": passed"
}

// firstLine returns the first line that a check printed about its failure, "" where it printed none.
func (r Ran) firstLine() string {
	for line := range strings.Lines(excerptOf(r.Output)) {
		if line = strings.TrimSpace(line); line != "" {
			return clipText(line, maxSaid)
		}
	}
	return ""
}

// Report is the result of the checks of a tree. The zero Report has not passed.
type Report struct {
	Want     []Check // what was to be run
	Ran      []Ran   // what was, in order; behind a failure that makes the rest pointless nothing is
	Findings []policy.Finding
	Breaches []string // in what the tree is worse than its base, where all checks passed
	Done     bool     // the checks were gone through
}

// Sandbox lists how the kernel restricted the checks, each way once; "" where none ran.
func (r Report) Sandbox() string {
	var all []string
	for _, ran := range r.Ran {
		if ran.Sandbox != "" && !slices.Contains(all, ran.Sandbox) {
			all = append(all, ran.Sandbox)
		}
	}
	return strings.Join(all, "; ")
}

// Passed reports that every check passed, and that no finding is hard.
func (r Report) Passed() bool {
	return r.Done && len(r.Ran) == len(r.Want) && len(r.Breaches) == 0 && !slices.ContainsFunc(r.Ran, func(r Ran) bool { return !r.Passed() }) && !slices.ContainsFunc(r.Findings, isHard)
}

func isHard(f policy.Finding) bool { return f.Severity == policy.Hard }

// Refusals returns what the hard ones among findings say.
func Refusals(all []policy.Finding) []string {
	var out []string
	for _, f := range all {
		if isHard(f) {
			out = append(out, f.Sentence())
		}
	}
	return out
}

// Failures returns all that keeps the report from having passed.
func (r Report) Failures() []string {
	out := Refusals(r.Findings)
	for _, ran := range r.Ran {
		if !ran.Passed() {
			out = append(out, strings.TrimSuffix(ran.String()+": "+ran.firstLine(), ": "))
		}
	}
	return append(out, r.Breaches...)
}

// String is the report for people, one line a check.
func (r Report) String() string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintln(&b, f.Error())
	}
	for _, ran := range r.Ran {
		fmt.Fprintln(&b, ran.String())
	}
	for _, breach := range r.Breaches {
		fmt.Fprintln(&b, breach)
	}
	if n := len(r.Want) - len(r.Ran); n > 0 {
		fmt.Fprintf(&b, "%d more checks were not run\n", n)
	}
	if len(r.Want) == 0 {
		fmt.Fprintln(&b, "no check ran; set [pipeline] validate in odd.toml to run your tests")
	}
	return b.String()
}

// Examine runs the checks one after the other with run, which must bound each. After a
// failure of syntax or of the surroundings it runs no further check, because that would say
// the same.
func Examine(checks []Check, findings []policy.Finding, run func(Check) Ran) Report {
	r := Report{Want: checks, Findings: findings, Done: true}
	if slices.ContainsFunc(findings, isHard) {
		return r
	}
	for _, c := range checks {
		if c.Last && slices.ContainsFunc(r.Ran, func(r Ran) bool { return !r.Passed() }) {
			break
		}
		ran := run(c)
		ran.Check = c
		r.Ran = append(r.Ran, ran)
		if f := ran.diagnoseRun(); f.Class == ClassSyntax || f.Class == ClassEnv || ran.Fault == FaultCancelled {
			break
		}
	}
	return r
}

// Package sense turns what tools report, and what a range of commits adds, into tasks.
//
// A sensor is a function from bytes to findings. Read knows the formats of reports that
// test runners and linters write; findMarks, undocumentedExports and findDeadReferences look at two
// versions of a file. Plan decides which findings become tasks: those of one cause together, each cause
// once, the most urgent first, and no more than the limits allow. Source reads what commits
// add, and which tasks were filed before. Nothing here reads a clock or the network, and
// nothing is decided by a model.
//
// What a report says is data: it goes into a task's text, indented as code. A task stays in
// backlog until a person marks it ready, unless odd.toml lets its sensor do that.
package sense

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/okf"
)

// Finding is one thing that a sensor found.
type Finding struct {
	Sensor    string // the name of a Sensor
	Subject   string // what it is about: a package, a file from the repository's top
	Signature string // what is wrong there, the same while it is the same: a test, a rule
	Message   string // for a person, some lines
	Line      int    // in the subject, 0 for unknown
	Priority  string // "p0" to "p3"; "" is the sensor's
}

// Takes is what odd.toml lists for a sensor.
type Takes string

// What [sense.sensors] lists.
const (
	Reports Takes = "reports" // files that a tool wrote
	Files   Takes = "files"   // globs of files in the repository
	Command Takes = "command" // the words of a command that prints findings
	Chores  Takes = "chores"  // "weekly: …", as ParseChore reads them
)

// Sensor is a row of the table of sensors.
type Sensor struct {
	Name     string
	Takes    Takes
	Reads    string
	Signal   string // of board.Signals
	Priority string // of a task, where a finding says no other
	Title    string // of a task, with %s for the subject
	Once     bool   // what a task that is done was filed for is not filed again
}

// Sensors are what odd sense has.
func Sensors() []Sensor {
	return []Sensor{
		{"test", Reports, "go test -json, JUnit XML, TAP", "test_failure", "p1", "Failing tests in %s", false},
		{"lint", Reports, "SARIF 2.1.0", "backlog", "p2", "Findings of a tool in %s", false},
		{"audit", Reports, "npm audit --json", "backlog", "p2", "Vulnerable package %s", false},
		{"coverage", Reports, "Go cover profiles and LCOV, an earlier one first", "backlog", "p3", "Coverage fell in %s", false},
		{"benchmark", Reports, "go test -bench, earlier ones first", "performance_regression", "p2", "Slower benchmarks in %s", false},
		{"issue", Reports, "issues as gh issue list --json and GitLab print them", "github_issue", "p2", "Issue %s", true},
		{"mark", Files, "to-do comments", "code_marks", "p3", "To-do comments in %s", false},
		{"export", Files, "exported names of Go without a comment", "doc_staleness", "p3", "Undocumented names in %s", false},
		{"document", Files, "links of Markdown to files that are gone", "doc_staleness", "p3", "Dead references in %s", false},
		{"due", Chores, "chores whose day, week or month has come", "scheduled", "p2", "%s", true},
		{"custom", Command, "lines of JSON, as any command may print them", "backlog", "p2", "Report about %s", false},
	}
}

// Find returns the sensor of a name.
func Find(name string) (Sensor, bool) {
	all := Sensors()
	i := slices.IndexFunc(all, func(s Sensor) bool { return s.Name == name })
	if i < 0 {
		return Sensor{}, false
	}
	return all[i], true
}

// cause is what becomes one task: all that a sensor found of one subject.
type cause struct {
	sensor   Sensor
	subject  string
	priority string
	findings []Finding // by signature, each once
}

// groupCauses puts the findings of one sensor and subject together, the most urgent first.
func groupCauses(found []Finding) (out []cause) {
	found = slices.Clone(found)
	for i, f := range found {
		found[i].Subject, found[i].Signature = codeLine(f.Subject), codeLine(f.Signature)
	}
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Sensor, b.Sensor), cmp.Compare(a.Subject, b.Subject),
			cmp.Compare(a.Signature, b.Signature), cmp.Compare(a.Line, b.Line))
	})
	for _, f := range found {
		last := len(out) - 1
		if last < 0 || out[last].sensor.Name != f.Sensor || out[last].subject != f.Subject {
			of, _ := Find(f.Sensor)
			out = append(out, cause{sensor: of, subject: f.Subject, priority: "p9"})
			last++
		}
		c := &out[last]
		c.priority = min(c.priority, cmp.Or(f.Priority, c.sensor.Priority))
		if n := len(c.findings); n == 0 || c.findings[n-1].Signature != f.Signature {
			c.findings = append(c.findings, f)
		}
	}
	slices.SortStableFunc(out, func(a, b cause) int { return cmp.Compare(a.priority, b.priority) })
	return out
}

// taskID is the task's: of the sensor and the subject, so that they have one task at a time.
func (c cause) taskID() okf.ID {
	slug := board.Slug(okf.ID(c.sensor.Name + "/" + c.subject)) // its end tells subjects of one name apart
	slug = strings.TrimLeft(slug[max(0, len(slug)-idMax):], "-")
	return okf.ID(c.sensor.Name + "-" + slug)
}

// idMax leaves room in an id of a task for the sensor and a number.
const idMax = 48

// signature is the same while the same is wrong with the subject.
func (c cause) signature() string {
	var b strings.Builder
	for _, f := range c.findings {
		b.WriteString(f.Signature + "\x00")
	}
	return hashHex(b.String())[:12]
}

func hashHex(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// shown is how many findings a task's text lists, and shownLines how many lines of each.
const (
	shown      = 20
	shownLines = 20
)

func (c cause) formatBody() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Filed by odd sense: %s. Priority %s %s.\n", countOf(len(c.findings), "finding"), c.priority, c.priorityReason())
	for i, f := range c.findings {
		if i == shown {
			fmt.Fprintf(&b, "\nAnd %d more.\n", len(c.findings)-shown)
			break
		}
		b.WriteString("\n    " + f.Signature)
		if f.Line > 0 {
			fmt.Fprintf(&b, " (line %d)", f.Line)
		}
		b.WriteString("\n")
		lines := strings.Split(strings.Trim(f.Message, "\r\n"), "\n")
		for _, l := range lines[:min(len(lines), shownLines)] {
			if l = codeLine(l); l != "" {
				b.WriteString("    | " + l + "\n")
			}
		}
	}
	return b.String()
}

func (c cause) priorityReason() string {
	if c.priority == c.sensor.Priority {
		return "is the usual one of the sensor " + c.sensor.Name
	}
	return "is what the most urgent finding has"
}

// codeLine returns a text as one line that a task can hold as code: valid, short, and without what
// moves a cursor.
func codeLine(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return okf.Clip(strings.TrimRight(strings.NewReplacer("\t", "    ", "\n", " ", "\r", "").Replace(okf.Visible(s)), " "), 300)
}

func countOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

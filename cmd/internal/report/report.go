// Package report prints findings about files as text, JSON or GitHub workflow commands.
package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/okf"
)

// Finding is one finding of a check or an audit, in the shape all the writers
// here share. Every text in it is somebody else's: it is shown through
// okf.Visible.
type Finding struct {
	Rule     string
	Severity okf.Severity
	File     string // slash-separated, from the top of the repository; "" where it is about no file
	Line     int    // from 1; 0 for the whole file
	Place    string // file and line as the person's shell sees them
	Text     string
}

// The formats of a report.
const (
	Text   = "text"
	JSON   = "json"
	gitHub = "github"
)

// Flags returns the flags by which a person chooses a format.
func Flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "github", Usage: "print GitHub annotations, for the log of a workflow, instead of text"},
	}
}

// Format returns the one format the flags ask for.
func Format(c *cli.Context) (string, error) {
	format, err := verb.OneFlag(c, JSON, gitHub)
	return cmp.Or(format, Text), err
}

// FormatNamed returns the value of --format, one of all, or json by --json.
func FormatNamed(c *cli.Context, all ...string) (string, error) {
	format := c.String("format")
	if c.Bool("json") {
		format = JSON
	}
	if !slices.Contains(all, format) {
		last := len(all) - 1
		return "", verb.Usage("%s: unknown format %q; want %s or %s", verb.Name(c), format, strings.Join(all[:last], ", "), all[last])
	}
	return format, nil
}

// Print prints value as JSON, whose shape is each verb's own, or findings in another
// format.
func Print(env console.Env, format string, value any, found []Finding) error {
	switch format {
	case JSON:
		return console.PrintJSON(env, value)
	case gitHub:
		return printGitHub(env, found)
	}
	return printLocated(env, found)
}

// printLocated prints one line a finding, as compilers do. Of a rule with more than
// 20 it prints the first five, and at the end how many more there are.
func printLocated(env console.Env, found []Finding) error {
	const most, few = 20, 5
	colour := map[okf.Severity]string{okf.Error: "31", okf.Warn: "33"}
	times, printed := map[string]int{}, map[string]int{}
	for _, f := range found {
		times[f.Rule]++
	}
	var cut []string
	out := console.FoldedOutput(env)
	for _, f := range found {
		if printed[f.Rule] == few && times[f.Rule] > most {
			if !slices.Contains(cut, f.Rule) {
				cut = append(cut, f.Rule)
			}
			continue
		}
		printed[f.Rule]++
		if _, err := fmt.Fprintf(out, "%s: %s: %s [%s]\n", console.Cell(f.Place), env.Paint(colour[f.Severity], string(f.Severity)), console.Cell(f.Text), console.Cell(f.Rule)); err != nil {
			return err
		}
	}
	for _, rule := range cut {
		if _, err := fmt.Fprintf(out, "... and %d more [%s]; --json lists every one\n", times[rule]-few, console.Cell(rule)); err != nil {
			return err
		}
	}
	return nil
}

// printGitHub prints the workflow commands that make GitHub show findings beside
// the lines they are about.
func printGitHub(env console.Env, found []Finding) error {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, f := range found {
		var where string
		if f.File != "" {
			where = fmt.Sprintf("file=%s,line=%d,", property.Replace(okf.Visible(f.File)), max(f.Line, 1))
		}
		level := map[okf.Severity]string{okf.Error: "error", okf.Warn: "warning"}[f.Severity]
		if _, err := fmt.Fprintf(env.Stdout, "::%s %stitle=%s::%s\n", cmp.Or(level, "notice"), where, property.Replace(okf.Visible(f.Rule)), data.Replace(okf.Visible(f.Text))); err != nil {
			return err
		}
	}
	return nil
}

// Status returns the word for a number of findings.
func Status(bad int) string {
	if bad > 0 {
		return "FINDINGS"
	}
	return "OK"
}

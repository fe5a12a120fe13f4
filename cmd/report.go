package cmd

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf"
)

// reportFinding is one finding of a check or an audit, in the shape all the writers
// here share. Every text in it is somebody else's: it is shown through
// okf.Visible.
type reportFinding struct {
	rule     string
	severity okf.Severity
	file     string // slash-separated, from the top of the repository; "" where it is about no file
	line     int    // from 1; 0 for the whole file
	near     string // where file is "": one that exists, for readers of SARIF that want a place for everything
	place    string // file and line as the person's shell sees them
	text     string
}

// The formats of a report.
const (
	asText   = "text"
	asJSON   = "json"
	asSARIF  = "sarif"
	asGitHub = "github"
)

func formatFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "sarif", Usage: "print SARIF 2.1.0, for code scanning, instead of text"},
		&cli.BoolFlag{Name: "github", Usage: "print GitHub annotations, for the log of a workflow, instead of text"},
	}
}

// formatOf returns the one format the flags ask for.
func formatOf(c *cli.Context) (string, error) {
	format, err := oneFlag(c, asJSON, asSARIF, asGitHub)
	return or(format, asText), err
}

// formatNamed returns the value of --format, one of all, or json by --json.
func formatNamed(c *cli.Context, all ...string) (string, error) {
	format := c.String("format")
	if c.Bool("json") {
		format = asJSON
	}
	if !slices.Contains(all, format) {
		last := len(all) - 1
		return "", usage("%s: unknown format %q; want %s or %s", verbOf(c), format, strings.Join(all[:last], ", "), all[last])
	}
	return format, nil
}

// printFound prints value as JSON, whose shape is each verb's own, or findings in another
// format.
func printFound(env Env, format string, value any, rules []okf.Code, found []reportFinding) error {
	switch format {
	case asJSON:
		return printJSON(env, value)
	case asSARIF:
		return printSARIF(env, rules, found)
	case asGitHub:
		return printGitHub(env, found)
	}
	return printLocated(env, found)
}

// printLocated prints one line a finding, as compilers do. Of a rule with more than
// 20 it prints the first five, and at the end how many more there are.
func printLocated(env Env, found []reportFinding) error {
	const most, few = 20, 5
	colour := map[okf.Severity]string{okf.Error: "31", okf.Warn: "33"}
	times, printed := map[string]int{}, map[string]int{}
	for _, f := range found {
		times[f.rule]++
	}
	var cut []string
	out := foldedOutput(env)
	for _, f := range found {
		if printed[f.rule] == few && times[f.rule] > most {
			if !slices.Contains(cut, f.rule) {
				cut = append(cut, f.rule)
			}
			continue
		}
		printed[f.rule]++
		if _, err := fmt.Fprintf(out, "%s: %s: %s [%s]\n", cell(f.place), env.paintText(colour[f.severity], string(f.severity)), cell(f.text), cell(f.rule)); err != nil {
			return err
		}
	}
	for _, rule := range cut {
		if _, err := fmt.Fprintf(out, "... and %d more [%s]; --json lists every one\n", times[rule]-few, cell(rule)); err != nil {
			return err
		}
	}
	return nil
}

// printGitHub prints the workflow commands that make GitHub show findings beside
// the lines they are about.
func printGitHub(env Env, found []reportFinding) error {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, f := range found {
		var where string
		if f.file != "" {
			where = fmt.Sprintf("file=%s,line=%d,", property.Replace(okf.Visible(f.file)), max(f.line, 1))
		}
		level := map[okf.Severity]string{okf.Error: "error", okf.Warn: "warning"}[f.severity]
		if _, err := fmt.Fprintf(env.Stdout, "::%s %stitle=%s::%s\n", or(level, "notice"), where, property.Replace(okf.Visible(f.rule)), data.Replace(okf.Visible(f.text))); err != nil {
			return err
		}
	}
	return nil
}

// printSARIF prints one run of SARIF 2.1.0. A rule that is not in the table is added to
// it, so that every result has its index.
func printSARIF(env Env, rules []okf.Code, found []reportFinding) error {
	type object map[string]any
	index, table, results := map[string]int{}, []object{}, []object{}
	add := func(r okf.Code) int {
		if _, known := index[r.Name]; !known {
			index[r.Name] = len(index)
			table = append(table, object{"id": okf.Visible(r.Name), "shortDescription": object{"text": okf.Visible(r.About)}, "defaultConfiguration": object{"level": sarifLevel(r.Severity)}})
		}
		return index[r.Name]
	}
	for _, r := range rules {
		add(r)
	}
	before := map[string]int{}
	for _, f := range found {
		result := object{
			"ruleId": okf.Visible(f.rule), "ruleIndex": add(okf.Code{Name: f.rule, Severity: f.severity, About: f.rule}), "level": sarifLevel(f.severity),
			"message": object{"text": okf.Visible(f.text)}, "partialFingerprints": object{"odd/v1": f.newFingerprint(before)},
		}
		if file := okf.Visible(or(f.file, f.near)); file != "" {
			u := url.URL{Path: file}
			at := object{"artifactLocation": object{"uri": strings.ReplaceAll(u.EscapedPath(), ":", "%3A"), "uriBaseId": "SRCROOT"}}
			if f.line > 0 {
				at["region"] = object{"startLine": f.line}
			}
			result["locations"] = []object{{"physicalLocation": at}}
		}
		results = append(results, result)
	}
	run := object{
		"tool":               object{"driver": object{"name": "odd", "version": oddVersion(), "rules": table}},
		"originalUriBaseIds": object{"SRCROOT": object{}}, // the top of the repository, as the report's reader knows it
		"results":            results,
	}
	return printJSON(env, object{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": []object{run}})
}

// sarifLevel returns a severity as SARIF says it.
func sarifLevel(s okf.Severity) string {
	switch s {
	case okf.Error, okf.Warn:
		return string(s)
	}
	return "note"
}

// newFingerprint names a finding by what it says and where, without its line, so
// that it keeps its name while lines move; before counts those that would have
// the same one.
func (f reportFinding) newFingerprint(before map[string]int) string {
	key := f.rule + "\x00" + f.file + "\x00" + f.text
	before[key]++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", key, before[key]))
	return hex.EncodeToString(sum[:16])
}

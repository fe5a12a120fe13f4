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

// located is one finding of a check or an audit, in the shape all the writers
// here share. Every text in it is somebody else's: it is shown through
// okf.Visible.
type located struct {
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

// formatFlags are the flags of every verb that reports findings.
func formatFlags() []cli.Flag {
	return []cli.Flag{
		jsonFlag(),
		&cli.BoolFlag{Name: "sarif", Usage: "print SARIF 2.1.0, for code scanning, instead of text"},
		&cli.BoolFlag{Name: "github", Usage: "print GitHub annotations, for the log of a workflow, instead of text"},
	}
}

// formatOf is the one format the flags ask for.
func formatOf(c *cli.Context) (string, error) {
	format := asText
	for _, f := range []string{asJSON, asSARIF, asGitHub} {
		if !c.Bool(f) {
			continue
		}
		if format != asText {
			return "", usage("%s: --%s or --%s, not both", verbOf(c), format, f)
		}
		format = f
	}
	return format, nil
}

// formatNamed is the value of --format, one of all, or json by --json.
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
func printFound(env Env, format string, value any, rules []okf.Code, found []located) error {
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
func printLocated(env Env, found []located) error {
	const most, few = 20, 5
	times, printed := map[string]int{}, map[string]int{}
	for _, f := range found {
		times[f.rule]++
	}
	var cut []string
	for _, f := range found {
		if printed[f.rule] == few && times[f.rule] > most {
			if !slices.Contains(cut, f.rule) {
				cut = append(cut, f.rule)
			}
			continue
		}
		printed[f.rule]++
		if _, err := fmt.Fprintf(env.Stdout, "%s: %s: %s [%s]\n", cell(f.place), colourSeverity(env, f.severity), cell(f.text), cell(f.rule)); err != nil {
			return err
		}
	}
	for _, rule := range cut {
		if _, err := fmt.Fprintf(env.Stdout, "... and %d more [%s]; --json lists every one\n", times[rule]-few, cell(rule)); err != nil {
			return err
		}
	}
	return nil
}

// colourSeverity returns a severity, red or yellow for a person.
func colourSeverity(env Env, s okf.Severity) string {
	code := map[okf.Severity]string{okf.Error: "31", okf.Warn: "33"}[s]
	if code == "" || !env.color() {
		return string(s)
	}
	return "\x1b[" + code + "m" + string(s) + "\x1b[0m"
}

// printGitHub prints the workflow commands that make GitHub show findings beside
// the lines they are about.
func printGitHub(env Env, found []located) error {
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

// The parts of SARIF 2.1.0 that odd writes.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool           `json:"tool"`
		Bases   map[string]struct{} `json:"originalUriBaseIds"`
		Results []sarifResult       `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string     `json:"id"`
		Short sarifText  `json:"shortDescription"`
		Usual sarifLevel `json:"defaultConfiguration"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifLevel struct {
		Level string `json:"level"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
)

// printSARIF prints one run. A rule that is not in the table is added to it, so
// that every result has its index.
func printSARIF(env Env, rules []okf.Code, found []located) error {
	run := sarifRun{Bases: map[string]struct{}{"SRCROOT": {}}, Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "odd", Version: version(), Rules: []sarifRule{}}
	index := map[string]int{}
	rule := func(r okf.Code) int {
		if _, known := index[r.Name]; !known {
			index[r.Name] = len(index)
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{okf.Visible(r.Name), sarifText{okf.Visible(r.About)}, sarifLevel{level(r.Severity)}})
		}
		return index[r.Name]
	}
	for _, r := range rules {
		rule(r)
	}
	before := map[string]int{}
	for _, f := range found {
		i := rule(okf.Code{Name: f.rule, Severity: f.severity, About: f.rule})
		run.Results = append(run.Results, sarifResult{
			RuleID: okf.Visible(f.rule), RuleIndex: i, Level: level(f.severity), Message: sarifText{okf.Visible(f.text)},
			Locations: f.sarif(), Fingerprints: map[string]string{"odd/v1": f.fingerprint(before)},
		})
	}
	return printJSON(env, sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

// level is a severity as SARIF says it.
func level(s okf.Severity) string {
	switch s {
	case okf.Error, okf.Warn:
		return string(s)
	}
	return "note"
}

// sarif is where a finding is: a path from the top of the repository, which the
// reader of the report knows as SRCROOT.
func (f located) sarif() []sarifLocation {
	file := okf.Visible(or(f.file, f.near))
	if file == "" {
		return nil
	}
	u := url.URL{Path: file}
	at := sarifPhysical{Artifact: sarifArtifact{URI: strings.ReplaceAll(u.EscapedPath(), ":", "%3A"), Base: "SRCROOT"}}
	if f.line > 0 {
		at.Region = &sarifRegion{f.line}
	}
	return []sarifLocation{{at}}
}

// fingerprint names a finding by what it says and where, without its line, so
// that it keeps its name while lines move; before counts those that would have
// the same one.
func (f located) fingerprint(before map[string]int) string {
	key := f.rule + "\x00" + f.file + "\x00" + f.text
	before[key]++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", key, before[key]))
	return hex.EncodeToString(sum[:16])
}

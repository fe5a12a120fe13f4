package sense

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Report is a file that a tool wrote. Its name is for errors, which are located, and for a
// TAP report, which names no subject.
type Report struct {
	Name  string
	Bytes []byte
}

// Read reads reports of formats that odd knows, told by what is in them. A report of
// nothing wrong has no findings. Of coverage and benchmarks the last report is compared
// with those before it.
func Read(reports ...Report) (out []Finding, err error) {
	var measured []measure
	for _, r := range reports {
		r.Bytes = bytes.TrimPrefix(bytes.TrimSpace(r.Bytes), []byte("\xef\xbb\xbf"))
		if m, ok := readMeasure(r); ok {
			measured = append(measured, m)
			continue
		}
		found, err := readReport(r.Name, r.Bytes)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	worse, err := compareMeasures(measured)
	return append(out, worse...), err
}

func readReport(name string, b []byte) ([]Finding, error) {
	switch {
	case len(b) == 0:
		return nil, fmt.Errorf("%s: the report is empty; a tool that found nothing writes a report too", name)
	case b[0] == '<':
		return readJUnit(name, b)
	case b[0] == '[':
		return readIssues(name, b)
	case b[0] != '{' && isTAP.Match(b):
		return readTAP(name, string(b)), nil
	case b[0] != '{':
		return nil, fmt.Errorf("%s:1: is no report that odd knows; odd help sense lists the formats", name)
	}
	var head struct {
		Runs, Vulnerabilities json.RawMessage
		Error                 *struct{ Summary string } // of npm
		Message, Action       string
	}
	if json.Unmarshal(b, &head) == nil {
		switch {
		case head.Runs != nil:
			return readSARIF(name, b)
		case head.Vulnerabilities != nil:
			return readNPMAudit(name, b)
		case head.Error != nil:
			return nil, fmt.Errorf("%s: the tool says that it failed: %s; mend that, and let it report again", name, firstText(head.Error.Summary, head.Message))
		}
	}
	first, _, _ := bytes.Cut(b, []byte("\n"))
	if json.Unmarshal(first, &head) == nil && head.Action != "" {
		return goTest(name, b)
	}
	return readCustom(name, b)
}

// eachLine calls do with every line of JSON, and locates its error.
func eachLine(name string, b []byte, do func(line []byte) error) error {
	n := 0
	for line := range bytes.Lines(b) {
		if n++; len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := do(line); err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	return nil
}

// goTest reads the events of go test -json, as "go doc test2json" has them: a test that
// failed, but for one whose subtests did, and a package that failed without one.
func goTest(name string, b []byte) ([]Finding, error) {
	type test struct{ pkg, name string }
	output, ended, failed := map[test]*strings.Builder{}, map[string]bool{}, []test{}
	err := eachLine(name, b, func(line []byte) error {
		var e struct{ Action, Package, ImportPath, Test, Output string }
		if line[0] != '{' { // what go vet says before a test is built
			return nil
		}
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("is no event of go test -json: %w", err)
		}
		pkg, _, _ := strings.Cut(e.Package+e.ImportPath, " ") // "x [x.test]" while it is built
		at := test{pkg, e.Test}
		if e.Package != "" && e.Test == "" {
			ended[pkg] = ended[pkg] || e.Action == "pass" || e.Action == "fail" || e.Action == "skip"
		}
		switch e.Action {
		case "output", "build-output":
			if output[at] == nil {
				output[at] = &strings.Builder{}
			}
			if said := strings.TrimSpace(e.Output); !strings.HasPrefix(said, "=== ") && !strings.HasPrefix(said, "--- FAIL") { // its own words
				output[at].WriteString(e.Output)
			}
		case "fail", "build-fail":
			failed = append(failed, at)
		}
		return nil
	})
	for _, pkg := range slices.Sorted(maps.Keys(ended)) {
		if !ended[pkg] { // the report was cut off, or the tests were killed
			failed = append(failed, test{pkg, ""})
		}
	}
	above := map[test]bool{} // what has a failed test below it, and what was told
	for _, t := range failed {
		for name := t.name; name != ""; {
			name = name[:max(0, strings.LastIndexByte(name, '/'))]
			above[test{t.pkg, name}] = true
		}
	}
	var out []Finding
	for _, t := range failed {
		if above[t] {
			continue
		}
		above[t] = true
		f := Finding{Sensor: "test", Subject: t.pkg, Signature: t.name}
		if t.name == "" {
			f.Signature = "the package does not build, or its tests end early"
		}
		if o := output[t]; o != nil {
			f.Message = o.String()
		}
		out = append(out, f)
	}
	return out, err
}

// readJUnit reads JUnit's XML, whose test cases have a failure or an error where they failed.
func readJUnit(name string, b []byte) (out []Finding, err error) {
	type outcome struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	d := xml.NewDecoder(bytes.NewReader(b))
	d.CharsetReader = latin1
	seen := false
	for {
		tok, err := d.Token()
		if err != nil {
			line, _ := d.InputPos()
			switch {
			case !errors.Is(err, io.EOF):
				return nil, fmt.Errorf("%s:%d: is no XML: %w", name, line, err)
			case !seen:
				return nil, fmt.Errorf("%s:1: is XML, and no report of JUnit's: it has no <testsuite>", name)
			}
			return out, nil
		}
		start, ok := tok.(xml.StartElement)
		if !ok || start.Name.Local != "testcase" {
			seen = seen || ok && (start.Name.Local == "testsuite" || start.Name.Local == "testsuites")
			continue
		}
		var c struct {
			Name     string    `xml:"name,attr"`
			Class    string    `xml:"classname,attr"`
			File     string    `xml:"file,attr"`
			Skipped  []outcome `xml:"skipped"` // also of a test that may fail
			Failures []outcome `xml:"failure"`
			Errors   []outcome `xml:"error"`
		}
		if err := d.DecodeElement(&c, &start); err != nil {
			line, _ := d.InputPos()
			return nil, fmt.Errorf("%s:%d: is no test case: %w", name, line, err)
		}
		if bad := slices.Concat(c.Failures, c.Errors); len(bad) > 0 && len(c.Skipped) == 0 {
			o := bad[0]
			out = append(out, Finding{Sensor: "test", Subject: firstText(c.File, c.Class, name), Signature: c.Name, Message: o.Message + "\n" + o.Text})
		}
	}
}

// latin1 reads the encodings of one byte a character that old tools write. Of
// windows-1252 some quotes come out as other characters.
func latin1(charset string, r io.Reader) (io.Reader, error) {
	if !slices.Contains([]string{"iso-8859-1", "windows-1252", "us-ascii"}, strings.ToLower(charset)) {
		return nil, fmt.Errorf("the encoding %s is not known; let the tool write UTF-8", charset)
	}
	b, err := io.ReadAll(r)
	text := make([]rune, len(b))
	for i, c := range b {
		text[i] = rune(c)
	}
	return strings.NewReader(string(text)), err
}

// isTAP is a line that the Test Anything Protocol begins with; notOK one of a test that
// failed, and expected says that it may.
var (
	isTAP    = regexp.MustCompile(`\A(?:#.*\n)*(?:TAP version \d+|1\.\.\d+|(?:not )?ok \d+\b)`)
	tapPlan  = regexp.MustCompile(`^1\.\.(\d+)`)
	tapTest  = regexp.MustCompile(`^(?:not )?ok\b`)
	notOK    = regexp.MustCompile(`^not ok\b\s*(\d*)\s*-?\s*(.*)$`)
	expected = regexp.MustCompile(`(?i)#\s*(?:todo|skip)\b`)
)

func readTAP(name, text string) (out []Finding) {
	open, ran, planned := false, 0, 0 // open: what follows, indented or a comment, is of the last finding
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if tapTest.MatchString(line) {
			ran++
		} else if p := tapPlan.FindStringSubmatch(line); p != nil {
			planned, _ = strconv.Atoi(p[1])
		}
		m := notOK.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, "Bail out!"):
			return append(out, Finding{Sensor: "test", Subject: name, Signature: "the tests end early", Message: line})
		case m != nil && !expected.MatchString(m[2]):
			out, open = append(out, Finding{Sensor: "test", Subject: name, Signature: firstText(m[2], "test "+m[1])}), true
		case open && (strings.HasPrefix(line, " ") || strings.HasPrefix(line, "#")):
			out[len(out)-1].Message += line + "\n"
		default:
			open = false
		}
	}
	if ran < planned {
		out = append(out, Finding{Sensor: "test", Subject: name, Signature: "the tests end early", Message: fmt.Sprintf("%d of %d ran", ran, planned)})
	}
	return out
}

// readSARIF reads the results of SARIF 2.1.0 that are open: no pass, not suppressed, not absent.
func readSARIF(name string, b []byte) (out []Finding, err error) {
	var log struct {
		Runs []struct {
			Tool        struct{ Driver struct{ Name string } }
			Invocations []struct{ ExecutionSuccessful *bool }
			Results     []struct {
				RuleID, Level, Kind, BaselineState string
				Message                            struct{ Text string }
				Suppressions                       []json.RawMessage
				Locations                          []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(b, &log); err != nil {
		return nil, fmt.Errorf("%s: is no SARIF: %s", name, whyNot(err))
	}
	levels := map[string]string{"error": "p1", "warning": "p2", "": "p2", "note": "p3", "none": "p3"}
	for _, run := range log.Runs {
		for _, i := range run.Invocations {
			if i.ExecutionSuccessful != nil && !*i.ExecutionSuccessful {
				return nil, fmt.Errorf("%s: %s says that it failed; mend that, and let it report again", name, run.Tool.Driver.Name)
			}
		}
		for _, r := range run.Results {
			if r.Kind != "" && r.Kind != "fail" && r.Kind != "open" && r.Kind != "review" || len(r.Suppressions) > 0 || r.BaselineState == "absent" {
				continue
			}
			f := Finding{Sensor: "lint", Subject: run.Tool.Driver.Name, Signature: strings.TrimSpace(run.Tool.Driver.Name + " " + firstText(r.RuleID, r.Message.Text)), Message: r.Message.Text, Priority: levels[r.Level]}
			if len(r.Locations) > 0 {
				at := r.Locations[0].PhysicalLocation
				uri := strings.TrimPrefix(at.ArtifactLocation.URI, "file://")
				if plain, err := url.PathUnescape(uri); err == nil {
					uri = plain
				}
				f.Subject, f.Line = firstText(uri, f.Subject), at.Region.StartLine
			}
			if f.Subject == "" {
				f.Subject = name
			}
			out = append(out, f)
		}
	}
	return out, nil
}

// whyNot says what is wrong with JSON without Go's types.
func whyNot(err error) string {
	if t := (*json.UnmarshalTypeError)(nil); errors.As(err, &t) {
		return fmt.Sprintf("its member %q may not be of type %s", strings.Trim(t.Field, "."), t.Value)
	}
	return err.Error()
}

// readNPMAudit reads what npm audit --json prints: the packages with advisories of their own, and
// not those that only depend on one.
func readNPMAudit(name string, b []byte) (out []Finding, err error) {
	var log struct {
		Vulnerabilities map[string]struct {
			Severity, Range string
			Via             []json.RawMessage // an advisory, or the name of the package that has it
		}
	}
	if err := json.Unmarshal(b, &log); err != nil {
		return nil, fmt.Errorf("%s: is no report of npm audit: %s", name, whyNot(err))
	}
	priority := map[string]string{"critical": "p0", "high": "p1", "low": "p3", "info": "p3"}
	for _, pkg := range slices.Sorted(maps.Keys(log.Vulnerabilities)) {
		v := log.Vulnerabilities[pkg]
		for _, via := range v.Via {
			var a struct{ Title, URL, Severity, Range string }
			if json.Unmarshal(via, &a) == nil {
				out = append(out, Finding{Sensor: "audit", Subject: pkg, Signature: firstText(a.Title, a.URL, "is vulnerable"),
					Message: fmt.Sprintf("versions %s, %s\n%s", firstText(a.Range, v.Range), firstText(a.Severity, v.Severity), a.URL), Priority: priority[firstText(a.Severity, v.Severity)]})
			}
		}
	}
	return out, nil
}

// readIssues reads a list of issues, as gh issue list --json number,title,body,url and GitLab's
// API print it.
func readIssues(name string, b []byte) (out []Finding, err error) {
	var list []struct {
		Number, IID       int
		Title, State      string
		Body, Description string
		URL               string
		WebURL            string `json:"web_url"`
	}
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, fmt.Errorf("%s: is no list of issues with number, title, body and url: %s", name, whyNot(err))
	}
	for i, is := range list {
		n := max(is.Number, is.IID)
		if n <= 0 || strings.TrimSpace(is.Title) == "" {
			return nil, fmt.Errorf("%s: item %d has no number and title, so it is no issue; odd help sense lists the formats", name, i+1)
		}
		if !strings.EqualFold(is.State, "closed") {
			out = append(out, Finding{Sensor: "issue", Subject: "#" + strconv.Itoa(n), Signature: is.Title, Message: firstText(is.URL, is.WebURL) + "\n" + firstText(is.Body, is.Description)})
		}
	}
	return out, nil
}

// readCustom reads a finding a line.
func readCustom(name string, b []byte) (out []Finding, err error) {
	err = eachLine(name, b, func(line []byte) error {
		var f struct{ Subject, Signature, Message, Priority string }
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&f); err != nil {
			return fmt.Errorf("want a line of JSON with subject, signature, message and priority: %w", err)
		}
		if rest, _ := io.ReadAll(d.Buffered()); len(bytes.TrimSpace(rest)) > 0 {
			return errors.New("has more than one finding; write one a line")
		}
		if f.Subject == "" || f.Signature == "" {
			return errors.New("subject and signature say what is wrong with what; give both")
		}
		if f.Priority != "" && !slices.Contains([]string{"p0", "p1", "p2", "p3"}, f.Priority) {
			return fmt.Errorf("priority %q: want p0, p1, p2 or p3", f.Priority)
		}
		out = append(out, Finding{Sensor: "custom", Subject: f.Subject, Signature: f.Signature, Message: f.Message, Priority: f.Priority})
		return nil
	})
	return out, err
}

// firstText returns the first text that is none of whitespace alone.
func firstText(texts ...string) string {
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			return t
		}
	}
	return ""
}

package sense

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/board"
)

// lines are findings as sensor, subject, signature, priority and line.
func lines(found []Finding) []string {
	out := []string{}
	for _, f := range found {
		out = append(out, fmt.Sprintf("%s %s: %s %s:%d", f.Sensor, f.Subject, f.Signature, f.Priority, f.Line))
	}
	return out
}

// The reference of odd.toml explains every sensor.
func TestTheReferenceHasEverySensor(t *testing.T) {
	b, err := os.ReadFile("../config/reference.toml")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range Sensors() {
		if !strings.Contains(string(b), "\n# "+s.Name+" = ") {
			t.Errorf("board/config/reference.toml does not explain the sensor %s", s.Name)
		}
	}
}

func TestReports(t *testing.T) {
	for _, c := range []struct {
		name, report string
		want         []string
		err          string
	}{
		{"go test", `{"Action":"start","Package":"a"}
{"Action":"output","Package":"a","Test":"TestX/one","Output":"x_test.go:3: no\n"}
{"Action":"fail","Package":"a","Test":"TestX/one"}
{"Action":"pass","Package":"a","Test":"TestX/two"}
{"Action":"fail","Package":"a","Test":"TestX"}
{"Action":"fail","Package":"a","Test":"TestY"}
{"Action":"fail","Package":"a"}
{"Action":"pass","Package":"ok"}
{"ImportPath":"b [b.test]","Action":"build-output","Output":"b.go:1: syntax error\n"}
{"ImportPath":"b [b.test]","Action":"build-fail"}
{"Action":"fail","Package":"b","FailedBuild":"b [b.test]"}
`, []string{"test a: TestX/one :0", "test a: TestY :0", "test b: the package does not build, or its tests end early :0"}, ""},
		{"go test, cut off between events", "{\"Action\":\"start\",\"Package\":\"a\"}\n{\"Action\":\"run\",\"Package\":\"a\",\"Test\":\"TestX\"}\n",
			[]string{"test a: the package does not build, or its tests end early :0"}, ""},
		{"go test as text", "ok  \ta\t0.1s\nFAIL\tb\t0.1s\n", nil, "report:1: is no report"},
		{"TAP that bails out", "1..5\nok 1\nBail out! no tide\n", []string{"test report: the tests end early :0"}, ""},
		{"TAP without its end", "1..3\nok 1\nok 2\n", []string{"test report: the tests end early :0"}, ""},
		{"SARIF of a tool that failed", `{"runs": [{"tool": {"driver": {"name": "vet"}}, "invocations": [{"executionSuccessful": false}], "results": []}]}`, nil, "report: vet says that it failed"},
		{"two findings a line", `{"subject": "a", "signature": "b"}{"subject": "c", "signature": "d"}`, nil, "report:1: has more than one"},
		{"go test, all well", `{"Action":"pass","Package":"ok"}`, []string{}, ""},
		{"go test, cut off", "{\"Action\":\"pass\",\"Package\":\"ok\"}\n{\"Action\":\"pa", nil, "report:2: is no event of go test -json"},
		{"JUnit", `<?xml version="1.0"?><testsuites><testsuite name="s">
<testcase classname="shop.Cart" name="adds"><failure message="want 1">at Cart:7</failure></testcase>
<testcase name="lone" file="b.py"><error message="no module"/></testcase>
<testcase classname="shop.Cart" name="well"/><testcase name="later"><skipped/></testcase>
<testcase name="may fail"><skipped type="todo"/><failure/></testcase>
</testsuite></testsuites>`, []string{"test shop.Cart: adds :0", "test b.py: lone :0"}, ""},
		{"JUnit in Latin-1", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><testsuite><testcase classname=\"a\" name=\"caf\xe9\"><failure/></testcase></testsuite>", []string{"test a: café :0"}, ""},
		{"JUnit in another encoding", `<?xml version="1.0" encoding="EBCDIC"?><testsuite/>`, nil, `report:1: is no XML: xml: opening charset "EBCDIC": the encoding EBCDIC is not known; let the tool write UTF-8`},
		{"other XML", `<html><body/></html>`, nil, "report:1: is XML, and no report of JUnit's"},
		{"broken XML", "<testsuite>\n<testcase", nil, "report:2: is no"},
		{"TAP", "TAP version 13\n1..4\nok 1 - a\nnot ok 2 - adds up\n  ---\n  got: 3\n  ...\nnot ok 3 - later # todo not yet\nnot ok 4\n",
			[]string{"test report: adds up :0", "test report: test 4 :0"}, ""},
		{"SARIF", `{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "vet"}}, "results": [
{"ruleId": "G1", "level": "error", "message": {"text": "bad"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "a.go"}, "region": {"startLine": 9}}}]},
{"ruleId": "G2", "message": {"text": "old"}, "suppressions": [{}]},
{"ruleId": "G3", "kind": "pass", "message": {"text": "fine"}},
{"ruleId": "G4", "level": "note", "message": {"text": "everywhere"}}]}]}`,
			[]string{"lint a.go: vet G1 p1:9", "lint vet: vet G4 p3:0"}, ""},
		{"lines of JSON", `{"subject": "quay", "signature": "flooded", "message": "2 m", "priority": "p0"}`, []string{"custom quay: flooded p0:0"}, ""},
		{"a member that is not known", `{"subject": "quay", "sig": "x"}`, nil, "report:1: want a line of JSON"},
		{"no signature", `{"subject": "quay"}`, nil, "report:1: subject and signature"},
		{"another priority", `{"subject": "a", "signature": "b", "priority": "high"}`, nil, `report:1: priority "high"`},
		{"prose", "All is well.\n", nil, "report:1: is no report that odd knows"},
		{"nothing", " \n", nil, "report: the report is empty"},
		{"npm audit", `{"auditReportVersion": 2, "vulnerabilities": {
"minimist": {"name": "minimist", "severity": "critical", "via": [{"source": 1, "title": "Prototype Pollution in minimist", "url": "https://example.org/GHSA-1", "severity": "critical", "range": "<0.2.4"},
{"source": 2, "title": "Another", "severity": "moderate"}], "range": "<=0.2.3", "fixAvailable": true},
"mkdirp": {"name": "mkdirp", "severity": "critical", "via": ["minimist"], "effects": []}}, "metadata": {}}`,
			[]string{"audit minimist: Prototype Pollution in minimist p0:0", "audit minimist: Another :0"}, ""},
		{"npm audit of another form", `{"vulnerabilities": []}`, nil, `report: is no report of npm audit: its member "Vulnerabilities" may not be of type array`},
		{"npm audit, all well", `{"auditReportVersion": 2, "vulnerabilities": {}, "metadata": {}}`, []string{}, ""},
		{"npm audit without a network", "{\n  \"message\": \"405 Method Not Allowed\",\n  \"error\": {\"summary\": \"\", \"detail\": \"\"}\n}", nil, "report: the tool says that it failed: 405 Method"},
		{"issues of GitHub", `[{"number": 12, "title": "Crash at start", "body": "It ends.\r\n", "url": "https://example.org/12"}, {"number": 13, "title": "x", "state": "CLOSED"}]`,
			[]string{"issue #12: Crash at start :0"}, ""},
		{"issues of GitLab", `[{"id": 900, "iid": 7, "title": "Slow", "description": "very", "web_url": "https://example.org/7", "state": "opened"}]`, []string{"issue #7: Slow :0"}, ""},
		{"a list of something else", `[{"filePath": "/a.js", "messages": []}]`, nil, "report: item 1 has no number and title"},
		{"an empty list", `[]`, []string{}, ""},
		{"one profile of coverage", "mode: set\na/b.go:1.1,2.2 1 1\n", nil, "report: is one report of the sensor coverage; name an earlier one"},
	} {
		found, err := Read(Report{"report", []byte(c.report)})
		if c.err != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.err) {
				t.Errorf("%s: error %v, want %s", c.name, err, c.err)
			}
			continue
		}
		if d := cmp.Diff(c.want, lines(found)); d != "" || err != nil {
			t.Errorf("%s: %v %s", c.name, err, d)
		}
	}
}

// in halves, as in the table
const todo, fixme = "TO" + "DO", "FIX" + "ME"

func TestMarks(t *testing.T) {
	before := "package a\n\n// " + todo + ": old\nfunc A() {}\n"
	after := "package a\n\nfunc A() {}\n// " + todo + ": old\n// " + fixme + "(ann): wrong by one\nx := 1 // todo in small letters\n# " + todo + " list\n# " + todo + ": in a script\n/* " + "HA" + "CK" + " */\ns := \"" + todo + ": in a text\"\n// " + todo + "S are a page\n"
	want := []string{"mark a.go: " + fixme + " wrong by one p2:5", "mark a.go: " + todo + " in a script :8", "mark a.go: " + "HA" + "CK" + " */ p2:9"}
	if d := cmp.Diff(want, lines(findMarks("a.go", []byte(before), []byte(after)))); d != "" {
		t.Error(d)
	}
	if got := findMarks("web/vendor/a.go", nil, []byte(after)); got != nil {
		t.Errorf("in others' code: %v", got)
	}
	if got := findMarks("a.bin", nil, []byte("// "+todo+": x\x00")); got != nil {
		t.Errorf("in a file that is no text: %v", got)
	}
}

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// filed is what the board holds after an intake.
func filed(in Intake, state board.State) (out []Filed) {
	for _, f := range in.New {
		signature, _ := signatureOf(f.Tags)
		out = append(out, Filed{f.ID, state, signature, f.At})
	}
	return out
}

func TestOneTaskACause(t *testing.T) {
	found := []Finding{
		{Sensor: "mark", Subject: "a.go", Signature: todo + " x"},
		{Sensor: "test", Subject: "a", Signature: "TestB"}, {Sensor: "test", Subject: "a", Signature: "TestA"},
		{Sensor: "test", Subject: "a", Signature: "TestA"},
		{Sensor: "lint", Subject: "a.go", Signature: "G1", Priority: "p1"},
	}
	wide := Limits{9, 9, 9}
	in := Plan(found, nil, wide, "odd/test", noon)
	var titles []string
	for _, f := range in.New {
		titles = append(titles, f.Priority+" "+f.Title+": "+f.Description)
		if _, err := board.New(f); err != nil {
			t.Error(err)
		}
	}
	want := []string{"p1 Findings of a tool in a.go: G1", "p1 Failing tests in a: TestA, and 1 more", "p3 To-do comments in a.go: " + todo + " x"}
	if d := cmp.Diff(want, titles); d != "" {
		t.Error(d)
	}
	again := func(before []Filed, found []Finding) Intake { return Plan(found, before, wide, "odd/test", noon) }
	for _, s := range []board.State{board.Backlog, board.Ready, board.InProgress, board.Review, board.Blocked} {
		if in := again(filed(in, s), found); len(in.New) > 0 || len(in.Left) != 3 {
			t.Errorf("with tasks in %s: files %d", s, len(in.New))
		}
	}
	test := found[1:4]
	done := filed(again(nil, test), board.Done)
	if in := again(done, test); len(in.New) != 1 || in.New[0].ID != done[0].ID+"-2" {
		t.Errorf("after it was done: %v", in)
	}
	gone := filed(again(nil, test), "")
	if in := again(gone, test); len(in.New) > 0 || !strings.Contains(in.Left[0].Why, "deleted") {
		t.Errorf("after a person deleted it: %v", in)
	}
	taken := []Filed{{ID: gone[0].ID, State: board.Ready}}
	if in := again(taken, test); len(in.New) > 0 || len(in.Left) != 1 {
		t.Errorf("another's task has the id: %v", in)
	}
	more := append(test, Finding{Sensor: "test", Subject: "a", Signature: "TestC"})
	if in := again(gone, more); len(in.New) != 1 {
		t.Errorf("deleted, and something else is wrong: %v", in)
	}
	both := append(gone, filed(again(gone, more), "")...)
	if in := again(both, test); len(in.New) > 0 {
		t.Errorf("deleted twice, and the first is wrong again: %v", in)
	}
}

// A storm files what the limits allow, the most urgent first, and counts the rest; runs
// that follow file the same causes again only while there is room.
func TestStorm(t *testing.T) {
	var found []Finding
	for i := range 10_000 {
		found = append(found, Finding{Sensor: "lint", Subject: fmt.Sprintf("f%d.go", i%2500), Signature: fmt.Sprint("G", i), Priority: fmt.Sprint("p", 3-i%4)})
	}
	lim := Limits{Run: 5, Day: 12, Open: 8}
	var on []Filed
	for run, want := range []int{5, 3, 0} {
		in := Plan(found, on, lim, "odd/test", noon)
		if len(in.New) != want || len(in.New)+len(in.Left) != 2500 {
			t.Errorf("run %d: %d filed, %d left", run, len(in.New), len(in.Left))
		}
		for _, f := range in.New {
			if f.Priority != "p0" {
				t.Errorf("%s is %s", f.ID, f.Priority)
			}
		}
		on = append(on, filed(in, board.Backlog)...)
	}
	for i := range on {
		on[i].State = board.Done
	}
	in := Plan(found, on, lim, "odd/test", noon)
	if len(in.New) != 4 || !strings.Contains(in.Left[len(in.Left)-1].Why, "[sense] day") {
		t.Errorf("the same day: %d, %v", len(in.New), in.Left[len(in.Left)-1])
	}
	if in := Plan(found, on, lim, "odd/test", noon.AddDate(0, 0, 1)); len(in.New) != 5 {
		t.Errorf("the next day: %d", len(in.New))
	}
}

// Whatever a report holds, what is filed of it is a task that board reads.
func FuzzReport(f *testing.F) {
	f.Add([]byte(`{"Action":"fail","Package":"a","Test":"T"}`))
	f.Add([]byte(`<testsuite><testcase name="a"><failure>x</failure></testcase></testsuite>`))
	f.Add([]byte("not ok 1 - \x1b[31m\n  ```\n"))
	f.Add([]byte(`{"runs":[{"results":[{"ruleId":"a","message":{"text":"---\ntype: x"}}]}]}`))
	f.Add([]byte("not ok 1 - \xcc"))
	f.Add([]byte(`{"subject":"../../x","signature":"\u202e"}`))
	f.Add([]byte(`[{"number": 1, "title": "a"}]`))
	f.Add([]byte(`{"vulnerabilities": {"a": {"via": ["b", {"title": "c"}]}}}`))
	f.Add([]byte("mode: set\na:1 1 1\n"))
	f.Add([]byte("pkg: a\nBenchmarkX 1 1 ns/op\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		found, err := Read(Report{"r", b}, Report{"r", b})
		if err != nil {
			return
		}
		for _, task := range Plan(found, nil, Limits{9, 9, 9}, "odd/test", noon).New {
			a, err := board.New(task)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := board.Parse(&a); err != nil || !isTaskID(a.ID) {
				t.Fatalf("%s: %v", a.ID, err)
			}
		}
	})
}

// Of coverage and benchmarks the last report is compared with those before it.
func TestMeasures(t *testing.T) {
	for _, c := range []struct {
		name    string
		reports []string
		want    []string
	}{
		{"Go profiles", []string{
			"mode: set\na/b.go:1.1,2.2 8 1\na/b.go:3.1,4.2 2 0\na/c.go:1.1,2.2 1 1\n",
			"mode: set\na/b.go:1.1,2.2 8 0\na/b.go:3.1,4.2 2 0\na/b.go:3.1,4.2 2 1\na/c.go:1.1,2.2 1 1\na/new.go:1.1,2.2 1 0\n",
		}, []string{"coverage a/b.go: is covered less than before: from 80.0 % of its statements to 20.0 %"}},
		{"a fall within the limit", []string{"mode: set\na/b.go:1.1,2.2 99 1\na/b.go:3.1,4.2 1 1\n", "mode: set\na/b.go:1.1,2.2 99 1\na/b.go:3.1,4.2 1 0\n"}, nil},
		{"only the report before counts", []string{"mode: set\na:1 4 1\n", "mode: set\na:1 4 0\n", "mode: set\na:1 4 0\n"}, nil},
		{"LCOV", []string{"TN:\nSF:src/a.js\nDA:1,1\nDA:2,3\nLF:2\nLH:2\nend_of_record\n", "SF:src/a.js\nDA:1,1\nDA:2,0\nDA:broken\nend_of_record\n"},
			[]string{"coverage src/a.js: is covered less than before: from 100.0 % of its statements to 50.0 %"}},
		{"benchmarks", []string{
			"goos: linux\npkg: a\nBenchmarkX-8  100  100 ns/op  16 B/op  0 allocs/op\nBenchmarkY-8 100 50 ns/op\n", "pkg: a\nBenchmarkX-4 100 110 ns/op 16 B/op 0 allocs/op\n",
			"pkg: a\nBenchmarkX-8 100 105 ns/op 64 B/op 1 allocs/op\nBenchmarkY-8 100 80 ns/op\nBenchmarkNew 1 9 ns/op\n",
		}, []string{"benchmark a: BenchmarkX B/op: from 16 to 64, medians of 2 and 1 runs", "benchmark a: BenchmarkY ns/op: from 50 to 80, medians of 1 and 1 runs"}},
	} {
		var in []Report
		for i, r := range c.reports {
			in = append(in, Report{fmt.Sprint(i), []byte(r)})
		}
		found, err := Read(in...)
		var got []string
		for _, f := range found {
			got = append(got, f.Sensor+" "+f.Subject+": "+f.Signature+": "+f.Message)
		}
		if d := cmp.Diff(c.want, got); d != "" || err != nil {
			t.Errorf("%s: %v %s", c.name, err, d)
		}
	}
}

func TestExports(t *testing.T) {
	before := "package a\n\nfunc Old() {}\n"
	after := "package a\n\nfunc Old() {}\n\nfunc New() {}\n\n// Told does.\nfunc Told() {}\n\ntype T[K any] struct{ X int }\n\nfunc (t *T[K]) Do() {}\n\nfunc (t *T[K]) String() string { return \"\" }\n\ntype hidden int\n\nfunc (hidden) String() string { return \"\" }\n\n// The sizes.\nconst (\n\tBig = 1\n)\n\nvar Loose, inner = 1, 2\n"
	want := []string{"export a.go: New has no comment :5", "export a.go: T has no comment :10", "export a.go: T.Do has no comment :12", "export a.go: Loose has no comment :25"}
	if d := cmp.Diff(want, lines(undocumentedExports("a.go", undocumentedNames([]byte(before)), []byte(after)))); d != "" {
		t.Error(d)
	}
	for name, text := range map[string]string{"a_test.go": after, "vendor/x/a.go": after, "internal/a.go": after, "a.py": after, "main.go": "package main\nfunc New() {}\n", "gen.go": "// Code generated by x. DO NOT EDIT.\n\npackage a\n\nfunc New() {}\n", "broken.go": "package a\nfunc New( {"} {
		if got := undocumentedExports(name, nil, []byte(text)); got != nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestDocuments(t *testing.T) {
	text := "# Read\n\nSee [a](a.go#L3), [gone](old.go), [web](https://example.org/x), [up](../../x) and `lib/moved.go`, `lib/never.go`, `a.go`.\n\n```\n[code](none.md)\n```\n\n[top](/docs/none.md) [me](#read) [dir](lib/)\n"
	now := func(p string) bool { return p == "docs/a.go" || p == "docs/lib" }
	was := func(p string) bool { return p == "lib/moved.go" }
	want := []string{"document docs/r.md: links to docs/old.go, which is not there :3", "document docs/r.md: links to docs/none.md, which is not there :9", "document docs/r.md: names lib/moved.go, which is not there :3"}
	if d := cmp.Diff(want, lines(findDeadReferences("docs/r.md", []byte(text), now, was))); d != "" {
		t.Error(d)
	}
	if got := findDeadReferences("docs/r.md", []byte("[\xff](\xfe)"), now, nil); got != nil {
		t.Errorf("not UTF-8: %v", got)
	}
}

// A chore is due once in its time, however often odd looks and whatever became of its task.
func TestDue(t *testing.T) {
	chores := []string{"weekly: Update the dependencies", "monthly: Read the logs", "daily: Sweep"}
	found := Due(chores, noon)
	want := []string{"due Update the dependencies: weekly, for 2026-W10 :0", "due Read the logs: monthly, for 2026-03 :0", "due Sweep: daily, for 2026-03-02 :0"}
	if d := cmp.Diff(want, lines(found)); d != "" {
		t.Error(d)
	}
	plan := func(before []Filed, now time.Time) Intake {
		return Plan(Due(chores[:1], now), before, Limits{9, 9, 9}, "odd/test", now)
	}
	first := plan(nil, noon)
	if len(first.New) != 1 || first.New[0].Title != "Update the dependencies" || !isTaskID(first.New[0].ID) {
		t.Fatalf("%+v", first)
	}
	done := filed(first, board.Done)
	if in := plan(done, noon.AddDate(0, 0, 2)); len(in.New) != 0 || in.Left[0].Why != "its task is done" {
		t.Errorf("done, in the same week: %+v", in)
	}
	if in := plan(done, noon.AddDate(0, 0, 7)); len(in.New) != 1 {
		t.Errorf("done, a week later: %+v", in)
	}
	if in := plan(filed(first, board.Ready), noon.AddDate(0, 0, 7)); len(in.New) != 0 {
		t.Errorf("open still: %+v", in)
	}
}

func TestEverySensorFilesATask(t *testing.T) {
	for _, s := range Sensors() {
		in := Plan([]Finding{{Sensor: s.Name, Subject: "x", Signature: "y"}}, nil, Limits{9, 9, 9}, "odd/test", noon)
		if _, err := board.New(in.New[0]); err != nil || SensorOf(in.New[0].ID, in.New[0].Tags) != s.Name {
			t.Errorf("%s: %v, %+v", s.Name, err, in.New)
		}
	}
}

package report

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/okf"
)

func written(t *testing.T, print func(console.Env) error) string {
	t.Helper()
	var out bytes.Buffer
	if err := print(console.Env{Stdout: &out}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestGitHubEscapes: nothing in a finding can end a workflow command early, or
// begin another.
func TestGitHubEscapes(t *testing.T) {
	t.Parallel()
	got := written(t, func(env console.Env) error {
		return printGitHub(env, []Finding{
			{Rule: "a,b:c", Severity: okf.Error, File: "x,y:z%.md", Line: 3, Text: "100% sure\r\n::error::fake\nend\u202e"},
			{Rule: "r", Severity: okf.Warn, Text: "about no file"},
			{Rule: "r", Severity: okf.Info, File: "a.md", Text: "a whole file: one, two"},
		})
	})
	want := "::error file=x%2Cy%3Az%25.md,line=3,title=a%2Cb%3Ac::100%25 sure%0A::error::fake%0Aend\n" +
		"::warning title=r::about no file\n" +
		"::notice file=a.md,line=1,title=r::a whole file: one, two\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestSARIF holds the log to what SARIF 2.1.0 requires of the parts odd writes,
// and code scanning on top of it.
func TestSARIF(t *testing.T) {
	t.Parallel()
	found := []Finding{
		{Rule: "known", Severity: okf.Error, File: "a b/c#d%.md", Line: 7, Text: "first\u202e"},
		{Rule: "known", Severity: okf.Error, File: "a b/c#d%.md", Line: 9, Text: "first\u202e"},
		{Rule: "stranger", Severity: okf.Info, Text: "about no file"},
		{Rule: "stranger", Severity: okf.Warn, File: "e:f.md", Text: "a whole file"},
		{Rule: "stranger", Severity: okf.Warn, Near: "g.md", Text: "a place for everything"},
	}
	rules := []okf.Code{{Name: "quiet", Severity: okf.Info, About: "is never broken"}, {Name: "known", Severity: okf.Error, About: "says so"}}
	log := parseSARIF(t, written(t, func(env console.Env) error { return printSARIF(env, rules, found) }))
	run := log.Runs[0]
	if len(run.Results) != 5 || len(run.Tool.Driver.Rules) != 3 {
		t.Fatalf("%d results, %d rules", len(run.Results), len(run.Tool.Driver.Rules))
	}
	first := run.Results[0]
	if first.Level != "error" || first.Message.Text != "first" || first.Locations[0].PhysicalLocation.ArtifactLocation.URI != "a%20b/c%23d%25.md" {
		t.Errorf("%+v", first)
	}
	if got := run.Results[3].Locations[0].PhysicalLocation.ArtifactLocation.URI; got != "e%3Af.md" {
		t.Errorf("a name with a colon is read as a scheme: %s", got)
	}
	if len(run.Results[2].Locations) != 0 || run.Results[2].Level != "note" || run.Results[3].Locations[0].PhysicalLocation.Region.StartLine != 0 {
		t.Errorf("%+v", run.Results[2:])
	}
	if got := run.Results[4].Locations[0].PhysicalLocation.ArtifactLocation.URI; got != "g.md" {
		t.Errorf("near is %s", got)
	}
	moved := found[0]
	moved.Line = 70
	again := parseSARIF(t, written(t, func(env console.Env) error { return printSARIF(env, rules, []Finding{moved}) }))
	if a, b := first.PartialFingerprints["odd/v1"], again.Runs[0].Results[0].PartialFingerprints["odd/v1"]; a != b {
		t.Errorf("the fingerprint follows the line: %s, %s", a, b)
	}
	if empty := written(t, func(env console.Env) error { return printSARIF(env, nil, nil) }); !strings.Contains(empty, `"results": []`) {
		t.Errorf("no findings must be an empty list:\n%s", empty)
	}
}

// sarifRead is a SARIF log as its readers see it.
type sarifRead struct {
	Schema  string `json:"$schema"`
	Version string
	Runs    []struct {
		Tool struct {
			Driver struct {
				Name  string
				Rules []struct {
					ID                   string
					ShortDescription     struct{ Text string }
					DefaultConfiguration struct{ Level string }
				}
			}
		}
		OriginalURIBaseIDs map[string]any `json:"originalUriBaseIds"`
		Results            []struct {
			RuleID    string
			RuleIndex *int
			Level     string
			Message   struct{ Text string }
			Locations []struct {
				PhysicalLocation struct {
					ArtifactLocation struct{ URI, URIBaseID string }
					Region           struct{ StartLine int }
				}
			}
			PartialFingerprints map[string]string
		}
	}
}

func parseSARIF(t *testing.T, text string) sarifRead {
	t.Helper()
	var log sarifRead
	if err := json.Unmarshal([]byte(text), &log); err != nil {
		t.Fatal(err)
	}
	if log.Version != "2.1.0" || log.Schema == "" || len(log.Runs) != 1 || log.Runs[0].Tool.Driver.Name != "odd" {
		t.Fatalf("head: %s", text)
	}
	run, ids, prints := log.Runs[0], map[string]bool{}, map[string]bool{}
	for _, r := range run.Tool.Driver.Rules {
		if ids[r.ID] || r.ShortDescription.Text == "" || !validLevel(r.DefaultConfiguration.Level) {
			t.Errorf("rule %+v", r)
		}
		ids[r.ID] = true
	}
	for _, r := range run.Results {
		if r.RuleIndex == nil || *r.RuleIndex < 0 || *r.RuleIndex >= len(ids) || run.Tool.Driver.Rules[*r.RuleIndex].ID != r.RuleID {
			t.Errorf("the index of %s is not its rule's", r.RuleID)
		}
		p := r.PartialFingerprints["odd/v1"]
		if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(p) || prints[p] || r.Message.Text == "" || !validLevel(r.Level) {
			t.Errorf("result %+v", r)
		}
		prints[p] = true
		for _, l := range r.Locations {
			at := l.PhysicalLocation.ArtifactLocation
			if _, known := run.OriginalURIBaseIDs[at.URIBaseID]; !known || strings.HasPrefix(at.URI, "/") || strings.ContainsAny(at.URI, " #\\") {
				t.Errorf("place %+v", at)
			}
		}
	}
	return log
}

func validLevel(s string) bool { return s == "error" || s == "warning" || s == "note" }

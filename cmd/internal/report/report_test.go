package report

import (
	"bytes"
	"testing"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/okf"
)

// TestGitHubEscapes: nothing in a finding can end a workflow command early, or
// begin another.
func TestGitHubEscapes(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := printGitHub(console.Env{Stdout: &out}, []Finding{
		{Rule: "a,b:c", Severity: okf.Error, File: "x,y:z%.md", Line: 3, Text: "100% sure\r\n::error::fake\nend\u202e"},
		{Rule: "r", Severity: okf.Warn, Text: "about no file"},
		{Rule: "r", Severity: okf.Info, File: "a.md", Text: "a whole file: one, two"},
	}); err != nil {
		t.Fatal(err)
	}
	want := "::error file=x%2Cy%3Az%25.md,line=3,title=a%2Cb%3Ac::100%25 sure%0A::error::fake%0Aend\n" +
		"::warning title=r::about no file\n" +
		"::notice file=a.md,line=1,title=r::a whole file: one, two\n"
	if got := out.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

package invoke

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/odd-cli/odd/persona/contract"
)

var update = flag.Bool("update", false, "write the briefs of testdata anew")

// TestBriefs: the brief of each role, to be read as the agent reads it. What changes one shows
// in its diff.
func TestBriefs(t *testing.T) {
	t.Parallel()
	change := input()
	change.Task.Kind, change.Task.Title, change.Task.Goal = "implement", "Shorten the guide", "One page for guests"
	change.Preferences = []Ref{{Path: "knowledge/policies/tables.md", Blob: "b7", Title: "Prefer table tests", Text: []byte("Prefer table tests.\n")}}
	change.Related = []Ref{{Path: "knowledge/policies/length.md", Blob: "b6", Title: "Length of a guide", Text: []byte("A guide has at most two pages.\n")}}
	change.Change = &Asked{Paths: []string{"docs/*.md"}, Root: "knowledge", Base: "c1", Limits: "The change may hold 50 files.", Commands: [][]string{{"make", "lint"}}, GoChecks: true}
	briefs := map[string]Input{"none": input(), "change": change}
	for _, role := range contract.RoleNames() {
		in := input()
		in.Contract = under(role, contract.Agent)
		briefs[string(role)] = in
	}
	for name, in := range briefs {
		file := filepath.Join("testdata", "briefs", name+".md")
		got := Compose(in).Text
		if *update {
			if err := os.WriteFile(file, got, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || string(got) != string(want) {
			t.Errorf("%s is not the brief of this input (%v); go test ./persona/invoke -run TestBriefs -update writes it, then read the diff", file, err)
		}
	}
}

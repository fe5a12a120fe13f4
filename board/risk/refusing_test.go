package risk

import (
	"os"
	"slices"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/reconcile/lint"
	"github.com/odd-cli/odd/reconcile/policy"
)

// Of the attacks on tests and on the gates every one that must be blocked is
// refused, not put in front of a person; only the person who filed the task, and
// named the file, is asked about a test.
func TestAttacksOnTestsAndGatesRefuse(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"tests", "gates"} {
		var doc struct {
			Row []struct {
				Name, Want, Path string
				Before, After    *string
				Protect          []string
				Beside           []struct{ Path, Before string }
			}
		}
		b, err := os.ReadFile("../../reconcile/lint/testdata/attack/" + name + ".toml")
		if err == nil {
			_, err = toml.Decode(string(b), &doc)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range doc.Row {
			if r.Want != "block" || r.Path == "" {
				continue
			}
			f := lint.File{Path: r.Path}
			if r.Before != nil {
				f.Before = []byte(*r.Before)
			}
			if r.After != nil {
				f.After = []byte(*r.After)
			}
			o := lint.Options{Protect: r.Protect}
			for _, b := range r.Beside {
				o.Beside = append(o.Beside, lint.File{Path: b.Path, Before: []byte(b.Before), After: []byte(b.Before)})
			}
			all := lint.Judge([]lint.File{f}, o).Findings
			refuses := func(by pipeline.Filed, scope ...string) bool {
				return hard((&Ground{all: pipeline.Evidence{Filed: by, Scope: scope}}).Refusing(all))
			}
			if !refuses(pipeline.FiledByMachine, r.Path) || !refuses(pipeline.FiledByPerson, "**") {
				t.Errorf("%s: %s: no refusal of %v", name, r.Name, all)
			}
			other := slices.ContainsFunc(all, func(f policy.Finding) bool {
				return f.Severity == policy.Hard && !pipeline.WeakensTests(f.Code) && !isForPerson(f)
			})
			if is := refuses(pipeline.FiledByPerson, r.Path); is != other {
				t.Errorf("%s: %s: a person named the file, refused is %v for %v", name, r.Name, is, all)
			}
		}
	}
}

func hard(all []policy.Finding) bool {
	return slices.ContainsFunc(all, func(f policy.Finding) bool { return f.Severity == policy.Hard })
}

package invoke

import (
	"slices"
	"strings"
	"testing"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/persona/session"
)

// partsOf are the parts of a brief, in their order.
func partsOf(b Brief) (out []string) {
	for _, p := range b.Manifest {
		out = append(out, p.Name)
	}
	return out
}

func partOf(b Brief, name string) string {
	i := slices.IndexFunc(b.Manifest, func(p Part) bool { return p.Name == name })
	if i < 0 {
		return ""
	}
	return string(b.Manifest[i].Text)
}

func TestAskedForAChange(t *testing.T) {
	t.Parallel()
	in := Input{Run: "run-1", Task: Task{ID: "t", Title: "T"}, Change: &Asked{
		Paths: []string{"docs/**"}, Root: "knowledge", Base: "abc", Commands: [][]string{{"make", "a b"}}, Limits: "Small.",
		Files: []File{{Path: "docs/a.md", Blob: "b1", Text: []byte("# A\n")}, {Path: "docs/large.md", Blob: "b2"}},
	}}
	b := Compose(in)
	for _, want := range []string{"- docs/**\n", "nothing below knowledge/", "commit abc", `["make" "a b"]`, "2b.1-noop"} {
		if !strings.Contains(partOf(b, "change"), want) {
			t.Errorf("the part has no %q", want)
		}
	}
	if f := partOf(b, "files"); !strings.Contains(f, "# A") || !strings.Contains(f, "docs/large.md  b2") {
		t.Error(f)
	}
	in.Change = nil
	if partOf(Compose(in), "change") != "" {
		t.Error("a task that asks for no change is told how to make one")
	}

	step := b.Planned("p").Step(session.StepPlan).Again("wrong")
	got := partsOf(step)
	if got[len(got)-1] != "emission" || !strings.Contains(partOf(step, "step"), "plan.1") || partOf(step, "plan") != "p\n" || partOf(step, "again") != "wrong\n" {
		t.Error(got)
	}
	if again := step.Again("worse"); len(partsOf(again)) != len(got) || partOf(again, "again") != "worse\n" {
		t.Error("what was wrong is told twice")
	}
}

// What the forms show is read by what reads answers.
func TestTheFormsOfAChangeAreRead(t *testing.T) {
	t.Parallel()
	at := func(string) ([]byte, string, error) { return []byte("old\n"), "100644", nil }
	n := 0
	for block := range strings.SplitSeq(formChange+formPlan+formExpansion, "```") {
		word, text, _ := strings.Cut(block, "\n")
		var err error
		switch word {
		case "change":
			_, err = pipeline.ParseCandidate([]byte(text), pipeline.Given{At: at})
		case "plan":
			_, err = pipeline.ParsePlan([]byte(text), []string{"docs/**"})
		case "expansion":
			_, err = pipeline.ParseExpansion([]byte(text))
		default:
			continue
		}
		if n++; err != nil {
			t.Errorf("%s: %v", word, err)
		}
	}
	if n != 4 {
		t.Errorf("%d forms, want 4", n)
	}
}

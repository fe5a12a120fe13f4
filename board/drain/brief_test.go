package drain

import (
	"fmt"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
)

// A contract without an artifact has none: not the whole repository.
func TestNoArtifactIsNoFile(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"docs/a.md": {Data: []byte("a")}, "docs/b.md": {Data: []byte("b")}}
	for artifact, want := range map[string]int{"": 0, "docs/a.md": 1, "docs": 2, "klappy://canon/x": 0} {
		got := artifactFiles(bound{Contract: contract.Contract{Artifact: artifact}}, files, "knowledge")
		if len(got) != want {
			t.Errorf("artifact %q: %d files, want %d", artifact, len(got), want)
		}
	}
}

// A folder is no way around a fresh context: what happened before stays out of
// it, unless it is itself what is judged.
func TestAFolderIsNoWayAroundAFreshContext(t *testing.T) {
	t.Parallel()
	file := &fstest.MapFile{Data: []byte("x")}
	files := fstest.MapFS{"k/terms/a.md": file, "k/tasks/t.md": file, "k/journal/j.tsv": file, "k/handoffs/plan.md": file, "k/ledger/2026-03/r.jsonl": file, "k/proposals/r.jsonl": file}
	for _, c := range []struct {
		artifact string
		want     int
	}{{"k", 1}, {"k/journal", 0}, {"k/handoffs", 0}, {"k/tasks/*.md", 0}, {"k/tasks/t.md", 1}, {"k/terms", 1}} {
		if got := artifactFiles(bound{Contract: contract.Contract{Artifact: c.artifact, Strict: true}}, files, "k"); len(got) != c.want {
			t.Errorf("artifact %q: %v, want %d files", c.artifact, got, c.want)
		}
	}
	if got := artifactFiles(bound{Contract: contract.Contract{Artifact: "k"}}, files, "k"); len(got) != len(files) {
		t.Errorf("a session without a fresh context is given %d files of %d", len(got), len(files))
	}
}

// A validator's findings are about what it was shown, whatever it calls that.
func TestFindingsAreAboutWhatWasShown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		under contract.Contract
		want  string
	}{{contract.Contract{Strict: true, Artifact: "docs/a.md"}, "docs/a.md"}, {contract.Contract{Strict: true}, "docs/b.md"}, {contract.Contract{Artifact: "docs/a.md"}, "docs/b.md"}} {
		made := deliver.Deliverable{Schema: deliver.SchemaFindings, Findings: &deliver.Findings{Artifact: "docs/b.md"}}
		if made = (&drain{}).contracts().withArtifact(made, c.under); made.Artifact() != c.want {
			t.Errorf("%+v: about %s, want %s", c.under, made.Artifact(), c.want)
		}
	}
}

// A brief has the texts of all files that a task may change where they are few, and of many
// those that are about the task. No text stands twice, and every file is named.
func TestFilesMeantBy(t *testing.T) {
	t.Parallel()
	text := func(words string, size int) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(words + strings.Repeat(" x", size/2))}
	}
	for _, c := range []struct {
		name   string
		inputs []string
		files  fstest.MapFS
		want   string // the files, those without text in brackets
	}{
		{"few", nil, fstest.MapFS{"src/b.go": text("gulls", 100), "src/a.go": text("none", 100), "docs/c.md": text("tides", 9), "k/d.go": text("tides", 9)}, "src/a.go src/b.go"},
		{"an input", []string{"src/a.go"}, fstest.MapFS{"src/a.go": text("tides", 100), "src/b.go": text("", 100)}, "(src/a.go) src/b.go"},
		{"many", nil, fstest.MapFS{"src/a.go": text("none", 20_000), "src/b.go": text("of tides and gulls", 20_000), "src/c.go": text("tide", 10_000), "src/d.go": text("gulls", 9_000)}, "(src/a.go) src/b.go src/c.go (src/d.go)"},
		{"by its name", nil, fstest.MapFS{"src/a.go": text("tides", 20_000), "src/tides.go": text("", 20_000)}, "(src/a.go) src/tides.go"},
		{"none about it", nil, fstest.MapFS{"src/a.go": text("", 20_000), "src/b.go": text("", 20_000)}, "(src/a.go) (src/b.go)"},
	} {
		s := &snapshot{cfg: config.Config{}}
		s.cfg.Root = "k"
		var got []string
		for _, f := range s.filesMeantBy(board.Task{Row: board.Row{Title: "Count the gulls by tides"}, Paths: []string{"src/**", "k/**"}, Inputs: c.inputs}, c.files) {
			if f.Text == nil {
				f.Path = "(" + f.Path + ")"
			}
			got = append(got, f.Path)
		}
		if list := strings.Join(got, " "); list != c.want {
			t.Errorf("%s: %s, want %s", c.name, list, c.want)
		}
	}
}

// A brief names each file of a task once, in order, and not without end.
func TestInputFiles(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"docs/a.md": {Data: []byte("a")}, "docs/b.md": {Data: []byte("b")}, "x.md": {Data: []byte("x")}}
	var got []string
	for _, f := range inputFiles(files, []string{"docs", "docs/*.md", "x.md", "docs/a.md", "gone.md"}) {
		got = append(got, f.Path)
	}
	if strings.Join(got, " ") != "docs/a.md docs/b.md x.md" {
		t.Errorf("%q", got)
	}
	for i := range maxInputs + 1 {
		files[fmt.Sprintf("many/%04d", i)] = &fstest.MapFile{}
	}
	if got := inputFiles(files, []string{"many"}); len(got) != maxInputs {
		t.Errorf("%d files", len(got))
	}
}

// Nobody is shown a brief of a task that is not there.
func TestBriefForNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", "a")
	w.o.Run, w.o.Task = runA, "b"
	if _, _, err := BriefFor(t.Context(), w.repo, w.o, Invocation{}); err == nil || !strings.Contains(err.Error(), "odd task list") {
		t.Error(err)
	}
	w.o.Task = "a"
	if b, _, err := BriefFor(t.Context(), w.repo, w.o, Invocation{}); err != nil || len(b.Text) == 0 {
		t.Errorf("%v, %s", err, b.Text)
	}
}

// The newest report of the attempt before that can be read says which check failed, or that none did.
func TestFailedCheck(t *testing.T) {
	t.Parallel()
	w := waits(t, "")
	w.o.Task, w.o.Run = "a", "run-01KJPWD6M0E8497ANGJ5R0NAZZ"
	if _, err := Refresh(t.Context(), w.repo, w.o); err != nil {
		t.Fatal(err)
	}
	stories, _ := w.ops()
	before := w.mustTask("a")
	next := before
	next.Attempts++
	report := func(says string, passed bool) string {
		return string(pipeline.Dossier{Checks: []pipeline.Checked{{Says: says, Passed: passed}}}.Encode())
	}
	for name, c := range map[string]struct{ old, newer, want string }{
		"it passes by now":     {report("old", false), report("old", true), ""},
		"both failed":          {report("old", false), report("newer", false), "the check that failed: newer"},
		"the newer is pruned":  {report("old", false), "", "the check that failed: old"},
		"the newer is damaged": {report("old", true), `{"checks": [{"says": "damaged"}], "op": 1}`, ""},
	} {
		for i, text := range []string{c.old, c.newer} {
			op, files := stories[i].Op(), repo.Changes{"none": nil}
			if text != "" {
				files = repo.Changes{path.Join(ArtifactDir(before), op.ID, "op.json"): []byte(text)}
			}
			at, err := w.repo.Ref(runRefs + op.Run)
			if err != nil {
				t.Fatal(err)
			}
			kept, err := w.repo.Make(t.Context(), nil, files, ann, "kept")
			if err == nil {
				err = w.repo.Move(t.Context(), repo.RefUpdate{Name: runRefs + op.Run, Old: at, New: kept})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		d := newDrain(w.repo, w.o)
		d.at = w.fresh()
		if got := strings.Join((attempt{d: d, c: &claim{task: next}}).failedCheck(), "\n"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

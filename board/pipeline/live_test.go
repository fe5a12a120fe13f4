package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/exec"
)

// TestLive repairs a real module with the real go: a batch of two files of which
// one does not build and the other fails its test, then only the latter, then none.
func TestLive(t *testing.T) {
	t.Parallel()
	if _, err := osexec.LookPath("go"); err != nil {
		t.Skip("no go")
	}
	root, home, temp := t.TempDir(), t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"go.mod":      "module example.com/m\n\ngo 1.26\n",
		"a/a.go":      "package a\n\nfunc Add(x, y int) int { return 0 }\n",
		"a/a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Error(\"no\")\n\t}\n}\n",
		"b/b.go":      "package b\n\nimport \"example.com/m/a\"\n\nvar Three = a.Add(1, 2)\n",
		"c/c.go":      "package c\n\nvar broken int = \"never looked at\"\n",
	} {
		write(t, root, name, text)
	}
	graph, err := pipeline.ReadGraph(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	batch := func(a, b string) []pipeline.Edit {
		return []pipeline.Edit{
			{Path: "a/a.go", Before: []byte("package a\n"), After: []byte("package a\n\nfunc Add(x, y int) int { return " + a + " }\n"), OldMode: "100644", NewMode: "100644"},
			{Path: "b/b.go", Before: []byte("package b\n"), After: []byte("package b\n\nimport \"example.com/m/a\"\n\nvar Three = a." + b + "(1, 2)\n"), OldMode: "100644", NewMode: "100644"},
		}
	}
	env := exec.Environment(os.Environ(), nil, session.Desk{Tree: root, Home: home, Temp: temp}, "run-1")
	answers := [][]pipeline.Edit{batch("x - y", "Add"), batch("x + y", "Add")}
	var told []string
	r := &pipeline.Repairer{
		Timebox: time.Minute, Now: func() time.Time { return time.Unix(1_700_000_000, 0) }, Files: batch("x - y", "Plus"),
		Generate: func(_ context.Context, f pipeline.Failure) ([]pipeline.Edit, pipeline.Out, error) {
			told = append(told, f.String())
			if len(answers) == 0 {
				return nil, pipeline.Out{}, errors.New("nothing left")
			}
			a := answers[0]
			answers = answers[1:]
			return a, pipeline.Out{}, nil
		},
	}
	r.Run = func(ctx context.Context) (pipeline.Report, error) {
		files := r.Files
		for _, f := range files {
			write(t, root, f.Path, string(f.After))
		}
		checks, findings := pipeline.Checks(files, pipeline.Project{Files: os.DirFS(root), Graph: graph.With(files)})
		return pipeline.Examine(checks, findings, func(c pipeline.Check) pipeline.Ran {
			ctx, cancel := context.WithTimeout(ctx, c.Timeout)
			defer cancel()
			got := exec.Run(ctx, exec.Command{Argv: c.Argv, Tree: root, Dir: c.Dir, Env: env})
			return pipeline.Ran{Done: got.Done, Exit: got.Exit, Fault: got.Fault, Detail: got.Detail, Output: got.Output}
		}), nil
	}
	op, err := pipeline.Begin("op-01", "tasks/add", "run-1", r.Now(), pipeline.Limits{}, map[string]string{pipeline.FactBase: "b"})
	if err != nil {
		t.Fatal(err)
	}
	var ways []string
	for range 3 {
		out, err := r.Work(t.Context(), op)
		if err != nil {
			t.Fatal(err)
		}
		ways = append(ways, string(out.Next))
	}
	if got, want := strings.Join(ways, " "), "repair repair validate"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	want := "syntax: b/b.go: undefined: a.Plus\ntest: example.com/m/a.TestAdd"
	if got := strings.Join(told, "\n"); got != want {
		t.Errorf("told:\n%s\nwant:\n%s", got, want)
	}
	if left, err := filepath.Glob(filepath.Join(root, "*")); err != nil || len(left) != 4 {
		t.Errorf("the checks left something in the tree: %q", left)
	}
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	p := filepath.Join(root, filepath.FromSlash(name))
	old, err := os.ReadFile(p)
	if err == nil && bytes.Equal(old, []byte(text)) {
		return
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o700), os.WriteFile(p, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

package anchor_test

import (
	"context"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/anchor"
)

const (
	bind  = "BIND:\n  ROLE::editor\n  COGNITION::LOGOS\n  AUTHORITY::RESPONSIBLE[the docs]\n"
	proof = "TENSIONS:\n  [NO_GUESSING]⇌CTX:docs/a.md[nobody read it]→TRIGGER[read it]\n  [TESTS_FIRST]⇌CTX:main.go:1-2[no test]→TRIGGER[write one]\n" +
		"COMMIT:\n  ARTIFACT::\"docs/b.md\"\n  GATE::\"go test ./...\"\n"
)

// work is a real repository with a session bound in it.
type work struct {
	t   *testing.T
	dir string
	now time.Time
}

func (w work) git(args ...string) {
	w.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = w.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (w work) write(name, text string) {
	w.t.Helper()
	p := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o666); err != nil {
		w.t.Fatal(err)
	}
}

func (w work) desk() anchor.Desk {
	w.t.Helper()
	store, err := anchor.Open(anchor.Place{Root: w.dir, Dir: ".hestai/sessions", Key: filepath.Join(w.dir, ".git", "odd", "anchor.key")})
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := repo.Open(w.dir, os.Environ())
	if err != nil {
		w.t.Fatal(err)
	}
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { root.Close() })
	return anchor.Desk{Store: store, World: anchor.World{
		Now: w.now, WorkTree: w.dir, Files: root.FS(),
		Random: func(b []byte) error { _, err := rand.Read(b); return err },
		Facts: func() (anchor.Facts, error) {
			f, err := r.Facts(context.Background(), ".hestai/sessions")
			out := anchor.Facts{Head: f.Head, Branch: f.Branch, Upstream: f.Upstream, Ahead: f.Ahead, Behind: f.Behind}
			for _, c := range f.Files {
				out.Files = append(out.Files, anchor.Change{XY: c.XY, Path: c.Path, From: c.From})
			}
			return out, err
		},
		Descends: func(head, from string) (bool, error) { return r.Descends(context.Background(), head, from) },
		Constitution: func(role string) (anchor.Constitution, error) {
			return anchor.Charters{Files: root.FS(), Places: []string{".hestai-sys/agents"}}.Find(role)
		},
		Protected: func(string) (string, bool) { return "", false },
		Phase:     func() (string, string) { return anchor.Phase(root.FS()) },
	}}
}

// TestOwnEditsDoNotLockOut binds in a real work tree and works: what the session
// edits, makes, removes and commits leaves its permit whole. What others do to
// the branch, to history and to the constitution ends it.
func TestOwnEditsDoNotLockOut(t *testing.T) {
	t.Parallel()
	w := work{t, t.TempDir(), time.Date(2027, 1, 15, 8, 0, 0, 0, time.UTC)}
	charter := "===EDITOR===\nMETA:\n  TYPE::AGENT_DEFINITION\n  VERSION::\"1.0\"\nIDENTITY:\n  ROLE::EDITOR\n  COGNITION::LOGOS\n===END===\n"
	w.git("init", "-q", "-b", "main")
	w.write("docs/a.md", "one\n")
	w.write("main.go", "package main\n\nfunc main() {}\n")
	w.write(".hestai-sys/agents/editor.oct.md", charter)
	w.git("add", ".")
	w.git("commit", "-qm", "first")
	r := w.desk().Identity(anchor.IdentityRequest{Role: "editor"})
	token := r.Token
	for _, step := range []func() anchor.Result{
		func() anchor.Result { return r },
		func() anchor.Result { return w.desk().Context(token, []byte(bind)) },
		func() anchor.Result { return w.desk().Proof(token, []byte(proof)) },
	} {
		if r := step(); !r.Success {
			t.Fatalf("%+v", r)
		}
	}
	holds := func(when string, valid bool, codes string) {
		t.Helper()
		v := w.desk().HasValid(token, "editor")
		var got []string
		for _, p := range append(v.Errors, v.Warnings...) {
			got = append(got, string(p.Code))
		}
		if v.Valid != valid || strings.Join(got, " ") != codes {
			t.Errorf("%s: valid %v, %v", when, v.Valid, got)
		}
	}
	holds("fresh", true, "")
	if out, _ := exec.Command("git", "-C", w.dir, "status", "--porcelain").Output(); len(out) > 0 {
		t.Errorf("git sees the state directory: %s", out)
	}
	w.write("docs/a.md", "edited\n")
	w.write("docs/b.md", "new\n")
	os.Remove(filepath.Join(w.dir, "main.go"))
	holds("edited, made and removed", true, "")
	if v := w.desk().Verify(token); !v.Valid || len(v.Warnings) != 3 || v.Warnings[0].At != "ARM.files" {
		t.Errorf("verify: %+v", v)
	}
	w.git("add", ".")
	holds("staged", true, "")
	w.git("commit", "-qm", "second")
	holds("committed", true, "A_HEAD_MOVED")
	if r := w.desk().Proof(token, []byte(proof)); !r.Success {
		t.Errorf("replay after the work: %+v", r)
	}
	w.git("switch", "-qc", "other")
	holds("another branch", false, "A_BRANCH_OTHER")
	w.git("switch", "-q", "main")
	holds("back again", true, "A_HEAD_MOVED")
	w.git("commit", "-q", "--amend", "-m", "amended", "--allow-empty")
	holds("its own commit amended", true, "A_HEAD_MOVED")
	w.write(".hestai-sys/agents/editor.oct.md", strings.Replace(charter, "LOGOS", "ETHOS", 1))
	holds("constitution edited", false, "A_CONSTITUTION_CHANGED")
	w.write(".hestai-sys/agents/editor.oct.md", charter)
	w.git("checkout", "-q", "--orphan", "fresh")
	w.git("commit", "-qm", "another history")
	w.git("branch", "-qM", "main")
	holds("another history", false, "A_HEAD_MOVED")
}

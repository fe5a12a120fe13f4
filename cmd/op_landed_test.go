package cmd

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/runs"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/knowledge"
	"github.com/odd-cli/odd/persona/session"
)

// seen is a substrate whose every act odd sees.
type seen struct{}

func (seen) Run(context.Context, session.Request) (session.Emission, error) {
	return session.Emission{Outcome: session.Completed, Seen: true, Exploration: &session.Exploration{Milli: 1_000_000, Categories: []string{"call_graph", "comprehension", "discovery", "history", "structure"}, Unique: 99}, Usage: session.Usage{Turns: 1, CostKnown: true}, Change: &session.Change{Line: 1,
		Text: []byte(`{"schema_version": "2b.1", "candidates": [{"candidate_id": "c", "rationale": "r", "file_path": "docs/a.md", "full_content": "# B\n"}]}`)}}, nil
}

type typed struct {
	io.Reader
	io.Writer
}

func (typed) Close() error { return nil }

// shop is a repository on whose board task a asks for a change of docs.
type shop struct {
	*testing.T
	env  console.Env
	said bytes.Buffer // on the terminal
	err  bytes.Buffer
}

func newShop(t *testing.T, toml string) *shop {
	t.Helper()
	s := &shop{T: t}
	now := time.Now().UTC().Add(10 * time.Minute).Truncate(time.Second) // nobody has saved a file within three minutes of it
	s.env = console.Env{Dir: t.TempDir(), Temp: t.TempDir(), Now: func() time.Time { return now }, Sleep: func(time.Duration) {}, Entropy: rand.Reader, Getenv: func(string) string { return "" }, Stderr: &s.err}
	r, err := repo.Init(t.Context(), s.env.Dir, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{"user.name": "Ann", "user.email": "ann@example.org", "commit.gpgsign": "false"} {
		if out, err := exec.Command("git", "-C", s.env.Dir, "config", k, v).CombinedOutput(); err != nil {
			t.Fatal(err, string(out))
		}
	}
	ch := repo.Changes{"docs/a.md": []byte("# A\n"), "odd.toml": []byte("[session]\nsubstrate = \"exec\"\n[substrate.exec]\nargv = [\"true\"]\nfree = true\n[governance]\nlease = \"off\"\n[pipeline]\nauto_apply = true\n" + toml),
		"knowledge/tasks/a.md": []byte("---\ntype: task\nid: a\ntitle: A\nstate: ready\nkind: document\nrole: shore-lead\npaths: [docs/**]\n---\n")}
	for _, f := range knowledge.Demo() {
		if !strings.HasPrefix(f.Path, "knowledge/tasks/") {
			ch[f.Path] = f.Data
		}
	}
	oid, err := r.Make(t.Context(), nil, ch, repo.Signature{Name: "Ann", Email: "ann@example.org", When: now.Add(-time.Hour)}, "begin\n")
	if err == nil {
		err = r.Move(t.Context(), repo.RefUpdate{Name: "refs/heads/main", New: oid})
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// drain works task a; on the terminal is typed what is given.
func (s *shop) drain(typing string) drain.Report {
	s.Helper()
	s.types(typing)
	w, err := workspace.Open(s.Context(), s.env)
	if err != nil {
		s.Fatal(err)
	}
	o, err := runs.Options(w)
	if err != nil {
		s.Fatal(err)
	}
	o.Preview = func(ctx context.Context, p drain.Preview) (by string, err error) {
		return runs.ConfirmPreview(ctx, w, p)
	}
	o.Substrate = func(config.Config, fs.FS) (session.Substrate, error) { return seen{}, nil }
	r, err := drain.Run(s.Context(), w.Repo, o)
	if err != nil || len(r.Tasks) != 1 {
		s.Fatal(err, r.Tasks)
	}
	return r
}

func (s *shop) types(text string) {
	s.env.TTY = func() (io.ReadWriteCloser, error) {
		if text == "" {
			return nil, os.ErrNotExist
		}
		return typed{strings.NewReader(text), &s.said}, nil
	}
}

// odd runs a verb and returns what it printed.
func (s *shop) odd(typing string, args ...string) string {
	s.Helper()
	s.types(typing)
	var out bytes.Buffer
	s.env.Stdout = &out
	s.err.Reset()
	if code := oneAtATime(s.env, append([]string{"odd"}, args...)...); code != 0 {
		s.Fatalf("odd %v: exit %d\n%s%s", args, code, out.String(), s.err.String())
	}
	return out.String()
}

// What landed by itself is reviewed and approved, or turned down, like any other;
// the history of either proves itself.
func TestLandedByItselfIsDecided(t *testing.T) {
	t.Parallel()
	for name, decide := range map[string]func(*shop){
		"approved": func(s *shop) { s.odd("a\n", "approve", "a") },
		"rejected": func(s *shop) {
			s.odd("a\n", "reject", "a", "--reason", "not so")
			if !strings.Contains(s.err.String(), "its change was merged without approval and stays: ") {
				s.Error(s.err.String())
			}
		},
		"approved after an edit": func(s *shop) {
			if err := os.WriteFile(filepath.Join(s.env.Dir, "docs", "a.md"), []byte("# C\n"), 0o644); err != nil {
				s.Fatal(err)
			}
			if out, err := exec.Command("git", "-C", s.env.Dir, "commit", "-qam", "mine").CombinedOutput(); err != nil {
				s.Fatal(err, string(out))
			}
			s.odd("a\n", "approve", "a")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, "")
			if r := s.drain(""); r.Tasks[0].Landed != "main" {
				t.Fatalf("%+v", r.Tasks[0])
			}
			if out := s.odd("", "review", "a"); !strings.Contains(out, "merged      without approval, as odd.toml allows, as ") {
				t.Error(out)
			}
			decide(s)
			s.odd("", "check", "--all")
		})
	}
}

// A NOTIFY_APPLY change lands when the person at the terminal types that it may.
func TestPreviewDecides(t *testing.T) {
	t.Parallel()
	for typing, want := range map[string]string{"land\n": "main", "\n": "", "yes\n": "", "": ""} {
		s := newShop(t, "min_tier = \"NOTIFY_APPLY\"\n")
		if r := s.drain(typing); r.Tasks[0].Landed != want {
			t.Errorf("typed %q: %+v", typing, r.Tasks[0])
		}
		if typing != "" && (!strings.Contains(s.said.String(), "+# B") || !strings.Contains(s.said.String(), "floor_min_tier")) {
			t.Errorf("shown: %q", s.said.String())
		}
		held := map[string]string{"land\n": "", "": "nobody_to_see_it"}
		if h, known := held[typing]; !known || h != "" {
			if out := s.odd("", "review", "a", "--stat"); !strings.Contains(out, "["+cmp.Or(h, "preview_declined")+"]\n") {
				t.Errorf("typed %q: %s", typing, out)
			}
		}
	}
}

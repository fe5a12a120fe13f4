package drain

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/board/bench"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/journal/repo/scratch"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/reconcile/policy"
)

// atDesk is a world whose sessions do something at their desk and then emit an atom.
func atDesk(t *testing.T, do func(session.Desk)) *world {
	t.Helper()
	w := newWorld(t, paid, "t")
	w.answer = func(ctx context.Context, r session.Request) (session.Emission, error) {
		d, err := r.Desk(ctx)
		if err != nil {
			return session.Emission{}, err
		}
		do(d)
		return says(term("tide")), nil
	}
	return w
}

// empty wants no scratch repository left.
func (w *world) empty() {
	w.t.Helper()
	if left, _ := filepath.Glob(w.o.Temp + "/*/*"); len(left) > 0 {
		w.t.Errorf("left behind: %v", left)
	}
}

func TestDeskIsThePinnedBase(t *testing.T) {
	t.Parallel()
	var w *world
	w = atDesk(t, func(d session.Desk) {
		pins, err := w.repo.Refs("refs/odd/base/")
		if err != nil || len(pins) != 1 {
			t.Fatalf("pins %v, %v", pins, err)
		}
		desk, err := repo.Open(d.Tree, os.Environ())
		if err != nil {
			t.Fatal(err)
		}
		if head, err := desk.Ref("HEAD"); err != nil || head != pins[0].New {
			t.Errorf("the desk is at %s, %v; want %s", head, err, pins[0].New)
		}
		b, err := os.ReadFile(filepath.Join(d.Tree, "knowledge/tasks/t.md"))
		if err != nil || !strings.Contains(string(b), "in_progress") {
			t.Errorf("got %s, %v", b, err)
		}
	})
	w.must()
	w.empty()
	if ledger := w.ledgers(); strings.Contains(ledger, "scratch") {
		t.Errorf("a tidy desk is told:\n%s", ledger)
	}
}

// A person sees what a session changed so far, of one path or of all.
func TestDiffOfADesk(t *testing.T) {
	t.Parallel()
	w := atDesk(t, func(d session.Desk) {
		for name, text := range map[string]string{"a.txt": "one\n", "b.txt": "two\n"} {
			if err := os.WriteFile(filepath.Join(d.Tree, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	})
	tip, err := w.repo.Ref("refs/heads/main")
	if err != nil {
		t.Fatal(err)
	}
	bw := newDrain(w.repo, w.o)
	bw.at = w.fresh()
	k := &desk{d: bw, base: tip}
	if got, err := k.diff(t.Context(), ""); got != "" || err != nil {
		t.Errorf("before anybody asks for the desk: %q, %v", got, err)
	}
	d, err := k.makeTree(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := k.diff(t.Context(), ""); got != "" || err != nil || d.Cache != "" {
		t.Errorf("of a new desk: %q, %v; its cache, where nothing holds programs: %q", got, err, d.Cache)
	}
	if _, err := w.answer(t.Context(), session.Request{Desk: func(context.Context) (session.Desk, error) { return d, nil }}); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"": "+one +two", "a.txt": "+one", "c.txt": ""} {
		got, err := k.diff(t.Context(), path)
		if both := strings.Contains(got, "+one") == strings.Contains(want, "one") && strings.Contains(got, "+two") == strings.Contains(want, "two"); err != nil || !both {
			t.Errorf("of %q: %q, %v", path, got, err)
		}
	}
	bw.Cage.Self = []string{"odd", "cage"}
	if held, err := k.makeTree(t.Context()); err != nil || !strings.HasSuffix(held.Cache, agent.AgentCache) || len(held.Read) != len(d.Read)+1 {
		t.Errorf("where programs are held: %+v, %v", held, err)
	}
	if err := k.resetTree(); err != nil || k.s != nil {
		t.Error(err)
	}
	w.empty()
}

func TestDeskStaysOverATurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, "t")
	w.answer = func(ctx context.Context, r session.Request) (session.Emission, error) {
		a, err := r.Desk(ctx)
		b, again := r.Desk(ctx)
		if err != nil || again != nil || a.Tree != b.Tree {
			t.Errorf("%v %v, then %v %v", a, err, b, again)
		}
		return says(term("tide")), nil
	}
	w.must()
	w.empty()
}

func TestWhatIsLeftOnADesk(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		do   func(session.Desk)
		want string // in the session's record
	}{
		"a change":  {func(d session.Desk) { os.WriteFile(d.Tree+"/a.go", []byte("package a\n"), 0o600) }, `"scratch":{"changed":1}`},
		"no change": {func(d session.Desk) { os.Symlink("/", d.Tree+"/l"); os.Symlink("/", d.Tree+"/m") }, `"scratch":{"refused":["symlink"]}`},
		"no desk":   {func(d session.Desk) { os.RemoveAll(d.Tree) }, `"scratch":{"refused":["tree-gone"]}`},
		"nothing":   {func(d session.Desk) { os.RemoveAll(filepath.Dir(d.Tree)) }, `"scratch":{"refused":["tree-gone"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := atDesk(t, tc.do)
			r := w.must()
			if got := w.ledgers(); !strings.Contains(got, tc.want) {
				t.Errorf("want %s in\n%s", tc.want, got)
			}
			if r.Tasks[0].State != "review" || r.Tasks[0].Effects["added"] != 1 {
				t.Errorf("the atom did not land: %+v", r.Tasks[0])
			}
			w.empty()
		})
	}
}

func TestAnInterruptedDeskIsRemoved(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	w := atDesk(t, func(d session.Desk) {
		os.WriteFile(d.Tree+"/a.go", []byte("package a\n"), 0o600)
		cancel()
	})
	if _, err := w.drain(ctx); err == nil {
		t.Error("want the interruption")
	}
	w.empty()
	if got := w.ledgers(); strings.Contains(got, "scratch") {
		t.Errorf("got\n%s", got)
	}
}

func TestNoRoomForADesk(t *testing.T) {
	t.Parallel()
	w := atDesk(t, func(session.Desk) { t.Error("a session ran") })
	w.o.Temp = filepath.Join(w.repo.Root(), "tmp")
	if err := os.Mkdir(w.o.Temp, 0o700); err != nil {
		t.Fatal(err)
	}
	before, _ := w.repo.Ref("HEAD")
	_, err := w.drain(t.Context())
	after, _ := w.repo.Ref("HEAD")
	if code(err) != "no-scratch" || before != after {
		t.Errorf("got %v, %s to %s", err, before, after)
	}
	if p, err := Explain(t.Context(), w.repo, w.o); err != nil || len(p.Stops) != 1 || p.Stops[0].Code != "no-scratch" {
		t.Errorf("the plan: %+v, %v", p.Stops, err)
	}
}

func TestCodesOfWhatIsLeft(t *testing.T) {
	t.Parallel()
	l := left{refused: scratch.Unfits{{Code: "symlink"}, {Code: "case-collision"}, {Code: "symlink"}}, fault: "out of time"}
	if d := cmp.Diff([]string{"symlink", "case-collision", "unreadable"}, l.listCodes()); d != "" {
		t.Error(d)
	}
}

// ledgers is every ledger file of the board.
func (w *world) ledgers() string {
	w.t.Helper()
	names, _ := filepath.Glob(w.repo.Root() + "/knowledge/ledger/*/*.jsonl")
	var all strings.Builder
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			w.t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}

// A note names five build products at most and counts the others.
func TestProductsAreNamedUpToFive(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		0: "",
		5: "left out build products: a, b, c, d, e; name them in .gitignore",
		7: "left out build products: a, b, c, d, e and 2 more; name them in .gitignore",
	} {
		var l left
		l.edits.Products = strings.Split("abcdefg", "")[:n]
		if got := l.describeProducts(); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

// A check is never run where odd.toml opens a secret to it, whoever asks for it.
func TestChecksOpenNoSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid)
	tip, err := w.repo.Ref("refs/heads/main")
	if err != nil {
		t.Fatal(err)
	}
	s, err := readSnapshot(w.repo, tip, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := bench.Bench{Host: agent.Host{Temp: t.TempDir(), Environ: os.Environ(), Cage: cage.Cage{Home: "/home/ann"}, Now: w.time}, Say: func(string) {}}
	for place, want := range map[string]string{"/usr/share": "<nil>", "/home": "sandbox-secret"} {
		cfg := s.cfg
		cfg.Pipeline.Validate, cfg.Pipeline.CheckTimeout, cfg.Sandbox.Read = [][]string{{"true"}}, time.Minute, []string{place}
		if _, err := b.Examine(t.Context(), w.repo, bench.Job{Commit: tip, Cfg: cfg}); code(err) != want {
			t.Errorf("%s: %v, want %s", place, err, want)
		}
	}
}

// A source that every parser of its language refuses is a finding, unless it did not parse
// before either. What a parser says of anything else is none.
func TestChecksParse(t *testing.T) {
	w := newWorld(t, paid)
	tip, err := w.repo.Ref("refs/heads/main")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	for name, script := range map[string]string{
		"python3": "#!/bin/sh\nif grep -q bad; then echo 'SyntaxError: invalid syntax'; exit 1; fi\n",
		"node":    "#!/bin/sh\ncase \"$*\" in *module*) word=require;; *) word=import;; esac\nif grep -q -e $word -e bad; then echo 'SyntaxError: not here'; exit 1; fi\ngrep -q sick && exit 1; exit 0\n",
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	b := bench.Bench{Host: agent.Host{Temp: t.TempDir(), Environ: os.Environ(), Now: w.time}, Say: func(string) {}}
	for _, c := range []struct {
		path, before, after string
		bad                 bool
	}{
		{"a.py", "", "good", false},
		{"a.py", "good", "bad", true},
		{"a.py", "bad", "bad still", false},
		{"a.py", "good", "", false},
		{"a.js", "", "import x", false},
		{"a.js", "", "require x", false},
		{"a.js", "", "bad", true},
		{"a.js", "", "bad </a>", false},
		{"a.js", "", "sick", false},
		{"a.txt", "", "bad", false},
	} {
		e := pipeline.Edit{Path: c.path, NewMode: "100644"}
		if c.before != "" {
			e.Before = []byte(c.before)
		}
		if c.after != "" {
			e.After = []byte(c.after)
		}
		r, err := b.Examine(t.Context(), w.repo, bench.Job{Commit: tip, Cfg: config.Default(), Files: []pipeline.Edit{e}, Parse: true})
		if err != nil || slices.ContainsFunc(r.Findings, func(f policy.Finding) bool { return f.Code == "parse_failed" }) != c.bad {
			t.Errorf("%s, %q to %q: %v, %v", c.path, c.before, c.after, r.Findings, err)
		}
	}
}

// A cache of agents' tools that nobody wrote to for a month goes, unless a run lives that may
// use it; that is told.
func TestClearCaches(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	tip, err := w.repo.Ref("refs/heads/main")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		age   time.Duration
		lives bool // a run that has its base pinned
		goes  bool
	}{
		{"old", 31 * 24 * time.Hour, false, true},
		{"young", 29 * 24 * time.Hour, false, false},
		{"old, and a run lives", 31 * 24 * time.Hour, true, false},
	} {
		dir, err := w.repo.Room(agent.CheckCache)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "x")
		if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, w.now.Add(-c.age), w.now.Add(-c.age)); err != nil {
			t.Fatal(err)
		}
		if c.lives {
			if err := w.repo.Move(t.Context(), repo.RefUpdate{Name: pinned + runA, New: tip}); err != nil {
				t.Fatal(err)
			}
			free, err := w.repo.LockRun(runA)
			if err != nil {
				t.Fatal(err)
			}
			defer free()
		}
		said := ""
		d := newDrain(w.repo, Options{Host: agent.Host{Now: w.time}, Progress: func(s string) { said += s }})
		d.computer().clearCaches()
		if _, err := os.Stat(file); os.IsNotExist(err) != c.goes || strings.Contains(said, "check-cache: odd removed this cache: nothing was written to it since") != c.goes {
			t.Errorf("%s: %v, told %q", c.name, err, said)
		}
	}
}

package repo

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
	"github.com/odd-cli/odd/journal/repo/repotest"
)

// following is a checkout on its way, its lock not taken.
func following(t testing.TB, r *Repo, old, next OID) *checkout {
	t.Helper()
	c := repotest.Must[*checkout](t)(r.newCheckout(t.Context(), marker{Ref: "refs/heads/main", Old: old, New: next, Root: r.root, GitDir: r.gitDir}))
	if err := os.MkdirAll(filepath.Dir(c.scratch), 0o755); err != nil {
		t.Fatal(err)
	}
	return c
}

// told is what the scratch index and the new files say: entries, the tree git
// makes of them by what the index remembers of trees and by the entries alone.
func (c *checkout) told(t testing.TB) string {
	t.Helper()
	at := func(index string) []string { return []string{"GIT_DIR=" + c.m.GitDir, "GIT_INDEX_FILE=" + index} }
	run := func(index, in string, args ...string) string {
		out, err := c.r.git.Run(t.Context(), gitcmd.Call{Args: args, Dir: c.m.GitDir, Env: at(index), Stdin: strings.NewReader(in)})
		if err != nil {
			return err.Error()
		}
		return string(out)
	}
	entries := run(c.indexFile(), "", "ls-files", "-s", "-z")
	cached, plain := run(c.indexFile(), "", "write-tree"), c.indexFile()+".plain"
	run(plain, entries, "update-index", "-z", "--index-info")
	repotest.Eq(t, "tree by what is remembered", cached, run(plain, "", "write-tree"))
	text := entries
	for _, ch := range c.changes {
		if p := c.stagedFile(ch.Path); p != "" {
			st := repotest.Must[os.FileInfo](t)(os.Stat(p))
			text += fmt.Sprintln(ch.Path, st.Mode(), string(repotest.Must[[]byte](t)(os.ReadFile(p))))
		}
	}
	return text
}

// Whatever odd stages without git is what git stages, and what git refuses odd leaves to it.
func TestStageHereIsWhatGitStages(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(3, 4))
	paths := []string{"a", "a.b", "d/a", "d/b", "d/e/c", "d/e/f", "d-", "z/z"}
	draw := func(p float64) Changes {
		ch := Changes{}
		for _, name := range paths {
			if rnd.Float64() < p {
				ch[name] = fmt.Appendf(nil, "%s %d\r\n", name, rnd.IntN(2)) // which git leaves as they are
			}
		}
		return ch
	}
	here, refused := 0, 0
	for range 12 {
		r, first := fresh(t, "keep", "1\n", ".gitattributes", "* text=auto\nd/** -text merge=union\n")
		old := repotest.Must[OID](t)(r.Make(t.Context(), []OID{first}, draw(0.7), agent, "old"))
		repotest.Git(t, r.root, "reset", "-q", "--hard", string(old))
		edits := draw(0.4)
		for _, name := range paths {
			if rnd.IntN(5) == 0 {
				edits[name] = nil
			}
		}
		next := repotest.Must[OID](t)(r.Make(t.Context(), []OID{old}, edits, agent, "next"))
		for p := range draw(0.15) {
			repotest.Write(t, r.root, p, fmt.Sprintln(p, rnd.IntN(3)))
			repotest.Git(t, r.root, "add", p)
		}
		repotest.Write(t, r.root, "keep", "2\n")
		repotest.Git(t, r.root, "add", "keep")

		mine, theirs := following(t, r, old, next), following(t, r, old, next)
		done, err := mine.stageHere(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		repotest.Git(t, r.root, "config", "core.fsync", "none") // now it is git's
		err = theirs.writeScratch(t.Context())
		switch {
		case err != nil && done:
			t.Fatalf("done, and git says %v", err)
		case err != nil:
			refused++
		case done:
			here++
			repotest.Eq(t, "staged", mine.told(t), theirs.told(t))
		}
	}
	if here < 4 || refused < 1 {
		t.Errorf("%d of 12 are staged here, git refused %d", here, refused)
	}
}

// Where anything else than the bytes of a commit decides, git stages.
func TestStageHereLeavesToGit(t *testing.T) {
	t.Parallel()
	set := func(args ...string) func(t testing.TB, r *Repo) {
		return func(t testing.TB, r *Repo) { repotest.Git(t, r.Root(), args...) }
	}
	files := func(pairs ...string) func(t testing.TB, r *Repo) {
		return func(t testing.TB, r *Repo) { repotest.Write(t, r.Root(), pairs...) }
	}
	attributes := func(lines ...string) func(t testing.TB, r *Repo) {
		return func(t testing.TB, r *Repo) {
			repotest.Write(t, r.Root(), ".gitattributes", strings.Join(lines, "\n")+"\n")
			repotest.Git(t, r.Root(), "add", ".gitattributes")
		}
	}
	plain := func(name string) bool { return name == "" || strings.HasPrefix(name, "harmless") }
	for name, do := range map[string]func(t testing.TB, r *Repo){
		"":                            func(testing.TB, *Repo) {},
		"harmless attributes":         attributes("# those of odd init", "k/*.tsv merge=union", "k/** -text", "*.go linguist-generated diff=golang", "", "*.sh text eol=lf"),
		"line ends":                   set("config", "core.autocrlf", "input"),
		"attributes named":            set("config", "core.attributesFile", "x"),
		"attributes of the clone":     files(".git/info/attributes", "*.md text\n"),
		"attributes that filter":      attributes("# a comment", "*.md -text filter=x"),
		"attributes that expand":      attributes("* ident"),
		"line ends by attributes":     attributes("* text eol=crlf"),
		"attributes untracked":        files("k/.gitattributes", "*.md eol=crlf\n"),
		"another encoding":            attributes("*.md working-tree-encoding=UTF-16"),
		"attributes by another name":  attributes("[attr]mine filter=x"),
		"attributes of a quoted name": attributes(`"a b" text`),
		"line ends of text":           set("config", "core.eol", "crlf"),
		"a hook":                      func(t testing.TB, r *Repo) { hook(t, r.Root()+"/.git/hooks", "post-index-change", "exit 0\n") },
		"hooks elsewhere":             func(t testing.TB, r *Repo) { set("config", "core.hooksPath", "~/hooks")(t, r) },
		"sparse":                      set("sparse-checkout", "set", "--no-cone", "/*"),
		"out of a sparse checkout":    set("update-index", "--skip-worktree", "other"),
		"assumed unchanged":           set("update-index", "--assume-unchanged", "k/task.md"),
		"split":                       set("update-index", "--split-index"),
		"untracked files remembered":  set("update-index", "--force-untracked-cache"),
		"another format":              set("update-index", "--index-version", "4"),
		"to be added": func(t testing.TB, r *Repo) {
			repotest.Write(t, r.Root(), "k/new/n.md", "x")
			repotest.Git(t, r.Root(), "add", "-N", "k/new/n.md")
		},
		"a file where a folder goes": func(t testing.TB, r *Repo) {
			repotest.Write(t, r.Root(), "k/new", "x")
			repotest.Git(t, r.Root(), "add", "k/new")
		},
		"a folder where a file goes": func(t testing.TB, r *Repo) {
			repotest.Write(t, r.Root(), "k/new/n.md/x", "x")
			repotest.Git(t, r.Root(), "add", "k/new")
		},
		"staged": func(t testing.TB, r *Repo) {
			repotest.Write(t, r.Root(), "k/task.md", "x")
			repotest.Git(t, r.Root(), "add", "k/task.md")
		},
		"its deletion staged": set("rm", "-q", "--cached", "k/task.md"),
		"an object replaced":  set("replace", "HEAD:other", "HEAD:k/task.md"),
		"a damaged index": func(t testing.TB, r *Repo) {
			p := filepath.Join(r.Root(), ".git/index")
			b := repotest.Must[[]byte](t)(os.ReadFile(p))
			b[20] ^= 1
			if err := os.WriteFile(p, b, 0o644); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, base := fresh(t, "k/task.md", "state: ready\n", "k/old.md", "old\n", "other", "1\n")
			next := claim(t, r, base)
			do(t, r)
			r.settings.last = nil
			c := following(t, r, base, next)
			done, err := c.stageHere(t.Context())
			repotest.Eq(t, "error", err, nil)
			repotest.Eq(t, "done", done, plain(name))
			wrote := repotest.Must[[]string](t)(filepath.Glob(c.scratch + "*"))
			repotest.Eq(t, "wrote", len(wrote) > 0, done)
			if err := c.cleanUp(nil); err != nil {
				t.Fatal(err)
			}
			repotest.Eq(t, "left", len(repotest.Must[[]string](t)(filepath.Glob(c.scratch+"*"))), 0)
		})
	}
}

// An edit in the second in which the index was written shows after the index is written again.
func TestStageHereHidesNoEdit(t *testing.T) {
	t.Parallel()
	r, base := fresh(t, "k/task.md", "state: ready\n", "k/old.md", "old\n", "edited", "1\n", "later", "1\n", "same", "1\n")
	then := time.Unix(1_700_000_000, 0)
	for _, p := range []string{"edited", "later", "same"} {
		if err := os.Chtimes(filepath.Join(r.Root(), p), then, then); err != nil {
			t.Fatal(err)
		}
	}
	repotest.Git(t, r.Root(), "config", "core.trustctime", "false")
	repotest.Git(t, r.Root(), "update-index", "-q", "--really-refresh")
	repotest.Write(t, r.Root(), "edited", "2\n", "later", "2\n")
	for p, at := range map[string]time.Time{"edited": then, "later": then.Add(time.Millisecond), ".git/index": then} {
		if err := os.Chtimes(filepath.Join(r.Root(), p), at, at); err != nil {
			t.Fatal(err)
		}
	}
	repotest.Eq(t, "before", repotest.Git(t, r.Root(), "diff", "--name-only"), "edited\nlater")
	c := following(t, r, base, claim(t, r, base))
	done, err := c.stageHere(t.Context())
	repotest.Eq(t, "error", err, nil)
	repotest.Eq(t, "done", done, true)
	if err := r.Move(t.Context(), RefUpdate{Name: "refs/heads/main", Old: base, New: c.m.New}); err != nil && !errors.Is(err, ErrInTheWay) {
		t.Fatal(err)
	}
	repotest.Eq(t, "after", repotest.Git(t, r.Root(), "diff", "--name-only"), "edited\nlater")
	repotest.Eq(t, "stat data", repotest.Git(t, r.Root(), "diff-files", "--name-only", "same"), "")
}

// A file that may not be read holds nothing up: git looks at it when it may.
func TestStageHereMayNotRead(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root may read all")
	}
	r, base := fresh(t, "k/task.md", "state: ready\n", "k/old.md", "old\n", "locked", "1\n")
	file, then := filepath.Join(r.Root(), "locked"), time.Unix(1_700_000_000, 0)
	if err := os.Chtimes(file, then, then); err != nil {
		t.Fatal(err)
	}
	repotest.Git(t, r.Root(), "config", "core.trustctime", "false")
	repotest.Git(t, r.Root(), "update-index", "-q", "--really-refresh")
	if err := errors.Join(os.Chtimes(filepath.Join(r.Root(), ".git/index"), then, then), os.Chmod(file, 0)); err != nil {
		t.Fatal(err)
	}
	c := following(t, r, base, claim(t, r, base))
	done, err := c.stageHere(t.Context())
	repotest.Eq(t, "error", err, nil)
	repotest.Eq(t, "done", done, true)
}

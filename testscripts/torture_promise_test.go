package testscripts

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// What a session of the torture costs, as its agent says and bills, and what is
// reserved for it; micro-USD.
const (
	billed   = 70_000
	reserved = 100_000
)

// sound is what holds after every recovery, at any time: git finds no fault in
// any repository, history proves itself, and no work tree has anything that
// nobody put there.
func (w *world) sound(when string) {
	repos := w.clones()
	if w.has("hub.git") {
		repos = append(repos, "hub.git")
	}
	for _, r := range repos {
		if out, code := w.do(act{dir: r, argv: []string{"git", "fsck", "--full", "--strict", "--no-dangling", "--no-progress"}}); code != 0 || out != "" {
			w.failf("%s: %s: git fsck: exit %d\n%s", when, r, code, out)
		}
		w.unlocked(when, r)
	}
	for _, r := range w.clones() {
		if out, code := w.do(act{dir: r, argv: []string{"git", "status", "--porcelain"}}); code != 0 || out != "" {
			w.failf("%s: %s: the work tree is not clean\n%s", when, r, out)
		}
		if out, code := w.do(act{dir: r, argv: []string{"odd", "check", "--all"}}); code != 0 {
			w.failf("%s: %s: odd check --all: exit %d\n%s", when, r, code, out)
		}
	}
}

// unlocked finds no lock that git would stumble over, and no checkout that waits to be finished.
// The names of locks that odd itself keeps, which are no locks without a process that holds them, are no trouble.
func (w *world) unlocked(when, repo string) {
	root := filepath.Join(w.home, repo)
	_ = filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, p)
		rel = strings.TrimPrefix(filepath.ToSlash(rel), ".git/")
		switch {
		case err != nil:
		case strings.HasPrefix(rel, "odd/sync/"), strings.HasPrefix(rel, "odd/tmp/"), strings.HasPrefix(rel, "worktrees/"):
			w.failf("%s: %s: left behind: %s", when, repo, rel)
		case rel == "packed-refs.new", strings.HasSuffix(rel, ".lock") && strings.Contains(p, ".git/") && !strings.HasPrefix(rel, "odd/") && !strings.HasPrefix(rel, "objects/"):
			w.failf("%s: %s: a lock was left that needs a hand: %s", when, repo, rel)
		}
		return nil
	})
}

// tasked is a task of the board, by what odd says of it.
type tasked struct{ ID, State string }

// settled is what holds once everything has been drained: every task that was
// filed is there once and where it may be, every run proposed it once, and what
// was spent is what was billed, but for a reservation for each blow.
func (w *world) settled(filed []string, states ...string) {
	seen := map[string]int{}
	for name := range strings.Lines(w.must(w.board(), "git", "ls-tree", "-r", "--name-only", "main", "knowledge/tasks")) {
		text := w.must(w.board(), "git", "show", "main:"+strings.TrimSpace(name))
		t := tasked{key(text, "id"), key(text, "state")}
		if t.ID == "" {
			continue // index.md
		}
		seen[t.ID]++
		if !slices.Contains(append(states, "review", "done", "backlog"), t.State) {
			w.failf("%s is in %s\n%s", t.ID, t.State, text)
		}
		w.proposedOnce(t)
	}
	for _, id := range filed {
		if seen[id] != 1 {
			w.failf("%s is on the board %d times, want once", id, seen[id])
		}
	}
	w.paid()
}

// key is a key of frontmatter that stands on one line.
func key(text, name string) string {
	for l := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(l, name+": "); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// proposedOnce holds the review branches of a task to its state, and each of them
// to the change it has to hold whole.
func (w *world) proposedOnce(t tasked) {
	refs := strings.Fields(w.must(w.board(), "git", "for-each-ref", "--format=%(refname)", "refs/heads/odd/review/"+t.ID+".*"))
	if t.State == "review" && len(refs) == 0 {
		w.failf("%s is in review without a branch", t.ID)
	}
	runs := map[string]string{}
	for _, ref := range refs {
		run := w.must(w.board(), "git", "log", "-1", "--format=%(trailers:key=Odd-Run,valueonly)%(trailers:key=Odd-Task,valueonly)", ref)
		if other := runs[run]; other != "" {
			w.failf("one run proposed %s twice, as %s and %s", t.ID, other, ref)
		}
		runs[run] = ref
		if files := len(strings.Fields(w.must(w.board(), "git", "ls-tree", "-r", "--name-only", ref, "tool"))); t.ID == "many" && files != manyFiles {
			w.failf("%s has %d files of the change, want %d", ref, files, manyFiles)
		}
	}
}

// manyFiles is how many files the change of the task many writes.
const manyFiles = 12

// line is what the ledger says of money.
type line struct {
	Kind, Run, Task string
	DeadRun         string `json:"dead_run"`
	Cost            int64  `json:"cost_micro_usd"`
}

// paid adds up the ledger of the board: every claim was closed, none twice by the
// same, and no session that its provider billed is missing.
func (w *world) paid() {
	var total int64
	claims, closed, swept := map[string]int{}, map[string]int{}, map[string]int{}
	text, code := w.do(act{dir: w.board(), argv: []string{"git", "grep", "-h", "-e", "{", "main", "--", "knowledge/ledger/*.jsonl"}})
	if code > 1 {
		w.failf("%s", text)
	}
	for in := bufio.NewScanner(strings.NewReader(text)); in.Scan(); {
		var l line
		if json.Unmarshal(in.Bytes(), &l) != nil {
			continue // a record of an op, whose line is cut by nobody
		}
		switch l.Kind {
		case "claim", "engage":
			claims[l.Run+" "+l.Task]++
		case "outcome":
			closed[l.Run+" "+l.Task]++
			total += l.Cost
		case "abandoned":
			w.lost++
			swept[l.DeadRun+" "+l.Task]++
			total += l.Cost
		}
	}
	for c, n := range claims {
		if closed[c] > n || swept[c] > n || closed[c]+swept[c] < n { // who was swept and lives tells its end too, as lost
			w.failf("claim %s was made %d times, ended %d times and swept %d times", c, n, closed[c], swept[c])
		}
	}
	bill := int64(strings.Count(w.read("bill"), "\n")) * billed
	if w.has("agent.sh") { // it says nothing of what it cost, so all that was reserved is charged
		bill = bill / billed * reserved
	}
	if lost := int64(w.struck) * reserved; total < bill || total > bill+lost {
		w.failf("the ledger says that %d was spent; %d was billed, and %d blows can cost at most %d more", total, bill, w.struck, lost)
	}
}

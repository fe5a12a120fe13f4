//go:build bench

package bench

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

const (
	drainBatch = 20  // tasks in a measured drain
	soakBatch  = 100 // tasks between two points of the soak
	perTask    = 3   // commits a drained task makes: claim, proposal, result

	longHistory = 30_000 // commits of a project before it used odd
	newCommits  = 50     // of drains, that a push brings on top of them
)

// yard makes the demo's company, with n more ready tasks that have a page to
// read each.
func yard(t *testing.T, name string, n int) string {
	t.Helper()
	dir := filepath.Join(work, name)
	sh(t, work, "", odd, "demo", dir)
	commitPages(t, dir, n)
	return dir
}

// commitPages commits n pages with two words each, and a ready task to read each.
func commitPages(t *testing.T, dir string, n int) {
	t.Helper()
	for i := range n {
		write(t, filepath.Join(dir, "pages", fmt.Sprintf("%d.md", i)),
			fmt.Sprintf("# Words\n\nWord %d a\n: The first thing of number %d.\n\nWord %d b\n: The second thing of number %d.\n", i, i, i, i))
		write(t, filepath.Join(dir, "knowledge", "tasks", fmt.Sprintf("task-%05d.md", i)),
			fmt.Sprintf("---\ntype: task\nid: task-%05d\ntitle: Read page %d\nstate: ready\nkind: extract\nrole: shore-lead\ninputs: [pages/%d.md]\n---\n", i, i, i))
	}
	sh(t, dir, "", "git", "add", "-A")
	sh(t, dir, "", "git", "commit", "-qm", "pages")
	settle()
}

// oldProject is a repository of many commits that began to use odd, and has drained since.
func oldProject(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(work, "old-project")
	write(t, filepath.Join(dir, "pages", "first.md"), "# Notes\n")
	sh(t, dir, "", "git", "init", "-q", "-b", "main")
	imports(t, dir, func(w io.Writer) {
		for i := range longHistory {
			if i > 0 {
				fmt.Fprintf(w, "commit refs/heads/main\ncommitter %s %d +0000\ndata 4\nwork\n", person, 1772442000+i)
			}
			blob(w, fmt.Sprintf("src/%d/%d.txt", i%20, i%300), []byte(fmt.Sprint(i)))
		}
	})
	sh(t, dir, "", "git", "reset", "-q", "--hard")
	sh(t, dir, "", odd, "init", "--role", "Shore lead", "--docs", "pages")
	commitPages(t, dir, newCommits/2)
	sh(t, dir, "", odd, "drain", "--max-tasks", fmt.Sprint(newCommits/2))
	return dir
}

// bareCommits is the job of n git commit processes, one file each.
func bareCommits(dir string, n int) job {
	done := 0
	return job{fmt.Sprintf("%d git commit -- path", n), func(t *testing.T) (sum sample) {
		for range n {
			done++
			write(t, filepath.Join(dir, "README.md"), fmt.Sprintf("%d\n", done))
			one := process(t, dir, "", "", "git", "commit", "-qm", "one", "--", "README.md")
			sum.wall, sum.cpu = sum.wall+one.wall, sum.cpu+one.cpu
		}
		return sum
	}}
}

// checkPushed is what the hook and CI do with a push.
const checkPushed = "odd check --range, 50 commits"

// TestBenchDrain measures a drain of 20 tasks beside as many bare commits as
// it makes, and what it takes to judge such commits on top of a long history.
func TestBenchDrain(t *testing.T) {
	s := begin()
	k := min(5, *runs)
	dir := yard(t, "drained", (k+1)*drainBatch)
	drain := job{"odd drain", func(t *testing.T) sample {
		return process(t, dir, "", "", odd, "drain", "--max-tasks", fmt.Sprint(drainBatch))
	}}
	drain.run(t)
	s.turns(t, drainBatch, k, drain, bareCommits(dir, perTask*drainBatch))
	old, pushed := oldProject(t), fmt.Sprintf("HEAD~%d..HEAD", newCommits)
	s.turns(t, longHistory, *runs,
		command(checkPushed, old, "", odd, "check", "--range", pushed),
		command("git log --raw", old, "", "git", "log", "--raw", "-m", pushed))
	if got := strings.Count(sh(t, dir, "", odd, "task", "list", "--state", "review"), "task-"); got != (k+1)*drainBatch {
		t.Fatalf("%d tasks are in review, want %d", got, (k+1)*drainBatch)
	}
	s.end(t, "drain")
}

// TestBenchSoak drains thousands of tasks in one repository, a hundred a
// drain, and then proves all of its history. The figures say whether time,
// memory and .git grow with what was done before.
func TestBenchSoak(t *testing.T) {
	s := begin()
	dir := yard(t, "soaked", *soakSize)
	s.note(".git, MB", 0, diskMB(t, filepath.Join(dir, ".git")))
	for done := soakBatch; done <= *soakSize; done += soakBatch {
		s.keep("drain 100 tasks", done, process(t, dir, "", "", odd, "drain", "--max-tasks", fmt.Sprint(soakBatch)))
		s.note(".git, MB", done, diskMB(t, filepath.Join(dir, ".git")))
		f := s.find("drain 100 tasks", done)
		t.Logf("%d tasks: %.1f ms a task, %.1f MB, .git %.1f MB", done, f.MS/soakBatch, f.MB, s.find(".git, MB", done).Value)
	}
	if got := strings.Count(sh(t, dir, "", odd, "task", "list", "--state", "review"), "task-"); got != *soakSize/soakBatch*soakBatch {
		t.Fatalf("%d tasks are in review, want %d", got, *soakSize)
	}
	commits := strings.Count(sh(t, dir, "", "git", "log", "--all", "--format=%H"), "\n")
	s.note("commits", *soakSize, float64(commits))
	s.turns(t, *soakSize, 1,
		command("odd check --all", dir, "", odd, "check", "--all"),
		command("git log --raw", dir, "", "git", "log", "--raw", "-m", "--all"),
		command("git log", dir, "", "git", "log", "--all", "--format=%H"))
	s.end(t, "soak")
}

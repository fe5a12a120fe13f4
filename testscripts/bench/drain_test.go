//go:build bench

package bench

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

const (
	drainBatch = 20  // tasks in a measured drain
	soakBatch  = 100 // tasks between two points of the soak
	perTask    = 3   // commits a drained task makes: claim, proposal, result
)

// yard makes the demo's company, with n more ready tasks that have a page to
// read each.
func yard(t *testing.T, name string, n int) string {
	t.Helper()
	dir := filepath.Join(work, name)
	sh(t, work, "", odd, "demo", dir)
	for i := range n {
		write(t, filepath.Join(dir, "pages", fmt.Sprintf("%d.md", i)),
			fmt.Sprintf("# Words\n\nWord %d a\n: The first thing of number %d.\n\nWord %d b\n: The second thing of number %d.\n", i, i, i, i))
		write(t, filepath.Join(dir, "knowledge", "tasks", fmt.Sprintf("task-%05d.md", i)),
			fmt.Sprintf("---\ntype: task\nid: task-%05d\ntitle: Read page %d\nstate: ready\nkind: extract\nrole: shore-lead\ninputs: [pages/%d.md]\n---\n", i, i, i))
	}
	sh(t, dir, "", "git", "add", "-A")
	sh(t, dir, "", "git", "commit", "-qm", "pages")
	settle()
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

// TestBenchDrain measures a drain of 20 tasks beside as many bare commits as
// it makes.
func TestBenchDrain(t *testing.T) {
	s := begin()
	k := min(5, *runs)
	dir := yard(t, "drained", (k+1)*drainBatch)
	drain := job{"odd drain", func(t *testing.T) sample {
		return process(t, dir, "", "", odd, "drain", "--max-tasks", fmt.Sprint(drainBatch))
	}}
	drain.run(t)
	s.turns(t, drainBatch, k, drain, bareCommits(dir, perTask*drainBatch))
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

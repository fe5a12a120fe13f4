package testscripts

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var soakTasks = flag.Int("tasks", 9, "how many tasks the soak drains; make soak drains 2,000")

// soakRun is how many tasks one drain of a long soak takes.
const soakRun = 100

// soak is one repository and its clock.
type soak struct {
	*testing.T
	dir string // of the repository
	env []string
	now time.Time
}

// TestSoak drains many tasks of one repository, a bounded run after the other, and
// prints after each run, as CSV, what it took, its peak memory and the size of
// .git. In the end history proves itself, every task waits for its review once, the
// ledger sums up to what the sessions said they cost, and git finds nothing wrong.
func TestSoak(t *testing.T) {
	n := *soakTasks
	k := newSoak(t, n)
	fmt.Println("tasks,seconds,peak_rss_kib,git_kib")
	first, last, spent := int64(0), int64(0), int64(0)
	size := min(soakRun, (n+2)/3)
	for done := 0; done < n; {
		began := time.Now()
		out, rss := k.measured("odd", "drain", "--json", "--max-tasks", fmt.Sprint(size))
		var report struct {
			Tasks []struct {
				State string
				Cost  int64 `json:"cost_micro_usd"`
			}
		}
		if err := json.Unmarshal([]byte(out), &report); err != nil || len(report.Tasks) == 0 {
			t.Fatalf("after %d tasks: %v\n%s", done, err, out)
		}
		for _, task := range report.Tasks {
			if spent += task.Cost; task.State != "review" {
				t.Fatalf("after %d tasks: one is in %s\n%s", done, task.State, out)
			}
		}
		if done += len(report.Tasks); first == 0 {
			first = rss
		}
		last = rss
		k.now = k.now.Add(time.Minute)
		fmt.Printf("%d,%.2f,%d,%d\n", done, time.Since(began).Seconds(), rss, kib(t, filepath.Join(k.dir, ".git")))
	}
	if n >= 10*soakRun && last > first+first/2 {
		t.Errorf("the last drain took %d KiB of memory, the first %d", last, first)
	}
	k.soaked(n, spent)
}

// newSoak is the demo's company with n ready tasks, each with a recorded session
// that emits a term and costs a sum of its own.
func newSoak(t *testing.T, n int) *soak {
	home := t.TempDir()
	k := &soak{T: t, dir: home, env: []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "TMPDIR=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", varSeed + "=" + filepath.Join(home, "seed")}}
	var err error
	if k.now, err = time.Parse(time.RFC3339, begin); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), fmt.Appendf(nil, gitConfig, filepath.Join(home, "none")), 0o666); err != nil {
		t.Fatal(err)
	}
	k.must("odd", "demo", "shop")
	k.dir = filepath.Join(home, "shop")
	files := map[string]string{"odd.toml": "session = {substrate = \"replay\", max_usd = 0.01}\nsubstrate.replay = {file = \"agent\", free = false}\ngovernance.lease = \"off\"\nbudget.monthly_usd = 1000\n"}
	for _, name := range strings.Fields(k.must("git", "ls-files", "knowledge/tasks")) {
		k.must("git", "rm", "-q", name)
	}
	for i := range n {
		files[fmt.Sprintf("agent/soak-%d.md", i)] = fmt.Sprintf("```atom\n---\ntype: term\nid: word-%d\n---\n```\n\n"+
			"```json\n{\"schema\": \"odd.usage.1\", \"turns\": 1, \"cost_micro_usd\": %d}\n```\n\n```json\n{\"schema\": \"odd.finish.1\", \"outcome\": \"completed\"}\n```\n", i, cost(i))
		files[fmt.Sprintf("knowledge/tasks/soak-%d.md", i)] = fmt.Sprintf("---\ntype: task\nid: soak-%d\ntitle: Word %d\nstate: ready\nkind: extract\nrole: shore-lead\n---\n", i, i)
	}
	for name, text := range files {
		file := filepath.Join(k.dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	k.must("git", "add", "-A")
	k.must("git", "commit", "-qm", "many tasks")
	return k
}

// cost is what the session of the ith task says it cost, in micro-USD.
func cost(i int) int64 { return 100 + int64(i%7) }

// measured runs a program and returns what it printed and its peak memory in KiB.
func (k *soak) measured(argv ...string) (out string, rss int64) {
	k.Helper()
	out, errs, p := k.run(argv...)
	if !p.Success() {
		k.Fatalf("%s: %v\n%s", strings.Join(argv, " "), p, errs)
	}
	return out, peak(p)
}

// run runs a program in the repository at its clock.
func (k *soak) run(argv ...string) (out, errs string, end *os.ProcessState) {
	k.Helper()
	c := exec.CommandContext(k.Context(), argv[0], argv[1:]...)
	at := k.now.Format(time.RFC3339)
	c.Dir, c.Env = k.dir, append(append(os.Environ(), k.env...), varNow+"="+at, "GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at)
	var stdout, stderr strings.Builder
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	if c.ProcessState == nil {
		k.Fatalf("%s: %v", argv[0], err)
	}
	return stdout.String(), stderr.String(), c.ProcessState
}

// must is run of what succeeds.
func (k *soak) must(argv ...string) string {
	k.Helper()
	out, _ := k.measured(argv...)
	return out
}

// soaked is what holds of a repository in which n tasks were drained for so much.
func (k *soak) soaked(n int, spent int64) {
	k.Helper()
	k.must("odd", "check", "--all")
	if out := k.must("git", "fsck", "--strict", "--no-dangling", "--no-progress"); out != "" {
		k.Fatalf("git fsck: %s", out)
	}
	if out := k.must("git", "status", "--porcelain"); out != "" {
		k.Fatalf("the work tree is not clean\n%s", out)
	}
	want, waiting, outcomes := int64(0), map[string]bool{}, strings.Split(strings.TrimSpace(k.must("git", "grep", "-h", `"kind":"outcome"`, "HEAD", "--", "knowledge/ledger")), "\n")
	for i := range n {
		want += cost(i)
		if k.must("git", "rev-parse", "-q", "--verify", fmt.Sprintf("refs/heads/odd/review/soak-%d.1", i)) == "" {
			k.Fatalf("soak-%d has no proposal", i)
		}
	}
	total := int64(0)
	for _, line := range outcomes {
		var r struct {
			Task string
			Cost int64 `json:"cost_micro_usd"`
		}
		switch err := json.Unmarshal([]byte(line), &r); {
		case err != nil || waiting[r.Task]:
			k.Fatalf("an outcome twice, or none: %v %s", err, line)
		case strings.HasPrefix(r.Task, "soak-"): // the demo has a history of its own
			waiting[r.Task], total = true, total+r.Cost
		}
	}
	reviews := strings.Count(k.must("odd", "task", "list", "--state", "review"), "soak-")
	if len(waiting) != n || total != want || spent != want || reviews != n {
		k.Fatalf("%d outcomes for %d micro-USD, reports of %d, %d in review; want %d tasks for %d", len(waiting), total, spent, reviews, n, want)
	}
}

// kib is the size of the files below dir in KiB. A file that git takes away meanwhile counts for nothing.
func kib(t *testing.T, dir string) int64 {
	var sum int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				sum += info.Size()
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum >> 10
}

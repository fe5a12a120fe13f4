package testscripts

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A storm of 10,000 findings puts no more on the board than [sense] allows, and counts the
// rest. Killed again and again while it files tasks, odd sense loses and doubles none: 6
// times, or as often as -blows says.
func TestSenseInAStorm(t *testing.T) {
	t.Parallel()
	kills := 6
	if *blowsFlag > 0 {
		kills = *blowsFlag
	}
	w := &world{TB: t, home: t.TempDir(), rnd: rand.New(rand.NewPCG(*seedFlag, 0))}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case broken:
			t.Fatal(r.what)
		default:
			panic(r)
		}
	}()
	w.write(".gitconfig", fmt.Sprintf(gitConfig, filepath.Join(w.home, "none")))
	w.write("tmp/.keep", "")
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	w.write("bin/git", fmt.Sprintf(tortureGit, git))
	w.set(moment(begin))
	w.must("", "odd", "demo", "shop")
	const findings = 10_000
	subjects := max(30, kills*3/2)
	var b strings.Builder
	for i := range findings {
		fmt.Fprintf(&b, `{"subject": "plank %d", "signature": "rot %d"}`+"\n", i%subjects, i)
	}
	w.write("report", b.String())
	storm := act{dir: "shop", argv: []string{"odd", "sense", "../report"}}
	onBoard := func() int {
		return strings.Count(w.must("shop", "git", "ls-tree", "--name-only", "main", "knowledge/tasks/"), "tasks/custom-plank-")
	}

	for run, want := range []int{5, 10, 15, 20, 20} {
		out, code := w.do(storm)
		if code != 0 || onBoard() != want || !strings.Contains(out, "sense: 10000 findings; ") {
			t.Fatalf("run %d: exit %d, %d tasks on the board, want %d\n%s", run, code, onBoard(), want, out)
		}
	}
	limit := func(run int) {
		w.must("shop", "odd", "config", "set", "sense.run", fmt.Sprint(run))
		w.must("shop", "git", "commit", "-qam", "limits")
	}
	report := strings.SplitAfter(b.String(), "\n")
	w.write("report", strings.Join(report[:1_000], "")) // the kills need no more
	w.must("shop", "odd", "config", "set", "sense.day", "10000")
	w.must("shop", "odd", "config", "set", "sense.open", "10000")
	limit(1)
	var p pace
	for i := range kills {
		if i%10 == 0 {
			p = w.measured(storm) // as slow as the machine is by now; it files a task too
		}
		c := w.begun(storm)
		w.strike(c, []string{kill, felled}[i%2], w.draw(p), nil)
		if code := w.ended(c); code != 0 && !c.hit {
			t.Fatalf("after kill %d: exit %d\n%s", i, code, c.out.String())
		}
	}
	during := onBoard()
	w.must("shop", "odd", "status") // takes away what the last kill left, such as a lock of git's
	limit(1000)
	for range 1 + subjects/1000 {
		w.must("shop", storm.argv...)
	}
	w.sound("after the kills")
	if n := onBoard(); n != subjects {
		t.Errorf("%d tasks for %d subjects", n, subjects)
	}
	if out := w.must("shop", storm.argv...); strings.Count(out, "it has a task, in backlog") != subjects {
		t.Errorf("not every subject has its task:\n%s", out)
	}
	if n := strings.Count(w.must("shop", "git", "log", "--format=%(trailers:key=Odd-Task,valueonly)"), "custom-plank-"); n != subjects {
		t.Errorf("%d tasks were filed for %d subjects", n, subjects)
	}
	t.Logf("%d kills hit %d runs; %d of %d tasks were filed meanwhile", kills, w.struck, during, subjects)
}

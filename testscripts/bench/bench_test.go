//go:build bench

// Package bench measures odd and writes BENCHMARKS.md.
//
// A section (TestBenchLoad, TestBenchTasks …) does its jobs in turns with what
// it is compared to, keeps the least time of each, and writes its figures to
// figures/NAME.json. The page and its plots are drawn from those files, all of
// them, so one section can be measured again without the others:
//
//	make bench              every section, some 30 minutes
//	make bench BENCH=Peers  one section
//	make bench BENCH=Page   no section: draw the page again
//	make bench BENCH=Reader BENCHFLAGS="-docs DIR -misses FILE"
//	make bench BENCH=Gate BENCHFLAGS="-histories GITDIR,GITDIR -unseen GITDIR"
//
// Reader judges the offline reader by the labels in reader/, on documents that it
// finds in DIR or fetches; FILE gets every atom that is not useful and every label missed.
// Gate judges the commits of projects by the iron gate; it lists every refusal.
//
// What is timed is a fresh process, odd's own or a child of this test that
// times one call (children_test.go): nothing is warm but the pages of files.
// This process stays small, because a child's peak memory is never reported
// below its parent's. No time is asserted; every answer is.
package bench

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

var (
	atomsMax   = flag.Int("atoms", 1_000_000, "atoms in the largest bundle: 1000, 10000, 100000 or 1000000")
	tasksMax   = flag.Int("tasks", 10_000, "tasks on the largest board, and items of the largest store of a peer")
	soakSize   = flag.Int("soak", 2000, "tasks drained one after the other in one repository")
	runs       = flag.Int("runs", 7, "how often each job of less than a second is done")
	peerDir    = flag.String("peers", "", "where peers are installed (default: odd-bench in the user's cache folder)")
	docsDir    = flag.String("docs", "", "where git directories with labelled documents lie, in folders named OWNER+NAME (default: fetched into the user's cache folder)")
	missesFile = flag.String("misses", "", "a file to write: each atom of the reader that is not useful, each core label that it missed")
	keepDir    = flag.String("dir", "", "where repositories are made (default: a temporary folder)")
)

const (
	root   = "../.."
	seed   = 8
	person = "Ann <ann@example.org>"
)

var (
	work string // what this run writes, removed at the end
	odd  string // the binary under test
)

func TestMain(m *testing.M) {
	if name := os.Getenv("ODD_BENCH_CHILD"); name != "" {
		os.Exit(child(name, os.Args[1:]))
	}
	flag.Parse()
	debug.SetGCPercent(20) // this process stays small
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp(*keepDir, "odd-bench-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	work, odd = dir, filepath.Join(dir, "bin", "odd")
	build := exec.Command("go", "build", "-trimpath", "-o", odd, "./cmd/odd")
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if b, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v: %s", err, b)
		return 1
	}
	return m.Run()
}

// environ is what every process gets: nothing of the developer's own.
func environ() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(work, "home"), "TMPDIR=" + work, "LANG=C.UTF-8", "TZ=UTC", "NO_COLOR=1",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + filepath.Join(work, "gitconfig"),
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.org",
	}
}

// sizes are the bundles of a growth table, at most the largest asked for.
func sizes() (all []int) {
	for n := 1000; n <= *atomsMax; n *= 10 {
		all = append(all, n)
	}
	return all
}

// boards are the boards of a growth table.
func boards() []int {
	if *tasksMax <= 1000 {
		return []int{*tasksMax}
	}
	return []int{1000, *tasksMax}
}

// times is how often to do a job on n items: less often when it is long.
func times(n int) int {
	switch {
	case n >= 1_000_000:
		return min(2, *runs)
	case n >= 100_000:
		return min(5, *runs)
	}
	return *runs
}

// sh runs a command that is not timed, and returns what it said.
func sh(t *testing.T, dir, stdin, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir, c.Env, c.Stdin = dir, environ(), strings.NewReader(stdin)
	b, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, b)
	}
	return string(b)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// settle waits until what was just written is on the disk, and older than the
// two seconds for which odd and git distrust a file's time of change.
func settle() {
	exec.Command("sync").Run()
	time.Sleep(2100 * time.Millisecond)
}

//go:build bench

package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sample is one run of one job.
type sample struct {
	wall, cpu time.Duration // from start to answer; user and system time
	rss       int64         // peak memory in bytes
	out       string        // its stdout
	counts    map[string]float64
}

// job is something to time: a whole process, or what a child says it took.
type job struct {
	name string
	run  func(t *testing.T) sample
}

// command is the job of running argv in dir. Its answer must hold want.
func command(name, dir string, want string, argv ...string) job {
	return job{name, func(t *testing.T) sample { return process(t, dir, "", want, argv...) }}
}

// process runs argv to its end. Its stdout goes to a file, not through a pipe:
// no copying is timed, and a peer that cuts its output off at a pipe does not.
func process(t *testing.T, dir, stdin, want string, argv ...string) sample {
	t.Helper()
	out, err := os.Create(filepath.Join(work, "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var stderr strings.Builder
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir, c.Env, c.Stdout, c.Stderr = dir, environ(), out, &stderr
	if stdin != "" {
		c.Stdin = strings.NewReader(stdin)
	}
	begin := time.Now()
	err = c.Run()
	s := sample{wall: time.Since(begin)}
	b, _ := os.ReadFile(out.Name())
	s.out = string(b)
	if err != nil || !strings.Contains(s.out, want) {
		t.Fatalf("%s: %v, want %q in its answer\n%.2000s\n%.2000s", strings.Join(argv, " "), err, want, s.out, stderr.String())
	}
	s.cpu = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	s.rss = peak(c.ProcessState.SysUsage().(*syscall.Rusage))
	return s
}

// turns does the jobs in turns, k times, and keeps of each the least time.
// n is the number of items they work on.
func (s *section) turns(t *testing.T, n, k int, jobs ...job) {
	t.Helper()
	for range k {
		for _, j := range jobs {
			s.keep(j.name, n, j.run(t))
		}
	}
	for _, j := range jobs {
		f := s.find(j.name, n)
		t.Logf("%s, %d: %.2f ms, cpu %.2f ms, %.1f MB", j.name, n, f.MS, f.CPU, f.MB)
	}
}

// keep notes a run: times are the least of all runs, memory is the most, and
// none where it was less than this process's own, which a child inherits.
func (s *section) keep(name string, n int, one sample) {
	wall, cpu, mb := millis(one.wall), millis(one.cpu), float64(one.rss)/1e6
	var own syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &own) != nil || one.rss <= peak(&own) {
		mb = 0 // no more than this process ever had, so unknown
	}
	f := s.find(name, n)
	if f == nil {
		s.Figures = append(s.Figures, figure{Name: name, N: n, MS: wall, CPU: cpu})
		f = &s.Figures[len(s.Figures)-1]
	}
	f.Runs++
	f.MS, f.CPU, f.MB, f.Slowest = min(f.MS, wall), min(f.CPU, cpu), max(f.MB, mb), max(f.Slowest, wall)
}

// note keeps a figure that is not a time.
func (s *section) note(name string, n int, value float64) {
	s.Figures = append(s.Figures, figure{Name: name, N: n, Value: value, Runs: 1})
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// diskMB is how much room the files below dir take, in megabytes of content.
func diskMB(t *testing.T, dir string) float64 {
	t.Helper()
	var sum int64
	err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return float64(sum) / 1e6
}

//go:build bench

package bench

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is how long a peer may take for one command.
const patience = 90 * time.Second

// ask is one command of a tool, and what makes its answer right: of must
// occur in it at least atLeast times.
type ask struct {
	argv    []string
	of      string
	atLeast int
}

// tool is odd or a peer: how to get it, how its store is filled, and how it is
// asked to do each job. A job it has no command for is missing.
type tool struct {
	name, from string
	install    func(cache string) (bin string, err error)
	version    []string
	env        []string
	fill       func(t *testing.T, bin, dir string, n int)
	jobs       func(bin, dir string, n int) map[string]ask
}

// peerJobs are the rows of the table.
var peerJobs = []string{"create", "list ready", "list all", "search", "show"}

// TestBenchPeers does the same jobs with odd and with others, over the same
// items: titles "Item 0" and on, bodies of 650 bytes, every fifth waiting for
// the one before it, the planted word in every 500th. A peer that cannot be
// had, has no such command or answers wrongly is listed with the reason.
func TestBenchPeers(t *testing.T) {
	s := begin()
	have := s.install(t)
	for _, n := range boards() {
		var ready []job
		for _, p := range have {
			dir := filepath.Join(work, fmt.Sprintf("peer-%s-%d", strings.Fields(p.name)[0], n))
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			p.fill(t, p.bin, dir, n)
			jobs := p.jobs(p.bin, dir, n)
			for _, name := range slices.Sorted(maps.Keys(jobs)) {
				ready = append(ready, peerJob(p.tool, name, dir, n, jobs[name]))
			}
		}
		settle()
		for round := range min(5, *runs) {
			for _, j := range ready {
				if f := s.find(j.name, n); round < 2 || f == nil || f.MS < 1000 {
					s.peerTurn(t, n, j)
				}
			}
		}
	}
	s.together(t, have)
	s.end(t, "peers")
}

// peerTurn does one job once, unless it has failed before.
func (s *section) peerTurn(t *testing.T, n int, j job) {
	key := fmt.Sprintf("%s, %d", j.name, n)
	if s.Words[key] != "" {
		return
	}
	if one := j.run(t); one.out != "" {
		s.Words[key] = one.out
		t.Logf("%s: %s", key, one.out)
	} else {
		s.keep(j.name, n, one)
		t.Logf("%s: %.1f ms", key, millis(one.wall))
	}
}

// installed is a tool that is there.
type installed struct {
	tool
	bin string
}

// install gets every tool, or says in the section's words why it is not there.
func (s *section) install(t *testing.T) (have []installed) {
	t.Helper()
	cache := *peerDir
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(user, "odd-bench")
	}
	for _, p := range slices.Concat(tools(), unmeasured()) {
		bin, err := p.install(cache)
		if err == nil && p.jobs == nil {
			err = fmt.Errorf("installs, but its store cannot be filled in the time of a bench")
		}
		var said string
		if err == nil {
			said, err = ask1(bin, p.version, p.env)
		}
		if err != nil {
			s.Words["missing: "+p.name] = p.from + ": " + oneLine(err.Error())
			t.Logf("%s: %v", p.name, err)
			continue
		}
		s.Words["version: "+p.name] = said
		have = append(have, installed{p, bin})
	}
	return have
}

// ask1 is the first word with a digit that a command prints: a version.
func ask1(bin string, args, env []string) (string, error) {
	c := exec.Command(bin, args...)
	c.Env = append(environ(), env...)
	b, err := c.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%v: %s", err, b)
	}
	for _, w := range strings.Fields(string(b)) {
		if strings.ContainsAny(w, "0123456789") {
			return w, nil
		}
	}
	return "unknown", nil
}

// peerJob is a job whose sample has an out only when it failed: the reason.
func peerJob(p tool, name, dir string, n int, a ask) job {
	made := 0
	return job{p.name + ": " + name, func(t *testing.T) sample {
		made++
		one, err := patiently(dir, p.env, a.titled(fmt.Sprintf("One more, %s %d", name, made)))
		if err != nil {
			return sample{out: oneLine(err.Error())}
		}
		return one
	}}
}

// titled is the command with a title in place of fresh.
func (a ask) titled(title string) ask {
	a.argv = slices.Clone(a.argv)
	if at := slices.Index(a.argv, fresh); at >= 0 {
		a.argv[at] = title
	}
	return a
}

// patiently runs one command and judges its answer; its stdout goes to a file.
func patiently(dir string, env []string, a ask) (sample, error) {
	return patientlyAside(dir, "stdout", env, a)
}

// patientlyAside is patiently with a file of its own for what is said.
func patientlyAside(dir, file string, env []string, a ask) (sample, error) {
	out, err := os.Create(filepath.Join(work, file))
	if err != nil {
		return sample{}, err
	}
	defer out.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var stderr strings.Builder
	c := exec.CommandContext(ctx, a.argv[0], a.argv[1:]...)
	c.Dir, c.Env, c.Stdout, c.Stderr, c.WaitDelay = dir, append(environ(), env...), out, &stderr, time.Second
	begin := time.Now()
	err = c.Run()
	one := sample{wall: time.Since(begin)}
	b, _ := os.ReadFile(out.Name())
	switch {
	case ctx.Err() != nil:
		return one, fmt.Errorf("not done in %v", patience)
	case err != nil:
		return one, fmt.Errorf("%v: %.200s", err, stderr.String())
	case strings.Count(string(b), a.of) < a.atLeast:
		return one, fmt.Errorf("answered %d of %d", strings.Count(string(b), a.of), a.atLeast)
	}
	one.cpu = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	one.rss = peak(c.ProcessState.SysUsage().(*syscall.Rusage))
	return one, nil
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 160 {
		s = s[:160] + " …"
	}
	return strings.ReplaceAll(s, "|", "\\|")
}

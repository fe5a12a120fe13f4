package testscripts

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// world is a person's home with the repositories that one blow falls on: shop,
// or hub.git and its clones. Its clock is the file now, which every odd in it
// reads again at each look; its agent writes a line to the file bill before it
// says anything, as a provider bills.
type world struct {
	testing.TB
	home   string
	models string // the address of a model that answers for any world
	rnd    *rand.Rand
	now    time.Time
	lost   int      // reservations that were charged for nothing that ended
	struck int      // processes that were ended or stopped by force
	story  []string // what ran and how it ended, for who has to find out
}

// broken is what a world panics with: what was promised and did not hold.
type broken struct{ what string }

func (w *world) failf(format string, args ...any) { panic(broken{fmt.Sprintf(format, args...)}) }

// act is one command of a person or of a machine.
type act struct {
	dir    string   // of the world
	argv   []string // begins with odd or git
	answer string   // what the person types
}

// proc is an act at work.
type proc struct {
	act
	cmd  *exec.Cmd
	out  bytes.Buffer
	done chan struct{}
	hit  bool // ended by force
}

// begun starts an act.
func (w *world) begun(a act) *proc {
	p := &proc{act: a, done: make(chan struct{})}
	p.cmd = exec.Command(a.argv[0], a.argv[1:]...)
	p.cmd.Dir = filepath.Join(w.home, a.dir)
	p.cmd.Env = w.environ(a.answer)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	p.cmd.WaitDelay = time.Second // what it started may outlive it
	if err := p.cmd.Start(); err != nil {
		w.failf("%s: %v", strings.Join(a.argv, " "), err)
	}
	go func() { _ = p.cmd.Wait(); close(p.done) }()
	return p
}

func (w *world) environ(answer string) []string {
	return []string{
		"PATH=" + filepath.Join(w.home, "bin") + ":" + os.Getenv("PATH"), "HOME=" + w.home, "XDG_CONFIG_HOME=" + w.home, "TMPDIR=" + filepath.Join(w.home, "tmp"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + w.home, "LC_ALL=C", "TZ=UTC", "WORLD=" + w.home,
		varSeed + "=" + filepath.Join(w.home, "seed"), varNow + "=@" + filepath.Join(w.home, "now"), varAnswer + "=" + answer,
	}
}

// ended waits for a process and returns its exit code, -1 where a signal ended it.
func (w *world) ended(p *proc) int {
	select {
	case <-p.done:
	case <-time.After(longest):
		end(p.cmd.Process.Pid, true)
		w.failf("%s: did not end within %s", strings.Join(p.argv, " "), longest)
	}
	code := p.cmd.ProcessState.ExitCode()
	w.story = append(w.story, fmt.Sprintf("%s %s: %s: %d\n%s", w.now.Format("01-02 15:04:05"), p.dir, strings.Join(p.argv, " "), code, p.out.String()))
	return code
}

// longest is far more than any command of a world takes on a machine with other work, even where every
// push waits for remote_timeout.
const longest = 3 * time.Minute

// do runs an act to its end.
func (w *world) do(a act) (string, int) {
	p := w.begun(a)
	code := w.ended(p)
	return p.out.String(), code
}

// must runs a command that has to do what it is for.
func (w *world) must(dir string, argv ...string) string {
	out, code := w.do(act{dir: dir, argv: argv})
	if code != 0 {
		w.failf("%s: exit %d\n%s", strings.Join(argv, " "), code, out)
	}
	return out
}

// person runs an odd that asks for a typed confirmation.
func (w *world) person(dir, answer string, argv ...string) {
	if out, code := w.do(act{dir, append([]string{"odd"}, argv...), answer}); code != 0 {
		w.failf("odd %s: exit %d\n%s", strings.Join(argv, " "), code, out)
	}
}

// set moves the clock to a moment, for the odds at work too.
func (w *world) set(now time.Time) {
	w.now = now
	w.write("now.next", now.Format(time.RFC3339)+"\n")
	if err := os.Rename(filepath.Join(w.home, "now.next"), filepath.Join(w.home, "now")); err != nil {
		w.failf("%v", err)
	}
}

func (w *world) later(d time.Duration) { w.set(w.now.Add(d)) }

func (w *world) write(name, text string) {
	name = filepath.Join(w.home, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o777)); err != nil {
		w.failf("%v", err)
	}
}

// read is a file of the world, "" where it is not there.
func (w *world) read(name string) string {
	b, err := os.ReadFile(filepath.Join(w.home, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.failf("%v", err)
	}
	return string(b)
}

func (w *world) has(name string) bool {
	_, err := os.Lstat(filepath.Join(w.home, name))
	return err == nil
}

// clones are the work trees of the world.
func (w *world) clones() []string {
	found, err := filepath.Glob(filepath.Join(w.home, "*", ".git"))
	if err != nil {
		w.failf("%v", err)
	}
	for i, f := range found {
		found[i] = filepath.Base(filepath.Dir(f))
	}
	return found
}

// board is the repository whose branch main is the truth.
func (w *world) board() string {
	if w.has("hub.git") {
		return "hub.git"
	}
	return "shop"
}

// copied is the world of a scene once more, in home.
func (w *world) copied(scene, home string) *world {
	if out, err := exec.Command("cp", "-a", scene, home).CombinedOutput(); err != nil {
		w.Fatalf("%v\n%s", err, out)
	}
	c := &world{TB: w.TB, home: home, models: w.models, rnd: w.rnd}
	now, err := time.Parse(time.RFC3339, strings.TrimSpace(c.read("now")))
	if err != nil {
		w.Fatal(err)
	}
	c.now = now
	for _, clone := range c.clones() {
		if c.has("hub.git") {
			c.must(clone, "git", "remote", "set-url", "origin", "file://"+filepath.Join(home, "hub.git"))
		}
		c.must(clone, "git", "update-index", "-q", "--refresh") // a copy's files are new to it
	}
	c.story = nil
	return c
}

package testscripts

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// Most stories begin with `odd demo DIR`, which makes the same repository each time. The
// first of them makes it, and the others copy what it made.

// demo is what one `odd demo DIR` printed and wrote.
type demo struct {
	once           sync.Once
	stdout, stderr string
	odds           []byte // what the count of odds was afterwards
	dir            string // a copy of DIR; "" where odd failed
}

var demos struct {
	sync.Mutex
	made map[[sha256.Size]byte]*demo
	home string // holds the copies
}

// fromDemo is inside for `odd demo DIR` as the first odd of a story, in its own folder;
// false for any other command.
func fromDemo(ts *testscript.TestScript, args []string) (code int, stdout, stderr string, ok bool) {
	work := ts.Getenv("WORK")
	odds := ts.Getenv(varSeed)
	if len(args) != 3 || args[1] != "demo" || args[2] != filepath.Base(args[2]) || ts.MkAbs(".") != work || ts.Value(terminal).(*screen).typing != nil {
		return 0, "", "", false
	}
	dir := filepath.Join(work, args[2])
	for _, there := range []string{odds, dir, filepath.Join(work, ".git")} {
		if _, err := os.Lstat(there); err == nil {
			return 0, "", "", false
		}
	}
	d := demoOf(ts, work, args[2])
	made := false
	d.once.Do(func() {
		code, stdout, stderr = inside(ts, args)
		made = true
		if code == 0 {
			d.stdout, d.stderr, d.odds, d.dir = stdout, stderr, []byte(ts.ReadFile(odds)), filepath.Join(demos.home, fmt.Sprintf("%p", d))
			ts.Check(os.CopyFS(d.dir, os.DirFS(dir)))
			hooks := filepath.Join(d.dir, ".git/hooks")
			ts.Check(os.RemoveAll(hooks)) // few files are soon copied
			ts.Check(os.Mkdir(hooks, 0o755))
			ts.Check(gitIn(ts, d.dir, "repack", "-adq"))
		}
	})
	if made || d.dir == "" {
		return code, stdout, stderr, made
	}
	ts.Check(os.CopyFS(dir, os.DirFS(d.dir)))
	ts.Check(os.WriteFile(odds, d.odds, 0o600))
	ts.Check(gitIn(ts, dir, "update-index", "-q", "--refresh")) // git knows files by when they were made
	fmt.Fprint(ts.Stdout(), d.stdout)
	fmt.Fprint(ts.Stderr(), d.stderr)
	return 0, d.stdout, d.stderr, true
}

func gitIn(ts *testscript.TestScript, dir string, args ...string) error {
	c := exec.Command("git", args...)
	c.Dir, c.Env = dir, append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+ts.Getenv("GIT_CONFIG_GLOBAL"))
	return c.Run()
}

// demoOf is the demo of all stories whose variables and git say the same, but for where the
// story lies.
func demoOf(ts *testscript.TestScript, work, dir string) *demo {
	var key strings.Builder
	for _, name := range slices.Compact(slices.Sorted(slices.Values(ts.Value(variables).([]string)))) {
		fmt.Fprintf(&key, "%s=%s\n", name, ts.Getenv(name))
	}
	ts.Check(filepath.WalkDir(ts.Getenv("HOME"), func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		fmt.Fprintf(&key, "%s: %s\n", name, b)
		return err
	}))
	sum := sha256.Sum256([]byte(dir + "\n" + strings.ReplaceAll(key.String(), work, "$WORK")))
	demos.Lock()
	defer demos.Unlock()
	if demos.made[sum] == nil {
		if demos.made == nil {
			demos.made = map[[sha256.Size]byte]*demo{}
			home, err := os.MkdirTemp("", "odd-demos-")
			ts.Check(err)
			demos.home = home
		}
		demos.made[sum] = new(demo)
	}
	return demos.made[sum]
}

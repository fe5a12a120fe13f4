package testscripts

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

var faults = flag.Int("faults", 0, "how many faults of each kind every deed suffers; 0 a few in all, -1 at every write it makes")

// fault is what a disk does to one command and all that it starts.
type fault struct {
	kind  string
	disk  string // only what happens below this directory counts
	errno syscall.Errno
	at    int  // the how manyth write fails; 0 is none
	on    bool // and every later one: so the disk stays until the command has ended
	full  bool // only what needs room fails
	calls int  // how many there were
	hit   string
}

// kinds are the ways of a disk to fail: it is full, one call goes wrong, it
// takes nothing any more, or one file may not grow.
func kinds(at int) []fault {
	all := []fault{
		{kind: "full", at: at, errno: syscall.ENOSPC, on: true, full: true},
		{kind: "once", at: at, errno: syscall.EIO},
		{kind: "dead", at: at, errno: syscall.EIO, on: true},
		{kind: "quota", at: at, errno: syscall.EDQUOT, full: true},
	}
	if *faults == 0 {
		return all[:2]
	}
	return all
}

// judge says how a call ends, 0 for well.
func (f *fault) judge(what, path string) syscall.Errno {
	if !strings.HasPrefix(path, f.disk) {
		return 0
	}
	if f.full {
		if _, err := os.Lstat(path); what == "remove" || what == "rename" || what == "truncate" || what == "create" && err == nil {
			return 0
		}
	}
	if what == "remove" && (f.on || strings.HasSuffix(path, ".lock")) {
		return 0 // git names the lock that it could not remove, and a person removes it
	}
	f.calls++
	if f.at == 0 || f.calls != f.at && (!f.on || f.calls < f.at) {
		return 0
	}
	if f.hit == "" {
		f.hit = what + " " + strings.TrimPrefix(path, f.disk)
	}
	return f.errno
}

// disk is one repository, below a directory that may fail.
type disk struct {
	*testing.T
	deed
	at   string // the disk; shop/ on it is the repository
	home string // not on the disk
	now  time.Time
}

func (d *disk) command(argv ...string) *exec.Cmd {
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir = filepath.Join(d.at, "shop")
	c.Env = append(os.Environ(), "HOME="+d.home, "XDG_CONFIG_HOME="+d.home, "TMPDIR="+filepath.Join(d.at, "tmp"), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		varSeed+"="+filepath.Join(d.home, "seed"), varAnswer+"="+d.answer, "CI=", "GITHUB_ACTIONS=")
	for _, v := range clock(d.now.Format(time.RFC3339)) {
		c.Env = append(c.Env, v[0]+"="+v[1])
	}
	return c
}

func (d *disk) must(argv ...string) string {
	d.Helper()
	out, err := d.command(argv...).CombinedOutput()
	if err != nil {
		d.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
	return string(out)
}

// format makes a disk with the demo on it.
func format(t *testing.T) *disk {
	t.Helper()
	d := &disk{T: t, home: t.TempDir(), at: t.TempDir()}
	var err error
	if d.now, err = time.Parse(time.RFC3339, begin); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.home, ".gitconfig"), []byte(gitConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"shop", "tmp"} {
		if err := os.Mkdir(filepath.Join(d.at, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	d.must("odd", "demo", ".")
	return d
}

// copied is the disk as it was.
func (d *disk) copied(t *testing.T, e deed) *disk {
	t.Helper()
	to := &disk{T: t, deed: e, home: d.home, now: d.now, at: filepath.Join(t.TempDir(), "disk")}
	if out, err := exec.Command("cp", "-a", d.at, to.at).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(to.at, "hub.git")); err == nil {
		to.must("git", "remote", "set-url", "origin", "file://"+filepath.Join(to.at, "hub.git"))
	}
	return to
}

// sound is what holds once the disk works again: history proves itself, git
// finds nothing, and no file is half made.
func (d *disk) sound(when string) {
	d.Helper()
	d.must("sh", "-ec", d.heal)
	if out, err := d.command("odd", "status").CombinedOutput(); err != nil { // a verb that finishes what was begun
		d.Errorf("%s: odd status: %v\n%s", when, err, out)
	}
	looks := []string{"odd check --all 2>../said || cat ../said", "git fsck --strict --no-dangling --no-progress"}
	if !d.edits {
		looks = append(looks, "git status --porcelain")
	}
	for _, look := range looks {
		if out, err := d.command("sh", "-c", look).CombinedOutput(); err != nil || len(out) > 0 {
			d.Errorf("%s: %s: %v\n%s", when, look, err, out)
		}
	}
}

// swept is what holds after one more deed and one more commit: nothing of what
// the fault left lies about.
func (d *disk) swept(when string, f fault) {
	d.Helper()
	drafts := "none" // git does not always remove what it could not write, and prunes it later
	if f.full {
		drafts = "*/tmp_obj_???????*" // odd's own
	}
	d.must("odd", "task", "add", "Coil the ropes")
	left := d.must("find", ".git", "../tmp", "-mindepth", "1", "(", "-name", "*.lock", "-not", "-path", ".git/odd/*.lock", "-o", "-path", ".git/odd/tmp/*", "-o", "-path", ".git/odd/sync/*",
		"-o", "-path", ".git/odd/*/.*", "-not", "-name", ".gitignore", "-o", "-path", ".git/worktrees/*", "-o", "-path", "../tmp/*", "-not", "-path", "../tmp/"+"odd-[0-9]*", "-o", "-path", drafts, ")")
	if left != "" {
		d.Errorf("%s: it left\n%s", when, left)
	}
}

// isDone reports whether the deed is.
func (d *disk) isDone() bool { return d.command("sh", "-c", d.done).Run() == nil }

// blow lets the deed suffer a fault, and then has it recover. It reports
// whether the fault came to pass, and whether the deed failed of it.
func (d *disk) blow(f fault) (hit, failed bool) {
	d.Helper()
	out, err := f.suffer(d.T, d.command(d.argv...))
	when := fmt.Sprintf("%s, %s at %d (%s)", d.name, f.kind, f.at, f.hit)
	if f.hit == "" {
		return false, false
	}
	healed := d.heal == "" || d.isDone()
	d.sound(when)
	var exit *exec.ExitError
	switch {
	case err == nil && !(healed && d.isDone()):
		d.Errorf("%s: it said nothing, and is not done\n%s", when, out)
	case strings.Contains(out, "[A_PERSIST]") || strings.Contains(out, "[A_UNSWEPT]"): // the anchor's own words for it
		if !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.Contains(out, "room on the disk") && !strings.Contains(out, "odd anchor identity ROLE") {
			d.Errorf("%s: %v\n%s", when, err, out)
		}
	case err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1):
		d.Errorf("%s: %v\n%s", when, err, out)
	case err != nil:
		if !strings.Contains(out, "odd: ") || !strings.Contains(out, "see to the disk") && !strings.Contains(out, "see to its disk") {
			d.Errorf("%s: it does not say what to do\n%s", when, out)
		}
	}
	if !d.isDone() {
		d.now = d.now.Add(time.Hour)
		if out, err := d.command(d.argv...).CombinedOutput(); err != nil || !d.isDone() {
			d.Errorf("%s: and again: %v\n%s", when, err, out)
		}
		d.sound(when + ", done again")
	}
	d.swept(when, f)
	return true, err != nil
}

// TestFaults lets the disk fail under every command that writes.
func TestFaults(t *testing.T) {
	t.Parallel()
	demo := format(t)
	var n toll
	t.Cleanup(func() {
		t.Logf("%d blows, %d commands failed and recovered, %d lost", n.blows.Load(), n.failed.Load()-n.lost.Load(), n.lost.Load())
	})
	for i, e := range deeds {
		if *faults == 0 && i == briefly {
			break
		}
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			ready := demo.copied(t, e)
			ready.must("sh", "-ec", e.before)
			n.all(t, ready)
		})
	}
}

// briefly is how many of the deeds a short run takes.
const briefly = 3

// toll counts what became of the faults.
type toll struct{ blows, failed, lost atomic.Int64 }

// all lets a deed suffer at the places and in the ways that were asked for.
func (n *toll) all(t *testing.T, ready *disk) {
	well := ready.copied(t, ready.deed)
	count := fault{disk: well.at}
	if out, err := count.suffer(t, well.command(well.argv...)); err != nil || count.calls == 0 || !well.isDone() {
		t.Fatalf("%d writes: %v\n%s", count.calls, err, out)
	}
	for _, at := range places(count.calls) {
		for _, f := range kinds(at) {
			t.Run(fmt.Sprintf("%s-%d", f.kind, at), func(t *testing.T) {
				d := ready.copied(t, ready.deed)
				f.disk = d.at
				hit, bad := d.blow(f)
				os.RemoveAll(d.at)
				if hit {
					n.blows.Add(1)
				}
				if bad || t.Failed() {
					n.failed.Add(1)
				}
				if t.Failed() {
					n.lost.Add(1)
				}
			})
		}
	}
}

// places are the writes out of n that fail.
func places(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i + 1
	}
	if *faults < 0 {
		return all
	}
	rand.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = all[:min(n, max(*faults, 1))]
	slices.Sort(all)
	return all
}

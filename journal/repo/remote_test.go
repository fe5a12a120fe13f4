package repo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/journal/repo/repotest"
)

func sshKeygen(dir string) (string, error) {
	out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "x", "-f", dir+"/key").CombinedOutput()
	return string(out), err
}

// clones are two clones of a bare remote with one commit.
func clones(t testing.TB) (a, b *Repo, base OID, bare string) {
	src, base := fresh(t, "k/task.md", "x\n", "k/old.md", "y\n")
	bare = t.TempDir()
	repotest.Git(t, bare, "clone", "-q", "--bare", src.Root(), ".")
	clone := func() *Repo {
		dir := t.TempDir()
		repotest.Git(t, dir, "clone", "-q", "file://"+bare, ".")
		return open(t, dir)
	}
	return clone(), clone(), base, bare
}

func TestPushIsTheClaim(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a, b, base, bare := clones(t)
	mine, his := claim(t, a, base), repotest.Must[OID](t)(b.Make(ctx, []OID{base}, changes("k/task.md", "b"), agent, "m"))
	main := func(old, new OID) RefUpdate { return RefUpdate{Name: "refs/heads/main", Old: old, New: new} }
	run := func(n string, oid OID) RefUpdate { return RefUpdate{Name: "refs/odd/run/" + n, Old: "", New: oid} }
	if err := a.Push(ctx, "origin", main(base, mine), run("a", base)); err != nil {
		t.Fatal(err)
	}
	if err := b.Push(ctx, "origin", run("b", base), main(base, his)); !errors.Is(err, ErrRejected) {
		t.Errorf("lost race: %v", err)
	}
	repotest.Eq(t, "nothing of the loser", repotest.Must[OID](t)(b.RemoteRef(ctx, "origin", "refs/odd/run/b")), "")
	repotest.Eq(t, "winner", repotest.Must[OID](t)(b.RemoteRef(ctx, "origin", "refs/heads/main")), mine)
	if err := b.Push(ctx, "origin", main("", his)); !errors.Is(err, ErrRejected) {
		t.Errorf("create over: %v", err)
	}
	if err := a.Push(ctx, "origin", main(base, mine)); !errors.Is(err, ErrRejected) {
		t.Errorf("up to date is no success: %v", err)
	}
	if err := b.Fetch(ctx, "origin"); err != nil {
		t.Fatal(err)
	}
	repotest.Eq(t, "fetched", repotest.Must[OID](t)(b.Ref("refs/remotes/origin/main")), mine)
	if err := b.Push(ctx, "origin", RefUpdate{Name: "refs/odd/run/a", Old: base, New: ""}); err != nil {
		t.Errorf("delete: %v", err)
	}
	repotest.Git(t, bare, "config", "receive.denyDeletes", "true")
	if err := a.Push(ctx, "origin", main(mine, "")); err == nil || errors.Is(err, ErrRejected) {
		t.Errorf("a remote that never takes it: %v", err)
	}
	if err := a.Push(ctx, "--upload-pack=x", main(base, mine)); err == nil || !strings.Contains(err.Error(), "not a name") {
		t.Errorf("option for a remote: %v", err)
	}
	if err := a.Push(ctx, "nowhere", main(base, mine)); err == nil || errors.Is(err, ErrRejected) {
		t.Errorf("no such remote: %v", err)
	}
}

// A push that loses its race while the remote moves the refs is a lost race as well: git then
// says of every ref no more than that the transaction failed.
func TestPushLosesInTheTransaction(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a, b, base, bare := clones(t)
	his := repotest.Must[OID](t)(b.Make(ctx, []OID{base}, changes("k/task.md", "b"), agent, "m"))
	if err := b.Push(ctx, "origin", RefUpdate{Name: "refs/heads/his", Old: "", New: his}); err != nil {
		t.Fatal(err)
	}
	hook := "#!/bin/sh\nunset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES\ngit update-ref refs/heads/main refs/heads/his\n"
	if err := os.WriteFile(filepath.Join(bare, "hooks", "pre-receive"), []byte(hook), 0o777); err != nil {
		t.Fatal(err)
	}
	mine := claim(t, a, base)
	if err := a.Push(ctx, "origin", RefUpdate{Name: "refs/heads/main", Old: base, New: mine}, RefUpdate{Name: "refs/odd/run/a", Old: "", New: base}); !errors.Is(err, ErrRejected) {
		t.Errorf("the race was lost, and the error says %v", err)
	}
	repotest.Eq(t, "nothing of the loser", repotest.Must[OID](t)(a.RemoteRef(ctx, "origin", "refs/odd/run/a")), "")
}

// What makes every push fail is no lost race, though the remote names a lock.
func TestPushFailsForGood(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, spoil := range map[string]func(bare string){
		"a branch in the place of a folder": func(bare string) { repotest.Git(t, bare, "branch", "odd", "main") },
		"a lock that was left behind": func(bare string) {
			if err := os.WriteFile(filepath.Join(bare, "refs", "heads", "main.lock"), nil, 0o666); err != nil {
				t.Fatal(err)
			}
		},
	} {
		a, _, base, bare := clones(t)
		spoil(bare)
		mine := claim(t, a, base)
		err := a.Push(ctx, "origin", RefUpdate{Name: "refs/heads/main", Old: base, New: mine}, RefUpdate{Name: "refs/heads/odd/review/a.1", Old: "", New: mine})
		if err == nil || errors.Is(err, ErrRejected) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRemoteLock(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a, b, _, bare := clones(t)
	now := agent.When
	l, err := a.LockRemote(ctx, "origin", "acme", "run-a", time.Minute, now)
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.LockRemote(ctx, "origin", "acme", "run-b", time.Minute, now.Add(30*time.Second))
	if !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "run-a has it until") {
		t.Errorf("held: %v", err)
	}
	if err := l.Renew(ctx, now.Add(50*time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.LockRemote(ctx, "origin", "acme", "run-b", time.Minute, now.Add(70*time.Second)); !errors.Is(err, ErrBusy) {
		t.Errorf("renewed: %v", err)
	}
	m, err := b.LockRemote(ctx, "origin", "acme", "run-b", time.Minute, now.Add(110*time.Second))
	if err != nil {
		t.Fatalf("expired: %v", err)
	}
	if err := l.Renew(ctx, now.Add(111*time.Second)); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "run-b") {
		t.Errorf("taken over: %v", err)
	}
	if err := l.Release(ctx); err != nil {
		t.Errorf("release of a lost lock: %v", err)
	}
	if err := m.Release(ctx); err != nil {
		t.Error(err)
	}
	repotest.Eq(t, "freed", repotest.Git(t, bare, "for-each-ref", "refs/odd"), "")
	repotest.Git(t, bare, "update-ref", "refs/odd/lock/acme", "HEAD")
	if _, err := a.LockRemote(ctx, "origin", "acme", "run-a", time.Minute, now); err == nil {
		t.Error("a lock nobody can read was taken for free")
	}
}

// What a run held that was killed is free for the next of its clone, and for no other's.
func TestRemoteLockOfAKilledRun(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a, b, base, _ := clones(t)
	if _, err := a.LockRemote(ctx, "origin", "acme", "run-a", time.Minute, agent.When); err != nil {
		t.Fatal(err)
	}
	if err := a.Update(ctx, RefUpdate{Name: basePrefix + "run-a", Old: "", New: base}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		r    *Repo
		busy bool
	}{"another clone": {b, true}, "its own clone": {a, false}} {
		if err := c.r.CheckRemoteLock(ctx, "origin", "acme", agent.When); errors.Is(err, ErrBusy) != c.busy || !c.busy && err != nil {
			t.Errorf("%s: checked: %v", name, err)
		}
	}
	alive, err := a.LockRun("run-a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.LockRemote(ctx, "origin", "acme", "run-c", time.Minute, agent.When); !errors.Is(err, ErrBusy) {
		t.Errorf("a run that lives lost its lock: %v", err)
	}
	alive()
	copied := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied, os.DirFS(a.CommonDir())); err != nil {
		t.Fatal(err)
	}
	c, err := Open(copied, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.LockRemote(ctx, "origin", "acme", "run-d", time.Minute, agent.When); !errors.Is(err, ErrBusy) {
		t.Errorf("a copy of the clone took it: %v", err)
	}
	if _, err := b.LockRemote(ctx, "origin", "acme", "run-b", time.Minute, agent.When); !errors.Is(err, ErrBusy) {
		t.Errorf("another clone took it: %v", err)
	}
	if _, err := a.LockRemote(ctx, "origin", "acme", "run-c", time.Minute, agent.When); err != nil {
		t.Error(err)
	}
}

// So is the lock of a drain that was killed before it claimed a task, also behind another that was killed, and after
// somebody asked whether a drain runs.
func TestRemoteLockOfAKilledDrain(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a, b, _, _ := clones(t)
	if _, err := a.LockRemote(ctx, "origin", "acme", "run-a", time.Minute, agent.When); err != nil {
		t.Fatal(err)
	}
	const gone = "pid 4194999 run-b\nrun-a\n" // above the largest process id
	for name, c := range map[string]struct {
		r       *Repo
		lock    string
		unlocks bool // a drain without a run had the lock meanwhile
		busy    bool
	}{
		"killed":          {a, "pid 4194999 run-a\n", false, false},
		"two were killed": {a, gone, false, false},
		"asked meanwhile": {a, gone, true, false},
		"it lives":        {a, fmt.Sprintf("pid %d run-a\n", os.Getpid()), false, true},
		"it ended":        {a, "", false, true},
		"another run":     {a, "pid 4194999 run-b\n", false, true},
		"another clone":   {b, gone, false, true},
	} {
		if err := errors.Join(c.r.MakeOddDir(), os.WriteFile(c.r.OddPath("drain.lock"), []byte(c.lock), 0o666)); err != nil {
			t.Fatal(err)
		}
		if c.unlocks {
			if err := repotest.Must[func() error](t)(c.r.LockDrain())(); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.r.CheckRemoteLock(ctx, "origin", "acme", agent.When); errors.Is(err, ErrBusy) != c.busy || !c.busy && err != nil {
			t.Errorf("%s: checked: %v", name, err)
		}
	}
	if err := os.WriteFile(a.OddPath("drain.lock"), []byte(gone), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := repotest.Must[func() error](t)(a.LockDrainFor("run-x"))(); err != nil {
		t.Fatal(err)
	}
	repotest.Eq(t, "killed, once a drain ended that did not reach the remote", a.KilledDrains(), []string{"run-a", "run-b"})
	unlock := repotest.Must[func() error](t)(a.LockDrainFor("run-c"))
	if _, err := a.LockRemote(ctx, "origin", "acme", "run-c", time.Minute, agent.When); err != nil {
		t.Error(err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	repotest.Eq(t, "killed, once a drain had the lock of the remote", len(a.KilledDrains()), 0)
}

// A gate has no id of its own, so two clones name it alike.
func TestRemoteLockOfAGate(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a, b, _, _ := clones(t)
	l := repotest.Must[*RemoteLock](t)(a.LockRemote(ctx, "origin", "acme", "gate framing", time.Minute, agent.When))
	for _, r := range []*Repo{a, b} {
		if err := errors.Join(r.MakeOddDir(), os.WriteFile(r.OddPath("drain.lock"), []byte("pid 4194999 gate framing\n"), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.LockRemote(ctx, "origin", "acme", "gate framing", time.Minute, agent.When); !errors.Is(err, ErrBusy) {
		t.Errorf("a clone took the lock of another's gate: %v", err)
	}
	m := repotest.Must[*RemoteLock](t)(a.LockRemote(ctx, "origin", "acme", "gate framing", time.Minute, agent.When))
	if err := a.CheckLock(l.at, m.at, agent.When); err != nil {
		t.Errorf("a gate may not renew its lock: %v", err)
	}
	theirs, _ := json.Marshal(lockBlob{Version: 1, Run: "gate framing", Clone: "another", Expires: agent.When.Add(time.Minute)})
	if err := a.CheckLock(m.at, repotest.Must[OID](t)(a.WriteBlob(theirs)), agent.When); err == nil {
		t.Error("a push may take the lock of another clone's gate")
	}
}

func TestRemoteLockRace(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a, b, _, _ := clones(t)
	errs := make(chan error)
	for i := range 4 {
		r := []*Repo{a, b}[i%2]
		go func() {
			_, err := r.LockRemote(ctx, "origin", "acme", "same-run", time.Minute, agent.When)
			errs <- err
		}()
	}
	won := 0
	for range 4 {
		if err := <-errs; err == nil {
			won++
		} else if !errors.Is(err, ErrBusy) {
			t.Error(err)
		}
	}
	repotest.Eq(t, "winners", won, 1)
}

func TestPruneRuns(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, base := fresh(t)
	for _, n := range []string{"run-01ARYZ6S410000000000000000", "run-01BX5ZZKBKACTAV9WEVGEMMVRZ", "mine"} {
		if err := r.Update(ctx, RefUpdate{Name: runRefs + n, Old: "", New: base}); err != nil {
			t.Fatal(err)
		}
	}
	n := repotest.Must[int](t)(r.PruneRuns(ctx, time.Date(2017, 1, 1, 0, 0, 0, 0, time.UTC)))
	repotest.Eq(t, "pruned", n, 1)
	repotest.Eq(t, "left", len(repotest.Must[[]RefUpdate](t)(r.Refs(runRefs))), 2)
	if err := r.Maintain(ctx); err != nil {
		t.Error(err)
	}
}

// A push whose answer is lost has arrived all the same: the remote is asked.
func TestLandArrived(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a, _, base, bare := clones(t)
	next := claim(t, a, base)
	repotest.Write(t, bare, "hooks/post-receive", "#!/bin/sh\nkill -9 $PPID\n")
	if err := os.Chmod(filepath.Join(bare, "hooks/post-receive"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := a.Push(ctx, "origin", RefUpdate{Name: "refs/heads/lost", Old: "", New: base}); err == nil {
		t.Fatal("the answer was not lost")
	}
	l := &Line{Repo: a, Ref: "refs/heads/main", Remote: "origin"}
	if err := l.Land(ctx, base, next); err != nil {
		t.Errorf("it arrived: %v", err)
	}
	repotest.Eq(t, "the local branch follows", repotest.Must[OID](t)(a.Ref("refs/heads/main")), next)
}

// A remote that hangs is called off, by what it is and how to wait longer.
func TestPatience(t *testing.T) {
	t.Parallel()
	a, _, base, bare := clones(t)
	repotest.Write(t, bare, "hooks/pre-receive", "#!/bin/sh\nexec sleep 1000\n")
	if err := os.Chmod(filepath.Join(bare, "hooks/pre-receive"), 0o755); err != nil {
		t.Fatal(err)
	}
	a.Patience(time.Second)
	err := a.Push(context.Background(), "origin", RefUpdate{Name: "refs/heads/new", Old: "", New: base})
	if err == nil || !strings.Contains(err.Error(), "origin did not answer within 1s; try again, or raise [board] remote_timeout") {
		t.Errorf("a push that hangs: %v", err)
	}
}

// Two fetches of one clone at a time meet at the same ref, and both have it.
func TestFetchRace(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a, b, at, _ := clones(t)
	for n := range 5 {
		next := repotest.Must[OID](t)(a.Make(ctx, []OID{at}, changes("k/task.md", strings.Repeat("x", n+2)), agent, "m"))
		if err := a.Push(ctx, "origin", RefUpdate{Name: "refs/heads/main", Old: at, New: next}); err != nil {
			t.Fatal(err)
		}
		errs := make(chan error)
		for range 4 {
			go func() { errs <- b.Fetch(ctx, "origin") }()
		}
		for range 4 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		at = next
		repotest.Eq(t, "fetched", repotest.Must[OID](t)(b.Ref("refs/remotes/origin/main")), next)
	}
}

func TestPushedToADiskThatIsFull(t *testing.T) {
	t.Parallel()
	u := RefUpdate{Name: "refs/heads/main", New: OID("1234567890123456789012345678901234567890")}
	for why, want := range map[string]bool{"unpacker error": true, "unable to migrate objects to permanent storage": true, "pre-receive hook declined": false} {
		err := readPush("origin", "!\t1234:refs/heads/main\t[remote rejected] ("+why+")\n", errors.New("exit status 1"), []RefUpdate{u})
		if err == nil || errors.Is(err, ErrRejected) || strings.Contains(err.Error(), "see to its disk") != want {
			t.Errorf("%s: %v", why, err)
		}
	}
}

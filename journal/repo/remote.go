package repo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
	"github.com/odd-cli/odd/journal/repo/ref"
)

// checkRemote refuses a remote that git would take for an option.
func checkRemote(remote string) error {
	if remote == "" || strings.HasPrefix(remote, "-") {
		return fmt.Errorf("remote %q: not a name or a URL", remote)
	}
	return nil
}

// RemoteTime is the default time limit for one exchange with a remote.
const RemoteTime = 5 * time.Minute

// Patience sets the time limit for one exchange with a remote; 0 is RemoteTime.
func (r *Repo) Patience(d time.Duration) { r.patience = d }

// withRemoteTimeout bounds one exchange with a remote, because a remote that hangs would hold the drain lock, or
// keep a person waiting, forever.
func (r *Repo) withRemoteTimeout(ctx context.Context, remote string) (context.Context, context.CancelFunc) {
	d := cmp.Or(r.patience, RemoteTime)
	return context.WithTimeoutCause(ctx, d, fmt.Errorf("%s did not answer within %s; try again, or raise [board] remote_timeout", remote, d))
}

// fetchRaces is how often a fetch is repeated that failed because another fetch of this clone held a ref.
const fetchRaces = 5

// Fetch updates refs/remotes/REMOTE/*, or what the refspecs say. It deletes nothing, fetches no tags and does not
// write FETCH_HEAD.
func (r *Repo) Fetch(ctx context.Context, remote string, refspecs ...string) error {
	if err := checkRemote(remote); err != nil {
		return err
	}
	if len(refspecs) == 0 {
		refspecs = []string{"+refs/heads/*:refs/remotes/" + remote + "/*"}
	}
	ctx, cancel := r.withRemoteTimeout(ctx, remote)
	defer cancel()
	args := []string{"-c", "maintenance.auto=false", "fetch", "-q", "--no-tags", "--no-prune", "--no-write-fetch-head",
		"--no-recurse-submodules", "--", remote}
	args = append(args, refspecs...)
	_, err := r.git.Run(ctx, gitcmd.Call{Args: args, Self: true})
	for try := 0; try < fetchRaces && err != nil && strings.Contains(err.Error(), "cannot lock ref"); try++ {
		_, err = r.git.Run(ctx, gitcmd.Call{Args: args, Self: true}) // another fetch of this clone was faster and updated the ref
	}
	return unreadable(remote, err)
}

// unreadable adds to git's error what to do about a remote that git cannot read.
func unreadable(remote string, err error) error {
	if gitcmd.ExitCode(err) > 0 {
		return fmt.Errorf("%s cannot be read; try again when git fetch %[1]s works: %w", remote, err)
	}
	return err
}

// RemoteRef reads one ref of the remote; "" if it does not exist.
func (r *Repo) RemoteRef(ctx context.Context, remote, name string) (OID, error) {
	if err := errors.Join(checkRemote(remote), ref.Check(name)); err != nil {
		return "", err
	}
	ctx, cancel := r.withRemoteTimeout(ctx, remote)
	defer cancel()
	out, err := r.git.Run(ctx, gitcmd.Call{Args: []string{"ls-remote", "-q", "--", remote, name}, Read: true, Self: true})
	if err != nil {
		return "", unreadable(remote, err)
	}
	for l := range strings.Lines(string(out)) {
		oid, ref, _ := strings.Cut(strings.TrimSuffix(l, "\n"), "\t")
		if ref == name {
			return OID(oid), nil
		}
	}
	return "", nil
}

// Push moves refs of the remote atomically, each with a lease: the remote must have Old ("" means that the ref must
// not exist). New is pushed by id ("" deletes). ErrRejected means that a lease failed, or that the remote has New
// already: another writer pushed it, or an earlier attempt of ours arrived after all; RemoteRef tells. The pre-push
// hook does not run: it is for what a person pushes.
func (r *Repo) Push(ctx context.Context, remote string, us ...RefUpdate) error {
	if err := checkRemote(remote); err != nil || len(us) == 0 {
		return err
	}
	ctx, cancel := r.withRemoteTimeout(ctx, remote)
	defer cancel()
	args := []string{"push", "--porcelain", "--no-verify", "--no-recurse-submodules"}
	if len(us) > 1 {
		args = append(args, "--atomic")
	}
	var specs []string
	for _, u := range us {
		if err := u.Check(); err != nil {
			return err
		}
		args = append(args, "--force-with-lease="+u.Name+":"+string(u.Old))
		specs = append(specs, string(u.New)+":"+u.Name)
	}
	args = append(append(args, "--", remote), specs...)
	out, err := r.git.Run(ctx, gitcmd.Call{Args: args, Self: true})
	return readPush(remote, string(out), err, us)
}

// readPush reads the porcelain lines: FLAG TAB FROM:TO TAB SUMMARY. git also exits with 0 if a ref was "up to
// date", whatever its lease said.
func readPush(remote, out string, err error, us []RefUpdate) error {
	said := map[string]string{}
	for l := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSuffix(l, "\n"), "\t", 3)
		if len(f) != 3 || len(f[0]) != 1 {
			continue
		}
		_, to, _ := strings.Cut(f[1], ":")
		said[to] = f[0] + " " + f[2]
	}
	var moved, refused error
	for _, u := range us {
		switch lost, bad := readPushLine(u, said[u.Name], err == nil); {
		case lost != "":
			moved = fmt.Errorf("%s %s: %w: %s", remote, u.Name, ErrRejected, lost)
		case bad != "":
			refused = fmt.Errorf("%s %s: %s%s", remote, u.Name, bad, storageAdvice(bad))
			if strings.Contains(bad, "[remote rejected]") && storageAdvice(bad) == "" {
				refused = fmt.Errorf("%s %s: %w: %s", remote, u.Name, ErrDeclined, bad)
			}
		}
	}
	switch {
	case moved != nil:
		return moved
	case refused != nil:
		return errors.Join(refused, err)
	case err != nil && strings.Contains(out, "(atomic transaction failed)") && lostLock.MatchString(err.Error()):
		return fmt.Errorf("%s: %w: %w", remote, ErrRejected, err) // of each ref the remote says no more than that; its message says which one moved
	}
	return err
}

// lostLock is what a remote says of a ref that moved while it took the push. A name that cannot be, a lock that was
// left behind and a folder without permission read nearly the same, and are no races.
var lostLock = regexp.MustCompile(`cannot lock ref '[^']*': (is at [0-9a-f]+ but expected [0-9a-f]+|reference already exists)`)

// readPushLine reads one ref's line: lost says why another writer was first, bad why the remote refused it. If a
// ref failed only because another ref of the push did, both are "".
func readPushLine(u RefUpdate, line string, fine bool) (lost, bad string) {
	flag, why, _ := strings.Cut(line, " ")
	switch {
	case line == "" && fine:
		return "", "git push did not say what became of it"
	case flag == "=" && u.Old != u.New:
		return fmt.Sprintf("the remote has %.12s already", u.New), ""
	case flag == "!" && isRace(why):
		return why, ""
	case flag == "!" && !strings.Contains(why, "atomic"):
		return "", why
	}
	return "", ""
}

// storageAdvice says what to do if the remote accepted the push but could not store it; it is "" for any other
// reason.
func storageAdvice(why string) string {
	if !strings.Contains(why, "(unpacker error)") && !strings.Contains(why, "(unable to migrate objects") {
		return ""
	}
	return ": the remote could not store it, see to its disk, then run the command again"
}

// isRace distinguishes a lost race (a failed lease, or a lock of another push) from a refusal by the remote (a
// hook, a protected branch).
func isRace(line string) bool {
	for _, why := range []string{"[rejected]", "cannot lock ref", "incorrect old value", "failed to update ref", "already exists", "fetch first", "non-fast-forward"} {
		if strings.Contains(line, why) {
			return !strings.Contains(line, "atomic push failed")
		}
	}
	return false
}

package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

func TestFaulty(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("no such object"), false},
		{fmt.Errorf("a: %w", &fs.PathError{Op: "write", Path: "a", Err: syscall.ENOSPC}), true},
		{errors.Join(ErrInTheWay, syscall.EROFS), true},
		{&gitError{verb: "commit", stderr: "fatal: could not write to 'x': No space left on device"}, true},
		{&gitError{verb: "commit", stderr: "fatal: write error: Disk quota exceeded"}, true},
		{&gitError{verb: "commit", stderr: "fatal: couldn't write '.git/HEAD.lock'"}, true},
		{&gitError{verb: "config", stderr: "error: failed to write new configuration file .git/config.lock"}, true},
		{errors.New("couldn't write"), false},
		{&gitError{verb: "commit", stderr: "error: gpg failed to sign the data\nfatal: failed to write commit object"}, false},
		{&gitError{verb: "update-ref", stderr: "fatal: Unable to create 'x': File exists"}, false},
	} {
		if got := Faulty(c.err); got != c.want {
			t.Errorf("Faulty(%v) is %v, want %v", c.err, got, c.want)
		}
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

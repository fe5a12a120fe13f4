package gitcmd

import (
	"errors"
	"fmt"
	"io/fs"
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
		{errors.Join(errors.New("in the way"), syscall.EROFS), true},
		{&Error{verb: "commit", Stderr: "fatal: could not write to 'x': No space left on device"}, true},
		{&Error{verb: "commit", Stderr: "fatal: write error: Disk quota exceeded"}, true},
		{&Error{verb: "commit", Stderr: "fatal: couldn't write '.git/HEAD.lock'"}, true},
		{&Error{verb: "config", Stderr: "error: failed to write new configuration file .git/config.lock"}, true},
		{errors.New("couldn't write"), false},
		{&Error{verb: "commit", Stderr: "error: gpg failed to sign the data\nfatal: failed to write commit object"}, false},
		{&Error{verb: "update-ref", Stderr: "fatal: Unable to create 'x': File exists"}, false},
	} {
		if got := Faulty(c.err); got != c.want {
			t.Errorf("Faulty(%v) is %v, want %v", c.err, got, c.want)
		}
	}
}

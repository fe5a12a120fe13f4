package repo

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
		{errors.Join(ErrInTheWay, syscall.EROFS), true},
		{&gitError{verb: "commit", stderr: "fatal: could not write to 'x': No space left on device"}, true},
		{&gitError{verb: "commit", stderr: "fatal: write error: Disk quota exceeded"}, true},
		{&gitError{verb: "commit", stderr: "fatal: couldn't write '.git/HEAD.lock'"}, true},
		{errors.New("couldn't write"), false},
		{&gitError{verb: "commit", stderr: "error: gpg failed to sign the data\nfatal: failed to write commit object"}, false},
		{&gitError{verb: "update-ref", stderr: "fatal: Unable to create 'x': File exists"}, false},
	} {
		if got := Faulty(c.err); got != c.want {
			t.Errorf("Faulty(%v) is %v, want %v", c.err, got, c.want)
		}
	}
}

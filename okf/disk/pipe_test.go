//go:build linux || darwin

package disk

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/odd-cli/odd/okf"
)

// A pipe that takes a file's place makes nobody wait and is not read.
func TestPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "a.md", "---\ntype: x\n---\n")
	_, ps, err := okf.Load(swap(dir, func() {
		_ = os.Remove(filepath.Join(dir, "a.md"))
		if err := syscall.Mkfifo(filepath.Join(dir, "a.md"), 0o600); err != nil {
			t.Skip(err)
		}
	}))
	if err != nil || len(ps) != 1 || ps[0].Code != "odd-unreadable" {
		t.Errorf("%v, %v", ps, err)
	}
	if _, err := Dir(dir).Open("a.md"); !errors.Is(err, errSpecial) {
		t.Errorf("Open: %v", err)
	}
	Dir(dir).StatMany([]string{"a.md"}, func(int, int64, int64, uint64) { t.Error("a pipe has no size") })
}

package board

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
)

// Folder is where tasks are, below the bundle's root. An atom of type task elsewhere is not
// on the board. So reading the board means reading this folder, however large the bundle is.
const Folder = "tasks"

func onBoard(path string) bool { return strings.HasPrefix(path, Folder+"/") }

// Only returns the bundle f without everything outside Folder. okf.Load and okf.LoadCached
// make a graph of the tasks alone from it. Paths are unchanged.
func Only(f fs.FS) fs.FS {
	o := tasksOnly{f}
	switch m := f.(type) {
	case interface {
		manyReader
		manyStater
	}:
		return tasksOnlyDisk{o, m, m}
	case manyReader:
		return tasksOnlyTree{o, m}
	}
	return o
}

// tasksOnly lists only Folder at its root.
type tasksOnly struct{ fs.FS }

// tasksOnlyTree is tasksOnly for a file system that reads many files at once.
type tasksOnlyTree struct {
	tasksOnly
	manyReader
}

// tasksOnlyDisk is tasksOnly for one that also stats many files at once.
type tasksOnlyDisk struct {
	tasksOnly
	manyReader
	manyStater
}

type manyStater interface {
	StatMany(names []string, fn func(i int, size, changed int64, inode uint64))
}

type manyReader interface {
	ReadMany(names []string, fn func(name string, data []byte) error) error
}

// ReadDir lists the root without reading it, because it may hold any number of files.
func (o tasksOnly) ReadDir(name string) ([]fs.DirEntry, error) {
	if name != "." {
		return fs.ReadDir(o.FS, name)
	}
	info, err := fs.Lstat(o.FS, Folder)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = fs.Stat(o.FS, ".")
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	return []fs.DirEntry{fs.FileInfoToDirEntry(info)}, nil
}

// Lstat is that of the wrapped file system.
func (o tasksOnly) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(o.FS, name) }

// ReadLink is that of the wrapped file system.
func (o tasksOnly) ReadLink(name string) (string, error) { return fs.ReadLink(o.FS, name) }

// Pause is the content of pause.toml. While that file is on the board branch, no drain runs.
// Drain or a person adds it, only a person removes it.
type Pause struct {
	Reason string    `toml:"reason"`
	By     string    `toml:"by"`
	At     time.Time `toml:"at"`
}

// PauseFile returns the content of pause.toml.
func PauseFile(reason, by string, at time.Time) []byte {
	var b bytes.Buffer
	b.WriteString("# Drains are paused. To let them run again: odd drain resume\n")
	if err := toml.NewEncoder(&b).Encode(Pause{reason, by, at.UTC()}); err != nil {
		panic("unreachable: " + err.Error())
	}
	return b.Bytes()
}

// ReadPause returns why drains are paused, by the file name, "" and false where it is not there. A
// pause that cannot be read is one.
func ReadPause(files fs.FS, name string) (why string, paused bool) {
	b, err := fs.ReadFile(files, name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false
	}
	return PauseReason(b), true
}

// PauseReason returns why the board is paused. An unreadable file also pauses, and the
// reason says so.
func PauseReason(b []byte) string {
	var p Pause
	if err := toml.Unmarshal(b, &p); err != nil {
		return "pause.toml cannot be read, which counts as a pause"
	}
	if p.Reason == "" {
		return "no reason given"
	}
	if p.By == "" {
		return p.Reason
	}
	return fmt.Sprintf("%s (by %s)", p.Reason, p.By)
}

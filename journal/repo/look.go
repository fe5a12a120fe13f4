package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
	"github.com/odd-cli/odd/journal/repo/object"
)

// pathState is what a work tree has at a changed path.
type pathState uint8

const (
	stateAbsent pathState = iota // no file
	stateOld                     // the bytes and mode of the old commit
	stateNew                     // the bytes and mode of the new commit
	stateOther                   // anything else: a person's edits
)

// readStates returns the state of every changed path. It compares blob ids, first of the bytes as they are, then of
// the bytes as git would store them (line endings, filters).
func (c *checkout) readStates(ctx context.Context) ([]pathState, error) {
	states := make([]pathState, len(c.changes))
	deleted, changed := map[string]bool{}, map[string]bool{}
	for _, ch := range c.changes {
		changed[ch.Path] = true
		if ch.NewMode == "" {
			deleted[ch.Path] = true
		}
	}
	var unsure []int
	for i, ch := range c.changes {
		s, sure, err := c.readState(ch, deleted, changed)
		if err != nil {
			return nil, err
		}
		if states[i] = s; !sure {
			unsure = append(unsure, i)
		}
	}
	return states, c.hashFiltered(ctx, unsure, states)
}

// readState compares one path with both sides of its change; sure is false if a filter might still make them equal.
func (c *checkout) readState(ch Change, deleted, changed map[string]bool) (s pathState, sure bool, err error) {
	if up := c.findFileAbove(ch.Path); up != "" {
		if deleted[up] {
			return stateAbsent, true, nil // the same commit removes the file that is now a folder
		}
		return stateOther, true, nil
	}
	p := filepath.Join(c.m.Root, filepath.FromSlash(ch.Path))
	st, err := os.Lstat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return stateAbsent, true, nil
	case err != nil:
		return stateOther, true, err
	case st.IsDir() && (ch.NewMode == object.ModeRepo || ch.OldMode == object.ModeRepo && ch.NewMode == ""):
		return stateOld, true, nil // what is inside a submodule does not count
	case st.IsDir():
		if ch.NewMode == "" { // after a crash, the folder that replaces the file may be there already
			deleted = changed
		}
		if c.holdsOnly(ch.Path, deleted) {
			return stateAbsent, true, nil
		}
		return stateOther, true, nil
	}
	id, err := hashFile(p, st)
	if err != nil {
		return stateOther, true, err
	}
	s = matchSide(ch, id, gitMode(st))
	return s, s != stateOther || !st.Mode().IsRegular(), nil
}

// matchSide compares an id and a mode with both sides of a change.
func matchSide(ch Change, id OID, mode string) pathState {
	switch {
	case ch.NewMode == mode && ch.New == id:
		return stateNew
	case ch.OldMode == mode && ch.Old == id:
		return stateOld
	}
	return stateOther
}

// gitMode returns the mode that git would give a file of the work tree.
func gitMode(st fs.FileInfo) string {
	switch {
	case st.Mode()&fs.ModeSymlink != 0:
		return object.ModeLink
	case st.Mode()&0o100 != 0:
		return object.ModeExec
	}
	return object.ModeFile
}

// findFileAbove returns the nearest parent of path that exists in the work tree and is not a folder, "" if there is
// none. A symbolic link to a folder counts, because git does not follow it either.
func (c *checkout) findFileAbove(path string) string {
	dir := ""
	for seg := range strings.SplitSeq(path, "/") {
		if dir != "" {
			st, err := os.Lstat(filepath.Join(c.m.Root, dir))
			if err != nil {
				return ""
			}
			if !st.IsDir() {
				return dir
			}
			dir += "/"
		}
		dir += seg
	}
	return ""
}

// holdsOnly reports whether every file below a folder is listed.
func (c *checkout) holdsOnly(dir string, listed map[string]bool) bool {
	errOther := errors.New("other")
	err := fs.WalkDir(os.DirFS(c.m.Root), dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !listed[p] {
			err = errOther
		}
		return err
	})
	return err == nil
}

// hashFiltered asks git for the ids of the unsure files as it would store them, and ignores mode differences that
// git ignores here.
func (c *checkout) hashFiltered(ctx context.Context, unsure []int, states []pathState) error {
	var ask strings.Builder
	var asked []int
	for _, i := range unsure {
		if !strings.ContainsAny(c.changes[i].Path, "\n\"") {
			ask.WriteString(c.changes[i].Path + "\n")
			asked = append(asked, i)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	out, err := c.r.git.Run(ctx, gitcmd.Call{Args: []string{"hash-object", "--stdin-paths"}, Dir: c.m.Root, Read: true,
		Stdin: strings.NewReader(ask.String())})
	if err != nil {
		return err
	}
	ids := strings.Fields(string(out))
	if len(ids) != len(asked) {
		return fmt.Errorf("git hash-object: %d answers for %d files", len(ids), len(asked))
	}
	trust := c.r.trustsModes(ctx)
	for n, i := range asked {
		ch := c.changes[i]
		st, err := os.Lstat(filepath.Join(c.m.Root, ch.Path))
		if err != nil {
			continue
		}
		mode := gitMode(st)
		if !trust && object.FileMode(ch.OldMode).IsRegular() {
			mode = ch.OldMode
		}
		states[i] = matchSide(ch, OID(ids[n]), mode)
	}
	return nil
}

// trustsModes returns core.fileMode: whether the executable bit of a file counts.
func (r *Repo) trustsModes(ctx context.Context) bool {
	out, err := r.git.ReadLine(ctx, "config", "--type=bool", "--get", "core.fileMode")
	return err != nil || out != "false"
}

// isWritable reports whether the nearest existing folder above path can be written.
func (c *checkout) isWritable(path string) bool {
	for dir := filepath.Dir(filepath.Join(c.m.Root, filepath.FromSlash(path))); ; dir = filepath.Dir(dir) {
		err := syscall.Access(dir, 2) // W_OK
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return err == nil
		}
		if len(dir) <= len(c.m.Root) {
			return false
		}
	}
}

// hashFile returns the blob id of a file or symbolic link as it is.
func hashFile(p string, st fs.FileInfo) (OID, error) {
	var b []byte
	switch {
	case st.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(p)
		if err != nil {
			return "", err
		}
		b = []byte(to)
	case st.Mode().IsRegular():
		buf := hashBuffers.Get().(*bytes.Buffer)
		defer hashBuffers.Put(buf)
		buf.Reset()
		f, err := os.Open(p)
		if err == nil {
			_, err = buf.ReadFrom(f)
			f.Close()
		}
		if err != nil {
			return "", err
		}
		b = buf.Bytes()
	default:
		return "", nil // a socket or a pipe, which git does not store
	}
	return object.BlobID(b), nil
}

// hashBuffers are idle buffers for hashFile.
var hashBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

package repo

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// state is what a work tree has at a changed path.
type state uint8

const (
	stateAbsent state = iota // nothing
	stateOld                 // the bytes and mode of the old commit
	stateNew                 // those of the new one
	stateOther               // a person's
)

// look tells the state of every changed path. Bytes are compared by blob id, first as they are and, where that is
// not it, as git would store them (line endings, filters).
func (c *checkout) look(ctx context.Context) ([]state, error) {
	states := make([]state, len(c.changes))
	deleted, changed := map[string]bool{}, map[string]bool{}
	for _, ch := range c.changes {
		changed[ch.Path] = true
		if ch.NewMode == "" {
			deleted[ch.Path] = true
		}
	}
	var unsure []int
	for i, ch := range c.changes {
		s, sure, err := c.lookAt(ch, deleted, changed)
		if err != nil {
			return nil, err
		}
		if states[i] = s; !sure {
			unsure = append(unsure, i)
		}
	}
	return states, c.askFiltered(ctx, unsure, states)
}

// lookAt compares one path with what it should be; sure is false when a filter might still make them equal.
func (c *checkout) lookAt(ch Change, deleted, changed map[string]bool) (s state, sure bool, err error) {
	if up := c.fileAbove(ch.Path); up != "" {
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
	case st.IsDir() && (ch.NewMode == modeRepo || ch.OldMode == modeRepo && ch.NewMode == ""):
		return stateOld, true, nil // a submodule's folder is its own business
	case st.IsDir():
		if ch.NewMode == "" { // the folder that replaces the file is there already, after a crash
			deleted = changed
		}
		if c.onlyHolds(ch.Path, deleted) {
			return stateAbsent, true, nil
		}
		return stateOther, true, nil
	}
	id, err := hashFile(p, st, len(ch.Old)+len(ch.New))
	if err != nil {
		return stateOther, true, err
	}
	s = sameAs(ch, id, workMode(st))
	return s, s != stateOther || !st.Mode().IsRegular(), nil
}

// sameAs compares an id and a mode with both sides of a change. Whether a file is executable is left out where the
// file system cannot tell, which git sees too: it then lists both sides with the mode it has.
func sameAs(ch Change, id OID, mode string) state {
	switch {
	case ch.NewMode == mode && ch.New == id:
		return stateNew
	case ch.OldMode == mode && ch.Old == id:
		return stateOld
	}
	return stateOther
}

// workMode is the mode git would give a file of the work tree.
func workMode(st fs.FileInfo) string {
	switch {
	case st.Mode()&fs.ModeSymlink != 0:
		return modeLink
	case st.Mode()&0o100 != 0:
		return modeExec
	}
	return modeFile
}

// fileAbove is the nearest parent of path that exists in the work tree and is no folder, "" when there is none.
// A symbolic link to a folder counts: git would not follow it either.
func (c *checkout) fileAbove(path string) string {
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

// onlyHolds reports whether every file below a folder is one of those listed.
func (c *checkout) onlyHolds(dir string, listed map[string]bool) bool {
	errOther := errors.New("other")
	err := fs.WalkDir(os.DirFS(c.m.Root), dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !listed[p] {
			err = errOther
		}
		return err
	})
	return err == nil
}

// askFiltered asks git for the ids of the files in doubt as it would store them, mode differences that git ignores here included.
func (c *checkout) askFiltered(ctx context.Context, unsure []int, states []state) error {
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
	out, err := c.r.git.run(ctx, call{args: []string{"hash-object", "--stdin-paths"}, dir: c.m.Root, read: true,
		stdin: strings.NewReader(ask.String())})
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
		mode := workMode(st)
		if !trust && fileMode(ch.OldMode).IsRegular() {
			mode = ch.OldMode
		}
		states[i] = sameAs(ch, OID(ids[n]), mode)
	}
	return nil
}

// trustsModes is core.fileMode: whether the executable bit of work tree files means anything.
func (r *Repo) trustsModes(ctx context.Context) bool {
	out, err := r.line(ctx, "config", "--type=bool", "--get", "core.fileMode")
	return err != nil || out != "false"
}

// writable reports whether the nearest folder that exists above path can be written.
func (c *checkout) writable(path string) bool {
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

// hashFile is the blob id of a file or symbolic link as it is. idLen tells the repository's hash from the length of
// the ids of a change: 64 hex digits on one side or both mean SHA-256.
func hashFile(p string, st fs.FileInfo, idLen int) (OID, error) {
	var b []byte
	switch {
	case st.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(p)
		if err != nil {
			return "", err
		}
		b = []byte(to)
	case st.Mode().IsRegular():
		buf := hashed.Get().(*bytes.Buffer)
		defer hashed.Put(buf)
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
		return "", nil // a socket, a pipe: nobody's old bytes
	}
	var h hash.Hash = sha1.New()
	if idLen == 64 || idLen == 128 {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(b))
	h.Write(b)
	return OID(hex.EncodeToString(h.Sum(nil))), nil
}

// hashed are idle buffers of files whose ids were asked for.
var hashed = sync.Pool{New: func() any { return new(bytes.Buffer) }}

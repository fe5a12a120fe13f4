package ref

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/odd-cli/odd/journal/repo/object"
)

// packedRefs reads the refs that all work trees share. It caches the packed-refs file while that is unchanged;
// otherwise every lookup of a missing ref would read all of it.
type packedRefs struct {
	dir string // the common git directory
	mu  sync.Mutex
	at  os.FileInfo // of the file last read, nil if there was none
	all map[string]object.OID
}

// readRef returns the id of a ref. It returns "" and no error if only git can resolve it: a symbolic ref, or a ref
// of one work tree. It reads the loose file first, because git pack-refs deletes that only after the ref is packed.
func (p *packedRefs) readRef(name string) (object.OID, error) {
	if !isSharedRef(name) || Check(name) != nil {
		return "", nil
	}
	b, err := os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(name)))
	switch {
	case err == nil:
		if oid := object.OID(strings.TrimSpace(string(b))); oid.IsValid() {
			return oid, nil
		}
		return "", nil
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) && !errors.Is(err, syscall.EISDIR):
		return "", nil
	}
	all, err := p.readPacked()
	if err != nil {
		return "", err
	}
	if oid := all[name]; oid != "" {
		return oid, nil
	}
	return "", fmt.Errorf("%s: %w", name, ErrNoRef)
}

// listRefs returns the refs of a folder, given with its slash, sorted by name. ok is false if only git can list
// them.
func (p *packedRefs) listRefs(folder string) (us []Update, ok bool) {
	if !isSharedRef(folder) {
		return nil, false
	}
	all := map[string]object.OID{}
	top := filepath.Join(p.dir, filepath.FromSlash(folder))
	err := filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
		if file == top && errors.Is(err, fs.ErrNotExist) {
			return fs.SkipAll
		}
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(p.dir, file)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if all[name], err = p.readRef(name); err == nil && all[name] == "" {
			err = errors.ErrUnsupported
		}
		return err
	})
	older, fault := p.readPacked() // read last: git pack-refs deletes a loose file after packing it
	if err != nil || fault != nil {
		return nil, false
	}
	for name, oid := range older {
		if strings.HasPrefix(name, folder) && all[name] == "" {
			all[name] = oid
		}
	}
	for name, oid := range all {
		us = append(us, Update{Name: name, New: oid})
	}
	slices.SortFunc(us, func(a, b Update) int { return cmp.Compare(a.Name, b.Name) })
	return us, true
}

// isSharedRef reports whether all work trees share a ref of this name.
func isSharedRef(name string) bool {
	return slices.ContainsFunc([]string{"refs/heads/", "refs/odd/", "refs/remotes/", "refs/tags/"}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// readPacked returns the content of packed-refs. Git replaces that file by renaming a new one.
func (p *packedRefs) readPacked() (map[string]object.OID, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, err := os.Open(filepath.Join(p.dir, "packed-refs"))
	if errors.Is(err, fs.ErrNotExist) {
		p.at, p.all = nil, nil
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	now, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if p.at != nil && os.SameFile(p.at, now) && p.at.Size() == now.Size() && p.at.ModTime().Equal(now.ModTime()) {
		return p.all, nil
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	p.at, p.all = now, parsePacked(string(b))
	return p.all, nil
}

// parsePacked reads "OID NAME" lines; "#" begins a header, "^" the object a tag points to.
func parsePacked(text string) map[string]object.OID {
	all := map[string]object.OID{}
	for line := range strings.Lines(text) {
		oid, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if ok && object.OID(oid).IsValid() {
			all[strings.Clone(name)] = object.OID(strings.Clone(oid))
		}
	}
	return all
}

package anchor

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/odd-cli/odd/reconcile/policy"
)

// maxLinks is how many symbolic links one path may lead over.
const maxLinks = 40

// target is where a path of a call ends when every link is followed.
type target struct {
	abs  string      // without links
	info fs.FileInfo // nil where nothing is there yet
}

// resolveTarget judges one path: inside the work tree when every link is followed, and one
// file with one name.
func (g Gatekeeper) resolveTarget(cwd, p string) (rel string, bad []Problem) {
	problem := func(c Code, format string, args ...any) []Problem {
		return []Problem{{Code: c, At: "paths", Text: fmt.Sprintf(format, args...), Found: p}}
	}
	t, err := g.resolvePath(cwd, p)
	if err != nil {
		return "", problem(CtxEscape, "%v", err)
	}
	rel, ok := strings.CutPrefix(t.abs, strings.TrimSuffix(g.WorkTree, "/")+"/")
	switch {
	case g.isSecret(t.abs):
		return "", problem(Unwritable, "it lies in what git and odd keep for themselves")
	case !ok:
		return "", problem(OutsidePaths, "%q leads out of the work tree, to %s", p, t.abs)
	}
	if t.info == nil {
		return rel, nil
	}
	switch st, ok := t.info.Sys().(*syscall.Stat_t); {
	case !t.info.Mode().IsRegular():
		return "", problem(CtxNotFile, "%q is a folder or no plain file; name each file", p)
	case ok && st.Nlink > 1:
		return "", problem(Unwritable, "%q has another name somewhere (a hard link), so that writing it writes that too; copy it first", p)
	}
	return rel, nil
}

// isSecret reports whether a path without links is one that no tool may read, lies
// below one, or is a folder outside the work tree that holds one.
func (g Gatekeeper) isSecret(abs string) bool {
	below := func(p, dir string) bool { return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/") }
	at := policy.FoldPath(abs)
	for _, s := range g.Secret {
		s = policy.FoldPath(s)
		if below(at, s) || below(s, at) && !below(policy.FoldPath(g.WorkTree), at) {
			return true
		}
	}
	return false
}

// resolvePath follows every link of a path, as the system would, and once more after
// "a/.." was taken out, as many programs do first: if the two differ, the call
// may mean either of two files, and is refused.
func (g Gatekeeper) resolvePath(cwd, p string) (target, error) {
	switch {
	case p == "":
		return target{}, errors.New("an empty path")
	case !utf8.ValidString(p) || strings.ContainsRune(p, 0):
		return target{}, errors.New("a path that is not UTF-8, or holds NUL")
	case strings.HasPrefix(p, "~"):
		return target{}, fmt.Errorf("%q begins with ~, which some programs take for a home; write the whole path", p)
	case !path.IsAbs(p) && !path.IsAbs(cwd):
		return target{}, fmt.Errorf("%q is relative, and the call does not say to which folder", p)
	case !path.IsAbs(p):
		p = strings.TrimSuffix(cwd, "/") + "/" + p
	}
	t, err := g.followLinks(p)
	if err != nil {
		return target{}, err
	}
	if short := path.Clean(p); short != p {
		u, err := g.followLinks(short)
		if err != nil {
			return target{}, err
		}
		if u.abs != t.abs {
			return target{}, fmt.Errorf("%q is %s or %s, as one reads the ..; write where it leads", p, t.abs, u.abs)
		}
	}
	return t, nil
}

// followLinks walks an absolute path from the root, name by name. What is not there
// yet is taken literally, from the folder where the path stops to exist.
func (g Gatekeeper) followLinks(p string) (target, error) {
	todo := strings.Split(p, "/")
	var at []string
	links := 0
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = at[:max(0, len(at)-1)]
			continue
		}
		here := strings.Join(append(at[:len(at):len(at)], name), "/")
		st, err := fs.Lstat(g.Disk, here)
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && st.Mode()&fs.ModeSymlink == 0:
			at = append(at, name)
			continue
		case err != nil:
			return target{}, fmt.Errorf("/%s: %w", here, causeOf(err))
		}
		if links++; links > maxLinks || isMagicLink(here) {
			return target{}, fmt.Errorf("/%s: a link that leads somewhere else for every program, or in a circle", here)
		}
		to, err := fs.ReadLink(g.Disk, here)
		if err != nil {
			return target{}, fmt.Errorf("/%s: %w", here, causeOf(err))
		}
		if path.IsAbs(to) {
			at = nil
		}
		todo = append(strings.Split(to, "/"), todo...)
	}
	end := strings.Join(at, "/")
	info, err := fs.Lstat(g.Disk, cmp.Or(end, "."))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return target{}, fmt.Errorf("/%s: %w", end, causeOf(err))
	}
	return target{abs: "/" + end, info: info}, nil
}

// causeOf returns the error without its path, which the caller adds.
func causeOf(err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}

// isMagicLink reports a place whose links the kernel makes up for each program that
// follows them. /dev/shm is a folder as others are, in memory.
func isMagicLink(here string) bool {
	return strings.HasPrefix(here, "proc/") || strings.HasPrefix(here, "dev/") && !strings.HasPrefix(here, "dev/shm/")
}

package policy

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"
)

// Place is where an agent acts. The zero value is nowhere.
type Place struct {
	Root    string   // absolute: the repository's top, where a command starts
	Outside []string // absolute folders that a command may write too
	Files   fs.FS    // the files below Root
	Disk    fs.FS    // everything there is, from "/", with its links; nil: no link is followed

	// Of a command line: the folder of Root that it starts in, "" for Root, and what else stands
	// against what it does. The functions may be nil.
	Dir    string
	Sees   func(CommandVerdict) []Finding
	Staged func() ([]string, error) // the paths in git's index that differ from the last commit; nil: nobody knows
}

// maxLinks is how many symbolic links one path may lead over.
const maxLinks = 40

// Locate follows every link of a path that an agent names in a folder, as the system would, and once
// more after "a/.." was taken out, as many programs do first: if the two differ, the agent may mean
// either of two files. info is nil where nothing is there yet.
func (at Place) Locate(from, name string) (abs string, info fs.FileInfo, err error) {
	switch {
	case name == "":
		return "", nil, errors.New("an empty path")
	case !utf8.ValidString(name) || strings.ContainsRune(name, 0):
		return "", nil, errors.New("a path that is not UTF-8, or holds NUL")
	case strings.HasPrefix(name, "~"):
		return "", nil, fmt.Errorf("%q begins with ~, which some programs take for a home; write the whole path", name)
	case !path.IsAbs(name) && !path.IsAbs(from):
		return "", nil, fmt.Errorf("%q is relative, and the call does not say to which folder", name)
	}
	full := join(from, name)
	if abs, info, err = at.followLinks(full); err != nil {
		return "", nil, err
	}
	other, _, err := at.followLinks(path.Clean(full))
	if err == nil && other != abs {
		err = fmt.Errorf("%q is %s or %s, as one reads the ..; write where it leads", full, abs, other)
	}
	return abs, info, err
}

// join is a path in a folder as it stands: no .. is taken out.
func join(from, name string) string {
	if path.IsAbs(name) {
		return name
	}
	return strings.TrimSuffix(from, "/") + "/" + name
}

// followLinks walks an absolute path from the root, name by name. What is not there
// yet is taken literally, from the folder where the path stops to exist.
func (at Place) followLinks(p string) (string, fs.FileInfo, error) {
	if at.Disk == nil {
		return path.Clean(p), nil, nil
	}
	todo := strings.Split(p, "/")
	var done []string
	for links := 0; len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			done = done[:max(0, len(done)-1)]
			continue
		}
		here := strings.Join(append(done[:len(done):len(done)], name), "/")
		st, err := fs.Lstat(at.Disk, here)
		if errors.Is(err, fs.ErrNotExist) || err == nil && st.Mode()&fs.ModeSymlink == 0 {
			done = append(done, name)
			continue
		}
		if links++; err == nil && (links > maxLinks || isMagicLink(here)) {
			err = errors.New("a link that leads somewhere else for every program, or in a circle")
		}
		var to string
		if err == nil {
			to, err = fs.ReadLink(at.Disk, here)
		}
		if err != nil {
			return "", nil, fmt.Errorf("/%s: %w", here, causeOf(err))
		}
		if path.IsAbs(to) {
			done = nil
		}
		todo = append(strings.Split(to, "/"), todo...)
	}
	end := strings.Join(done, "/")
	info, err := fs.Lstat(at.Disk, cmp.Or(end, "."))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, fmt.Errorf("/%s: %w", end, causeOf(err))
	}
	return "/" + end, info, nil
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

// Below returns where a path without links lies below Root, "." for Root itself.
func (at Place) Below(abs string) (rel string, ok bool) {
	root, _, err := at.followLinks(at.Root)
	if err != nil || at.Root == "" {
		return "", false
	}
	if abs == root {
		return ".", true
	}
	return strings.CutPrefix(abs, strings.TrimSuffix(root, "/")+"/")
}

// File returns the paths below Root of one plain file that an agent means to write: where it ends when
// every link is followed, and, behind that, the name by which a link below Root is called.
func (at Place) File(from, name string) (rel []string, found []Finding) {
	no := func(code, fix, format string, args ...any) ([]string, []Finding) {
		return nil, []Finding{{Code: code, Severity: Hard, How: ByBytes, Path: name, Text: fmt.Sprintf(format, args...), Fix: fix}}
	}
	abs, info, err := at.Locate(from, name)
	if err != nil {
		return no(PathUnclear, "name a plain file of the work tree", "%v", err)
	}
	end, in := at.Below(abs)
	if !in || end == "." {
		return no(OutsidePermit, "name a file of the work tree", "%q leads out of the work tree, to %s", name, abs)
	}
	if info != nil {
		if st, ok := info.Sys().(*syscall.Stat_t); !info.Mode().IsRegular() {
			return no(NoFile, "", "%q is a folder or no plain file; name each file", name)
		} else if ok && st.Nlink > 1 {
			return no(GuardedPath, "", "%q has another name somewhere (a hard link), so that writing it writes that too; copy it first", name)
		}
	}
	if called, is := strings.CutPrefix(path.Clean(join(from, name)), strings.TrimSuffix(at.Root, "/")+"/"); is && called != end {
		return []string{end, called}, nil
	}
	return []string{end}, nil
}

// followWrites tells the files and folders that a command writes; DIR/** is everything below DIR.
func (at Place) followWrites(writes []string) (files, folders []string, found []Finding) {
	for _, p := range writes {
		dir, tree := strings.CutSuffix("/"+p, "/**")
		switch {
		case at.Disk == nil && !tree:
			files = append(files, p)
		case at.Disk == nil:
			folders = append(folders, strings.TrimPrefix(dir, "/"))
		case !tree:
			rel, bad := at.File(at.Root, p)
			files, found = append(files, rel...), append(found, bad...)
		default:
			abs, _, err := at.Locate(at.Root, strings.TrimSuffix(p, "/**"))
			if rel, in := at.Below(abs); err == nil && in {
				folders = append(folders, strings.TrimPrefix(rel, "."))
			} else {
				found = append(found, Finding{Code: OutsidePermit, Severity: Hard, How: ByBytes, Path: p, Text: fmt.Sprintf("%q leads out of the work tree, or to where nobody can tell", p), Fix: "name each file"})
			}
		}
	}
	return files, folders, found
}

// findHidden lists what a grant hides among what an agent names in a folder: as it is, or by a pattern
// of the shell.
func (g Grant) findHidden(at Place, from string, names ...string) (found []Finding) {
	for _, n := range names {
		if abs, _, err := at.Locate(from, n); (err != nil || !g.isHidden(at, abs)) && !g.matchesHidden(at, join(from, n)) {
			continue
		}
		found = append(found, Finding{Code: GuardedPath, Severity: Hard, How: ByBytes, Path: n, Text: "it names, or holds, the key that signs permits, and nobody reads that", Fix: "read something else"})
	}
	return found
}

// isHidden reports whether a path without links is hidden, lies below what is, or is a folder outside
// the work tree that holds what is.
func (g Grant) isHidden(at Place, abs string) bool {
	below := func(p, dir string) bool { return strings.HasPrefix(p+"/", strings.TrimSuffix(dir, "/")+"/") }
	abs = FoldPath(abs)
	return slices.ContainsFunc(g.live.Hidden, func(h string) bool {
		h = FoldPath(h)
		return below(abs, h) || below(h, abs) && !below(FoldPath(at.Root), abs)
	})
}

// matchesHidden reports whether a shell's pattern means what is hidden, a folder outside of the work
// tree's files on the way to it, or what is below it.
func (g Grant) matchesHidden(at Place, glob string) bool {
	if !strings.ContainsAny(glob, "*?[") {
		return false
	}
	names, top := strings.Split(path.Clean(glob), "/"), strings.Count(at.Root, "/")+1
	return slices.ContainsFunc(g.live.Hidden, func(hidden string) bool {
		for i, want := range strings.Split(hidden, "/") {
			if i == len(names) {
				return i > top
			}
			if !matchName(names[i], want) || strings.HasPrefix(want, ".") && !strings.HasPrefix(names[i], ".") && !strings.HasPrefix(names[i], "[") {
				return false
			}
		}
		return true
	})
}

// maxBelow is how many entries of a folder are looked at.
const maxBelow = 5000

// findBelow lists what nobody may write among everything that lies below a folder.
func (g Grant) findBelow(at Place, dir string) (found []Finding) {
	if at.Files == nil {
		return nil
	}
	n := 0
	err := fs.WalkDir(at.Files, cmp.Or(dir, "."), func(p string, d fs.DirEntry, err error) error {
		switch n++; {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case n > maxBelow:
			return fmt.Errorf("more than %d entries; name a smaller folder", maxBelow)
		case !d.IsDir() || p == dir:
			found = append(found, append(CheckPath(p), g.findGuarded(p)...)...)
		}
		return nil
	})
	if err != nil {
		found = append(found, Finding{Code: GuardedPath, Severity: Hard, How: ByBytes, Path: dir, Text: fmt.Sprintf("what lies below %q cannot be judged: %v", dir+"/", err), Fix: "name each file"})
	}
	return found
}

package policy

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

func (p CommandPolicy) startDirs() dirs {
	return dirs{at: []string{path.Clean(strings.TrimPrefix(p.Dir, "./"))}}
}

// resolvePath returns the repository path that a program running in a folder means
// by a name, or, for one outside, an absolute path or one that begins with ~ or
// "..".
func (p CommandPolicy) resolvePath(dir, name string) string {
	switch {
	case strings.HasPrefix(name, "~"):
		return name
	case strings.HasPrefix(dir, "~") && !strings.HasPrefix(name, "/"):
		return dir + "/" + name
	}
	full := path.Clean(name)
	if !strings.HasPrefix(name, "/") {
		full = path.Join(dir, name)
	}
	if p.Root == "" {
		return full
	}
	root := path.Clean(p.Root)
	if full == ".." || strings.HasPrefix(full, "../") {
		full = path.Join(root, full)
	}
	if full == root {
		return "."
	}
	return strings.TrimPrefix(full, strings.TrimSuffix(root, "/")+"/")
}

func isOutside(p string) bool {
	return p == ".." || strings.HasPrefix(p, "../") || strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~")
}

// isUnderLink reports whether a folder of the work tree is reached over a symbolic link.
func (p CommandPolicy) isUnderLink(dir string) bool {
	for at := dir; p.Files != nil && !isOutside(at) && at != "."; at = path.Dir(at) {
		if info, err := fs.Lstat(p.Files, at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// climbsFromLink reports whether a name leads up from a symbolic link: the system goes to
// the folder above what the link leads to, not above the link.
func (p CommandPolicy) climbsFromLink(from dirs, name string) bool {
	if !strings.Contains("/"+name+"/", "/../") {
		return false
	}
	if strings.HasPrefix(name, "/") || p.Files == nil {
		return strings.HasPrefix(name, "/") || strings.Contains(strings.TrimLeft(name, "./"), "/../")
	}
	return slices.ContainsFunc(from.at, func(at string) bool {
		for _, part := range strings.Split(name, "/") {
			if part == ".." && p.isUnderLink(at) {
				return true
			}
			at = path.Join(at, part)
		}
		return false
	})
}

// enterFolder returns where a program works that is told to go to a folder first.
func (p CommandPolicy) enterFolder(from dirs, folder word) dirs {
	to := dirs{lost: from.lost || !folder.known}
	for _, d := range from.at {
		at := p.resolvePath(d, folder.text)
		to = to.or(dirs{at: []string{at}, lost: p.isUnderLink(at) || p.climbsFromLink(from, folder.text)})
	}
	return to
}

// isWholeTree reports whether a path is the repository, a folder it lies in, the home
// folder, the root, or a folder of the root.
func (p CommandPolicy) isWholeTree(r string) bool {
	r = strings.TrimSuffix(r, "/")
	switch {
	case r == "." || r == "" || r == ".." || r == "~" || strings.HasSuffix(r, "/.."):
		return true
	case !strings.HasPrefix(r, "/"):
		return false
	}
	return strings.Count(r, "/") == 1 || p.Root != "" && strings.HasPrefix(path.Clean(p.Root)+"/", r+"/")
}

// mayBeFolder guesses for a work tree that is not at hand: a name without an
// extension may be a folder's.
func (p CommandPolicy) mayBeFolder(n word) bool {
	return p.Files != nil || strings.Trim(path.Ext(n.text), ".") == ""
}

// allows reports whether the policy names a beginning of the argv.
func (p CommandPolicy) allows(c call) bool {
	return slices.ContainsFunc(p.Allow, func(prefix []string) bool {
		return startsWith(c.texts(), prefix) && !slices.ContainsFunc(c.argv[:len(prefix)], func(a word) bool { return !a.known })
	})
}

// mayWork reports a program that the policy may let run: it runs at the top of the work tree, and no
// word of it names what is outside. Below the top it would obey files there, such as a Makefile of
// the session's own. Which flags lead it to a folder, IsTest knows for tests, and a person for what
// they list.
func (p CommandPolicy) mayWork(c call) bool {
	top := !c.dirs.lost && slices.Equal(c.dirs.at, []string{"."})
	elsewhere := func(a word) bool {
		_, value, _ := strings.Cut(a.text, "=")
		return !a.known || isOutside(p.resolvePath(".", a.text)) || isOutside(p.resolvePath(".", value))
	}
	return p.Work != nil && top && !slices.ContainsFunc(c.argv[1:], elsewhere)
}

// places are the paths that the program may mean by a name.
func (p *program) places(name string) (out []string) {
	for _, d := range p.dirs.at {
		out = append(out, p.policy.resolvePath(d, name))
	}
	return out
}

// reads notes files that the program reads, and refuses those that hold credentials.
func (p *program) reads(names ...word) {
	for _, n := range names {
		if n.text == "" || n.text == "-" || !n.known && !n.glob {
			continue
		}
		for _, r := range p.places(n.text) {
			if n.known {
				p.v.Reads = append(p.v.Reads, r)
			}
			if n.known && MatchAnyGlob(secretPlaces(), strings.TrimPrefix(FoldPath(r), "/")) || n.glob && reachesSecret(r) {
				p.addFinding(Finding{Code: "command_reads_secret", Severity: Hard, How: BySyntax, Path: r,
					Text: fmt.Sprintf("%s reads %q, which holds credentials", p.name(), r), Fix: "leave it out, or ask a person"})
			}
		}
	}
}

// reachesSecret reports whether a shell's pattern, more telling than a lone
// star, names a file that holds credentials.
func reachesSecret(glob string) bool {
	base := path.Base(glob)
	if len(strings.Trim(base, "*?[]")) < 2 {
		return false
	}
	return anyName([]string{".env", ".netrc", ".npmrc", ".pypirc", ".git-credentials", "id_rsa", "id_ed25519", "key.pem"}, func(n string) bool {
		return matchName(base, n) && (n[0] != '.' || base[0] == '.')
	})
}

// writes notes files that the program writes, makes or removes, each with all that is below it if
// tree, and refuses those that no command may write.
func (p *program) writes(tree bool, names ...word) {
	for _, n := range names {
		if !n.known {
			p.unsure("%s writes to %s, and the command does not show which file that is", p.name(), n.text)
			continue
		}
		at := p.places(n.text)
		if p.policy.climbsFromLink(p.dirs, n.text) && !isOutside(at[0]) {
			p.unsure("%s writes to %s, where .. follows a symbolic link", p.name(), n.text)
		}
		if p.dirs.lost && !strings.HasPrefix(n.text, "/") {
			p.unsure("%s writes to %s in an unknown folder", p.name(), n.text)
		}
		for _, r := range at {
			p.writesPath(r, tree)
		}
	}
}

// harmless are the devices that keep nothing.
var harmless = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"}

func (p *program) writesPath(r string, tree bool) {
	switch {
	case slices.Contains(harmless, r) || strings.HasPrefix(r, "/dev/fd/"):
	case strings.HasPrefix(r, "/dev/tcp/") || strings.HasPrefix(r, "/dev/udp/"):
		p.usesNetwork()
	case strings.HasPrefix(FoldPath(r), "/dev/") && !strings.HasPrefix(r, "/dev/shm/"): // which is a folder in memory
		p.addHard("command_device", fmt.Sprintf("%s writes to the device %s", p.name(), r), "write to a file of the repository")
	case !isOutside(r):
		p.writesInside(r, tree)
	default:
		p.v.Writes = append(p.v.Writes, r)
		if !slices.ContainsFunc(p.policy.Outside, func(dir string) bool { return dir != "" && strings.HasPrefix(r+"/", strings.TrimSuffix(dir, "/")+"/") }) {
			p.addFinding(Finding{Code: "command_outside", Severity: Hard, How: BySyntax, Path: r,
				Text: fmt.Sprintf("%s writes to %q, outside the repository", p.name(), r), Fix: "write inside the repository"})
		}
	}
}

func (p *program) writesInside(r string, tree bool) {
	p.addProtected(r)
	folder := tree
	if files := p.policy.Files; files == nil && tree {
		p.unsure("%s writes everything below %s, and the files there are not known", p.name(), r)
	} else if files != nil {
		if p.policy.isUnderLink(r) {
			p.noteUnknown("%s is reached through a symbolic link", r)
		}
		info, err := fs.Lstat(files, r)
		if folder = err == nil && info.IsDir(); folder && tree {
			p.protectBelow(r)
		}
	}
	if folder {
		r = path.Join(r, "**")
	}
	p.v.Writes = append(p.v.Writes, r)
}

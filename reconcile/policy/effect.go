package policy

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// inRepo is a folder of the repository in its shortest form, "." for the top.
func inRepo(dir string) string { return path.Clean(strings.TrimPrefix(dir, "./")) }

// resolvePath returns the repository path that a program running in a folder means
// by a name, or, for one outside, an absolute path or one that begins with ~ or
// "..".
func (w *walker) resolvePath(dir, name string) string {
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
	if w.p.Root == "" {
		return full
	}
	root := path.Clean(w.p.Root)
	if full == ".." || strings.HasPrefix(full, "../") {
		full = path.Join(root, full)
	}
	if full == root {
		return "."
	}
	if rel, ok := strings.CutPrefix(full, strings.TrimSuffix(root, "/")+"/"); ok {
		return rel
	}
	return full
}

func isOutside(p string) bool {
	return p == ".." || strings.HasPrefix(p, "../") || strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~")
}

// noteReads notes files that a program reads, and refuses those that hold
// credentials.
func (w *walker) noteReads(c call, names ...word) {
	for _, n := range names {
		if n.text == "" || n.text == "-" || !n.known && !n.glob {
			continue
		}
		for _, d := range c.dirs.at {
			r := w.resolvePath(d, n.text)
			if n.known {
				w.v.Reads = append(w.v.Reads, r)
			}
			if n.known && MatchAnyGlob(secretPlaces(), strings.TrimPrefix(FoldPath(r), "/")) || n.glob && reachesSecret(r) {
				w.addFinding(Finding{Code: "command_reads_secret", Severity: Hard, How: BySyntax, Path: r,
					Text: fmt.Sprintf("%s reads %q, which holds credentials", c.name(), r), Fix: "leave it out, or ask a person"})
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

// noteWrites notes files that a program writes, makes or removes, and refuses those
// that no command may write.
func (w *walker) noteWrites(c call, names ...word) { w.noteWrittenWords(c, false, names) }

// noteTreeWrites is write for a name that stands for all that is below it too.
func (w *walker) noteTreeWrites(c call, names ...word) { w.noteWrittenWords(c, true, names) }

func (w *walker) noteWrittenWords(c call, tree bool, names []word) {
	for _, n := range names {
		if !n.known {
			w.addPending("%s writes to %s, and the command does not show which file that is", c.name(), n.text)
			continue
		}
		if w.climbsFromLink(c.dirs, n.text) && !isOutside(w.resolvePath(c.dirs.at[0], n.text)) {
			w.addPending("%s writes to %s, where .. follows a symbolic link", c.name(), n.text)
		}
		if c.dirs.lost && !strings.HasPrefix(n.text, "/") {
			w.addPending("%s writes to %s in an unknown folder", c.name(), n.text)
		}
		for _, d := range c.dirs.at {
			w.noteWrittenPath(c, w.resolvePath(d, n.text), tree)
		}
	}
}

// climbsFromLink reports whether a name leads up from a symbolic link: the system goes to
// the folder above what the link leads to, not above the link.
func (w *walker) climbsFromLink(from dirs, name string) bool {
	if !strings.Contains("/"+name+"/", "/../") {
		return false
	}
	if strings.HasPrefix(name, "/") || w.p.Files == nil {
		return strings.HasPrefix(name, "/") || strings.Contains(strings.TrimLeft(name, "./"), "/../")
	}
	return slices.ContainsFunc(from.at, func(at string) bool {
		for _, part := range strings.Split(name, "/") {
			if part == ".." && w.isUnderLink(at) {
				return true
			}
			at = path.Join(at, part)
		}
		return false
	})
}

// isUnderLink reports whether a folder of the work tree is reached over a symbolic link.
func (w *walker) isUnderLink(dir string) bool {
	for at := dir; w.p.Files != nil && !isOutside(at) && at != "."; at = path.Dir(at) {
		if info, err := fs.Lstat(w.p.Files, at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// harmless are the devices that keep nothing.
var harmless = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"}

func (w *walker) noteWrittenPath(c call, r string, tree bool) {
	switch {
	case slices.Contains(harmless, r) || strings.HasPrefix(r, "/dev/fd/"):
	case strings.HasPrefix(r, "/dev/tcp/") || strings.HasPrefix(r, "/dev/udp/"):
		w.noteNetwork(c)
	case strings.HasPrefix(FoldPath(r), "/dev/") && !strings.HasPrefix(r, "/dev/shm/"): // which is a folder in memory
		w.addHard("command_device", fmt.Sprintf("%s writes to the device %s", c.name(), r), "write to a file of the repository")
	case isOutside(r):
		w.v.Writes = append(w.v.Writes, r)
		allowed := func(dir string) bool { return r == dir || strings.HasPrefix(r, strings.TrimSuffix(dir, "/")+"/") }
		if !slices.ContainsFunc(w.p.Outside, allowed) {
			w.addFinding(Finding{Code: "command_outside", Severity: Hard, How: BySyntax, Path: r,
				Text: fmt.Sprintf("%s writes to %q, outside the repository", c.name(), r), Fix: "write inside the repository"})
		}
	default:
		w.noteWrittenInside(c, r, tree)
	}
}

func (w *walker) noteWrittenInside(c call, r string, tree bool) {
	w.addProtected(r)
	if w.p.Files == nil {
		if tree {
			w.v.Writes = append(w.v.Writes, path.Join(r, "**"))
			w.addPending("%s writes everything below %s, and the files there are not known", c.name(), r)
		} else {
			w.v.Writes = append(w.v.Writes, r)
		}
		return
	}
	if w.isUnderLink(r) {
		w.noteUnknown("%s is reached through a symbolic link", r)
	}
	if info, err := fs.Lstat(w.p.Files, r); err != nil || !info.IsDir() {
		w.v.Writes = append(w.v.Writes, r)
		return
	}
	w.v.Writes = append(w.v.Writes, path.Join(r, "**"))
	if tree {
		w.protectBelow(r)
	}
}

// protectBelow refuses what is protected in a folder that is written as a whole.
func (w *walker) protectBelow(dir string) {
	err := fs.WalkDir(w.p.Files, dir, func(p string, d fs.DirEntry, err error) error {
		if w.listed++; w.listed > maxListed {
			w.noteUnknown("the written folders hold more than %d files", maxListed)
			return fs.SkipAll
		}
		if err != nil {
			w.noteUnknown("%s: %v", p, err)
			return nil
		}
		if p != dir && w.addProtected(p) && d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		w.noteUnknown("%s: %v", dir, err)
	}
}

// addProtected adds what forbids writing a path, and reports whether anything does.
func (w *walker) addProtected(p string) bool {
	fs := CheckProtected(p, w.p.Protect)
	for _, f := range fs {
		w.addFinding(f)
	}
	return len(fs) > 0
}

// judgeRedirect judges one redirection and returns what it makes of standard input.
func (w *walker) judgeRedirect(r *syntax.Redirect, in dirs, from input) input {
	c := call{argv: []word{{text: "a redirection", known: true}}, dirs: in}
	defer func(outer []string) { w.pending = outer }(w.pending)
	w.pending = nil
	if r.Word != nil {
		w.judgeExpansions(r.Word, in)
		c.argv = append(c.argv, readWord(r.Word))
	}
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		if r.Hdoc != nil {
			w.judgeExpansions(r.Hdoc, in)
		}
		doc := readDoc(r.Hdoc)
		return input{kind: here, text: doc.text, known: doc.known}
	case syntax.WordHdoc:
		doc := readWord(r.Word)
		return input{kind: here, text: doc.text, known: doc.known}
	case syntax.RdrIn:
		w.noteReads(c, readWord(r.Word))
		return input{kind: fromFile}
	case syntax.DplIn:
		return input{kind: fromFile}
	case syntax.DplOut:
		if name := readWord(r.Word); name.known && strings.Trim(name.text, "0123456789-") == "" {
			return from
		}
	case syntax.RdrInOut:
		from = input{kind: fromFile}
	}
	w.noteWrites(c, readWord(r.Word))
	w.settlePending(c, false)
	return from
}

// readDoc reads the body of a here-document: nothing in it is a pattern.
func readDoc(doc *syntax.Word) word {
	out := word{known: true}
	if doc == nil {
		return out
	}
	for _, part := range doc.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			out.text += part.Value
		case *syntax.SglQuoted:
			out.text += part.Value
		default:
			out.known = false
		}
	}
	return out
}

// noteNetwork notes that a program speaks to other machines.
func (w *walker) noteNetwork(c call) {
	w.addBySyntax(Soft, "command_network", c.name()+" uses the network", "work with the files of the repository")
	w.addPending("%s uses the network", c.name())
}

// addPending notes why the program being judged is unknown; settlePending decides whether
// that counts.
func (w *walker) addPending(format string, args ...any) {
	w.pending = append(w.pending, fmt.Sprintf(format, args...))
}

// settlePending closes the judgement of one program: a person answers for what an
// allowed one does.
func (w *walker) settlePending(c call, allowed bool) {
	pending := w.pending
	w.pending = nil
	if allowed {
		return
	}
	if len(pending) == 0 {
		return
	}
	opens := w.mayWork(c)
	if opens && w.p.Work(c.texts()) {
		w.v.Works = true
	} else {
		opens = opens && len(pending) == 1 && pending[0] == writesUnknown(c.name()) && programName(c.name()) != "git"
		for _, reason := range pending {
			w.listable[reason] = opens && (w.listable[reason] || !slices.Contains(w.v.Reasons, reason))
			w.noteUnknown("%s", reason)
		}
	}
	w.judgeMentions(c)
}

func writesUnknown(name string) string {
	return fmt.Sprintf("it is not known which files %s writes", name)
}

// mayWork reports a program that the policy may let run: it runs at the top of the work tree, no
// word of it names what is outside, and the line sets no variable that it may obey. Below the top
// it would obey files there, such as a Makefile of the session's own. Which flags lead it to a
// folder, IsTest knows for tests, and a person for what they list.
func (w *walker) mayWork(c call) bool {
	top := !c.dirs.lost && slices.Equal(c.dirs.at, []string{"."})
	elsewhere := func(a word) bool {
		_, value, _ := strings.Cut(a.text, "=")
		return !a.known || isOutside(w.resolvePath(".", a.text)) || isOutside(w.resolvePath(".", value))
	}
	return w.p.Work != nil && top && !w.steered && !slices.ContainsFunc(c.argv[1:], elsewhere)
}

package scratch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/journal/repo/gitcmd"
	"github.com/odd-cli/odd/journal/repo/local"
	"github.com/odd-cli/odd/journal/repo/object"
)

// Edits is what a session left in its scratch repository, as a change of the base.
type Edits struct {
	Base     repo.OID
	Files    []repo.FileEdit // sorted by path
	Ignored  int             // new files and links left out because the base's .gitignore files ignore them
	Products []string        // new files and folders left out because they are build output
}

// Limits bound how much of a scratch repository is read.
type Limits struct {
	Files   int   // changed files
	Bytes   int64 // of their new contents together
	Entries int   // files and folders added to the base, ignored ones among them
}

// DefaultLimits returns the most that a session may leave. The limits protect odd. The policy on the size of a
// change is checked elsewhere.
func DefaultLimits() Limits { return Limits{Files: 5_000, Bytes: 64 << 20, Entries: 500_000} }

// Why something in a scratch repository cannot be part of a change.
const (
	UnfitLink       = "symlink"
	UnfitRepository = "nested-repository"
	UnfitSubmodule  = "submodule"
	UnfitKind       = "not-a-file"
	UnfitCase       = "case-collision"
	UnfitName       = "bad-name"
	UnfitDepth      = "too-deep"
	UnfitUnreadable = "unreadable"
	UnfitCount      = "too-many-files"
	UnfitSize       = "too-large"
	UnfitGone       = "tree-gone"
)

// Unfit is something in a scratch repository that cannot be part of a change.
type Unfit struct {
	Code, Path, Text string // Path is "" if it is about the whole tree
}

// Error names the path first.
func (u Unfit) Error() string {
	if u.Path == "" {
		return u.Text
	}
	return fmt.Sprintf("%q: %s", u.Path, u.Text)
}

// Unfits lists why the content of a scratch repository is not a change. None of it is used then.
type Unfits []Unfit

// namedUnfits is how many reasons one error lists.
const namedUnfits = 10

// Error lists the reasons, one a line, and counts those after the tenth.
func (us Unfits) Error() string {
	var lines []string
	for i, u := range us {
		if i == namedUnfits {
			lines = append(lines, fmt.Sprintf("and %d more", len(us)-namedUnfits))
			break
		}
		lines = append(lines, u.Error())
	}
	return strings.Join(lines, "\n")
}

// Refused returns the first reason's code.
func (us Unfits) Refused() string { return us[0].Code }

// Edits reads what was left in the scratch repository, without git: it neither reads nor runs what the agent put
// into .git, its configuration or hooks. An Unfits error lists everything that cannot be part of a change, by path.
// The context's error means that the time is up.
//
// Files of the base count whatever the rules say. A new file that the base's .gitignore files ignore is left out
// and counted, so that build output is no part of a change and no new rule can hide a file. The person's excludes
// and .git/info/exclude are ignored. Well-known build output is left out without a rule and listed.
func (s *Clone) Edits(ctx context.Context, lim Limits) (Edits, error) {
	out := Edits{Base: s.base}
	root, _, err := s.r.RootTree(s.base)
	if err != nil {
		return out, err
	}
	k := &scratchScan{ctx: ctx, db: s.r.DB, lim: lim, base: map[string]object.Entry{}, seen: map[string]bool{}}
	if err := k.listBase(root, ""); err != nil {
		return out, err
	}
	tree, err := s.openTree()
	if err != nil {
		return out, err
	}
	defer tree.Close()
	if err := k.scanDir(tree, ""); err != nil {
		return out, err
	}
	if out.Ignored, err = s.dropIgnored(k); err != nil {
		return out, err
	}
	out.Products = k.dropProducts()
	k.addDeleted()
	slices.SortFunc(k.found, func(a, b foundPath) int { return cmp.Compare(a.path, b.path) })
	if err := k.checkFound(); err != nil {
		return out, err
	}
	out.Files, err = k.readEdits(tree)
	return out, err
}

// openTree opens the work tree if it is still the directory that was made.
func (s *Clone) openTree() (*os.Root, error) {
	gone := Unfits{{Code: UnfitGone, Text: "the scratch repository's work tree was removed or replaced"}}
	dir, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, gone
	}
	defer dir.Close()
	st, err := dir.Lstat("tree")
	if err != nil || !os.SameFile(st, s.made) {
		return nil, gone
	}
	return local.OpenDir(dir, "tree")
}

// addDeleted adds the files of the base that are gone.
func (k *scratchScan) addDeleted() {
	for p, e := range k.base {
		switch {
		case k.seen[p] || e.Mode == object.ModeRepo: // a submodule's folder is empty and may be gone
		case e.Mode == object.ModeLink:
			k.addUnfit(p, UnfitLink, "a symbolic link, and it was deleted; a change is made of files")
		default:
			k.found = append(k.found, foundPath{path: p})
		}
	}
}

// checkFound returns everything unfit among the found paths.
func (k *scratchScan) checkFound() error {
	var bad Unfits
	files, size := 0, int64(0)
	for _, f := range k.found {
		switch why := whyBadName(f.path); {
		case f.unfit != nil:
			bad = append(bad, *f.unfit)
		case why != "":
			bad = append(bad, Unfit{UnfitName, f.path, why})
		default:
			files++
			size += f.size
		}
	}
	if files > k.lim.Files {
		bad = append(bad, Unfit{Code: UnfitCount, Text: fmt.Sprintf("%d files differ, at most %d; do less at once", files, k.lim.Files)})
	}
	if size > k.lim.Bytes {
		big := slices.MaxFunc(k.found, func(a, b foundPath) int { return cmp.Compare(a.size, b.size) })
		bad = append(bad, Unfit{UnfitSize, big.path, fmt.Sprintf("%d bytes; the files that differ have %d together, at most %d", big.size, size, k.lim.Bytes)})
	}
	if bad = append(bad, k.findCollisions()...); len(bad) > 0 {
		return bad
	}
	return nil
}

// whyBadName says why a path cannot be stored on every system, "" if it can.
func whyBadName(p string) string {
	if !utf8.ValidString(p) {
		return "the name is not UTF-8"
	}
	if strings.ContainsFunc(p, unicode.IsControl) {
		return "the name holds a control character"
	}
	if object.CheckPath(p) != nil {
		return "not a path git can hold everywhere"
	}
	return ""
}

// findCollisions lists the new paths that equal another path on a file system, as on a Mac, that ignores case and
// the composition of letters.
func (k *scratchScan) findCollisions() []Unfit {
	fold := cases.Fold()
	key := func(p string) string { return norm.NFC.String(fold.String(p)) }
	names := map[string]string{} // every path and folder of what stays, by its key
	enter := func(p string) (other string) {
		for at := p; at != "."; at = path.Dir(at) {
			switch was, ok := names[key(at)]; {
			case !ok:
				names[key(at)] = at
			case was == at:
				return other // its folders are entered already
			default:
				other = was
			}
		}
		return other
	}
	added := slices.ContainsFunc(k.found, func(f foundPath) bool { _, was := k.base[f.path]; return f.mode != "" && !was })
	if !added {
		return nil
	}
	for p := range k.base {
		if k.seen[p] {
			enter(p)
		}
	}
	var bad []Unfit
	for _, f := range k.found {
		if _, was := k.base[f.path]; f.mode == "" || was {
			continue
		}
		if other := enter(f.path); other != "" {
			bad = append(bad, Unfit{UnfitCase, f.path, fmt.Sprintf("the same name as %q where case does not count; choose another", other)})
		}
	}
	return bad
}

// readEdits reads the found files and returns them as edits.
func (k *scratchScan) readEdits(tree *os.Root) ([]repo.FileEdit, error) {
	var out []repo.FileEdit
	room := k.lim.Bytes
	for _, f := range k.found {
		if err := k.ctx.Err(); err != nil {
			return nil, context.Cause(k.ctx)
		}
		e := repo.FileEdit{Path: f.path, NewMode: f.mode}
		if was, ok := k.base[f.path]; ok {
			b, err := k.db.Blob(was.OID)
			if err != nil {
				return nil, err
			}
			e.Before, e.OldMode = nonNil(b), was.Mode
		}
		if f.mode != "" {
			b, err := readLimited(k.ctx, tree, f.path, room)
			if err != nil {
				return nil, Unfits{{UnfitUnreadable, f.path, "cannot be read: " + err.Error()}}
			}
			room -= int64(len(b))
			e.After = nonNil(b)
		}
		if e.OldMode != e.NewMode || !bytes.Equal(e.Before, e.After) {
			out = append(out, e)
		}
	}
	return out, nil
}

// nonNil returns b, or an empty slice for nil.
func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// readLimited reads a regular file of at most limit bytes.
func readLimited(ctx context.Context, root *os.Root, name string, limit int64) ([]byte, error) {
	st, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, errors.New("not a file any more")
	}
	f, err := openFile(root, name, st)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(&stoppable{ctx, io.LimitReader(f, limit+1)})
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("it grew over %d bytes", limit)
	}
	return b, err
}

// dropIgnored leaves out new paths that the base's rules ignore, and returns how many.
func (s *Clone) dropIgnored(k *scratchScan) (int, error) {
	rules := map[string][]byte{}
	for p, e := range k.base {
		if path.Base(p) != ".gitignore" || !object.FileMode(e.Mode).IsRegular() || object.CheckPath(p) != nil {
			continue
		}
		b, err := k.db.Blob(e.OID)
		if err != nil {
			return 0, err
		}
		rules[p] = b
	}
	var ask bytes.Buffer
	for _, f := range k.found {
		if _, was := k.base[f.path]; !was && !k.holdsBaseFiles(f) {
			ask.WriteString("./" + f.path + "\x00")
		}
	}
	if len(rules) == 0 || ask.Len() == 0 {
		return 0, nil
	}
	hit, err := s.askIgnored(k.ctx, rules, &ask)
	if err != nil {
		return 0, fmt.Errorf("the base's .gitignore: %w", err)
	}
	before := len(k.found)
	k.found = slices.DeleteFunc(k.found, func(f foundPath) bool { return hit["./"+f.path] })
	return before - len(k.found), nil
}

// holdsBaseFiles reports whether files of the base are below a found path, which then cannot be left out.
func (k *scratchScan) holdsBaseFiles(f foundPath) bool {
	for p := range k.base {
		if f.unfit != nil && strings.HasPrefix(p, f.path+"/") {
			return true
		}
	}
	return false
}

// askIgnored asks git which paths the rules ignore. Git runs in a new directory outside the work tree that holds
// only the rules.
func (s *Clone) askIgnored(ctx context.Context, rules map[string][]byte, paths io.Reader) (map[string]bool, error) {
	dir, err := os.MkdirTemp(filepath.Dir(s.dir), filepath.Base(s.dir)+"-rules-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	files := map[string][]byte{"git/HEAD": []byte("ref: refs/heads/none\n"), "git/objects/.keep": nil, "git/refs/.keep": nil,
		"git/config": []byte("[core]\n\trepositoryformatversion = 0\n\tbare = false\n"), "tree/.keep": nil}
	for p, b := range rules {
		files["tree/"+p] = b
	}
	for p, b := range files {
		at := filepath.Join(dir, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(at, b, 0o600); err != nil {
			return nil, err
		}
	}
	g := s.r.Hardened(filepath.Join(dir, "tree"))
	out, err := g.Run(ctx, gitcmd.Call{Args: []string{"check-ignore", "-z", "--stdin", "--no-index"}, Stdin: paths, Read: true,
		Env: []string{"GIT_DIR=" + filepath.Join(dir, "git"), "GIT_WORK_TREE=" + filepath.Join(dir, "tree")}})
	if err != nil && gitcmd.ExitCode(err) != 1 {
		return nil, err
	}
	hit := map[string]bool{}
	for _, p := range gitcmd.SplitNUL(out) {
		hit[p] = true
	}
	return hit, nil
}

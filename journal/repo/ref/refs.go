// Package ref reads the refs of a repository, and moves them by compare-and-swap.
package ref

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
	"github.com/odd-cli/odd/journal/repo/local"
	"github.com/odd-cli/odd/journal/repo/object"
)

// Errors that say why a ref cannot be read or moved.
var (
	ErrNoCommit = errors.New("the repository has no commits")
	ErrNoRef    = errors.New("no such ref")
	ErrMoved    = errors.New("the ref moved meanwhile")
)

// Update moves Name (a full ref name) from Old to New. An Old of "" creates the ref, a New of "" deletes it.
type Update struct {
	Name     string
	Old, New object.OID
}

// Store reads and moves the refs of a repository.
type Store struct {
	run     *gitcmd.Runner
	common  string
	head    string      // the file of HEAD
	packed  *packedRefs // nil if git reads the refs
	updates updater
}

// New returns the refs of a repository. gitDir is the work tree's own git directory, which has its HEAD.
func New(run *gitcmd.Runner, gitDir, common string, inProcess bool) *Store {
	g := &Store{run: run, common: common, head: filepath.Join(gitDir, "HEAD"), updates: updater{run: run}}
	if inProcess {
		g.packed = &packedRefs{dir: common}
	}
	return g
}

// InProcess reports whether odd itself reads the refs.
func (g *Store) InProcess() bool { return g.packed != nil }

// resolve returns the id of a ref by its full name and follows symbolic refs; ErrNoRef if there is none.
func (g *Store) resolve(name string) (object.OID, error) {
	if g.packed == nil {
		return g.askGit(name)
	}
	if name == "HEAD" {
		name = cmp.Or(ReadSymbolicRef(g.head), name)
	}
	if oid, err := g.packed.readRef(name); oid != "" || err != nil {
		return oid, err
	}
	return g.askGit(name)
}

func (g *Store) askGit(name string) (object.OID, error) {
	out, err := g.run.Run(context.Background(), gitcmd.Call{
		Args: []string{"rev-parse", "-q", "--verify", "--end-of-options", name}, Read: true})
	if gitcmd.ExitCode(err) == 1 {
		return "", fmt.Errorf("%s: %w", name, ErrNoRef)
	}
	return object.OID(strings.TrimSpace(string(out))), err
}

// ReadHead returns the full name of the ref in HEAD, "" if HEAD is detached.
func (g *Store) ReadHead() (string, error) {
	if g.packed != nil {
		return ReadSymbolicRef(g.head), nil
	}
	out, err := g.run.Run(context.Background(), gitcmd.Call{Args: []string{"symbolic-ref", "-q", "HEAD"}, Read: true})
	if gitcmd.ExitCode(err) == 1 {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}

// Branch returns the branch in HEAD, without refs/heads/ and even if it has no commit yet; "" if HEAD is detached.
func (g *Store) Branch() (string, error) {
	full, err := g.ReadHead()
	return strings.TrimPrefix(full, "refs/heads/"), err
}

// Ref resolves a full ref name (refs/… or HEAD); ErrNoRef if it does not exist.
func (g *Store) Ref(name string) (object.OID, error) {
	if name != "HEAD" && Check(name) != nil {
		return "", Check(name)
	}
	return g.resolve(name)
}

// Check refuses what git check-ref-format refuses, and everything outside refs/.
func Check(name string) error {
	bad := func(why string) error { return fmt.Errorf("ref %q: %s", name, why) }
	if !strings.HasPrefix(name, "refs/") {
		return bad("want a full name that starts with refs/")
	}
	for seg := range strings.SplitSeq(name, "/") {
		if seg == "" || seg[0] == '.' || strings.HasSuffix(seg, ".lock") || strings.HasSuffix(seg, ".") {
			return bad("a segment is empty, starts or ends with a dot, or ends in .lock")
		}
	}
	for _, c := range name {
		if c <= ' ' || c == 0x7f || strings.ContainsRune(`~^:?*[\`, c) {
			return bad("spaces, control characters and ~^:?*[\\ are not allowed")
		}
	}
	if strings.Contains(name, "..") || strings.Contains(name, "@{") {
		return bad(`".." and "@{" are not allowed`)
	}
	return nil
}

// Refs lists the refs whose full name starts with prefix ("refs/odd/run/", "refs/heads/odd/review/t."), with their
// ids in New, sorted by name.
func (g *Store) Refs(prefix string) ([]Update, error) {
	folder := prefix[:strings.LastIndexByte(prefix, '/')+1]
	us, told := []Update(nil), false
	if g.packed != nil {
		us, told = g.packed.listRefs(folder)
	}
	if !told {
		out, err := g.run.Read(context.Background(), "for-each-ref", "--format=%(objectname) %(refname)", strings.TrimSuffix(folder, "/"))
		if err != nil {
			return nil, err
		}
		for l := range strings.Lines(string(out)) {
			oid, name, _ := strings.Cut(strings.TrimSuffix(l, "\n"), " ")
			us = append(us, Update{Name: name, New: object.OID(oid)})
		}
	}
	return slices.DeleteFunc(us, func(u Update) bool { return !strings.HasPrefix(u.Name, prefix) }), nil
}

// Defaults returns the remotes' default branches as of the clone: each with its full local name, such as
// refs/heads/main, and its id on the remote.
func (g *Store) Defaults(ctx context.Context) ([]Update, error) {
	out, err := g.run.Read(ctx, "for-each-ref", "--format=%(objectname) %(refname) %(symref)", "refs/remotes")
	if err != nil {
		return nil, err
	}
	var us []Update
	for l := range strings.Lines(string(out)) {
		f := strings.Fields(l)
		if len(f) != 3 { // no symbolic ref
			continue
		}
		remote, is := strings.CutSuffix(f[1], "HEAD")
		if name, own := strings.CutPrefix(f[2], remote); is && own {
			us = append(us, Update{Name: "refs/heads/" + name, New: object.OID(f[0])})
		}
	}
	return us, nil
}

// Resolve turns any revision a person may type into a commit id. ErrNoCommit means that the repository has no
// commit yet, ErrNoRef that the revision names nothing.
func (g *Store) Resolve(ctx context.Context, rev string) (object.OID, error) {
	if rev == "HEAD" {
		oid, err := g.Ref(rev)
		if errors.Is(err, ErrNoRef) {
			err = fmt.Errorf("%s: %w; commit something first", g.run.Dir, ErrNoCommit)
		}
		return oid, err
	}
	out, err := g.run.ReadLine(ctx, "rev-parse", "-q", "--verify", "--end-of-options", rev+"^{commit}")
	if err == nil {
		return object.OID(out), nil
	}
	if gitcmd.ExitCode(err) < 0 {
		return "", err
	}
	return "", fmt.Errorf("%s: %w", rev, ErrNoRef)
}

// Transact moves refs in one transaction of git update-ref, all or nothing. The caller holds the lock for moves and has
// written a marker. It is no method, so that who embeds a Store does not offer it.
func Transact(ctx context.Context, g *Store, us []Update) error {
	in, err := Format(us)
	if err != nil {
		return err
	}
	return g.explainRefError(g.updates.runTransaction(ctx, in), us)
}

// Format returns the first part of the input of update-ref -z --stdin, up to the locks.
func Format(us []Update) (string, error) {
	var b bytes.Buffer
	b.WriteString("start\x00")
	for _, u := range us {
		if err := u.Check(); err != nil {
			return "", err
		}
		switch {
		case u.New == "":
			fmt.Fprintf(&b, "delete %s\x00%s\x00", u.Name, u.Old)
		case u.Old == "":
			fmt.Fprintf(&b, "create %s\x00%s\x00", u.Name, u.New)
		default:
			fmt.Fprintf(&b, "update %s\x00%s\x00%s\x00", u.Name, u.New, u.Old)
		}
	}
	b.WriteString("prepare\x00")
	return b.String(), nil
}

// Check refuses a name that is no ref, and an id that is none.
func (u Update) Check() error {
	if err := Check(u.Name); err != nil {
		return err
	}
	if u.Old == "" && u.New == "" {
		return fmt.Errorf("%s: an update without an old and a new id", u.Name)
	}
	for _, o := range []object.OID{u.Old, u.New} {
		if o != "" && !o.IsValid() {
			return fmt.Errorf("%s: %w", u.Name, o.Check())
		}
	}
	return nil
}

// explainRefError finds out whether a transaction failed because a ref had moved. It looks at the refs, not at
// git's messages.
func (g *Store) explainRefError(err error, us []Update) error {
	if err == nil || gitcmd.ExitCode(err) < 0 || gitcmd.Faulty(err) { // a failing disk: git itself may have moved some refs
		return err
	}
	for _, u := range us {
		now, rerr := g.resolve(u.Name)
		switch {
		case rerr != nil && !errors.Is(rerr, ErrNoRef):
			continue
		case now == u.Old:
			continue
		case now == "":
			return fmt.Errorf("%s: %w (it is gone, want %.12s)", u.Name, ErrMoved, u.Old)
		case u.Old == "":
			return fmt.Errorf("%s: %w (it exists already, at %.12s)", u.Name, ErrMoved, now)
		}
		return fmt.Errorf("%s: %w (it is at %.12s, want %.12s)", u.Name, ErrMoved, now, u.Old)
	}
	return g.explainRefConflict(err, us)
}

// explainRefConflict explains a name that is both a ref and a folder of refs, and a ref that another git has
// locked.
func (g *Store) explainRefConflict(err error, us []Update) error {
	for _, u := range us {
		if u.New == "" {
			continue
		}
		if below, _ := g.Refs(u.Name + "/"); len(below) > 0 {
			return fmt.Errorf("%s: %s exists, and a name cannot be a branch and a folder of branches; delete it or choose another name", u.Name, below[0].Name)
		}
		for up := parentRef(u.Name); up != ""; up = parentRef(up) {
			if _, rerr := g.resolve(up); rerr == nil {
				return fmt.Errorf("%s: %s exists, and a name cannot be a branch and a folder of branches; delete it or choose another name", u.Name, up)
			}
		}
	}
	if strings.Contains(err.Error(), ".lock': File exists") {
		return fmt.Errorf("%w: %w", local.ErrBusy, err)
	}
	return err
}

// parentRef returns the name one segment up, "" if that is only refs/heads or the like.
func parentRef(name string) string {
	i := strings.LastIndexByte(name, '/')
	if i < 0 || strings.Count(name[:i], "/") < 2 {
		return ""
	}
	return name[:i]
}

// ResolveName follows symbolic refs and returns the name of the ref at the end.
func (g *Store) ResolveName(name string) string {
	for range 5 { // git follows no more
		to := ReadSymbolicRef(filepath.Join(g.common, filepath.FromSlash(name)))
		if to == "" {
			break
		}
		name = to
	}
	return name
}

// ReadSymbolicRef returns the ref that a symbolic ref's file names, "" for any other file.
func ReadSymbolicRef(file string) string {
	b, _ := os.ReadFile(file)
	to, _ := strings.CutPrefix(strings.TrimSpace(string(b)), "ref: ")
	if !strings.HasPrefix(to, "refs/") {
		return ""
	}
	return to
}

// HasNoReplacement reports whether there is no refs/replace, so that git reads every object as it is.
func (g *Store) HasNoReplacement() bool {
	if loose, err := os.ReadDir(filepath.Join(g.common, "refs", "replace")); len(loose) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	all, err := g.packed.readPacked()
	for name := range all {
		if strings.HasPrefix(name, "refs/replace/") {
			return false
		}
	}
	return err == nil
}

package repo

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
)

// refs reads refs: in process, or through git if packed is nil.
type refs struct {
	run    *gitcmd.Runner
	head   string // the file of HEAD
	packed *packedRefs
}

// resolve returns the id of a ref by its full name and follows symbolic refs; ErrNoRef if there is none.
func (g refs) resolve(name string) (OID, error) {
	if g.packed == nil {
		return g.askGit(name)
	}
	if name == "HEAD" {
		name = cmp.Or(readSymbolicRef(g.head), name)
	}
	if oid, err := g.packed.readRef(name); oid != "" || err != nil {
		return oid, err
	}
	return g.askGit(name)
}

func (g refs) askGit(name string) (OID, error) {
	out, err := g.run.Run(context.Background(), gitcmd.Call{
		Args: []string{"rev-parse", "-q", "--verify", "--end-of-options", name}, Read: true})
	if gitcmd.ExitCode(err) == 1 {
		return "", fmt.Errorf("%s: %w", name, ErrNoRef)
	}
	return OID(strings.TrimSpace(string(out))), err
}

// readHead returns the full name of the ref in HEAD, "" if HEAD is detached.
func (g refs) readHead() (string, error) {
	if g.packed != nil {
		return readSymbolicRef(g.head), nil
	}
	out, err := g.run.Run(context.Background(), gitcmd.Call{Args: []string{"symbolic-ref", "-q", "HEAD"}, Read: true})
	if gitcmd.ExitCode(err) == 1 {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}

// Branch returns the branch in HEAD, without refs/heads/ and even if it has no commit yet; "" if HEAD is detached.
func (r *Repo) Branch() (string, error) {
	full, err := r.refs.readHead()
	return strings.TrimPrefix(full, "refs/heads/"), err
}

// Ref resolves a full ref name (refs/… or HEAD); ErrNoRef if it does not exist.
func (r *Repo) Ref(name string) (OID, error) {
	if name != "HEAD" && checkRef(name) != nil {
		return "", checkRef(name)
	}
	return r.refs.resolve(name)
}

// checkRef refuses what git check-ref-format refuses, and everything outside refs/.
func checkRef(name string) error {
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
func (r *Repo) Refs(prefix string) ([]RefUpdate, error) {
	folder := prefix[:strings.LastIndexByte(prefix, '/')+1]
	us, told := []RefUpdate(nil), false
	if r.refs.packed != nil {
		us, told = r.refs.packed.listRefs(folder)
	}
	if !told {
		out, err := r.git.Read(context.Background(), "for-each-ref", "--format=%(objectname) %(refname)", strings.TrimSuffix(folder, "/"))
		if err != nil {
			return nil, err
		}
		for l := range strings.Lines(string(out)) {
			oid, name, _ := strings.Cut(strings.TrimSuffix(l, "\n"), " ")
			us = append(us, RefUpdate{Name: name, New: OID(oid)})
		}
	}
	return slices.DeleteFunc(us, func(u RefUpdate) bool { return !strings.HasPrefix(u.Name, prefix) }), nil
}

// Defaults returns the remotes' default branches as of the clone: each with its full local name, such as
// refs/heads/main, and its id on the remote.
func (r *Repo) Defaults(ctx context.Context) ([]RefUpdate, error) {
	out, err := r.git.Read(ctx, "for-each-ref", "--format=%(objectname) %(refname) %(symref)", "refs/remotes")
	if err != nil {
		return nil, err
	}
	var us []RefUpdate
	for l := range strings.Lines(string(out)) {
		f := strings.Fields(l)
		if len(f) != 3 { // no symbolic ref
			continue
		}
		remote, is := strings.CutSuffix(f[1], "HEAD")
		if name, own := strings.CutPrefix(f[2], remote); is && own {
			us = append(us, RefUpdate{Name: "refs/heads/" + name, New: OID(f[0])})
		}
	}
	return us, nil
}

// Resolve turns any revision a person may type into a commit id. ErrNoCommit means that the repository has no
// commit yet, ErrNoRef that the revision names nothing.
func (r *Repo) Resolve(ctx context.Context, rev string) (OID, error) {
	if rev == "HEAD" {
		oid, err := r.Ref(rev)
		if errors.Is(err, ErrNoRef) {
			err = fmt.Errorf("%s: %w; commit something first", r.git.Dir, ErrNoCommit)
		}
		return oid, err
	}
	out, err := r.git.ReadLine(ctx, "rev-parse", "-q", "--verify", "--end-of-options", rev+"^{commit}")
	if err == nil {
		return OID(out), nil
	}
	if gitcmd.ExitCode(err) < 0 {
		return "", err
	}
	return "", fmt.Errorf("%s: %w", rev, ErrNoRef)
}

// Update moves refs in one transaction, all or nothing, without touching a checkout. ErrMoved means that a ref was
// not at its Old. A branch that is checked out anywhere must go through Move. ErrBusy means that another odd's move
// takes too long.
func (r *Repo) Update(ctx context.Context, us ...RefUpdate) error {
	return r.withMoveLock(ctx, us, r.updateRefs)
}

// runTransaction runs one transaction of git update-ref. The caller holds the lock for moves and has written a
// marker.
func (r *Repo) runTransaction(ctx context.Context, us []RefUpdate) error {
	in, err := formatTransaction(us)
	if err != nil {
		return err
	}
	return r.explainRefError(r.updates.runTransaction(ctx, in), us)
}

// formatTransaction returns the first part of the input of update-ref -z --stdin, up to the locks.
func formatTransaction(us []RefUpdate) (string, error) {
	var b bytes.Buffer
	b.WriteString("start\x00")
	for _, u := range us {
		if err := u.check(); err != nil {
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

func (u RefUpdate) check() error {
	if err := checkRef(u.Name); err != nil {
		return err
	}
	if u.Old == "" && u.New == "" {
		return fmt.Errorf("%s: an update without an old and a new id", u.Name)
	}
	for _, o := range []OID{u.Old, u.New} {
		if o != "" && !o.IsValid() {
			return fmt.Errorf("%s: %w", u.Name, o.Check())
		}
	}
	return nil
}

// explainRefError finds out whether a transaction failed because a ref had moved. It looks at the refs, not at
// git's messages.
func (r *Repo) explainRefError(err error, us []RefUpdate) error {
	if err == nil || gitcmd.ExitCode(err) < 0 || gitcmd.Faulty(err) { // a failing disk: git itself may have moved some refs
		return err
	}
	for _, u := range us {
		now, rerr := r.refs.resolve(u.Name)
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
	return r.explainRefConflict(err, us)
}

// explainRefConflict explains a name that is both a ref and a folder of refs, and a ref that another git has
// locked.
func (r *Repo) explainRefConflict(err error, us []RefUpdate) error {
	for _, u := range us {
		if u.New == "" {
			continue
		}
		if below, _ := r.Refs(u.Name + "/"); len(below) > 0 {
			return fmt.Errorf("%s: %s exists, and a name cannot be a branch and a folder of branches; delete it or choose another name", u.Name, below[0].Name)
		}
		for up := parentRef(u.Name); up != ""; up = parentRef(up) {
			if _, rerr := r.refs.resolve(up); rerr == nil {
				return fmt.Errorf("%s: %s exists, and a name cannot be a branch and a folder of branches; delete it or choose another name", u.Name, up)
			}
		}
	}
	if strings.Contains(err.Error(), ".lock': File exists") {
		return fmt.Errorf("%w: %w", ErrBusy, err)
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

package approval

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// ProposedAtoms returns the atoms that a proposal adds or changes, in the order of its paths.
// A file that is no atom is in the diff alone.
func ProposedAtoms(v *workspace.Board, p review.Proposal) []review.Atom {
	var out []review.Atom
	for _, w := range p.Atoms(v.Config.Root) {
		b, err := v.Repo.Blob(repo.OID(w.Result))
		if err != nil {
			continue
		}
		if a, err := okf.Parse(strings.TrimPrefix(w.Path, v.Config.Root+"/"), b); err == nil {
			out = append(out, review.Atom{Atom: a, At: w})
		}
	}
	return out
}

// readHands sets hand of the atoms that are on the target and whose last change there was none of odd's.
func readHands(ctx context.Context, v *workspace.Board, p review.Proposal, atoms []review.Atom) error {
	var changed []string
	for _, a := range atoms {
		if a.At.Base != "" {
			changed = append(changed, a.At.Path)
		}
	}
	last, err := v.Repo.LastChanges(ctx, repo.OID(p.Base), changed)
	if err != nil {
		return err
	}
	for i, a := range atoms {
		oid, is := last[a.At.Path]
		switch {
		case a.At.Base == "":
		case v.Repo.Shallow():
			atoms[i].Hand = "a person may have edited it, which a shallow clone does not tell"
		case is:
			c, err := v.Repo.Commit(oid)
			if err != nil {
				return err
			}
			if len(c.Trailer("Odd-Run")) == 0 && c.Author.Email != v.Config.AgentEmail {
				atoms[i].Hand = fmt.Sprintf("a person edited it in %s (%s, %s)", console.ShortID(oid), console.OneLine(c.Author.Name), c.Author.When.Format(time.DateOnly))
			}
		}
	}
	return nil
}

// approvedFiles returns the atoms that the person's commit changes: what they edited, and what they
// verify; and the task's file as done.
func approvedFiles(v *workspace.Board, t board.Task, p review.Part, verify review.Verify, h review.Human) (review.Files, error) {
	tree, err := v.Repo.Tree(repo.OID(p.Commit))
	if err != nil {
		return nil, err
	}
	atoms := atomsOf(v.Config, tree, p.Proposal)
	maps.Copy(atoms, p.Edits)
	files, err := review.Approve(t, v.RepoPath(t.Path), atoms, verify, h, v.Env.Now())
	if err != nil {
		return nil, err
	}
	for name, b := range p.Edits {
		if _, stamped := files[name]; !stamped {
			files[name] = b
		}
	}
	return files, nil
}

// verifiedBlobs returns the blobs of the atoms that v marks, by id.
func verifiedBlobs(v *workspace.Board, p review.Proposal, marks review.Verify, files review.Files) map[string]string {
	out := map[string]string{}
	for _, a := range ProposedAtoms(v, p) {
		if b, ok := files[a.At.Path]; ok && marks.Marks(a.ID) {
			out[string(a.ID)] = okf.BlobID(b)
		}
	}
	return out
}

// atomsOf reads the proposal's atoms from the merged tree.
func atomsOf(cfg config.Config, merged fs.FS, p review.Proposal) review.Files {
	out := review.Files{}
	for _, w := range p.Atoms(cfg.Root) {
		if b, err := fs.ReadFile(merged, w.Path); err == nil {
			out[w.Path] = b
		}
	}
	return out
}

// restorePaths returns the tree with the given paths as they are in the commit at.
func restorePaths(ctx context.Context, r *repo.Repo, tree repo.OID, paths []review.Path, at repo.OID) (repo.OID, error) {
	if len(paths) == 0 {
		return tree, nil
	}
	before, err := r.Tree(at)
	if err != nil {
		return "", err
	}
	ch := repo.Changes{}
	for _, w := range paths {
		ch[w.Path] = nil
		if b, err := fs.ReadFile(before, w.Path); err == nil {
			ch[w.Path] = b
		}
	}
	return r.WriteTree(ctx, tree, ch)
}

// approvedTree returns the tree of an approval on a review branch: the proposal's, with what
// is left out as it was before it.
func approvedTree(ctx context.Context, r *repo.Repo, p review.Part) (repo.OID, error) {
	tree, err := r.TreeOID(repo.OID(p.Commit), "")
	if err != nil {
		return "", err
	}
	return restorePaths(ctx, r, tree, p.Out, repo.OID(p.Base))
}

// readPartTaken returns what the approval c takes of p, by its trailers, with the bytes that
// it has; ok is false where it does not do what they say.
func readPartTaken(ctx context.Context, v *workspace.Board, c repo.Commit, p review.Proposal) (take review.Part, ok bool, err error) {
	var left []review.LeftOut
	atoms := ProposedAtoms(v, p)
	if lines := c.Trailer("Odd-Without"); len(lines) > 0 {
		if left, ok = review.NamedIn(lines, review.ByID(atoms)); !ok {
			return review.Part{}, false, nil
		}
	}
	if take, err = review.TakePart(p, atoms, left, review.Files{}); err != nil {
		return review.Part{}, false, nil // it leaves out all, or one twice
	}
	tree, err := approvedTree(ctx, v.Repo, take)
	if err != nil || tree == c.Tree {
		return take, err == nil, err
	}
	is, err := v.BlobReader(c.OID)
	if err != nil {
		return review.Part{}, false, err
	}
	ch := repo.Changes{}
	take.Paths = slices.Clone(take.Paths)
	for i, w := range take.Paths {
		blob := is(w.Path)
		at := slices.IndexFunc(atoms, func(a review.Atom) bool { return a.At == w })
		if at < 0 || blob == w.Result || blob == "" {
			continue
		}
		b, err := v.Repo.Blob(repo.OID(blob))
		if err != nil {
			return review.Part{}, false, err
		}
		edited := slices.Contains(c.Trailer("Odd-Edited"), w.Path+"@"+blob)
		verified := slices.Contains(c.Trailer("Odd-Verified"), string(atoms[at].ID)+"@"+blob) && okf.VerifiedOnly(&atoms[at].Atom, b)
		if edited {
			take.Edits[w.Path] = b
		}
		if edited || verified {
			ch[w.Path], take.Paths[i].Result = b, blob
		}
	}
	tree, err = v.Repo.WriteTree(ctx, tree, ch)
	return take, err == nil && tree == c.Tree, err
}

func describeTaken(p review.Part, root string) string {
	if len(p.Left) == 0 {
		return ""
	}
	return fmt.Sprintf("%s taken, %d left out", console.CountNoun(len(p.Atoms(root)), "atom"), len(p.Left))
}

// leftOutLines tell what is left out, for the person who confirms it.
func leftOutLines(p review.Part) string {
	b, left := &console.Card{Wide: 12}, []string(nil)
	for _, l := range p.Left {
		left = append(left, string(l.ID)+console.ReasonSuffix(l.Reason))
	}
	b.List("left out", left, len(left), "")
	if len(p.Cut) > 0 {
		b.Line("warning", "links to what you leave out: %s", strings.Join(p.Cut, ", "))
	}
	return b.String()
}

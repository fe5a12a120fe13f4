package sense

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// Source is the repository that findings are about and tasks are filed in.
type Source struct {
	Repo  *repo.Repo
	Root  string // of the bundle, from the repository's top
	Agent string // the address in odd's own commits
}

// Clean names subjects from the repository's top, and takes out of findings what looks
// like a credential.
func (s Source) Clean(found []Finding) {
	for i, f := range found {
		f.Subject = strings.TrimPrefix(f.Subject, s.Repo.Root()+"/")
		found[i].Subject, found[i].Signature, found[i].Message = secrets.RedactText(f.Subject), secrets.RedactText(f.Signature), secrets.RedactText(f.Message)
	}
}

// Marks returns the to-do comments that a range of commits adds outside of the bundle.
func (s Source) Marks(ctx context.Context, from, to repo.OID) (out []Finding, err error) {
	changes, err := s.Repo.Diff(ctx, from, to)
	if err != nil {
		return nil, err
	}
	var gone []byte // the lines of files that the range deletes: other files may have them now
	for _, c := range changes {
		if c.New == "" && strings.HasPrefix(c.OldMode, "100") {
			b, err := s.Repo.Blob(c.Old)
			if err != nil {
				return nil, err
			}
			gone = append(append(gone, b...), '\n')
		}
	}
	for _, c := range changes {
		if !strings.HasPrefix(c.NewMode, "100") || strings.HasPrefix(c.Path, s.Root+"/") {
			continue
		}
		after, err := s.Repo.Blob(c.New)
		if err != nil {
			return nil, err
		}
		before := gone
		if strings.HasPrefix(c.OldMode, "100") {
			if before, err = s.Repo.Blob(c.Old); err != nil {
				return nil, err
			}
		}
		out = append(out, Marks(c.Path, before, after)...)
	}
	return out, nil
}

// Filed returns the tasks that odd sense filed before: those of the board, the files where
// it would file one and that hold none that can be read, and last those that people deleted
// to say no.
func (s Source) Filed(ctx context.Context, tip repo.OID, rows []*board.Row, g *okf.Graph, bundle fs.FS) (out []Filed, err error) {
	for _, row := range rows {
		if !IsTaskID(row.ID) {
			continue
		}
		f := Filed{ID: row.ID, State: row.State}
		if a := g.ByID(row.ID); a != nil {
			if signature, is := SignatureOf(a.Tags); is {
				f.Signature = signature
				f.At, _ = time.Parse(time.RFC3339, row.Created)
			}
		}
		out = append(out, f)
	}
	files, err := fs.ReadDir(bundle, board.Folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, f := range files {
		id := okf.ID(strings.TrimSuffix(f.Name(), ".md"))
		if IsTaskID(id) && !slices.ContainsFunc(out, func(k Filed) bool { return k.ID == id }) {
			out = append(out, Filed{ID: id, State: Unreadable})
		}
	}
	gone, err := s.Repo.Deletions(ctx, "", tip, path.Join(s.Root, board.Folder))
	if err != nil {
		return nil, err
	}
	for _, d := range gone {
		signature, err := s.declined(ctx, d.Commit, d.Path)
		if err != nil {
			return nil, err
		}
		if signature != "" {
			out = append(out, Filed{ID: taskID(d.Path), Signature: signature})
		}
	}
	return out, nil
}

func taskID(file string) okf.ID { return okf.ID(strings.TrimSuffix(path.Base(file), ".md")) }

// declined returns what a task was filed for whose file a commit deleted to say no, "" for
// any other deletion: of odd's own, of a task that is done, and one with other files than
// the bundle's, which mends what was found.
func (s Source) declined(ctx context.Context, commit repo.OID, file string) (signature string, err error) {
	if !IsTaskID(taskID(file)) {
		return "", nil
	}
	c, err := s.Repo.Commit(commit)
	if err != nil || len(c.Parents) == 0 || strings.EqualFold(c.Author.Email, s.Agent) {
		return "", nil
	}
	changes, err := s.Repo.Diff(ctx, c.Parents[0], c.OID)
	if err != nil || slices.ContainsFunc(changes, func(ch repo.Change) bool { return !strings.HasPrefix(ch.Path, s.Root+"/") }) {
		return "", err
	}
	blob, _, err := s.Repo.Find(c.Parents[0], file)
	if err != nil {
		return "", err
	}
	b, err := s.Repo.Blob(blob)
	if err != nil {
		return "", err
	}
	a, err := okf.Parse(strings.TrimPrefix(file, s.Root+"/"), b)
	if err != nil {
		return "", nil // it was no task
	}
	if t, err := board.Parse(&a); err != nil || t.State == board.Done {
		return "", nil
	}
	signature, _ = SignatureOf(a.Tags)
	return signature, nil
}

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
	"github.com/odd-cli/odd/reconcile/policy"
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

// Look returns what sensors of files find outside of the bundle, each in the files that its
// globs mean: what a range of commits brings, or all there is if from is "".
func (s Source) Look(ctx context.Context, from, to repo.OID, globs map[string][]string) (out []Finding, err error) {
	changes, err := s.Repo.Diff(ctx, from, to)
	if err != nil {
		return nil, err
	}
	var gone []byte // of the files that the range deletes: others may have their lines now
	var goneNames []nameAt
	for _, c := range changes {
		if c.New == "" && strings.HasPrefix(c.OldMode, "100") {
			b, err := s.Repo.Blob(c.Old)
			if err != nil {
				return nil, err
			}
			gone = append(append(gone, b...), '\n')
			if strings.HasSuffix(c.Path, ".go") && len(globs["export"]) > 0 {
				goneNames = append(goneNames, undocumentedNames(b)...)
			}
		}
	}
	for _, c := range changes {
		isMarks, isExports := s.isRead(globs["mark"], c), s.isRead(globs["export"], c)
		if !isMarks && !isExports {
			continue
		}
		after, err := s.Repo.Blob(c.New)
		if err != nil {
			return nil, err
		}
		before, names := gone, goneNames
		if strings.HasPrefix(c.OldMode, "100") {
			if before, err = s.Repo.Blob(c.Old); err != nil {
				return nil, err
			}
			if isExports {
				names = undocumentedNames(before)
			}
		}
		if isMarks {
			out = append(out, findMarks(c.Path, before, after)...)
		}
		if isExports {
			out = append(out, undocumentedExports(c.Path, names, after)...)
		}
	}
	if len(globs["document"]) == 0 {
		return out, nil
	}
	dead, err := s.deadReferences(ctx, from, to, globs["document"])
	return append(out, dead...), err
}

// isRead tells whether a sensor with these globs reads the new version of a file.
func (s Source) isRead(globs []string, c repo.Change) bool {
	return strings.HasPrefix(c.NewMode, "100") && !strings.HasPrefix(c.Path, s.Root+"/") && policy.MatchAnyGlob(globs, c.Path)
}

// deadReferences returns the dead references of all documents at to, without those that were
// dead at from already.
func (s Source) deadReferences(ctx context.Context, from, to repo.OID, globs []string) (out []Finding, err error) {
	all, err := s.Repo.Diff(ctx, "", to)
	if err != nil {
		return nil, err
	}
	is := func(at repo.OID) func(string) bool {
		return func(name string) bool {
			oid, _, e := s.Repo.Find(at, name)
			if err == nil {
				err = e
			}
			return oid != ""
		}
	}
	has, had := is(to), is(from)
	if from == "" {
		had = nil
	}
	for _, c := range all {
		if !s.isRead(globs, c) {
			continue
		}
		text, e := s.Repo.Blob(c.New)
		if e != nil {
			return nil, e
		}
		found := findDeadReferences(c.Path, text, has, had)
		if len(found) == 0 || from == "" {
			out = append(out, found...)
			continue
		}
		oid, mode, e := s.Repo.Find(from, c.Path)
		if e != nil {
			return nil, e
		}
		var old []Finding
		if strings.HasPrefix(mode, "100") {
			if text, e = s.Repo.Blob(oid); e != nil {
				return nil, e
			}
			old = findDeadReferences(c.Path, text, had, nil)
		}
		for _, f := range found {
			if !slices.ContainsFunc(old, func(o Finding) bool { return o.Signature == f.Signature }) {
				out = append(out, f)
			}
		}
	}
	return out, err
}

// Filed returns the tasks that odd sense filed before: those of the board, the files where
// it would file one and that hold none that can be read, and last those that people deleted
// to say no.
func (s Source) Filed(ctx context.Context, tip repo.OID, rows []*board.Row, g *okf.Graph, bundle fs.FS) (out []Filed, err error) {
	for _, row := range rows {
		if !isTaskID(row.ID) {
			continue
		}
		f := Filed{ID: row.ID, State: row.State}
		if a := g.ByID(row.ID); a != nil {
			if signature, is := signatureOf(a.Tags); is {
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
		if isTaskID(id) && !slices.ContainsFunc(out, func(k Filed) bool { return k.ID == id }) {
			out = append(out, Filed{ID: id, State: Unreadable})
		}
	}
	gone, err := s.Repo.Deletions(ctx, "", tip, path.Join(s.Root, board.Folder))
	if err != nil {
		return nil, err
	}
	for _, d := range gone {
		signature, err := s.declinedSignature(ctx, d.Commit, d.Path)
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

// declinedSignature returns what a task was filed for whose file a commit deleted to say no, "" for
// any other deletion: of odd's own, of a task that is done, and one with other files than
// the bundle's, which mends what was found.
func (s Source) declinedSignature(ctx context.Context, commit repo.OID, file string) (signature string, err error) {
	if !isTaskID(taskID(file)) {
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
	signature, _ = signatureOf(a.Tags)
	return signature, nil
}

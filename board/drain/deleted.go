package drain

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// findDeclines returns the declines that hold for t on the commit base: those on tasks, and the
// atoms that people deleted, newest first.
func (bw *boardWriter) findDeclines(ctx context.Context, t board.Task, base repo.OID) ([]board.Decline, error) {
	gone, err := bw.deletedAtoms(ctx, base)
	if err != nil {
		return nil, fmt.Errorf("what people deleted: %w", err)
	}
	all := board.Declines(bw.at.tasks(), t.ID)
	for _, g := range gone {
		back, _, err := bw.repo.Find(base, g.Path)
		if err != nil {
			return nil, err
		}
		moved, err := bw.at.graph.Find(string(g.Decline.ID))
		if back == "" && (err != nil || bw.at.file(moved.Path) == g.Path) {
			all = append(all, g.Decline)
		}
	}
	slices.SortStableFunc(all, func(a, b board.Decline) int { return strings.Compare(b.At, a.At) })
	return all, nil
}

// deletions are the atoms that people deleted up to a commit. A clone keeps them, so that
// each commit is read once.
type deletions struct {
	Root, Agent string // of odd.toml
	Tip         repo.OID
	Atoms       []deletion // the newest first
}

type deletion struct {
	Path    string
	Decline board.Decline
}

const deletedCache = "deleted"

// deletedAtoms returns the atoms that people deleted in the history of tip.
func (bw *boardWriter) deletedAtoms(ctx context.Context, tip repo.OID) ([]deletion, error) {
	cfg := bw.at.cfg
	var known deletions
	if json.Unmarshal(bw.repo.Cached(deletedCache), &known) != nil || known.Root != cfg.Root || known.Agent != cfg.AgentEmail {
		known = deletions{}
	}
	if known.Tip != "" {
		if in, err := bw.repo.Ancestor(ctx, known.Tip, tip); err != nil || !in {
			known = deletions{} // of another branch, or of commits that are gone
		}
	}
	if known.Tip == tip {
		return known.Atoms, nil
	}
	files, err := bw.repo.Deletions(ctx, known.Tip, tip, cfg.Root, path.Join(cfg.Root, "tasks"), path.Join(cfg.Root, "ledger"))
	if err != nil {
		return nil, err
	}
	var atoms []deletion
	for _, f := range files {
		a, err := bw.declinedBy(f)
		if err != nil {
			return nil, err
		}
		if a.ID != "" {
			atoms = append(atoms, deletion{f.Path, a})
		}
	}
	known = deletions{cfg.Root, cfg.AgentEmail, tip, append(atoms, known.Atoms...)}
	if b, err := json.Marshal(known); err == nil {
		_ = bw.repo.Keep(deletedCache, b) // the next one reads it again
	}
	return known.Atoms, nil
}

// declinedBy is the decline that a deletion is, without an id where no person deleted an
// atom.
func (bw *boardWriter) declinedBy(f repo.Deletion) (board.Decline, error) {
	c, err := bw.repo.Commit(f.Commit)
	if err != nil || len(c.Parents) == 0 || strings.EqualFold(c.Author.Email, bw.at.cfg.AgentEmail) {
		return board.Decline{}, err
	}
	blob, mode, err := bw.repo.Find(c.Parents[0], f.Path)
	if err != nil || mode != "100644" {
		return board.Decline{}, err
	}
	b, err := bw.repo.Blob(blob)
	if err != nil {
		return board.Decline{}, err
	}
	a, err := okf.Parse(strings.TrimPrefix(f.Path, bw.at.cfg.Root+"/"), b)
	if err != nil {
		return board.Decline{}, nil // what nobody can read, nobody emits again
	}
	subject, _, _ := strings.Cut(c.Message, "\n")
	return board.Decline{ID: a.ID, Text: okf.Grounds(&a), By: "human:" + c.Author.Email, At: c.Author.When.UTC().Format(time.RFC3339),
		Reason: fmt.Sprintf("deleted in %.10s, %s", c.OID, okf.Visible(okf.Legible(subject)))}, nil
}

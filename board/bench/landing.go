package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/risk"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// Landing is a proposed change of files and where it would land.
type Landing struct {
	Task     board.Task
	Cfg      config.Config
	Bundle   *okf.Graph
	Base     repo.OID // it was made on
	Tip      repo.OID // it would land on
	Board    repo.OID // the tip of the board, for who filed the task
	Proposal repo.OID
	Made     pipeline.Made
	Now      time.Time
}

func (l Landing) movedFiles(ctx context.Context, r *repo.Repo) (out []string, err error) {
	since, err := DiffFiles(ctx, r, l.Cfg, l.Base, l.Tip)
	for _, c := range since {
		out = append(out, c.Path)
	}
	return out, err
}

// Rejudge judges a proposed change once more, on what is there now. Where nobody
// changed a file outside of the bundle since its base nothing is judged again.
// Otherwise why says what speaks against the change now and did not, or what tier
// it has now; a tier only rises.
func Rejudge(ctx context.Context, r *repo.Repo, l Landing, tier string) (why []string, err error) {
	moved, err := l.movedFiles(ctx, r)
	if err != nil || len(moved) == 0 {
		return nil, err
	}
	edits, err := l.edits(ctx, r)
	if err != nil {
		return nil, err
	}
	ground, err := risk.Survey(ctx, r, risk.Site{Base: l.Tip, Board: l.Board, Bundle: l.Bundle, Law: l.Cfg, Task: l.Task})
	if err != nil {
		return nil, err
	}
	j, err := ground.Judge(edits, l.Now, l.Cfg.Session.Substrate, l.Made)
	if err != nil {
		return nil, err
	}
	why = pipeline.Refusals(ground.Refusing(j.Gate.Findings))
	if now := j.Risk.Tier.Raise(pipeline.Tier(tier)); string(now) != tier {
		why = append(why, fmt.Sprintf("its risk tier is now %s, it was %s: %s", now, tier, j.Risk.Text()))
	}
	return why, nil
}

// edits are the files of the proposal against what is there now.
func (l Landing) edits(ctx context.Context, r *repo.Repo) ([]pipeline.Edit, error) {
	made, err := DiffFiles(ctx, r, l.Cfg, l.Base, l.Proposal)
	if err != nil {
		return nil, err
	}
	return EditsOf(r, made, l.Tip, l.Proposal)
}

// Checked is what the checks say of a change on what is there now.
type Checked struct {
	Tree repo.OID // that was checked, whole; "" where nothing was run
	Ran  []string // a line a check
	Why  string   // what speaks against that tree, "" for nothing
}

// Check runs the checks of a proposed change, those of its candidate and those of
// the commit that would land, on exactly the tree that its merge would make now.
//
// The rule: nothing is run where nobody changed a file outside of the bundle since
// the change's base, because that tree was checked, but for atoms; nor where all
// that is run is what go offers, the change and what others did meanwhile are Go
// files alone, and no package needs one of both, so that go would say what it said.
// A command of the project's or of the task's may read any file: it is always run.
func Check(ctx context.Context, r *repo.Repo, l Landing, b Bench) (Checked, error) {
	moved, err := l.movedFiles(ctx, r)
	if err != nil || len(moved) == 0 {
		return Checked{}, err
	}
	edits, err := l.edits(ctx, r)
	if err != nil {
		return Checked{}, err
	}
	tree, _, err := MergeProposal(ctx, r, l.Tip, l.Proposal)
	if err != nil {
		return Checked{}, err
	}
	law := l.Cfg.Pipeline
	if len(law.Validate)+len(law.Verify)+len(l.Task.Commands) == 0 {
		if alone, err := areIndependent(r, tree, edits, moved); alone || err != nil {
			return Checked{}, err
		}
	}
	who := repo.Signature{Name: l.Cfg.AgentName, Email: l.Cfg.AgentEmail, When: l.Now}
	commit, err := r.MakeOn(ctx, []repo.OID{l.Tip}, tree, nil, who, "what a merge of "+string(l.Proposal)+" would make\n")
	if err != nil {
		return Checked{}, err
	}
	out := Checked{Tree: tree}
	report, err := b.ExamineAgainst(ctx, r, Job{Commit: commit, Task: l.Task, Cfg: l.Cfg, Files: edits}, l.Tip)
	if err == nil {
		out.Ran, out.Why = strings.Split(strings.TrimSpace(report.String()), "\n"), strings.Join(report.Failures(), "; ")
	}
	return out, err
}

// MergeProposal is MergeTree of a proposal. One that tip has among its ancestors was merged
// before; where a file is again as it was before the proposal, somebody reverted it, and its
// change is merged again, as that of a commit of its own.
func MergeProposal(ctx context.Context, r *repo.Repo, tip, proposal repo.OID) (tree repo.OID, conflicts []string, err error) {
	c, back, err := isReverted(ctx, r, tip, proposal)
	if err == nil && back {
		proposal, err = r.MakeOn(ctx, c.Parents, c.Tree, nil, c.Author, "what "+string(proposal)+" changes\n")
	}
	if err != nil {
		return "", nil, err
	}
	return r.MergeTree(ctx, tip, proposal)
}

// isReverted reports that tip has the proposal behind it, and one of its files as it was
// before.
func isReverted(ctx context.Context, r *repo.Repo, tip, proposal repo.OID) (repo.Commit, bool, error) {
	in, err := r.Ancestor(ctx, proposal, tip)
	if err != nil || !in {
		return repo.Commit{}, false, err
	}
	c, err := r.Commit(proposal)
	if err != nil || len(c.Parents) == 0 {
		return c, false, err
	}
	proposed, err := r.Diff(ctx, c.Parents[0], proposal)
	if err != nil {
		return c, false, err
	}
	since, err := r.Diff(ctx, c.Parents[0], tip)
	differs := map[string]bool{}
	for _, ch := range since {
		differs[ch.Path] = true
	}
	return c, slices.ContainsFunc(proposed, func(ch repo.Change) bool { return !differs[ch.Path] }), err
}

// areIndependent reports a change and files that others changed of which neither can turn
// what go says of the other, in a tree that has both.
func areIndependent(r *repo.Repo, tree repo.OID, edits []pipeline.Edit, moved []string) (bool, error) {
	files, err := r.Tree(tree)
	if err != nil {
		return false, err
	}
	graph, err := pipeline.ReadGraph(files)
	if err != nil {
		return false, err
	}
	return graph.Apart(pipeline.Candidate{Files: edits}.Paths(), moved), nil
}

// DiffFiles returns what differs between two commits outside of the bundle.
func DiffFiles(ctx context.Context, r *repo.Repo, cfg config.Config, from, to repo.OID) ([]repo.Change, error) {
	all, err := r.Diff(ctx, from, to)
	return slices.DeleteFunc(all, func(c repo.Change) bool { return cfg.InBundle(c.Path) }), err
}

// EditsOf returns files as one commit has them, changed to what they are in another.
func EditsOf(r *repo.Repo, files []repo.Change, before, after repo.OID) ([]pipeline.Edit, error) {
	var out []pipeline.Edit
	for _, c := range files {
		e := pipeline.Edit{Path: c.Path}
		var err error
		if e.Before, e.OldMode, err = FileAt(r, before, c.Path); err == nil {
			e.After, e.NewMode, err = FileAt(r, after, c.Path)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Path, err)
		}
		out = append(out, e)
	}
	return out, nil
}

// FileAt returns a file of a commit with its mode; nil for none.
func FileAt(r *repo.Repo, commit repo.OID, name string) ([]byte, string, error) {
	oid, mode, err := r.Find(commit, name)
	if err != nil || oid == "" {
		return nil, "", err
	}
	if !strings.HasPrefix(mode, "100") {
		return nil, "", fmt.Errorf("is not a file (mode %s)", mode)
	}
	b, err := r.Blob(oid) // not nil for an empty file
	return b, mode, err
}

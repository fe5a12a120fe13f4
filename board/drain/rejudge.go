package drain

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/risk"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/irongate"
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
	Now      time.Time
}

// Rejudge judges a proposed change once more, on what is there now. moved are the
// files outside of the bundle that others changed since its base; where there are
// none nothing is judged again, and why is "". Otherwise why says what speaks
// against the change now and did not, or what tier it has now; a tier only rises.
func Rejudge(ctx context.Context, r *repo.Repo, l Landing, tier string) (moved, why []string, err error) {
	outside := func(c repo.Change) bool { return !strings.HasPrefix(c.Path, l.Cfg.Root+"/") }
	since, err := r.Diff(ctx, l.Base, l.Tip)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range since {
		if outside(c) {
			moved = append(moved, c.Path)
		}
	}
	if len(moved) == 0 {
		return nil, nil, nil
	}
	edits, err := l.edits(ctx, r, outside)
	if err != nil {
		return moved, nil, err
	}
	e, beside, err := l.evidence(ctx, r, edits)
	if err != nil {
		return moved, nil, err
	}
	rules := risk.GatePolicy(r, l.Tip, l.Task, l.Cfg)
	rules.Beside = beside
	for _, f := range risk.Refusing(irongate.Judge(pipeline.Candidate{Files: edits}.Gate(), rules).Findings, e.Filed, e.Scope) {
		if f.Severity == irongate.Hard {
			why = append(why, f.Error())
		}
	}
	pol, at := risk.Policy(l.Cfg), pipeline.Situation{Now: l.Now, Substrate: l.Cfg.Session.Substrate, Opaque: risk.Opaque(l.Cfg.Session.Substrate)}
	v := pipeline.Assess(e, pol, risk.Judged(e, pol, beside, at))
	if now := v.Tier.Raise(pipeline.Tier(tier)); string(now) != tier {
		why = append(why, fmt.Sprintf("its tier is %s now, it was %s: %s", now, tier, v.Text()))
	}
	return moved, why, nil
}

// edits are the files of the proposal against what is there now.
func (l Landing) edits(ctx context.Context, r *repo.Repo, outside func(repo.Change) bool) ([]pipeline.Edit, error) {
	made, err := r.Diff(ctx, l.Base, l.Proposal)
	if err != nil {
		return nil, err
	}
	var out []pipeline.Edit
	for _, c := range made {
		if !outside(c) {
			continue
		}
		e := pipeline.Edit{Path: c.Path}
		if e.Before, e.OldMode, err = fileAt(r, l.Tip, c.Path); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Path, err)
		}
		if e.After, e.NewMode, err = fileAt(r, l.Proposal, c.Path); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Path, err)
		}
		out = append(out, e)
	}
	return out, nil
}

// evidence is what the change is judged from on what is there now, and the files
// beside it.
func (l Landing) evidence(ctx context.Context, r *repo.Repo, edits []pipeline.Edit) (e pipeline.Evidence, beside []irongate.File, err error) {
	if e, err = risk.Evidence(r, l.Tip, edits, l.Cfg.Root, l.Bundle); err != nil {
		return e, nil, err
	}
	if e, err = risk.For(ctx, r, l.Board, e, l.Task); err != nil {
		return e, nil, err
	}
	beside, err = risk.Around(r, l.Tip, e)
	return e, beside, err
}

package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/journal/repo"
)

// land makes the act's commit.
func (p *plan) land(ctx context.Context, h review.Human) (repo.OID, error) {
	if err := p.halt(h); err != nil {
		return "", err
	}
	r := p.out.Row
	subject := strings.TrimSpace(fmt.Sprintf("gate: %s, %s %s", r.Gate, r.Act, r.Lease))
	msg := trailers(subject, r.Reason, "Odd-Gate", string(r.Gate), "Odd-Lease", r.Lease, "Odd-By", h.By(), "Odd-Because", strings.Join(r.Proposals, ", "))
	return p.commit(ctx, msg)
}

// commit moves the board by compare-and-swap. No drain may run meanwhile, save
// for an emergency, which is how a running one is stopped.
func (p *plan) commit(ctx context.Context, msg string) (repo.OID, error) {
	if !p.emergency() {
		release, err := p.lockDrain(ctx)
		if err != nil {
			return "", err
		}
		defer release()
	}
	return p.amend(ctx, p.changes, msg)
}

func (p *plan) emergency() bool { return p.out.Row.Gate == gate.Emergency }

// lockDrain keeps drains away while the gate's commit lands.
func (p *plan) lockDrain(ctx context.Context) (release func(), err error) {
	local, err := p.repo.LockDrainFor("gate " + string(p.out.Row.Gate))
	if err != nil {
		return nil, drainRuns(err)
	}
	if p.line.Remote == "" {
		return func() { _ = local() }, nil
	}
	shared, err := p.repo.LockRemote(ctx, p.line.Remote, p.cfg.Tenant, "gate", p.cfg.TaskLease, p.env.Now())
	if err != nil {
		_ = local()
		return nil, drainRuns(err)
	}
	return func() {
		if err := shared.Release(context.WithoutCancel(ctx)); err != nil {
			talk(p.env, "the lock on the remote was not removed; it expires by itself: %v", err)
		}
		_ = local()
	}, nil
}

// ready refuses to ask the person for what could not land: over edits of theirs,
// or while a drain of this clone runs.
func (p *plan) ready(ctx context.Context) error {
	if head, err := p.repo.Branch(); err != nil {
		return err
	} else if head == p.line.Name() {
		var written []string
		for name := range p.changes {
			if !slices.Contains(p.taken, name) {
				written = append(written, name)
			}
		}
		dirty, err := p.repo.Dirty(ctx, written...)
		if err != nil {
			return err
		}
		if len(dirty) > 0 {
			return refuse("dirty", "%s: has edits that are not committed, and the gate writes this file; drop them with git restore %[1]s, or commit them first", strings.Join(dirty, ", "))
		}
	}
	return p.quiet()
}

// quiet refuses while a drain of this clone runs.
func (p *plan) quiet() error {
	if p.emergency() {
		return nil
	}
	unlock, err := p.repo.LockDrainFor("gate " + string(p.out.Row.Gate))
	if err != nil {
		return drainRuns(err)
	}
	return unlock()
}

// drainRuns tells a held drain lock as what it means at a gate.
func drainRuns(err error) error {
	if !errors.Is(err, repo.ErrBusy) {
		return err
	}
	return &drain.Busy{Code: "locked", Text: fmt.Sprintf("%v; wait until it ends, stop it after its task with odd drain pause, or stop it at once with odd gate emergency", err)}
}

package drain

import (
	"context"
	"errors"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/invoke"
)

// Resolve resolves the contract of an invocation, of the task that the options
// name where they name one, and writes nothing. The contract comes back with
// refusals too, as far as it could be resolved.
func Resolve(ctx context.Context, r *repo.Repo, o Options, inv Invocation) (contract.Contract, error) {
	d, t, err := sought(ctx, r, o, inv)
	if err != nil {
		return contract.Contract{}, err
	}
	b, err := d.contracts().bindPersona(t)
	var no contract.Refusals
	if err != nil && !errors.As(err, &no) {
		return b.Contract, err
	}
	if no = append(no, d.authority().leaseRefusals(t, b)...); len(no) > 0 {
		return b.Contract, no
	}
	return b.Contract, nil
}

// sought is a drain that writes nothing, and what an invocation asks of it.
func sought(ctx context.Context, r *repo.Repo, o Options, inv Invocation) (*drain, board.Task, error) {
	d, err := openDrain(ctx, r, o)
	if err != nil {
		return nil, board.Task{}, err
	}
	if o.Task == "" {
		return d, d.contracts().asTask(inv), nil
	}
	t, err := d.at.findTask(o.Task)
	return d, t, err
}

// BriefFor is the brief that an invocation would begin with now, without the part
// anchor, which is made with the permit, and who would get it. It writes nothing. The
// error is that of Resolve where there could be no such session.
func BriefFor(ctx context.Context, r *repo.Repo, o Options, inv Invocation) (invoke.Brief, []Receiver, error) {
	if _, err := Resolve(ctx, r, o, inv); err != nil {
		return invoke.Brief{}, nil, err
	}
	d, t, err := sought(ctx, r, o, inv)
	if err != nil {
		return invoke.Brief{}, nil, err
	}
	w := &work{}
	if w.bound, err = d.contracts().bindPersona(t); err != nil {
		return invoke.Brief{}, nil, err
	}
	if t.Role != "" {
		d.at.compilePersona(w, t.Role)
	}
	if t.Path != "" {
		t.Attempts++
	}
	now := d.authority()
	c := &claim{task: t, sessions: max(inv.Sessions, 1), reserved: now.reservation(t), until: now.until(d.at.cfg.TaskLease, d.leaseID), repo: d.repo}
	if c.base, err = d.base(); err != nil {
		return invoke.Brief{}, nil, err
	}
	_, err = (&attempt{d, c, w}).newRequest(ctx)
	return w.brief, d.at.listReceivers(t, w.bound.Contract.Servers), err
}

// leaseRefusals lists what the slow loop has against a session, beside its contract.
func (a authority) leaseRefusals(t board.Task, b bound) contract.Refusals {
	if t.Path == "" {
		t.Kind = kindOf(b.Role)
	}
	var out contract.Refusals
	_, err := a.checkStanding()
	for _, err := range append([]error{err}, a.checkCharter(t)...) {
		var no *Refusal
		if errors.As(err, &no) {
			out = append(out, contract.Refusal{Code: no.Code, Message: no.Text})
		}
	}
	return out
}

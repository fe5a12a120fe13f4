package cmd

import (
	"context"
	"fmt"
	"io/fs"
	"time"

	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/journal/repo"
)

// runGate shows the person what the act would write, asks for its id on the
// terminal and commits it. Everything is judged before anything is asked.
func runGate(ctx context.Context, env Env, o gateOptions) error {
	v, err := openToDecide(ctx, env, o.name())
	if err != nil {
		return err
	}
	p, err := v.plan(ctx, o)
	if err != nil {
		return err
	}
	if err := p.ready(ctx); err != nil {
		return err
	}
	h, err := v.human(ctx, p.page()+p.pending(ctx), o.name()+", "+p.out.Row.Act, p.word(), o.yes)
	if err != nil {
		return err
	}
	oid, err := p.land(ctx, h)
	for try := 0; err != nil && p.again(err) && try < landTries; try++ {
		env.Sleep(landWait)
		if p, err = v.replan(ctx, o, p.out.Row); err != nil {
			return err
		}
		oid, err = p.land(ctx, h)
	}
	if err != nil {
		return err
	}
	drain.ForgetRefusals(v.repo)
	return p.told(env, oid)
}

// again reports an emergency that lost the board to the drain it is to stop:
// what was confirmed still holds. Any other act is looked at anew by its person.
func (p *plan) again(err error) bool {
	code, reason := status(err)
	return p.emergency() && (reason == "moved" || code == exitBusy)
}

// replan judges the emergency again on the board as it is now. Where another
// gate was passed meanwhile it is no longer the act that was confirmed.
func (w *workspace) replan(ctx context.Context, o gateOptions, confirmed gate.Row) (*plan, error) {
	v, err := w.view(ctx, true)
	if err != nil {
		return nil, err
	}
	p, err := v.plan(ctx, o)
	if err != nil {
		return nil, err
	}
	if r := p.out.Row; r.ID != confirmed.ID || r.Lease != confirmed.Lease {
		return nil, refuse("moved", "somebody passed another gate meanwhile; nothing was done, run the command again")
	}
	return p, nil
}

// openToDecide is openShared for an act of a person. Places where no person is are refused
// before anything is read.
func openToDecide(ctx context.Context, env Env, act string) (*view, error) {
	w, err := openWorkspace(ctx, env)
	if err != nil {
		return nil, err
	}
	if err := w.mayDecide(ctx, act); err != nil {
		return nil, err
	}
	return w.view(ctx, true)
}

// mayDecide refuses places where no person is.
func (w *workspace) mayDecide(ctx context.Context, act string) error {
	who, err := w.repo.Identity(ctx)
	if err != nil {
		return err
	}
	return review.Allowed(act, review.Person{Name: who.Name, Email: who.Email}, w.place())
}

// plan is a gate act judged and not yet done.
type plan struct {
	*view
	o       gateOptions
	slow    drain.SlowLoop
	out     gate.Outcome
	changes repo.Changes // all but what takes the person's confirmation to make
	also    []gate.Change
	halts   []string // tasks that an emergency blocks
	taken   []string // files taken from the work tree as they are there
}

// plan judges the act on the board as committed.
func (v *view) plan(ctx context.Context, o gateOptions) (*plan, error) {
	p := &plan{view: v, o: o, changes: repo.Changes{}}
	var err error
	if p.slow, err = drain.LookSlow(v.bundle, v.state, v.rows(), true, v.now()); err != nil {
		return nil, fmt.Errorf("%s/%w", v.cfg.Root, err)
	}
	if err := p.act(ctx); err != nil {
		return nil, err
	}
	if p.out, err = gate.Do(p.slow.Slow, p.o.act); err != nil {
		return nil, err
	}
	for name, b := range p.out.Files {
		p.changes[v.file(name)] = b
	}
	for _, also := range []func(context.Context) error{p.switchLeases, p.principles, p.stop, p.dispose} {
		if err := also(ctx); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// now is the moment of a record: UTC, to the second.
func (w *workspace) now() time.Time {
	now := w.env.Now().UTC().Truncate(time.Second)
	w.decides(now)
	return now
}

// act completes what the person asked for with what the board says.
func (p *plan) act(ctx context.Context) error {
	who, err := p.repo.Identity(ctx)
	if err != nil {
		return err
	}
	a := &p.o.act
	a.By, a.Now, a.Drained = "human:"+who.Email, p.now(), p.slow.Drained
	if a.Kind == "" {
		a.Kind = p.kind()
	}
	if a.To == "" {
		a.To = p.to()
	}
	if a.Locks, err = p.locks(); err != nil {
		return err
	}
	if a.Findings, err = p.findings(ctx); err != nil {
		return err
	}
	switch {
	case p.o.file != nil:
		a.Lease = &p.o.file.Lease
	case a.Kind == "draft" && !alive(p.state()): // one that is alive is drafted again as it is
		l := p.draft(p.slow).Lease
		a.Lease = &l
	}
	if a.Reason == "" && a.Decision != nil {
		a.Reason = a.Decision.Decision
	}
	return nil
}

// kind is the act a gate means when the person names none.
func (p *plan) kind() string {
	state, stance := p.state(), p.slow.Facts.Chain.Stance()
	switch p.o.act.Gate {
	case gate.Framing:
		if state == gate.Draft || state == gate.Active {
			return "frame"
		}
		return "draft"
	case gate.Commitment:
		switch {
		case state != gate.Active:
			return "activate"
		case stance != gate.Execution && p.slow.Verdict("").Valid:
			return "enter"
		}
		return "renew"
	case gate.Emergency:
		return "suspend"
	}
	return "enter"
}

// to is the stance an evaluation leads out of itself to: back to work where the
// lease goes on, else to asking what is next. Everywhere else the gate's own
// default holds, save that a draft says what stance it is for.
func (p *plan) to() gate.Stance {
	if p.o.act.Gate == gate.Framing && p.o.file != nil && p.o.file.Stance == gate.Discovery {
		return gate.Discovery
	}
	if p.o.act.Gate != gate.EvaluationGate || p.slow.Facts.Chain.Stance() != gate.Evaluation {
		return ""
	}
	switch p.o.act.Kind {
	case "renew", "revise":
		return gate.Execution
	case "release", "expire":
		return gate.Sensemaking
	}
	return ""
}

// state is the lease's as stored.
func (p *plan) state() gate.State {
	if p.slow.LeaseFile == nil || p.slow.Facts.Unreadable != nil {
		return gate.None
	}
	return p.slow.File.Lease.State
}

// word is what the person types: the id of the lease, or of the act without one.
func (p *plan) word() string { return or(p.out.Row.Lease, p.out.Row.ID) }

// has reports whether the board has a file below the bundle root.
func (v *view) has(name string) bool {
	_, err := fs.Stat(v.bundle, name)
	return err == nil
}

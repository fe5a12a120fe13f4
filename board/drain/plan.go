package drain

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/journal/refusal"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/invoke"
)

// Plan is what a drain would do now, decision by decision.
type Plan struct {
	Stops []Stop `json:"stops"` // what would stop the whole drain, all of it
	Tasks []Step `json:"tasks"` // every task that is not done, in the order of the board
}

// Stop is one thing that would stop the drain.
type Stop struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// Step is the decision about one task.
type Step struct {
	Task     okf.ID          `json:"task"`
	State    board.State     `json:"state"`
	Run      bool            `json:"run"`
	Reason   string          `json:"reason,omitempty"` // why not, all of it
	Refusals []Stop          `json:"refusals,omitempty"`
	Role     string          `json:"role,omitempty"`
	Contract contract.Role   `json:"contract_role,omitempty"` // who the session would be, as far as it gets
	Reserved budget.MicroUSD `json:"reserved_micro_usd"`

	Substrate string `json:"substrate,omitempty"` // that would take it
	Why       string `json:"why,omitempty"`       // where that is not simply the usual one
}

// Explain decides everything a drain would decide and writes nothing.
func Explain(ctx context.Context, r *repo.Repo, o Options) (Plan, error) {
	p := Plan{Stops: []Stop{}, Tasks: []Step{}}
	d, err := readCommitted(r, o)
	if err != nil {
		err = p.addStop(err)
		return p, err
	}
	for _, check := range []func(context.Context) error{d.checkWorkTree, d.readBoard, d.checkComputer, d.checkTarget, d.checkShared, d.checkUnlocked} {
		if err := p.addStop(check(ctx)); err != nil {
			return p, err
		}
	}
	if err := p.addStop(d.authority().listStops()...); err != nil {
		return p, err
	}
	if d.Task != "" {
		if _, err := d.at.findTask(d.Task); err != nil {
			return p, err
		}
	}
	killed, err := r.KilledRuns()
	if err != nil {
		return p, err
	}
	left := d.taskLimit(d.at.cfg)
	ad := d.admission()
	for ch := range ad.choose(ctx, d.at.rows()) {
		s := ad.explain(ch)
		switch {
		case ch.task.State == board.InProgress && slices.Contains(killed, ch.task.ClaimedBy):
			s.Reason = "its run was killed; odd drain frees it first, and then runs it unless it has had too many attempts"
		case s.Run && left == 0:
			s.Run, s.Reason = false, "not in this run, which takes fewer tasks (--max-tasks)"
		case s.Run:
			left--
		}
		p.Tasks = append(p.Tasks, s)
	}
	return p, nil
}

// checkTarget refuses where the branch that reviews merge into is not there.
func (bw *boardWriter) checkTarget(context.Context) error {
	_, err := bw.base()
	return err
}

// listStops lists what the lease, an emergency or the budget refuses every task for; some are nil.
func (a authority) listStops() []error {
	_, no := a.leaseRefusals()
	if all := a.tenantPurse(); a.cfg.HasBudget && all.decide(0) == budget.Stop {
		no = append(no, refuse("budget", "%s; raise [budget] monthly_usd in odd.toml, or wait for next month", all.describeOverspend()))
	}
	return no
}

// addStop notes refusals, each once, and returns the first fault.
func (p *Plan) addStop(all ...error) error {
	for _, err := range all {
		s, ok := stopOf(err)
		if !ok && err != nil {
			return err
		}
		if ok && !slices.Contains(p.Stops, s) {
			p.Stops = append(p.Stops, s)
		}
	}
	return nil
}

// stopOf returns a refusal as a plan shows it, false for a fault and for nil.
func stopOf(err error) (Stop, bool) {
	var no interface{ Refused() string }
	var wait *Busy
	switch {
	case errors.As(err, &no):
		return Stop{no.Refused(), err.Error()}, true
	case errors.As(err, &wait):
		return Stop{wait.Code, wait.Text}, true
	}
	return Stop{}, false
}

// explain is a choice as a plan shows it.
func (ad admission) explain(ch choice) Step {
	s := Step{Task: ch.task.ID, State: ch.task.State, Role: ch.task.Role, Contract: ch.bound.Role, Reserved: ad.now.reservation(ch.task)}
	why := ch.no
	if ch.overlap != nil {
		why = []error{ch.overlap}
	}
	for _, err := range why {
		s.Reason = strings.TrimPrefix(s.Reason+"; "+err.Error(), "; ")
		if stop, ok := stopOf(err); ok {
			s.Refusals = append(s.Refusals, stop)
		}
	}
	if s.Run = len(why) == 0; ch.ready {
		s.Substrate, s.Why = ad.pickSubstrate(ch.task)
	}
	return s
}

// Resolve resolves the contract of an invocation, of the task that the options
// name where they name one, and writes nothing. The contract comes back with
// refusals too, as far as it could be resolved.
func Resolve(ctx context.Context, r *repo.Repo, o Options, inv Invocation) (contract.Contract, error) {
	d, t, err := openInvocation(ctx, r, o, inv)
	if err != nil {
		return contract.Contract{}, err
	}
	b, no := d.admission().bindUnderLease(t)
	if len(no) > 0 {
		return b.Contract, no
	}
	return b.Contract, nil
}

// bindUnderLease binds the persona and adds what the lease and an open emergency have against the session.
func (ad admission) bindUnderLease(t board.Task) (bound, contract.Refusals) {
	b, no := ad.bindPersona(t)
	_, err := ad.now.checkLease()
	for _, err := range append([]error{err}, ad.now.checkCharter(t, b.Role)...) {
		var why *refusal.Refusal
		if errors.As(err, &why) {
			no = append(no, contract.Refusal{Code: why.Code, Message: why.Text})
		}
	}
	return b, no
}

// openInvocation returns a drain that has written nothing, and what an invocation asks of it as a task.
func openInvocation(ctx context.Context, r *repo.Repo, o Options, inv Invocation) (d *drain, t board.Task, err error) {
	if d, err = openDrain(ctx, r, o); err != nil {
		return nil, t, err
	}
	if o.Task != "" {
		t, err = d.at.findTask(o.Task)
		return d, t, err
	}
	d.given, err = d.log.encodeGiven(inv.Given, d.By)
	return d, d.contracts().asTask(inv), err
}

// BriefFor is the brief that an invocation would begin with now, and who would get it. It
// writes nothing. The error is that of Resolve where there could be no such session.
func BriefFor(ctx context.Context, r *repo.Repo, o Options, inv Invocation) (invoke.Brief, []agent.Receiver, error) {
	d, t, err := openInvocation(ctx, r, o, inv)
	if err != nil {
		return invoke.Brief{}, nil, err
	}
	b, no := d.admission().bindUnderLease(t)
	if len(no) > 0 {
		return invoke.Brief{}, nil, no
	}
	if !isOffBoard(t) {
		t.Attempts++
	}
	if d.leaseID, err = d.authority().checkLease(); err != nil {
		return invoke.Brief{}, nil, err
	}
	c, err := d.newClaim(t, b, max(inv.Sessions, 1))
	if err != nil {
		return invoke.Brief{}, nil, err
	}
	_, in, err := newAttempt(ctx, d, c, 0)
	if err != nil {
		return invoke.Brief{}, nil, errors.New(lastSession{}.asBlocked("%v", err).reason)
	}
	return in.brief, agent.Receivers(d.at.agentChain(t), b.Contract.Servers), nil
}

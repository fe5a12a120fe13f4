package drain

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
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
		if p.addStop(err) {
			err = nil
		}
		return p, err
	}
	for _, check := range []func(context.Context) error{d.checkWorkTree, d.readBoard, d.checkPlace, d.checkTarget, d.checkShared, d.checkUnlocked} {
		if err := check(ctx); !p.addStop(err) {
			return p, err
		}
	}
	if err := d.authority().addStops(&p); err != nil {
		return p, err
	}
	only := okf.ID("")
	if d.Task != "" {
		t, err := d.at.findTask(d.Task)
		if err != nil {
			return p, err
		}
		only = t.ID
	}
	killed, err := r.KilledRuns()
	if err != nil {
		return p, err
	}
	left := d.taskLimit(d.at.cfg)
	for t := range d.at.boardOrder(d.at.rows()) {
		s := d.admission().planTask(t, only)
		if t.State == board.InProgress && slices.Contains(killed, t.ClaimedBy) {
			s.Reason = "its run was killed; odd drain frees it first, and then runs it unless it has had too many attempts"
		}
		if s.Run {
			s.addRefusal(d.preflight().whyHeld(ctx, t))
			s.Run = s.Reason == ""
		}
		if s.Run && left == 0 {
			s.Run, s.Reason = false, "not in this run, which takes fewer tasks (--max-tasks)"
		}
		if s.Run {
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

// addStops adds what the lease, an emergency or the budget would refuse every task for.
func (a authority) addStops(p *Plan) error {
	s, err := a.slowLoop()
	if !p.addStop(err) || err != nil {
		return err
	}
	if a.requiresLease() {
		p.addStop(refuseInvalidLease(s.Verdict("")))
		p.addStop(refuseInEmergency(s.Facts.OpenEmergency))
		if !slices.ContainsFunc(p.Stops, func(s Stop) bool { return s.Code == "lease-head-not-committed" }) {
			p.addStop(refuseUncommitted(!a.committed))
		}
	} else {
		p.addStop(refuseInEmergency(s.Facts.OpenEmergency))
	}
	if all := a.tenantPurse(); a.cfg.HasBudget && all.decide(0) == budget.Stop {
		p.addStop(refuse("budget", "%s; raise [budget] monthly_usd in odd.toml, or wait for next month", all.describeOverspend()))
	}
	return nil
}

// addStop notes a refusal and goes on; a fault ends the explanation.
func (p *Plan) addStop(err error) bool {
	var no interface{ Refused() string }
	var wait *Busy
	switch {
	case err == nil:
	case errors.As(err, &no):
		p.addNote(Stop{no.Refused(), err.Error()})
	case errors.As(err, &wait):
		p.addNote(Stop{wait.Code, wait.Text})
	default:
		return false
	}
	return true
}

func (p *Plan) addNote(s Stop) {
	if !slices.Contains(p.Stops, s) {
		p.Stops = append(p.Stops, s)
	}
}

// planTask decides about one task, where only one may run about all others.
func (ad admission) planTask(t board.Task, only okf.ID) Step {
	s := Step{Task: t.ID, State: t.State, Role: t.Role, Reserved: ad.now.reservation(t)}
	if only != "" && only != t.ID {
		s.Reason = "not named by --task"
		return s
	}
	if why := ad.now.checkEligible(t); why != nil {
		s.addRefusal(why)
		return s
	}
	s.Substrate, s.Why = ad.place.pickSubstrate(t)
	b, no := ad.findObstacles(t)
	s.Contract = b.Role
	for _, err := range no {
		s.addRefusal(err)
	}
	s.Run = s.Reason == ""
	return s
}

func (s *Step) addRefusal(err error) {
	var p Plan
	if !p.addStop(err) || len(p.Stops) == 0 {
		return
	}
	s.Refusals = append(s.Refusals, p.Stops...)
	s.Reason = strings.TrimPrefix(s.Reason+"; "+p.Stops[0].Text, "; ")
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
	return b.Contract, asError(no)
}

// bindUnderLease binds the persona and adds what the slow loop has against the session.
func (ad admission) bindUnderLease(t board.Task) (bound, contract.Refusals) {
	b, no := ad.terms.bindPersona(t)
	return b, append(no, ad.now.leaseRefusals(t, b)...)
}

// openInvocation is a drain that writes nothing, and what an invocation asks of it.
func openInvocation(ctx context.Context, r *repo.Repo, o Options, inv Invocation) (*drain, board.Task, error) {
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

// BriefFor is the brief that an invocation would begin with now, and who would get it. It
// writes nothing. The error is that of Resolve where there could be no such session.
func BriefFor(ctx context.Context, r *repo.Repo, o Options, inv Invocation) (invoke.Brief, []Receiver, error) {
	d, t, err := openInvocation(ctx, r, o, inv)
	if err != nil {
		return invoke.Brief{}, nil, err
	}
	b, no := d.admission().bindUnderLease(t)
	if len(no) > 0 {
		return invoke.Brief{}, nil, no
	}
	if t.Path != "" {
		t.Attempts++
	}
	now := d.authority()
	under, err := now.checkStanding()
	if err != nil {
		return invoke.Brief{}, nil, err
	}
	c := &claim{task: t, sessions: max(inv.Sessions, 1), reserved: now.reservation(t), until: now.until(d.at.cfg.TaskLease, under), repo: d.repo}
	if c.base, err = d.base(); err != nil {
		return invoke.Brief{}, nil, err
	}
	_, in, err := newAttempt(ctx, d, c, func(board.Task) (bound, contract.Refusals) { return b, nil })
	if err != nil {
		return invoke.Brief{}, nil, errors.New(lastSession{}.asBlocked("%v", err).reason)
	}
	return in.brief, d.at.listReceivers(t, b.Contract.Servers), nil
}

// leaseRefusals lists what the slow loop has against a session, beside its contract.
func (a authority) leaseRefusals(t board.Task, b bound) contract.Refusals {
	if t.Path == "" {
		t.Kind = kindOf(b.Role)
	}
	var out contract.Refusals
	_, err := a.checkStanding()
	for _, err := range append([]error{err}, a.checkCharter(t)...) {
		var no *refusal.Refusal
		if errors.As(err, &no) {
			out = append(out, contract.Refusal{Code: no.Code, Message: no.Text})
		}
	}
	return out
}

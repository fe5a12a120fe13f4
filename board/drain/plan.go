package drain

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
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
	d, err := open(ctx, r, o)
	if !p.stop(err) {
		return p, err
	}
	opened := d != nil
	if !opened {
		if d, err = peek(ctx, r, o); !p.stop(err) {
			return p, err
		}
	}
	if d == nil {
		return p, nil
	}
	if err := d.start(ctx, &p, opened); err != nil {
		return p, err
	}
	if unlock, err := r.LockDrain(); err == nil {
		_ = unlock()
	} else {
		p.stop(busy("locked", "another odd drain runs in this clone: %v; try again when it has ended", err))
	}
	if err := d.stops(&p); err != nil {
		return p, err
	}
	if d.Task != "" {
		if _, err := d.at.task(d.Task); err != nil {
			return p, err
		}
	}
	left := d.limit()
	for t := range d.at.order() {
		s := d.step(t)
		if s.Run {
			s.deny(d.whyHeld(ctx, t))
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

// start adds what keeps a drain from its first task: of one that opened, all
// that it looks at then; of a board as committed, a pause and the clock.
func (d *drain) start(ctx context.Context, p *Plan, opened bool) error {
	if !opened {
		p.stop(d.refuseWhilePaused())
		p.stop(d.clock(ctx))
		return nil
	}
	if err := d.refresh(ctx); !p.stop(err) {
		return err
	}
	if _, err := d.base(); !p.stop(err) {
		return err
	}
	return nil
}

// stops adds what the slow loop and the month's money have against any drain.
func (d *drain) stops(p *Plan) error {
	s, err := d.slow(d.at)
	if !p.stop(err) || err != nil {
		return err
	}
	if d.requiresLease() {
		p.stop(invalid(s.Verdict("")))
		p.stop(refuseInEmergency(s.Facts.OpenEmergency))
		if !p.has("lease-head-not-committed") {
			p.stop(refuseUncommitted(d.uncommitted))
		}
	} else {
		p.stop(refuseInEmergency(s.Facts.OpenEmergency))
	}
	spent, err := d.spentThisMonth()
	if err == nil && budget.Decide(d.at.cfg.Budget, spent, 0) == budget.Stop {
		err = refuse("budget", "$%s is spent or reserved this month, more than the limit of $%s; raise [budget] monthly_usd in odd.toml, or wait for next month", spent, d.at.cfg.Budget.Stop())
	}
	if !p.stop(err) {
		return err
	}
	return nil
}

// stop notes a refusal and goes on; a fault ends the explanation.
func (p *Plan) stop(err error) bool {
	var no *Refusal
	var wait *Busy
	switch {
	case err == nil:
	case errors.As(err, &no):
		p.note(Stop{no.Code, no.Text})
	case errors.As(err, &wait):
		p.note(Stop{wait.Code, wait.Text})
	default:
		return false
	}
	return true
}

func (p *Plan) note(s Stop) {
	if !slices.Contains(p.Stops, s) {
		p.Stops = append(p.Stops, s)
	}
}

// has reports a stop of that code.
func (p *Plan) has(code string) bool {
	return slices.ContainsFunc(p.Stops, func(s Stop) bool { return s.Code == code })
}

// peek is the board as committed, for explaining what open refused.
func peek(ctx context.Context, r *repo.Repo, o Options) (*drain, error) {
	tip, err := r.Ref(o.Branch)
	if err != nil {
		return nil, nil // open has told why
	}
	d, err := peekAt(ctx, r, o, tip)
	if err != nil {
		return nil, err
	}
	dirty, err := r.Dirty(ctx, d.at.file("governance"))
	d.uncommitted = len(dirty) > 0
	return d, err
}

// peekAt is the board at tip, whatever keeps a drain from it.
func peekAt(ctx context.Context, r *repo.Repo, o Options, tip repo.OID) (d *drain, err error) {
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	d = &drain{Options: o, repo: r, started: o.Now().UTC()}
	if d.at, err = look(r, tip, nil); err != nil {
		return nil, err
	}
	d.line = &repo.Line{Repo: r, Ref: o.Branch, Remote: d.at.cfg.Remote, Note: d.note}
	return d, nil
}

// step decides about one task, persona floor included.
func (d *drain) step(t board.Task) Step {
	s := Step{Task: t.ID, State: t.State, Role: t.Role, Reserved: d.reserve(t)}
	if d.Task != "" {
		if want, err := d.at.task(d.Task); err != nil || want.ID != t.ID {
			s.Reason = "not named by --task"
			return s
		}
	}
	if why := d.ineligible(t); why != nil {
		s.deny(why)
		return s
	}
	s.Substrate, s.Why = d.pickSubstrate(t)
	b, no := d.obstacles(t)
	s.Contract = b.Role
	for _, err := range no {
		s.deny(err)
	}
	s.Run = s.Reason == ""
	return s
}

// deny adds one reason against a task; nil adds none.
func (s *Step) deny(err error) {
	var p Plan
	if !p.stop(err) || len(p.Stops) == 0 {
		return
	}
	s.Refusals = append(s.Refusals, p.Stops...)
	s.Reason = strings.TrimPrefix(s.Reason+"; "+p.Stops[0].Text, "; ")
}

package drain

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/overview"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// addProposals adds gate proposals to the draft until the run's limit, and returns those it
// added.
func (p *draft) addProposals(b gate.Buffer, ps []gate.Proposal) []gate.Proposal {
	name := p.run.proposalsPath()
	file, done, err := b.AppendAll(p.own[name], ps, max(gate.MaxPerDrain-bytes.Count(p.own[name], []byte("\n")), 0))
	p.failIn(name, err)
	if len(done) > 0 {
		p.own[name] = file
	}
	return done
}

// proposeDecay commits the gate proposals of decay. It runs before the lease is checked: they are all that
// a drain without a valid lease commits.
func (d *drain) proposeDecay(ctx context.Context) error {
	p, done, err := d.recorder().planDecay()
	if err != nil || p.isEmpty(d.at.cfg.Root) {
		return err
	}
	if err := d.land(ctx, p); err != nil {
		return err
	}
	for _, p := range done {
		d.addNote(fmt.Sprintf("asks for the gate %s (%s): %s", p.Gate, p.Severity, p.Reason))
	}
	return nil
}

// planDecay plans the commit of what decay proposes now, nothing where no lease is required.
func (rec recorder) planDecay() (p *draft, done []gate.Proposal, err error) {
	p = rec.newDraft()
	if !rec.at.requiresLease() {
		return p, nil, nil
	}
	s, err := rec.authority().readGovernance()
	if err != nil {
		return nil, nil, err
	}
	inARow := Refusals(rec.repo)
	if !s.Verdict("").Valid {
		inARow++ // this drain
	}
	ps, err := rec.at.readMemory(s).Decay(inARow)
	if err != nil {
		return nil, nil, err
	}
	done = p.addProposals(s.Buffer, ps)
	var body string
	for _, p := range done {
		body += fmt.Sprintf("%s %s: %s\n", p.Severity, p.Gate, p.Reason)
	}
	p.message = rec.log.message(fmt.Sprintf("board: propose %d", len(done)), body, traced{lease: rec.leaseID})
	return p, done, nil
}

// addAppeals adds to a result the gate proposals of its sessions, always with an agent as
// their source.
func (rec recorder) addAppeals(p *draft, c *claim, list ...work) {
	var ps []gate.Proposal
	for _, w := range list {
		for _, asked := range w.emission.Proposals {
			ps = append(ps, rec.byAgent(c, asked))
		}
	}
	if len(ps) == 0 {
		return
	}
	s, err := rec.authority().readGovernance()
	if err != nil {
		rec.addNote(err.Error()) // and no drain starts until it is mended
		return
	}
	done := p.addProposals(s.Buffer, ps)
	if n := len(ps) - len(done); n > 0 {
		rec.say(fmt.Sprintf("%s: %d of %d requests for a decision are left out, because they are open already or more than %d per run", c.task.ID, n, len(ps), gate.MaxPerDrain))
	}
}

func (rec recorder) byAgent(c *claim, p session.Proposal) gate.Proposal {
	reason := string(secrets.Redact([]byte(p.Reason)))
	out := gate.Proposal{TS: rec.log.now(), Source: gate.TaskAgent, Severity: gate.Severity(p.Severity), Gate: gate.Gate(p.Gate),
		Reason: reason, Lease: c.leaseID, Run: rec.log.id}
	if !isOffBoard(c.task) {
		out.Task = string(c.task.ID)
	}
	sum := sha256.Sum256([]byte(reason))
	out.Key = fmt.Sprintf("agent:%s:%s:%s:%s", out.Task, p.Severity, p.Gate, hex.EncodeToString(sum[:6]))
	return out
}

// findEmergency returns the reason of the first emergency that the session proposed, "" for
// none.
func (s lastSession) findEmergency() string {
	for _, p := range s.emission.Proposals {
		if p.Severity == string(gate.EmergencySeverity) {
			return p.Reason
		}
	}
	return ""
}

// readMemory returns what decay and briefs need to know of the past.
func (s *snapshot) readMemory(loop overview.SlowLoop) *overview.Memory {
	return &overview.Memory{Slow: loop, State: s.state, Root: s.cfg.Root, Bundle: s.bundle, Files: s.files, Graph: s.graph, Tasks: s.tasks(), Leases: s.requiresLease(), LandsAlone: s.cfg.Pipeline.LandsAlone}
}

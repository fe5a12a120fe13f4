package drain

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"

	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// proposalsFile is where this run proposes, below the bundle.
func (d *drain) proposalsFile() string { return "proposals/" + d.Run + ".jsonl" }

// addProposals appends proposals to the run's, as far as there is room, and returns those it
// appended.
func (p *draft) addProposals(b gate.Buffer, ps []gate.Proposal) ([]gate.Proposal, error) {
	name := p.d.proposalsFile()
	file, done, err := b.AppendAll(p.own[name], ps, p.d.room(p.own[name]))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.d.at.file(name), err)
	}
	if len(done) > 0 {
		p.own[name] = file
	}
	return done, nil
}

// room is how many proposals this run may still append.
func (d *drain) room(file []byte) int {
	return max(gate.MaxPerDrain-bytes.Count(file, []byte("\n")), 0)
}

// decay appends what decay proposes, in a commit of its own, also where the
// drain is then refused. It is the one thing a refused drain writes.
func (d *drain) decay(ctx context.Context) error {
	if !d.requiresLease() {
		return nil
	}
	s, err := d.slow(d.at)
	if err != nil {
		return err
	}
	ps, err := d.memory(s).Decay(d.refusals(s))
	if err != nil {
		return err
	}
	p := d.newDraft()
	done, err := p.addProposals(s.Buffer, ps)
	if err != nil || len(done) == 0 {
		return err
	}
	var body string
	for _, p := range done {
		body += fmt.Sprintf("%s %s: %s\n", p.Severity, p.Gate, p.Reason)
	}
	p.message = d.boardMessage(fmt.Sprintf("board: propose %d", len(done)), body)
	if err := d.land(ctx, p); err != nil {
		return err
	}
	for _, p := range done {
		d.note(fmt.Sprintf("asks for the gate %s (%s): %s", p.Gate, p.Severity, p.Reason))
	}
	return nil
}

// appeal adds to a result what its sessions propose. Whatever they say of
// themselves, the source is an agent.
func (d *drain) appeal(p *draft, c *claim, list ...*work) error {
	var ps []gate.Proposal
	for _, w := range list {
		for _, asked := range w.emission.Proposals {
			ps = append(ps, d.byAgent(c, asked))
		}
	}
	if len(ps) == 0 {
		return nil
	}
	s, err := d.slow(d.at)
	if err != nil {
		d.note(err.Error()) // and no drain starts until it is mended
		return nil
	}
	done, err := p.addProposals(s.Buffer, ps)
	if err != nil {
		return err
	}
	if n := len(ps) - len(done); n > 0 {
		d.Progress(fmt.Sprintf("%s: %d of %d requests for a decision are left out, because they are open already or more than %d per run", c.task.ID, n, len(ps), gate.MaxPerDrain))
	}
	return nil
}

func (d *drain) byAgent(c *claim, p session.Proposal) gate.Proposal {
	reason := string(secrets.Redact([]byte(p.Reason)))
	out := gate.Proposal{TS: d.Now(), Source: gate.TaskAgent, Severity: gate.Severity(p.Severity), Gate: gate.Gate(p.Gate),
		Reason: reason, Lease: c.under, Run: d.Run}
	if c.task.Path != "" {
		out.Task = string(c.task.ID)
	}
	sum := sha256.Sum256([]byte(reason))
	out.Key = fmt.Sprintf("agent:%s:%s:%s:%s", out.Task, p.Severity, p.Gate, hex.EncodeToString(sum[:6]))
	return out
}

// alarm is the first emergency that the session of w proposes, "" for none.
func (w *work) alarm() string {
	for _, p := range w.emission.Proposals {
		if p.Severity == string(gate.EmergencySeverity) {
			return p.Reason
		}
	}
	return ""
}

// heedEmergency ends the work of a session that proposed an emergency, and with it the drain.
func (d *drain) heedEmergency(c *claim, w *work) {
	if w.tampered {
		d.stop = refuse("tampered-repository", "%s: %s", or(string(c.task.ID), "odd agent run"), c.died)
	}
	why := w.alarm()
	if why == "" {
		return
	}
	w.void("emergency: " + why)
	d.stop = refuse("lease-emergency-open", "%s: its session reported an emergency: %s; a person runs odd gate emergency, or odd gate proposals reject", c.task.ID, why)
}

// void takes back all that w came to: nothing of it lands.
func (w *work) void(why string) {
	w.block("%s", why)
	w.items, w.handed = nil, nil
}

// tally names the count of this clone's drains in a row that were refused under
// leases. A refused drain commits nothing about itself, so it is counted here.
const tally = "refused-drains"

// countRefusal counts err where it is a refusal, and begins the count again where it
// is nil. It returns err.
func (d *drain) countRefusal(err error) error {
	var no *Refusal
	switch {
	case !d.requiresLease():
	case err == nil:
		_ = d.repo.SetTally(tally, 0)
	case errors.As(err, &no):
		_ = d.repo.SetTally(tally, d.repo.Tally(tally)+1)
	}
	return err
}

// Refusals is how many of this clone's drains in a row a lease has refused.
func Refusals(r *repo.Repo) int { return r.Tally(tally) }

// ForgetRefusals begins that count again: a person passed a gate.
func ForgetRefusals(r *repo.Repo) { _ = r.SetTally(tally, 0) }

// refusals are this clone's drains in a row that were refused, this one among
// them where the lease s refuses it.
func (d *drain) refusals(s SlowLoop) int {
	n := Refusals(d.repo)
	if !s.Verdict("").Valid {
		n++
	}
	return n
}

// memory is the board as it is remembered, for decay and for briefs.
func (d *drain) memory(s SlowLoop) *Memory {
	bundle, err := fs.Sub(d.at.files, d.at.cfg.Root)
	if err != nil {
		panic("unreachable: " + err.Error()) // the root was read from it
	}
	return &Memory{Slow: s, State: d.at.state, Root: d.at.cfg.Root, Bundle: bundle, Files: d.at.files, Graph: d.at.graph, Tasks: d.at.tasks, Leases: d.requiresLease()}
}

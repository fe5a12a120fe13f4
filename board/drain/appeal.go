package drain

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// addProposals adds gate proposals to the draft until the run's limit, and returns those it
// added.
func (p *draft) addProposals(b gate.Buffer, ps []gate.Proposal) ([]gate.Proposal, error) {
	name := p.run.proposalsPath()
	file, done, err := b.AppendAll(p.own[name], ps, max(gate.MaxPerDrain-bytes.Count(p.own[name], []byte("\n")), 0))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(done) > 0 {
		p.own[name] = file
	}
	return done, nil
}

// proposeDecay commits what decay proposes. It runs before the lease is checked, so that a
// refused drain writes this and nothing else.
func (d *drain) proposeDecay(ctx context.Context) error {
	p, done, err := d.recorder().planDecay()
	if err != nil || len(done) == 0 {
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
	if !rec.at.requiresLease() {
		return nil, nil, nil
	}
	s, err := rec.authority().slowLoop()
	if err != nil {
		return nil, nil, err
	}
	ps, err := rec.at.readMemory(s).Decay(rec.refusalsInARow(s))
	if err != nil {
		return nil, nil, err
	}
	p = rec.newDraft()
	if done, err = p.addProposals(s.Buffer, ps); err != nil {
		return nil, nil, err
	}
	var body string
	for _, p := range done {
		body += fmt.Sprintf("%s %s: %s\n", p.Severity, p.Gate, p.Reason)
	}
	p.message = rec.boardMessage(fmt.Sprintf("board: propose %d", len(done)), body)
	return p, done, nil
}

// addAppeals adds to a result the gate proposals of its sessions, always with an agent as
// their source.
func (rec recorder) addAppeals(p *draft, c *claim, list ...*work) error {
	var ps []gate.Proposal
	for _, w := range list {
		for _, asked := range w.emission.Proposals {
			ps = append(ps, rec.byAgent(c, asked))
		}
	}
	if len(ps) == 0 {
		return nil
	}
	s, err := rec.authority().slowLoop()
	if err != nil {
		rec.addNote(err.Error()) // and no drain starts until it is mended
		return nil
	}
	done, err := p.addProposals(s.Buffer, ps)
	if err != nil {
		return err
	}
	if n := len(ps) - len(done); n > 0 {
		rec.say(fmt.Sprintf("%s: %d of %d requests for a decision are left out, because they are open already or more than %d per run", c.task.ID, n, len(ps), gate.MaxPerDrain))
	}
	return nil
}

func (rec recorder) byAgent(c *claim, p session.Proposal) gate.Proposal {
	reason := string(secrets.Redact([]byte(p.Reason)))
	out := gate.Proposal{TS: rec.log.now(), Source: gate.TaskAgent, Severity: gate.Severity(p.Severity), Gate: gate.Gate(p.Gate),
		Reason: reason, Lease: c.leaseID, Run: rec.log.id}
	if c.task.Path != "" {
		out.Task = string(c.task.ID)
	}
	sum := sha256.Sum256([]byte(reason))
	out.Key = fmt.Sprintf("agent:%s:%s:%s:%s", out.Task, p.Severity, p.Gate, hex.EncodeToString(sum[:6]))
	return out
}

// findEmergency returns the reason of the first emergency that the session proposed, "" for
// none.
func (w *work) findEmergency() string {
	for _, p := range w.emission.Proposals {
		if p.Severity == string(gate.EmergencySeverity) {
			return p.Reason
		}
	}
	return ""
}

// readMemory returns what decay and briefs need to know of the past.
func (s *snapshot) readMemory(loop SlowLoop) *Memory {
	bundle, err := fs.Sub(s.files, s.cfg.Root)
	if err != nil {
		panic("unreachable: " + err.Error()) // the root was read from it
	}
	return &Memory{Slow: loop, State: s.state, Root: s.cfg.Root, Bundle: bundle, Files: s.files, Graph: s.graph, Tasks: s.tasks(), Leases: s.requiresLease(), LandsAlone: s.cfg.Pipeline.LandsAlone}
}

// SlowLoop is what people decide at gates, and so seldom, as one commit of the board has it: the commitment
// lease, the working phase, the decisions and what asks for a gate. Facts are what the lease is judged by.
type SlowLoop struct {
	gate.Slow
	File    gate.File
	Facts   gate.Facts
	Drained int // tasks claimed since the last emergency, under whatever lease; 0 where there was none
}

// LookSlow reads the slow loop of a bundle, whose ledger is that of st. committed says that the work tree
// has no other governance files than the bundle; tasks are the bundle's. A lease
// or a chain that cannot be read stands in the facts and refuses there; a ledger
// or proposals that cannot be read are an error, because what was used and what
// is open cannot be known then.
func LookSlow(bundle fs.FS, st *state.State, tasks func() []*board.Row, committed bool, now time.Time) (SlowLoop, error) {
	g, err := state.ReadGovernance(bundle)
	s := SlowLoop{Slow: g.Slow, File: g.Lease}
	if err != nil {
		return s, err
	}
	if s.Buffer, err = state.ReadProposals(bundle); err != nil {
		return s, err
	}
	s.Facts = gate.Facts{
		Now: now, Present: g.HasLease, Unreadable: g.Faults[gate.LeasePath], Committed: committed,
		Chain: g.Chain, ChainErr: g.Faults[gate.GatesPath], Sum: g.LeaseSum, Done: doneBy(tasks),
	}
	s.Facts.OpenEmergency, s.Facts.Buffer = s.Buffer.Emergency(), s.Buffer
	return s, s.countUse(st)
}

// doneBy tells whether a task is done by any of the names a lease may give it. It asks for the
// tasks when a lease names one.
func doneBy(tasks func() []*board.Row) func(string) bool {
	names := sync.OnceValue(func() map[string]bool {
		done := map[string]bool{}
		for _, t := range tasks() {
			if t.State == board.Done {
				done[string(t.ID)], done[t.Path], done[board.Slug(t.ID)] = true, true, true
			}
		}
		return done
	})
	return func(name string) bool { return names()[name] }
}

// countUse fills in what the ledger says was used: since the lease began to count,
// and since the last emergency.
func (s *SlowLoop) countUse(st *state.State) error {
	began, emergency := s.findMarks()
	u, err := st.Used(s.File.Lease.ID, began, emergency)
	s.Facts.UsedTasks, s.Facts.Spent, s.Drained = u.Tasks, u.Spent, u.After
	return err
}

// findMarks are when the lease began to count, by its last row that drafts,
// activates or renews it, and when the last emergency was; zero where neither was.
func (s *SlowLoop) findMarks() (began, emergency time.Time) {
	for _, r := range s.Facts.Chain.Rows {
		if r.Gate == gate.Emergency {
			emergency = r.TS
		}
		if r.Lease == s.File.Lease.ID && slices.Contains([]string{"draft", "activate", "renew"}, r.Act) {
			began = r.TS
		}
	}
	return began, emergency
}

// Verdict judges the lease for a task kind, "" for none in particular.
func (s SlowLoop) Verdict(kind string) gate.Verdict { return s.File.Valid(kind, s.Facts) }

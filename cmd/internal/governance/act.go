package governance

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/overview"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// runGate shows the person what the act would write, asks for its id on the
// terminal and commits it. Everything is judged before anything is asked.
func runGate(ctx context.Context, env console.Env, o gateOptions) error {
	v, err := land.OpenToDecide(ctx, env, o.actName())
	if err != nil {
		return err
	}
	p, err := planGate(ctx, v, o)
	if err != nil {
		return err
	}
	if err := p.checkReady(ctx); err != nil {
		return err
	}
	h, err := land.Confirm(ctx, v.Clone, p.pendingLines(ctx)+p.confirmPage(), o.actName()+", "+p.out.Row.Act, cmp.Or(p.out.Row.Lease, string(o.act.Gate)), o.yes)
	if err != nil {
		return err
	}
	oid, err := p.commitAct(ctx, h)
	for try := 0; err != nil && p.canRetry(err) && try < land.Tries; try++ {
		env.Sleep(land.Wait)
		if p, err = replanGate(ctx, v.Clone, o, p.out.Row); err != nil {
			return err
		}
		oid, err = p.commitAct(ctx, h)
	}
	if err != nil {
		return err
	}
	drain.ForgetRefusals(v.Repo)
	return p.tellDone(env, oid)
}

// canRetry reports an emergency that lost the board to the drain it is to stop:
// what was confirmed still holds. Any other act is looked at anew by its person.
func (p *plan) canRetry(err error) bool {
	code, reason := verb.Status(err)
	return p.isEmergency() && (reason == "moved" || code == verb.ExitBusy)
}

// replanGate judges the emergency again on the board as it is now. Where another
// gate was passed meanwhile it is no longer the act that was confirmed.
func replanGate(ctx context.Context, w *workspace.Clone, o gateOptions, confirmed gate.Row) (*plan, error) {
	v, err := w.ReadBoard(ctx, true)
	if err != nil {
		return nil, err
	}
	p, err := planGate(ctx, v, o)
	if err != nil {
		return nil, err
	}
	if r := p.out.Row; r.ID != confirmed.ID || r.Lease != confirmed.Lease {
		return nil, verb.Refuse("moved", "somebody passed another gate meanwhile; nothing was done, run the command again")
	}
	return p, nil
}

// plan is a gate act judged and not yet done.
type plan struct {
	*workspace.Board
	o       gateOptions
	slow    overview.SlowLoop
	out     gate.Outcome
	changes repo.Changes // all but what takes the person's confirmation to make
	also    []gate.Change
	halts   []string // tasks that an emergency blocks
	taken   []string // files taken from the work tree as they are there
}

func planGate(ctx context.Context, v *workspace.Board, o gateOptions) (*plan, error) {
	p := &plan{Board: v, o: o, changes: repo.Changes{}}
	var err error
	if p.slow, err = SlowLoopOf(v, nil); err != nil {
		return nil, err
	}
	if err := p.completeAct(ctx); err != nil {
		return nil, err
	}
	if p.out, err = gate.Do(p.slow.Slow, p.o.act); err != nil {
		return nil, err
	}
	for name, b := range p.out.Files {
		p.changes[v.RepoPath(name)] = b
	}
	for _, also := range []func(context.Context) error{p.switchLeases, p.addPrinciples, p.stopBoard, p.disposeProposals} {
		if err := also(ctx); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// actTime returns the present time for a record: UTC, to the second.
func actTime(w *workspace.Clone) time.Time {
	now := w.Env.Now().UTC().Truncate(time.Second)
	land.NoteDecided(w, now)
	return now
}

func (p *plan) completeAct(ctx context.Context) error {
	who, err := p.Repo.Identity(ctx)
	if err != nil {
		return err
	}
	a := &p.o.act
	a.By, a.Now, a.Drained = "human:"+who.Email, actTime(p.Board.Clone), p.slow.Drained
	if a.Kind == "" {
		a.Kind = p.defaultKind()
	}
	if a.To == "" {
		a.To = p.defaultStance()
	}
	if a.Locks, err = p.readLocks(); err != nil {
		return err
	}
	if a.Findings, err = p.findAcknowledged(ctx); err != nil {
		return err
	}
	switch {
	case p.o.file != nil:
		a.Lease = &p.o.file.Lease
	case a.Kind == "draft" && !isAlive(p.leaseState()): // one that is alive is drafted again as it is
		l := p.slow.Draft(p.AllTasks(), p.Config.Root, actTime(p.Board.Clone)).Lease
		a.Lease = &l
	}
	if a.Reason == "" && a.Decision != nil {
		a.Reason = a.Decision.Decision
	}
	return nil
}

// defaultKind returns the act a gate means when the person names none.
func (p *plan) defaultKind() string {
	state, stance := p.leaseState(), p.slow.Facts.Chain.Stance()
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

// defaultStance returns the stance an evaluation leads out of itself to: back to work where the
// lease goes on, else to asking what is next. Everywhere else the gate's own
// default holds, save that a draft says what stance it is for.
func (p *plan) defaultStance() gate.Stance {
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

func (p *plan) leaseState() gate.State {
	if p.slow.LeaseFile == nil || p.slow.Facts.Unreadable != nil {
		return gate.None
	}
	return p.slow.File.Lease.State
}

// confirmPage returns what the person reads before they confirm: the act, the proposals it
// answers, every field it changes, and last what a renewal asks of them.
func (p *plan) confirmPage() string {
	b := &strings.Builder{}
	r := p.out.Row
	fmt.Fprintf(b, "%s: %s gate, %s", r.ID, r.Gate, strings.TrimSpace(r.Act+" "+r.Lease))
	if r.Act == gate.Acknowledge {
		b.WriteString("\n") // it is about a finding, not about the work
	} else if r.From == r.To {
		fmt.Fprintf(b, "; the stance stays %s\n", r.To)
	} else {
		fmt.Fprintf(b, "; the stance goes from %s to %s\n", r.From, r.To)
	}
	fmt.Fprintf(b, "reason: %s\n", r.Reason)
	for _, id := range r.Proposals {
		if why, ok := p.slow.Buffer.ByID(id); ok {
			fmt.Fprintf(b, "because: %s (%s, %s) %s\n", id, why.Severity, why.Source, why.Reason)
		}
	}
	changes := p.changedFields()
	if d := p.o.act.Decision; d != nil {
		changes = append(changes, gate.Change{Field: "decision", After: d.Decision})
	}
	wide := 0
	for _, c := range changes {
		wide = max(wide, len([]rune(c.Field)))
	}
	if r.Gate == gate.EvaluationGate && r.Act != gate.Acknowledge {
		b.WriteString(p.shortfallLines())
		for _, line := range board.DirectionOf(p.Graph, p.TaskRows()).Lines() {
			fmt.Fprintf(b, "goal: %s\n", line)
		}
	}
	for _, c := range changes {
		fmt.Fprintf(b, "  %-*s  %s → %s\n", wide, c.Field, cmp.Or(c.Before, "none"), cmp.Or(c.After, "none"))
	}
	if p.out.Asks != "" {
		l := p.out.Lease.Lease
		fmt.Fprintf(b, "You activate %s, until %s: %s\n", l.ID, l.ExpiresAt.UTC().Format(time.RFC3339), l.Frame)
		for _, s := range l.Success {
			fmt.Fprintf(b, "  success: %s\n", s)
		}
		for _, s := range l.NonGoals {
			fmt.Fprintf(b, "  not: %s\n", s)
		}
		fmt.Fprintf(b, "Before you confirm: %s\n", p.out.Asks)
	}
	return okf.Visible(b.String())
}

// shortfallLines returns the transitions at which handoffs could not be worked from more than
// once, a line each: what is missing there again and again is a person's to look at.
func (p *plan) shortfallLines() string {
	all, err := drain.FellShort(p.Files, p.Config.Root)
	if err != nil {
		return fmt.Sprintf("insufficient handoffs: not known: %v\n", err)
	}
	count := map[string]int{}
	for _, s := range all {
		count[fmt.Sprintf("%s to %s", s.From, s.To)]++
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(count)) {
		if n := count[name]; n > 1 {
			fmt.Fprintf(&b, "insufficient handoffs from %s: %d so far\n", name, n)
		}
	}
	return b.String()
}

// mostPending is how many requests a gate shows: more are a list of their own.
const mostPending = 10

// pendingLines returns what waits for a person beside the act, which every gate shows first:
// the open requests that it does not answer, and what odd gate decay would add to them. An
// emergency waits for none, and whoever acknowledges a finding looks at no work. An evaluation also shows what was perceived, and the principles that
// are candidates.
func (p *plan) pendingLines(ctx context.Context) string {
	if p.out.Row.Act == gate.Acknowledge {
		return ""
	}
	var lines []string
	about := func(r gate.Proposal) string {
		sure := ""
		if r.Confidence != "" {
			sure = ", " + r.Confidence + " confidence"
		}
		return fmt.Sprintf("(%s, for the gate %s%s) %s", r.Severity, r.Gate, sure, r.Reason)
	}
	for _, open := range p.slow.Buffer.Open() {
		ended := slices.ContainsFunc(p.also, func(c gate.Change) bool { return c.Field == "proposal "+open.ID })
		if !ended && !slices.Contains(p.out.Row.Proposals, open.ID) {
			lines = append(lines, "open: "+open.ID+" "+about(open))
		}
	}
	if !p.isEmergency() {
		m, ps, err := findOverdue(ctx, p.Board)
		if err == nil {
			_, ps, err = m.Slow.Buffer.AppendAll(nil, ps, gate.MaxPerDrain)
		}
		if err != nil {
			lines = append(lines, fmt.Sprintf("overdue: not known: %v", err))
		}
		for _, due := range ps {
			lines = append(lines, "overdue: "+about(due))
		}
		if err == nil && p.out.Row.Gate == gate.EvaluationGate {
			lines = append(lines, p.listPerceived(m)...)
		}
	}
	if n := len(lines) - mostPending; n > 0 {
		lines = append(lines[:mostPending], fmt.Sprintf("and %d more; odd gate proposals list shows what is open", n))
	}
	return okf.Visible(strings.Join(append(lines, ""), "\n"))
}

// listPerceived returns what was counted lately, and the principles that are candidates.
func (p *plan) listPerceived(m *overview.Memory) (lines []string) {
	if s, err := m.Signs(0); err == nil && len(s.Report()) > 0 {
		line := "last 14 days: " + gate.ReportLine(s.Report())
		if t := s.Trajectory(); t != "" {
			line += "; the work is " + t
		}
		lines = append(lines, line)
	}
	for _, a := range p.Graph.OfType(func(typ string) bool { return strings.EqualFold(typ, "principle") }) {
		if file := p.RepoPath(a.Path); strings.EqualFold(a.Status, "draft") && !slices.Contains(p.taken, file) {
			lines = append(lines, fmt.Sprintf("candidate: %s; --principles %s makes it a principle", cmp.Or(a.Title, string(a.ID)), file))
		}
	}
	return lines
}

func (p *plan) tellDone(env console.Env, oid repo.OID) error {
	r, l := p.out.Row, p.out.Lease.Lease
	if next := p.describeNext(); next != "" {
		console.Talk(env, "%s", next)
	}
	out := map[string]any{"act": r, "commit": string(oid), "changes": console.OrEmpty(p.changedFields())}
	if l.ID != "" {
		out["lease"] = map[string]any{"id": l.ID, "state": l.State, "expires_at": l.ExpiresAt}
	}
	return console.Show(env, p.o.json, out, []string{r.ID, string(r.Gate), r.Act, cmp.Or(r.Lease, "-"), string(l.State), string(r.To), console.ShortID(oid)})
}

// changedFields returns what the act changes, of the lease and beside it.
func (p *plan) changedFields() []gate.Change { return slices.Concat(p.out.Diff, p.also) }

// describeNext returns where the act leaves a person.
func (p *plan) describeNext() string {
	switch l := p.out.Lease.Lease; {
	case p.out.Row.Act == gate.Acknowledge:
		return ""
	case p.out.Row.Gate == gate.Emergency:
		return "all work is stopped. To go on: odd gate framing, odd gate commitment, then odd drain resume"
	case p.o.leasesOff:
		return "leases are off: tasks run without one until the next odd gate commitment"
	case l.State == gate.Draft:
		return "next: odd gate lease edit changes the draft; odd gate commitment activates it"
	case l.State == gate.Active && p.out.Row.To == gate.Execution:
		return "next: odd drain runs the ready tasks; odd gate lease show tells how much of the lease is left"
	case !isAlive(l.State):
		return "next: odd gate framing drafts the next lease"
	}
	return ""
}

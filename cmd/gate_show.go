package cmd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// page is what the person reads before they confirm: the act, the proposals it
// answers, every field it changes, and last what a renewal asks of them.
func (p *plan) page() string {
	b := &strings.Builder{}
	r := p.out.Row
	fmt.Fprintf(b, "%s: %s gate, %s", r.ID, r.Gate, strings.TrimSpace(r.Act+" "+r.Lease))
	if r.From == r.To {
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
	changes := append(append([]gate.Change{}, p.out.Diff...), p.also...)
	if d := p.o.act.Decision; d != nil {
		changes = append(changes, gate.Change{Field: "decision", After: d.Decision})
	}
	wide := 0
	for _, c := range changes {
		wide = max(wide, len([]rune(c.Field)))
	}
	if r.Gate == gate.EvaluationGate {
		b.WriteString(p.shortfalls())
	}
	for _, c := range changes {
		fmt.Fprintf(b, "  %-*s  %s → %s\n", wide, c.Field, or(c.Before, "none"), or(c.After, "none"))
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

// shortfalls are the transitions at which handoffs could not be worked from more than
// once, a line each: what is missing there again and again is a person's to look at.
func (p *plan) shortfalls() string {
	all, err := drain.FellShort(p.files, p.cfg.Root)
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

// pending is what waits for a person beside the act: the open requests that it does
// not answer, and what odd gate decay would add to them. An emergency waits for none.
func (p *plan) pending(ctx context.Context) string {
	var lines []string
	for _, open := range p.slow.Buffer.Open() {
		ended := slices.ContainsFunc(p.also, func(c gate.Change) bool { return c.Field == "proposal "+open.ID })
		if !ended && !slices.Contains(p.out.Row.Proposals, open.ID) {
			lines = append(lines, fmt.Sprintf("open: %s (%s, for the gate %s) %s", open.ID, open.Severity, open.Gate, open.Reason))
		}
	}
	if !p.emergency() {
		m, ps, err := p.overdue(ctx)
		if err == nil {
			_, ps, err = m.Slow.Buffer.AppendAll(nil, ps, gate.MaxPerDrain)
		}
		if err != nil {
			lines = append(lines, fmt.Sprintf("overdue: not known: %v", err))
		}
		for _, due := range ps {
			lines = append(lines, fmt.Sprintf("overdue: (%s, for the gate %s) %s", due.Severity, due.Gate, due.Reason))
		}
	}
	if n := len(lines) - mostPending; n > 0 {
		lines = append(lines[:mostPending], fmt.Sprintf("and %d more; odd gate proposals list shows what is open", n))
	}
	return okf.Visible(strings.Join(append(lines, ""), "\n"))
}

// told says what was done, and what the next human act is.
func (p *plan) told(env Env, oid repo.OID) error {
	r, l := p.out.Row, p.out.Lease.Lease
	if next := p.next(); next != "" {
		talk(env, "%s", next)
	}
	if p.o.json {
		out := map[string]any{"act": r, "commit": string(oid), "changes": orEmpty(p.changed())}
		if l.ID != "" {
			out["lease"] = map[string]any{"id": l.ID, "state": l.State, "expires_at": l.ExpiresAt}
		}
		return printJSON(env, out)
	}
	return printRows(env, [][]string{{r.ID, string(r.Gate), r.Act, or(r.Lease, "-"), string(l.State), string(r.To), short(oid)}})
}

// changed are the fields as JSON tells them.
func (p *plan) changed() []map[string]string {
	var out []map[string]string
	for _, c := range append(append([]gate.Change{}, p.out.Diff...), p.also...) {
		out = append(out, map[string]string{"field": c.Field, "before": c.Before, "after": c.After})
	}
	return out
}

// next is where the act leaves a person.
func (p *plan) next() string {
	switch l := p.out.Lease.Lease; {
	case p.out.Row.Gate == gate.Emergency:
		return "all work is stopped. To go on: odd gate framing, odd gate commitment, then odd drain resume"
	case p.o.leasesOff:
		return "leases are off: tasks run without one until the next odd gate commitment"
	case l.State == gate.Draft:
		return "next: odd gate lease edit changes the draft; odd gate commitment activates it"
	case l.State == gate.Active && p.out.Row.To == gate.Execution:
		return "next: odd drain runs the ready tasks; odd gate lease show tells how much of the lease is left"
	case !alive(l.State):
		return "next: odd gate framing drafts the next lease"
	}
	return ""
}

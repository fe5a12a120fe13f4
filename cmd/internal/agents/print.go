package agents

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/runs"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/invoke"
	"github.com/odd-cli/odd/persona/session"
)

// printContract prints a resolved contract, or the tools of one with their
// reasons; refusals stand on stderr, one a line.
func printContract(env console.Env, c contract.Contract, err error, explain, asJSON bool) error {
	var no contract.Refusals
	if err != nil && !errors.As(err, &no) {
		return err
	}
	doc := struct {
		Contract contract.Contract `json:"contract"`
		Hash     string            `json:"hash,omitempty"`
		Refusals contract.Refusals `json:"refusals"`
	}{c, "", append(contract.Refusals{}, no...)}
	var rows [][]string
	switch {
	case explain:
		for _, t := range c.Tools {
			rows = append(rows, []string{t.Name, string(t.Class), map[bool]string{true: "in", false: "out"}[t.In], t.Why})
		}
	case err == nil:
		rows = contractRows(c)
	}
	if err == nil {
		doc.Hash = c.Hash()
	}
	return verb.ShowRefused(env, asJSON, doc, rows, err)
}

// printBrief prints a brief, and as JSON also its parts with the blobs they quote.
func printBrief(env console.Env, b invoke.Brief, err error, asJSON bool) error {
	if err != nil {
		return err
	}
	return console.ShowText(env, asJSON, map[string]any{"text": string(b.Text), "parts": b.Manifest}, string(b.Text))
}

func printSends(env console.Env, b invoke.Brief, to []agent.Receiver, asJSON bool) error {
	if asJSON {
		return console.PrintJSON(env, map[string]any{"receivers": console.OrEmpty(to), "brief": string(b.Text)})
	}
	if len(to) == 0 {
		console.Talk(env, "nothing leaves odd: the agent is part of it, and calls no model")
		return nil
	}
	var rows [][]string
	for _, r := range to {
		rows = append(rows, []string{"to", r.To}, []string{"", r.Gets})
	}
	rows = append(rows, []string{"brief", fmt.Sprintf("%d bytes, all of it:", len(b.Text))})
	if err := console.PrintRows(env, rows); err != nil {
		return err
	}
	return console.PrintText(env, "\n"+string(b.Text))
}

func contractRows(c contract.Contract) [][]string {
	rows := console.FieldRows("role", string(c.Role), "mode", string(c.Mode))
	add := func(pairs ...string) { rows = append(rows, console.FieldRows(pairs...)...) }
	if o := c.Override; o != nil {
		add("override", console.JoinWords(o.Modes)+": "+o.Reason)
	}
	for _, p := range append([]*contract.Profile{c.Persona}, c.Participants...) {
		if p != nil {
			add("persona", fmt.Sprintf("%s (%s)", p.Ref(), p.Path))
		}
	}
	add("work role", c.WorkRole, "surface", fmt.Sprintf("%s, density %s", c.Surface.Name, c.Surface.Density), "engagement", string(c.Engagement), "voice", string(c.Voice), "artifact", c.Artifact)
	for _, h := range c.Handoffs {
		add("handoff", fmt.Sprintf("%s (%s to %s)", h.Path, h.From, h.To))
	}
	var in []string
	for _, t := range c.Tools {
		if t.In {
			in = append(in, t.Name)
		}
	}
	add("changes", describeChanges(c), "delivers", string(c.Deliverable), "next", string(c.Next), "tools", strings.Join(in, ", "), "servers", strings.Join(c.Servers, ", "), "tainted", c.Tainted)
	if v, why := contract.Judge(c.Mode, c.Role, c.Surface.Name, c.Engagement); v == contract.WellTrodden && c.Override == nil {
		add("known as", why[0])
	}
	for _, n := range c.Notes {
		add("note", n)
	}
	return append(rows, []string{"hash", c.Hash()})
}

func describeChanges(c contract.Contract) string {
	switch {
	case !c.Mutates:
		return "nothing"
	case c.Bound != "":
		return "what the " + c.Bound + " names"
	}
	return "whatever its task allows"
}

// printInvoked prints one row a session. A session that came to nothing is a
// fault of the run; one that waits for an answer is not.
func printInvoked(env console.Env, r drain.Report, err error, asJSON bool) error {
	var no contract.Refusals
	if asJSON && errors.As(err, &no) {
		_ = console.PrintJSON(env, map[string]any{"refusals": no, "error": verb.ErrorJSON(err)})
		return verb.Shown(err)
	}
	if err != nil || asJSON || len(r.Said) == 0 {
		if bad := runs.Print(env, r, err, asJSON); bad != nil || asJSON {
			return cmp.Or(bad, sessionsExit(r))
		}
	}
	var rows [][]string
	for _, s := range spokenIn(r) {
		rows = append(rows, []string{string(s.Role), s.Outcome, "$" + s.Cost.String(), summarizeDeliverable(s.Deliverable), cmp.Or(s.Handoff, s.Reason)})
		for _, h := range s.Hints {
			console.Talk(env, "hint, %s: %s", h.Detector, okf.Visible(h.Message))
		}
	}
	if err := console.PrintRows(env, rows); err != nil {
		return err
	}
	return sessionsExit(r)
}

func spokenIn(r drain.Report) []drain.Spoken {
	out := r.Said
	for _, t := range r.Tasks {
		if t.Session != nil {
			out = append(out, *t.Session)
		}
	}
	return out
}

func summarizeDeliverable(d *deliver.Deliverable) string {
	switch {
	case d == nil:
		return ""
	case d.Findings != nil:
		s := deliver.Summarize(d.Findings.Findings)
		return fmt.Sprintf("%s, %s", s.Verdict, s)
	}
	return d.Schema
}

// sessionsExit returns exit code 1 where a task or a session of a run failed.
func sessionsExit(r drain.Report) error {
	for _, t := range r.Tasks {
		if t.State != board.Review {
			return verb.ExitCode(verb.ExitFault)
		}
	}
	for _, s := range r.Said {
		if s.Outcome != string(session.Completed) && s.Outcome != invoke.Yielded {
			return verb.ExitCode(verb.ExitFault)
		}
	}
	return nil
}

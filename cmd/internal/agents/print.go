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
	var shown error
	switch {
	case asJSON:
		doc := struct {
			Contract contract.Contract `json:"contract"`
			Hash     string            `json:"hash,omitempty"`
			Refusals contract.Refusals `json:"refusals"`
		}{c, "", append(contract.Refusals{}, no...)}
		if len(no) == 0 {
			doc.Hash = c.Hash()
		}
		shown = console.PrintJSON(env, doc)
	case explain:
		var rows [][]string
		for _, t := range c.Tools {
			rows = append(rows, []string{t.Name, string(t.Class), map[bool]string{true: "in", false: "out"}[t.In], t.Why})
		}
		shown = console.PrintRows(env, rows)
	case len(no) == 0:
		shown = console.PrintRows(env, contractRows(c))
	}
	return cmp.Or(shown, tellRefusals(env, no))
}

// printBrief prints a brief, and as JSON also its parts with the blobs they quote.
func printBrief(env console.Env, b invoke.Brief, err error, asJSON bool) error {
	var no contract.Refusals
	switch {
	case errors.As(err, &no):
		return tellRefusals(env, no)
	case err != nil:
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

// tellRefusals tells every refusal on a line of its own.
func tellRefusals(env console.Env, no contract.Refusals) error {
	for _, r := range no {
		line := r.Message
		if r.Way != "" {
			line += "; " + r.Way
		}
		console.Talk(env, "%s [%s]", okf.Visible(line), r.Code)
	}
	if len(no) > 0 {
		return verb.ExitCode(verb.ExitRefused)
	}
	return nil
}

func contractRows(c contract.Contract) [][]string {
	var rows [][]string
	row := func(key, format string, args ...any) {
		if s := okf.Visible(fmt.Sprintf(format, args...)); s != "" {
			rows = append(rows, []string{key, s})
		}
	}
	row("role", "%s", c.Role)
	row("mode", "%s", c.Mode)
	if o := c.Override; o != nil {
		var modes []string
		for _, m := range o.Modes {
			modes = append(modes, string(m))
		}
		row("override", "%s: %s", strings.Join(modes, ", "), o.Reason)
	}
	for _, p := range append([]*contract.Profile{c.Persona}, c.Participants...) {
		if p != nil {
			row("persona", "%s@%d (%s)", p.Name, p.Version, p.Path)
		}
	}
	row("work role", "%s", c.WorkRole)
	row("surface", "%s, density %s", c.Surface.Name, c.Surface.Density)
	row("engagement", "%s", c.Engagement)
	row("voice", "%s", c.Voice)
	row("artifact", "%s", c.Artifact)
	for _, h := range c.Handoffs {
		row("handoff", "%s (%s to %s)", h.Path, h.From, h.To)
	}
	row("changes", "%s", describeChanges(c))
	row("delivers", "%s", c.Deliverable)
	row("next", "%s", c.Next)
	var in []string
	for _, t := range c.Tools {
		if t.In {
			in = append(in, t.Name)
		}
	}
	row("tools", "%s", strings.Join(in, ", "))
	row("servers", "%s", strings.Join(c.Servers, ", "))
	row("tainted", "%s", c.Tainted)
	if v, why := contract.Judge(c.Mode, c.Role, c.Surface.Name, c.Engagement); v == contract.WellTrodden && c.Override == nil {
		row("known as", "%s", why[0])
	}
	for _, n := range c.Notes {
		row("note", "%s", n)
	}
	row("hash", "%s", c.Hash())
	return rows
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
	if errors.As(err, &no) {
		if asJSON {
			_ = console.PrintJSON(env, map[string]any{"refusals": no, "error": verb.ErrorJSON(err)})
		}
		return tellRefusals(env, no)
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

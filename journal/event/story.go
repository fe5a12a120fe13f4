package event

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Tell describes the record in the past tense and without a subject: "claimed tidy as editor, attempt 2, holding
// $0.25". usd prints micro-USD as dollars. Of an unknown kind it says only the name.
func (r Record) Tell(usd func(int64) string) string {
	switch r.Kind {
	case Claim, Engage:
		return r.describeClaim(usd)
	case Session:
		return r.describeSession(usd)
	case Anchor:
		return r.describeAnchor()
	case Reconcile:
		return r.describeReconcile()
	case Op, OpEnd:
		return r.describeOp(usd)
	case Outcome:
		return r.describeOutcome()
	case Abandoned:
		if r.Task == r.DeadRun {
			return "swept a session that died, " + r.DeadRun + formatMoney(", charging ", r.Cost, usd)
		}
		return fmt.Sprintf("swept %s, left behind by %s%s", r.Task, r.DeadRun, formatMoney(", charging ", r.Cost, usd))
	case Refused:
		d := r.Stop()
		return "stopped: " + cmp.Or(d.Reason, d.Code)
	case Paused:
		return "paused the board: " + cmp.Or(r.Stop().Reason, "no reason given")
	}
	return "recorded " + string(r.Kind)
}

func (r Record) describeClaim(usd func(int64) string) string {
	d := r.Claim()
	s := "claimed " + r.Task
	if r.isTaskless() {
		s = "began a session"
		if d.Sessions > 1 {
			s = fmt.Sprintf("began %d sessions", d.Sessions)
		}
		if d.ContractRole != "" {
			s += " as " + d.ContractRole
		}
		if d.Artifact != "" {
			s += " on " + d.Artifact
		}
		if d.Asked != "" {
			s += ": " + strconv.Quote(d.Asked)
		}
		return s + d.Override.describe() + formatMoney(", holding ", r.Reserved, usd)
	}
	if d.RefreshOf != "" {
		return "refreshed the proposal of " + r.Task + "; no agent ran"
	}
	if r.Role != "" {
		s += " as " + r.Role
	}
	if d.Attempt > 1 {
		s += fmt.Sprintf(", attempt %d", d.Attempt)
	}
	return s + d.Override.describe() + formatMoney(", holding ", r.Reserved, usd)
}

// isTaskless reports whether a record is about sessions without a task: its task is its run.
func (r Record) isTaskless() bool { return r.Task != "" && r.Task == r.Run }

func (o *Override) describe() string {
	if o == nil {
		return ""
	}
	return fmt.Sprintf(", under an override by %s: %s", o.By, o.Reason)
}

func (r Record) describeSession(usd func(int64) string) string {
	d := r.Session()
	s := "ran " + cmp.Or(d.Substrate, "a session")
	if d.Model != d.Substrate && d.Model != "" {
		s += " with " + d.Model
	}
	if d.Turns > 0 {
		s += " for " + formatCount(d.Turns, "turn")
	}
	if c := d.Contract; c != nil && c.Role != "" && c.Role != "general" {
		s += " as " + c.Role
	}
	s += formatMoney(", spending ", r.Cost, usd)
	if d.Handoff != "" {
		s += "; it handed over " + d.Handoff
	}
	if f := cmp.Or(d.Failure, d.Outcome); f != "" && f != "completed" {
		s += "; it ended as " + f
	}
	return s
}

func (r Record) describeAnchor() string {
	if r.DeadRun != "" {
		return fmt.Sprintf("released the permit of %s, left behind by %s", cmp.Or(r.Role, "a session"), r.DeadRun)
	}
	d := r.Anchor()
	s := "could write " + cmp.Or(strings.Join(d.Allow[:min(len(d.Allow), mostAllowed)], ", "), "nothing")
	if n := len(d.Allow) - mostAllowed; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	s += " as " + cmp.Or(r.Role, "nobody")
	if d.GeneratedBy == "agent" {
		s += fmt.Sprintf(" (permit mode %s, which it proved itself)", d.Mode)
	}
	return s
}

// mostAllowed is how many of the patterns that a session could write a sentence names.
const mostAllowed = 3

// mostHeld is how many of the atoms that were left to a person a sentence names.
const mostHeld = 5

func (r Record) describeReconcile() string {
	d := r.Reconcile()
	var parts []string
	for _, effect := range slices.Sorted(maps.Keys(d.Counts)) {
		if n := d.Counts[effect]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, effect))
		}
	}
	if len(parts) == 0 {
		return "delivered no atom"
	}
	s := "atoms: " + strings.Join(parts, ", ")
	var ids []string
	for _, held := range d.Held {
		ids = append(ids, held.ID)
	}
	if len(ids) > 0 {
		s += "; left to a person: " + strings.Join(ids[:min(len(ids), mostHeld)], ", ")
	}
	if len(ids) > mostHeld {
		s += fmt.Sprintf(" and %d more", len(ids)-mostHeld)
	}
	return s
}

func (r Record) describeOp(usd func(int64) string) string {
	d := r.Op()
	op, to := cmp.Or(d.Op, "an op"), cmp.Or(d.To, "nothing said")
	s := op + " entered " + to
	switch {
	case r.Kind == OpEnd:
		s = fmt.Sprintf("%s %s: %s", op, to, cmp.Or(d.Reason, "no reason given"))
	case d.Mark == "intent":
		s = op + " is about to move " + d.Ref
	case d.Mark == "applied":
		s = op + " moved " + d.Ref
	case d.Ref != "":
		s = op + " moved " + d.Ref + " and entered " + to
	}
	return s + formatMoney(", spending ", d.Spent, usd)
}

func (r Record) describeOutcome() string {
	d := r.Outcome()
	if r.isTaskless() {
		return strings.TrimSuffix("ended as "+cmp.Or(d.Verdict, "nothing said")+": "+d.Reason, ": ")
	}
	switch d.Verdict {
	case "review":
		s := "proposed"
		if len(d.Paths) > 0 {
			s += " " + formatCount(int64(len(d.Paths)), "file")
		}
		if d.Branch != "" {
			s += " on " + d.Branch
		}
		return s + ", for a person to judge"
	case "blocked":
		return "blocked " + r.Task + ": " + cmp.Or(d.Reason, "no reason given")
	case "lost":
		return "lost " + r.Task + ": it was no longer this run's"
	default:
		return "ended " + r.Task + " as " + cmp.Or(d.Verdict, "nothing said")
	}
}

// formatMoney returns an amount after some words, "" for 0.
func formatMoney(words string, amount int64, usd func(int64) string) string {
	if amount == 0 {
		return ""
	}
	return words + "$" + usd(amount)
}

func formatCount(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

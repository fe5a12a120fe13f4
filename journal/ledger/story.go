package ledger

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Tell is the record as a sentence about its run, in the past tense and without
// its subject: "claimed tidy as editor, attempt 2, holding $0.25". usd prints
// micro-USD as dollars. A kind this odd does not know is named.
func (r Record) Tell(usd func(int64) string) string {
	switch r.Kind {
	case Claim:
		return r.tellClaim(usd)
	case Session:
		return r.tellSession(usd)
	case Anchor:
		return r.tellAnchor()
	case Reconcile:
		return r.tellReconcile()
	case Op, OpEnd:
		return r.tellOp(usd)
	case Outcome:
		return r.tellOutcome()
	case Abandoned:
		if r.Task == r.DeadRun {
			return "swept a session that died, " + r.DeadRun + money(", charging ", r.Cost, usd)
		}
		return fmt.Sprintf("swept %s, left behind by %s%s", r.Task, r.DeadRun, money(", charging ", r.Cost, usd))
	case Refused:
		return "stopped: " + or(r.say("reason"), r.say("code"))
	case Paused:
		return "paused the board: " + or(r.say("reason"), "no reason given")
	}
	return "recorded " + string(r.Kind)
}

func (r Record) tellClaim(usd func(int64) string) string {
	s := "claimed " + r.Task
	if r.alone() {
		s = "began " + sessions(r.Data["sessions"])
		if role := r.say("contract_role"); role != "" {
			s += " as " + role
		}
		if a := r.say("artifact"); a != "" {
			s += " on " + a
		}
		if q := r.say("asked"); q != "" {
			s += ": " + strconv.Quote(q)
		}
		return s + r.underOverride() + money(", holding ", r.Reserved, usd)
	}
	if r.Role != "" {
		s += " as " + r.Role
	}
	if n, _ := r.Data["attempt"].(int64); n > 1 {
		s += fmt.Sprintf(", attempt %d", n)
	}
	return s + r.underOverride() + money(", holding ", r.Reserved, usd)
}

// alone reports a record about sessions that no task asked for: its task is its run.
func (r Record) alone() bool { return r.Task != "" && r.Task == r.Run }

func sessions(n any) string {
	if n, _ := n.(int64); n > 1 {
		return fmt.Sprintf("%d sessions", n)
	}
	return "a session"
}

func (r Record) underOverride() string {
	o, _ := r.Data["override"].(map[string]any)
	if o == nil {
		return ""
	}
	return fmt.Sprintf(", under an override by %v: %v", o["by"], o["reason"])
}

func (r Record) tellSession(usd func(int64) string) string {
	s := "ran " + or(r.say("substrate"), "a session")
	if m := r.say("model"); m != "" && m != r.say("substrate") {
		s += " with " + m
	}
	if n, _ := r.Data["turns"].(int64); n > 0 {
		s += " for " + count(n, "turn")
	}
	c, _ := r.Data["contract"].(map[string]any)
	if role, _ := c["role"].(string); role != "" && role != "general" {
		s += " as " + role
	}
	s += money(", spending ", r.Cost, usd)
	if h := r.say("handoff"); h != "" {
		s += "; it handed over " + h
	}
	if f := or(r.say("failure"), r.say("outcome")); f != "" && f != "completed" {
		s += "; it ended as " + f
	}
	return s
}

func (r Record) tellAnchor() string {
	if r.DeadRun != "" {
		return fmt.Sprintf("released the permit of %s, left behind by %s", or(r.Role, "a session"), r.DeadRun)
	}
	s := fmt.Sprintf("held a permit as %s under %s", or(r.Role, "nobody"), or(r.say("mode"), "no mode"))
	if r.say("generated_by") == "agent" {
		s += ", which it proved itself"
	}
	if allow, _ := r.Data["allow"].([]any); len(allow) > 0 {
		s += fmt.Sprintf(", for %v", allow[0])
		if len(allow) > 1 {
			s += fmt.Sprintf(" and %d more", len(allow)-1)
		}
	}
	return s
}

func (r Record) tellReconcile() string {
	counts, _ := r.Data["counts"].(map[string]any)
	var parts []string
	for _, effect := range slices.Sorted(maps.Keys(counts)) {
		if n, _ := counts[effect].(int64); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, effect))
		}
	}
	if len(parts) == 0 {
		return "reconciled nothing"
	}
	s := "reconciled " + strings.Join(parts, ", ")
	var ids []string
	list, _ := r.Data["held"].([]any)
	for _, v := range list {
		held, _ := v.(map[string]any)
		ids = append(ids, fmt.Sprint(held["id"]))
	}
	if len(ids) > 0 {
		s += "; left to a person: " + strings.Join(ids, ", ")
	}
	return s
}

func (r Record) tellOp(usd func(int64) string) string {
	op, to := or(r.say("op"), "an op"), or(r.say("to"), "nothing said")
	spent, _ := r.Data["spent_micro_usd"].(int64)
	s := op + " entered " + to
	switch mark := r.say("mark"); {
	case r.Kind == OpEnd:
		s = fmt.Sprintf("ended %s as %s: %s", op, to, or(r.say("reason"), "no reason given"))
	case mark == "intent" || mark == "applied":
		verb := map[string]string{"intent": " is about to move ", "applied": " moved "}[mark]
		s = op + verb + r.say("ref")
	}
	return s + money(", spending ", spent, usd)
}

func (r Record) tellOutcome() string {
	if r.alone() {
		return strings.TrimSuffix("ended as "+or(r.say("verdict"), "nothing said")+": "+r.say("reason"), ": ")
	}
	switch verdict := r.say("verdict"); verdict {
	case "review":
		s := "proposed"
		if paths, _ := r.Data["paths"].([]any); len(paths) > 0 {
			s += " " + count(int64(len(paths)), "file")
		}
		if b := r.say("branch"); b != "" {
			s += " on " + b
		}
		return s + ", for a person to judge"
	case "blocked":
		return "blocked " + r.Task + ": " + or(r.say("reason"), "no reason given")
	case "lost":
		return "lost " + r.Task + ": it was no longer this run's"
	default:
		return "ended " + r.Task + " as " + or(verdict, "nothing said")
	}
}

// say is a text of the record's data.
func (r Record) say(key string) string {
	s, _ := r.Data[key].(string)
	return s
}

// money is an amount behind a few words, and nothing where none was spent.
func money(words string, amount int64, usd func(int64) string) string {
	if amount == 0 {
		return ""
	}
	return words + "$" + usd(amount)
}

func count(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

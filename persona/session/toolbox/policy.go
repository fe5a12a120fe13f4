package toolbox

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/reconcile/policy"
)

// Degenerate is the name of the failure of a session that asks the same again and again.
const Degenerate = "degenerate loop"

// Rule is one rung of the ladder. The first that holds for a call refuses it under its code.
type Rule struct {
	Code string
	When string // it holds for a call that …
}

// Rules is the ladder, from the top.
func Rules() []Rule {
	var out []Rule
	for _, r := range policyRungs() {
		out = append(out, r.Rule)
	}
	return out
}

// rung is a rule and its test: what the model is told, "" where the rule does not hold.
type rung struct {
	Rule
	refuse func(*call) string
}

// policyRungs is the whole policy of the toolbox, in the order in which it is asked.
// It ends in deny.
func policyRungs() []rung {
	return []rung{
		{Rule{"degenerate_loop", "is the same as the two before it"}, func(c *call) string {
			return textIf(c.same >= repeated, fmt.Sprintf("this is call %d in a row with the same arguments, and the answer stays the same; do something else, or finish. The session ends at call %d", c.same, hopeless))
		}},
		{Rule{"finished", "comes after the agent said that it was done"}, func(c *call) string { // what was judged there is all there is
			c.b.mu.Lock()
			defer c.b.mu.Unlock()
			return textIf(c.b.done, "the session has declared its outcome, and nothing comes after it")
		}},
		{Rule{"read_only_contract", "would change something, and the session may only read"}, func(c *call) string { // whether or not the session has it
			k := c.b.o.Request.Contract
			return textIf(k.Role != "" && !k.Mutates && c.b.isMutating(c.asked), fmt.Sprintf("the contract of %s changes nothing", k.Role))
		}},
		{Rule{"ask_not_allowed", "asks a person, and the session may not ask or nobody is there"}, func(c *call) string { return textIf(c.asked == "ask_human", c.b.whyMute()) }},
		{Rule{"unknown_tool", "names a tool that the session does not have"}, func(c *call) string {
			return textIf(!c.known, "this session has no tool of that name; it has "+strings.Join(c.b.toolNames(), ", "))
		}},
		{Rule{"bad_arguments", "has arguments that the tool does not take"}, func(c *call) string {
			if c.bad == nil {
				return ""
			}
			return c.bad.Error()
		}},
		{Rule{"path_outside_repo", "names a path outside of the scratch clone, or behind a symbolic link"}, (*call).isOutsideTree},
		{Rule{"no_permit", "does something that the session's grant does not allow, under the code of the grant's rule"}, (*call).denyByGrant},
		{Rule{"too_large", "writes or hands over too much at once"}, (*call).denySize},
		{Rule{"must_read_first", "changes a file that the agent did not read, or that changed since it did"}, func(c *call) string {
			if c.kind != policy.Write {
				return ""
			}
			return c.whyUnread()
		}},
		{Rule{"noop_with_writes", "says that there is nothing to do, and the agent wrote files"}, func(c *call) string { return c.isUnready("noop_with_writes") }},
		{Rule{"exploration_insufficient", "hands over a change before the agent has read enough"}, func(c *call) string { return c.isUnready("exploration_insufficient") }},
		{Rule{"rate_limited", "fetches from the web too often in a minute"}, (*call).isRateLimited},
		{Rule{"not_allowed", "is not allowed by any rule"}, func(c *call) string { return textIf(c.kind == "" && c.Mutates, "no rule lets it through") }},
	}
}

func textIf(holds bool, why string) string {
	if !holds {
		return ""
	}
	return why
}

// checkLadder takes the call down the ladder. code is "" where it is let through; a rung
// that breaks lets nothing through.
func (c *call) checkLadder() (code, why string) {
	defer func() {
		if p := recover(); p != nil {
			code, why = "fault", fmt.Sprintf("whether it may be done could not be judged: %v", p)
		}
	}()
	for _, r := range policyRungs() {
		if why := r.refuse(c); why != "" {
			return cmp.Or(c.refused, r.Code), why
		}
	}
	return "", ""
}

func (b *Box) toolNames() []string {
	var out []string
	for _, t := range b.Tools() {
		out = append(out, t.Name)
	}
	return out
}

// isMutating reports the name of a tool that changes something.
func (b *Box) isMutating(name string) bool {
	for _, e := range slices.Concat(writeTools(), runTools(b), workTools()) {
		if e.Name == name {
			return true
		}
	}
	return b.tools[name].Mutates
}

// isOutsideTree walks to the path. The grant judges its letters.
func (c *call) isOutsideTree() string {
	var out *failure
	if c.path != "" && c.at != "" && errors.As(c.b.tree.checkContained(c.at), &out) && out.code == outsideTree {
		return out.text
	}
	return ""
}

// denySize holds for a text or an object that is longer than a file may be.
func (c *call) denySize() string {
	for _, p := range c.params {
		n := len(c.args.getText(p.name))
		if p.kind == isAny {
			n = len(c.args[p.name])
		}
		if most := c.b.o.Limits.FileBytes; n > most && p.most > mostText {
			return fmt.Sprintf("%s: is %d bytes, at most %d", p.name, n, most)
		}
	}
	return ""
}

// isUnready holds for what is handed over too soon, or against what was done.
func (c *call) isUnready(code string) string {
	if c.make == nil {
		return ""
	}
	is, why := c.b.checkReady(c.make(c).String())
	return textIf(is == code, why)
}

// isRateLimited counts what is asked of the web in a minute, or in the session where nobody
// has a clock.
func (c *call) isRateLimited() string {
	if c.kind != policy.Fetch {
		return ""
	}
	b, now := c.b, c.b.now()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fetched = slices.DeleteFunc(b.fetched, func(t time.Time) bool { return now.Sub(t) >= time.Minute })
	if most := b.o.Limits.Fetches; len(b.fetched) >= most {
		return fmt.Sprintf("%d pages were asked for within a minute; go on with something else first", most)
	}
	b.fetched = append(b.fetched, now)
	return ""
}

// denyByGrant asks the session's grant.
func (c *call) denyByGrant() string {
	a, err := c.grantAction()
	if err == nil && a.Kind != "" {
		err = c.b.o.Request.Permits(a)
	}
	if no, ok := errors.AsType[*policy.Refusal](err); ok {
		c.refused = no.Code
		return cmp.Or(no.Text(), no.Code)
	} else if err != nil {
		return err.Error()
	}
	return ""
}

// grantAction is what the call asks of the grant; its kind is "" where it asks for nothing.
func (c *call) grantAction() (policy.Action, error) {
	a := policy.Action{Kind: c.kind}
	switch {
	case c.kind == policy.Run:
		a.Argv, a.In = c.argv(c), c.b.tree.desk.Place()
	case c.kind == policy.Call:
		a.Tool, a.Changes = c.Name, c.Mutates
	case c.kind == policy.Fetch:
		u, err := parseTarget(c.args.getText("url"))
		if err != nil {
			return a, err
		}
		a.Host = u.Hostname()
	case c.path != "" && (c.at != "" || c.Mutates):
		a.Kind, a.Paths = cmp.Or(a.Kind, policy.Read), []string{c.at}
	}
	return a, nil
}

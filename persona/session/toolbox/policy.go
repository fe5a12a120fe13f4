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

// Rule is one rung of the ladder. The first that holds for a call decides; Lets
// says that it lets the call through, and every other refuses it under its code.
type Rule struct {
	Code string
	When string // it holds for a call that …
	Lets bool
}

// Rules is the ladder, from the top.
func Rules() []Rule {
	var out []Rule
	for _, r := range policyRungs() {
		out = append(out, r.Rule)
	}
	return out
}

// rung is a rule and its test. why is what the model is told.
type rung struct {
	Rule
	holds func(*call) (why string, yes bool)
}

// policyRungs is the whole policy of the toolbox, in the order in which it is asked.
// It ends in deny.
func policyRungs() []rung {
	deny := func(code, when string, holds func(*call) (string, bool)) rung {
		return rung{Rule{code, when, false}, holds}
	}
	let := func(code, when string, holds func(*call) (string, bool)) rung {
		return rung{Rule{code, when, true}, holds}
	}
	return []rung{
		deny("degenerate_loop", "is the same as the two before it", isRepeated),
		deny("finished", "comes after the agent said that it was done", isAfterOutcome),
		deny("read_only_contract", "would change something, and the session may only read", readOnly),
		deny("ask_not_allowed", "asks a person, and the session may not ask or nobody is there", (*call).mayNotAsk),
		deny("unknown_tool", "names a tool that the session does not have", isUnknownTool),
		deny("bad_arguments", "has arguments that the tool does not take", (*call).denyShape),
		deny("path_outside_repo", "names a path outside of the scratch clone, or behind a symbolic link", (*call).isOutsideTree),
		deny("no_permit", "does something that the session's grant does not allow, under the code of the grant's rule", (*call).denyByGrant),
		deny("too_large", "writes or hands over too much at once", (*call).denySize),
		deny("must_read_first", "changes a file that the agent did not read, or that changed since it did", (*call).isUnread),
		deny("noop_with_writes", "says that there is nothing to do, and the agent wrote files", (*call).isIdleChange),
		deny("exploration_insufficient", "hands over a change before the agent has read enough", (*call).isUnexplored),
		deny("rate_limited", "fetches from the web too often in a minute", (*call).isRateLimited),
		let("harmless", "reads, hands over what is judged later, or asks", func(c *call) (string, bool) { return "", c.kind == "" && !c.Mutates }),
		let("permitted", "does what the session's permit allows", func(c *call) (string, bool) { return "", c.kind != "" }),
		deny("not_allowed", "is not allowed by any rule", func(*call) (string, bool) { return "no rule lets it through", true }),
	}
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
		if why, yes := r.holds(c); yes {
			if r.Lets {
				return "", ""
			}
			return cmp.Or(c.refused, r.Code), why
		}
	}
	panic("unreachable: the last rule holds for everything")
}

func isRepeated(c *call) (string, bool) {
	return fmt.Sprintf("this is call %d in a row with the same arguments, and the answer stays the same; do something else, or finish. The session ends at call %d", c.same, hopeless), c.same >= repeated
}

// isAfterOutcome holds for every call behind the outcome: what was judged there is all there is.
func isAfterOutcome(c *call) (string, bool) {
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	return "the session has declared its outcome, and nothing comes after it", c.b.done
}

func isUnknownTool(c *call) (string, bool) {
	return "this session has no tool of that name; it has " + strings.Join(c.b.toolNames(), ", "), !c.known
}

func (b *Box) toolNames() []string {
	var out []string
	for _, t := range b.Tools() {
		out = append(out, t.Name)
	}
	return out
}

// readOnly holds for what changes something, whether or not the session has it.
func readOnly(c *call) (string, bool) {
	k := c.b.o.Request.Contract
	if k.Role == "" || k.Mutates || !c.b.isMutating(c.asked) {
		return "", false
	}
	return fmt.Sprintf("the contract of %s changes nothing", k.Role), true
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

func (c *call) denyShape() (string, bool) {
	if c.bad == nil {
		return "", false
	}
	return c.bad.Error(), true
}

// isOutsideTree walks to the path. The grant judges its letters.
func (c *call) isOutsideTree() (string, bool) {
	if c.path == "" || c.at == "" {
		return "", false
	}
	var out *failure
	if err := c.b.tree.checkContained(c.at); errors.As(err, &out) && out.code == outsideTree {
		return out.text, true
	}
	return "", false
}

// denySize holds for a text or an object that is longer than a file may be.
func (c *call) denySize() (string, bool) {
	for _, p := range c.params {
		n := len(c.args.getText(p.name))
		if p.kind == isAny {
			n = len(c.args[p.name])
		}
		if most := c.b.o.Limits.FileBytes; n > most && p.most > mostText {
			return fmt.Sprintf("%s: is %d bytes, at most %d", p.name, n, most), true
		}
	}
	return "", false
}

// isUnread holds for a change of a file that the session does not know as it is.
func (c *call) isUnread() (string, bool) {
	if c.kind != policy.Write {
		return "", false
	}
	why := c.whyUnread()
	return why, why != ""
}

// isIdleChange and isUnexplored hold for what is handed over too soon, or against what was done.
func (c *call) isIdleChange() (string, bool) { return c.isUnready("noop_with_writes") }
func (c *call) isUnexplored() (string, bool) { return c.isUnready("exploration_insufficient") }

func (c *call) isUnready(code string) (string, bool) {
	if c.make == nil {
		return "", false
	}
	is, why := c.b.checkReady(c.make(c).String())
	return why, is == code
}

// isRateLimited counts what is asked of the web in a minute, or in the session where nobody
// has a clock.
func (c *call) isRateLimited() (string, bool) {
	if c.kind != policy.Fetch {
		return "", false
	}
	b, now := c.b, c.b.now()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fetched = slices.DeleteFunc(b.fetched, func(t time.Time) bool { return now.Sub(t) >= time.Minute })
	if most := b.o.Limits.Fetches; len(b.fetched) >= most {
		return fmt.Sprintf("%d pages were asked for within a minute; go on with something else first", most), true
	}
	b.fetched = append(b.fetched, now)
	return "", false
}

func (c *call) mayNotAsk() (string, bool) {
	if c.asked != "ask_human" {
		return "", false
	}
	why := c.b.whyMute()
	return why, why != ""
}

// denyByGrant asks the session's grant.
func (c *call) denyByGrant() (string, bool) {
	a, err := c.grantAction()
	if err == nil && a.Kind != "" {
		err = c.b.o.Request.Permits(a)
	}
	if err == nil {
		return "", false
	}
	if no, ok := errors.AsType[*policy.Refusal](err); ok {
		c.refused = no.Code
		return no.Text(), true
	}
	return err.Error(), true
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

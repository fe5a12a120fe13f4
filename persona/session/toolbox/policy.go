package toolbox

import (
	"errors"
	"fmt"
	"strings"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/irongate"
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
	for _, r := range ladder() {
		out = append(out, r.Rule)
	}
	return out
}

// rung is a rule and its test. why is what the model is told.
type rung struct {
	Rule
	holds func(*call) (why string, yes bool)
}

// ladder is the whole policy of the toolbox, in the order in which it is asked.
// It ends in deny.
func ladder() []rung {
	deny := func(code, when string, holds func(*call) (string, bool)) rung {
		return rung{Rule{code, when, false}, holds}
	}
	let := func(code, when string, holds func(*call) (string, bool)) rung {
		return rung{Rule{code, when, true}, holds}
	}
	return []rung{
		deny("degenerate_loop", "is the third or later of equal ones in a row", looping),
		deny("read_only_contract", "changes something under a contract that only reads", readOnly),
		deny("unknown_tool", "names a tool that this session does not have", unknown),
		deny("bad_arguments", "has arguments that are not the tool's", (*call).malformed),
		deny("path_outside_repo", "names a path that is not one of the tree, or lies behind a symbolic link or in .git", (*call).outside),
		deny("protected_path", "writes what no machine writes", (*call).guarded),
		let("reads", "reads, asks nobody and changes nothing", func(c *call) (string, bool) { return "", c.kind == "" }),
		let("permitted", "does what the session's permit and rules allow", (*call).permitted),
		deny("no_permit", "does what nothing above lets through", (*call).refused),
	}
}

// denied takes the call down the ladder. code is "" where it is let through.
func (c *call) denied() (code, why string) {
	for _, r := range ladder() {
		if why, yes := r.holds(c); yes {
			if r.Lets {
				return "", ""
			}
			return r.Code, why
		}
	}
	return "no_permit", "no rule lets it through"
}

func looping(c *call) (string, bool) {
	return fmt.Sprintf("this is call %d in a row with the same arguments, and the answer stays the same; do something else, or finish. The session ends at call %d", c.same, hopeless), c.same >= repeated
}

func unknown(c *call) (string, bool) {
	return "this session has no tool of that name; it has " + strings.Join(c.b.toolNames(), ", "), !c.known
}

func (b *Box) toolNames() []string {
	var out []string
	for _, t := range b.Tools() {
		out = append(out, t.Name)
	}
	return out
}

func readOnly(c *call) (string, bool) {
	k := c.b.o.Request.Contract
	return fmt.Sprintf("the contract of %s changes nothing", k.Role), c.Mutates && k.Role != "" && !k.Mutates
}

func (c *call) malformed() (string, bool) {
	if c.bad == nil {
		return "", false
	}
	return c.bad.Error(), true
}

// outside judges the path by its letters; the walk through the tree judges what is there.
func (c *call) outside() (string, bool) {
	if c.path == "" || c.at == "" && !c.Mutates {
		return "", false
	}
	if why := badPath(c.at); why != "" {
		return why, true
	}
	var out *failure
	if err := c.b.tree.contains(c.at); errors.As(err, &out) && out.code == outsideTree {
		return out.text, true
	}
	return "", false
}

// guarded holds for a path that no machine writes.
func (c *call) guarded() (string, bool) {
	if c.path == "" || !c.Mutates {
		return "", false
	}
	var whys []string
	for _, f := range irongate.Protected(c.at, c.b.o.Protect) {
		whys = append(whys, f.Text+"; "+f.Fix)
	}
	return strings.Join(whys, "\n"), len(whys) > 0
}

// act is the call as the session's permit is asked for it.
func (c *call) act() session.Act {
	a := session.Act{Kind: c.kind}
	switch c.kind {
	case session.Write, session.Delete:
		a.Path = c.at
	case session.Execute:
		a.Argv = c.argv(c)
	case session.External:
		a.Tool = c.Name
	}
	return a
}

// permitted asks the session's permit.
func (c *call) permitted() (string, bool) { return "", c.b.o.Request.Permits(c.act()) == nil }

// refused is the end of the ladder, and holds for everything.
func (c *call) refused() (string, bool) {
	if err := c.b.o.Request.Permits(c.act()); err != nil {
		return err.Error(), true
	}
	return "no rule lets it through", true
}

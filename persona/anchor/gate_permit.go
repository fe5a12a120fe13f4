package anchor

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/odd-cli/odd/reconcile/policy"
)

// decideByPermit looks for the session's permit: the one its harness's session opened,
// else the one of the token it was started with, else the only one that holds
// here and is nobody else's. need lists what the permit leaves out.
func (g Gatekeeper) decideByPermit(c Call, need func(Permit) []Problem) Decision {
	vs, no := g.findVerdicts(c)
	if no != nil {
		return *no
	}
	var first *Decision
	for _, v := range vs {
		d := decideUnderPermit(v, need)
		if d.Allow {
			return d
		}
		if first == nil || v.Valid && first.Code != OutsidePaths {
			first = &d
		}
	}
	return *first
}

func decideUnderPermit(v Verdict, need func(Permit) []Problem) Decision {
	if !v.Valid || v.Permit == nil {
		bad := v.Errors
		if len(bad) == 0 {
			bad = []Problem{{Code: Locked, At: "token", Text: "the permit does not hold"}}
		}
		return deny(remedyAfter(bad[0].Code, v.Token), bad...)
	}
	if bad := need(*v.Permit); len(bad) > 0 {
		d := deny("keep to the paths of the permit ("+policy.Terms{Allow: v.Permit.Allow, Deny: v.Permit.Deny}.Writable()+"), or bind a session for others", bad...)
		d.Token = v.Token
		return d
	}
	return Decision{Allow: true, Token: v.Token, Warnings: v.Warnings}
}

// findVerdicts returns the sessions whose permit the call may use, never one that
// another session of the harness asked for.
func (g Gatekeeper) findVerdicts(c Call) ([]Verdict, *Decision) {
	refuse := func(way string, p Problem) ([]Verdict, *Decision) {
		d := deny(way, p)
		return nil, &d
	}
	fault := func(err error) ([]Verdict, *Decision) {
		return refuse("ask a person to repair the folder that is named here", Problem{Code: Damaged, At: "state", Text: err.Error()})
	}
	unbound := Problem{Code: Locked, At: "token", Text: "this agent has no write permit yet"}
	if c.Session != "" {
		vs, err := g.Permits(c.Session)
		switch {
		case err != nil:
			return fault(err)
		case len(vs) > 0:
			return vs, nil
		case g.Token == "": // what others hold is theirs
			return refuse(c.howToBind(), unbound)
		}
	}
	if g.Token != "" {
		v := g.Valid(g.Token, "")
		if v.Permit != nil && v.Permit.Harness != "" && v.Permit.Harness != c.Session {
			return refuse(c.howToBind(), Problem{Code: Locked, At: "token", Text: "this write permit belongs to another session of the agent program", Found: g.Token})
		}
		return []Verdict{v}, nil
	}
	vs, err := g.Permits("")
	if err != nil {
		return fault(err)
	}
	vs = slices.DeleteFunc(vs, func(v Verdict) bool { return v.Permit != nil && v.Permit.Harness != "" })
	live := slices.DeleteFunc(slices.Clone(vs), func(v Verdict) bool { return !v.Valid })
	switch {
	case len(live) == 1:
		return live, nil
	case len(live) > 1:
		return refuse("set ODD_ANCHOR to this agent's token before it starts; odd anchor ls lists the tokens",
			Problem{Code: Locked, At: "token", Text: fmt.Sprintf("%d agents have a write permit in this folder, and this call does not say which one is yours", len(live))})
	case len(vs) > 0:
		return vs, nil
	}
	return refuse(c.howToBind(), unbound)
}

// howToBind says how the session of c gets a permit of its own.
func (c Call) howToBind() string {
	if !isSessionID(c.Session) {
		return remedyAfter(Locked, "")
	}
	return "run: odd anchor identity ROLE --session " + c.Session + " and follow its answer; or call the tool anchor with this session"
}

// isSessionID reports an id of a session that can stand in a command as it is.
func isSessionID(id string) bool {
	return len(id) <= maxLine && isWord(id, "-_.") && id[0] != '-'
}

// remedyAfter returns the next step after a permit was refused.
func remedyAfter(c Code, token string) string {
	if c == PermitExpired && token != "" {
		return "run: odd anchor renew " + token + "; if that is refused: odd anchor identity ROLE"
	}
	return cmp.Or(remedyOf(c), "run: odd anchor identity ROLE")
}

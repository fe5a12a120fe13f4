package anchor

import (
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/reconcile/policy"
)

// ownVerbs returns what a session may ask of odd anchor itself, bound or not: all it
// takes to be bound and to stay so. What ends other sessions, sweeps, or touches
// the hook is not among them.
func ownVerbs() []string {
	return []string{"identity", "context", "proof", "express", "verify", "renew", "explain", "ls"}
}

// decideShell opens odd anchor alone, and asks the grant about any other command line.
func (g Gatekeeper) decideShell(c Call) Decision {
	if strings.TrimSpace(c.Command) == "" {
		return deny("send the command", Problem{Code: CallUnread, At: "command", Text: "the call has no command"})
	}
	at := g.place()
	abs, _, err := at.Locate(c.Cwd, c.Cwd)
	if err != nil {
		return deny("go back into the work tree", Problem{Code: CallUnread, At: "cwd", Text: err.Error(), Found: c.Cwd})
	}
	var in bool
	if at.Dir, in = at.Below(abs); !in {
		return deny("go back into the work tree", Problem{Code: OutsidePaths, At: "cwd", Text: "the command would run outside of the work tree", Found: c.Cwd, Want: g.WorkTree})
	}
	if argv, _, err := policy.ParseSimpleInput(c.Command); err == nil {
		if d, ok := g.decideOwnVerb(c, argv); ok {
			return d
		}
	}
	at.Sees = checkAnchorVerbs
	return g.decideByGrant(c, "leave that out of the command, and write inside the work tree, to files that no rule protects", nil, policy.Action{Kind: policy.Run, Line: c.Command, In: at})
}

// decideOwnVerb judges odd anchor itself; false where it is another command.
func (g Gatekeeper) decideOwnVerb(c Call, argv []string) (Decision, bool) {
	if len(argv) < 3 || argv[0] != "odd" || argv[1] != "anchor" {
		return Decision{}, false
	}
	for _, word := range argv[3:] {
		if bad := g.checkReadable(c, word[strings.LastIndexAny(word, "@=")+1:]); len(bad) > 0 {
			return deny("name another file", bad...), true
		}
		if strings.HasPrefix(word, "-C") {
			return Decision{}, false // another work tree's sessions
		}
	}
	switch verb := argv[2]; {
	case (verb == "renew" || verb == "release") && !g.ownsTokens(c, argv[3:]):
		return deny(verb+" your own session; odd anchor ls lists it", Problem{
			Code: OutsidePaths, At: "command", Text: "a session " + verb + "s itself and no other", Found: strings.Join(argv[3:], " ")}), true
	case verb == "identity" && isSessionID(c.Session) && !namesSession(argv[3:], c.Session):
		return deny(c.howToBind(), Problem{
			Code: Locked, At: "command", Text: "a permit belongs to one session of the agent program, and this command does not name yours", Found: strings.Join(argv[3:], " ")}), true
	case verb == "release", slices.Contains(ownVerbs(), verb), slices.Equal(argv[2:], []string{"hook", "check"}):
		return Decision{Allow: true}, true
	}
	return Decision{}, false
}

// namesSession reports a command whose flag --session says id, and nothing else.
func namesSession(words []string, id string) bool {
	asked := false
	for i, w := range words {
		name, value, joined := strings.Cut(w, "=")
		if name != "--session" && name != "-session" {
			continue
		}
		if !joined && i+1 < len(words) {
			value = words[i+1]
		}
		if value != id {
			return false
		}
		asked = true
	}
	return asked
}

// ownsTokens reports whether each token that a command names is one of the caller's
// own session. A permit that does not hold any more still says whose it was.
func (g Gatekeeper) ownsTokens(c Call, words []string) bool {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, tokenPrefix) })
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool {
		p := g.Valid(w, "").Permit
		return g.Token != "" && w != g.Token || p == nil || p.Harness != "" && p.Harness != c.Session
	})
}

// checkReadable says why a file may not be given to odd anchor, whose errors quote what
// is in it.
func (g Gatekeeper) checkReadable(c Call, p string) []Problem {
	c.Paths = []string{p}
	if bad, _ := g.checkUnbound(policy.Action{Kind: policy.Read, Paths: c.fullPaths(), In: g.place()}); len(bad) > 0 {
		return bad
	}
	for _, f := range policy.CheckProtected(p, nil) {
		if f.Code == "protected_credential" {
			return []Problem{{Code: Unwritable, At: "command", Text: f.Text, Found: p}}
		}
	}
	return nil
}

// checkAnchorVerbs lists odd anchor anywhere but alone, which no permit opens.
func checkAnchorVerbs(v policy.CommandVerdict) (bad []policy.Finding) {
	for _, argv := range v.Programs {
		if len(argv) > 0 && path.Base(argv[0]) == "odd" && slices.Contains(argv, "anchor") {
			bad = append(bad, policy.Finding{Code: string(CommandRefused), Severity: policy.Hard, How: policy.BySyntax, Path: strings.Join(argv, " "),
				Text: "an agent runs odd anchor alone, as one plain command, and only for its own session", Fix: "odd anchor " + strings.Join(ownVerbs(), "|")})
		}
	}
	return bad
}

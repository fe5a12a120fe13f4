package anchor

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
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
	dir, bad := g.resolveFolder(c.Cwd)
	if len(bad) > 0 {
		return deny("go back into the work tree", bad...)
	}
	if argv, _, err := policy.ParseSimpleInput(c.Command); err == nil {
		if d, ok := g.decideOwnVerb(c, argv); ok {
			return d
		}
	}
	at := policy.Place{Root: g.WorkTree, Dir: dir, Files: g.Files, Staged: g.Staged, Follow: g.followWritten, Sees: func(v policy.CommandVerdict) []policy.Finding {
		return findingsOf(append(g.checkAnchorVerbs(c, v), g.checkSecrets(c, v)...))
	}}
	return g.decideByGrant(c, "leave that out of the command, and write inside the work tree, to files that no rule protects", nil, policy.Action{Kind: policy.Run, Line: c.Command, In: at})
}

// findingsOf are problems as a grant takes them.
func findingsOf(bad []Problem) (out []policy.Finding) {
	for _, p := range bad {
		out = append(out, policy.Finding{Code: string(p.Code), Severity: policy.Hard, How: policy.ByBytes, Path: p.Found, Text: p.Text, Fix: p.Want})
	}
	return out
}

// followWritten turns a path that a command writes into one below the work tree, or lists why
// nobody may write it.
func (g Gatekeeper) followWritten(p string, tree bool) (string, []policy.Finding) {
	if !tree {
		rel, bad := g.resolveTarget(g.WorkTree, p)
		return rel, findingsOf(bad)
	}
	if !path.IsAbs(p) {
		p = path.Join(g.WorkTree, p)
	}
	rel, bad := g.resolveFolder(p)
	if len(bad) == 0 {
		bad = g.checkBelow(rel)
	}
	return rel, findingsOf(bad)
}

// resolveFolder returns the folder a command starts in, below the work tree; "" is its top.
func (g Gatekeeper) resolveFolder(cwd string) (string, []Problem) {
	t, err := g.resolvePath(cwd, cwd)
	if err != nil {
		return "", []Problem{{Code: CallUnread, At: "cwd", Text: err.Error(), Found: cwd}}
	}
	rel, ok := strings.CutPrefix(t.abs+"/", strings.TrimSuffix(g.WorkTree, "/")+"/")
	if !ok {
		return "", []Problem{{Code: OutsidePaths, At: "cwd", Text: "the command would run outside of the work tree", Found: cwd, Want: g.WorkTree}}
	}
	return strings.TrimSuffix(rel, "/"), nil
}

// decideOwnVerb judges odd anchor itself; false where it is another command.
func (g Gatekeeper) decideOwnVerb(c Call, argv []string) (Decision, bool) {
	if len(argv) < 3 || argv[0] != "odd" || argv[1] != "anchor" {
		return Decision{}, false
	}
	for _, word := range argv[3:] {
		if bad := g.checkReadable(c.Cwd, word[strings.LastIndexAny(word, "@=")+1:]); len(bad) > 0 {
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
func (g Gatekeeper) checkReadable(cwd, p string) []Problem {
	if bad := g.checkRevealed(cwd, p); len(bad) > 0 {
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
func (g Gatekeeper) checkAnchorVerbs(c Call, v policy.CommandVerdict) []Problem {
	var bad []Problem
	for _, argv := range v.Programs {
		if len(argv) > 0 && path.Base(argv[0]) == "odd" && slices.Contains(argv, "anchor") {
			bad = append(bad, Problem{Code: CommandRefused, At: "command", Text: "an agent runs odd anchor alone, as one plain command, and only for its own session",
				Found: c.Command, Want: "odd anchor " + strings.Join(ownVerbs(), "|")})
		}
	}
	return bad
}

// checkSecrets lists the files a command names that no tool may read.
func (g Gatekeeper) checkSecrets(c Call, v policy.CommandVerdict) []Problem {
	var bad []Problem
	for _, p := range v.Reads {
		bad = append(bad, g.checkRevealed(g.WorkTree, strings.TrimSuffix(p, "/**"))...)
	}
	for _, argv := range v.Programs {
		for _, word := range argv {
			bad = append(bad, g.checkRevealed(c.Cwd, word)...)
		}
	}
	return slices.CompactFunc(bad, func(a, b Problem) bool { return a.Found == b.Found })
}

func (g Gatekeeper) checkRevealed(cwd, p string) []Problem {
	t, err := g.resolvePath(cwd, p)
	if (err != nil || !g.isSecret(t.abs)) && !g.matchesSecret(cwd, p) {
		return nil
	}
	return []Problem{{Code: Unwritable, At: "command", Text: "it names the key that signs permits, and nobody reads that", Found: p}}
}

// matchesSecret reports whether a shell's pattern means a secret place, a folder outside
// of the work tree's files on the way to it, or what is below it.
func (g Gatekeeper) matchesSecret(cwd, glob string) bool {
	if !strings.ContainsAny(glob, "*?[") {
		return false
	}
	if !path.IsAbs(glob) {
		glob = path.Join(cwd, glob)
	}
	names, top := strings.Split(path.Clean(glob), "/"), strings.Count(g.WorkTree, "/")+1
	return slices.ContainsFunc(g.Secret, func(secret string) bool {
		for i, want := range strings.Split(secret, "/") {
			if i == len(names) {
				return i > top
			}
			if ok, err := path.Match(names[i], want); !ok || err != nil || strings.HasPrefix(want, ".") && !strings.HasPrefix(names[i], ".") && !strings.HasPrefix(names[i], "[") {
				return false
			}
		}
		return true
	})
}

// maxBelow is how many entries of a folder are looked at.
const maxBelow = 5000

// checkBelow lists what nobody may write among everything that lies below a folder.
func (g Gatekeeper) checkBelow(dir string) (bad []Problem) {
	if dir != "" {
		bad = g.checkProtected(dir)
	}
	n := 0
	err := fs.WalkDir(g.Files, cmp.Or(dir, "."), func(p string, d fs.DirEntry, err error) error {
		switch n++; {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case n > maxBelow:
			return fmt.Errorf("more than %d entries; name a smaller folder", maxBelow)
		case !d.IsDir():
			bad = append(bad, g.checkProtected(p)...)
		}
		return nil
	})
	if err != nil {
		bad = append(bad, Problem{Code: Unwritable, At: "command", Text: fmt.Sprintf("what lies below %q cannot be judged: %v", dir+"/", err), Found: dir})
	}
	return bad
}

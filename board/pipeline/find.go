package pipeline

import (
	"cmp"
	"fmt"
	"strings"
)

// Match is the one op that a person means by name: its id, or what only its id
// begins with or ends in, the op- left out or not. The error of a name that several
// have lists them.
func Match(ids []string, name string) (string, error) {
	var found []string
	bare := strings.ToUpper(strings.TrimPrefix(strings.ToLower(name), "op-"))
	for _, id := range ids {
		ulid := strings.ToUpper(strings.TrimPrefix(id, "op-"))
		switch {
		case id == name:
			return id, nil
		case bare != "" && (strings.HasPrefix(ulid, bare) || strings.HasSuffix(ulid, bare)):
			found = append(found, id)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("%s: there is no change with this id; odd op list --all lists them", name)
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%s: it fits several changes: %s; type more of the id", name, strings.Join(found, ", "))
}

// Unbound lists what of a proposal is not what the op was judged on, nil for
// nothing: an approval of it would be of something else. branch is a short name;
// op and tier are the proposal commit's own trailers.
func (o Op) Unbound(commit, branch, base, op, tier string) []string {
	var out []string
	say := func(what, is, was string) {
		if is != was {
			out = append(out, fmt.Sprintf("its %s is %s, checked was %s", what, cmp.Or(is, "none"), cmp.Or(was, "none")))
		}
	}
	var moved Effect
	if len(o.Moved) > 0 {
		moved = o.Moved[0]
	}
	say("commit", commit, moved.New)
	say("branch", branch, strings.TrimPrefix(moved.Ref, "refs/heads/"))
	say("base", base, o.facts[FactBase])
	say("op", op, o.ID)
	say("tier", tier, o.facts[FactTier])
	return out
}

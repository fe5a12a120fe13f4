package verify

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/odd-cli/odd/journal/repo"
)

// A machine's merge brings in no decision from before signatures were required, whichever line it is on and whatever it
// calls itself. odd sync brings what the target has, and the approval of a proposal.
func TestAMachineMergesABranchFromBeforeSignatures(t *testing.T) {
	const (
		signed = "3 tasks/t.md:1 a task made ready by ann@example.org is not signed, and odd.toml requires it, as # has it, which is merged with it"
		keys   = "3 keys:1 a change of odd.toml by ann@example.org is not signed, and odd.toml requires it"
	)
	t.Parallel()
	type lines struct{ fork, strict, side repo.OID }
	on := func(name string, at repo.OID) [2]string { return [2]string{name, string(at)} }
	// upon is two commits on another, a machine's and one by a person that says it approves that.
	upon := func(s *story, at repo.OID) repo.OID {
		p := s.make("propose", "", draft{who: agentMail, parents: []repo.OID{at}, trailers: [][2]string{{"Odd-Run", "run-x"}}})
		return s.make("approve", "", draft{who: annMail, parents: []repo.OID{p}, trailers: [][2]string{on("Odd-Proposal", p)}})
	}
	// kept is a commit of odd sync with an approval as its second parent, and without its files.
	kept := func(s *story, at, approval repo.OID) repo.OID {
		c, err := s.r.Commit(at)
		if err != nil {
			s.Fatal(err)
		}
		return s.land(s.make("done", "", draft{who: agentMail, parents: []repo.OID{at, approval}, tree: c.Tree, trailers: [][2]string{on("Odd-Approval", approval)}}))
	}
	merge := func(s *story, d draft) repo.OID {
		tree, _, err := s.r.MergeTree(s.Context(), d.parents[0], d.parents[1])
		if err != nil {
			s.Fatal(err)
		}
		d.tree = tree
		return s.land(s.make("merge", "", d))
	}
	for name, c := range map[string]struct {
		law  string
		tell func(s *story, l lines) repo.OID
		want []string
	}{
		"into the line": {"", func(s *story, l lines) repo.OID {
			return merge(s, draft{who: agentMail, parents: []repo.OID{l.strict, l.side}})
		}, []string{signed}},
		"the line into it": {"", func(s *story, l lines) repo.OID {
			return merge(s, draft{who: agentMail, parents: []repo.OID{l.side, l.strict}})
		}, []string{signed}},
		"a person's, with a trailer": {"", func(s *story, l lines) repo.OID {
			return merge(s, draft{who: annMail, parents: []repo.OID{l.strict, l.side}, trailers: [][2]string{{"Odd-Run", "run-x"}}})
		}, []string{signed}},
		"the line as an approval": {"", func(s *story, l lines) repo.OID {
			return kept(s, l.side, l.strict)
		}, []string{signed}},
		"below an approval": {"", func(s *story, l lines) repo.OID {
			return kept(s, l.side, upon(s, l.strict))
		}, []string{signed}},
		"beside the target": {team, func(s *story, l lines) repo.OID {
			s.heads["main"] = l.fork
			return merge(s, draft{who: agentMail, parents: []repo.OID{l.strict, l.side}})
		}, []string{signed}},
		"a person's of the target": {team, func(s *story, l lines) repo.OID {
			s.heads["main"] = l.side
			return merge(s, draft{who: annMail, parents: []repo.OID{l.strict, l.side}})
		}, []string{signed}},
		"on the target": {team, func(s *story, l lines) repo.OID {
			s.heads["main"] = merge(s, draft{who: agentMail, parents: []repo.OID{l.strict, l.side}})
			return s.land(s.heads["main"])
		}, []string{signed}},
		"odd sync of the target": {team, func(s *story, l lines) repo.OID {
			s.heads["main"] = l.side
			return merge(s, draft{who: agentMail, parents: []repo.OID{l.strict, l.side}})
		}, []string{}},
		"odd sync of the target's law": {team, func(s *story, l lines) repo.OID {
			s.heads["main"] = l.strict
			return merge(s, draft{who: agentMail, parents: []repo.OID{l.side, l.strict}})
		}, []string{}},
		"odd sync of an approval": {team, func(s *story, l lines) repo.OID {
			s.heads["main"] = l.strict
			merge(s, draft{who: agentMail, parents: []repo.OID{l.side, l.strict}})
			s.ann("keys", repo.Changes{"keys": []byte("#\n"), "odd.toml": []byte(lawWith(s, "require_signed = true\nallowed_signers = \"keys\"\n"+team))})
			return kept(s, s.tip(), upon(s, l.strict))
		}, []string{keys}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begin(t, lawWith(t, c.law), nil)
			s.add("early", "")
			l := lines{fork: s.tip()}
			l.strict = s.ann("law", repo.Changes{"odd.toml": []byte(lawWith(t, "require_signed = true\n"+c.law))})
			s.land(l.fork)
			s.add("t", "")
			l.side = s.tip()
			if c.law != "" {
				s.heads["board"], s.branch = l.strict, "board"
			}
			to := c.tell(s, l)
			if d := cmp.Diff(c.want, listFindings(s.check("", to))); d != "" {
				t.Error(d)
			}
		})
	}
}

// A ready task of odd sense must be allowed on every line that a machine merges it with.
func TestAMachineMergesReadyTasks(t *testing.T) {
	t.Parallel()
	const refused = "3 tasks/test-a.md:7 odd sense files a task in ready, which odd.toml does not allow in #, which is merged with it"
	const on = "[sense]\nready = [\"test\"]\npaths = [\"a/**\"]\n"
	for name, c := range map[string]struct {
		off    string // what odd.toml says on the other line
		who    string
		onto   bool   // the task's line is merged into the other one
		target string // the line that is the target, "" for none
		want   []string
	}{
		"withdrawn":                        {"", agentMail, true, "", []string{refused}},
		"withdrawn, the other way":         {"", agentMail, false, "", []string{refused}},
		"another role":                     {on + "role = \"editor\"\n", agentMail, true, "", []string{refused}},
		"other paths":                      {strings.Replace(on, "a/**", "a/b/**", 1), agentMail, true, "", []string{refused}},
		"another sensor more":              {strings.Replace(on, "[\"test\"", "[\"test\", \"lint\"", 1), agentMail, true, "", nil},
		"by a person":                      {"", annMail, true, "", nil},
		"by a person who has to sign":      {"require_signed = true\n", annMail, true, "", []string{refused}},
		"odd sync of the target":           {"", agentMail, false, "off", nil},
		"odd sync of a target that has it": {"", agentMail, true, "on", []string{refused}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			more := ""
			if c.target != "" {
				more = team
			}
			s := begin(t, lawWith(t, more+on), nil)
			fork := s.tip()
			off := s.ann("law", repo.Changes{"odd.toml": []byte(lawWith(t, c.off+more))})
			s.land(fork)
			filed := byAgent(repo.Changes{taskFile("test-a"): []byte(sensedTask)})(s)
			switch c.target {
			case "off":
				s.heads["main"], s.branch = off, "board"
			case "on":
				s.branch = "board"
			}
			onto, other := filed, off
			if c.onto {
				onto, other = off, filed
			}
			to := s.land(s.mergeLines(c.who, onto, other))
			if d := cmp.Diff(c.want, listFindings(s.check("", to)), cmpopts.EquateEmpty()); d != "" {
				t.Error(d)
			}
		})
	}
}

package verify

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/journal/repo"
)

// What a person rebased can be proven no more, and they are told that this is why and how it is mended; merged as it
// was, it is clean.
func TestWhatIsRebasedIsTold(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	s.anchored = true
	s.add("t", "")
	base := s.tip()
	w := s.claim("t")
	s.keepBrief(w, func(b string) string { return b })
	s.result(w, 1_000, terms("keel"))
	drained := s.tip()
	s.land(base)
	onto := s.ann("note", repo.Changes{"docs/a.md": []byte("# A\n")})
	if d := cmp.Diff([]string{}, listFindings(s.check("", s.land(s.mergeLines(annMail, onto, drained))))); d != "" {
		t.Errorf("merged: %s", d)
	}
	claim := s.cherryPick(w.base, onto, annMail)
	r := s.check("", s.land(s.cherryPick(drained, claim, annMail)))
	r.Findings = rules.Fold(r.Findings)
	want := fmt.Sprintf("ann@example.org rewrote the claim of t as %.10s (git rebase, git cherry-pick or git filter-branch)", claim)
	if len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Message, want) || !strings.Contains(r.Findings[0].Way, "git pull --no-rebase") || len(r.Findings[0].Also) != 1 {
		t.Errorf("no %q alone in\n%v", want, r.Findings)
	}
	byAgent := s.cherryPick(w.base, onto, agentMail)
	for _, f := range s.check("", s.land(s.cherryPick(drained, byAgent, agentMail))).Findings {
		if strings.Contains(f.Text(), "made again") {
			t.Errorf("of what the agent made: %s", f)
		}
	}
}

// A proposal that a person merged without an approval is told of where it was merged, and not of what comes later.
func TestAMergeWithoutApprovalIsToldInItsRange(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	s.add("t", "")
	w := work(s, "t")
	before := s.tip()
	merged := s.land(s.mergeLines(annMail, before, w.proposal))
	later := s.ann("note", repo.Changes{"docs/a.md": []byte("# A\n")})
	for name, c := range map[string]struct {
		from repo.OID
		want int
	}{"its own": {before, 1}, "a later one": {merged, 0}} {
		if r := s.check(c.from, later); len(r.Findings) != c.want {
			t.Errorf("%s: %v", name, r.Findings)
		}
	}
}

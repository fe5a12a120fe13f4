package proof

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/journal/repo"
)

// What a person rebased can be proven no more, and they are told that this is why and how
// it is mended; merged as it was, it is clean.
func TestWhatIsRebasedIsTold(t *testing.T) {
	t.Parallel()
	s := begin(t, lawful(t, ""), nil)
	s.anchored = true
	s.add("t", "")
	base := s.tip()
	w := s.claim("t")
	s.told(w, func(b string) string { return b })
	s.result(w, 1_000, terms("keel"))
	drained := s.tip()
	s.land(base)
	onto := s.ann("note", repo.Changes{"docs/a.md": []byte("# A\n")})
	if d := cmp.Diff([]string{}, found(s.check("", s.land(s.merge(annMail, onto, drained))))); d != "" {
		t.Errorf("merged: %s", d)
	}
	claim := s.picked(w.base, onto, annMail)
	r := s.check("", s.land(s.picked(drained, claim, annMail)))
	again := fmt.Sprintf("%.10s, which ann@example.org rewrote (git rebase or git cherry-pick), so odd's records name the old commit", claim)
	for i, want := range []string{"at its claim in " + again, "; its claim is " + again} {
		if i >= len(r.Findings) || !strings.Contains(r.Findings[i].Message, want) || r.Findings[i].Way != mergeIt {
			t.Errorf("no %q in\n%v", want, r.Findings)
		}
	}
	if len(r.Findings) != 2 {
		t.Errorf("%v", r.Findings)
	}
	byAgent := s.picked(w.base, onto, agentMail)
	for _, f := range s.check("", s.land(s.picked(drained, byAgent, agentMail))).Findings {
		if strings.Contains(f.Text(), "made again") {
			t.Errorf("of what the agent made: %s", f)
		}
	}
}

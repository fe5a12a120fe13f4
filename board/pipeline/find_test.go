package pipeline

import (
	"strings"
	"testing"
)

// waits is the op that straight leaves waiting.
func waits(t *testing.T) (Story, *sim) {
	t.Helper()
	s := newSim()
	s.run(t, Limits{}, straightToWaiting())
	stories, problems := ReadOps(s.records(t))
	if len(problems) > 0 || len(stories) != 1 || stories[0].Op().Phase != Waiting {
		t.Fatal(stories, problems)
	}
	return stories[0], s
}

func TestFindTakesWhatIsUnique(t *testing.T) {
	t.Parallel()
	all := []string{"op-01JAAA7", "op-01JAAB8", "op-01KAAA9"}
	for name, want := range map[string]string{
		"op-01JAAA7": "op-01JAAA7", "01jaaa": "op-01JAAA7", "op-01jaab": "op-01JAAB8", "01K": "op-01KAAA9", "aaa9": "op-01KAAA9",
		"op-01J": "it fits several changes: op-01JAAA7, op-01JAAB8", "op-": "there is no change with this id", "": "there is no change with this id", "zz": "odd op list --all",
	} {
		id, err := Match(all, name)
		switch {
		case err != nil && !strings.Contains(err.Error(), want):
			t.Errorf("%q: %v, want %s", name, err, want)
		case err == nil && id != want:
			t.Errorf("%q: %s, want %s", name, id, want)
		}
	}
}

func TestAnApprovalIsOfWhatWasJudged(t *testing.T) {
	t.Parallel()
	s, _ := waits(t)
	o := s.Op()
	is := []string{o.Moved[0].New, strings.TrimPrefix(o.Moved[0].Ref, "refs/heads/"), o.Fact(FactBase), o.ID, o.Fact(FactTier)}
	for i, word := range []string{"", "commit", "branch", "base", "op", "tier"} {
		a := append([]string(nil), is...)
		if i > 0 {
			a[i-1] = "other"
		}
		got := o.Unbound(a[0], a[1], a[2], a[3], a[4])
		if i == 0 && got != nil || i > 0 && (len(got) != 1 || !strings.HasPrefix(got[0], "its "+word+" is other")) {
			t.Errorf("another %q: %q", word, got)
		}
	}
}

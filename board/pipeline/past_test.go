package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/odd-cli/odd/journal/memory"
)

// An op of n files and an ending, as its story is read back.
func ended(r Reason, files []Edit, facts map[string]string) Story {
	set := FactsOf(files)
	for k, v := range facts {
		set[k] = v
	}
	at := time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)
	row, _ := r.reasonRowOf()
	o := Op{ID: "op-1", Task: "tasks/t", Phase: row.ends[0], Reason: r, At: at, facts: set}
	return Story{Told: []Told{{Op: o}}, Sound: true}
}

// A fact holds all the names that fit it, and how many there are in all.
func TestFactsOf(t *testing.T) {
	t.Parallel()
	many := []Edit{}
	for i := range 40 {
		many = append(many, Edit{Path: fmt.Sprintf("dir/file \"%02d\".go", i)})
	}
	for _, c := range []struct {
		files []Edit
		names int
	}{
		{nil, 0}, {modify("b.go", "a.go"), 2}, {many, 12},
		{modify("AKIAQ3EGRMT7ZVB2XKLP.go", "a.go"), 1},
		{modify(strings.Repeat("x", 300)), 0},
	} {
		set := FactsOf(c.files)
		names, count := Op{facts: set}.Changes()
		if len(names) != c.names || count != len(c.files) || len(set[FactTouched]) > maxFact || !slices.IsSorted(names) {
			t.Errorf("%d files: %q, %d of them: %v", len(c.files), names, count, set)
		}
	}
	if names, count := (Op{facts: map[string]string{FactTouched: "[", FactFiles: "x"}}).Changes(); names != nil || count != 0 {
		t.Errorf("facts that are none say %q, %d", names, count)
	}
}

// What is remembered of a candidate is not that of the one before it.
func TestFactsReplace(t *testing.T) {
	t.Parallel()
	set := FactsOf(modify("a.go"))
	maps.Copy(set, FactsOf(modify(strings.Repeat("x", 300))))
	if names, count := (Op{facts: set}).Changes(); len(names) != 0 || count != 1 {
		t.Errorf("%q, %d", names, count)
	}
}

// Only what became of the change itself teaches; an outage, a clock and a person's
// second thought do not.
func TestTrials(t *testing.T) {
	t.Parallel()
	teach := map[Reason]string{
		Merged: "well", Landed: "well", Rejected: "ill", RuleRefused: "ill", TierBlocked: "ill", PlanWrong: "ill", CandidateUnusable: "ill",
		RetriesExhausted: "ill", ValidationFailed: "ill", RepairStopped: "ill", VerifyFailed: "ill",
	}
	for _, r := range Reasons() {
		got, teaches := ended(r, modify("a.go", "b.go"), nil).Trial()
		want := teach[r]
		switch {
		case !teaches && want == "":
		case !teaches || got.Well != (want == "well") || want == "" || got.Count != 2 || (got.Why == string(r)) == got.Well, got.Form && r == Rejected, !got.Form && r == RuleRefused:
			t.Errorf("%s teaches %+v", r, got)
		}
	}
	env := Iteration{N: 1, Class: ClassEnv, Stop: StopEnv + ":" + StopReason(EnvNetwork), At: time.UnixMilli(1)}
	if got, teaches := ended(RepairStopped, modify("a.go"), env.iterationFacts()).Trial(); teaches {
		t.Errorf("what the surroundings are to blame for teaches %+v", got)
	}
	open, unsound := ended(Merged, nil, nil), ended(Merged, nil, nil)
	open.Told[0].Op.Phase, unsound.Sound = Waiting, false
	for _, s := range []Story{open, unsound} {
		if got, teaches := s.Trial(); teaches {
			t.Errorf("%+v", got)
		}
	}
}

// What is too old to teach anything need not be read.
func TestRecent(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)
	id := func(age time.Duration) string {
		return "op-" + ulid.MustNew(ulid.Timestamp(now.Add(-age)), chance{}).String()
	}
	ttl := 14 * 24 * time.Hour
	for age, want := range map[time.Duration]bool{0: true, memory.Window + ttl: true, memory.Window + ttl + 25*time.Hour: false} {
		if got := Recent(id(age), now, ttl); got != want {
			t.Errorf("after %s: %v", age, got)
		}
	}
	if !Recent("op-1", now, ttl) {
		t.Error("an op whose age nobody knows is left out")
	}
}

type chance struct{}

func (chance) Read(b []byte) (int, error) { return len(b), nil }

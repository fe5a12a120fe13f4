package pipeline

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/odd-cli/odd/journal/memory"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// FactsOf are the facts of a candidate that tell which files it changes: all their
// number, and the names of as many as fit a fact.
func FactsOf(files []Edit) map[string]string {
	names := []string{}
	for _, f := range files {
		if secrets.RedactText(f.Path) == f.Path {
			names = append(names, f.Path)
		}
	}
	slices.Sort(names)
	names = names[:min(len(names), maxFact)]
	list, _ := json.Marshal(names)
	for ; len(list) > maxFact; list, _ = json.Marshal(names) {
		names = names[:len(names)-1]
	}
	return map[string]string{FactFiles: strconv.Itoa(len(files)), FactTouched: string(list)} // also of none: another candidate had others
}

// Changes are the files that the op's candidate changes, as far as its facts name
// them, and how many they are in all.
func (o Op) Changes() (names []string, count int) {
	if json.Unmarshal([]byte(o.Fact(FactTouched)), &names) != nil {
		names = nil
	}
	count, err := strconv.Atoi(o.Fact(FactFiles))
	if err != nil || count < len(names) {
		count = len(names)
	}
	return names, count
}

// teachingEndings are the endings that tell something of the change itself: whether it went
// well. Any other is of a person who called it off, a clock, the disk, a provider or
// the surroundings.
var teachingEndings = map[Reason]bool{
	Merged: true, Landed: true,
	Rejected: false, RuleRefused: false, TierBlocked: false, PlanWrong: false, CandidateUnusable: false, RetriesExhausted: false,
	ValidationFailed: false, RepairStopped: false, VerifyFailed: false,
}

// Trial is what an op's ending teaches, for what is remembered of files; ok is false where it
// teaches nothing. Records that do not hold teach nothing.
func (s Story) Trial() (t memory.Trial, ok bool) {
	o := s.Op()
	well, ok := teachingEndings[o.Reason]
	if !ok || !s.Sound || !o.Ended() || o.stoppedBySurroundings() {
		return t, false
	}
	t = memory.Trial{Op: o.ID, Task: o.Task, At: o.At, Well: well}
	if t.Files, t.Count = o.Changes(); !well {
		t.Why = string(o.Reason)
	}
	t.Form = slices.Contains([]Reason{RuleRefused, TierBlocked, PlanWrong, CandidateUnusable}, o.Reason)
	return t, true
}

// Recent reports an op, by its id, that can have ended lately enough to teach
// something now, where what waits for a person waits for at most ttl.
func Recent(id string, now time.Time, ttl time.Duration) bool {
	u, err := ulid.ParseStrict(strings.TrimPrefix(id, "op-"))
	return err != nil || now.Sub(ulid.Time(u.Time())) < memory.Window+ttl+24*time.Hour
}

// stoppedBySurroundings reports an op whose repair stopped for what is around the change.
func (o Op) stoppedBySurroundings() bool {
	last := ""
	for _, name := range iterationFacts {
		last = cmp.Or(o.Fact(name), last)
	}
	return o.Reason == RepairStopped && slices.ContainsFunc(strings.Fields(last), func(w string) bool {
		return w == "class="+string(ClassEnv) || strings.HasPrefix(w, "stop="+string(StopSandbox))
	})
}

// describePast are the files of the change that ask for more care than it does itself,
// a line each.
func (a ruleInput) describePast() []string {
	var out []string
	for _, r := range a.e.Past.Careful(Candidate{Files: a.e.Files}.Paths(), a.Blast) {
		risk := r.Risk(a.Blast)
		out = append(out, r.String()+", regression risk "+memory.Decimal(risk)+" ("+string(memory.LevelOf(risk))+")")
	}
	return out
}

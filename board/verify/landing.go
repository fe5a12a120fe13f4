package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/journal/repo"
)

// Refusal is what a Landing found in commits before any shared ref moved to them.
type Refusal struct{ Findings []rules.Finding }

// Error returns the first finding with its way out, and how many more there are.
func (r *Refusal) Error() string {
	f, more := r.Findings[0], ""
	if n := len(r.Findings) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return fmt.Sprintf("%s:%d: %s%s; the commit was not kept, because rule %d of odd check forbids it; %s", f.Path, f.Line, f.What(), more, f.Invariant, f.Way)
}

// Refused returns the reason code.
func (r *Refusal) Refused() string { return "history-rule" }

// Is reports repo.ErrForbidden, by which those who land know a Refusal.
func (r *Refusal) Is(target error) bool { return target == repo.ErrForbidden }

// Landing judges commits that odd is about to land, for [repo.Line.Check].
type Landing struct{ checker Checker }

// NewLanding returns a Landing for a process that lands in r. It reads every State from the
// commits, and never from what an earlier process kept: anybody may write to that cache.
func NewLanding(r *repo.Repo) *Landing { return &Landing{NewChecker(context.Background(), r)} }

// Check returns a *Refusal if a rule forbids next, which is to move line from old, or what the refs of also are to move
// to. Other commits do not count: odd did not make them, and an old finding stops nobody. A shallow clone cannot be
// judged; the next check elsewhere does it.
func (l *Landing) Check(ctx context.Context, line *repo.Line, old, next repo.OID, also []repo.RefUpdate) error {
	if l.checker.facts.repo.Shallow() {
		return nil
	}
	l.checker.facts.ctx = ctx
	s := Scope{From: old, To: next, Refs: map[string]repo.OID{}}
	made := map[repo.OID]bool{next: true}
	moves := append([]repo.RefUpdate{{Name: line.Ref, Old: old, New: next}}, also...)
	for _, u := range moves {
		if u.New == "" {
			continue
		}
		s.Refs[u.Name] = u.New
		if branch, is := strings.CutPrefix(u.Name, "refs/heads/"); is {
			s.Refs[line.Local(branch)] = u.New
			made[u.New] = true
		}
	}
	var found []rules.Finding
	for i, u := range moves {
		if i > 0 && (u.New == "" || !strings.HasPrefix(u.Name, "refs/heads/")) {
			continue
		}
		s.From, s.To = u.Old, u.New
		if s.From == "" {
			s.From = l.findBranchPoint(u.New, old, next)
		}
		got, err := l.checker.checkMade(s, made)
		if err != nil {
			return fmt.Errorf("%s: not landed, because odd could not check it: %w", strings.TrimPrefix(u.Name, "refs/heads/"), err)
		}
		for _, f := range got {
			if !slices.ContainsFunc(found, func(o rules.Finding) bool { return o.Key() == f.Key() }) {
				found = append(found, f)
			}
		}
	}
	if len(found) > 0 {
		return &Refusal{found}
	}
	return nil
}

// findBranchPoint returns where a new branch leaves the history that is there: the first parent of the one commit that odd has
// made on it. It returns "" if there is none, or if the commit cannot be read, which whoever judges it finds out.
func (l *Landing) findBranchPoint(branch, old, next repo.OID) repo.OID {
	if branch == next && old != "" {
		return old
	}
	c, _ := l.checker.facts.repo.Commit(branch)
	if len(c.Parents) == 0 {
		return ""
	}
	return c.Parents[0]
}

func (c Checker) checkMade(s Scope, made map[repo.OID]bool) ([]rules.Finding, error) {
	s.made = made
	h, err := c.facts.readHistory(s)
	if err != nil {
		return nil, err
	}
	var found []rules.Finding
	for _, at := range h.commits {
		if !made[at.OID] {
			continue
		}
		v, err := h.judgeCommit(at, rules.All())
		if err != nil {
			return nil, err
		}
		found = append(found, v.found...)
	}
	return rules.Fold(found), nil
}

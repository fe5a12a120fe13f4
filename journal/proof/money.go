package proof

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/ledger"
	"github.com/odd-cli/odd/journal/repo"
)

// budgeted is invariant 5: money is reserved before it is spent, and never past the stop.
func budgeted(j *judge) error {
	if len(j.Parents) == 0 {
		return nil // where a history begins
	}
	swept := []ledger.Record{}
	for _, l := range j.lines {
		j.checked++
		why := ""
		var err error
		switch l.record.Kind {
		case ledger.Claim:
			why, err = j.claimed(l)
		case ledger.Session:
			if _, n := openClaim(l); n < 0 || n >= l.known {
				why = "a session without a claim in an earlier commit; money is reserved before it is spent"
			}
		case ledger.Outcome:
			why = closed(l)
		case ledger.Abandoned:
			why, err = j.abandoned(l, &swept)
		}
		if err != nil {
			return err
		}
		if why != "" {
			j.find(l.path, l.n, "%s", why)
		}
	}
	return j.reserved()
}

// reserved reports a task that the act claims without a claim record.
func (j *judge) reserved() error {
	if j.kind != boardCommit {
		return nil
	}
	for _, f := range j.files {
		if state(f.new) != board.InProgress || state(f.old) == board.InProgress || f.old == nil {
			continue
		}
		if !slices.ContainsFunc(j.lines, func(l line) bool { return l.record.Kind == ledger.Claim && l.record.Task == string(f.new.ID) }) {
			j.find(f.Path, f.new.Line("state"), "claimed without a reservation in the ledger")
		}
	}
	return nil
}

// openClaim is the claim that a record of a run closes or works under, and its
// place in the file; -1 when there is none.
func openClaim(l line) (ledger.Record, int) {
	for i := len(l.earlier) - 1; i >= 0; i-- {
		r := l.earlier[i]
		if r.Task != l.record.Task {
			continue
		}
		switch r.Kind {
		case ledger.Claim:
			return r, i
		case ledger.Outcome:
			return ledger.Record{}, -1
		}
	}
	return ledger.Record{}, -1
}

// closed says what is wrong with an outcome's money.
func closed(l line) string {
	c, n := openClaim(l)
	if n < 0 {
		return "an outcome without an open claim of " + l.record.Task
	}
	var sessions int64
	for _, r := range l.earlier[n:] {
		if r.Kind == ledger.Session && r.Task == c.Task && r.Cost <= math.MaxInt64-sessions {
			sessions += r.Cost
		}
	}
	switch r := l.record; {
	case r.Cost > c.Reserved:
		return fmt.Sprintf("the outcome costs $%s, reserved were $%s", usd(r.Cost), usd(c.Reserved))
	case r.Cost < sessions:
		return fmt.Sprintf("the outcome costs $%s, its sessions $%s", usd(r.Cost), usd(sessions))
	case r.Team != c.Team:
		return fmt.Sprintf("the outcome is paid by team %q, the claim was team %q's", r.Team, c.Team)
	}
	return ""
}

func usd(n int64) string { return budget.MicroUSD(n).String() }

// abandoned says what is wrong with a sweep's record. swept are the claims that
// earlier lines of the same commit closed.
func (j *judge) abandoned(l line, swept *[]ledger.Record) (string, error) {
	spent, err := j.spend.at(j.ctx, j.Parents[0], j.law.Root)
	if err != nil {
		return "the ledger before it cannot be summed: " + err.Error(), nil
	}
	for _, c := range spent.Open {
		if c.Run != l.record.DeadRun || c.Task != l.record.Task || slices.ContainsFunc(*swept, func(s ledger.Record) bool { return s.Run == c.Run && s.Seq == c.Seq }) {
			continue
		}
		*swept = append(*swept, c)
		if l.record.Cost != c.Reserved || l.record.Team != c.Team {
			return fmt.Sprintf("charges $%s to team %q, %s had reserved $%s for team %q", usd(l.record.Cost), l.record.Team, c.Run, usd(c.Reserved), c.Team), nil
		}
		return "", nil
	}
	return fmt.Sprintf("closes a claim of %s by %s that is not open", l.record.Task, or(l.record.DeadRun, "no run")), nil
}

// claimed says what is wrong with a claim: what it reserves, and whether that
// fits on top of what the ledger held.
func (j *judge) claimed(l line) (string, error) {
	r := l.record
	if text(&r, "refresh_of") != "" && r.Reserved == 0 {
		return "", nil // judged again, nothing runs
	}
	if why := j.enough(r); why != "" {
		return why, nil
	}
	spent, err := j.spend.at(j.ctx, j.OID, j.laws[j.OID].Root)
	if err != nil {
		return "the ledger cannot be summed: " + err.Error(), nil
	}
	all, err := spent.In(ledger.Month(r.TS))
	if err != nil {
		return err.Error(), nil
	}
	want := budget.MicroUSD(r.Reserved)
	if before := budget.MicroUSD(all) - want; budget.Decide(j.law.Budget, before, want) == budget.Stop {
		return fmt.Sprintf("reserves $%s on top of $%s, past the hard stop of $%s", want, before, hardStop(j.law)), nil
	}
	if r.Team == "" {
		return "", nil
	}
	team, err := spent.TeamIn(ledger.Month(r.TS), r.Team)
	if err != nil {
		return err.Error(), nil
	}
	if before := budget.MicroUSD(team) - want; budget.DecideTeam(j.law.Budget, r.Team, before, want) == budget.Stop {
		return fmt.Sprintf("reserves $%s on top of $%s, past team %s's $%s", want, before, r.Team, j.law.Budget.Teams[r.Team]), nil
	}
	return "", nil
}

// enough says when a claim reserves less than a session may cost, or names
// another team than its task's.
func (j *judge) enough(r ledger.Record) string {
	for _, f := range j.files {
		if !isTask(f.new) || string(f.new.ID) != r.Task {
			continue
		}
		t, err := board.Parse(f.new)
		if err != nil {
			return "" // row 3 reports it
		}
		if r.Team != t.Team {
			return fmt.Sprintf("the claim is paid by team %q, the task's team is %q", r.Team, t.Team)
		}
		want := j.law.Session.MaxCost
		switch {
		case free(j.law):
			want = 0
		case t.Budget > 0:
			want = t.Budget
		}
		if budget.MicroUSD(r.Reserved) < want {
			return fmt.Sprintf("reserves $%s, a session may cost $%s", usd(r.Reserved), want)
		}
	}
	return ""
}

// free reports whether the configured substrate cannot cost money: the embedded
// ones cannot, another only where odd.toml says so.
func free(law config.Config) bool {
	switch law.Session.Substrate {
	case "extract", "replay":
		return true
	}
	return law.Substrates[law.Session.Substrate].Free
}

func hardStop(law config.Config) budget.MicroUSD {
	if law.Budget.HardStop > 0 {
		return law.Budget.HardStop
	}
	return law.Budget.Monthly
}

// spending sums ledgers at commits. Files are remembered by blob, months by
// tree, so a claim costs what its month changed.
type spending struct {
	repo   *repo.Repo
	trees  *repo.Reader
	files  map[repo.OID]ledger.FileSum
	months map[repo.OID]ledger.FileSum
	sums   map[repo.OID]ledger.Spend // by the ledger's tree
}

func newSpending(r *repo.Repo, trees *repo.Reader) spending {
	return spending{r, trees, map[repo.OID]ledger.FileSum{}, map[repo.OID]ledger.FileSum{}, map[repo.OID]ledger.Spend{}}
}

// at is what the ledgers of a commit say was spent and reserved.
func (s spending) at(ctx context.Context, commit repo.OID, root string) (ledger.Spend, error) {
	dir := root + "/ledger"
	tree, mode, err := s.trees.Find(commit, dir)
	if err != nil || mode != folder {
		return ledger.Spend{}, err
	}
	if sum, ok := s.sums[tree]; ok {
		return sum, nil
	}
	files, err := s.repo.Tree(tree)
	if err != nil {
		return ledger.Spend{}, err
	}
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return ledger.Spend{}, err
	}
	var months []ledger.FileSum
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		oid, _, err := s.trees.Find(tree, e.Name())
		if err != nil {
			return ledger.Spend{}, err
		}
		m, err := s.month(ctx, oid)
		if err != nil {
			return ledger.Spend{}, fmt.Errorf("%s/%s/%w", dir, e.Name(), err)
		}
		months = append(months, m)
	}
	sum, err := ledger.Combine(months...)
	if err == nil {
		s.sums[tree] = sum
	}
	return sum, err
}

// month adds the files of one month into the sum of one file that held them all.
func (s spending) month(ctx context.Context, tree repo.OID) (ledger.FileSum, error) {
	if sum, ok := s.months[tree]; ok {
		return sum, nil
	}
	files, err := s.trees.Diff(ctx, "", tree)
	if err != nil {
		return ledger.FileSum{}, err
	}
	out := ledger.FileSum{Team: map[string]map[string]int64{}}
	for _, c := range files {
		if path.Ext(c.Path) != ".jsonl" || !strings.HasPrefix(c.NewMode, "100") {
			continue
		}
		f, err := s.file(c.New)
		if err == nil {
			err = add(&out, f)
		}
		if err != nil {
			return out, fmt.Errorf("%s: %w", c.Path, err)
		}
	}
	s.months[tree] = out
	return out, nil
}

func (s spending) file(oid repo.OID) (ledger.FileSum, error) {
	if f, ok := s.files[oid]; ok {
		return f, nil
	}
	b, err := s.repo.Blob(oid)
	if err != nil {
		return ledger.FileSum{}, err
	}
	f, err := ledger.SumFile(b)
	if err == nil {
		s.files[oid] = f
	}
	return f, err
}

func add(to *ledger.FileSum, f ledger.FileSum) error {
	for month, teams := range f.Team {
		if to.Team[month] == nil {
			to.Team[month] = map[string]int64{}
		}
		for team, n := range teams {
			if n > math.MaxInt64-to.Team[month][team] {
				return errors.New("the sum is more money than odd can count")
			}
			to.Team[month][team] += n
		}
	}
	to.Open = append(to.Open, f.Open...)
	to.Abandoned = append(to.Abandoned, f.Abandoned...)
	return nil
}

package event

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Spend is what ledgers say was spent, per month and per team. A month is the UTC month of the closing record.
// Reservations that no outcome or abandoned record closes are in Open and count in full, whatever their month. In
// and TeamIn add the two. No sum of a Spend that [Combine] made overflows.
type Spend struct {
	Month map[string]int64
	Team  map[string]map[string]int64 // month → team → micro-USD
	Open  []Record                    // unclosed claims without their Data, by run and seq
	Last  time.Time                   // the latest ts of any record

	Alerts map[string]map[string]bool // month → envelopes whose alert was recorded
}

// In returns what counts against a month's budget: its closed spending and every open reservation, in micro-USD.
func (s Spend) In(month string) int64 {
	return s.Month[month] + s.Reserved(func(Record) bool { return true })
}

// TeamIn is In for the records of one team.
func (s Spend) TeamIn(month, team string) int64 {
	return s.Team[month][team] + s.Reserved(func(r Record) bool { return r.Team == team })
}

// ApartIn is In for the records of all teams for which own is false.
func (s Spend) ApartIn(month string, own func(team string) bool) int64 {
	total := s.Month[month]
	for team, n := range s.Team[month] {
		if own(team) {
			total -= n // of which total is the sum
		}
	}
	return total + s.Reserved(func(r Record) bool { return !own(r.Team) })
}

// Reserved returns the sum of the open reservations for which counts is true, in micro-USD.
func (s Spend) Reserved(counts func(Record) bool) (sum int64) {
	for _, r := range s.Open {
		if counts(r) {
			sum += r.Reserved
		}
	}
	return sum
}

// Alerted reports whether the alert of an envelope was recorded in that month.
func (s Spend) Alerted(month, envelope string) bool { return s.Alerts[month][envelope] }

// checkSum returns an error if all that was ever spent and is reserved now is more than an int64 holds.
func (s Spend) checkSum() (err error) {
	total := int64(0)
	for _, n := range s.Month {
		if total, err = addMoney(total, n); err != nil {
			return err
		}
	}
	for _, r := range s.Open {
		if total, err = addMoney(total, r.Reserved); err != nil {
			return err
		}
	}
	return nil
}

// FileSum is what one file adds to a Spend. It depends on that file alone, so it may be cached as long as the
// file's blob is the same. Its JSON form is for caches and may change.
type FileSum struct {
	Team      map[string]map[string]int64 // month → team ("" for none) → micro-USD closed here
	Open      []Record                    // claims nothing in this file closes
	Abandoned []Record                    // what this file closes in others, without their Data
	Last      time.Time                   // the latest ts in the file
	Alerts    map[string][]string         // month → envelopes whose alert the file records
}

type claimKey struct{ run, task string }

// Add returns s with further records of its file; the zero FileSum has none. The next outcome of a claim's run and
// task closes it. The money counts in the UTC month of the closing record, under that record's team or else the
// claim's. Records that close a claim in another run's file are in Abandoned, for [Combine]. s does not change, and
// may be the sum of several files.
func (s FileSum) Add(recs []Record) (FileSum, error) {
	s = s.clone()
	for _, r := range recs {
		s.Last = laterTime(s.Last, r.TS)
		s.addAlerts(r)
		switch r.Kind {
		case Claim, Engage:
			r.Data = nil
			s.Open = append(s.Open, r)
			continue
		case Outcome:
			s.closeClaims(&r, r.Run)
		case Abandoned:
			if r.DeadRun == r.Run {
				s.closeClaims(&r, r.Run)
			}
			told := r
			told.Data = nil
			s.Abandoned = append(s.Abandoned, told)
		default:
			continue
		}
		if err := addTo(s.Team, Month(r.TS), r.Team, r.Cost); err != nil {
			return FileSum{}, fmt.Errorf("record %d: %w", r.Seq, err)
		}
	}
	return s, nil
}

// Merge returns the sum of two files of different runs. Neither is changed.
func (s FileSum) Merge(f FileSum) (FileSum, error) {
	s = s.clone()
	for month, teams := range f.Team {
		for team, n := range teams {
			if err := addTo(s.Team, month, team, n); err != nil {
				return FileSum{}, err
			}
		}
	}
	for month, names := range f.Alerts {
		if s.Alerts == nil {
			s.Alerts = map[string][]string{}
		}
		s.Alerts[month] = append(s.Alerts[month], names...)
	}
	s.Last, s.Open, s.Abandoned = laterTime(s.Last, f.Last), append(s.Open, f.Open...), append(s.Abandoned, f.Abandoned...)
	return s, nil
}

// clone returns a copy that shares nothing with s that Add and Merge change.
func (s FileSum) clone() FileSum {
	s.Open, s.Abandoned = slices.Clone(s.Open), slices.Clip(s.Abandoned)
	teams := make(map[string]map[string]int64, len(s.Team))
	for month, of := range s.Team {
		teams[month] = maps.Clone(of)
	}
	s.Team = teams
	if s.Alerts != nil {
		alerts := make(map[string][]string, len(s.Alerts))
		for month, names := range s.Alerts {
			alerts[month] = slices.Clip(names)
		}
		s.Alerts = alerts
	}
	return s
}

// addAlerts adds the alerts that a claim or an outcome records.
func (s *FileSum) addAlerts(r Record) {
	told := append(r.Claim().Alert, r.Outcome().Alert...)
	if len(told) == 0 {
		return
	}
	if s.Alerts == nil {
		s.Alerts = map[string][]string{}
	}
	s.Alerts[Month(r.TS)] = append(s.Alerts[Month(r.TS)], told...)
}

// closeClaims drops the run's open claims of r's task, and gives r their team if it has none.
func (s *FileSum) closeClaims(r *Record, run string) {
	s.Open = slices.DeleteFunc(s.Open, func(c Record) bool {
		if c.Run != run || c.Task != r.Task {
			return false
		}
		if r.Team == "" {
			r.Team = c.Team
		}
		return true
	})
}

// Combine adds the sums of files, in any order, and closes the claims that another file's abandoned records name. A
// claim later than such a record stays open: a run that was thought dead has claimed again.
func Combine(files ...FileSum) (Spend, error) {
	out := Spend{Month: map[string]int64{}, Team: map[string]map[string]int64{}}
	for _, s := range files {
		out.Last = laterTime(out.Last, s.Last)
		out.noteAlerts(s.Alerts)
		for month, teams := range s.Team {
			if err := out.addMonth(month, teams); err != nil {
				return Spend{}, fmt.Errorf("ledger/%s: %w", month, err)
			}
		}
	}
	out.Open = openClaims(files)
	if err := out.checkSum(); err != nil {
		return Spend{}, fmt.Errorf("ledger: %w", err)
	}
	return out, nil
}

func (s *Spend) noteAlerts(alerts map[string][]string) {
	for month, names := range alerts {
		if s.Alerts == nil {
			s.Alerts = map[string]map[string]bool{}
		}
		if s.Alerts[month] == nil {
			s.Alerts[month] = map[string]bool{}
		}
		for _, name := range names {
			s.Alerts[month][name] = true
		}
	}
}

func laterTime(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func (s *Spend) addMonth(month string, teams map[string]int64) error {
	for team, cost := range teams {
		total, err := addMoney(s.Month[month], cost)
		if err != nil {
			return err
		}
		s.Month[month] = total
		if team == "" {
			continue
		}
		if err := addTo(s.Team, month, team, cost); err != nil {
			return err
		}
	}
	return nil
}

// openClaims returns the claims that no file closes.
func openClaims(files []FileSum) []Record {
	dead := map[claimKey]time.Time{}
	for _, s := range files {
		for _, r := range s.Abandoned {
			if k := (claimKey{r.DeadRun, r.Task}); r.TS.After(dead[k]) {
				dead[k] = r.TS
			}
		}
	}
	var out []Record
	for _, s := range files {
		for _, c := range s.Open {
			if at, ok := dead[claimKey{c.Run, c.Task}]; !ok || c.TS.After(at) {
				out = append(out, c)
			}
		}
	}
	slices.SortFunc(out, func(a, b Record) int {
		return cmp.Or(strings.Compare(a.Run, b.Run), cmp.Compare(a.Seq, b.Seq))
	})
	return out
}

func addTo(m map[string]map[string]int64, month, team string, cost int64) error {
	if m[month] == nil {
		m[month] = map[string]int64{}
	}
	total, err := addMoney(m[month][team], cost)
	m[month][team] = total
	return err
}

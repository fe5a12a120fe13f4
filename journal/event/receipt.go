package event

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
)

// Receipt is what one run paid in one month for one task to one model: the sessions of a claim that was closed in
// that month, in micro-USD.
type Receipt struct {
	Month      string `json:"month"`
	Run        string `json:"run"`
	Task       string `json:"task"`
	Team       string `json:"team,omitempty"`
	Substrate  string `json:"substrate,omitempty"` // "" if no session reported the cost: the claim was swept
	Model      string `json:"model,omitempty"`
	Sessions   int    `json:"sessions"`
	Input      int64  `json:"input_tokens"`
	Output     int64  `json:"output_tokens"`
	CacheRead  int64  `json:"cache_read_tokens"`
	CacheWrite int64  `json:"cache_write_tokens"`
	Cost       int64  `json:"cost_micro_usd"`
}

// Receipts itemises the closed spending of ledger files by month, run, task, substrate and model. The costs add up
// to Spend.Month: what a closing record charges above its sessions has a receipt of its own.
func Receipts(files iter.Seq[[]Record]) []Receipt {
	var out []Receipt
	for recs := range files {
		out = append(out, receiptsOfFile(recs)...)
	}
	return addReceipts(out)
}

// receiptsOfFile returns the receipts of the claims that one file's records close.
func receiptsOfFile(recs []Record) []Receipt {
	var out []Receipt
	sessions, team := map[claimKey][]Record{}, map[claimKey]string{}
	for _, r := range recs {
		k := claimKey{r.Run, r.Task}
		switch r.Kind {
		case Claim:
			team[k], sessions[k] = r.Team, nil
			continue
		case Session:
			sessions[k] = append(sessions[k], r)
			continue
		case Abandoned:
			k.run = r.DeadRun
		case Outcome:
		default:
			continue
		}
		rest := Receipt{Month: Month(r.TS), Run: k.run, Task: k.task, Team: cmp.Or(r.Team, team[k]), Cost: r.Cost}
		for _, s := range sessions[k] {
			one := rest
			one.addSession(s)
			rest.Cost -= s.Cost
			out = append(out, one)
		}
		if rest.Cost != 0 || len(sessions[k]) == 0 {
			out = append(out, rest)
		}
		delete(sessions, k)
	}
	return out
}

// addSession sets cost, model and tokens from a session's record.
func (r *Receipt) addSession(s Record) {
	d := s.Session()
	r.Cost, r.Sessions, r.Substrate, r.Model = s.Cost, 1, d.Substrate, d.Model
	if t := d.Tokens; t != nil {
		r.Input, r.Output, r.CacheRead, r.CacheWrite = t.Input, t.Output, t.CacheRead, t.CacheWrite
	}
}

// addReceipts merges the receipts of one run, task, substrate and model.
func addReceipts(all []Receipt) []Receipt {
	key := func(r Receipt) Receipt {
		return Receipt{Month: r.Month, Run: r.Run, Task: r.Task, Team: r.Team, Substrate: r.Substrate, Model: r.Model}
	}
	sums := map[Receipt]Receipt{}
	for _, r := range all {
		k := key(r)
		s, ok := sums[k]
		if !ok {
			s = k
		}
		s.Sessions += r.Sessions
		s.Input, s.Output, s.CacheRead, s.CacheWrite, s.Cost = s.Input+r.Input, s.Output+r.Output, s.CacheRead+r.CacheRead, s.CacheWrite+r.CacheWrite, s.Cost+r.Cost
		sums[k] = s
	}
	return slices.SortedFunc(maps.Values(sums), func(a, b Receipt) int {
		return cmp.Or(strings.Compare(a.Month, b.Month), strings.Compare(a.Run, b.Run), strings.Compare(a.Task, b.Task),
			strings.Compare(a.Substrate, b.Substrate), strings.Compare(a.Model, b.Model), strings.Compare(a.Team, b.Team))
	})
}

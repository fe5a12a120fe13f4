package event

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Whatever runs there were, their receipts and the sums are one money: by month,
// and by team.
func TestReceiptsAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		files := map[string][]byte{}
		for run := range rapid.IntRange(1, 3).Draw(rt, "runs") {
			name, seq := fmt.Sprintf("run-%d", run), 0
			var b []byte
			put := func(r Record) {
				seq++
				r.Run, r.Seq, r.TS = name, seq, at(7, 28+seq)
				next, err := Append(b, r)
				if err != nil {
					rt.Fatal(err)
				}
				b = next
			}
			for n := range rapid.IntRange(1, 4).Draw(rt, "tasks") {
				task, team := fmt.Sprint("t", n), rapid.SampledFrom([]string{"", "docs", "news"}).Draw(rt, "team")
				put(Record{Kind: Claim, Task: task, Team: team, Reserved: 1000})
				cost := int64(0)
				for range rapid.IntRange(0, 2).Draw(rt, "sessions") {
					c := rapid.Int64Range(0, 2000).Draw(rt, "cost")
					cost += c
					put(Record{Kind: Session, Task: task, Cost: c, Data: SessionData{Substrate: rapid.SampledFrom([]string{"exec", "openai"}).Draw(rt, "s"), Tokens: &Tokens{Input: 7}}})
				}
				switch rapid.IntRange(0, 3).Draw(rt, "end") {
				case 0:
					put(Record{Kind: Outcome, Task: task, Team: team, Cost: cost})
				case 1:
					put(Record{Kind: Outcome, Task: task, Cost: cost + 13})
				case 2:
					put(Record{Kind: Abandoned, Task: task, DeadRun: "run-x", Team: team, Cost: 1000})
				}
			}
			files["ledger/2026-07/"+name+".jsonl"] = b
		}
		sums, err := sumAll(files)
		if err != nil {
			rt.Fatal(err)
		}
		var all [][]Record
		for _, b := range files {
			recs, err := Read(b)
			if err != nil {
				rt.Fatal(err)
			}
			all = append(all, recs)
		}
		got := map[string]int64{}
		for _, r := range Receipts(slices.Values(all)) {
			got[r.Month] += r.Cost
			if r.Team != "" {
				got[r.Month+r.Team] += r.Cost
			}
		}
		for month, n := range sums.Month {
			if got[month] != n {
				rt.Fatalf("%s: receipts %d, sum %d", month, got[month], n)
			}
			for team, n := range sums.Team[month] {
				if got[month+team] != n {
					rt.Fatalf("%s of %s: receipts %d, sum %d", month, team, got[month+team], n)
				}
			}
		}
	})
}

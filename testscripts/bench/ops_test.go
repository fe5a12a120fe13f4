//go:build bench

package bench

import (
	"bytes"
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/event"
)

// ledger are the files of n runs of a month, each of which made a change that has ended.
func ledger(t *testing.T, n int) iter.Seq2[string, []byte] {
	chance := rand.NewChaCha8([32]byte{seed})
	began := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	id := func(at time.Time) string { return ulid.MustNew(ulid.Timestamp(at), chance).String() }
	return func(yield func(string, []byte) bool) {
		for i := range n {
			at := began.Add(time.Duration(i) * time.Minute)
			run, task := "run-"+id(at), fmt.Sprintf("tasks/task-%05d", i)
			var b []byte
			add := func(r event.Record) {
				r.Seq = 1 + bytes.Count(b, []byte("\n"))
				var err error
				if b, err = event.Append(b, r); err != nil {
					t.Fatal(err)
				}
			}
			add(event.Record{TS: at, Run: run, Kind: event.Claim, Task: task, Reserved: 250_000, Data: event.ClaimData{Attempt: 1}})
			add(event.Record{TS: at, Run: run, Kind: event.Session, Task: task, Cost: 20_000, Data: event.SessionData{Substrate: "replay", Outcome: "completed", Turns: 3}})
			facts := pipeline.FactsOf([]pipeline.Edit{{Path: fmt.Sprintf("src/f%d.go", i%100)}})
			facts[pipeline.FactBase] = "0123456789012345678901234567890123456789"
			o, err := pipeline.Begin("op-"+id(at), task, run, at, pipeline.Limits{}, facts)
			for _, to := range []pipeline.Phase{pipeline.Route, pipeline.Generate, pipeline.Generate} {
				if err == nil {
					add(o.Record())
					o, err = o.Advance(pipeline.Step{To: to, By: run, At: o.At.Add(time.Second), Until: o.Until})
				}
			}
			if err == nil {
				add(o.Record())
				o, err = pipeline.End(o, run, o.At.Add(time.Second), pipeline.CandidateUnusable, "it does not parse")
				add(o.Record())
			}
			if err != nil {
				t.Fatal(err)
			}
			add(event.Record{TS: o.At.Truncate(time.Second), Run: run, Kind: event.Outcome, Task: task, Cost: 20_000, Trace: event.Trace(b), Data: event.OutcomeData{Verdict: "blocked"}})
			if !yield(event.Path(run, at), b) {
				return
			}
		}
	}
}

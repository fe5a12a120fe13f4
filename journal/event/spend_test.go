package event

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func at(month time.Month, day int) time.Time {
	return time.Date(2026, month, day, 12, 0, 0, 0, time.UTC)
}

func TestSum(t *testing.T) {
	t.Parallel()
	// run-1 ends in August what it began in July; run-2 dies on one of its two
	// tasks; run-3 sweeps it; run-4 is still at work.
	f := map[string][]byte{
		"ledger/2026-07/run-1.jsonl": file(t,
			Record{TS: at(7, 31), Run: "run-1", Seq: 1, Kind: Claim, Task: "a", Team: "docs", Reserved: 100},
			Record{TS: at(8, 1), Run: "run-1", Seq: 2, Kind: Session, Task: "a", Cost: 30},
			Record{TS: at(8, 1), Run: "run-1", Seq: 3, Kind: Outcome, Task: "a", Cost: 30}),
		"ledger/2026-07/run-2.jsonl": file(t,
			Record{TS: at(7, 2), Run: "run-2", Seq: 1, Kind: Claim, Task: "b", Reserved: 500},
			Record{TS: at(7, 2), Run: "run-2", Seq: 2, Kind: Outcome, Task: "b", Cost: 5},
			Record{TS: at(7, 2), Run: "run-2", Seq: 3, Kind: Claim, Task: "c", Team: "docs", Reserved: 700}),
		"ledger/2026-08/run-3.jsonl": file(t,
			Record{TS: at(8, 2), Run: "run-3", Seq: 1, Kind: Abandoned, Task: "c", DeadRun: "run-2", Team: "docs", Cost: 700}),
		"ledger/2026-08/run-4.jsonl": file(t,
			Record{TS: at(8, 3), Run: "run-4", Seq: 1, Kind: Claim, Task: "c", Team: "ops", Reserved: 1000}),
	}
	got, err := sumAll(f)
	if err != nil {
		t.Fatal(err)
	}
	want := Spend{
		Month: map[string]int64{"2026-07": 5, "2026-08": 730},
		Team:  map[string]map[string]int64{"2026-08": {"docs": 730}},
		Open:  []Record{{TS: at(8, 3), Run: "run-4", Seq: 1, Kind: Claim, Task: "c", Team: "ops", Reserved: 1000}},
		Last:  at(8, 3),
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, c := range []struct {
		month, team string
		want        int64
	}{{"2026-07", "", 1005}, {"2026-08", "", 1730}, {"2026-09", "", 1000}, {"2026-08", "docs", 730}, {"2026-09", "ops", 1000}, {"2026-09", "docs", 0}} {
		in := got.In(c.month)
		if c.team != "" {
			in = got.TeamIn(c.month, c.team)
		}
		if in != c.want {
			t.Errorf("%s %s: %d, want %d", c.month, c.team, in, c.want)
		}
	}
}

func TestAClaimStaysOpen(t *testing.T) {
	t.Parallel()
	claim := Record{TS: at(7, 2), Run: "run-1", Seq: 1, Kind: Claim, Task: "a", Reserved: 9}
	for _, c := range []struct {
		name  string
		other Record
		open  int
	}{
		{"closed by its outcome", Record{TS: at(7, 2), Run: "run-1", Seq: 2, Kind: Outcome, Task: "a"}, 0},
		{"another task's outcome", Record{TS: at(7, 2), Run: "run-1", Seq: 2, Kind: Outcome, Task: "b"}, 1},
		{"another run's outcome", Record{TS: at(7, 2), Run: "run-2", Seq: 2, Kind: Outcome, Task: "a"}, 1},
		{"its session", Record{TS: at(7, 2), Run: "run-1", Seq: 2, Kind: Session, Task: "a", Cost: 9}, 1},
		{"an outcome before it", Record{TS: at(7, 2), Run: "run-1", Seq: 0, Kind: Outcome, Task: "a"}, 1},
		{"swept by another run", Record{TS: at(7, 2), Run: "run-2", Seq: 1, Kind: Abandoned, Task: "a", DeadRun: "run-1"}, 0},
		{"another run swept", Record{TS: at(7, 2), Run: "run-2", Seq: 1, Kind: Abandoned, Task: "a", DeadRun: "run-0"}, 1},
		{"another task swept", Record{TS: at(7, 2), Run: "run-2", Seq: 1, Kind: Abandoned, Task: "b", DeadRun: "run-1"}, 1},
		{"swept before it was claimed again", Record{TS: at(7, 1), Run: "run-2", Seq: 1, Kind: Abandoned, Task: "a", DeadRun: "run-1"}, 1},
	} {
		files := map[string][]byte{"ledger/2026-07/x.jsonl": file(t, c.other)}
		switch {
		case c.other.Run != claim.Run:
			files["ledger/2026-07/y.jsonl"] = file(t, claim)
		case c.other.Seq < claim.Seq:
			files["ledger/2026-07/x.jsonl"] = file(t, c.other, claim)
		default:
			files["ledger/2026-07/x.jsonl"] = file(t, claim, c.other)
		}
		got, err := sumAll(files)
		if err != nil || len(got.Open) != c.open {
			t.Errorf("%s: %d open, %v, want %d", c.name, len(got.Open), err, c.open)
		}
	}
}

func TestSumFailsClosed(t *testing.T) {
	t.Parallel()
	ok := file(t, Record{TS: at(7, 2), Run: "run-1", Seq: 1, Kind: Outcome, Task: "a", Cost: math.MaxInt64})
	one := file(t, Record{TS: at(7, 3), Run: "run-2", Seq: 1, Kind: Outcome, Task: "a", Cost: 1})
	next := file(t, Record{TS: at(8, 3), Run: "run-2", Seq: 1, Kind: Outcome, Task: "a", Cost: 1})
	held := file(t, Record{TS: at(7, 3), Run: "run-2", Seq: 1, Kind: Claim, Task: "a", Reserved: 1})
	both := file(t, Record{TS: at(7, 2), Run: "run-1", Seq: 1, Kind: Outcome, Task: "a", Cost: math.MaxInt64},
		Record{TS: at(7, 2), Run: "run-1", Seq: 2, Kind: Outcome, Task: "a", Cost: 1})
	for _, c := range []struct {
		name  string
		files map[string][]byte
		want  string
	}{
		{"torn", map[string][]byte{"ledger/2026-07/run-1.jsonl": ok[:len(ok)-1]}, "ledger/2026-07/run-1.jsonl: line 1: torn"},
		{"malformed", map[string][]byte{"ledger/2026-07/run-1.jsonl": []byte("{}\n")}, "ledger/2026-07/run-1.jsonl: line 1: version 0"},
		{"overflow in a file", map[string][]byte{"ledger/2026-07/run-1.jsonl": both}, "record 2: the sum is more money"},
		{"overflow over months", map[string][]byte{"ledger/2026-07/run-1.jsonl": ok, "ledger/2026-08/run-2.jsonl": next}, "ledger: the sum is more money"},
		{"overflow with what is reserved", map[string][]byte{"ledger/2026-07/run-1.jsonl": ok, "ledger/2026-07/run-2.jsonl": held}, "ledger: the sum is more money"},
		{"overflow over files", map[string][]byte{"ledger/2026-07/run-1.jsonl": ok, "ledger/2026-07/run-2.jsonl": one}, "2026-07: the sum is more money"},
	} {
		if got, err := sumAll(c.files); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, %v, want an error with %q", c.name, got, err, c.want)
		}
	}
}

// Files may be summed in any order, and a sum that went through a cache is the
// sum that did not.
func TestCombineIsOrderFree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var sums []FileSum
		for i := range rapid.IntRange(1, 4).Draw(t, "files") {
			run := []string{"r0", "r1", "r2", "r3"}[i]
			var f []byte
			for seq := range rapid.IntRange(0, 5).Draw(t, "records") {
				var err error
				f, err = Append(f, Record{
					TS: at(time.Month(rapid.IntRange(7, 8).Draw(t, "month")), 1+seq), Run: run, Seq: seq,
					Kind: rapid.SampledFrom([]Kind{Claim, Session, Outcome, Abandoned}).Draw(t, "kind"),
					Task: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "task"), DeadRun: rapid.SampledFrom([]string{"", "r0", "r1"}).Draw(t, "dead"),
					Team: rapid.SampledFrom([]string{"", "docs"}).Draw(t, "team"), Cost: int64(seq), Reserved: 1,
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			s, err := sumFile(f)
			if err != nil {
				t.Fatal(err)
			}
			sums = append(sums, s)
		}
		want, err := Combine(sums...)
		if err != nil {
			t.Fatal(err)
		}
		cached, err := json.Marshal(rapid.Permutation(sums).Draw(t, "order"))
		if err != nil {
			t.Fatal(err)
		}
		var again []FileSum
		if err := json.Unmarshal(cached, &again); err != nil {
			t.Fatal(err)
		}
		got, err := Combine(again...)
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Fatal(err, d)
		}
	})
}

// sumFile is the sum of one file.
func sumFile(b []byte) (FileSum, error) {
	recs, err := Read(b)
	if err != nil {
		return FileSum{}, err
	}
	return FileSum{}.Add(recs)
}

// sumAll is the Spend of ledger files.
func sumAll(all map[string][]byte) (Spend, error) {
	var files []FileSum
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s, err := sumFile(all[name])
		if err != nil {
			return Spend{}, fmt.Errorf("%s: %w", name, err)
		}
		files = append(files, s)
	}
	return Combine(files...)
}

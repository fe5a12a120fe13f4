package pipeline

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestRepairLimits: configuration asks for less, and for more of the timebox alone.
func TestRepairLimits(t *testing.T) {
	t.Parallel()
	d := DefaultRepair()
	if diff := cmp.Diff(d, RepairLimits{}.table()); diff != "" {
		t.Error(diff)
	}
	more := RepairLimits{Iterations: 99, Timebox: time.Hour, Left: time.Second, Lines: 9999, Files: 99, Runs: 99, Streak: 99, Retries: map[Class]int{ClassTest: 99, "none": 9}}
	longer := d
	longer.Timebox = time.Hour
	if diff := cmp.Diff(longer, more.table()); diff != "" {
		t.Error(diff)
	}
	less := RepairLimits{Iterations: 1, Timebox: time.Second, Left: time.Minute, Lines: 1, Files: 1, Runs: 1, Streak: 1, NoAgain: true,
		Retries: map[Class]int{ClassTest: 0, ClassSyntax: -1, ClassFlake: 1, ClassEnv: 1}}
	want := less
	want.Retries = map[Class]int{ClassTest: 0, ClassSyntax: 0, ClassFlake: 1, ClassEnv: 1}
	if diff := cmp.Diff(want, less.table()); diff != "" {
		t.Error(diff)
	}
}

// TestIterationRecord: what a record keeps is read back, and fits.
func TestIterationRecord(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		it := Iteration{
			N: rapid.IntRange(1, 5).Draw(rt, "n"), At: moment(dawn), Retest: rapid.Bool().Draw(rt, "retest"),
			Class: rapid.SampledFrom([]Class{"", ClassEnv, ClassSyntax, ClassTest, ClassFlake}).Draw(rt, "class"),
			Lines: rapid.IntRange(0, 99_999).Draw(rt, "lines"), Files: rapid.IntRange(0, 999).Draw(rt, "files"), Runs: rapid.IntRange(0, 2).Draw(rt, "runs"),
			Took: time.Duration(rapid.IntRange(0, 120_000).Draw(rt, "ms")) * time.Millisecond, Outcome: Stopped,
			Stop:  rapid.SampledFrom(append(stopReasons(), "", StopEnv.of(EnvInterpreter), StopClass.of("syntax"), StopGenerate.of(string(CostCapExceeded)))).Draw(rt, "stop"),
			Patch: sum256([]byte("p"))[:16],
		}
		if it.Class != "" {
			it.Failing, it.Failure = rapid.IntRange(1, maxAllIDs).Draw(rt, "ids"), sum256([]byte("f"))[:16]
		}
		facts := map[string]string{}
		for n := range it.N {
			before := it
			before.N = n + 1
			maps.Copy(facts, before.Facts())
		}
		for k, v := range facts {
			if !factName(k) || len(v) > maxFact {
				rt.Fatalf("%s of %d bytes", k, len(v))
			}
		}
		got, err := Iterations(Op{facts: facts})
		if err != nil || len(got) != it.N {
			rt.Fatalf("%d, %v", len(got), err)
		}
		if d := cmp.Diff(it, got[it.N-1]); d != "" {
			rt.Fatal(d)
		}
	})
	for _, bad := range []string{"x", "repair.iter.v2 n=1", "repair.iter.v1 n=1", "repair.iter.v1 n=2 outcome=progress", "repair.iter.v1 n=one outcome=progress", "repair.iter.v1 n=1 mood=good outcome=progress", "repair.iter.v1 n=1 outcome=progress lines=-1"} {
		if _, err := Iterations(Op{ID: "op-01", facts: map[string]string{"repair_one": bad}}); err == nil || !strings.Contains(err.Error(), "op-01: fact repair_one: ") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// FuzzIterations: no fact of a record breaks the reader.
func FuzzIterations(f *testing.F) {
	f.Add(Iteration{N: 1, At: dawn, Class: ClassTest, Failing: 2, Failure: "f", Patch: "p", Outcome: Progress}.Facts()["repair_one"])
	f.Add("repair.iter.v1 n=1 n=2 at=99999999999999999 outcome=x stop=")
	f.Fuzz(func(t *testing.T, text string) {
		its, err := Iterations(Op{ID: "op-01", facts: map[string]string{"repair_one": text}})
		if err == nil && text != "" && (len(its) != 1 || its[0].N != 1) {
			t.Fatalf("%v", its)
		}
	})
}

package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/event/eventtest"
)

// lived is the ledger of an op that waited and was merged.
func lived(t testing.TB) []event.Record {
	s := newSim()
	o, err := Run(context.Background(), s.world("run-1"), Limits{}, straightToWaiting(), began(t, s.now))
	if err != nil {
		t.Fatal(err)
	}
	if o, err = End(o, o.ID, dawn.Add(time.Hour), Merged, ""); err != nil {
		t.Fatal(err)
	}
	s.add(o.Record())
	return s.records(t)
}

func straightToWaiting() Steps {
	s := straight()
	s.Verify = goTo(Waiting)
	return s
}

func TestARecordIsStable(t *testing.T) {
	t.Parallel()
	all := lived(t)
	if got := len(all); got != 12 {
		t.Fatalf("%d records", got)
	}
	s := newSim()
	for _, r := range all {
		s.add(r)
	}
	lines := bytes.SplitAfter(s.files["run-1"], []byte("\n"))
	const want = `{"data":{"at":"2026-03-02T09:00:00.000Z","clock":"phase","hash":"7a","id":"op-01.8","mark":"intent","new":"p1","op":"op-01","op_until":"2026-03-02T09:30:00.000Z","prev":"7a","ref":"refs/heads/odd/review/tidy.1","to":"apply","until":"2026-03-02T09:01:00.000Z"},"kind":"op","run":"run-1","seq":8,"task":"tasks/tidy","ts":"2026-03-02T09:00:00Z","v":1}` + "\n"
	var got []byte
	for _, l := range lines {
		if bytes.Contains(l, []byte(`"intent"`)) {
			got = l
		}
	}
	stories, _ := ReadOps(all)
	for _, told := range stories[0].Told {
		got = bytes.ReplaceAll(got, []byte(told.Op.Hash), []byte("7a"))
	}
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Error(d)
	}
}

// TestEveryViolationIsFound changes one thing in a ledger, and wants it located.
func TestEveryViolationIsFound(t *testing.T) {
	t.Parallel()
	set := func(n int, key string, v any) func([]event.Record) []event.Record {
		return func(all []event.Record) []event.Record { eventtest.Set(&all[n-1], key, v); return all }
	}
	for _, c := range []struct {
		name string
		do   func([]event.Record) []event.Record
		want []string
	}{
		{"as it was", func(all []event.Record) []event.Record { return all }, nil},
		{"in another order", func(all []event.Record) []event.Record { slices.Reverse(all); return all }, nil},
		{"a record of an op is missing", func(all []event.Record) []event.Record { return slices.Delete(all, 4, 5) },
			[]string{"6: op-01.6 after op-01.4: a record is missing, or there twice", "6: op-01.6: the chain is broken, it follows # and the record before is #", "6: op-01.6: cannot move from validate to approve; want one of validate, repair, gate, blocked, cancelled, expired, failed_permanent"}},
		{"the first is missing", func(all []event.Record) []event.Record { return all[1:] },
			[]string{"2: op-01.2 after op-01.0: a record is missing, or there twice", "2: op-01.2: the chain is broken, it follows # and the record before is nothing", "2: op-01.2: cannot move from  to route; nothing follows "}},
		{"a record twice", func(all []event.Record) []event.Record { return append(all, all[2]) },
			[]string{"3: op-01.3 after op-01.3: a record is missing, or there twice", "3: op-01.3: the chain is broken, it follows # and the record before is #"}},
		{"another candidate", set(4, "set", map[string]any{FactCandidate: "c9"}), []string{"4: op-01.4: its hash is #, what it says makes #"}},
		{"less money", set(4, "spent_micro_usd", int64(1)), []string{"4: op-01.4: its hash is #, what it says makes #"}},
		{"another note", set(9, "note", "fine"), []string{"9: op-01.9: its hash is #, what it says makes #"}},
		{"another hash", set(4, "hash", "00"), []string{"4: op-01.4: its hash is #, what it says makes #", "5: op-01.5: the chain is broken, it follows # and the record before is #"}},
		{"a phase skipped", set(6, "to", "apply"), []string{"6: op-01.6: cannot move from gate to apply", "6: op-01.6: its hash is", "7: op-01.7: cannot move from apply to apply"}},
		{"two endings", func(all []event.Record) []event.Record {
			stories, _ := ReadOps(all)
			o, err := End(stories[0].Told[10].Op, "run-2", dawn.Add(time.Hour), Rejected, "")
			if err != nil {
				t.Fatal(err)
			}
			r := o.Record()
			r.Seq = 1
			return append(all, r)
		}, []string{"1: op-01.12 after op-01.12: a record is missing, or there twice", "1: op-01.12: the chain is broken", "1: op-01.12: enter after its ending, complete; nothing follows an ending"}},
		{"a phase after the ending", func(all []event.Record) []event.Record {
			stories, _ := ReadOps(all)
			o := stories[0].Op().fold(Step{Mark: Enter, To: Verify, By: "op-01", At: dawn.Add(time.Hour)})
			r := o.Record()
			r.Seq = 2
			return append(all, r)
		}, []string{"2: op-01.13: enter after its ending, complete; nothing follows an ending"}},
		{"applies twice", func(all []event.Record) []event.Record {
			stories, _ := ReadOps(all)
			o := stories[0].Told[9].Op // in verify
			for _, m := range []Mark{Intent, Applied} {
				o = o.fold(Step{Mark: m, To: Verify, By: "run-1", At: o.At, Clocks: o.Clocks, Effect: Effect{Ref: branch, Old: "p1", New: "p2"}})
				r := o.Record()
				r.Seq = o.N
				all = append(all[:o.N-1], r)
			}
			return all
		}, []string{"11: op-01.11: applies twice: refs/heads/odd/review/tidy.1 was moved before"}},
		{"a ref is moved while the change is made", func(all []event.Record) []event.Record {
			stories, _ := ReadOps(all)
			o := stories[0].Told[2].Op // in generate
			o = o.fold(Step{Mark: Intent, To: o.Phase, By: "run-1", At: o.At, Clocks: o.Clocks, Effect: Effect{Ref: branch, New: "p1"}})
			r := o.Record()
			r.Seq = o.N
			return append(all[:o.N-1], r)
		}, []string{"4: op-01.4: intent in generate; only apply and verify move a ref"}},
		{"applied without intent", func(all []event.Record) []event.Record { return slices.Delete(all, 7, 8) },
			[]string{"9: op-01.9 after op-01.7: a record is missing", "9: op-01.9: the chain is broken", "9: op-01.9: applied refs/heads/odd/review/tidy.1, and the intent was none"}},
		{"lands too soon", set(7, "reason", "merged"), []string{"7: op-01.7: enter apply with reason merged; only an ending has one", "7: op-01.7: its hash is"}},
		{"an unknown reason", func(all []event.Record) []event.Record {
			for i := range all {
				if all[i].Kind == event.OpEnd {
					eventtest.Set(&all[i], "reason", "why not")
				}
			}
			return all
		}, []string{`1: op-01.12: ends as complete for "why not", which is no reason`, "1: op-01.12: its hash is"}},
		{"of another task", func(all []event.Record) []event.Record { all[5].Task = "tasks/else"; return all },
			[]string{"6: op-01.6 of tasks/else: the op is of tasks/tidy"}},
		{"in another run's ledger", func(all []event.Record) []event.Record { all[5].Run = "run-9"; return all },
			[]string{"6: op-01.6: its hash is"}},
		{"an ending that says it is none", func(all []event.Record) []event.Record { all[2].Kind = event.OpEnd; return all },
			[]string{"3: is of kind op_end and says enter generate"}},
		{"money that came back", set(3, "spent_micro_usd", -1), []string{"3: spent_micro_usd is -1; want micro-USD above zero"}},
		{"no such day", set(3, "at", "2026-02-30T09:00:00.000Z"), []string{`3: at "2026-02-30T09:00:00.000Z"; want a moment like`}},
		{"an id of another op", set(3, "id", "op-02.3"), []string{`3: id "op-02.3"; want op-01. and a number from 1`, "4: op-01.4 after op-01.2"}},
		{"no op", func(all []event.Record) []event.Record { eventtest.Set(&all[2], "op", nil); return all }, []string{"3: names no op", "4: op-01.4 after op-01.2"}},
		{"another second", func(all []event.Record) []event.Record { all[2].TS = all[2].TS.Add(time.Second); return all }, []string{"3: at 2026-03-02T09:00:00.000Z with ts 2026-03-02T09:00:01Z"}},
		{"its own money", func(all []event.Record) []event.Record { all[2].Cost = 5; return all }, []string{"3: has members of another kind"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			all := lived(t)
			slices.SortStableFunc(all, func(a, b event.Record) int { return strings.Compare(b.Run, a.Run) }) // run-1 before op-01
			stories, problems := ReadOps(c.do(all))
			if len(c.want) == 0 {
				if len(problems) > 0 || len(stories) != 1 || !stories[0].Sound {
					t.Errorf("%v", problems)
				}
				return
			}
			var got []string
			for _, p := range problems {
				got = append(got, fmt.Sprintf("%d: %s", p.Seq, p.Text))
			}
			for _, want := range c.want {
				pieces := strings.Split(want, "#")
				if !slices.ContainsFunc(got, func(s string) bool {
					for _, p := range pieces {
						i := strings.Index(s, p)
						if i < 0 {
							return false
						}
						s = s[i+len(p):]
					}
					return true
				}) {
					t.Errorf("not found: %s\nin %s", want, strings.Join(got, "\n   "))
				}
			}
			if len(stories) > 0 && slices.ContainsFunc(stories, func(s Story) bool { return s.Sound }) && len(stories) == 1 {
				t.Error("the story is sound")
			}
		})
	}
}

// TestAnyOutcomesMakeALegalChain is promises 1 to 3 for whatever steps, clocks,
// sinks and refs do: what was recorded is sound and ends once, after at most a few
// further processes in a world that works.
func TestAnyOutcomesMakeALegalChain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := newSim()
		chaos := rapid.Float64Range(0, 0.3).Draw(rt, "chaos")
		odd := func(label string) bool { return rapid.Float64Range(0, 1).Draw(rt, label) < chaos }
		if odd("sink") {
			n := rapid.IntRange(1, 16).Draw(rt, "fails at")
			many := rapid.IntRange(1, 3).Draw(rt, "times")
			s.onSink = func(event.Record) error {
				if n--; n < 0 && -n <= many {
					return errors.New("no space left")
				}
				return nil
			}
		}
		if odd("move") {
			s.onMove = func(Effect) error { return errors.New("locked") }
		}
		if odd("late answer") {
			s.after = func(Effect) error { return errors.New("the line was cut") }
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		good := rapid.SampledFrom([]func() Steps{whole, landing, straight}).Draw(rt, "steps")()
		steps := Steps{}
		for _, p := range phases() {
			if p != Waiting {
				steps.set(p, wild(rt, s, odd, good.of(p), cancel))
			}
		}
		o, err := Begin("op-01", "tasks/tidy", "run-1", s.now, Limits{}, map[string]string{FactBase: "t0"})
		if err != nil {
			rt.Fatal(err)
		}
		_, err = Run(ctx, s.world("run-1"), Limits{}, steps, o)
		if story, ok := s.story(t); ok && err == nil && story.Open() && story.Op().Phase != Waiting {
			rt.Fatalf("no ending and no error: %s", taken(story))
		}
		s.onSink, s.onMove, s.after = nil, nil, nil
		s.abandon(t)
		s.once(t, "in the end")
	})
}

// wild is the work of a phase that now and then does something else.
func wild(rt *rapid.T, s *sim, odd func(string) bool, good Work, cancel context.CancelFunc) Work {
	return func(ctx context.Context, o Op) (Out, error) {
		s.now = s.now.Add(time.Duration(rapid.IntRange(-1000, 9000).Draw(rt, "ms")) * time.Millisecond)
		out, err := good(ctx, o)
		if odd("next") {
			out.Next = rapid.SampledFrom(append(everywhere(), "", "party")).Draw(rt, "next")
		}
		if odd("reason") {
			out.Reason = rapid.SampledFrom(append(Reasons(), "")).Draw(rt, "reason")
		}
		if odd("money") {
			out.Spent = rapid.Int64().Draw(rt, "spent")
		}
		if odd("facts") {
			out.Set = rapid.MapOfN(rapid.SampledFrom([]string{FactTier, FactCandidate, "kind", "B A D"}), rapid.SampledFrom(append(Tiers(), "x", "")), 1, 3).Draw(rt, "facts")
		}
		if odd("effect") {
			out.Effect = Effect{rapid.SampledFrom([]string{branch, target, "HEAD", ""}).Draw(rt, "ref"), "", "p7"}
		}
		if odd("note") {
			out.Note = rapid.String().Draw(rt, "note")
		}
		switch {
		case odd("slow"):
			s.now = s.now.Add(time.Hour)
		case odd("stop"):
			return out, &Stop{Reason: rapid.SampledFrom(append(Reasons(), "")).Draw(rt, "stop for"), Spent: rapid.Int64().Draw(rt, "spent")}
		case odd("error"):
			return out, errors.New("the disk")
		case odd("cancel"):
			cancel()
		case odd("panic"):
			panic("nil map")
		}
		return out, err
	}
}

// FuzzReadOps reads whatever a ledger can hold: it never panics, and what it calls
// sound is written again as it was.
func FuzzReadOps(f *testing.F) {
	s := newSim()
	for _, r := range lived(f) {
		s.add(r)
	}
	f.Add(bytes.Join([][]byte{s.files["run-1"]}, nil))
	f.Add(s.files["op-01"])
	f.Add([]byte(`{"data":{"op":"op-1","id":"op-1.1"},"kind":"op","run":"r","seq":1,"ts":"2026-03-02T09:00:00Z","v":1}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		records, _ := event.Read(b)
		stories, problems := ReadOps(records)
		if len(problems) > 0 {
			return
		}
		for _, s := range stories {
			for _, told := range s.Told {
				r := told.Op.Record()
				want, err1 := json.Marshal(told.Record.Data)
				got, err2 := json.Marshal(r.Data)
				if err1 != nil || err2 != nil || !bytes.Equal(want, got) || r.Kind != told.Record.Kind || r.Run != told.Record.Run {
					t.Fatalf("%s\n%s", want, got)
				}
			}
		}
	})
}

package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/event/eventtest"
)

func straightToWaiting() Steps {
	s := straight()
	s[Verify] = goTo(Waiting)
	return s
}

// lived is the ledger of an op that waited and was merged.
func lived(t testing.TB) []event.Record {
	s := newSim()
	o, err := End(s.run(t, Limits{}, straightToWaiting()), "op-01", dawn.Add(time.Hour), Merged, "")
	if err != nil {
		t.Fatal(err)
	}
	s.add(o.Record())
	return s.records(t)
}

// older are the records that an older odd wrote, of version 1: an op that was merged,
// one that landed, one whose commit was not what was checked, and one that waits.
func older(t testing.TB) []event.Record {
	t.Helper()
	b, err := os.ReadFile("testdata/version1.jsonl")
	var all []event.Record
	for line := range bytes.Lines(b) {
		r, bad := event.Read(line)
		if err = cmp.Or(err, bad); err == nil {
			all = append(all, r...)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestARecordIsStable(t *testing.T) {
	t.Parallel()
	all := lived(t)
	if got := len(all); got != 10 {
		t.Fatalf("%d records", got)
	}
	s := newSim()
	for _, r := range all {
		s.add(r)
	}
	const want = `{"data":{"at":"2026-03-02T09:00:00.000Z","id":"op-01.8","new":"p1","op":"op-01","ref":"refs/heads/odd/review/tidy.1","to":"verify","until":"2026-03-02T09:30:00.000Z","v":2},"kind":"op","run":"run-1","seq":8,"task":"tasks/tidy","ts":"2026-03-02T09:00:00Z","v":1}` + "\n"
	lines := bytes.SplitAfter(s.files["run-1"], []byte("\n"))
	if d := gocmp.Diff(want, string(lines[7])); d != "" {
		t.Error(d)
	}
}

// TestAnOlderStoryIsRead: what version 1 tells is what it told, and a change that waits
// there ends here.
func TestAnOlderStoryIsRead(t *testing.T) {
	t.Parallel()
	all := older(t)
	stories, problems := ReadOps(all)
	if len(problems) > 0 || len(stories) != 4 {
		t.Fatal(len(stories), problems)
	}
	const way = "classify route expand plan generate generate validate repair validate gate approve apply intent applied verify "
	for i, want := range []string{"waiting complete (merged)", "intent applied complete (landed)", "postmortem (verify_failed)", "waiting"} {
		if d := gocmp.Diff(way+want, taken(stories[i])); d != "" || !stories[i].Sound {
			t.Error(d)
		}
		if at := Passages(stories[i])[11]; at.Phase != Apply || len(at.Moved) != 1 {
			t.Errorf("%+v", at)
		}
	}
	waits := stories[3].Op()
	end, err := End(waits, waits.ID, dawn.Add(time.Hour), Merged, "")
	if err != nil {
		t.Fatal(err)
	}
	r := end.Record()
	r.Seq = 1
	if stories, problems = ReadOps(append(all, r)); len(problems) > 0 || !stories[3].Op().Ended() {
		t.Error(problems)
	}
}

// change sets a member of the nth record.
func change(n int, key string, v any) func([]event.Record) []event.Record {
	return func(all []event.Record) []event.Record { eventtest.Set(&all[n-1], key, v); return all }
}

// violation is something done to the records of an op, and the problems that it makes; a
// # stands for a hash.
type violation struct {
	name string
	do   func([]event.Record) []event.Record
	want []string
}

func (v violation) test(t *testing.T, all []event.Record) {
	t.Helper()
	stories, problems := ReadOps(v.do(all))
	if len(v.want) == 0 {
		if len(problems) > 0 || len(stories) != 1 || !stories[0].Sound {
			t.Errorf("%v", problems)
		}
		return
	}
	var got []string
	for _, p := range problems {
		got = append(got, fmt.Sprintf("%d: %s", p.Seq, p.Text))
	}
	for _, want := range v.want {
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
	if len(stories) == 1 && stories[0].Sound {
		t.Error("the story is sound")
	}
}

// TestEveryViolationIsFound changes one thing in a ledger, and wants it located.
func TestEveryViolationIsFound(t *testing.T) {
	t.Parallel()
	for _, v := range []violation{
		{"as it was", func(all []event.Record) []event.Record { return all }, nil},
		{"in another order", func(all []event.Record) []event.Record { slices.Reverse(all); return all }, nil},
		{"a record of an op is missing", func(all []event.Record) []event.Record { return slices.Delete(all, 4, 5) },
			[]string{"6: op-01.6 after op-01.4: a record is missing, or there twice", "6: op-01.6: cannot move from validate to approve; want one of validate, repair, gate, blocked, cancelled, expired, failed_permanent"}},
		{"the first is missing", func(all []event.Record) []event.Record { return all[1:] },
			[]string{"2: op-01.2 after op-01.0: a record is missing, or there twice", "2: op-01.2: cannot move from  to route; want one of "}},
		{"a record twice", func(all []event.Record) []event.Record { return append(all, all[2]) },
			[]string{"3: op-01.3 after op-01.3: a record is missing, or there twice"}},
		{"a phase skipped", change(6, "to", "apply"), []string{"6: op-01.6: cannot move from gate to apply", "7: op-01.7: cannot move from apply to apply"}},
		{"two endings", func(all []event.Record) []event.Record {
			stories, _ := ReadOps(all)
			o, err := End(stories[0].Told[8].Op, "run-2", dawn.Add(time.Hour), Rejected, "")
			if err != nil {
				t.Fatal(err)
			}
			r := o.Record()
			r.Seq = 1
			return append(all, r)
		}, []string{"1: op-01.10 after op-01.10: a record is missing, or there twice", "1: op-01.10: cancelled after its ending, complete; nothing follows an ending"}},
		{"a phase after the ending", func(all []event.Record) []event.Record {
			stories, _ := ReadOps(all)
			r := stories[0].Op().applyStep(Step{To: Verify, By: "op-01", At: dawn.Add(time.Hour)}).Record()
			r.Seq = 2
			return append(all, r)
		}, []string{"2: op-01.11: verify after its ending, complete; nothing follows an ending"}},
		{"a ref is moved while the change is made", func(all []event.Record) []event.Record {
			eventtest.Set(&all[3], "ref", branch)
			eventtest.Set(&all[3], "new", "p1")
			return all
		}, []string{"4: op-01.4: generate moves " + branch + " and goes to validate; only apply and verify move a ref"}},
		{"no ref is moved", change(8, "ref", nil), []string{`8: op-01.8: moves "" from "" to "p1"`}},
		{"lands too soon", change(7, "reason", "merged"), []string{"7: op-01.7: apply with reason merged; only an ending has one"}},
		{"an unknown reason", change(10, "reason", "why not"), []string{`1: op-01.10: ends as complete for "why not", which is no reason`}},
		{"of another task", func(all []event.Record) []event.Record { all[5].Task = "tasks/else"; return all },
			[]string{"6: op-01.6 of tasks/else: the op is of tasks/tidy"}},
		{"an ending that says it is none", func(all []event.Record) []event.Record { all[2].Kind = event.OpEnd; return all },
			[]string{"3: is of kind op_end and says generate"}},
		{"money that came back", change(3, "spent_micro_usd", -1), []string{"3: spent_micro_usd is -1; want micro-USD above zero"}},
		{"no such day", change(3, "at", "2026-02-30T09:00:00.000Z"), []string{`3: at "2026-02-30T09:00:00.000Z"; want a moment like`}},
		{"an id of another op", change(3, "id", "op-02.3"), []string{`3: id "op-02.3"; want op-01. and a number from 1`, "4: op-01.4 after op-01.2"}},
		{"no op", change(3, "op", nil), []string{"3: names no op", "4: op-01.4 after op-01.2"}},
		{"another second", func(all []event.Record) []event.Record { all[2].TS = all[2].TS.Add(time.Second); return all }, []string{"3: at 2026-03-02T09:00:00.000Z with ts 2026-03-02T09:00:01Z"}},
		{"its own money", func(all []event.Record) []event.Record { all[2].Cost = 5; return all }, []string{"3: has members of another kind"}},
		{"of a version to come", change(3, "v", 3), []string{"3: is a change's record of version 3; a newer odd wrote it: update odd"}},
		{"of version 1, without its mark", change(3, "v", nil), []string{`3: mixes versions: it is of version 1 and says mark ""`}},
		{"with a mark of version 1", change(3, "mark", "enter"), []string{`3: mixes versions: it is of version 2 and says mark "enter"`}},
		{"with a hash of version 1", change(3, "hash", "00"), []string{`3: mixes versions: it is of version 2 and says mark ""`}},
	} {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			all := lived(t)
			slices.SortStableFunc(all, func(a, b event.Record) int { return strings.Compare(b.Run, a.Run) }) // run-1 before op-01
			v.test(t, all)
		})
	}
}

// TestEveryViolationOfVersion1IsFound: its hashes and the two records around each move of
// a ref are still held to what they say.
func TestEveryViolationOfVersion1IsFound(t *testing.T) {
	t.Parallel()
	for _, v := range []violation{
		{"as it was", func(all []event.Record) []event.Record { return all }, nil},
		{"a record is missing", func(all []event.Record) []event.Record { return slices.Delete(all, 4, 5) }, []string{"6: op-01.6: the chain is broken, it follows # and the record before is #"}},
		{"the first is missing", func(all []event.Record) []event.Record { return all[1:] }, []string{"2: op-01.2: the chain is broken, it follows # and the record before is nothing"}},
		{"another candidate", change(7, "set", map[string]any{FactCandidate: "c9"}), []string{"7: op-01.7: its hash is #, what it says makes #"}},
		{"less money", change(7, "spent_micro_usd", int64(1)), []string{"7: op-01.7: its hash is #, what it says makes #"}},
		{"another note", change(9, "note", "fine"), []string{"9: op-01.9: its hash is #, what it says makes #"}},
		{"more time", change(9, "op_until", "2026-03-02T10:30:00.000Z"), []string{"9: op-01.9: its hash is #, what it says makes #"}},
		{"another hash", change(4, "hash", "00"), []string{"4: op-01.4: its hash is #, what it says makes #", "5: op-01.5: the chain is broken, it follows # and the record before is #"}},
		{"in another run's ledger", func(all []event.Record) []event.Record { all[5].Run = "run-9"; return all }, []string{"6: op-01.6: its hash is"}},
		{"applied without intent", func(all []event.Record) []event.Record { return slices.Delete(all, 12, 13) },
			[]string{"14: op-01.14 after op-01.12: a record is missing", "14: op-01.14: applied refs/heads/odd/review/tidy.1, and the intent was none"}},
		{"another ref applied", change(14, "ref", target), []string{"14: op-01.14: applied refs/heads/main, and the intent was " + branch}},
		{"an intent that nothing answers", func(all []event.Record) []event.Record { return slices.Delete(all, 13, 14) }, []string{"15: op-01.15: verify is entered and no record says that a ref was moved"}},
		{"two intents", change(14, "mark", "intent"), []string{"14: op-01.14: a second intent before " + branch + " is answered"}},
		{"an intent elsewhere", change(13, "to", "verify"), []string{"13: op-01.13: intent in apply; only apply and verify move a ref"}},
	} {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			v.test(t, slices.DeleteFunc(older(t), func(r event.Record) bool { return r.Op().Op != "op-01" }))
		})
	}
}

// TestAnyOutcomesMakeALegalStory is promises 1 to 3 for whatever steps and clocks do:
// what was recorded is sound and ends once.
func TestAnyOutcomesMakeALegalStory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := newSim()
		chaos := rapid.Float64Range(0, 0.3).Draw(rt, "chaos")
		odd := func(label string) bool { return rapid.Float64Range(0, 1).Draw(rt, label) < chaos }
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		steps := rapid.SampledFrom([]func() Steps{whole, landing, straight}).Draw(rt, "steps")()
		for p, good := range steps {
			steps[p] = wild(rt, s, odd, good, cancel)
		}
		o, err := Begin("op-01", "tasks/tidy", "run-1", s.now, Limits{}, map[string]string{FactBase: "t0"})
		if err != nil {
			rt.Fatal(err)
		}
		Run(ctx, s.world("run-1", steps), Limits{}, o)
		if story, _ := s.story(t); story.Open() && story.Op().Phase != Waiting {
			rt.Fatalf("no ending: %s", taken(story))
		}
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
			out.Moved = Effect{rapid.SampledFrom([]string{branch, target, "HEAD", ""}).Draw(rt, "ref"), "", "p7"}
		}
		if odd("note") {
			out.Note = rapid.String().Draw(rt, "note")
		}
		switch {
		case odd("slow"):
			s.now = s.now.Add(time.Hour)
		case odd("stop"):
			return Out{Reason: rapid.SampledFrom(append(Reasons(), "")).Draw(rt, "stop for"), Spent: rapid.Int64().Draw(rt, "spent")}, nil
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
	old, err := os.ReadFile("testdata/version1.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(old[:bytes.Index(old, []byte(`"op-02"`))])
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
				if told.Record.Op().V == 0 {
					continue // nobody writes version 1 any more
				}
				want, err1 := json.Marshal(told.Record.Data)
				got, err2 := json.Marshal(r.Data)
				if err1 != nil || err2 != nil || !bytes.Equal(want, got) || r.Kind != told.Record.Kind || r.Run != told.Record.Run {
					t.Fatalf("%s\n%s", want, got)
				}
			}
		}
	})
}

package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// story is a run's records: claims, some of them closed, in two months and teams, with alerts.
func story(n int) []Record {
	at := time.Date(2026, 7, 31, 23, 0, 0, 0, time.UTC)
	var rs []Record
	for i := range n {
		r := Record{TS: at.Add(time.Duration(i) * 10 * time.Minute), Run: "run-a", Seq: 1 + i, Kind: Claim, Task: fmt.Sprint("t", i/3), Team: fmt.Sprint("team-", i%2), Reserved: 7}
		switch i % 3 {
		case 1:
			r.Kind, r.Cost, r.Data = Outcome, 5, OutcomeData{Alert: []string{"tenant"}}
		case 2:
			r.Kind, r.DeadRun, r.Cost = Abandoned, "run-b", 3
		}
		rs = append(rs, r)
	}
	return rs
}

// Whatever file comes after whatever other one, the sum is that of SumFile.
func TestGrowIsSumFile(t *testing.T) {
	var files [][]byte
	var f []byte
	for _, r := range story(20) {
		f = must(t)(Append(f, r))
		files = append(files, f)
	}
	two := must(t)(Append(nil, Record{TS: time.Unix(0, 0), Run: "run-c", Seq: 4, Kind: Refused}))
	files = append(files, nil, two, bytes.ReplaceAll(f, []byte("team-1"), []byte("team-2")))
	chance := rand.New(rand.NewPCG(1, 2))
	var g Grown
	for range 500 {
		b := files[chance.IntN(len(files))]
		was := g.Sum.clone()
		next, err := g.Grow(b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(was, g.Sum.clone()); diff != "" {
			t.Fatalf("Grow changed what it grew from: %s", diff)
		}
		want, err := SumFile(b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.clone(), next.Sum.clone()); diff != "" {
			t.Fatalf("%d bytes: %s", len(b), diff)
		}
		g = next
	}
}

// A line that repeats a record, that is torn or whose money overflows is an error
// however much of the file was known before.
func TestGrowRefuses(t *testing.T) {
	var f []byte
	for _, r := range story(6) {
		f = must(t)(Append(f, r))
	}
	g, err := Grown{}.Grow(f)
	if err != nil {
		t.Fatal(err)
	}
	for name, more := range map[string]string{
		"torn":     `{"kind":"claim"`,
		"repeated": string(f[:bytes.IndexByte(f, '\n')+1]),
		"too much": `{"cost_micro_usd":9223372036854775807,"kind":"outcome","run":"run-a","seq":9,"task":"t1","team":"team-0","ts":"2026-07-31T23:10:00Z","v":1}` + "\n",
	} {
		b := append(bytes.Clone(f), more...)
		_, want := SumFile(b)
		_, err := g.Grow(b)
		if want == nil || err == nil || err.Error() != want.Error() {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
}

// An Appender returns what Append would, also for a file it did not return itself.
func TestAppenderIsAppend(t *testing.T) {
	rs := story(8)
	var a Appender
	var f []byte
	for i, r := range rs {
		want := must(t)(Append(f, r))
		got, err := a.Append(f, r)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("record %d: %v\n%s", i, err, got)
		}
		f = got
	}
	short := f[:bytes.IndexByte(f, '\n')+1]
	for name, c := range map[string]struct {
		f []byte
		r Record
	}{
		"a file put back":     {short, rs[1]},
		"the record again":    {f, rs[7]},
		"another under it":    {f, Record{TS: rs[7].TS, Run: "run-a", Seq: 8, Kind: Refused}},
		"another run":         {f, Record{TS: rs[7].TS, Run: "run-b", Seq: 9, Kind: Refused}},
		"a kind of nobody":    {f, Record{TS: rs[7].TS, Run: "run-a", Seq: 9, Kind: "party"}},
		"a file that is torn": {f[:len(f)-1], Record{TS: rs[7].TS, Run: "run-a", Seq: 9, Kind: Refused}},
	} {
		b := a
		got, err := b.Append(c.f, c.r)
		want, wantErr := Append(c.f, c.r)
		if !bytes.Equal(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("%s: %v, want %v", name, err, wantErr)
		}
	}
}

func must(t *testing.T) func([]byte, error) []byte {
	return func(b []byte, err error) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
}

// A Reader reads what Read reads, whatever it read before.
func TestReaderIsRead(t *testing.T) {
	t.Parallel()
	var whole []byte
	for _, r := range story(30) {
		line, err := encodeListed(r)
		if err != nil {
			t.Fatal(err)
		}
		whole = append(whole, line...)
	}
	other := bytes.Replace(whole, []byte(`"seq":9,`), []byte(`"seq":99,`), 1)
	states := [][]byte{whole, whole[:len(whole)/2], slices.Concat(whole, whole), []byte("{}\n"), nil, whole, other, whole[1:]}
	for at := 0; at <= len(whole); at += 41 { // torn, but for the last
		states = append(states, whole[:at], whole[:at+bytes.IndexByte(whole[at:], '\n')+1], other[:at])
	}
	var m Reader
	given := map[int][]Record{}
	for i, b := range append(states, states...) {
		want, wantErr := Read(b)
		got, err := m.Read(b)
		given[i] = got
		if d := cmp.Diff(want, got); d != "" || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("%d: %v, want %v: %s", i, err, wantErr, d)
		}
		if got, want := m.Trace(b), Trace(b); got != want {
			t.Fatalf("%d: trace %s, want %s", i, got, want)
		}
		sum, err := m.SumFile(b)
		wantSum, wantErr := SumFile(b)
		if d := cmp.Diff(wantSum, sum); d != "" || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("%d: %v, want %v: %s", i, err, wantErr, d)
		}
	}
	for i, b := range append(states, states...) { // what was given stays as it was
		if want, _ := Read(b); cmp.Diff(want, given[i]) != "" {
			t.Errorf("%d: %s", i, cmp.Diff(want, given[i]))
		}
	}
	for i := range 3 { // it forgets
		m.size = readerBytes + 1
		b := fmt.Appendf(nil, "%s", bytes.ReplaceAll(whole, []byte("run-"), fmt.Appendf(nil, "run-%d", i)))
		if recs, err := m.Read(b); err != nil || len(recs) == 0 || len(m.files) != 1 {
			t.Errorf("%v: %d records, %d files", err, len(recs), len(m.files))
		}
	}
}

// A sum is the same after it was kept as JSON, and tells of the ops of its file and
// of no data of records.
func TestASumCanBeKept(t *testing.T) {
	t.Parallel()
	var f []byte
	for _, r := range story(20) {
		f = must(t)(Append(f, r))
	}
	end := Record{TS: time.Unix(0, 0).UTC(), Run: "run-a", Seq: 90, Kind: Abandoned, Task: "t9", DeadRun: "run-z", Data: AbandonedData{Killed: true}}
	op := func(seq int, k Kind, id, task string) Record {
		return Record{TS: time.Unix(0, 0), Run: "run-a", Seq: seq, Kind: k, Task: task, Data: OpData{Op: id}}
	}
	for _, r := range []Record{end, op(91, Op, "op-1", ""), op(92, Op, "op-1", "t1"), op(93, OpEnd, "op-1", "t2"), op(94, OpEnd, "op-2", "t2")} {
		f = must(t)(Append(f, r))
	}
	sum, err := SumFile(f)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"op-1": "t1", "op-2": "t2"}, sum.Ops); diff != "" {
		t.Error(diff)
	}
	text, err := json.Marshal(sum)
	var back FileSum
	if err == nil {
		err = json.Unmarshal(text, &back)
	}
	if diff := cmp.Diff(sum, back); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

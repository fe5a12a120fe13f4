package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
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

// A sum is the same after it was kept as JSON, and tells of no data of records; the sum
// of two files is that of their records in one.
func TestASumCanBeKept(t *testing.T) {
	t.Parallel()
	var f []byte
	for _, r := range story(20) {
		f = must(t)(Append(f, r))
	}
	f = must(t)(Append(f, Record{TS: time.Unix(0, 0).UTC(), Run: "run-a", Seq: 90, Kind: Abandoned, Task: "t9", DeadRun: "run-z", Data: AbandonedData{Killed: true}}))
	sum, err := sumFile(f)
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.Index(f, []byte("\n")) + 1
	a, err := sumFile(f[:first])
	var b FileSum
	if err == nil {
		b, err = sumFile(f[first:])
	}
	if err == nil {
		was := a.clone()
		_, err = a.Merge(b)
		if diff := cmp.Diff(was, a.clone()); diff != "" {
			t.Errorf("Merge changed what it adds to: %s", diff)
		}
	}
	recs, _ := Read(f)
	grown, bad := a.Add(recs[1:])
	if diff := cmp.Diff(sum, grown, cmpopts.EquateEmpty()); err != nil || bad != nil || diff != "" {
		t.Errorf("%v, %v: %s", err, bad, diff)
	}
	if _, err := (FileSum{Team: map[string]map[string]int64{"2026-07": {"": math.MaxInt64}}}).Merge(FileSum{Team: map[string]map[string]int64{"2026-07": {"": 1}}}); err == nil {
		t.Error("more money than odd can count is a sum")
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

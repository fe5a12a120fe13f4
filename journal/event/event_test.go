package event

import (
	"bytes"
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var nine = time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)

// file appends records to an empty file.
func file(t testing.TB, rs ...Record) []byte {
	t.Helper()
	var b []byte
	for _, r := range rs {
		var err error
		if b, err = Append(b, r); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func TestAppendWritesTheFrozenShape(t *testing.T) {
	t.Parallel()
	got := file(t,
		Record{TS: nine.Add(500 * time.Millisecond).In(time.FixedZone("east", 7200)), Run: "run-1", Seq: 1, Kind: Claim, Task: "tasks/a<b",
			Role: "editor", Team: "docs", Reserved: 250_000, Data: ClaimData{LeaseExpires: "2026-07-01T09:30:00Z", Attempt: 1}},
		Record{TS: nine, Run: "run-1", Seq: 2, Kind: Reconcile, Data: ReconcileData{Counts: map[string]int64{"updated": 2, "added": 1}}},
		Record{TS: nine, Run: "run-1", Seq: 3, Kind: Abandoned, Task: "t", DeadRun: "run-0", Cost: 7, Trace: "ab"},
	)
	want := `{"data":{"attempt":1,"lease_expires":"2026-07-01T09:30:00Z"},"kind":"claim","reserved_micro_usd":250000,"role":"editor","run":"run-1","seq":1,"task":"tasks/a<b","team":"docs","ts":"2026-07-01T09:00:00Z","v":1}
{"data":{"counts":{"added":1,"updated":2}},"kind":"reconcile","run":"run-1","seq":2,"ts":"2026-07-01T09:00:00Z","v":1}
{"cost_micro_usd":7,"dead_run":"run-0","kind":"abandoned","run":"run-1","seq":3,"task":"t","trace":"ab","ts":"2026-07-01T09:00:00Z","v":1}
`
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Error(d)
	}
}

func TestAppendIsIdempotent(t *testing.T) {
	t.Parallel()
	r := Record{TS: nine, Run: "run-1", Seq: 1, Kind: Claim, Data: ClaimData{Attempt: 1}}
	once := file(t, r, Record{TS: nine, Run: "run-1", Seq: 2, Kind: Outcome})
	twice, err := Append(once, r)
	if err != nil || !bytes.Equal(once, twice) {
		t.Errorf("appending record 1 again: %v\n%s", err, twice)
	}
}

func TestAppendRefuses(t *testing.T) {
	t.Parallel()
	ok := Record{TS: nine, Run: "run-1", Seq: 2, Kind: Claim, Reserved: 1}
	base := string(file(t, ok))
	with := func(change func(*Record)) Record {
		r := ok
		r.Seq = 3
		change(&r)
		return r
	}
	for _, c := range []struct {
		name, file string
		r          Record
		want       string
	}{
		{"another record under the same seq", base, with(func(r *Record) { r.Seq, r.Reserved = 2, 2 }), "line 1: run run-1 already has another record 2"},
		{"another run", base, with(func(r *Record) { r.Run = "run-2" }), `line 1: the file is of run "run-1"`},
		{"a seq below the last", base, with(func(r *Record) { r.Seq = 1 }), "comes after record 2"},
		{"a negative seq", "", with(func(r *Record) { r.Seq = -1 }), "seq -1 is negative"},
		{"a negative cost", base, with(func(r *Record) { r.Cost = -1 }), "cost_micro_usd -1 is negative"},
		{"a negative reservation", base, with(func(r *Record) { r.Reserved = -1 }), "reserved_micro_usd -1 is negative"},
		{"no run", "", with(func(r *Record) { r.Run = "" }), "no run"},
		{"no kind", base, with(func(r *Record) { r.Kind = "" }), `kind ""`},
		{"a kind that is not in the list", base, with(func(r *Record) { r.Kind = "aproval" }), `kind "aproval"`},
		{"data of another kind", base, with(func(r *Record) { r.Data = OutcomeData{} }), "a record of kind claim has none of it"},
		{"not UTF-8", base, with(func(r *Record) { r.Task = "\xff" }), "not UTF-8"},
		{"a year JSON readers do not share", base, with(func(r *Record) { r.TS = time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC) }), "not an RFC 3339 moment"},
		{"a torn file", base + `{"v":1`, with(func(*Record) {}), "line 2: torn"},
	} {
		got, err := Append([]byte(c.file), c.r)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %q, %v, want an error with %q", c.name, got, err, c.want)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	good := string(file(t, Record{TS: nine, Run: "run-1", Seq: 1, Kind: Claim}))
	for _, c := range []struct{ name, line, want string }{
		{"an empty line", "", "line 2: not a record: want one JSON object"},
		{"a list", "[1]", "line 2: not a record: want one JSON object"},
		{"a cut line", `{"v":1,"run":`, "line 2: not a record"},
		{"a cut object", `{"v":1`, "line 2: not a record"},
		{"two objects", `{} {}`, "line 2: not a record: invalid character '{' after top-level value"},
		{"an unknown key", `{"v":1,"money":1}`, `line 2: unknown key "money"`},
		{"another spelling of a key", `{"Cost_Micro_USD":1}`, `line 2: unknown key "Cost_Micro_USD"`},
		{"a key twice", `{"cost_micro_usd":1,"cost_micro_usd":0}`, `line 2: key "cost_micro_usd" twice`},
		{"a newer version", `{"v":2,"run":"r","kind":"k","seq":1,"ts":"2026-07-01T09:00:00Z"}`, "line 2: version 2"},
		{"no version", `{"run":"r","kind":"k","seq":1,"ts":"2026-07-01T09:00:00Z"}`, "line 2: version 0"},
		{"a local moment", `{"v":1,"run":"r","kind":"k","seq":1,"ts":"2026-07-01T09:00:00+02:00"}`, "in UTC"},
		{"a date", `{"v":1,"run":"r","kind":"k","seq":1,"ts":"2026-07-01"}`, "in UTC"},
		{"money as a fraction", `{"v":1,"run":"r","kind":"k","seq":1,"ts":"2026-07-01T09:00:00Z","cost_micro_usd":0.5}`, "line 2: not a record"},
		{"money that overflows", `{"v":1,"run":"r","kind":"k","seq":1,"ts":"2026-07-01T09:00:00Z","cost_micro_usd":9223372036854775808}`, "line 2: not a record"},
		{"negative money", `{"v":1,"run":"r","kind":"k","seq":1,"ts":"2026-07-01T09:00:00Z","cost_micro_usd":-1}`, "is negative"},
		{"the same record again", strings.TrimSuffix(good, "\n"), "line 2: record 1 of run-1 again, first on line 1"},
		{"a fraction in data", `{"v":1,"run":"r","kind":"claim","seq":1,"ts":"2026-07-01T09:00:00Z","data":{"attempt":0.5}}`, "line 2: data: not a record: /attempt is no int"},
		{"a text where data has a number", `{"v":1,"run":"r","kind":"session","seq":1,"ts":"2026-07-01T09:00:00Z","data":{"tokens":{"input":"7"}}}`, "line 2: data: not a record: /tokens/input is no int64"},
		{"an unknown key in data", `{"v":1,"run":"r","kind":"abandoned","seq":1,"ts":"2026-07-01T09:00:00Z","data":{"why":1}}`, `line 2: data: unknown key "why"`},
		{"another spelling of a key in data", `{"v":1,"run":"r","kind":"outcome","seq":1,"ts":"2026-07-01T09:00:00Z","data":{"Verdict":"review"}}`, `line 2: data: unknown key "Verdict"`},
		{"a key twice in data", `{"v":1,"run":"r","kind":"outcome","seq":1,"ts":"2026-07-01T09:00:00Z","data":{"verdict":"review","verdict":"lost"}}`, `line 2: key "verdict" twice`},
		{"Latin-1", "{\"v\":1,\"run\":\"\xe9\"}", "line 2: not UTF-8"},
	} {
		recs, err := Read([]byte(good + c.line + "\n"))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
		}
		if len(recs) != 1 {
			t.Errorf("%s: %d records before the bad line, want 1", c.name, len(recs))
		}
	}
}

func TestReadReportsATornLastLine(t *testing.T) {
	t.Parallel()
	whole := file(t, Record{TS: nine, Run: "run-1", Seq: 1, Kind: Claim}, Record{TS: nine, Run: "run-1", Seq: 2, Kind: Outcome})
	recs, err := Read(whole[:len(whole)-1])
	var torn *Torn
	if !errors.As(err, &torn) || torn.Line != 2 || len(recs) != 1 {
		t.Errorf("got %d records, %v, want 1 and line 2 torn", len(recs), err)
	}
	if !strings.Contains(err.Error(), "line 2: torn") || !strings.Contains(err.Error(), "restore") {
		t.Errorf("%q names neither the line nor the way out", err)
	}
}

func TestReadKeepsUnknownKinds(t *testing.T) {
	t.Parallel()
	recs, err := Read([]byte(`{"v":1,"ts":"2026-07-01T09:00:00Z","run":"run-1","seq":1,"kind":"promotion","data":{"n":9007199254740993}}` + "\n"))
	want := []Record{{TS: nine, Run: "run-1", Seq: 1, Kind: "promotion", Data: UnknownData{Kind: "promotion", JSON: `{"n":9007199254740993}`}}}
	if d := cmp.Diff(want, recs); err != nil || d != "" {
		t.Error(err, d)
	}
}

func TestTrace(t *testing.T) {
	t.Parallel()
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" // SHA-256 of nothing, FIPS 180-4
	if got := Trace(nil); got != empty {
		t.Errorf("Trace(nil) = %s", got)
	}
}

func TestPathUsesTheUTCMonth(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 8, 1, 1, 0, 0, 0, time.FixedZone("east", 2*3600))
	if got, want := Path("run-1", start), "ledger/2026-07/run-1.jsonl"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func record(t *rapid.T, seq int) Record {
	r := Record{
		TS:  time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "ts"), 0).UTC(),
		Run: "run-1", Seq: seq, Kind: rapid.SampledFrom(allKinds()).Draw(t, "kind"),
		Task: rapid.String().Draw(t, "task"), Cost: rapid.Int64Range(0, math.MaxInt64).Draw(t, "cost"),
	}
	if text := rapid.String().Draw(t, "text"); text != "" {
		r.Data = map[Kind]Data{
			Claim: ClaimData{Asked: text, Override: &Override{By: text, Modes: []string{text}}}, Session: SessionData{Calls: map[string]int64{text: math.MinInt64}},
			Anchor: AnchorData{Deny: []string{text}}, Reconcile: ReconcileData{Counts: map[string]int64{text: 0}, Held: []Held{{ID: text}}}, Op: OpData{Set: map[string]string{text: text}},
			OpEnd: OpData{Note: text}, Outcome: OutcomeData{Paths: []ProposedPath{{Path: text}}}, Abandoned: AbandonedData{Killed: true}, Refused: StopData{Code: text}, Paused: StopData{Reason: text},
		}[r.Kind]
	}
	return r
}

// Whatever is appended, the file's old bytes stay its prefix, and Read returns
// exactly what went in.
func TestAppendOnlyGrows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var f []byte
		var want []Record
		for seq := range rapid.IntRange(1, 5).Draw(t, "records") {
			r := record(t, seq)
			next, err := Append(f, r)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.HasPrefix(next, f) || bytes.Count(next[len(f):], []byte("\n")) != 1 {
				t.Fatalf("not one more line:\n%s\n%s", f, next)
			}
			f, want = next, append(want, r)
		}
		got, err := Read(f)
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Fatal(err, d)
		}
	})
}

// Lines that earlier programs wrote are read, and are written again, to the byte.
func TestStoredLinesStayAsTheyAre(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/version1.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[Kind]bool{}
	for line := range bytes.Lines(b) {
		r, err := decode(bytes.TrimSuffix(line, []byte("\n")))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if got, err := encode(r); err != nil || string(got) != string(line) {
			t.Errorf("%v\ngot  %swant %s", err, got, line)
		}
		seen[r.Kind] = true
	}
	for _, k := range allKinds() {
		if !seen[k] {
			t.Errorf("no line of kind %s", k)
		}
	}
}

func TestRedactedKeepsKeysAndOtherValues(t *testing.T) {
	t.Parallel()
	r := Record{Kind: Session, Task: "secret", Data: SessionData{Model: "a secret", Turns: 3, Calls: map[string]int64{"secret": 1}, Contract: &SessionContract{Participants: []string{"secret"}}}}
	got, err := r.Redacted(func(s string) string { return strings.ReplaceAll(s, "secret", "-") })
	want := Record{Kind: Session, Task: "secret", Data: SessionData{Model: "a -", Turns: 3, Calls: map[string]int64{"secret": 1}, Contract: &SessionContract{Participants: []string{"-"}}}}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Error(err, d)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"kind":"claim","run":"run-1","seq":1,"ts":"2026-07-01T09:00:00Z","v":1}` + "\n"))
	f.Add([]byte(`{"kind":"claim","run":"run-1","seq":1,"ts":"2026-07-01T09:00:00.5Z","v":1,"data":{"a":[1,{"b":null}]}}` + "\n" + `{"v`))
	f.Add([]byte("{}\n[]\n\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		recs, err := Read(b)
		if lines := bytes.Count(b, []byte("\n")); len(recs) > lines || err == nil && len(recs) != lines {
			t.Fatalf("%d records of %d lines, %v", len(recs), lines, err)
		}
	})
}

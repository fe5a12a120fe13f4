package gate

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var nine = time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)

func newProposal(id, key string, change ...func(*Proposal)) Proposal {
	p := Proposal{ID: id, TS: nine, Source: TaskAgent, Severity: Low, Gate: EvaluationGate, Reason: "the lease nears its end", Key: key}
	for _, c := range change {
		c(&p)
	}
	return p
}

// propose appends to an empty buffer's file.
func propose(t testing.TB, ps ...Proposal) []byte {
	t.Helper()
	var file []byte
	for _, p := range ps {
		next, _, ok, err := Buffer{}.appendProposal(file, p)
		if err != nil || !ok {
			t.Fatalf("append %s: %v, %v", p.ID, ok, err)
		}
		file = next
	}
	return file
}

func read(t testing.TB, files ...[]byte) Buffer {
	t.Helper()
	var b Buffer
	for _, f := range files {
		if err := b.ReadProposals(f); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func TestProposalLine(t *testing.T) {
	t.Parallel()
	got := propose(t, newProposal("P-1", "k", func(p *Proposal) { p.Task, p.Run = "tasks/tidy", "run-1" }))
	want := `{"t":"proposal","id":"P-1","ts":"2026-07-01T09:00:00Z","source":"task_agent","severity":"low","gate":"evaluation","reason":"the lease nears its end","task":"tasks/tidy","run":"run-1","key":"k"}` + "\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

// unknown_source_rejected, and every other line that nobody may read.
func TestReadRefuses(t *testing.T) {
	t.Parallel()
	good := strings.TrimSuffix(string(propose(t, newProposal("P-1", "k"))), "\n")
	said := `{"t":"disposition","id":"P-1","ts":"2026-07-01T09:00:00Z","by":"human:ann@example.org","decision":"rejected","reason":"no"}`
	swap := func(line, old, new string) string {
		out := strings.Replace(line, old, new, 1)
		if out == line {
			t.Fatalf("%s: no %s", line, old)
		}
		return out
	}
	for _, c := range []struct{ name, text, want string }{
		{"unknown source", swap(good, "task_agent", "commitment_expiry"), `line 1: unknown source "commitment_expiry"; want one of user_signal`},
		{"unknown severity", swap(good, `"low"`, `"critical"`), `unknown severity "critical"`},
		{"unknown gate", swap(good, `"evaluation"`, `"renewal"`), `unknown gate "renewal"`},
		{"unknown t", swap(good, `"t":"proposal"`, `"t":"gate"`), `unknown t "gate"`},
		{"no t", swap(good, `"t":"proposal",`, ``), `unknown t ""`},
		{"unknown key", swap(good, `"key":`, `"score":1,"key":`), `unknown field "score"`},
		{"key in another spelling", swap(good, `"reason"`, `"Reason"`), "not as odd writes it"},
		{"a disposition's key", swap(good, `"reason":`, `"by":"x","reason":`), `unknown field "by"`},
		{"key twice", swap(good, `"key":`, `"reason":"b","key":`), "not as odd writes it"},
		{"no reason", swap(good, "the lease nears its end", " "), "no reason"},
		{"long reason", swap(good, "the lease", strings.Repeat("x", 500)), "at most 500"},
		{"escape in a reason", swap(good, "the lease", `\u001b[2J`), "hidden characters"},
		{"no key", swap(good, `"key":"k"`, `"key":""`), "no key"},
		{"bad id", swap(good, `"P-1"`, `"1"`), `id "1"`},
		{"no moment", swap(good, `"ts":"2026-07-01T09:00:00Z",`, ``), "not as odd writes it"},
		{"half seconds", swap(good, `00Z`, `00.5Z`), "not a moment"},
		{"not text", swap(good, `"low"`, `1`), "cannot unmarshal"},
		{"not an object", "[]", "not JSON"},
		{"more", good + " 1", "not JSON"},
		{"empty line", "", "not JSON"},
		{"not UTF-8", swap(good, "lease", "\xff"), "not as odd writes it"},
		{"second line", good + "\n" + swap(good, "task_agent", "x"), "line 2: unknown source"},
		{"again", good + "\n" + good, "line 2: proposal P-1 again"},
		{"disposed again", said + "\n" + said, "line 2: P-1 is disposed of again"},
		{"by an agent", swap(said, "human:ann@example.org", "odd-agent"), "not a person"},
		{"by nobody", swap(said, "ann@example.org", ""), "not a person"},
		{"unknown decision", swap(said, "rejected", "done"), `unknown decision "done"`},
		{"rejected without a reason", swap(said, `,"reason":"no"`, ""), "rejected without a reason"},
		{"accepted without a gate", swap(said, "rejected", "accepted"), "without the gate that acts on it"},
		{"no gate row", swap(said, `"reason"`, `"act":"P-1","reason"`), `act "P-1" is no gate row`},
	} {
		b := read(t, []byte(strings.Replace(good, "P-1", "P-0", 1)+"\n"))
		before := b.Open()
		err := b.ReadProposals([]byte(c.text + "\n"))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "line ") {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if diff := cmp.Diff(before, b.Open()); diff != "" {
			t.Errorf("%s: the buffer changed: %s", c.name, diff)
		}
	}
	var b Buffer
	if err := b.ReadProposals([]byte(good)); err == nil || !strings.Contains(err.Error(), "line 1: torn") {
		t.Errorf("torn: %v", err)
	}
}

// priority_order: severity, then source, then the moment, then the id.
func TestOpenOrder(t *testing.T) {
	t.Parallel()
	var want []string
	var all []Proposal
	for _, sev := range Severities() {
		for _, src := range allSources() {
			for _, at := range []time.Time{nine, nine.Add(time.Second)} {
				for range 2 {
					id := fmt.Sprintf("P-%03d", len(want))
					want = append(want, id)
					all = append(all, newProposal(id, id, func(p *Proposal) { p.Severity, p.Source, p.TS = sev, src, at }))
				}
			}
		}
	}
	rand.New(rand.NewSource(1)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var got []string
	for _, p := range read(t, propose(t, all...)).Open() {
		got = append(got, p.ID)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAppendProposal(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 300) // 600 bytes
	file := propose(t, newProposal("P-1", "a", func(p *Proposal) { p.Reason = "one\n\ttwo\x1b[31m\u202e" + long }))
	got := read(t, file).Open()[0].Reason
	if !strings.HasPrefix(got, "one two[31mé") || len(got) > 500 || len(got) < 498 || !utf8.ValidString(got) {
		t.Errorf("reason %d bytes: %q", len(got), got)
	}
	b := read(t, file)
	if other, _, ok, err := b.appendProposal(nil, newProposal("P-2", "a")); err != nil || ok || other != nil {
		t.Errorf("same key in another writer's file: %v, %v", ok, err)
	}
	if _, _, ok, err := b.appendProposal(file, newProposal("P-1", "b")); err == nil || ok {
		t.Errorf("an id twice: %v, %v", ok, err)
	}
	if _, _, _, err := b.appendProposal([]byte("{"), newProposal("P-2", "b")); err == nil {
		t.Error("appended to a torn file")
	}
	if _, _, _, err := b.appendProposal(file, newProposal("P-2", "b", func(p *Proposal) { p.Source = "contrast" })); err == nil {
		t.Error("appended an unknown source")
	}
	file, err := b.AppendDisposition(file, Disposition{ID: "P-1", TS: nine, By: "human:ann@example.org", Decision: Rejected, Reason: "not now"})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, ok, err := b.appendProposal(file, newProposal("P-2", "a")); err != nil || !ok {
		t.Errorf("a key that is open no more: %v, %v", ok, err)
	}
}

func TestDerivedIDs(t *testing.T) {
	t.Parallel()
	by := func(run string) func(*Proposal) { return func(p *Proposal) { p.Run = run } }
	one, two := propose(t, newProposal("", "k", by("run-1")), newProposal("", "l", by("run-1"))), propose(t, newProposal("", "k", by("run-2")))
	if diff := cmp.Diff(string(one), string(propose(t, newProposal("", "k", by("run-1")), newProposal("", "l", by("run-1"))))); diff != "" {
		t.Errorf("the same again differs: %s", diff)
	}
	b := read(t, one, two) // an id twice would be an error
	for _, p := range b.Proposals {
		if len(p.ID) != len("P-01KWEEG5M05C761M7R8XGHNS3W") || !strings.HasPrefix(p.ID, "P-01K") {
			t.Errorf("id %s", p.ID)
		}
	}
}

func TestAppendDisposition(t *testing.T) {
	t.Parallel()
	file := propose(t, newProposal("P-1", "a"), newProposal("P-2", "b"))
	b := read(t, file)
	no := Disposition{ID: "P-1", TS: nine, By: "human:ann@example.org", Decision: Rejected, Reason: "not\nnow"}
	mine, err := b.AppendDisposition(nil, no)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.AppendDisposition(mine, no); err == nil || !strings.Contains(err.Error(), "rejected by human:ann@example.org") {
		t.Errorf("twice in one file: %v", err)
	}
	b = read(t, mine, file)
	if _, err := b.AppendDisposition(nil, no); err == nil {
		t.Error("twice in two files")
	}
	if got := b.Dispositions["P-1"].Reason; got != "not now" {
		t.Errorf("reason %q", got)
	}
	if open := b.Open(); len(open) != 1 || open[0].ID != "P-2" {
		t.Errorf("open: %v", open)
	}
	for _, d := range []Disposition{
		{ID: "P-9", TS: nine, By: no.By, Decision: Rejected, Reason: "x"},
		{ID: "P-2", TS: nine, By: no.By, Decision: Accepted},
		{ID: "P-2", TS: nine, By: no.By, Decision: Rejected},
		{ID: "P-2", TS: nine, By: "agent", Decision: Rejected, Reason: "x"},
	} {
		if _, err := b.AppendDisposition(nil, d); err == nil {
			t.Errorf("%+v was appended", d)
		}
	}
}

func TestDisposedInTwoClones(t *testing.T) {
	t.Parallel()
	file := propose(t, newProposal("P-1", "a"))
	b := read(t, file)
	say := func(by string, at time.Time) []byte {
		f, err := b.AppendDisposition(nil, Disposition{ID: "P-1", TS: at, By: "human:" + by, Decision: Rejected, Reason: "no"})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	ann, bob := say("ann@example.org", nine.Add(time.Minute)), say("bob@example.org", nine)
	for _, got := range []Buffer{read(t, file, ann, bob), read(t, bob, ann, file)} {
		if by := got.Dispositions["P-1"].By; by != "human:bob@example.org" {
			t.Errorf("%s has the word, want the earlier", by)
		}
	}
}

func TestAppendAll(t *testing.T) {
	t.Parallel()
	many := func(n int, sev Severity) (out []Proposal) {
		for i := range n {
			out = append(out, newProposal("", fmt.Sprint(sev, i), func(p *Proposal) { p.Severity, p.Run = sev, "run-1" }))
		}
		return out
	}
	for _, c := range []struct {
		name string
		b    Buffer
		ps   []Proposal
		room int
		want map[Severity]int
	}{
		{"under the cap", Buffer{}, many(3, Low), MaxPerDrain, map[Severity]int{Low: 3}},
		{"the gravest first", Buffer{}, append(many(9, Low), many(4, High)...), MaxPerDrain, map[Severity]int{High: 4, Low: 6}},
		{"said twice", Buffer{}, append(many(3, Low), many(3, Low)...), MaxPerDrain, map[Severity]int{Low: 3}},
		{"open already", read(t, propose(t, many(3, Low)...)), many(4, Low), MaxPerDrain, map[Severity]int{Low: 1}},
		{"no room", Buffer{}, many(3, High), 0, map[Severity]int{}},
		{"no room but for an alarm", Buffer{}, append(many(3, High), many(2, EmergencySeverity)...), 0, map[Severity]int{EmergencySeverity: 1}},
		{"the alarm is raised", read(t, propose(t, many(1, EmergencySeverity)...)), many(2, EmergencySeverity), 0, map[Severity]int{}},
	} {
		file, done, err := c.b.AppendAll(nil, c.ps, c.room)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got := map[Severity]int{}
		for _, p := range done {
			got[p.Severity]++
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if diff := cmp.Diff(len(done), len(read(t, file).Open())); diff != "" {
			t.Errorf("%s: written: %s", c.name, diff)
		}
	}
}

func readAll(files [][]byte) (b Buffer) {
	for _, f := range files {
		if err := b.ReadProposals(f); err != nil {
			panic(err)
		}
	}
	return b
}

// Whatever the order the writers' files are read in, the buffer is one.
func TestOrderFree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "writers")
		files := make([][]byte, n)
		var b Buffer
		ids := 0
		for range rapid.IntRange(0, 12).Draw(t, "steps") {
			w := rapid.IntRange(0, n-1).Draw(t, "writer")
			if open := b.Open(); len(open) > 0 && rapid.Bool().Draw(t, "dispose") {
				d := Disposition{ID: open[0].ID, TS: nine, By: "human:ann@example.org", Decision: Rejected, Reason: "no"}
				files[w] = must(b.AppendDisposition(files[w], d))
			} else {
				ids++
				p := newProposal(fmt.Sprintf("P-%d", ids), rapid.StringMatching("[a-c]").Draw(t, "key"))
				p.Severity, p.Source = rapid.SampledFrom(Severities()).Draw(t, "severity"), rapid.SampledFrom(allSources()).Draw(t, "source")
				next, _, _, err := b.appendProposal(files[w], p)
				files[w] = must(next, err)
			}
			b = readAll(files)
		}
		other := readAll(rapid.Permutation(files).Draw(t, "order"))
		b = readAll(files)
		if diff := cmp.Diff(b, other); diff != "" {
			t.Fatal(diff)
		}
		keys := map[string]bool{}
		for _, p := range b.Open() {
			if keys[p.Key] {
				t.Fatalf("key %s is open twice", p.Key)
			}
			keys[p.Key] = true
		}
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// What can be read can be written and read again; nothing panics.
func FuzzReadProposals(f *testing.F) {
	file := propose(f, newProposal("P-1", "a"), newProposal("P-2", "b"))
	f.Add(must(read(f, file).AppendDisposition(file, Disposition{ID: "P-1", TS: nine, By: "human:a@b", Decision: Rejected, Reason: "no"})))
	f.Add([]byte(`{"t":"proposal","id":null}` + "\n"))
	f.Add([]byte("\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var b Buffer
		if b.ReadProposals(text) != nil {
			if b.Proposals != nil {
				t.Fatal("a file that cannot be read left something")
			}
			return
		}
		var out []byte
		for _, p := range b.Proposals {
			out = append(out, must(printLine(proposalLine{"proposal", p}))...)
		}
		for _, d := range b.Dispositions {
			out = append(out, must(printLine(dispositionLine{"disposition", d}))...)
		}
		if diff := cmp.Diff(b, read(t, out)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// What is open about an ended lease does not keep a signal from ending the next one; what a person
// answered stays quiet under any.
func TestUnheardUnderAnotherLease(t *testing.T) {
	t.Parallel()
	under := func(lease string) func(*Proposal) { return func(p *Proposal) { p.Lease = lease } }
	open := newProposal("P-1", "drifting#1", under("L-0001"))
	answered := newProposal("P-2", "pacing#1", under("L-0001"))
	b := read(t, propose(t, open, answered, newProposal("P-3", "stale#1", under("L-0001"))))
	b.Dispositions["P-2"] = Disposition{ID: "P-2", Decision: Rejected}
	for _, c := range []struct {
		key, lease string
		want       int
	}{
		{"drifting#2", "L-0001", 0}, {"drifting#2", "L-0002", 1}, {"pacing#1", "L-0002", 0}, {"pacing#2", "L-0002", 1}, {"stale#2", "L-0002", 0},
	} {
		if got := len(b.Unheard([]Proposal{newProposal("P-9", c.key, under(c.lease))})); got != c.want {
			t.Errorf("%s under %s: %d are heard, want %d", c.key, c.lease, got, c.want)
		}
	}
}

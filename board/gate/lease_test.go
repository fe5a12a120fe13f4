package gate

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// wholeLease is an active lease with every field set.
func wholeLease() File {
	return File{1, Execution, Lease{
		ID: "L-0001", State: Active, Frame: "Ship \"v1\" — all of it.", Horizon: "mid", Success: []string{"It runs.", "It is seen."}, NonGoals: []string{"v2"},
		RenewalPrompt: "Go on?", ActivatedAt: nine, ExpiresAt: nine.Add(14 * day), MaxTasks: 7, Milestone: []string{"ship"}, Budget: 5_250_000,
		Scope: Scope{Kinds: []string{"fix"}, Roles: []string{"editor"}, Tags: []string{"v1"}, Tasks: []string{"a", "b"}, Paths: []string{"knowledge/**", "src/*.go"},
			WorkOrders: map[string]string{"a": WorkOrder([]byte("x")), "tasks/b.c": WorkOrder(nil)}},
	}}
}

func TestLeasePrintsAndReadsBack(t *testing.T) {
	t.Parallel()
	for _, f := range []File{wholeLease(), DraftOf(nine, Plan{ID: "L-0001"}), {1, Sensemaking, Lease{ID: "L-0002", State: Draft, Horizon: "long", ExpiresAt: nine, MaxTasks: 20}}} {
		b := PrintLease(f)
		got, err := ParseLease("lease.toml", b)
		if d := cmp.Diff(f, got); err != nil || d != "" {
			t.Errorf("%v\n%s\n%s", err, d, b)
		}
		if again := PrintLease(got); string(again) != string(b) {
			t.Errorf("prints otherwise:\n%s", again)
		}
	}
}

func TestParseLeaseRefuses(t *testing.T) {
	t.Parallel()
	good := string(PrintLease(wholeLease()))
	for _, c := range []struct{ old, new, want string }{
		{"version = 1\n", "", "lease.toml:1: version: is missing"},
		{"version = 1", "version = 2", "lease.toml:1: version: 2; this odd reads version 1"},
		{"version = 1", "version = \"1\"", "lease.toml:1: version: want a whole number"},
		{"version = 1", "versoin = 1", `lease.toml:1: versoin: unknown key; did you mean "version"?`},
		{"max_tasks = 7", "max_taks = 7", `max_taks: unknown key; did you mean "lease.max_tasks"?`},
		{"max_tasks = 7", "max_tasks = 0", "lease.max_tasks: 0; want 1 to 1000"},
		{"max_tasks = 7", "max_tasks = 7.5", "lease.max_tasks: want a whole number"},
		{"max_tasks = 7", "used_tasks = 3", "lease.used_tasks: unknown key"},
		{`stance = "execution"`, `stance = "exection"`, `lease.toml:2: stance: unknown stance "exection"; did you mean "execution"?`},
		{`state = "active"`, `state = "none"`, `lease.toml:6: lease.state: unknown state "none"`},
		{`state = "active"`, `state = "draft"`, "lease.activated_at: is of an active lease"},
		{`id = "L-0001"`, `id = "L-1"`, `lease.toml:5: lease.id: "L-1" is not an id like L-0001`},
		{`horizon = "mid"`, `horizon = "short"`, "is more than 3 days after activated_at"},
		{`horizon = "mid"`, `horizon = "shrt"`, `did you mean "short"?`},
		{"2026-07-15T09:00:00Z", "2026-07-15T09:00:01Z", "is more than 14 days after activated_at"},
		{"2026-07-15T09:00:00Z", "2026-07-01T09:00:00Z", "is not after activated_at"},
		{"2026-07-15T09:00:00Z", "2026-07-15T09:00:00+02:00", "want UTC"},
		{"2026-07-15T09:00:00Z", "2026-07-15T09:00:00", "want a moment in UTC"},
		{"2026-07-15T09:00:00Z", "2026-07-15T09:00:00.5Z", "whole seconds"},
		{"expires_at = 2026-07-15T09:00:00Z\n", "", "lease.expires_at: is missing"},
		{"activated_at = 2026-07-01T09:00:00Z\n", "", "lease.activated_at: is of an active lease"},
		{"non_goals = [\n  \"v2\",\n]", "non_goals = []", "lease.non_goals: has 0 entries; want 1 to 3"},
		{"\"v2\",", "\"1\", \"2\", \"3\", \"4\",", "lease.non_goals: has 4 entries; want 1 to 3"},
		{"\"v2\",", "\"\",", "lease.non_goals: has an empty entry"},
		{"\"v2\",", "2,", "lease.non_goals: want a list of texts"},
		{`"It runs."`, `"TB` + `D"`, "still holds a placeholder"},
		{`"It runs."`, `"to` + `do"`, "still holds a placeholder"},
		{`"It runs."`, `"FILL IN what shows it"`, "still holds a placeholder"},
		{`"It runs."`, `"..."`, "still holds a placeholder"},
		{`"Go on?"`, `""`, "lease.renewal_prompt: is empty"},
		{`"Go on?"`, `"Go\non?"`, "is not one line of text"},
		{`"Go on?"`, `"Go \u202e on?"`, "is not one line of text"},
		{`"5.25"`, `5.25`, "want dollars as a text"},
		{`"5.25"`, `"-5"`, "want dollars as a text"},
		{`"5.25"`, `"5.1234567"`, "want dollars as a text"},
		{`"fix"`, `"fixx"`, `unknown kind "fixx"; did you mean "fix"?`},
		{`["knowledge/**", "src/*.go"]`, `[]`, "lease.scope.paths: is empty"},
		{`"src/*.go"`, `"knowledge/governance/**"`, "is governed"},
		{`"src/*.go"`, `".git/hooks"`, "is governed"},
		{`"src/*.go"`, `".github/**"`, "is governed"},
		{`"src/*.go"`, `"odd.toml"`, "is governed"},
		{`"src/*.go"`, `"knowledge/ledger/**"`, "is governed"},
		{`"src/*.go"`, `"knowledge/journal/*.tsv"`, "is governed"},
		{`"src/*.go"`, `"../x"`, "want a path inside"},
		{`"src/*.go"`, `"/etc/**"`, "want a path inside"},
		{`"src/*.go"`, `"src/["`, "is not a glob"},
		{`"src/*.go"`, `"src/a**"`, "** stands alone"},
		{"[lease.scope.work_orders]", "[lease.scope.work_order]", "lease.scope.work_order: unknown key"},
		{"sha256:", "sha1:", "want a task's id and"},
		{"[lease.scope]", "[lease.scope", "lease.toml:23: "},
	} {
		if !strings.Contains(good, c.old) {
			t.Fatalf("%q is not in the good one:\n%s", c.old, good)
		}
		_, err := ParseLease("lease.toml", []byte(strings.Replace(good, c.old, c.new, 1)))
		var m *Malformed
		if !errors.As(err, &m) || !strings.Contains(err.Error(), c.want) || m.Syntax != (c.old == "[lease.scope]") {
			t.Errorf("%s: %v, want %q", c.new, err, c.want)
		}
	}
	if _, err := ParseLease("x", nil); err == nil {
		t.Error("an empty file is a lease")
	}
	several := strings.NewReplacer("version = 1", "version = 3", `"mid"`, `"x"`, "max_tasks = 7", "max_tasks = 0").Replace(good)
	if _, err := ParseLease("x", []byte(several)); strings.Count(err.Error(), "\n") != 2 || !strings.HasPrefix(err.Error(), "x:1: ") {
		t.Errorf("want all three in order: %v", err)
	}
}

// validFacts are such that whole() is valid.
func validFacts(t testing.TB) (File, Facts) {
	f := wholeLease()
	b := PrintLease(f)
	var gates []byte
	for _, r := range []Row{
		{Gate: Framing, To: Sensemaking, Act: "draft", LeaseSum: Sum(nil), TS: nine.Add(-time.Minute)},
		{Gate: Commitment, To: Execution, Act: "activate", LeaseSum: Sum(b), TS: nine},
	} {
		var err error
		r.Lease, r.By, r.Reason = "L-0001", ann, "as agreed"
		if gates, _, err = Append(gates, r); err != nil {
			t.Fatal(err)
		}
	}
	chain, err := ReadChain(gates)
	if err != nil {
		t.Fatal(err)
	}
	return f, Facts{Now: nine.Add(time.Hour), Present: true, Committed: true, Chain: chain, Sum: Sum(b), UsedTasks: 2, Spent: 1_000_000}
}

// breaks holds one way to break each reason of validity.
var breaks = map[string]func(*File, *Facts){
	"unreadable":      func(_ *File, x *Facts) { x.Unreadable = errors.New("no disk") },
	"schema":          func(_ *File, x *Facts) { x.Unreadable = &Malformed{Lines: []string{"x:1: version"}} },
	"none":            func(_ *File, x *Facts) { x.Present = false },
	"draft":           func(f *File, _ *Facts) { f.Lease.State, f.Lease.ActivatedAt = Draft, time.Time{} },
	"suspended":       func(f *File, _ *Facts) { f.Lease.State = Suspended },
	"released":        func(f *File, _ *Facts) { f.Lease.State = Released },
	"not_yet_active":  func(_ *File, x *Facts) { x.Now = nine.Add(-time.Second) },
	"time_expired":    func(f *File, x *Facts) { x.Now = f.Lease.ExpiresAt },
	"tasks_exhausted": func(_ *File, x *Facts) { x.UsedTasks = 7 },
	"signal_raised": func(f *File, x *Facts) {
		f.Lease.Signals = []string{"failures"}
		x.Buffer.Proposals = []Proposal{{ID: "P-1", Lease: f.Lease.ID, Key: "failures:run-5"}}
	},
	"milestone_reached":  func(_ *File, x *Facts) { x.Done = func(id string) bool { return id == "ship" } },
	"budget_exhausted":   func(_ *File, x *Facts) { x.Spent = 5_250_000 },
	"stance_mismatch":    func(f *File, _ *Facts) { f.Stance = Discovery },
	"chain_broken":       func(_ *File, x *Facts) { x.Sum = Sum([]byte("other")) },
	"head_not_committed": func(_ *File, x *Facts) { x.Committed = false },
	"emergency_open":     func(_ *File, x *Facts) { x.OpenEmergency = "P-1" },
	"clock":              func(_ *File, x *Facts) { x.Chain.Rows[1].TS = x.Now.Add(skew + time.Second) },
}

// Every reason by itself, and every reason with all that come after it: the
// first in the order is the code.
func TestValidHasAnOrder(t *testing.T) {
	t.Parallel()
	want := []string{"unreadable", "schema", "none", "draft", "suspended", "released", "not_yet_active", "time_expired", "tasks_exhausted",
		"milestone_reached", "signal_raised", "budget_exhausted", "stance_mismatch", "chain_broken", "head_not_committed", "emergency_open", "clock"}
	if d := cmp.Diff(want, Codes()); d != "" || len(breaks) != len(want) {
		t.Fatal(d)
	}
	f, x := validFacts(t)
	if v := f.Valid("fix", x); !v.Valid || v.Code != "" || v.Tasks != 5 || v.Budget != 4_250_000 || v.Remaining != 14*day-time.Hour {
		t.Fatalf("%+v", v)
	}
	for i, code := range want {
		f, x := validFacts(t)
		breaks[code](&f, &x)
		if v := f.Valid("fix", x); v.Valid || v.Code != code || v.Text == "" || v.Way == "" {
			t.Errorf("%s alone: %+v", code, v)
		}
		// What breaks the same fact twice cannot stand together.
		apart := []string{"draft", "suspended", "released", "not_yet_active", "time_expired", "clock", "unreadable", "schema", "none"}
		for _, later := range want[i+1:] {
			f, x := validFacts(t)
			if slices.Contains(apart, later) && slices.Contains(apart, code) {
				continue
			}
			breaks[later](&f, &x)
			breaks[code](&f, &x)
			if v := f.Valid("fix", x); v.Code != code {
				t.Errorf("%s before %s: %+v", code, later, v)
			}
		}
	}
}

func TestValidAtItsEdges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*File, *Facts)
		kind   string
		want   string
	}{
		{"a second before the end", func(f *File, x *Facts) { x.Now = f.Lease.ExpiresAt.Add(-time.Second) }, "fix", ""},
		{"at the beginning", func(_ *File, x *Facts) { x.Now = nine }, "fix", ""},
		{"ended by a gate", func(f *File, _ *Facts) { f.Lease.State = Expired }, "fix", "time_expired"},
		{"the last task", func(_ *File, x *Facts) { x.UsedTasks = 6 }, "fix", ""},
		{"one micro left", func(_ *File, x *Facts) { x.Spent = 5_249_999 }, "fix", ""},
		{"no limit", func(f *File, x *Facts) { f.Lease.Budget, x.Spent = 0, 1<<40 }, "fix", ""},
		{"a milestone half done", func(f *File, x *Facts) {
			f.Lease.Milestone = []string{"ship", "tell"}
			x.Done = func(id string) bool { return id == "ship" }
		}, "fix", ""},
		{"a broken chain before its stance", func(f *File, x *Facts) { f.Stance, x.ChainErr = Discovery, errors.New("line 2: torn") }, "fix", "chain_broken"},
		{"an active lease nobody could activate", func(f *File, _ *Facts) { f.Lease.NonGoals = nil }, "fix", "schema"},
		{"another lease", func(f *File, _ *Facts) { f.Lease.ID = "L-0002" }, "fix", "chain_broken"},
		{"a clock within the skew", func(_ *File, x *Facts) { x.Chain.Rows[1].TS = x.Now.Add(skew) }, "fix", ""},
		{"nothing at all", func(f *File, x *Facts) { *f, *x = File{}, Facts{Now: nine} }, "", "none"},
	} {
		f, x := validFacts(t)
		c.change(&f, &x)
		if v := f.Valid(c.kind, x); v.Code != c.want || v.Valid != (c.want == "") {
			t.Errorf("%s: %+v, want %q", c.name, v, c.want)
		}
	}
}

func TestDraftPermitsExploration(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	out := d.mustDo(Act{Gate: Framing, Lease: d.draftLease()})
	chain, _ := ReadChain(d.s.Gates)
	x := Facts{Now: d.now, Present: true, Committed: true, Chain: chain, Sum: Sum(d.s.LeaseFile)}
	for _, s := range Stances() {
		for _, kind := range Kinds(s) {
			if v := out.Lease.Valid(kind, x); v.Valid != Explores(kind) || !v.Valid && v.Code != "draft" {
				t.Errorf("%s: %+v", kind, v)
			}
		}
	}
	if v := out.Lease.Valid("", x); !v.Valid {
		t.Errorf("%+v", v)
	}
	x.Now = out.Lease.Lease.ExpiresAt
	rows := x.Chain.Rows
	x.Chain.Rows = append(slices.Clone(rows), Row{Act: "suspend", Lease: out.Lease.Lease.ID})
	if v := out.Lease.Valid("research", x); v.Code != "time_expired" || v.Way != wayReleaseSuspended {
		t.Errorf("%+v: nothing makes it longer", v)
	}
	x.Chain.Rows = rows
	if v := out.Lease.Valid("research", x); v.Code != "time_expired" || v.Way != wayActivateLonger {
		t.Errorf("%+v", v)
	}
}

func TestDraftOfNeedsNoEdit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		var p Plan
		for range rapid.IntRange(0, 5).Draw(r, "tasks") {
			p.Ready = append(p.Ready, Work{rapid.String().Draw(r, "id"), rapid.String().Draw(r, "title"), rapid.SampledFrom([]string{"", "fix", "research", "x"}).Draw(r, "kind")})
		}
		d := newDesk(t)
		f := DraftOf(d.now, p)
		d.mustDo(Act{Gate: Framing, Lease: &f.Lease})
		if out := d.mustDo(Act{Gate: Commitment}); out.Lease.Lease.State != Active || out.Asks == "" {
			r.Fatalf("%+v", out)
		}
	})
	f := DraftOf(nine, Plan{Ready: []Work{{"a", "Fix it", "fix"}, {"b", "TB" + "D", "fix"}, {"c", "Ask", "research"}, {"d", "More", ""}}})
	if want := "Finish what is ready: Fix it; b; Ask; and 1 more."; f.Lease.Frame != want || fmt.Sprint(f.Lease.Scope.Kinds) != "[audit experiment fix option prototype question research]" {
		t.Errorf("%s %v, want %s", f.Lease.Frame, f.Lease.Scope.Kinds, want)
	}
}

func FuzzParseLease(f *testing.F) {
	f.Add(PrintLease(wholeLease()))
	f.Add(PrintLease(DraftOf(nine, Plan{ID: "L-0001"})))
	f.Add([]byte("version = 1\nlease = { scope = { kinds = [1, 2.5, 1979-05-27] } }\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := ParseLease("x", b)
		if err != nil {
			var m *Malformed
			if !errors.As(err, &m) || len(m.Lines) == 0 {
				t.Fatal(err)
			}
			return
		}
		printed := PrintLease(l)
		again, err := ParseLease("x", printed)
		if d := cmp.Diff(l, again); err != nil || d != "" || string(PrintLease(again)) != string(printed) {
			t.Fatalf("%v %s", err, d)
		}
	})
}

func TestParseLeaseRefusesABook(t *testing.T) {
	t.Parallel()
	_, err := ParseLease("lease.toml", append(PrintLease(wholeLease()), bytes.Repeat([]byte("#"), maxLease)...))
	var m *Malformed
	if !errors.As(err, &m) || !m.Syntax || !strings.Contains(err.Error(), "lease.toml:1: is 1") {
		t.Errorf("%v", err)
	}
}

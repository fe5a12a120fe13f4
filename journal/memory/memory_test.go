package memory

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

var now = time.Date(2026, 7, 20, 9, 0, 0, 0, time.UTC)

// tried are trials of one file with so many files each, a letter for each: w for
// one that went well.
func tried(file, how string, files int, at time.Time) (out []Trial) {
	for i, c := range how {
		t := Trial{Op: fmt.Sprintf("op-%02d", i), Task: "tasks/t", At: at.Add(time.Duration(i) * time.Minute), Files: []string{file}, Count: files, Well: c == 'w'}
		if !t.Well {
			t.Why = "rejected"
		}
		out = append(out, t)
	}
	return out
}

// The figures are those of the formulas, reckoned by hand.
func TestReputation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		how                   string
		files, dependents     int
		fragility, risk       int
		level                 Level
		failing, more, wanted bool
	}{
		{"", 0, 0, 0, 100, Low, false, false, false},
		{"", 0, 40, 0, 300, Medium, false, false, false},
		{"wfff", 4, 0, 580, 499, Medium, true, true, true},
		{"wfff", 4, 20, 580, 699, High, true, true, true},
		{"w", 1, 0, 32, 109, Low, false, false, true},
		{"wf", 1, 0, 340, 352, Medium, false, false, true},
		{"f", 1, 0, 632, 589, Medium, true, false, true},
		{"ffffffffffffffffffff", 10, 20, 1000, 900, Critical, true, true, true},
		{"wwwwwfffff", 10, 20, 625, 637, High, false, true, true},
	} {
		p := At(tried("a.go", c.how, c.files, now.Add(-time.Hour)), now)
		rs := p.Of([]string{"a.go", "b.go", "a.go"})
		var r Reputation
		if len(rs) == 1 {
			r = rs[0]
		}
		if len(rs) == 1 != c.wanted || r.Fragility() != c.fragility || r.Risk(c.dependents) != c.risk || LevelOf(r.Risk(c.dependents)) != c.level || r.Failing() != c.failing {
			t.Errorf("%q: %v, fragility %d, risk %d (%s), failing %v", c.how, rs, r.Fragility(), r.Risk(c.dependents), LevelOf(r.Risk(c.dependents)), r.Failing())
		}
		if got := len(p.Careful([]string{"a.go"}, c.dependents)) == 1; got != c.more {
			t.Errorf("%q: careful %v", c.how, got)
		}
	}
	form := tried("a.go", "fff", 1, now)
	for i := range form {
		form[i].Form = true
	}
	if got := At(form, now).Of([]string{"a.go"}); got != nil {
		t.Errorf("refused for their form, and held against the file: %v", got)
	}
	if got := At(tried("a.go", "wfff", 4, now), now.Add(time.Hour)).Of([]string{"a.go"})[0].String(); got != "a.go: 1 of 4 changes went well, fragility 0.58" {
		t.Error(got)
	}
}

// A trial counts in full for a week, less every day after that, and then no more.
func TestForgetting(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	for age, want := range map[time.Duration]int{-time.Second: 0, 0: 10, 7 * day: 10, 8*day - 1: 10, 8 * day: 9, 12 * day: 5, 17*day - 1: 1, Window: 0, 90 * day: 0} {
		if got := trialWeight(now.Add(-age), now); got != want {
			t.Errorf("after %s a trial counts %d, want %d", age, got, want)
		}
	}
	old, fresh := tried("a.go", "fff", 1, now.Add(-15*day)), tried("a.go", "w", 1, now.Add(-time.Hour))
	if r := At(slices.Concat(old, fresh), now).Of([]string{"a.go"}); len(r) != 1 || r[0].Failing() || r[0].Trials != 4 {
		t.Errorf("what was mended is held to its past: %+v", r)
	}
	if r := At(old, now.Add(3*day)).Of([]string{"a.go"}); r != nil {
		t.Errorf("remembered for ever: %+v", r)
	}
	if r := (Past{}).Careful([]string{"a.go"}, 99); r != nil {
		t.Errorf("the zero Past remembers %+v", r)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	p := At(slices.Concat(tried("b.go", "f", 1, now), tried("a.go", "w", 1, now), tried("c.md", "f", 1, now)), now.Add(time.Hour))
	if got := p.Files(func(f string) bool { return strings.HasSuffix(f, ".go") }); !slices.Equal(got, []string{"a.go", "b.go"}) {
		t.Error(got)
	}
}

// The order of the trials teaches nothing.
func TestOrder(t *testing.T) {
	t.Parallel()
	all := slices.Concat(tried("a.go", "wfwff", 3, now.Add(-9*24*time.Hour)), tried("b.go", "ffw", 7, now.Add(-time.Hour)))
	want, lessons := fmt.Sprint(At(all, now).Of([]string{"a.go", "b.go"})), Lessons(all, now)
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if got := fmt.Sprint(At(all, now).Of([]string{"b.go", "a.go"})); got != want || !slices.Equal(Lessons(all, now), lessons) {
			t.Fatalf("%s, want %s", got, want)
		}
	}
}

func TestLessons(t *testing.T) {
	t.Parallel()
	all := []Trial{
		{Op: "op-1", Task: "tasks/a", At: now.Add(-2 * time.Hour), Files: []string{"a.go"}, Count: 1, Well: true},
		{Op: "op-2", Task: "tasks/b", At: now.Add(-time.Hour), Files: []string{"a.go", "b.go", "c.go"}, Count: 9, Why: "repair_stopped"},
		{Op: "op-3", Task: "tasks/c", At: now.Add(-3 * time.Hour), Why: "candidate_unusable"},
		{Op: "op-5", Task: "tasks/e", At: now.Add(-4 * time.Hour), Files: []string{"a.go"}, Count: 2, Well: true},
		{Op: "op-6", Task: "tasks/f", At: now.Add(-5 * time.Hour), Count: 3, Well: true},
		{Op: "op-7", Task: "tasks/g", At: now.Add(-6 * time.Hour), Count: 1, Well: true},
		{Op: "op-4", Task: "tasks/d", At: now.Add(-Window), Files: []string{"a.go"}, Why: "rejected"},
	}
	want := "tasks/b failed as repair_stopped: a.go, b.go and 7 more\ntasks/a went well: a.go\ntasks/c failed as candidate_unusable\n" +
		"tasks/e went well: a.go and 1 more\ntasks/f went well: 3 files\ntasks/g went well: 1 file"
	if got := strings.Join(Lessons(all, now), "\n"); got != want {
		t.Errorf("got\n%s", got)
	}
	again := tried("a.go", strings.Repeat("f", 30), 1, now.Add(-time.Hour))
	if got := Lessons(again[:2], now); len(got) != 1 || got[0] != "tasks/t failed as rejected: a.go (2 times)" {
		t.Errorf("the same lesson twice: %q", got)
	}
	if got := Lessons(again, now); len(got) != 1 || !strings.HasPrefix(got[0], "a.go: 30 changes failed as rejected, 0 went well (") || !strings.HasSuffix(got[0], " and 27 more)") {
		t.Errorf("the same lesson 30 times: %q", got)
	}
	for i := range again {
		again[i].Files = []string{fmt.Sprint(i, ".go")}
	}
	if got := Lessons(again, now); len(got) != 20 {
		t.Errorf("%d lessons", len(got))
	}
}

// TestHeld: a lesson holds after three agreeing failures, names them, and ends by time or by changes that go well.
func TestHeld(t *testing.T) {
	t.Parallel()
	trial := func(op string, days int, why string, files ...string) Trial {
		return Trial{Op: op, At: now.Add(-time.Duration(days) * 24 * time.Hour), Files: files, Well: why == "", Why: why}
	}
	three := []Trial{trial("op-1", 1, "verify_failed", "a.go"), trial("op-2", 2, "verify_failed", "a.go", "b.go"), trial("op-3", 3, "verify_failed", "a.go", "c.go")}
	together := []Trial{trial("op-1", 1, "rejected", "b.go", "a.go"), trial("op-2", 2, "verify_failed", "a.go", "b.go"), trial("op-3", 3, "rejected", "a.go", "b.go", "c.go")}
	const a = "a.go: 3 changes failed as verify_failed, 0 went well (op-1, op-2, op-3)"
	for _, c := range []struct {
		name   string
		trials []Trial
		later  int // days
		want   string
	}{
		{"two", three[:2], 0, ""},
		{"three", three, 0, a},
		{"another reason", append([]Trial{trial("op-0", 0, "rejected", "a.go")}, three[1:]...), 0, ""},
		{"one went well", append(three[:3:3], trial("op-4", 0, "", "a.go")), 0, strings.Replace(a, "0 went", "1 went", 1)},
		{"two went well", append(three[:3:3], trial("op-4", 0, "", "a.go"), trial("op-5", 0, "", "a.go")), 0, ""},
		{"two of another file", append(three[:3:3], trial("op-4", 0, "", "z.go"), trial("op-5", 0, "", "z.go")), 0, a},
		{"before it fades", three, 7, a},
		{"faded", three, 10, ""},
		{"together", together, 0, "a.go and b.go: 3 changes of both failed together, 0 went well (op-1, op-2, op-3)"},
		{"one of both went well twice", append(together[:3:3], trial("op-4", 0, "", "b.go"), trial("op-5", 0, "", "b.go")), 0, ""},
	} {
		got := ""
		for _, l := range heldLessons(c.trials, now.Add(time.Duration(c.later)*24*time.Hour)) {
			got += l.String()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	form := slices.Clone(three)
	form[0].Form = true
	if got := heldLessons(form, now); got != nil {
		t.Errorf("a refused name is no failure of the file: %v", got)
	}
}

func TestDecimal(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0.00", 4: "0.00", 5: "0.01", 580: "0.58", 995: "1.00", 1000: "1.00"} {
		if got := Decimal(n); got != want {
			t.Errorf("Decimal(%d) is %s", n, got)
		}
	}
}
